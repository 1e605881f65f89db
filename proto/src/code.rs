//! The one table of failures: what each is called, and how every surface says it.
//!
//! Which failure something is, is decided by who sees it; the words for a caller and what to do now stand here.
//! They never name a path, a source, a library or a cause: the log has those under the request's id.

use std::process::ExitCode;
use std::time::Duration;

use tonic::Code as GrpcCode;

/// A failure as every surface names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// A value is refused; the failure names its field.
    InvalidArgument,
    /// No collection has that name.
    CollectionNotFound,
    /// No generation of the collection knows that passage.
    ChunkNotFound,
    /// The collection cannot be asked in that mode.
    ModeUnavailable,
    /// Reranking was asked for, and this daemon has no reranker that works.
    RerankerNotConfigured,
    /// The installed model is not the one that the collection was embedded with.
    ModelMismatch,
    /// The caller's credentials are not accepted.
    Unauthenticated,
    /// The caller may not ask this daemon.
    PermissionDenied,
    /// As many requests are being served as may be.
    Overloaded,
    /// This caller asks more often than it may.
    RateLimited,
    /// A request or an answer is over the size limit.
    TooLarge,
    /// The model is still being loaded.
    WarmingUp,
    /// The daemon cannot be reached.
    CoreUnavailable,
    /// There was no answer within the time given.
    DeadlineExceeded,
    /// The index is damaged, or written in a format that this version does not read.
    IndexDamaged,
    /// A fault of ours.
    Internal,
    /// The request does not say properly, and exactly once, which host it is for. HTTP alone, as all below.
    BadHost,
    /// The request is for a host that is not ours.
    HostNotAllowed,
    /// A web page of somebody else asks.
    OriginNotAllowed,
    /// There is nothing at this address.
    NotFound,
    /// What is at this address is not asked in this way.
    MethodNotAllowed,
    /// The answer has no form that the caller accepts.
    NotAcceptable,
    /// The request is not in a form that is read.
    UnsupportedMediaType,
}

/// How one failure is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Which failure.
    pub code: Code,
    /// Its word, on every surface.
    pub word: &'static str,
    /// Its gRPC status; `Unknown` where only HTTP has this failure.
    pub grpc: GrpcCode,
    /// Its HTTP status.
    pub http: u16,
    /// The exit code of a command that ends with it.
    pub exit: u8,
    /// When to ask again, where that is worth while.
    pub retry_after: Option<Duration>,
    /// What happened, where nobody knows better.
    pub message: &'static str,
    /// What to do now, for one who sits at this host.
    pub local: &'static str,
    /// What to do now, for one who does not.
    pub remote: &'static str,
}

