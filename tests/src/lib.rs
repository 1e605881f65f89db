//! Starts the real processes in a temporary home and asks through the real socket.
//!
//! Deliberately left out: mocks, fixed ports and sleeps. What is waited for is asked for until a deadline.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed, and says where"
)]

pub mod corpus;
pub mod documents;
pub mod gateway;
pub mod grpc;
pub mod http;
pub mod mcp;
pub mod memory;
pub mod programs;
pub mod proxy;
pub mod python;
pub mod real_model;
pub mod runtime;
pub mod silent;
pub mod strace;
pub mod surfaces;
pub mod wait;
pub mod world;

pub use gateway::Gateway;
pub use runtime::runtime;
pub use world::{Run, World};
