//! Answers that a reranker has had its say in, from real files, with the reranker of tests.

#![expect(clippy::expect_used, reason = "what a test cannot do without should end it and say so")]

#[path = "verdicts/fixture.rs"]
mod fixture;

use std::fs;
use std::time::{Duration, Instant};

use engine::engine::Engine;
use engine::error::RerankerObstacle;
use engine::model::Descriptor;
use engine::query::{Caller, Mode, Notice, Reranked, ScoreScale, Search, SearchAnswer};
use engine::stop::Stop;
use engine::{Error, Result};

use self::fixture::World;

/// Candidates that are read, as the documentation says.
const DEPTH: u32 = 20;

const SHORT: &str = "Valve, valve, valve.";
const ALL_WORDS: &str = "Before anything else in the plant, on every shift, the lead looks whether the right valve \
                         stands open or is closed, and writes it down in the book that lies beside the gauge.";

fn world(sources: &[(&str, &[&str])]) -> World {
    let world = World::new();
    for (source, texts) in sources {
        world.write(source, texts.join("\n\n"));
    }
    world.publish(sources);
    world
}

fn install(world: &World, languages: &[&str]) {
    let languages = languages.iter().map(ToString::to_string).collect();
    let descriptor = Descriptor { languages, ..Descriptor::hashing_reranker() };
    let folder = world.model_dir().join("words");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("model.toml"), toml::to_string(&descriptor).expect("toml")).expect("written");
}

fn question(query: &str) -> Search {
    Search { mode: Some(Mode::Bm25), rerank: true, ..Search::new(query) }
}

fn ask(engine: &Engine, search: &Search, stop: &Stop) -> Result<SearchAnswer> {
    let begun = Instant::now();
    loop {
        match engine.search(search, &Caller::default(), stop) {
            Err(Error::WarmingUp) if begun.elapsed() < Duration::from_secs(20) => std::thread::yield_now(),
            settled => return settled,
        }
    }
}

fn answer(engine: &Engine, search: &Search) -> SearchAnswer {
    ask(engine, search, &Stop::never()).expect("answered")
}

fn texts(answer: &SearchAnswer) -> Vec<&str> {
    answer.hits.iter().filter_map(|hit| hit.passage.text.as_deref()).collect()
}

#[test]
fn a_passage_that_answers_all_of_the_question_comes_first() {
    let world = world(&[("a.md", &[SHORT, ALL_WORDS])]);
    install(&world, &[]);
    let engine = world.engine();
    let query = "is the right valve closed";
    let plain = answer(&engine, &Search { rerank: false, ..question(query) });
    assert_eq!((plain.reranked, plain.hits[0].rerank_score), (None, None));
    let reranked = answer(&engine, &question(query));
    assert_eq!(texts(&reranked), [ALL_WORDS, SHORT]);
    assert_eq!(reranked.reranked, Some(Reranked { model: "words".to_owned(), depth: 2 }));
    assert_eq!(reranked.notices, []);
    let [first, second] = reranked.hits.as_slice() else { panic!("{reranked:?}") };
    assert_eq!(first.rerank_score, Some(5.0));
    assert!(second.rerank_score < first.rerank_score && second.score < first.score);
    assert!(reranked.hits.iter().all(|hit| hit.score_scale == ScoreScale::Rerank && hit.bm25.is_some()));
}

#[test]
fn what_there_is_no_reranker_for_is_refused_before_anything_is_ranked() {
    let world = world(&[("a.md", &[SHORT])]);
    let refused = ask(&world.engine(), &question("valve"), &Stop::never());
    assert!(matches!(refused, Err(Error::RerankerUnavailable { why: RerankerObstacle::NoneInstalled })));
}

#[test]
fn a_question_in_a_script_that_the_reranker_does_not_know_keeps_its_order() {
    let world = world(&[("a.md", &["右边的阀门必须关闭。", "阀门。"])]);
    install(&world, &["en"]);
    let engine = world.engine();
    let plain = answer(&engine, &Search { rerank: false, ..question("阀门关闭了吗") });
    let skipped = answer(&engine, &question("阀门关闭了吗"));
    assert_eq!(skipped.hits, plain.hits);
    assert_eq!((skipped.hits.len(), skipped.reranked), (2, None));
    assert_eq!(skipped.notices, [Notice::RerankSkipped { model: "words".to_owned() }]);
}

/// Forty passages, of which the better have fewer of the other words.
fn forty() -> World {
    let texts: Vec<String> =
        (0..40).map(|number| format!("valve {} and the {}", number % 7, "filler ".repeat(number))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let world = world(&[("a.md", &texts)]);
    install(&world, &[]);
    world
}

#[test]
fn the_first_five_of_fifty_are_the_five_of_five() {
    let world = forty();
    let engine = world.engine();
    let ids = |top_k| {
        let answer = answer(&engine, &Search { top_k, ..question("valve 3 filler") });
        answer.hits.iter().map(|hit| (hit.passage.chunk_id, hit.rerank_score)).collect::<Vec<_>>()
    };
    let (five, fifty) = (ids(5), ids(50));
    assert_eq!((five.len(), fifty.len()), (5, 40));
    assert_eq!(five, fifty[..5]);
}

#[test]
fn what_is_behind_the_depth_keeps_its_order_and_its_scale() {
    let world = forty();
    let engine = world.engine();
    let search = Search { top_k: 50, ..question("valve 3 filler") };
    let plain = answer(&engine, &Search { rerank: false, ..search.clone() });
    let reranked = answer(&engine, &search);
    assert_eq!(reranked.reranked.as_ref().map(|reranked| reranked.depth), Some(DEPTH));
    let (read, behind) = reranked.hits.split_at(DEPTH as usize);
    assert!(read.iter().all(|hit| hit.score_scale == ScoreScale::Rerank && hit.rerank_score.is_some()));
    assert!(read.is_sorted_by(|left, right| left.score >= right.score));
    assert_eq!(behind, &plain.hits[DEPTH as usize..]);
}

#[test]
fn a_hundred_answers_are_the_same() {
    let world = forty();
    let engine = world.engine();
    let ask = || answer(&engine, &question("valve 3 filler")).hits;
    let first = ask();
    assert!((0..100).all(|_| ask() == first));
}

#[test]
fn a_deadline_that_is_near_leaves_the_order_and_says_so() {
    let world = forty();
    let engine = world.engine();
    answer(&engine, &question("valve"));
    let stop = Stop::at(Instant::now() + Duration::from_millis(90));
    let hurried = ask(&engine, &question("valve 3 filler"), &stop).expect("answered in time");
    assert_eq!(hurried.reranked.map(|reranked| reranked.depth), Some(0));
    assert_eq!(hurried.notices, [Notice::RerankCutShort { depth: 0, wanted: DEPTH }]);
    assert!(hurried.hits.len() == 5 && hurried.hits[0].score_scale == ScoreScale::Bm25);
}

#[test]
fn what_the_question_names_literally_stays_first() {
    const HOLDER: &str = "See ERR_CONN_7781.";
    const ANSWER: &str = "Why the pump stops when the valve is closed: it has no water then.";
    let world = world(&[("a.md", &[HOLDER, ANSWER])]);
    install(&world, &[]);
    let answer =
        answer(&world.engine(), &question("ERR_CONN_7781: why the pump stops when the valve is closed"));
    assert_eq!(texts(&answer), [HOLDER, ANSWER]);
    assert!(answer.hits[0].rerank_score < answer.hits[1].rerank_score, "the test proves nothing");
    assert!(answer.hits[0].score > answer.hits[1].score);
}
