//! Laws and examples of whole documents.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

fn slice<'a>(chunk: &Chunk, text: &'a str) -> &'a str {
    &text[chunk.bytes.start as usize..chunk.bytes.end as usize]
}

fn slices<'a>(source: &str, text: &'a str) -> Vec<&'a str> {
    chunk(source, text).chunks.iter().map(|chunk| slice(chunk, text)).collect()
}

/// Words enough for a section that stands alone.
fn prose(sentences: usize) -> String {
    repeated(sentences, |n| format!("Sentence number {n} says something that is quite plain. "))
}

fn repeated(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().concat()
}

// ---- Markdown ----

#[test]
fn sections_carry_the_headings_above_them() {
    let text = format!(
        "# The `Top` & *more*\n\n{p}\n\nSecond\n------\n\n{p}\n\n### Third [link](x) ###\n\n{p}\n\n## Last {{#anchor}}\n\n{p}\n",
        p = prose(12)
    );
    let document = chunk("a.md", &text);
    assert_eq!(document.title.as_deref(), Some("The Top & more"));
    let paths: Vec<_> = document.chunks.iter().map(|chunk| chunk.heading_path.join(" > ")).collect();
    assert_eq!(
        paths,
        [
            "The Top & more",
            "The Top & more > Second",
            "The Top & more > Second > Third link",
            "The Top & more > Last"
        ]
    );
    assert!(slice(&document.chunks[1], &text).starts_with("Second\n------\n"));
}

#[test]
fn what_looks_like_a_heading_within_a_fence_or_a_quote_is_none() {
    let text = format!("# Top\n\n```sh\n# comment\nls\n```\n\n> ## Quoted\n\n- # item\n\n{}", prose(20));
    for chunk in chunk("a.md", &text).chunks {
        assert_eq!(chunk.heading_path, ["Top"]);
    }
}

#[test]
fn small_sections_stay_together_under_their_common_heading() {
    let small = format!("## A\n\n{p}\n\n## B\n\n{p}\n\n## C\n\n{p}", p = prose(2).trim());
    let text = format!("# Top\n\n{}\n\n{small}\n", prose(12));
    let document = chunk("a.md", &text);
    assert_eq!(document.chunks.len(), 2);
    assert_eq!(slice(&document.chunks[1], &text), small);
    assert_eq!(document.chunks[1].heading_path, ["Top"]);
}

#[test]
fn a_title_that_no_heading_repeats_stands_above_all() {
    let document = chunk("a.md", "---\ntitle: Guide\n---\n\n## Part\n\nText.\n");
    assert_eq!(document.title.as_deref(), Some("Guide"));
    assert_eq!(document.chunks[0].heading_path, ["Guide", "Part"]);
    let document = chunk("a.md", "---\ntitle: Guide\n---\n\n# Head\n\nText.\n");
    assert_eq!(document.title.as_deref(), Some("Guide"));
    assert_eq!(document.chunks[0].heading_path, ["Head"]);
}

#[test]
fn front_matter_is_no_chunk_s_text() {
    let text = "\u{feff}---\r\ntitle: secret words\r\ntags: a, b\r\ndate: 2024-05-01\r\nms.date: 01/07/2025\r\n---\r\nBody.\r\n";
    let document = chunk("a.md", text);
    assert_eq!(document.title.as_deref(), Some("secret words"));
    assert_eq!(document.tags, ["a", "b"]);
    assert_eq!(document.date.as_deref(), Some("2024-05-01"));
    assert_eq!(document.updated.as_deref(), Some("2025-01-07"));
    assert_eq!(slices("a.md", text), ["Body."]);
    let broken = "---\ntitle: \"open\nx: [1\n---\nBody.\n";
    let document = chunk("a.md", broken);
    assert_eq!(document.warnings.len(), 1);
    assert_eq!(slices("a.md", broken), ["Body."]);
}

#[test]
fn an_anchor_goes_with_the_heading_below_it() {
    let text = format!("# Top\n\n{p}\n\n<a id=\"x\"></a>\n## Next\n\n{p}\n", p = prose(12));
    let document = chunk("a.md", &text);
    assert!(slice(&document.chunks[1], &text).starts_with("<a id"));
    assert_eq!(document.chunks[1].heading_path, ["Top", "Next"]);
}

