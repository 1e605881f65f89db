//! `footnoted`: the one process that holds the model and reads the index, asked over a Unix socket.
//!
//! A request is a straight line: message → checked query → admission → `engine` on a blocking thread → message
//! → one log line. Deliberately left out: whatever writes (`ingest` is not linked in), and HTTP (`edge`).

pub mod admission;
pub mod call;
pub mod config;
pub mod convert;
pub mod failure;
pub mod listener;
pub mod notice;
pub mod refresh;
pub mod server;
pub mod service;
