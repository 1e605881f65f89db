//! Which collections there are, which one is meant, and what is said of those that do not open.

#![expect(clippy::expect_used, reason = "what a test cannot do without should end it and say so")]

#[path = "verdicts/fixture.rs"]
mod fixture;

use std::fs;
use std::path::PathBuf;

use engine::generation::GenerationId;
use engine::generation::manifest::SCHEMA_VERSION;
use engine::query::{Caller, FetchChunk, Mode, ModelState, Notice, PassageName};
use engine::stop::Stop;
use engine::{Engine, Error};

use self::fixture::{World, chunk_id};

/// `docs` with the root `root`, `other` with the root `root/sub`.
fn two_collections() -> World {
    let mut world = World::new();
    world.write("a.md", "text");
    world.write("sub/b.md", "text");
    world.publish(&[("a.md", &["text"])]);
    (world.name, world.root) = ("other".to_owned(), "root/sub".to_owned());
    world.publish(&[("b.md", &["text"])]);
    (world.name, world.root) = ("docs".to_owned(), "root".to_owned());
    world
}

fn asked_from(engine: &Engine, directory: PathBuf) -> Result<String, Error> {
    let caller = Caller { working_directory: Some(directory), ..Caller::default() };
    engine.index_status(None, &caller, &Stop::never()).map(|status| status.summary.name.to_string())
}

fn status_error(engine: &Engine, name: Option<&str>) -> Error {
    let name = name.map(|name| name.parse().expect("a name"));
    engine.index_status(name.as_ref(), &Caller::default(), &Stop::never()).expect_err("refused")
}

fn listed(engine: &Engine) -> Vec<String> {
    let (collections, _) = engine.list_collections(&Stop::never()).expect("listed");
    collections.into_iter().map(|collection| collection.name.to_string()).collect()
}

#[test]
fn asking_an_index_that_is_not_there_creates_nothing() {
    let world = World::new();
    let engine = world.engine();
    assert!(matches!(status_error(&engine, None), Error::NothingIngested));
    assert!(matches!(status_error(&engine, Some("docs")), Error::NothingIngested));
    assert!(listed(&engine).is_empty());
    engine.refresh().expect("looked");
    assert!(!world.index_dir().exists());
}

#[test]
fn the_deepest_root_that_holds_the_caller_s_folder_is_meant() {
    let world = two_collections();
    let engine = world.engine();
    for (directory, expected) in
        [("root", "docs"), ("root/elsewhere", "docs"), ("root/sub", "other"), ("root/sub/x", "other")]
    {
        let directory = world.root().parent().expect("a folder").join(directory);
        assert_eq!(asked_from(&engine, directory).expect("resolved"), expected);
    }
    let elsewhere = asked_from(&engine, "/elsewhere".into()).expect_err("ambiguous");
    let Error::CollectionAmbiguous { known } = elsewhere else { panic!("{elsewhere}") };
    assert_eq!(known.iter().map(ToString::to_string).collect::<Vec<_>>(), ["docs", "other"]);
    let Error::CollectionNotFound { known, .. } = status_error(&engine, Some("none")) else {
        panic!("found")
    };
    assert_eq!(known.len(), 2);
}

#[test]
fn a_new_generation_is_picked_up_and_the_old_one_goes_on_for_who_holds_it() {
    let world = two_collections();
    let engine = world.engine();
    let held =
        engine.index().resolve(Some(&"docs".parse().expect("a name")), &Caller::default()).expect("there");
    world.write("a.md", "text and more");
    world.publish(&[("a.md", &["text", "and more"])]);
    fs::remove_dir_all(held.generation().folder()).expect("removed");
    engine.refresh().expect("looked");
    let now = engine.index().resolve(Some(held.name()), &Caller::default()).expect("there");
    assert_eq!(now.generation().id(), GenerationId::FIRST.next());
    assert_eq!(engine.index().open_generations(), 3);
    let lexical = held.generation().lexical().expect("open");
    assert!(
        lexical.chunk(chunk_id("a.md", "text", 0)).expect("read").is_some(),
        "its files are gone and open"
    );
    drop(held);
    assert_eq!(engine.index().open_generations(), 2);
    // A collection that goes is gone.
    fs::remove_dir_all(world.collection()).expect("removed");
    engine.refresh().expect("looked");
    assert_eq!(listed(&engine), ["other"]);
    assert_eq!(asked_from(&engine, "/elsewhere".into()).expect("the only one"), "other");
}

#[test]
fn an_engine_of_one_collection_knows_no_other() {
    let world = two_collections();
    fs::write(world.index_dir().join("docs/CURRENT"), "nonsense").expect("written");
    let engine = Engine::open_only(world.config(), "other".parse().expect("a name")).expect("opened");
    assert_eq!(listed(&engine), ["other"]);
    assert_eq!(engine.list_collections(&Stop::never()).expect("listed").1, []);
    assert!(
        matches!(status_error(&engine, Some("docs")), Error::CollectionNotFound { known, .. } if known.len() == 1)
    );
}

