//! Every verdict and every reason, from real files and a whole index.

#![expect(clippy::expect_used, reason = "what a test cannot do without should end it and say so")]

#[path = "verdicts/fixture.rs"]
mod fixture;

use std::fs;
use std::os::unix::fs::symlink;

use engine::citation::{LineRange, Reason, Verdict};
use engine::id::ChunkId;
use engine::query::{Caller, FetchChunk, FetchedChunk, PassageName};
use engine::stop::Stop;
use engine::{Error, SourceRoot};

use self::fixture::{World, chunk_id};

const DOCUMENT: &str = "# Valves\n\nOpen the left valve.\n\nClose the right valve.\n\nCall the shift lead.\n";
const LEFT: &str = "Open the left valve.";
const RIGHT: &str = "Close the right valve.";

fn world() -> World {
    let world = World::new();
    world.write("a.md", DOCUMENT);
    world.publish(&[("a.md", &[LEFT, RIGHT])]);
    world
}

fn fetch(world: &World, passage: PassageName) -> Result<FetchedChunk, Error> {
    let caller = Caller { open_paths: true, ..Caller::default() };
    world.engine().fetch_chunk(
        &FetchChunk { collection: None, passage, neighbors: 0 },
        &caller,
        &Stop::never(),
    )
}

fn fetched(world: &World, id: ChunkId) -> FetchedChunk {
    fetch(world, PassageName::Id(id)).expect("found")
}

/// The verdict on `RIGHT` in `a.md`, checked for what holds of every answer.
fn right(world: &World) -> FetchedChunk {
    let fetched = fetched(world, chunk_id("a.md", RIGHT, 0));
    let passage = &fetched.passage;
    assert_eq!(passage.verdict, passage.reason.verdict());
    let stands = matches!(passage.verdict, Verdict::Verified | Verdict::Relocated);
    assert_eq!(passage.text.as_deref(), stands.then_some(RIGHT));
    assert_eq!(passage.indexed_text.as_deref(), (!stands).then_some(RIGHT));
    if stands {
        let stored = fs::read(world.root().join(&passage.citation.source)).expect("read");
        assert_eq!(
            passage.citation.bytes.slice(&stored),
            Some(RIGHT.as_bytes()),
            "the citation slices the text"
        );
        assert_eq!(passage.open_path, Some(world.root().join(&passage.citation.source)));
        // The footnote of the answer leads back to the passage.
        let again =
            fetch(world, PassageName::Footnote(passage.footnote.to_string().parse().expect("a footnote")));
        assert_eq!(again.expect("found").passage.citation.bytes, passage.citation.bytes);
    }
    fetched
}

fn reason(world: &World) -> Reason {
    right(world).passage.reason
}

fn lines(world: &World) -> (u32, u32) {
    let LineRange { start, end } = right(world).passage.citation.lines;
    (start, end)
}

#[test]
fn what_stands_is_verified() {
    let world = world();
    assert_eq!(reason(&world), Reason::BytesEqual);
    assert_eq!(lines(&world), (5, 5));
    assert_eq!(
        right(&world).passage.footnote.to_string(),
        format!("[a.md:5](footnote:docs/a.md#L5;{})", engine::id::Sha256::of(RIGHT.as_bytes()).short())
    );
}

#[test]
fn an_edit_of_the_same_length_with_its_time_put_back_is_drift() {
    let world = world();
    let path = world.root().join("a.md");
    let modified = path.metadata().expect("there").modified().expect("a time");
    // Seen while it stands, so that anything remembered would be remembered.
    let engine = world.engine();
    let ask =
        FetchChunk { collection: None, passage: PassageName::Id(chunk_id("a.md", RIGHT, 0)), neighbors: 0 };
    let verdict =
        || engine.fetch_chunk(&ask, &Caller::default(), &Stop::never()).expect("found").passage.verdict;
    assert_eq!(verdict(), Verdict::Verified);
    fs::write(&path, DOCUMENT.replace("right", "wrong")).expect("written");
    fs::File::options().write(true).open(&path).expect("opened").set_modified(modified).expect("set");
    assert_eq!(verdict(), Verdict::Drifted);
    let passage = right(&world).passage;
    assert_eq!((passage.verdict, passage.reason), (Verdict::Drifted, Reason::Edited));
    assert_eq!(passage.current_text.as_deref(), Some("Close the wrong valve."));
}

