//! What makes a contract unfit to generate code from.

/// The result of everything fallible here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why nothing was generated, said to the one who wrote the `.proto`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The `.proto` does not compile.
    #[error("the contract does not compile")]
    Compile(#[source] Box<protox::Error>),
    /// The compiled contract could not be read back.
    #[error("the compiled contract cannot be read back")]
    ReadBack(#[source] prost_reflect::DescriptorError),
    /// prost could not write the messages.
    #[error("prost cannot write the messages")]
    WriteMessages(#[source] std::io::Error),
    /// An operation may change something.
    #[error("rpc {rpc} must say `option idempotency_level = NO_SIDE_EFFECTS;`: every operation only reads")]
    SideEffects {
        /// The full name of the rpc.
        rpc: String,
    },
    /// Something that callers see has no words for them.
    #[error("{what} has no comment, and comments are what callers read")]
    NoComment {
        /// The full name of what lacks it.
        what: String,
    },
    /// An rpc says nothing about its surfaces.
    #[error("rpc {rpc} has no `option (operation)`")]
    NoOperation {
        /// The full name of the rpc.
        rpc: String,
    },
    /// A rule of the contract is broken.
    #[error("{what} {rule}")]
    Rule {
        /// The full name of what breaks it.
        what: String,
        /// The rule, as the end of a sentence.
        rule: &'static str,
    },
}
