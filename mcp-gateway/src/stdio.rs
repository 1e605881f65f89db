//! MCP over standard input and output: one JSON-RPC message a line, requests answered as they are ready.
//!
//! Reading and writing block, so each has a thread, and a channel between it and the protocol that holds few
//! messages. No more requests are under way than the daemon lets in: a client that asks faster waits, and one that does
//! not read is not read from. Deliberately left out: what is done for a request
//! ([`Gateway`]), and who may write to standard output (`stdout`).

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage};
use rmcp::service::serve_directly;
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::Gateway;
use crate::lines::{self, Line};
use crate::message::{self, Refused};
use crate::parent::Parent;

/// The longest line that is read: four times what HTTP accepts, since nobody but this client pays for it.
const MOST_LINE_BYTES: usize = 4 * 1024 * 1024;

/// Messages between a thread and the protocol.
const QUEUE: usize = 8;

/// Requests that are under way at once: what the daemon lets in of everybody, so that a burst waits here instead of being
/// refused there.
const MOST_UNDER_WAY: usize = 64;

/// How long answers are finished and written after the end of input. With the same again for writing them, the process
/// ends within two seconds.
const GRACE: Duration = Duration::from_millis(800);

/// Serves one client until it hangs up or its process ends.
pub(crate) async fn serve(
    gateway: Gateway,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    parent: Parent,
) -> io::Result<()> {
    let (lines, written) = write_from(output)?;
    let hung_up = CancellationToken::new();
    let messages = read_into(input, lines.downgrade(), hung_up.clone())?;
    let places = Arc::new(Semaphore::new(MOST_UNDER_WAY));
    let transport = Stdio { messages, lines: lines.clone(), places, under_way: HashMap::new() };
    let late = async {
        hung_up.cancelled().await;
        sleep(GRACE).await;
    };
    // The protocol's era is chosen by each message and not by the first, so no handshake is waited for.
    tokio::select! {
        _ = serve_directly(gateway, transport, None).waiting() => {}
        () = late => {}
        () = lines.closed() => {}
        () = parent.ended() => {}
    }
    drop(lines);
    // What is written is written; a client that reads no more is not waited for.
    drop(timeout(GRACE, written).await);
    Ok(())
}

/// The two threads' ends, as rmcp wants them.
struct Stdio {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    lines: mpsc::Sender<Vec<u8>>,
    places: Arc<Semaphore>,
    /// Requests that wait for their answer, each with its place.
    under_way: HashMap<RequestId, OwnedSemaphorePermit>,
}

impl Stdio {
    /// Gives a request its place, and back where another of its id is under way: rmcp would answer only one of them.
    fn admit(
        &mut self,
        message: &ClientJsonRpcMessage,
        place: OwnedSemaphorePermit,
    ) -> Result<(), (Refused, OwnedSemaphorePermit)> {
        match message {
            ClientJsonRpcMessage::Request(request) if self.under_way.contains_key(&request.id) => {
                let id = Some(request.id.clone());
                return Err((Refused::invalid(id, "a request with this id is under way"), place));
            }
            ClientJsonRpcMessage::Request(request) => {
                self.under_way.insert(request.id.clone(), place);
            }
            // What is cancelled is not answered.
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.under_way.remove(id);
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
        Ok(())
    }

    /// The place of the request that this answers.
    fn place_of(&mut self, message: &ServerJsonRpcMessage) -> Option<OwnedSemaphorePermit> {
        match message {
            ServerJsonRpcMessage::Response(response) => self.under_way.remove(&response.id),
            ServerJsonRpcMessage::Error(error) => self.under_way.remove(error.id.as_ref()?),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
        }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let place = self.place_of(&message);
        write(self.lines.clone(), line(&message), place)
    }

    /// May be given up at any wait, and is then asked again.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
            let message = self.messages.recv().await?;
            let Err((refused, place)) = self.admit(&message, place) else { return Some(message) };
            tokio::spawn(write(self.lines.clone(), line(&refused.line()), Some(place)));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a line, and only then frees the place of its request, so that answers which nobody reads do not pile up.
async fn write(
    lines: mpsc::Sender<Vec<u8>>,
    line: io::Result<Vec<u8>>,
    place: Option<OwnedSemaphorePermit>,
) -> io::Result<()> {
    let written = lines.send(line?).await.map_err(|_| io::ErrorKind::BrokenPipe.into());
    drop(place);
    written
}

fn line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads messages on a thread of its own until the end of input, which `hung_up` tells, and answers what is none.
fn read_into(
    input: impl Read + Send + 'static,
    answers: mpsc::WeakSender<Vec<u8>>,
    hung_up: CancellationToken,
) -> io::Result<mpsc::Receiver<ClientJsonRpcMessage>> {
    let (sender, messages) = mpsc::channel(QUEUE);
    let mut input = BufReader::new(input);
    let read = move || -> Option<()> {
        let _hung_up = hung_up.drop_guard();
        // An input that cannot be read has ended.
        while let Some(read) = lines::next(&mut input, MOST_LINE_BYTES).ok()? {
            match understood(read) {
                Ok(None) => {}
                Ok(Some(message)) => sender.blocking_send(message).ok()?,
                Err(refused) => answers.upgrade()?.blocking_send(line(&refused.line()).ok()?).ok()?,
            }
        }
        None
    };
    thread::Builder::new().name("stdin".to_owned()).spawn(read)?;
    Ok(messages)
}

fn understood(line: Line) -> Result<Option<ClientJsonRpcMessage>, Refused> {
    match line {
        Line::Whole(bytes) if bytes.trim_ascii().is_empty() => Ok(None),
        Line::Whole(bytes) => message::read(&bytes).map(Some),
        Line::TooLong => Err(Refused::unreadable("the line is longer than 4 MiB")),
    }
}

/// Writes lines on a thread of its own until nobody sends any or nobody reads them; then the second is ready.
fn write_from(
    mut output: impl Write + Send + 'static,
) -> io::Result<(mpsc::Sender<Vec<u8>>, oneshot::Receiver<()>)> {
    let (lines, mut receiver) = mpsc::channel::<Vec<u8>>(QUEUE);
    let (over, written) = oneshot::channel::<()>();
    let write = move || {
        let _over = over;
        while let Some(line) = receiver.blocking_recv() {
            if output.write_all(&line).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
    };
    thread::Builder::new().name("stdout".to_owned()).spawn(write)?;
    Ok((lines, written))
}
