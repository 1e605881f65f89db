//! What a question names literally comes first, whatever else resembles it.

#![expect(clippy::expect_used, reason = "what a test cannot do without should end it and say so")]

#[path = "verdicts/fixture.rs"]
mod fixture;

use std::time::Instant;

use engine::evidence::Reason;
use engine::exact::literals;
use engine::filter::{Filter, Paths};
use engine::lexical::{LITERAL_CANDIDATES_READ, Lexical};
use engine::query::{Caller, Mode, Notice, Search, SearchAnswer};
use engine::stop::Stop;
use engine::{Engine, Error};

use self::fixture::World;

/// An index of documents that hold these texts each.
fn engine_of(documents: &[(String, Vec<String>)]) -> (World, Engine) {
    let world = World::new();
    let mut sources = Vec::new();
    for (source, texts) in documents {
        world.write(source, texts.join("\n\n"));
        sources.push((source.as_str(), texts.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    let sources: Vec<(&str, &[&str])> =
        sources.iter().map(|(source, texts)| (*source, texts.as_slice())).collect();
    world.publish(&sources);
    let engine = world.engine();
    (world, engine)
}

fn one_each(texts: &[&str]) -> Vec<(String, Vec<String>)> {
    (0..).zip(texts).map(|(number, text)| (format!("{number}.md"), vec![(*text).to_owned()])).collect()
}

fn asked(query: &str) -> Search {
    Search { mode: Some(Mode::Bm25), verify: false, max_bytes: 1 << 20, ..Search::new(query) }
}

fn ask(engine: &Engine, search: &Search) -> SearchAnswer {
    engine.search(search, &Caller::default(), &Stop::never()).expect("answered")
}

fn texts(answer: &SearchAnswer) -> Vec<&str> {
    answer.hits.iter().filter_map(|hit| hit.passage.text.as_deref()).collect()
}

fn is_in_order(answer: &SearchAnswer) -> bool {
    answer.hits.is_sorted_by(|left, right| left.score >= right.score)
}

/// Paragraphs that speak of the same things and name another each time.
fn near_topic(paragraphs: u32, name: &str) -> Vec<(String, Vec<String>)> {
    let paragraph = |number: u32| {
        format!(
            "The connection error is logged, the connection is closed and error handling for {} of the connection \
             pool begins: see the error table, connection section, error {number}.",
            name.replace('#', &number.to_string())
        )
    };
    let document = |document: u32| {
        let numbers = (0..paragraphs).filter(|number| number % 50 == document);
        (format!("near/{document}.md"), numbers.map(paragraph).collect())
    };
    (0..50).map(document).collect()
}

#[test]
fn one_identifier_is_first_among_five_thousand_paragraphs_about_it() {
    for (query, near, text) in [
        (
            "connection error ERR_CONN_7781 of the connection pool",
            "ERR_CONN_#",
            "Retry once on ERR_CONN_7781.",
        ),
        ("connection error handling in 05-0087-009149-0", "05-0087-00#-0", "Fits 05-0087-009149-0 only."),
        (
            "how does error handling in parseErrorTable work",
            "parse Error Table #",
            "It calls parseErrorTable().",
        ),
        (
            "which connection error does close() of the pool log",
            "close # or close(#)",
            "Call close() before you leave.",
        ),
        ("connection error handling since 7.9081", "7.# and 8#", "Gone since 7.9081, at last."),
        ("error in 10.20.7781 of the connection pool", "10.20.#", "It was gone in v10.20.7781."),
        (
            "\"the pool of the connection\" error",
            "the connection pool #",
            "drain the pool of the\nconnection, then",
        ),
    ] {
        let mut documents = near_topic(5000, near);
        documents.push(("the/one.md".to_owned(), vec![text.to_owned()]));
        let (_world, engine) = engine_of(&documents);
        for top_k in [1, 5, 50] {
            let answer = ask(&engine, &Search { top_k, ..asked(query) });
            assert_eq!((texts(&answer)[0], answer.hits.len()), (text, top_k), "{query}");
            assert!(is_in_order(&answer), "{query}");
        }
    }
}

#[test]
fn twenty_decoys_that_have_the_parts_come_after_the_whole() {
    let decoys = [
        "ERR CONN 7781",
        "ERR_CONN 7781",
        "ERR-CONN-7781",
        "CONN_ERR_7781",
        "7781_ERR_CONN",
        "ERR_CONN_77811",
        "XERR_CONN_7781",
        "ERR_CONN_7781X",
        "ERR_CONN_7781_2",
        "MY_ERR_CONN_7781",
        "ERR.CONN.7781",
        "ERR/CONN/7781",
        "errConn7781",
        "ERRCONN7781",
        "ERR__CONN__7781",
        "ERR_CONN_7782 7781",
        "ERR_CONN, 7781",
        "ERR (CONN) 7781",
        "7781: ERR, CONN, ERR, CONN, 7781",
        "ERR_7781 CONN_7781 ERR_CONN",
    ];
    let mut all = decoys.to_vec();
    all.push("In a long text about many other things that are of no interest to anyone here it once says err_conn_7781.");
    all.push("In a long text about many other things that are of no interest to anyone here it once says ERR_CONN_7781.");
    let (_world, engine) = engine_of(&one_each(&all));
    let answer = ask(&engine, &Search { top_k: 30, ..asked("ERR CONN 7781 ERR_CONN_7781") });
    assert_eq!(texts(&answer)[..2], [all[21], all[20]], "as written, then without case");
    assert!(is_in_order(&answer));
    assert_eq!(texts(&ask(&engine, &asked("err_conn_7781")))[..2], [all[20], all[21]]);
}

#[test]
fn what_many_chunks_hold_is_a_word_and_what_few_hold_is_a_name() {
    let answer = "a rollback of the release takes one command and a minute";
    for (holders, first) in [(20, "GitHub page 0"), (21, answer)] {
        let mut all: Vec<String> = (0..holders).map(|number| format!("GitHub page {number}")).collect();
        all[0] = "GitHub page 0 of the release".to_owned();
        all.push(answer.to_owned());
        let (_world, engine) = engine_of(&one_each(&all.iter().map(String::as_str).collect::<Vec<_>>()));
        let found = ask(&engine, &asked("rollback of the release on GitHub takes how many minutes"));
        assert!(texts(&found)[0].starts_with(first), "{holders}: {:?}", texts(&found));
    }
}

#[test]
fn what_no_trade_says_is_first_however_many_hold_it() {
    let words = "a rollback of the release takes one command and a minute";
    for name in ["parseConfigFile", "E1001", "CVE-2021-44228", "src/main.rs"] {
        let mut all: Vec<String> = (0..25).map(|number| format!("{name} on page {number}")).collect();
        all.push(words.to_owned());
        let (_world, engine) = engine_of(&one_each(&all.iter().map(String::as_str).collect::<Vec<_>>()));
        let query = format!("how many minutes takes rollback of the release with {name}");
        let found = ask(&engine, &Search { top_k: 26, ..asked(&query) });
        assert_eq!((texts(&found).len(), texts(&found)[25]), (26, words), "{name}");
    }
}

#[test]
fn a_name_that_is_held_is_evidence_and_a_quantity_or_a_word_is_none() {
    let held = "It was changed in 2.4 by parseConfigFile on GitHub, page 7 of \"the long way\".";
    let (_world, engine) = engine_of(&one_each(&[held, "the giraffe", "another page"]));
    let reason = |query: &str| ask(&engine, &asked(query)).evidence.reason;
    for query in ["how long is parseConfigFile", "how long is 'the long way'", "2.4", "GitHub?"] {
        assert_eq!(reason(query), Reason::LiteralHeld, "{query}");
    }
    for query in ["is a giraffe 2.4 metres tall", "which giraffe works for GitHub", "giraffe"] {
        assert_ne!(reason(query), Reason::LiteralHeld, "{query}");
        assert_ne!(reason(query), Reason::LiteralAbsent, "{query}");
    }
}

#[test]
fn a_quoted_phrase_is_found_though_each_of_its_words_is_everywhere() {
    let mut documents = one_each(&["whether to be\nor not to be, that is the question"]);
    let common = |number: u32| format!("not to be {number} or to not be: or be it to not, to or be");
    documents.push(("common.md".to_owned(), (0..2000).map(common).collect()));
    let (_world, engine) = engine_of(&documents);
    for query in [
        "\"to be or not to be\"",
        "where is «to be or not to be» from",
        "“To be, or” or 'to be or not to be'",
    ] {
        let answer = ask(&engine, &asked(query));
        assert_eq!(answer.hits[0].passage.citation.source, "0.md", "{query}");
        assert_eq!(answer.hits.len(), 5, "{query}");
    }
}

#[test]
fn a_phrase_of_words_that_are_everywhere_is_looked_for_in_the_best_of_them() {
    // Chunks that have all of the phrase's words, and not the phrase: more than are read.
    let common = |number: usize| format!("not be or {number} to, it was");
    let numbers: Vec<usize> = (0..LITERAL_CANDIDATES_READ + 40).collect();
    let mut documents: Vec<(String, Vec<String>)> = (0..)
        .zip(numbers.chunks(200))
        .map(|(document, numbers)| (format!("{document}.md"), numbers.iter().map(|n| common(*n)).collect()))
        .collect();
    documents.push(("one.md".to_owned(), vec!["It was 10-20-30-40, to be or not.".to_owned()]));
    let (_world, engine) = engine_of(&documents);
    let notice = [Notice::LiteralsCutShort { read: 20_000 }];
    let answer = ask(&engine, &asked("who said \"to be or not to be\" first"));
    assert_eq!(answer.notices, notice);
    assert!(answer.hits.iter().all(|hit| hit.literals.is_empty()));
    // What is rare is found beside it, and what is held by enough is not looked for any further.
    let answer = ask(&engine, &asked("was \"to be or not to be\" in 10-20-30-40"));
    assert_eq!(
        (answer.hits[0].passage.citation.source.as_str(), &answer.notices[..]),
        ("one.md", &notice[..])
    );
    assert_eq!(ask(&engine, &asked("where is \"it was\"")).notices, []);
    assert_eq!(ask(&engine, &asked("to be or not to be")).notices, []);
}

#[test]
fn names_in_scripts_without_spaces_and_in_other_forms_are_found() {
    let texts_of = [
        "軽量な全文検索エンジンを使う",
        "全文を読み、検索する。全文と検索と文検と全検索",
        "设置parseConfigFile接口的超时",
        "parse config file 接口",
        "a cafe\u{301} in cafe\u{301}_menu_2",
        "caf\u{e9} menu 2, caf\u{e9} menu 2, caf\u{e9} menu 2",
    ];
    let (_world, engine) = engine_of(&one_each(&texts_of));
    for (query, first) in [
        ("「全文検索」とは", texts_of[0]),
        ("parseConfigFile的接口", texts_of[2]),
        ("caf\u{e9}_menu_2", texts_of[4]),
        ("cafe\u{301}_menu_2", texts_of[4]),
    ] {
        assert_eq!(texts(&ask(&engine, &asked(query)))[0], first, "{query}");
    }
}

#[test]
fn holding_more_of_what_was_named_comes_first() {
    let texts_of = [
        "foo::bar foo::bar foo::bar",
        "in a text of some length that says little else, foo::bar meets /etc/hosts once",
        "/etc/hosts",
        "foo bar etc hosts",
    ];
    let (_world, engine) = engine_of(&one_each(&texts_of));
    let answer = ask(&engine, &asked("foo::bar /etc/hosts"));
    assert_eq!((texts(&answer)[0], texts(&answer)[3]), (texts_of[1], texts_of[3]));
    assert!(answer.hits.iter().all(|hit| hit.literals.is_empty()), "nobody asked why");
}

#[test]
fn who_asks_why_is_told_what_a_hit_holds_and_how_far_up_it_is_by_that() {
    let texts_of =
        ["foo::bar foo::bar", "in a text of some length foo::bar meets /ETC/hosts", "foo bar etc hosts"];
    let (_world, engine) = engine_of(&one_each(&texts_of));
    let answer = ask(&engine, &Search { explain: true, ..asked("foo::bar or GitHub in /etc/hosts") });
    let explanation = answer.explanation.as_ref().expect("explained");
    assert_eq!(explanation.literals, ["foo::bar", "GitHub", "/etc/hosts"]);
    let places: Vec<(Option<u32>, Vec<&str>)> = answer
        .hits
        .iter()
        .map(|hit| (hit.literal_rank, hit.literals.iter().map(String::as_str).collect()))
        .collect();
    let expected = [(Some(1), vec!["foo::bar", "/etc/hosts"]), (Some(2), vec!["foo::bar"]), (None, vec![])];
    assert_eq!(places, expected);
}

#[test]
fn literals_are_looked_for_among_what_the_filter_leaves() {
    let (_world, engine) = engine_of(&one_each(&["with ERR_7781", "with ERR_7781 too", "err 7781"]));
    let paths = Paths::new(&["1.md", "2.md"]).expect("globs");
    let filter = Filter { paths, ..Filter::default() };
    let answer = ask(&engine, &Search { filter, ..asked("ERR_7781") });
    assert_eq!(texts(&answer), ["with ERR_7781 too", "err 7781"]);
}

#[test]
fn looking_for_them_ends_with_the_request() {
    let (world, engine) = engine_of(&one_each(&["with ERR_7781"]));
    assert_eq!(texts(&ask(&engine, &asked("ERR_7781"))).len(), 1);
    let lexical = Lexical::open(&world.collection().join("generations/00000001/lexical")).expect("opened");
    let look =
        |stop: &Stop| lexical.holders(&literals("ERR_7781"), &lexical.query("ERR_7781"), 5, None, stop);
    assert_eq!(look(&Stop::never()).expect("found").best.len(), 1);
    assert!(matches!(look(&Stop::at(Instant::now())), Err(Error::DeadlineExceeded)));
}

#[test]
fn a_question_that_names_nothing_is_ranked_as_before() {
    let texts_of = ["the pump and the valve", "the valve", "the pump"];
    let (_world, engine) = engine_of(&one_each(&texts_of));
    let answer = ask(&engine, &asked("what is between pump and valve"));
    assert_eq!(texts(&answer)[0], texts_of[0]);
    let places: Vec<f64> = answer.hits.iter().filter_map(|hit| hit.bm25.map(|place| place.score)).collect();
    assert_eq!(places, answer.hits.iter().map(|hit| hit.score).collect::<Vec<_>>());
}
