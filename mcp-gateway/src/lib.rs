//! `footnote-mcp`.
