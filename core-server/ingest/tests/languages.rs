//! Words of many languages in one index: each chunk is stemmed in its own, and a question meets all of them.

#![expect(clippy::unwrap_used, reason = "what a test cannot do without should end it and say so")]

use engine::analysis::Language;
use engine::citation::{ByteRange, LineRange, SourceClass};
use engine::id::{ChunkId, DocumentId, Sha256};
use engine::lexical::Lexical;
use engine::lexical::record::ChunkRecord;
use engine::stop::Stop;
use ingest::lexical_writer::LexicalWriter;

/// Passages and a question to each, in other words or forms.
const FRENCH: &str = include_str!("languages/french.tsv");
const GERMAN: &str = include_str!("languages/german.tsv");

fn rows(table: &'static str) -> Vec<(&'static str, &'static str)> {
    table.lines().map(|line| line.split_once('\t').unwrap()).collect()
}

/// An index with a document for each text, in this order.
struct Index {
    lexical: Lexical,
    texts: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Index {
    fn of<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let writer = LexicalWriter::create(folder.path()).unwrap();
        let texts: Vec<String> = texts.into_iter().map(|text| text.as_ref().to_owned()).collect();
        for (number, text) in texts.iter().enumerate() {
            writer.add_document([record(&format!("{number}.zz"), text)]).unwrap();
        }
        writer.commit_and_merge().unwrap();
        Self { lexical: Lexical::open(folder.path()).unwrap(), texts, _folder: folder }
    }

    /// The texts that were found, best first, with their scores.
    fn found(&self, query: &str) -> Vec<(String, f32)> {
        let found = self.lexical.search(&self.lexical.query(query), 50, &Stop::never()).unwrap();
        let text = |candidate: &engine::lexical::Candidate| {
            (self.lexical.record(candidate.address).unwrap().text, candidate.score)
        };
        found.iter().map(text).collect()
    }

    fn first(&self, query: &str) -> Option<usize> {
        let (best, _) = self.found(query).into_iter().next()?;
        self.texts.iter().position(|text| *text == best)
    }

    /// The mean reciprocal rank of each question's own passage.
    fn mean_reciprocal_rank(&self, rows: &[(&str, &str)]) -> f64 {
        let reciprocal = |(text, question): &(&str, &str)| {
            let rank = self.found(question).iter().position(|(found, _)| found == text);
            rank.map_or(0.0, |rank| 1.0 / f64::from(u32::try_from(rank).unwrap() + 1))
        };
        rows.iter().map(reciprocal).sum::<f64>() / f64::from(u32::try_from(rows.len()).unwrap())
    }
}

fn record(source: &str, text: &str) -> ChunkRecord {
    let document_id = DocumentId::of_source(source);
    let text_sha256 = Sha256::of(text.as_bytes());
    ChunkRecord {
        chunk_id: ChunkId::of_text(document_id, text_sha256, 0),
        document_id,
        source: source.to_owned(),
        source_class: SourceClass::Text,
        extractor: None,
        bytes: ByteRange { start: 0, end: 1 },
        lines: LineRange { start: 1, end: 1 },
        text_sha256,
        text: text.to_owned(),
        title: None,
        heading_path: Vec::new(),
        tags: Vec::new(),
        date: None,
        updated: None,
    }
}

#[test]
fn questions_find_their_passages_in_a_collection_of_several_languages() {
    let (french, german) = (rows(FRENCH), rows(GERMAN));
    let english = (0..60).map(|number| {
        format!("The order of part {number} is checked before it is sent, and the die of the pump is not.")
    });
    let texts = |rows: &[(&'static str, &'static str)]| {
        rows.iter().map(|(text, _)| (*text).to_owned()).collect::<Vec<_>>()
    };
    let all = Index::of(english.chain(texts(&french)).chain(texts(&german)));
    assert_eq!(all.lexical.languages(), [Language::English, Language::German, Language::French]);
    for (rows, at_least) in [(&french, 0.9), (&german, 0.55)] {
        let alone = Index::of(texts(rows)).mean_reciprocal_rank(rows);
        let among_others = all.mean_reciprocal_rank(rows);
        assert!(
            alone > at_least && among_others > alone - 0.05,
            "{alone} alone, {among_others} among others"
        );
    }
}

