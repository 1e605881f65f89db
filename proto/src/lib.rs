//! The contract: what more than one process must agree on.
//!
//! Messages, client and server ([`v1`]), the table of operations ([`OPERATIONS`]) and the table of failures
//! ([`Code`]), default places and settings, the client. What one process owns alone does not stand here, and
//! nothing of ours is depended on.

pub mod access;
pub mod clean;
pub mod client;
pub mod code;
pub mod config_file;
pub mod duration;
pub mod failure;
pub mod field;
pub mod form;
pub mod health;
mod heard;
pub mod json;
pub mod line;
pub mod metadata;
pub mod operations;
pub mod passage;
pub mod places;
pub mod settings;
pub mod starter;
pub mod stopper;
pub mod telemetry;
pub mod termination;
pub mod v1;

pub use code::{Code, Exit};
pub use failure::{Audience, Failure};
pub use field::{Field, Violation};
pub use operations::{OPERATIONS, Operation};
