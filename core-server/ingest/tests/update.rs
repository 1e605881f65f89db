//! A collection through its life, by the library that `footnote-index` is made of, with the hashing model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "update/answers.rs"]
mod answers;
#[path = "update/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::time::{Duration, SystemTime};

use engine::generation::current::Current;
use engine::generation::manifest::SCHEMA_VERSION;
use engine::generation::{Generation, GenerationId};
use engine::id::Sha256;
use ingest::Error;
use ingest::interrupt::Interrupt;
use ingest::summary::Vectors;
use ingest::update::ModelChoice;

use self::world::{World, current};

/// Every chunk by id: what it is, and its vector as stored.
fn contents(generation: &Generation) -> BTreeMap<String, (String, Option<Vec<u8>>)> {
    let mut contents = BTreeMap::new();
    let vectors = generation.vectors().unwrap();
    generation
        .lexical()
        .unwrap()
        .for_each_alive(|address, record| {
            let vector =
                vectors.get(address.segment_ord as usize).and_then(|segment| segment.row(address.doc_id));
            let id = record.chunk_id.to_string();
            let before = contents.insert(id, (format!("{record:?}"), vector.map(<[u8]>::to_vec)));
            assert!(before.is_none(), "an id stands for one chunk");
            Ok(())
        })
        .unwrap();
    contents
}

fn sources(generation: &Generation) -> Vec<String> {
    generation.files().iter().map(|record| record.unwrap().source).collect()
}

fn prose(topic: &str, sections: usize) -> String {
    let section = |n| {
        format!(
            "## {topic} part {n}\n\nThe {topic} of station {n} is greased every {n} days, and logged in book {n}.\n\n"
        )
    };
    (0..sections).map(section).collect()
}

#[test]
fn a_second_look_at_unchanged_files_publishes_nothing() {
    let world = World::with_model();
    world.write("a.md", &prose("valve", 5));
    world.write("b.md", &prose("pump", 5));
    let first = world.ingest();
    assert!(first.published && first.embedded > 0);
    assert_eq!((first.added, first.vectors), (2, Vectors::Complete { model: "hashing".into() }));
    let second = world.ingest();
    assert_eq!((second.published, second.unchanged, second.embedded), (false, 2, 0));
    assert_eq!(second.generation, first.generation);
}

#[test]
fn a_touched_file_publishes_nothing_and_is_compared_once() {
    let world = World::new();
    world.write("a.md", &prose("valve", 5));
    world.ingest();
    let long_ago = FileTimes::new().set_modified(SystemTime::now() - Duration::from_hours(1));
    File::options().write(true).open(world.path("docs/a.md")).unwrap().set_times(long_ago).unwrap();
    assert!(!world.ingest().published);
    let next = world.ingest();
    assert_eq!((next.published, next.unchanged), (false, 1));
}

#[test]
fn an_edit_embeds_what_it_touched() {
    let world = World::with_model();
    let lines: String = (0..2000)
        .map(|n| format!("Line {n} tells of thing {} and of {}.\n", n * 7, n * 13))
        .collect::<Vec<_>>()
        .concat();
    world.write("long.txt", &lines);
    let first = world.ingest();
    assert!(first.embedded > 30, "{}", first.embedded);
    world.write("long.txt", &format!("One more line in front.\n{lines}"));
    let second = world.ingest();
    assert_eq!(second.changed, 1);
    assert!(second.embedded <= 3, "{}", second.embedded);
}

#[test]
fn a_rename_embeds_nothing_with_and_without_the_catalog() {
    for keeps_catalog in [true, false] {
        let world = World::with_model();
        world.write("a.md", &prose("valve", 9));
        world.write("b.md", &prose("pump", 9));
        world.ingest();
        if !keeps_catalog {
            fs::remove_file(world.folder().join("writer/catalog.sqlite")).unwrap();
        }
        fs::rename(world.path("docs/a.md"), world.path("docs/c.md")).unwrap();
        let summary = world.ingest();
        assert_eq!((summary.renamed, summary.removed, summary.added), (1, 0, 0));
        assert_eq!(summary.embedded, 0, "with the catalog: {keeps_catalog}");
        assert_eq!(sources(&world.generation()), ["b.md", "c.md"]);
    }
}

#[test]
fn after_any_life_it_is_what_it_would_be_from_nothing() {
    let world = World::with_model();
    for round in 0..12 {
        world.write("steady.md", &prose("valve", 6));
        world.write("edited.md", &format!("# Round {round}\n\n{}", prose("pump", 3 + round % 4)));
        world.write(&format!("moves/{round}.md"), &prose("gauge", 4));
        if round > 0 {
            fs::remove_file(world.path(&format!("docs/moves/{}.md", round - 1))).unwrap();
        }
        match round % 4 {
            1 => fs::remove_file(world.folder().join("writer/catalog.sqlite")).unwrap(),
            2 => fs::write(world.folder().join("writer/catalog.sqlite"), "damage").unwrap(),
            _ => {}
        }
        world.ingest();
    }
    world.ingest_into("fresh");
    let (lived, fresh) = (world.generation(), current(&world.path("fresh/docs")));
    assert_eq!(contents(&lived), contents(&fresh));
    assert_eq!(lived.manifest().tokens, fresh.manifest().tokens);
    assert_eq!(sources(&lived), sources(&fresh));
    let kept = fs::read_dir(world.folder().join("generations")).unwrap().count();
    assert_eq!(kept, ingest::publish::KEPT);
}

