//! Writes a collection: the only code that does, and the program `footnote-index` around it.
//!
//! Deliberately left out: answering questions (`engine`) and serving them (`core-server`, which never links this).

pub mod admit;
pub mod args;
mod calibrate;
pub mod catalog;
pub mod chunk;
pub mod commands;
pub mod durable;
pub mod embed;
pub mod error;
pub mod eval;
pub mod file_table;
pub mod folder;
pub mod front_matter;
pub mod interrupt;
pub mod kind;
pub mod lexical_writer;
pub mod lock;
pub mod model_install;
pub mod parent;
pub mod plan;
pub mod progress;
pub mod publish;
pub mod scope;
pub mod skipped;
pub mod stage;
pub mod summary;
pub mod update;
pub mod vector_writer;
pub mod vectors;
pub mod walk;

pub use error::{Error, Result};
