//! Writes the contract's generated code: messages, client and server, checks, the table of operations.
//!
//! The `.proto` is compiled by protox, without `protoc` and without a network. Its options are read by
//! prost-reflect from the encoded descriptor set, because prost's own types drop extensions. The output is
//! committed under `proto/src/generated/`; a test of `proto` proves that it is current. There is no build
//! script, so nothing here is compiled for those who only use the contract.

mod compile;
mod contract;
mod error;
mod messages;
mod requests;
mod schema;
mod table;

use std::path::Path;

pub use compile::Compiled;
pub use contract::{Bounds, Contract, Field, Kind, Message, Operation, RestBinding, WordList};
pub use error::{Error, Result};

/// One generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Its name beneath the folder of generated code.
    pub name: &'static str,
    /// What it holds.
    pub content: Vec<u8>,
}

/// Generates everything from the `.proto` files beneath `include`; `file` is the one that declares the service.
pub fn generate(include: &Path, file: &str) -> Result<Vec<GeneratedFile>> {
    let compiled = Compiled::open(include, file)?;
    let contract = Contract::read(&compiled)?;
    Ok(vec![
        GeneratedFile { name: "descriptors.bin", content: compiled.bare_descriptors.clone() },
        GeneratedFile { name: "messages.rs", content: messages::write(&compiled, &contract)?.into_bytes() },
        GeneratedFile { name: "requests.rs", content: requests::write(&contract).into_bytes() },
        GeneratedFile { name: "operations.rs", content: table::write(&contract).into_bytes() },
    ])
}