#[test]
fn fences_tables_and_lists_stay_whole_where_they_fit() {
    let fence = format!("```rust\n{}```", "let value = compute();\n\n".repeat(25));
    let table = format!("| Name | Value |\n|---|---|\n{}", "| some name | some value |\n".repeat(25));
    let list = "- one item that says something\n\n  and more of it\n".repeat(20);
    for block in [fence, table, list] {
        for before in 0..40 {
            let text = format!("# Top\n\n{}\n\n{block}\n\n{}", prose(before), prose(15));
            let whole = slices("a.md", &text).iter().filter(|chunk| chunk.contains(block.trim_end())).count();
            assert_eq!(whole, 1, "behind {before} sentences:\n{block}");
        }
    }
}

#[test]
fn what_does_not_fit_is_cut_between_lines() {
    let rows: String = repeated(400, |row| format!("| row {row} | {} |\n", prose(2).trim()));
    let lines: String = repeated(400, |line| format!("    line_{line}(\"{}\");\n", prose(1).trim()));
    let text = format!("# Top\n\n| a | b |\n|---|---|\n{rows}\n```c\n{lines}```\n");
    let document = chunk("a.md", &text);
    assert!(document.chunks.len() > 50);
    for chunk in &document.chunks {
        let start = chunk.bytes.start as usize;
        let end = chunk.bytes.end as usize;
        assert!(start == 0 || text[..start].ends_with('\n'), "begins within a line");
        assert!(text[end..].starts_with('\n'), "ends within a line");
    }
    assert!(slices("a.md", &text).iter().any(|chunk| chunk.contains("|---|---|\n| row 0")));
}

#[test]
fn a_long_paragraph_is_cut_between_sentences() {
    for sentence in [
        "One sentence follows another here. ",
        "这是一个关于数据库的句子。",
        "Это просто предложение. ",
        "هذه جملة قصيرة. ",
    ] {
        let text = sentence.repeat(300);
        let slices = slices("a.md", &text);
        assert!(slices.len() > 3);
        for slice in slices {
            assert!(slice.starts_with(sentence.trim()) && slice.ends_with(sentence.trim()), "{slice}");
        }
    }
}

// ---- source code ----

#[test]
fn definitions_stay_whole_where_they_fit() {
    let function = |n: usize| {
        format!(
            "/// Does {n}.\n#[inline]\npub fn number_{n}(input: u32) -> u32 {{\n{}}}\n",
            "    let x = input + 1;\n\n".repeat(8 + n % 20)
        )
    };
    let text: String = (0..60).map(|n| function(n) + "\n").collect();
    let slices = slices("a.rs", &text);
    assert!(slices.len() > 10);
    for slice in slices {
        assert!(slice.starts_with("/// Does"), "{slice}");
        assert!(slice.ends_with('}'), "{slice}");
    }
}

#[test]
fn code_within_a_long_definition_says_where_it_is() {
    let body: String = repeated(300, |n| format!("        let value_{n} = self.compute({n});\n"));
    let text = format!("impl Machine {{\n    fn run(&self) {{\n{body}    }}\n}}\n");
    let document = chunk("a.rs", &text);
    assert!(document.chunks.len() > 3);
    assert_eq!(document.chunks[2].heading_path, ["impl Machine", "fn run(&self)"]);
    assert!(document.title.is_none());
}

// ---- laws ----

/// Pieces of documents, joined in any order.
fn fragment() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        Just("plain words here".to_owned()),
        Just("数据库是一个系统，用于存储。".to_owned()),
        Just("👩‍👩‍👧🇩🇪🦀 emoji 👍🏽".to_owned()),
        Just("e\u{301}a\u{308} combined \u{301}mark".to_owned()),
        Just("مرحبا بالعالم. שלום עולם!".to_owned()),
        Just("한국어 문장입니다.".to_owned()),
        Just("क्षि नमस्ते।".to_owned()),
        Just("\u{600}12 \u{200d}x \u{2028}y \u{a0}".to_owned()),
        "[a-z ]{0,60}",
        "[a-zA-Z0-9+/]{0,200}",
        "[*_`\\[\\]()<>#|!~:=-]{0,30}",
        "\\PC{0,20}",
    ];
    let block = prop_oneof![
        words.clone(),
        words.clone().prop_map(|words| format!("# {words}")),
        words.clone().prop_map(|words| format!("### {words}")),
        words.clone().prop_map(|words| format!("{words}\n===")),
        words.clone().prop_map(|words| format!("- {words}")),
        words.clone().prop_map(|words| format!("> {words}")),
        words.clone().prop_map(|words| format!("    {words}")),
        words.clone().prop_map(|words| format!("| {words} | b |\n|---|---|\n| c | d |")),
        words.clone().prop_map(|words| format!("```\n{words}\n```")),
        words.clone().prop_map(|words| format!("fn f() {{\n    {words}\n}}")),
        words.clone().prop_map(|words| words.repeat(30)),
        words.prop_map(|words| format!("{words}. ").repeat(60)),
        Just("---\ntitle: x\n---".to_owned()),
        Just("[a]: http://example.com".to_owned()),
        Just("   ".to_owned()),
        Just(String::new()),
    ];
    (block, prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\n\n"), Just("\r\n\r\n"), Just("")])
        .prop_map(
            |(block, end)| {
                if end.starts_with('\r') { block.replace('\n', end.trim_end()) + end } else { block + end }
            },
        )
}

