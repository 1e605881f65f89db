//! What holds across every front of one daemon.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod fronts {
    mod overload;
    mod parity;
    mod residency;
    mod secrets;
}