#[test]
fn a_line_inserted_above_relocates() {
    for (before, expected) in
        [("new\n", (6, 6)), ("new\r\n", (6, 6)), ("new\r", (6, 6)), ("\u{feff}", (5, 5)), ("é👩‍🚒\n\n", (7, 7))]
    {
        let world = world();
        world.write("a.md", format!("{before}{DOCUMENT}"));
        assert_eq!(reason(&world), Reason::Moved, "{before:?}");
        assert_eq!(lines(&world), expected, "{before:?}");
    }
}

#[test]
fn lines_are_counted_anew_where_only_line_ends_before_it_changed() {
    let world = world();
    world.write("a.md", DOCUMENT.replacen("left valve", "left\nvalve", 1));
    assert_eq!(reason(&world), Reason::BytesEqual);
    assert_eq!(lines(&world), (6, 6));
}

#[test]
fn texts_of_all_kinds_relocate_to_their_very_bytes() {
    for text in [
        "crlf\r\nin it",
        "nfd e\u{301} and u\u{308}",
        "👩‍🚒🇩🇪 emoji",
        "שלום עולם",
        "漢字かな交じり",
        "lone\rcr",
        "n",
    ] {
        let world = World::new();
        world.write("t.md", format!("{text}\r\n"));
        world.publish(&[("t.md", &[text])]);
        world.write("t.md", format!("\u{feff}a note\r{text}"));
        let passage = fetched(&world, chunk_id("t.md", text, 0)).passage;
        assert_eq!(passage.reason, Reason::Moved, "{text:?}");
        assert_eq!(passage.citation.lines.start, 2, "{text:?}");
        let stored = fs::read(world.root().join("t.md")).expect("read");
        assert_eq!(passage.citation.bytes.slice(&stored), Some(text.as_bytes()));
        assert_eq!(passage.text.as_deref(), Some(text));
        // Another Unicode form is another text.
        world.write("t.md", "\u{e9} and \u{fc}");
        assert_eq!(fetched(&world, chunk_id("t.md", text, 0)).passage.verdict, Verdict::Drifted);
    }
}

#[test]
fn equal_texts_keep_their_order_and_a_lone_one_goes_to_the_nearest() {
    let world = World::new();
    world.write("t.md", "same\n\nother\n\nsame\n");
    world.publish(&[("t.md", &["same", "other", "same"])]);
    world.write(
        "t.md",
        "a line that moves all of it far away, farther than they were apart\n\nsame\n\nsame\n\nother\n",
    );
    let line = |text, ordinal| fetched(&world, chunk_id("t.md", text, ordinal)).passage.citation.lines.start;
    assert_eq!((line("same", 0), line("same", 1), line("other", 0)), (3, 5, 7));
    world.write("t.md", "another way\n\nother\n\nanother\n");
    assert_eq!(line("other", 0), 3);
}

#[test]
fn what_stands_at_the_place_now_is_cut() {
    let world = world();
    world.write("a.md", format!("1\n2\n3\n4\n{}\n6\n", "é".repeat(4000)));
    let passage = right(&world).passage;
    assert_eq!(passage.reason, Reason::Edited);
    assert_eq!(passage.current_text, Some("é".repeat(512)));
}

#[test]
fn a_source_that_ends_before_the_place_is_truncated() {
    let world = world();
    for content in ["", "# Valves\n"] {
        world.write("a.md", content);
        let passage = right(&world).passage;
        assert_eq!((passage.verdict, passage.reason), (Verdict::Drifted, Reason::Truncated));
        assert_eq!(passage.current_text, None);
    }
}

#[test]
fn bytes_that_are_no_text_are_drift() {
    let world = world();
    world.write("a.md", [0xff, 0xfe, 0, 0xd8].repeat(100));
    assert_eq!(reason(&world), Reason::Edited);
}

