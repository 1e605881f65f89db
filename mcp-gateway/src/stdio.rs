//! MCP over standard input and output: one JSON-RPC message a line, requests answered as they are ready.
//!
//! Reading and writing block, so each has a thread, and a channel between it and the protocol that holds few
//! messages: a client that does not read is not read from for long. Deliberately left out: what is done for a request
//! ([`Gateway`]), and who may write to standard output (`stdout`).

use std::collections::HashSet;
use std::io::{self, BufReader, Read, Write};
use std::thread;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage};
use rmcp::service::serve_directly;
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};
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
    let messages = read_into(input, lines.downgrade())?;
    let hung_up = CancellationToken::new();
    let transport =
        Stdio { messages, lines: lines.clone(), under_way: HashSet::new(), hung_up: hung_up.clone() };
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
    /// Requests that wait for their answer.
    under_way: HashSet<RequestId>,
    hung_up: CancellationToken,
}

impl Stdio {
    /// Whether this can be told apart from everything under way: rmcp would answer only one of two requests of one id.
    fn admits(&mut self, message: &ClientJsonRpcMessage) -> Result<(), Refused> {
        match message {
            ClientJsonRpcMessage::Request(request) if !self.under_way.insert(request.id.clone()) => {
                return Err(Refused::invalid(
                    Some(request.id.clone()),
                    "a request with this id is under way",
                ));
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.under_way.remove(id);
                }
            }
            ClientJsonRpcMessage::Request(_)
            | ClientJsonRpcMessage::Response(_)
            | ClientJsonRpcMessage::Error(_) => {}
        }
        Ok(())
    }

    fn has_answered(&mut self, message: &ServerJsonRpcMessage) {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = id {
            self.under_way.remove(id);
        }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.has_answered(&message);
        let lines = self.lines.clone();
        async move { lines.send(line(&message)?).await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe)) }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while let Some(message) = self.messages.recv().await {
            let Err(refused) = self.admits(&message) else { return Some(message) };
            // Beside the protocol, which may stop listening for a message at any wait.
            let (lines, refusal) = (self.lines.clone(), line(&refused.line()).ok()?);
            tokio::spawn(async move { lines.send(refusal).await });
        }
        self.hung_up.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads messages on a thread of its own until the end of input, and answers what is none.
fn read_into(
    input: impl Read + Send + 'static,
    answers: mpsc::WeakSender<Vec<u8>>,
) -> io::Result<mpsc::Receiver<ClientJsonRpcMessage>> {
    let (sender, messages) = mpsc::channel(QUEUE);
    let mut input = BufReader::new(input);
    let read = move || -> Option<()> {
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
