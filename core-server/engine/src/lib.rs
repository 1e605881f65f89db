//! Reads a collection: ranking, citations and verdicts.
//!
//! Everything here is synchronous and only reads. Deliberately left out: whatever writes an index (the
//! `ingest` crate), sockets and runtimes (`core-server`), and the words of the contract (`proto`).

pub mod analysis;
pub mod citation;
pub mod collection;
pub mod dense;
pub mod engine;
pub mod error;
pub mod evidence;
pub mod exact;
pub mod extract;
mod fetch;
pub mod filter;
pub mod footnote;
pub mod fusion;
pub mod generation;
pub mod highlight;
pub mod id;
pub mod index;
pub mod lexical;
pub mod lines;
pub mod model;
pub mod passage;
pub mod query;
mod search;
pub mod source;
mod status;
pub mod stop;
pub mod verify;

pub use engine::{Config, Engine, SourceRoot};
pub use error::{Error, Result};