#[test]
fn a_deleted_source_is_missing_and_a_moved_root_cannot_be_checked() {
    let world = world();
    fs::remove_file(world.root().join("a.md")).expect("removed");
    assert_eq!(reason(&world), Reason::SourceGone);
    fs::rename(world.root(), world.root().with_extension("away")).expect("moved");
    assert_eq!(reason(&world), Reason::RootUnavailable);
}

#[test]
fn a_source_renamed_and_not_ingested_again_is_missing() {
    let world = world();
    fs::rename(world.root().join("a.md"), world.root().join("b.md")).expect("moved");
    assert_eq!(reason(&world), Reason::SourceGone);
}

#[test]
fn what_took_the_source_s_place_is_not_read() {
    type Swap<'a> = Box<dyn Fn(&std::path::Path) + 'a>;
    let outside = tempfile::NamedTempFile::new().expect("a file");
    fs::write(outside.path(), DOCUMENT).expect("written");
    let swaps: [(Reason, Swap<'_>); 4] = [
        (Reason::OutsideRoot, Box::new(|path| symlink(outside.path(), path).expect("linked"))),
        (Reason::NotAFile, Box::new(|path| fs::create_dir(path).expect("made"))),
        (
            Reason::NotAFile,
            Box::new(|path| {
                let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
                rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).expect("made");
            }),
        ),
        (Reason::SourceGone, Box::new(|path| symlink("gone.md", path).expect("linked"))),
    ];
    for (expected, swap) in swaps {
        let world = world();
        let path = world.root().join("a.md");
        fs::remove_file(&path).expect("removed");
        swap(&path);
        assert_eq!(reason(&world), expected);
    }
}

#[test]
fn a_folder_swapped_for_a_link_out_of_the_root_is_not_followed() {
    let world = World::new();
    world.write("sub/a.md", DOCUMENT);
    world.publish(&[("sub/a.md", &[RIGHT])]);
    let away = tempfile::tempdir().expect("a folder");
    fs::rename(world.root().join("sub"), away.path().join("sub")).expect("moved");
    symlink(away.path().join("sub"), world.root().join("sub")).expect("linked");
    let passage = fetched(&world, chunk_id("sub/a.md", RIGHT, 0)).passage;
    assert_eq!((passage.verdict, passage.reason), (Verdict::Unresolvable, Reason::OutsideRoot));
    assert_eq!((passage.text, passage.indexed_text.as_deref()), (None, Some(RIGHT)));
}

#[test]
fn source_roots_decide_what_may_be_read() {
    let mut world = world();
    world.source_roots = vec![SourceRoot { label: None, path: "/nowhere".into() }];
    assert_eq!(reason(&world), Reason::RootUnavailable);
    let mirror = tempfile::tempdir().expect("a folder");
    fs::write(mirror.path().join("a.md"), format!("mirror\n{DOCUMENT}")).expect("written");
    world.source_roots = vec![SourceRoot { label: Some("docs".to_owned()), path: mirror.path().to_owned() }];
    let passage = fetched(&world, chunk_id("a.md", RIGHT, 0)).passage;
    assert_eq!(passage.reason, Reason::Moved);
    assert_eq!(passage.open_path, Some(mirror.path().join("a.md")));
}