#[test]
fn what_does_not_open_is_left_out_with_a_notice_and_refused_by_name() {
    type Harm = fn(&World);
    type IsRight = fn(&Error) -> bool;
    let manifest = |world: &World| world.collection().join("generations/00000001/manifest.json");
    let harms: [(Harm, &str, IsRight); 6] = [
        (
            |world| fs::write(world.collection().join("CURRENT"), "nonsense").expect("written"),
            "it is damaged",
            |error| matches!(error, Error::Damaged { .. }),
        ),
        (
            |world| fs::remove_dir_all(world.collection().join("generations")).expect("removed"),
            "it cannot be read",
            |error| matches!(error, Error::ReadFile { .. }),
        ),
        (
            |world| {
                fs::write(world.collection().join("generations/00000001/manifest.json"), "{}")
                    .expect("written");
            },
            "it is damaged",
            |error| matches!(error, Error::Damaged { .. }),
        ),
        (
            |world| {
                let path = world.collection().join("generations/00000001/manifest.json");
                fs::write(path, r#"{"schema_version":999}"#).expect("written");
            },
            "it is in a newer format",
            |error| matches!(error, Error::SchemaVersion { found: 999, .. }),
        ),
        (
            |world| {
                fs::write(world.collection().join("generations/00000001/lexical/meta.json"), "")
                    .expect("written");
            },
            "it is damaged",
            |error| matches!(error, Error::Damaged { .. }),
        ),
        (
            |world| {
                let files = world.collection().join("generations/00000001/files/0.jsonl");
                fs::remove_file(files).expect("removed");
            },
            "it is damaged",
            |error| matches!(error, Error::Damaged { .. }),
        ),
    ];
    for (harm, why, expected) in harms {
        let world = two_collections();
        let engine = world.engine();
        harm(&world);
        // Damage beneath an open generation shows once it is opened anew.
        let engine = if manifest(&world).exists() { world.engine() } else { engine };
        engine.refresh().expect("looked");
        let anew = world.engine();
        let (_, notices) = anew.list_collections(&Stop::never()).expect("listed");
        assert_eq!(notices, [Notice::CollectionSkipped { name: "docs".to_owned(), why }]);
        assert_eq!(listed(&anew), ["other"]);
        let error = status_error(&anew, Some("docs"));
        assert!(expected(&error), "{why}: {error:?}");
        // The others are asked as before.
        assert_eq!(asked_from(&anew, "/elsewhere".into()).expect("the only one"), "other");
        fs::remove_dir_all(world.index_dir().join("other")).expect("removed");
        assert!(expected(&status_error(&world.engine(), None)), "more is said than that there is nothing");
    }
}

#[test]
fn foreign_folders_are_left_out_and_beginnings_are_not_mentioned() {
    let world = two_collections();
    let index = world.index_dir();
    fs::create_dir_all(index.join("foreign")).expect("made");
    fs::write(index.join("foreign/photo.jpg"), "").expect("written");
    fs::create_dir_all(index.join("not a name")).expect("made");
    fs::create_dir_all(index.join("begun/writer")).expect("made");
    fs::create_dir_all(index.join(".hidden")).expect("made");
    fs::write(index.join("a-file"), "").expect("written");
    let engine = world.engine();
    let (_, notices) = engine.list_collections(&Stop::never()).expect("listed");
    let skipped: Vec<&str> = notices
        .iter()
        .map(|notice| {
            let Notice::CollectionSkipped { name, .. } = notice else { panic!("{notice:?}") };
            name.as_str()
        })
        .collect();
    assert_eq!(skipped, ["foreign", "not a name"]);
    assert_eq!(listed(&engine), ["docs", "other"]);
    assert!(matches!(status_error(&engine, Some("begun")), Error::CollectionNotFound { .. }));
    assert!(matches!(status_error(&engine, Some("foreign")), Error::CollectionNotFound { .. }));
}

#[test]
fn a_copied_folder_is_not_another_collection() {
    let world = two_collections();
    fs::rename(world.collection(), world.index_dir().join("copy")).expect("moved");
    assert!(matches!(status_error(&world.engine(), Some("copy")), Error::Damaged { .. }));
}

#[test]
fn status_says_what_there_is() {
    let world = two_collections();
    let name = "docs".parse().expect("a name");
    let status = world.engine().index_status(Some(&name), &Caller::default(), &Stop::never()).expect("there");
    assert_eq!(
        (status.summary.documents, status.summary.chunks, status.schema_version),
        (1, 1, SCHEMA_VERSION)
    );
    assert_eq!((status.summary.modes, status.model_state), (vec![Mode::Bm25], ModelState::None));
    assert_eq!(status.notices, [Notice::NoVectors]);
    assert_eq!(status.open_generations, 2);
}

#[test]
fn a_footnote_names_its_collection() {
    let world = two_collections();
    let footnote = format!("footnote:other/b.md#L1;{}", engine::id::Sha256::of(b"text").short());
    let passage = PassageName::Footnote(footnote.parse().expect("a footnote"));
    let fetch = FetchChunk { collection: None, passage, neighbors: 0 };
    let fetched = world.engine().fetch_chunk(&fetch, &Caller::default(), &Stop::never()).expect("found");
    assert_eq!((fetched.collection.as_str(), fetched.passage.citation.source.as_str()), ("other", "b.md"));
    assert_eq!(fetched.passage.open_path, None);
}