#[test]
fn ids_are_the_same_with_and_without_a_model_and_vectors_come_later() {
    let world = World::new();
    world.write("a.md", &prose("valve", 3000));
    world.write("twice.md", "Same words here.\n\n\n\nSame words here.\n");
    let first = world.ingest();
    assert_eq!(first.vectors, Vectors::NoModel { installed: Vec::new() });
    let without = world.generation();
    assert!(!without.manifest().vectors);
    world.install("hashing", 64);
    let second = world.ingest();
    let with = world.generation();
    assert!(second.published && with.manifest().vectors);
    assert_eq!((second.added, second.changed), (0, 0));
    let ids = |generation| contents(generation).into_keys().collect::<Vec<_>>();
    assert_eq!(ids(&without), ids(&with));
    world.ingest_into("fresh");
    let fresh = current(&world.path("fresh/docs"));
    assert_eq!(fresh.manifest().generation.number(), 2, "words first, vectors later");
    assert_eq!(contents(&with), contents(&fresh));
}

#[test]
fn what_becomes_unreadable_leaves_and_makes_the_ingest_partial() {
    let world = World::new();
    world.write("a.md", &prose("valve", 2));
    world.write("b.md", &prose("pump", 2));
    world.ingest();
    fs::write(world.path("docs/b.md"), b"caf\xe9 in an old code page\n").unwrap();
    let summary = world.ingest();
    assert!(summary.is_partial());
    assert_eq!((summary.lost, summary.skipped[0].source.as_str()), (1, "b.md"));
    assert_eq!(sources(&world.generation()), ["a.md"]);
    assert_eq!(world.generation().manifest().skipped, BTreeMap::from([("bad_encoding".to_owned(), 1)]));
    let again = world.ingest();
    assert!(again.is_partial() && !again.published, "it is told each time, and published once");
}

#[test]
fn a_path_brings_only_what_is_beneath_it_up_to_date() {
    let world = World::new();
    world.write("x/a.md", &prose("valve", 2));
    world.write("y/b.md", &prose("pump", 2));
    world.ingest();
    fs::remove_file(world.path("docs/x/a.md")).unwrap();
    fs::remove_file(world.path("docs/y/b.md")).unwrap();
    let summary = world.try_ingest("index", &["docs/x"], &ModelChoice::Usual, &Interrupt::never()).unwrap();
    assert_eq!(summary.removed, 1);
    assert_eq!(sources(&world.generation()), ["y/b.md"]);
}

#[test]
fn a_missing_root_and_an_interruption_leave_everything_as_it_was() {
    let world = World::with_model();
    world.write("a.md", &prose("valve", 2));
    let first = world.ingest();
    let interrupt = Interrupt::never();
    interrupt.ask();
    world.write("b.md", &prose("pump", 2));
    let interrupted = world.try_ingest("index", &["docs"], &ModelChoice::Usual, &interrupt);
    assert!(matches!(interrupted, Err(Error::Interrupted)));
    fs::rename(world.path("docs"), world.path("away")).unwrap();
    let gone = world.try_ingest("index", &["docs"], &ModelChoice::Usual, &Interrupt::never());
    assert!(matches!(gone, Err(Error::RootGone { .. })));
    assert_eq!(world.generation().manifest().generation.number(), first.generation);
}

#[test]
fn another_model_is_refused_unless_asked_for() {
    let world = World::with_model();
    world.write("a.md", &prose("valve", 9));
    let first = world.ingest();
    world.install("hashing", 32);
    let refused = world.try_ingest("index", &["docs"], &ModelChoice::Usual, &Interrupt::never()).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("64 dimensions") && text.contains("32 dimensions"), "{text}");
    let named = ModelChoice::Named("hashing".into());
    let summary = world.try_ingest("index", &["docs"], &named, &Interrupt::never()).unwrap();
    assert_eq!(summary.embedded, first.embedded);
    assert_eq!(world.generation().manifest().model.as_ref().unwrap().dimensions, 32);
    assert!(matches!(
        world.try_ingest("index", &["docs"], &ModelChoice::Named("none".into()), &Interrupt::never()),
        Err(Error::NoSuchModel { .. })
    ));
}