#[test]
fn utf_16_is_checked_by_extracting_again() {
    let utf16 = |text: &str| -> Vec<u8> {
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    let world = World::new();
    world.write("u.txt", utf16(DOCUMENT));
    world.publish(&[("u.txt", &[RIGHT])]);
    let asked = |content: &[u8]| {
        world.write("u.txt", content);
        fetched(&world, chunk_id("u.txt", RIGHT, 0)).passage
    };
    assert_eq!(asked(&utf16(DOCUMENT)).reason, Reason::BytesEqual);
    let moved = asked(&utf16(&format!("é\n{DOCUMENT}")));
    assert_eq!((moved.reason, moved.citation.lines.start), (Reason::Moved, 6));
    assert_eq!(moved.citation.extractor.as_deref(), Some("utf16/1"));
    let edited = asked(&utf16(&DOCUMENT.replace("right", "wrong")));
    assert_eq!(
        (edited.reason, edited.current_text.as_deref()),
        (Reason::Edited, Some("Close the wrong valve."))
    );
    assert_eq!(asked(DOCUMENT.as_bytes()).reason, Reason::ExtractorFailed);
    assert_eq!(asked(b"\xff\xfea").reason, Reason::ExtractorFailed);
}

#[test]
fn old_ids_stay_answerable() {
    let world = world();
    let first = right(&world).found_in;
    // Edited, and ingested again.
    let edited = DOCUMENT.replace("right", "wrong");
    world.write("a.md", &edited);
    world.publish(&[("a.md", &[LEFT, "Close the wrong valve."])]);
    let old = right(&world);
    assert_eq!((old.passage.reason, old.found_in), (Reason::Edited, first));
    assert_eq!(old.passage.current_text.as_deref(), Some("Close the wrong valve."));
    assert_eq!(old.superseded_by, [chunk_id("a.md", "Close the wrong valve.", 0)]);
    assert_eq!(old.passage.citation.generation, first);
    assert!(old.generation > first);
    // What was not edited is found in the current generation.
    let left = fetched(&world, chunk_id("a.md", LEFT, 0));
    assert_eq!((left.found_in, left.superseded_by.len()), (left.generation, 0));
    // Its old footnote too.
    let footnote = old.passage.footnote.address().parse().expect("a footnote");
    let by_footnote = fetch(&world, PassageName::Footnote(footnote)).expect("found");
    assert_eq!((by_footnote.passage.reason, by_footnote.found_in), (Reason::Edited, first));
    // What no generation knows is not found.
    assert!(matches!(
        fetch(&world, PassageName::Id(chunk_id("a.md", "?", 0))),
        Err(Error::ChunkNotFound { .. })
    ));
}

#[test]
fn a_file_renamed_and_ingested_again_is_found_under_its_new_name() {
    let world = world();
    world.write("copy.md", "something else");
    let first = world.publish(&[("a.md", &[LEFT, RIGHT]), ("copy.md", &[])]);
    fs::rename(world.root().join("a.md"), world.root().join("sub-b.md")).expect("moved");
    world.publish(&[("sub-b.md", &[LEFT, RIGHT]), ("copy.md", &[])]);
    let old = right(&world);
    assert_eq!((old.passage.verdict, old.passage.reason), (Verdict::Relocated, Reason::Renamed));
    assert_eq!((old.passage.citation.source.as_str(), old.found_in), ("sub-b.md", first));
    assert_eq!(old.superseded_by, [chunk_id("sub-b.md", RIGHT, 0)]);
    assert!(old.passage.footnote.source.ends_with("sub-b.md"));
    // Edited after that: by the inode the file is known, and the text is looked for in it.
    world.write("sub-b.md", format!("new\n{DOCUMENT}"));
    assert_eq!((reason(&world), lines(&world)), (Reason::Renamed, (6, 6)));
    world.write("sub-b.md", DOCUMENT.replace("right", "wrong"));
    assert_eq!(reason(&world), Reason::SourceGone);
}

#[test]
fn a_renamed_and_edited_file_is_known_by_its_inode() {
    let world = world();
    fs::rename(world.root().join("a.md"), world.root().join("b.md")).expect("moved");
    world.write("b.md", format!("new\n{DOCUMENT}"));
    world.publish(&[("b.md", &[LEFT, RIGHT])]);
    assert_eq!((reason(&world), lines(&world)), (Reason::Renamed, (6, 6)));
}

#[test]
fn a_copy_that_was_there_before_is_no_rename() {
    let world = World::new();
    world.write("a.md", DOCUMENT);
    world.write("copy.md", DOCUMENT);
    world.publish(&[("a.md", &[RIGHT]), ("copy.md", &[RIGHT])]);
    fs::remove_file(world.root().join("a.md")).expect("removed");
    world.publish(&[("copy.md", &[RIGHT])]);
    assert_eq!(reason(&world), Reason::SourceGone);
}

#[test]
fn a_passed_deadline_ends_it() {
    let world = world();
    let ask =
        FetchChunk { collection: None, passage: PassageName::Id(chunk_id("a.md", RIGHT, 0)), neighbors: 0 };
    let stop = Stop::at(std::time::Instant::now());
    assert!(matches!(
        world.engine().fetch_chunk(&ask, &Caller::default(), &stop),
        Err(Error::DeadlineExceeded)
    ));
}
