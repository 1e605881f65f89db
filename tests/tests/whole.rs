//! What is true of the whole: real files, real processes, the real socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod whole {
    mod bad_input;
    mod command_line;
    mod commands;
    mod concurrency;
    mod connect;
    mod crash;
    mod disk_full;
    mod evaluation;
    mod evidence;
    mod filters;
    mod guides;
    mod hostile_queries;
    mod ids;
    mod life;
    mod mcp_http;
    mod mcp_peers;
    mod mcp_stdio;
    mod proxies;
    mod quality;
    mod quickstart;
    mod ranking;
    mod read_only;
    mod real_model;
    mod rerank;
    mod slices;
    mod units;
}
