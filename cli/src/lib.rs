//! `footnote`: the person's interface.
//!
//! It holds a socket and nothing else: no index, no model. The subcommands of the four operations are made from
//! the contract's table; what works on a whole index is run by `footnote-index`. Rendering turns an answer into
//! text and prints nothing; `print` alone prints.

pub mod args;
pub mod ask;
pub mod connect;
pub mod daemon;
pub mod fault;
pub mod field;
pub mod index;
pub mod logs;
pub mod place;
pub mod print;
pub mod render;
pub mod run;
