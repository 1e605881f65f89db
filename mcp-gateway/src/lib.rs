//! `footnote-mcp`: the operations as MCP tools, over standard input and output or over HTTP.
//!
//! Every tool is a row of [`proto::OPERATIONS`]; nothing here knows an operation's fields. Both transports share one
//! `Gateway`: rmcp speaks the protocol's eras to it, and a layer of ours beneath rmcp answers what that would leave
//! unanswered or answer in other forms (`message`, `http`). Deliberately left out: resources, prompts, completions
//! and logging, which are not declared and so unknown methods; sessions; and the door ([`edge`]).

mod accept;
pub mod args;
mod budget;
mod caught;
mod gateway;
mod http;
mod instructions;
mod lines;
mod message;
mod outcome;
mod parent;
pub mod run;
mod stdio;
mod stdout;
mod text;
mod tools;

use gateway::Gateway;