/// The failures, a row for each code and in the order of [`Code`].
pub const FAILURES: &[Row] = &[
    Row {
        code: Code::InvalidArgument,
        word: "invalid_argument",
        grpc: GrpcCode::InvalidArgument,
        http: 400,
        exit: 2,
        retry_after: None,
        message: "a value is not accepted",
        local: "change it and ask again",
        remote: "change it and ask again",
    },
    Row {
        code: Code::CollectionNotFound,
        word: "collection_not_found",
        grpc: GrpcCode::NotFound,
        http: 404,
        exit: 3,
        retry_after: None,
        message: "no collection has that name",
        local: "see the names with `footnote collections`",
        remote: "list the collections and ask one of those",
    },
    Row {
        code: Code::ChunkNotFound,
        word: "chunk_not_found",
        grpc: GrpcCode::NotFound,
        http: 404,
        exit: 3,
        retry_after: None,
        message: "the collection does not know this passage, and did not in its kept generations",
        local: "search again, and use an id or a footnote of that answer",
        remote: "search again, and use an id or a footnote of that answer",
    },
    Row {
        code: Code::ModeUnavailable,
        word: "mode_unavailable",
        grpc: GrpcCode::FailedPrecondition,
        http: 409,
        exit: 5,
        retry_after: None,
        message: "the collection cannot be asked in this mode",
        local: "leave the mode out, or see with `footnote status` what is missing",
        remote: "leave the mode out, or ask with `bm25`",
    },
    Row {
        code: Code::RerankerNotConfigured,
        word: "reranker_not_configured",
        grpc: GrpcCode::FailedPrecondition,
        http: 409,
        exit: 5,
        retry_after: None,
        message: "there is no reranker here",
        local: "leave `rerank` out, or install one with `footnote model install ms-marco-minilm-l-12-v2`",
        remote: "leave `rerank` out",
    },
    Row {
        code: Code::ModelMismatch,
        word: "model_mismatch",
        grpc: GrpcCode::FailedPrecondition,
        http: 409,
        exit: 5,
        retry_after: None,
        message: "the installed model is not the one that the collection was embedded with",
        local: "ask with `bm25`, or embed again with `footnote ingest --model NAME`",
        remote: "ask with `bm25`, and tell whoever runs this service",
    },
    Row {
        code: Code::Unauthenticated,
        word: "unauthenticated",
        grpc: GrpcCode::Unauthenticated,
        http: 401,
        exit: 6,
        retry_after: None,
        message: "these credentials are not accepted",
        local: "ask without them",
        remote: "ask without them, or ask whoever runs this service for others",
    },
    Row {
        code: Code::PermissionDenied,
        word: "permission_denied",
        grpc: GrpcCode::PermissionDenied,
        http: 403,
        exit: 6,
        retry_after: None,
        message: "this daemon does not answer to this user",
        local: "ask whoever started it to admit you (`--socket-group`, `--allow-uid`)",
        remote: "ask whoever runs this service for access",
    },
    Row {
        code: Code::Overloaded,
        word: "overloaded",
        grpc: GrpcCode::ResourceExhausted,
        http: 429,
        exit: 4,
        retry_after: Some(Duration::from_secs(1)),
        message: "as many requests are being served as may be",
        local: "wait a moment and ask again",
        remote: "wait a moment and ask again",
    },
    Row {
        code: Code::RateLimited,
        word: "rate_limited",
        grpc: GrpcCode::ResourceExhausted,
        http: 429,
        exit: 4,
        retry_after: Some(Duration::from_secs(1)),
        message: "you ask more often than you may",
        local: "wait a moment and ask again",
        remote: "wait a moment and ask again",
    },
    Row {
        code: Code::TooLarge,
        word: "too_large",
        grpc: GrpcCode::ResourceExhausted,
        http: 413,
        exit: 2,
        retry_after: None,
        message: "the message is over the size limit",
        local: "ask for less at once",
        remote: "ask for less at once",
    },
    Row {
        code: Code::WarmingUp,
        word: "warming_up",
        grpc: GrpcCode::Unavailable,
        http: 503,
        exit: 4,
        retry_after: Some(Duration::from_secs(2)),
        message: "the model is still being loaded",
        local: "wait a moment and ask again, or ask with `bm25`, which needs no model",
        remote: "wait a moment and ask again, or ask with `bm25`, which needs no model",
    },
    Row {
        code: Code::CoreUnavailable,
        word: "core_unavailable",
        grpc: GrpcCode::Unavailable,
        http: 503,
        exit: 4,
        retry_after: Some(Duration::from_secs(1)),
        message: "the daemon cannot be reached",
        local: "start it with `footnote up`",
        remote: "ask again shortly, or tell whoever runs this service",
    },
    Row {
        code: Code::DeadlineExceeded,
        word: "deadline_exceeded",
        grpc: GrpcCode::DeadlineExceeded,
        http: 504,
        exit: 4,
        retry_after: None,
        message: "there was no answer within the time given",
        local: "ask again with more time",
        remote: "ask again with more time",
    },
    Row {
        code: Code::IndexDamaged,
        word: "index_damaged",
        grpc: GrpcCode::DataLoss,
        http: 500,
        exit: 7,
        retry_after: None,
        message: "the collection's index is damaged",
        local: "go back with `footnote rollback`, or ingest again with `footnote ingest`",
        remote: "tell whoever runs this service",
    },
    Row {
        code: Code::Internal,
        word: "internal",
        grpc: GrpcCode::Internal,
        http: 500,
        exit: 1,
        retry_after: None,
        message: "something went wrong that is not your fault",
        local: "see what the daemon says of this request with `footnote logs`",
        remote: "tell whoever runs this service, and name the request's id",
    },
    Row {
        code: Code::BadHost,
        word: "bad_host",
        grpc: GrpcCode::Unknown,
        http: 400,
        exit: 2,
        retry_after: None,
        message: "the request must name its host exactly once, as a name or an address with an optional port",
        local: "send one well-formed Host header",
        remote: "send one well-formed Host header",
    },
    Row {
        code: Code::HostNotAllowed,
        word: "host_not_allowed",
        grpc: GrpcCode::Unknown,
        http: 421,
        exit: 2,
        retry_after: None,
        message: "this gateway answers to its configured names only (`--public-url`, `--allowed-host`)",
        local: "ask by a name that it has, or start it with `--allowed-host NAME`",
        remote: "ask by a name that it has, or have whoever runs it add this one",
    },
    Row {
        code: Code::OriginNotAllowed,
        word: "origin_not_allowed",
        grpc: GrpcCode::Unknown,
        http: 403,
        exit: 2,
        retry_after: None,
        message: "web pages of this origin may not ask",
        local: "open the page from an address of this gateway, or start it with `--public-url URL`",
        remote: "ask from a program instead of a web page, or from a page of this service",
    },
    Row {
        code: Code::NotFound,
        word: "not_found",
        grpc: GrpcCode::Unknown,
        http: 404,
        exit: 2,
        retry_after: None,
        message: "there is nothing at this address",
        local: "see the addresses in `docs/reference.md`",
        remote: "see the addresses in this service's description",
    },
    Row {
        code: Code::MethodNotAllowed,
        word: "method_not_allowed",
        grpc: GrpcCode::Unknown,
        http: 405,
        exit: 2,
        retry_after: None,
        message: "this address is not asked with this method",
        local: "use a method that the `Allow` header names",
        remote: "use a method that the `Allow` header names",
    },
    Row {
        code: Code::NotAcceptable,
        word: "not_acceptable",
        grpc: GrpcCode::Unknown,
        http: 406,
        exit: 2,
        retry_after: None,
        message: "the answer has no form that you accept",
        local: "accept `application/json`",
        remote: "accept `application/json`",
    },
    Row {
        code: Code::UnsupportedMediaType,
        word: "unsupported_media_type",
        grpc: GrpcCode::Unknown,
        http: 415,
        exit: 2,
        retry_after: None,
        message: "the request is not in a form that is read",
        local: "send it as `application/json` in UTF-8, not compressed",
        remote: "send it as `application/json` in UTF-8, not compressed",
    },
];