#[test]
fn without_its_model_vectors_stay_where_every_chunk_has_one() {
    let world = World::with_model();
    world.write("a.md", &prose("valve", 9));
    world.write("b.md", &prose("pump", 9));
    let first = world.ingest();
    fs::remove_dir_all(world.path("models")).unwrap();
    fs::remove_file(world.path("docs/b.md")).unwrap();
    assert_eq!(world.ingest().vectors, Vectors::Complete { model: "hashing".into() });
    assert!(world.generation().manifest().vectors);
    world.write("c.md", &prose("gauge", 9));
    assert_eq!(world.ingest().vectors, Vectors::ModelAway { model: "hashing".into() });
    assert!(!world.generation().manifest().vectors);
    world.install("hashing", 64);
    let summary = world.ingest();
    assert_eq!(summary.vectors, Vectors::Complete { model: "hashing".into() });
    assert!((1..first.embedded).contains(&summary.embedded), "only what the catalog does not know");
}

#[test]
fn a_damaged_generation_is_replaced_from_an_older_one() {
    let world = World::with_model();
    world.write("a.md", &prose("valve", 9));
    world.ingest();
    world.write("b.md", &prose("pump", 9));
    let second = world.ingest();
    let damaged = world.folder().join(format!("generations/{:08}/manifest.json", second.generation));
    fs::remove_file(&damaged).unwrap();
    fs::write(&damaged, "{}").unwrap();
    let third = world.ingest();
    assert_eq!((third.added, third.embedded), (1, 0));
    assert_eq!(third.generation, second.generation + 1);
    assert_eq!(sources(&world.generation()), ["a.md", "b.md"]);
}

#[test]
fn what_an_older_version_wrote_is_written_anew_without_being_told_where_it_is() {
    let world = World::with_model();
    world.write("a.md", &prose("valves", 3));
    world.write("b.md", &prose("pumps", 3));
    world.ingest();
    let before = contents(&world.generation());
    let manifest = world.generation().folder().join("manifest.json");
    let now = format!("\"schema_version\":{SCHEMA_VERSION}");
    let older = fs::read_to_string(&manifest).unwrap().replacen(&now, "\"schema_version\":1", 1);
    fs::remove_file(&manifest).unwrap();
    fs::write(&manifest, &older).unwrap();
    let current = Current { generation: GenerationId::FIRST, manifest_sha256: Sha256::of(older.as_bytes()) };
    fs::write(world.folder().join("CURRENT"), current.to_string()).unwrap();
    let summary = world.try_ingest("index", &[], &ModelChoice::Usual, &Interrupt::never()).unwrap();
    assert_eq!(summary.embedded, 0, "the catalog still has the vectors");
    assert!(world.generation().id() > GenerationId::FIRST);
    assert_eq!(contents(&world.generation()), before);
}

#[test]
fn what_was_never_measured_is_measured_by_the_next_ingest() {
    let world = World::with_model();
    world.write("a.md", &prose("valves", 3));
    world.ingest();
    let measured = world.generation().manifest().evidence.clone().unwrap();
    let manifest = world.generation().folder().join("manifest.json");
    let now = format!("\"method\":\"{}\"", measured.method);
    let older = fs::read_to_string(&manifest).unwrap().replacen(&now, "\"method\":\"guessed/1\"", 1);
    fs::remove_file(&manifest).unwrap();
    fs::write(&manifest, &older).unwrap();
    let current = Current { generation: GenerationId::FIRST, manifest_sha256: Sha256::of(older.as_bytes()) };
    fs::write(world.folder().join("CURRENT"), current.to_string()).unwrap();
    let summary = world.ingest();
    assert_eq!((summary.published, summary.embedded), (true, 0));
    assert_eq!(world.generation().manifest().evidence, Some(measured));
    assert!(!world.ingest().published);
}

#[test]
fn nothing_at_all_is_a_collection_that_opens() {
    let world = World::with_model();
    let summary = world.ingest();
    assert_eq!((summary.documents, summary.chunks, summary.published), (0, 0, true));
    assert_eq!(contents(&world.generation()), BTreeMap::new());
    assert!(!world.ingest().published);
}

#[test]
fn utf_16_is_kept_as_the_extractor_read_it_while_it_is_there() {
    let world = World::new();
    let utf_16: Vec<u8> =
        "\u{feff}Wide words about a marmot.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(world.path("docs/wide.txt"), &utf_16).unwrap();
    world.ingest();
    let texts =
        |world: &World| fs::read_dir(world.generation().folder().join("texts")).map_or(0, Iterator::count);
    assert_eq!(texts(&world), 1);
    world.write("other.md", &prose("valve", 2));
    world.ingest();
    assert_eq!(texts(&world), 1, "carried over");
    fs::rename(world.path("docs/wide.txt"), world.path("docs/wider.txt")).unwrap();
    world.ingest();
    assert_eq!(texts(&world), 1);
    fs::remove_file(world.path("docs/wider.txt")).unwrap();
    world.ingest();
    assert_eq!(texts(&world), 0);
}
