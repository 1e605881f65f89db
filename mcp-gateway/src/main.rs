//! `footnote-mcp`.
fn main() {}
