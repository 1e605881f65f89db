//! The contract: what more than one process must agree on.

pub mod config_file;
pub mod duration;
pub mod metadata;
pub mod places;
pub mod settings;
pub mod telemetry;