#[test]
fn forms_of_a_word_are_found_in_each_language() {
    let texts = [
        "Die Ventile werden geöffnet, wenn die Pumpen der Anlage laufen.",
        "Les vannes sont ouvertes quand les pompes de la chaufferie tournent.",
        "Las válvulas se abren cuando las operaciones de la planta han empezado.",
        "Клапаны открываются, когда насосы этой станции уже работают.",
        "The valves are opened when the pumps of the plant are running.",
        "阀门打开之后，水泵开始运转。",
        "ポンプが動いているとき、弁は開かれる。",
    ];
    let index = Index::of(texts);
    for (query, first) in [
        ("geöffnetes Ventil", 0),
        ("vanne ouverte", 1),
        ("operación de válvula", 2),
        ("operacion", 2),
        ("valvula", 2),
        ("работа насоса", 3),
        ("opening a valve", 4),
        ("水泵", 5),
        ("弁", 6),
        ("ﾎﾟﾝﾌﾟ", 6),
        ("ポンプ pump 動いて", 6),
    ] {
        assert_eq!(index.first(query), Some(first), "{query}: {:?}", index.found(query));
    }
}

#[test]
fn the_form_that_was_asked_for_comes_first() {
    let texts = ["send the résumé by mail", "then we resume the work", "send the resumes by mail"];
    let index = Index::of(texts);
    assert_eq!(index.first("résumé"), Some(0));
    assert_eq!(index.first("resume"), Some(1));
    assert_eq!(index.first("resumes"), Some(2));
    for query in ["résumé", "resume", "RÉSUMÉ"] {
        assert_eq!(index.found(query).len(), 3, "{query}");
    }
}

#[test]
fn composed_and_decomposed_questions_are_one_question() {
    let index = Index::of([
        "le re\u{301}seau e\u{301}lectrique de la ville",
        "le réseau électrique de la ville est là",
    ]);
    for (composed, decomposed) in
        [("r\u{e9}seau \u{e9}lectrique", "re\u{301}seau e\u{301}lectrique"), ("\u{c5}", "A\u{30a}")]
    {
        assert_eq!(index.found(composed), index.found(decomposed));
    }
    assert_eq!(index.found("réseau").len(), 2);
}

#[test]
fn a_question_of_common_words_alone_finds_them_in_its_language() {
    let index = Index::of([
        "Sein oder Nichtsein, das ist hier die Frage.",
        "To be or not to be, that is the question.",
        "Être ou ne pas être, telle est la question.",
    ]);
    assert_eq!(index.first("to be or not to be"), Some(1));
    assert_eq!(index.first("das ist die"), Some(0));
    assert_eq!(index.first("ne pas être"), Some(2));
}

#[test]
fn identifiers_are_found_in_any_language_whole_and_by_part() {
    let index = Index::of([
        "Die Funktion parseConfigFile liest die Datei, bevor der Dienst startet.",
        "Der Dienst liest die Datei der Konfiguration mit parse und config.",
        "La fonction ERR_CONN_7781 est appelée par le service au démarrage.",
        "使用parse_config_file接口读取配置",
    ]);
    for (query, first) in [
        ("parseConfigFile", 0),
        ("parse_config_file", 3),
        ("err_conn_7781", 2),
        ("7781", 2),
        ("conn", 2),
        ("配置", 3),
    ] {
        assert_eq!(index.first(query), Some(first), "{query}");
    }
    let by_part: Vec<(String, f32)> = index.found("config");
    assert_eq!(by_part.len(), 3, "{by_part:?}");
}

#[test]
fn a_question_in_several_scripts_finds_what_has_them_all_first() {
    let index = Index::of([
        "使用 PostgreSQL 数据库备份之前，先停止写入服务。",
        "PostgreSQL keeps a write-ahead log; a backup starts with a checkpoint.",
        "数据库备份应当每天执行一次。",
        "Резервная копия PostgreSQL делается после checkpoint.",
        "サーバーの checkpoint はログを切り詰める。",
        "การสำรองข้อมูล PostgreSQL ทำทุกคืน",
    ]);
    for (query, first) in [
        ("PostgreSQL 数据库备份", 0),
        ("PostgreSQL数据库", 0),
        ("ＰｏｓｔｇｒｅＳＱＬ 数据库", 0),
        ("数据库备份每天", 2),
        ("копии PostgreSQL checkpoint", 3),
        ("checkpoint ログ", 4),
        ("สำรองข้อมูล postgresql", 5),
        ("postgresql backup checkpoint", 1),
    ] {
        assert_eq!(index.first(query), Some(first), "{query}: {:?}", index.found(query));
    }
}
