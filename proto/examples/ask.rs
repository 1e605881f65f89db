//! Asks the daemon of this host a question, as a service does that is written in Rust.
//!
//! `cargo run --release --workspace --example ask -- SOCKET WORDS…`

#![expect(clippy::print_stdout, reason = "an answer for a person")]
#![expect(clippy::print_stderr, reason = "a failure for a person")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use proto::line::{Absent, Line};
use proto::places::SocketPath;
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use proto::v1::{SearchRequest, Verdict};
use proto::{Audience, Failure};
use tonic::Request;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let socket = words.next().unwrap_or_default();
    match ask(PathBuf::from(socket), words.collect::<Vec<_>>().join(" ")).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}: {}; {}", failure.code.word(), failure.message, failure.action(Audience::Local));
            failure.code.into()
        }
    }
}

async fn ask(socket: PathBuf, query: String) -> Result<(), Failure> {
    let socket = SocketPath::try_from(socket)
        .map_err(|error| Failure::with_message(proto::Code::InvalidArgument, error.to_string()))?;
    // One connection, made when it is first needed and again after the daemon was replaced; clones share it.
    let mut service = RetrievalServiceClient::new(Line::new(socket, Absent::Fail));
    let mut request = Request::new(SearchRequest { query, top_k: Some(3), ..SearchRequest::default() });
    request.set_timeout(Duration::from_secs(5));
    let answer = service.search(request).await.map_err(Failure::from)?.into_inner();
    for hit in answer.hits {
        // Only what stands in its source right now has a text.
        let text = hit.text.as_deref().unwrap_or("(stands there no longer)");
        let verdict = Verdict::try_from(hit.verdict).unwrap_or_default();
        println!("{}\n{}  {}\n", text.trim_end(), hit.footnote, verdict.as_str_name());
    }
    Ok(())
}
