//! Lets connections in at an open place, tells those for whom there is no room, and waits for all to leave.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Response, Version};
use http_body::Body as HttpBody;
use http_body_util::{BodyExt as _, Full};
use proto::Code;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::warn;

use crate::bind::Listener;
use crate::connection::{self, Answers};
use crate::door::{Door, House};
use crate::memory;
use crate::refusal::Refusal;
use crate::socket::Stream;

/// How long nothing is accepted after the system gave no connection, for example for want of file descriptors.
const RECOVER: Duration = Duration::from_millis(50);

/// How often quiet clients are forgotten, and the memory of a crowd that left is given back.
const TIDY: Duration = Duration::from_secs(10);

/// Those that are told at once that there is no room; any more are closed without a word.
const TOLD_AT_ONCE: usize = 32;

/// How long one of them may take to hear it.
const TELL: Duration = Duration::from_millis(500);

/// What stands behind every door: who is inside, and what one hears for whom there is no room.
pub(crate) struct Hall {
    house: Arc<House>,
    full: Bytes,
    telling: Arc<Semaphore>,
}

impl Hall {
    pub(crate) async fn new(house: Arc<House>) -> Self {
        let full = house.front.answer(&Refusal::of(Code::Overloaded));
        Self { full: written(full).await, house, telling: Arc::new(Semaphore::new(TOLD_AT_ONCE)) }
    }

    /// Keeps one door until it is told to drain, and then until everybody who came in by it has left.
    pub(crate) async fn keep<S, B>(
        self: Arc<Self>,
        listener: Listener,
        door: Arc<Door<S>>,
        draining: watch::Receiver<bool>,
    ) where
        S: Answers<B>,
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let mut connections = JoinSet::new();
        let mut told = draining.clone();
        let mut tidy = tokio::time::interval(TIDY);
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => match self.house.guests.enter() {
                        Some(guest) => {
                            self.house.metrics.accepted();
                            let served = connection::serve(stream, peer, guest, Arc::clone(&door), draining.clone());
                            connections.spawn(served);
                        }
                        None => self.turn_away(stream),
                    },
                    Err(error) => self.recover(&error).await,
                },
                Some(_) = connections.join_next() => {}
                _ = tidy.tick() => {
                    if let Some(rate) = &door.rate {
                        rate.forget_quiet();
                    }
                    if self.house.guests.a_crowd_has_left() {
                        tokio::task::spawn_blocking(memory::give_back);
                    }
                }
                () = connection::told(&mut told) => break,
            }
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
    }

    /// Everybody is at work: the newcomer is told so, as far as that costs nothing.
    fn turn_away(&self, mut stream: Stream) {
        self.house.metrics.turned_away();
        let Ok(place) = Arc::clone(&self.telling).try_acquire_owned() else { return };
        let full = self.full.clone();
        tokio::spawn(async move {
            let tell = async {
                stream.write_all(&full).await?;
                stream.shutdown().await?;
                // It is read, so that closing does not take back what was said.
                let mut waste = [0; 4096];
                while stream.read(&mut waste).await? > 0 {}
                io::Result::Ok(())
            };
            drop(timeout(TELL, tell).await);
            drop(place);
        });
    }

    /// The system gave no connection. One that was given up by its other end is nobody's loss.
    async fn recover(&self, error: &io::Error) {
        use io::ErrorKind::{
            ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted, NotConnected,
        };
        let lost = [ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted, NotConnected];
        if lost.contains(&error.kind()) {
            return;
        }
        self.house.metrics.accept_error();
        let made_room = self.house.guests.send_away();
        warn!(%error, made_room, "no connection");
        sleep(RECOVER).await;
    }
}

/// An answer as HTTP/1.1 writes it, before anybody has asked.
async fn written(response: Response<Full<Bytes>>) -> Bytes {
    let (head, body) = response.into_parts();
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    };
    let mut bytes = format!("{:?} {}\r\n", Version::HTTP_11, head.status).into_bytes();
    for (name, value) in &head.headers {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
        .extend_from_slice(format!("connection: close\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(&body);
    bytes.into()
}
