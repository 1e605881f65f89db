//! The subcommands, each in a file of its own: what was typed, what it does, what it says.

pub mod model;
