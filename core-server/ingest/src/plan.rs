//! What an ingest has to do: what was found, held against what the last generation knows.
//!
//! A file whose metadata is what it was is taken to be what it was; one that may have changed is read and compared by
//! its hash; one that the last generation does not know is new; one that was looked for and not found leaves.
//! **A file that is there but cannot be read keeps nothing:** its passages could not be checked by anyone. What is
//! beneath a folder that cannot be read stays, for nothing is known of it; so does what was on a file system that is
//! not mounted now.
//!
//! Deliberately left out: reading files (`stage`), and looking through folders (`walk`).

use std::collections::{BTreeMap, HashMap, HashSet};

use engine::generation::files::{FileState, Fingerprint};

use crate::catalog::Seen;
use crate::scope::Target;
use crate::walk::{Found, Walked};

/// The files of a generation by source.
pub type Files = BTreeMap<String, FileState>;

/// What has to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// How many files are what they were, by their metadata.
    pub unchanged: usize,
    /// Files that the last generation knows and whose metadata differ: to be compared by their hash.
    pub doubtful: Vec<Found>,
    /// Files that the last generation does not know.
    pub new: Vec<Found>,
    /// Sources that leave.
    pub gone: Vec<String>,
    /// How many files stay although they were not found, since their file system is not there.
    pub unmounted: usize,
}

/// Compares what was found with what is known. `seen` are files that were compared since `known` was written;
/// `device` says on which device the folder of a source is, or the nearest folder above it that is there.
#[expect(clippy::implicit_hasher, reason = "there is one caller, and it has one kind of map")]
pub fn plan(
    known: &Files,
    seen: &HashMap<String, Seen>,
    walked: &Walked,
    target: &Target,
    device: impl Fn(&str) -> Option<u64>,
) -> Plan {
    let mut plan = Plan::default();
    let mut found = HashSet::with_capacity(walked.files.len());
    let mut mounted = HashSet::new();
    for file in &walked.files {
        found.insert(file.source.as_str());
        match known.get(&file.source) {
            Some(state) => {
                mounted.insert(state.fingerprint.device);
                if is_unchanged(state, seen.get(&file.source), &file.fingerprint) {
                    plan.unchanged += 1;
                } else {
                    plan.doubtful.push(file.clone());
                }
            }
            None => plan.new.push(file.clone()),
        }
    }
    // What is there and was left out now, or cannot be read, is no sign of a missing file system.
    let refused: HashSet<&str> = walked
        .skipped
        .iter()
        .map(|skipped| skipped.source.as_str())
        .chain(walked.ignored.iter().map(|ignored| ignored.source.as_str()))
        .collect();
    for (source, state) in known {
        if found.contains(source.as_str()) || !target.looks_at(source) || is_unseen(walked, source) {
            continue;
        }
        let recorded = state.fingerprint.device;
        let elsewhere = !refused.contains(source.as_str())
            && !mounted.contains(&recorded)
            && device(source).is_some_and(|now| now != recorded);
        if elsewhere {
            plan.unmounted += 1;
        } else {
            plan.gone.push(source.clone());
        }
    }
    plan
}

fn is_unchanged(state: &FileState, seen: Option<&Seen>, now: &Fingerprint) -> bool {
    state.fingerprint.proves_unchanged(now)
        || seen.is_some_and(|seen| seen.sha256 == state.sha256 && seen.fingerprint.proves_unchanged(now))
}

