//! A daemon that never answers: what a front does while it waits, and when its caller leaves.

use std::io::{Read, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// What HTTP/2 clients say first.
const PREFACE: usize = 24;

/// What came in. A request's beginning, or its end because the caller does not want the answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A request began.
    Request,
    /// A request was cancelled.
    Cancelled,
}

/// A socket at which requests are heard and never answered.
#[derive(Debug)]
pub struct SilentDaemon {
    heard: Receiver<Heard>,
}

impl SilentDaemon {
    /// Listens at `socket`, which nobody else does.
    ///
    /// # Panics
    /// Where it cannot.
    pub fn listen(socket: &Path) -> Self {
        std::fs::create_dir_all(socket.parent().expect("a folder")).expect("the socket's folder");
        let listener = UnixListener::bind(socket).expect("a free socket");
        let (tell, heard) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let tell = tell.clone();
                thread::spawn(move || listen(stream, &tell));
            }
        });
        Self { heard }
    }

    /// The next thing that it hears; `None` where it hears nothing for `patience`.
    ///
    /// # Panics
    /// Where nobody will ever be heard.
    pub fn hears(&self, patience: Duration) -> Option<Heard> {
        match self.heard.recv_timeout(patience) {
            Ok(heard) => Some(heard),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("nobody listens"),
        }
    }
}

/// Reads frames (RFC 9113 §4.1: length, type, flags, stream) until the other end closes.
fn listen(mut stream: UnixStream, tell: &Sender<Heard>) -> Option<()> {
    stream.read_exact(&mut [0; PREFACE]).ok()?;
    // An empty SETTINGS frame is all that a server must say.
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).ok()?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        std::io::copy(&mut Read::by_ref(&mut stream).take(length.into()), &mut std::io::sink()).ok()?;
        let event = match head[3] {
            1 => Heard::Request,
            3 => Heard::Cancelled,
            _ => continue,
        };
        tell.send(event).ok()?;
    }
}
