//! The one door by which HTTP comes in.