impl Code {
    /// How it is said.
    pub fn row(self) -> &'static Row {
        &FAILURES[self as usize]
    }

    /// Its word, on every surface.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// The code of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        FAILURES.iter().find(|row| row.word == word).map(|row| row.code)
    }
}

/// How a command of ours ends that did what it could and has something to say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// See [`Exit::ALL`].
    IngestPartial = 8,
    /// See [`Exit::ALL`].
    CitationsChanged = 9,
    /// See [`Exit::ALL`].
    IngestRuns = 10,
    /// See [`Exit::ALL`].
    NothingFound = 11,
    /// See [`Exit::ALL`].
    Interrupted = 130,
}

impl Exit {
    /// Every one, with what it means.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::IngestPartial, "`ingest` skipped files that should have been indexed"),
        (Self::CitationsChanged, "`verify` found citations that are neither verified nor relocated"),
        (Self::IngestRuns, "another ingest writes this collection"),
        (Self::NothingFound, "nothing was found, and `--fail-if-none` was given"),
        (Self::Interrupted, "interrupted from the keyboard"),
    ];
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.row().exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_finds_its_own_row() {
        for (index, row) in FAILURES.iter().enumerate() {
            assert_eq!(row.code as usize, index, "{}", row.word);
            assert_eq!(Code::from_word(row.word), Some(row.code));
        }
    }

    #[test]
    fn a_remote_caller_is_told_no_shell_command() {
        for row in FAILURES {
            assert!(!row.remote.contains("`footnote ") && !row.remote.contains("--"), "{}", row.word);
        }
    }

    #[test]
    fn words_are_sentences_without_an_end() {
        for row in FAILURES {
            for words in [row.message, row.local, row.remote] {
                assert!(!words.is_empty() && !words.ends_with('.'), "{}: {words}", row.word);
            }
        }
    }
}
