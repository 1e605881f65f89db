//! Every chunk of every fixture is a slice of its file, and its lines are the file's lines.

use std::fs;

use serde_json::Value;
use tests::World;

/// A word in every paragraph, so that one question finds every chunk of a fixture.
const MARKER: &str = "quokka";

/// Texts whose bytes, characters and lines are counted differently by the careless.
fn fixtures() -> Vec<(&'static str, Vec<u8>)> {
    let lines: Vec<String> = (1..=40)
        .map(|n| {
            if n % 10 == 1 { format!("## Part {n}") } else { format!("The {MARKER} number {n} says hello.") }
        })
        .collect();
    let joined = |end: &str| format!("{}{end}", lines.join(end)).into_bytes();
    let ended = |(n, line): (usize, &String)| format!("{line}{}", ["\n", "\r\n", "\r"][n % 3]);
    let mixed = lines.iter().enumerate().map(ended).collect::<Vec<_>>().concat();
    let with = |words: &str| {
        format!("# {words}\n\nThe {MARKER} met {words} first.\n\n## Then {words}\n\nAnd {MARKER} saw {words} again.\n")
            .into_bytes()
    };
    vec![
        ("lf.md", joined("\n")),
        ("crlf.md", joined("\r\n")),
        ("cr.txt", joined("\r")),
        ("mixed.txt", mixed.into_bytes()),
        ("bom.md", [b"\xEF\xBB\xBF".to_vec(), joined("\n")].concat()),
        ("no-final-newline.md", lines.join("\n").into_bytes()),
        ("emoji.md", with("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} and \u{1F1E8}\u{1F1ED}")),
        ("combining.md", with("Z\u{0351}\u{036B}\u{0343}a\u{0328}lgo")),
        ("nfd.md", with("Cafe\u{0301} Mu\u{0308}ller")),
        ("rtl.md", with("\u{05E9}\u{05DC}\u{05D5}\u{05DD} \u{0645}\u{0631}\u{062D}\u{0628}\u{0627}")),
        ("cjk.md", with("\u{4F60}\u{597D}\u{3002}\u{4E16}\u{754C}\u{3002}")),
        ("front-matter.md", [b"---\ntitle: Front\n---\n".to_vec(), joined("\n")].concat()),
        (
            "code.rs",
            format!("//! {MARKER}\n\nfn a() {{\r\n    // {MARKER}\r\n}}\n\nfn b() {{ /* {MARKER} */ }}\n")
                .into_bytes(),
        ),
    ]
}

#[test]
fn slicing_the_file_by_a_chunks_bytes_gives_its_text() {
    let world = World::new();
    for (name, bytes) in fixtures() {
        world.write(name, bytes);
    }
    world.ingest();
    let mut seen = 0;
    for (name, bytes) in fixtures() {
        for chunk in chunks_of(&world, name) {
            let (start, end) = (number(&chunk, "start_byte"), number(&chunk, "end_byte"));
            assert_eq!(chunk["text"].as_str().unwrap().as_bytes(), &bytes[start..end], "{name}");
            assert_eq!(number(&chunk, "start_line"), line_of(&bytes, start), "{name}: {chunk:#}");
            assert_eq!(number(&chunk, "end_line"), line_of(&bytes, end - 1), "{name}: {chunk:#}");
            seen += 1;
        }
    }
    assert!(seen >= fixtures().len(), "only {seen} chunks");
}

#[test]
fn every_marked_line_is_in_exactly_one_chunk() {
    let world = World::new();
    for (name, bytes) in fixtures() {
        world.write(name, bytes);
    }
    world.ingest();
    for (name, _) in fixtures() {
        let file = fs::read(world.doc(name)).unwrap();
        let chunks = chunks_of(&world, name);
        for (at, _) in String::from_utf8(file).unwrap().match_indices(MARKER) {
            let holding = chunks
                .iter()
                .filter(|chunk| (number(chunk, "start_byte")..number(chunk, "end_byte")).contains(&at))
                .count();
            assert_eq!(holding, 1, "{name}: byte {at}");
        }
    }
}

#[test]
fn a_utf16_document_is_cited_in_its_extracted_text() {
    let world = World::new();
    let text = format!("First line.\r\nThe {MARKER} in two bytes.\r\n");
    let bytes: Vec<u8> =
        std::iter::once(0xFEFF_u16).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    world.write("wide.txt", bytes);
    world.ingest();
    let chunk = &chunks_of(&world, "wide.txt")[0];
    assert_eq!(chunk["citation"]["source_class"], "extracted");
    assert_eq!(chunk["verdict"], "verified");
    assert!(chunk["text"].as_str().unwrap().contains(MARKER));
    assert_eq!(chunk["citation"]["extractor"], "utf16/1");
}

/// Every chunk of one fixture that holds the marker, as the hits of one answer.
fn chunks_of(world: &World, source: &str) -> Vec<Value> {
    // Of this fixture alone: others have some of the same texts, which an answer gives once.
    let fields = ["--mode", "bm25", "--top-k", "50", "--max-bytes", "1048576", "--path", source, MARKER];
    let hits = world.search(&fields)["hits"].as_array().unwrap().clone();
    assert!(hits.len() < 50, "more chunks than one answer holds");
    assert!(hits.iter().all(|hit| hit["citation"]["source"] == source));
    assert!(!hits.is_empty(), "no chunk of {source}");
    hits
}

fn number(chunk: &Value, field: &str) -> usize {
    usize::try_from(chunk["citation"][field].as_u64().unwrap()).unwrap()
}

/// The 1-based line of a byte, counted the slow way: LF, CRLF and a lone CR each end a line.
fn line_of(bytes: &[u8], at: usize) -> usize {
    let ends = |i: usize| match bytes[i] {
        b'\n' => true,
        b'\r' => bytes.get(i + 1) != Some(&b'\n'),
        _ => false,
    };
    1 + (0..at).filter(|&i| ends(i)).count()
}