fn document() -> impl Strategy<Value = String> {
    (prop_oneof![Just(""), Just("\u{feff}")], prop::collection::vec(fragment(), 0..40))
        .prop_map(|(mark, fragments)| format!("{mark}{}", fragments.concat()))
}

/// The line of a byte, counted the slow way.
fn line_of(text: &str, at: usize) -> u32 {
    let ends = text.as_bytes()[..at].iter().enumerate().filter(|&(place, &byte)| {
        byte == b'\n' || byte == b'\r' && text.as_bytes().get(place + 1) != Some(&b'\n')
    });
    u32::try_from(ends.count()).unwrap() + 1
}

fn check_laws(source: &str, text: &str) {
    let document = chunk(source, text);
    assert_eq!(document, chunk(source, text), "the same text gives the same document");
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let body = if source == "a.md" { mark + front_matter::read(&text[mark..]).bytes } else { mark };
    let mut end = body;
    let boundaries: std::collections::HashSet<usize> =
        text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
    for chunk in &document.chunks {
        let (start, next_end) = (chunk.bytes.start as usize, chunk.bytes.end as usize);
        assert!(start >= end && next_end > start, "in order, not overlapping, not empty");
        assert_eq!(text[end..start].trim(), "", "nothing that is not blank lies between");
        assert!(!slice(chunk, text).trim().is_empty(), "none is blank");
        assert!(boundaries.contains(&start) || start == body, "begins within a character");
        assert!(boundaries.contains(&next_end), "ends within a character");
        assert_eq!(chunk.lines.start, line_of(text, start));
        assert_eq!(chunk.lines.end, line_of(text, next_end - 1));
        let size = measure(slice(chunk, text));
        assert!(size <= split::LARGEST, "{size} is larger than a chunk may be");
        assert!(measure(&chunk.heading_path.join(" > ")) <= LONGEST_PATH + 12 * TOKEN);
        end = next_end;
    }
    assert_eq!(text[end..].trim(), "", "nothing is left behind the last");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn chunks_are_slices_that_cover_the_text(text in document()) {
        for source in ["a.md", "a.txt", "a.rs"] {
            check_laws(source, &text);
        }
    }
}

/// Where cuts are chosen by content, an edit can by chance move one more of them; so this is a law about how often, over
/// fixed texts and places.
#[test]
fn a_line_more_changes_few_chunks() {
    let cases: Vec<usize> = (0..400_u32)
        .map(|case| changed_by_a_line(case, case as usize * 7 % 600, case as usize % 4))
        .collect();
    let many = cases.iter().filter(|changed| **changed > 3).count();
    assert!(many <= cases.len() / 100, "{many} of {} edits changed more than three chunks", cases.len());
    assert!(cases.iter().all(|changed| (1..=8).contains(changed)), "{cases:?}");
}

/// How many chunks of `lines(seed, shape)` are new once a line is put in at `place`.
fn changed_by_a_line(seed: u32, place: usize, shape: usize) -> usize {
    let lines = lines(seed, shape);
    let source = if shape == 3 { "a.rs" } else { "a.md" };
    let new = format!("{}One line more is put here.\n{}", lines[..place].concat(), lines[place..].concat());
    let old = lines.concat();
    let before = slices(source, &old);
    slices(source, &new).iter().filter(|chunk| !before.contains(chunk)).count()
}