fn is_unseen(walked: &Walked, source: &str) -> bool {
    walked.unseen.iter().any(|folder| {
        folder.is_empty() || source.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use engine::citation::SourceClass;
    use engine::generation::manifest::Scope;
    use engine::id::Sha256;

    use super::*;
    use crate::kind::Kind;

    const SECOND: i64 = 1_000_000_000;

    fn fingerprint(inode: u64, changed: i64, seen: i64) -> Fingerprint {
        Fingerprint {
            device: 1,
            inode,
            bytes: 1,
            mtime_ns: changed * SECOND,
            ctime_ns: changed * SECOND,
            seen_ns: seen * SECOND,
        }
    }

    fn state(fingerprint: Fingerprint) -> FileState {
        FileState {
            bytes: 1,
            sha256: Sha256::of(b"x"),
            source_class: SourceClass::Text,
            extractor: None,
            chunks: 1,
            fingerprint,
        }
    }

    fn found(source: &str, fingerprint: Fingerprint) -> Found {
        Found { source: source.into(), kind: Kind::Plain, fingerprint }
    }

    fn target(look: &[&str]) -> Target {
        Target {
            collection: "docs".parse().unwrap(),
            known: true,
            scope: Scope {
                root: "/".into(),
                label: None,
                paths: vec![".".into()],
                include: Vec::new(),
                exclude: Vec::new(),
                max_file_bytes: 1,
            },
            look: look.iter().map(ToString::to_string).collect(),
        }
    }

    fn known(files: &[(&str, Fingerprint)]) -> Files {
        files.iter().map(|(source, fingerprint)| ((*source).to_owned(), state(*fingerprint))).collect()
    }

    fn sources(found: &[Found]) -> Vec<&str> {
        found.iter().map(|found| found.source.as_str()).collect()
    }

    #[test]
    fn metadata_tell_what_is_unchanged_doubtful_new_and_gone() {
        let known = known(&[
            ("same", fingerprint(1, 100, 200)),
            ("hasty", fingerprint(2, 199, 200)),
            ("edited", fingerprint(3, 100, 200)),
            ("gone", fingerprint(4, 100, 200)),
        ]);
        let walked = Walked {
            files: vec![
                found("edited", fingerprint(3, 250, 300)),
                found("hasty", fingerprint(2, 199, 300)),
                found("new", fingerprint(5, 100, 300)),
                found("same", fingerprint(1, 100, 300)),
            ],
            ..Walked::default()
        };
        let plan = plan(&known, &HashMap::new(), &walked, &target(&["."]), |_| Some(1));
        assert_eq!(plan.unchanged, 1);
        assert_eq!(
            sources(&plan.doubtful),
            ["edited", "hasty"],
            "changed within two seconds before it was seen"
        );
        assert_eq!(sources(&plan.new), ["new"]);
        assert_eq!(plan.gone, ["gone"]);
    }

    #[test]
    fn what_was_compared_since_is_believed_while_the_hash_is_that_of_the_table() {
        let known = known(&[("a", fingerprint(1, 100, 100))]);
        let walked = Walked { files: vec![found("a", fingerprint(1, 100, 300))], ..Walked::default() };
        let seen = |content: &[u8]| {
            let seen = Seen { sha256: Sha256::of(content), fingerprint: fingerprint(1, 100, 200) };
            HashMap::from([("a".to_owned(), seen)])
        };
        assert_eq!(plan(&known, &seen(b"x"), &walked, &target(&["."]), |_| None).unchanged, 1);
        assert_eq!(plan(&known, &seen(b"y"), &walked, &target(&["."]), |_| None).doubtful.len(), 1);
    }

    #[test]
    fn only_what_is_beneath_a_path_looked_at_can_leave() {
        let old = fingerprint(1, 100, 200);
        let known = known(&[("docs/a", old), ("docs2/a", old), ("src/a", old)]);
        let plan = plan(&known, &HashMap::new(), &Walked::default(), &target(&["docs"]), |_| Some(1));
        assert_eq!(plan.gone, ["docs/a"]);
    }

    #[test]
    fn what_cannot_be_seen_stays() {
        let old = fingerprint(1, 100, 200);
        let known = known(&[("docs/a", old), ("docs2/a", old)]);
        let walked = Walked { unseen: vec!["docs".into()], ..Walked::default() };
        let plan = plan(&known, &HashMap::new(), &walked, &target(&["."]), |_| Some(1));
        assert_eq!(plan.gone, ["docs2/a"]);
    }

    #[test]
    fn a_file_system_that_is_not_mounted_empties_nothing() {
        let old = fingerprint(1, 100, 200);
        let all = known(&[("disk/a", old), ("disk/b", old)]);
        let run =
            |walked: &Walked, device| plan(&all, &HashMap::new(), walked, &target(&["."]), |_| Some(device));
        let empty = Walked::default();
        assert_eq!((run(&empty, 2).unmounted, run(&empty, 2).gone.len()), (2, 0));
        assert_eq!((run(&empty, 1).unmounted, run(&empty, 1).gone.len()), (0, 2), "deleted where it was");
        let renumbered = Walked {
            files: vec![found("disk/a", Fingerprint { device: 2, ..fingerprint(1, 100, 300) })],
            ..Walked::default()
        };
        assert_eq!(run(&renumbered, 2).gone, ["disk/b"], "devices get other numbers at a restart");
    }
}
