//! What the engine says went wrong, as one of the contract's failures.
//!
//! Caller's words never name a path, a source, a library or a cause: the log has those under the request's id.

use engine::Error;
use engine::collection::CollectionName;
use engine::error::{ModeObstacle, RerankerObstacle};
use proto::Code;
use proto::failure::Failure;

/// Names listed at most; an index with more is better asked for its collections.
const NAMES: usize = 20;

/// What one who has no shell here does about anything.
const TELL: &str = "tell whoever runs this service";

/// Says it to the caller.
pub fn of(error: &Error) -> Failure {
    match error {
        Error::CollectionNotFound { name, known } => Failure::with_message(
            Code::CollectionNotFound,
            format!("no collection is named `{name}`{}", there_are(known)),
        ),
        Error::NothingIngested => Failure::with_message(Code::CollectionNotFound, "nothing is ingested yet")
            .advise("put documents in with `footnote ingest DIR`", TELL),
        Error::CollectionAmbiguous { known } => Failure::with_message(
            Code::InvalidArgument,
            format!("`collection` must be named, for more than one could be meant{}", there_are(known)),
        )
        .of_field("collection")
        .advise("name one with `--collection`", "name one of them"),
        Error::ChunkNotFound { .. } => Failure::new(Code::ChunkNotFound),
        Error::ModeUnavailable { why, .. } => mode_unavailable(*why),
        Error::RerankerUnavailable { why } => reranker_unavailable(*why),
        Error::ModelNotInstalled { .. } | Error::RuntimeNotInstalled => {
            mode_unavailable(ModeObstacle::ModelNotInstalled)
        }
        Error::TelemetryNotForbidden { .. } => mode_unavailable(ModeObstacle::ModelFailed),
        Error::ModelMismatch { name, bound, found } => Failure::with_message(
            Code::ModelMismatch,
            format!("the collection was embedded with {bound}, and what is installed as `{name}` is {found}"),
        ),
        Error::WarmingUp => Failure::new(Code::WarmingUp),
        // Nobody reads the answer to one who went away.
        Error::DeadlineExceeded | Error::Cancelled => Failure::new(Code::DeadlineExceeded),
        Error::Damaged { .. } | Error::ReadFile { .. } => Failure::new(Code::IndexDamaged),
        Error::SchemaVersion { found, supported, .. } => schema_version(*found, *supported),
        Error::ReadIndex { .. } | Error::Lexical { .. } | Error::Model { .. } => Failure::new(Code::Internal),
    }
}

fn mode_unavailable(why: ModeObstacle) -> Failure {
    let (message, local) = match why {
        ModeObstacle::NoVectors => (
            "the collection has no vectors, so it can be asked by words alone",
            "leave the mode out, or install a model with `footnote model install` and run `footnote ingest` again",
        ),
        ModeObstacle::ModelNotInstalled => (
            "the collection's model is not installed",
            "leave the mode out, or install the model with `footnote model install`",
        ),
        ModeObstacle::ModelFailed => (
            "the collection's model could not be loaded",
            "leave the mode out, see `footnote logs`, check the model with `footnote model verify`",
        ),
    };
    Failure::with_message(Code::ModeUnavailable, message).advise(local, Code::ModeUnavailable.row().remote)
}

fn reranker_unavailable(why: RerankerObstacle) -> Failure {
    let code = Code::RerankerNotConfigured;
    match why {
        RerankerObstacle::NoneInstalled => Failure::new(code),
        RerankerObstacle::Failed => Failure::with_message(code, "the reranker could not be loaded").advise(
            "leave `rerank` out, see `footnote logs`, check it with `footnote model verify`",
            code.row().remote,
        ),
    }
}

fn schema_version(found: u32, supported: u32) -> Failure {
    if found > supported {
        Failure::with_message(
            Code::IndexDamaged,
            "the collection was written by a newer version of this program",
        )
        .advise("install that version, then run `footnote up`", TELL)
    } else {
        Failure::with_message(
            Code::IndexDamaged,
            "the collection was written by an older version of this program",
        )
        .advise("write it anew with `footnote ingest`", TELL)
    }
}

fn there_are(known: &[CollectionName]) -> String {
    let names: Vec<_> = known.iter().take(NAMES).map(|name| format!("`{name}`")).collect();
    match known.len().checked_sub(NAMES) {
        _ if known.is_empty() => String::new(),
        None | Some(0) => format!("; there are {}", names.join(", ")),
        Some(more) => format!("; there are {} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use proto::Audience;

    fn every_error() -> Vec<Error> {
        let name = |text: &str| text.parse::<CollectionName>().unwrap();
        let secret = || "/secret/place/file.md".into();
        let said = || io::Error::other("tantivy said: /secret/place");
        vec![
            Error::CollectionNotFound { name: name("nope"), known: vec![name("a"), name("b")] },
            Error::NothingIngested,
            Error::CollectionAmbiguous { known: vec![name("a"), name("b")] },
            Error::ChunkNotFound { collection: name("a") },
            Error::ModeUnavailable { collection: name("a"), why: ModeObstacle::NoVectors },
            Error::ModeUnavailable { collection: name("a"), why: ModeObstacle::ModelNotInstalled },
            Error::ModeUnavailable { collection: name("a"), why: ModeObstacle::ModelFailed },
            Error::RerankerUnavailable { why: RerankerObstacle::NoneInstalled },
            Error::RerankerUnavailable { why: RerankerObstacle::Failed },
            Error::ModelMismatch { name: "m".into(), bound: "m-1".into(), found: "m-2".into() },
            Error::WarmingUp,
            Error::DeadlineExceeded,
            Error::Cancelled,
            Error::ReadIndex { path: secret(), source: said() },
            Error::Damaged { path: secret(), what: "/secret".into() },
            Error::SchemaVersion { path: secret(), found: 1, supported: 2 },
            Error::SchemaVersion { path: secret(), found: 3, supported: 2 },
            Error::ReadFile { path: secret(), source: said() },
            Error::Model { name: "m".into(), doing: "running", source: Box::new(said()) },
        ]
    }

    #[test]
    fn callers_are_told_no_path_no_library_and_no_cause() {
        for error in every_error() {
            let failure = of(&error);
            for words in
                [&*failure.message, failure.action(Audience::Local), failure.action(Audience::Remote)]
            {
                for leak in ["secret", "tantivy", "/", "file.md"] {
                    assert!(!words.contains(leak), "{error}: {words}");
                }
                assert!(!words.ends_with('.'), "{words}");
            }
            let remote = failure.action(Audience::Remote);
            assert!(!remote.contains("`footnote ") && !remote.contains("--"), "{error}: {remote}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_names_there_are() {
        assert_eq!(of(&every_error()[0]).message, "no collection is named `nope`; there are `a`, `b`");
        assert_eq!(of(&every_error()[2]).field.as_deref(), Some("collection"));
        let many: Vec<CollectionName> = (0..25).map(|number| format!("c{number}").parse().unwrap()).collect();
        assert!(there_are(&many).ends_with("`c19` and 5 more"));
        assert_eq!(there_are(&[]), "");
    }
}