/// 600 lines: one paragraph, one list, sections, one function without a blank line.
fn lines(seed: u32, shape: usize) -> Vec<String> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        ["alpha", "beta", "gamma", "delta", "index", "query", "stone", "river"][state as usize % 8].to_owned()
            + &(state % 97).to_string()
    };
    (0..600)
        .map(|line| {
            let words = format!("{} {} {} {}", word(), word(), word(), word());
            match shape {
                0 => format!("{words}\n"),
                1 => format!("- {words}\n"),
                2 if line % 17 == 0 => format!("\n## {words}\n\n"),
                2 => format!("{words}.\n"),
                _ => format!("    {words};\n"),
            }
        })
        .collect()
}

#[test]
fn one_line_in_front_of_two_thousand_changes_at_most_three_chunks() {
    for source in ["a.md", "a.txt", "a.rs"] {
        for seed in 0..20 {
            let text: String = (0..4).flat_map(|part| lines(seed * 4 + part, 0)).take(2_000).collect();
            let new = format!("A first line is put in front.\n{text}");
            let before = slices(source, &text);
            let changed = slices(source, &new).iter().filter(|chunk| !before.contains(chunk)).count();
            assert!(changed <= 3, "{changed} chunks of {source}, seed {seed}");
        }
    }
}

#[test]
fn line_ends_do_not_move_cuts() {
    let text = format!("# Top\n\n{}\n\n- a\n- b\n\n```\n{}```\n", prose(80), "code here\n".repeat(300));
    let unix: Vec<String> = slices("a.md", &text).iter().map(ToString::to_string).collect();
    for end in ["\r\n", "\r"] {
        let other = text.replace('\n', end);
        let other: Vec<String> =
            slices("a.md", &other).iter().map(|slice| slice.replace(end, "\n")).collect();
        assert_eq!(unix, other, "{end:?}");
    }
}

#[test]
fn texts_without_text_have_no_chunks() {
    for text in ["", "\u{feff}", "\n\r\n \t", "---\ntitle: a\n---\n", "\u{feff}---\r\n---\r\n\r\n"] {
        assert_eq!(chunk("a.md", text).chunks, [], "{text:?}");
    }
}

#[test]
fn hostile_documents_come_to_an_end() {
    let nested = |mark: &str| format!("{} text\n", mark.repeat(10_000));
    for (name, text) in [
        ("ten megabytes", format!("## Part\n\n{}\n\n", prose(40)).repeat(10_000_000 / 2_400)),
        ("a long word", "x".repeat(50_000)),
        ("a longer word", "x".repeat(5_000_000)),
        ("headings", repeated(100_000, |n| format!("# Heading {n}\n\n"))),
        ("one heading", format!("# {}\n\ntext\n", prose(20_000))),
        ("quotes", nested("> ")),
        ("quotes without spaces", nested(">")),
        ("lists", nested("- ")),
        ("deep list", repeated(2_000, |depth| format!("{}- a\n", "  ".repeat(depth)))),
        ("brackets", "[".repeat(500_000)),
        ("images", "![".repeat(250_000)),
        ("links", "[a](".repeat(125_000)),
        ("stars", "*".repeat(500_000)),
        ("emphasis", "*a **a ".repeat(70_000)),
        ("ticks", (1..1_000).map(|n| "`".repeat(n) + " ").collect()),
        ("angles", "<".repeat(500_000)),
        ("comments", "<!--".repeat(120_000)),
        ("definitions", repeated(50_000, |n| format!("[{n}]: x\n"))),
        ("columns", format!("{}\n{}\n{}", "|a".repeat(1_000), "|-".repeat(1_000), "|b\n".repeat(1_000))),
        ("blank lines", "\n".repeat(5_000_000)),
        ("blanks", format!("a{}b", " ".repeat(5_000_000))),
        ("marks", format!("a{}", "\u{301}".repeat(1_000_000))),
        ("flags", "🇩🇪".repeat(200_000)),
        ("joiners", "👩\u{200d}".repeat(100_000)),
        ("lone returns", "a\r".repeat(1_000_000)),
        ("equal lines", "the same\n".repeat(500_000)),
    ] {
        for source in ["a.md", "a.txt", "a.rs"] {
            let start = std::time::Instant::now();
            let document = chunk(source, &text);
            println!("{name:24} {source} {:>6} chunks {:>8.1?}", document.chunks.len(), start.elapsed());
            let covered: usize = document.chunks.iter().map(|chunk| chunk.bytes.len() as usize).sum();
            assert!(covered <= text.len());
        }
    }
}
