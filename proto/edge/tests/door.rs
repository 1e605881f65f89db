//! The door over real sockets, with a gateway behind it that answers simple things.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod door {
    mod answers;
    mod connections;
    mod gateway;
    mod http2;
    mod listening;
    mod refusals;
}
