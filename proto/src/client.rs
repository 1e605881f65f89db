//! Asks the daemon: puts the caller and the deadline beside the question, and every failure into our words.
//!
//! Deliberately left out: the connection (`line`) and what an operation is (`operations`).

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;
use tonic::metadata::MetadataMap;

use crate::line::{Absent, Line};
use crate::metadata::{Caller, write_timeout};
use crate::places::{BaseDirs, SocketPath};
use crate::settings::{Autostart, Calls, Stores};
use crate::starter::Starter;
use crate::v1::retrieval_service_client::RetrievalServiceClient;
use crate::{Code, Failure, Operation};

/// How much longer than the daemon its client waits, so that the daemon's words for a passed deadline arrive.
const GRACE: Duration = Duration::from_millis(500);

/// An answer's size at most. `max_bytes` bounds text; ids, headings and escaping come on top.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// A client of one daemon. Clones share its connection.
#[derive(Clone, Debug)]
pub struct Client {
    line: Line,
    timeout: Duration,
}

impl Client {
    /// A client over `line` that waits `timeout` for an answer.
    pub fn new(line: Line, timeout: Duration) -> Self {
        Self { line, timeout }
    }

    /// The client of one who sits at this host, and for whom a daemon may be started.
    pub fn local(stores: Stores, socket: SocketPath, calls: Calls, base: &BaseDirs) -> Self {
        let absent = match calls.autostart {
            Autostart::Start => Absent::Start(Starter::new(stores, socket.clone(), base)),
            Autostart::Never => Absent::Fail,
        };
        Self::new(Line::new(socket, absent), calls.timeout)
    }

    /// This client for one question, waiting no longer than `patience`.
    #[must_use]
    pub fn within(&self, patience: Duration) -> Self {
        Self { line: self.line.clone(), timeout: self.timeout.min(patience) }
    }

    /// Takes a request to the daemon and its answer back, both as the contract's JSON.
    pub async fn ask(
        &self,
        operation: &Operation,
        caller: &Caller,
        request: Value,
    ) -> Result<Value, Failure> {
        let mut metadata = MetadataMap::new();
        caller.write(&mut metadata);
        write_timeout(&mut metadata, self.timeout);
        let service =
            RetrievalServiceClient::new(self.line.clone()).max_decoding_message_size(MAX_ANSWER_BYTES);
        let asked = timeout(self.timeout + GRACE, (operation.call)(service, metadata, request)).await;
        let failure = match asked {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(failure)) => failure,
            Err(_) => Failure::new(Code::DeadlineExceeded),
        };
        Err(match failure.request_id {
            Some(_) => failure,
            None => failure.of_request(caller.request_id.as_str()),
        })
    }

    /// The version of the daemon that answered last, where it is not this one's.
    pub fn other_version(&self) -> Option<String> {
        self.line.daemon_version().filter(|version| version != crate::metadata::VERSION)
    }
}
