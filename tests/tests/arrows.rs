//! The arrows of `docs/ARCHITECTURE.md`, held against what cargo says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use cargo_metadata::{CargoOpt, DependencyKind, MetadataCommand};

/// Every direct dependency between our crates. An arrow that is not here is an arrow to argue for.
const ARROWS: &[(&str, &str)] = &[
    ("cli", "proto"),
    ("core-server", "engine"),
    ("core-server", "proto"),
    ("edge", "proto"),
    ("ingest", "engine"),
    ("ingest", "proto"),
    ("mcp-gateway", "edge"),
    ("mcp-gateway", "proto"),
    ("rest-gateway", "edge"),
    ("rest-gateway", "proto"),
];

/// What tests and benchmarks may reach for besides.
const TEST_ARROWS: &[(&str, &str)] = &[("proto", "codegen")];

/// Libraries that a crate must not see at all, whatever they are needed for.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("engine", &["tokio", "tonic", "prost", "axum", "hyper", "sqlx"]),
    ("core-server", &["sqlx", "ignore", "pulldown-cmark", "hf-hub"]),
    ("cli", &["tantivy", "ort", "sqlx", "tokenizers"]),
    ("edge", &["rmcp", "tantivy", "ort"]),
    ("mcp-gateway", &["tantivy", "ort", "sqlx", "tokenizers"]),
    ("rest-gateway", &["tantivy", "ort", "sqlx", "tokenizers"]),
    ("codegen", &["tokio", "serde"]),
];

#[test]
fn crates_depend_on_each_other_as_drawn() {
    let drawn = |arrows: &[(&str, &str)]| -> BTreeSet<(String, String)> {
        arrows.iter().map(|&(from, to)| (from.to_owned(), to.to_owned())).collect()
    };
    assert_eq!(arrows(DependencyKind::Normal), drawn(ARROWS));
    assert_eq!(arrows(DependencyKind::Build), drawn(&[]));
    assert_eq!(arrows(DependencyKind::Development), drawn(TEST_ARROWS));
}

#[test]
fn no_crate_sees_a_library_that_is_not_its_business() {
    let metadata = metadata();
    for (name, libraries) in FORBIDDEN {
        let package = metadata.packages.iter().find(|package| package.name.as_str() == *name).unwrap();
        let direct: Vec<&str> = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal)
            .map(|dependency| dependency.name.as_str())
            .collect();
        for library in *libraries {
            assert!(!direct.contains(library), "{name} depends on {library}");
        }
    }
}

/// The arrows between our crates of one kind; `tests` may see whatever it starts, so it is left out.
fn arrows(kind: DependencyKind) -> BTreeSet<(String, String)> {
    let metadata = metadata();
    let ours: BTreeSet<String> = metadata.packages.iter().map(|package| package.name.to_string()).collect();
    metadata
        .packages
        .iter()
        .filter(|package| package.name.as_str() != "tests")
        .flat_map(|package| {
            package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind == kind && ours.contains(&dependency.name))
                .map(|dependency| (package.name.to_string(), dependency.name.clone()))
        })
        .collect()
}

fn metadata() -> cargo_metadata::Metadata {
    MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
        .features(CargoOpt::AllFeatures)
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .unwrap()
}
