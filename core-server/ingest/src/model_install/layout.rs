//! A folder that somebody else made: what model is in it, by our descriptor, or by the files that
//! sentence-transformers writes beside an ONNX export.

use std::fs;
use std::path::{Path, PathBuf};

use engine::model::descriptor::{self, ModelFile};
use engine::model::{Descriptor, Kind, Pooling};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::{Error, Result};
use super::offers::MODELS;
use super::wheels::hash_of;

/// Where the weights are looked for, in this order.
pub(super) const WEIGHTS: [&str; 4] =
    ["model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"];

/// Files that say how a model is to be used.
pub(super) const CONFIGURATION: [&str; 6] = [
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "config.json",
    "tokenizer_config.json",
    "README.md",
];

/// Tokens that a reranker reads of a query and a passage where nobody says how many: time grows with them, and what
/// answers a question mostly stands near a passage's beginning.
const RERANKER_TOKENS: u32 = 256;

/// What a person says of a model whose folder does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// How token vectors become one.
    pub pooling: Option<Pooling>,
    /// Tokens read of a text at most.
    pub max_tokens: Option<u32>,
    /// Put before a query.
    pub query_prefix: Option<String>,
    /// Put before a passage.
    pub passage_prefix: Option<String>,
}

/// A model in a folder.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) descriptor: Descriptor,
    /// The files to copy, each with its name in the store.
    pub(super) files: Vec<(PathBuf, String)>,
}

/// Says what model is in `folder`, which came from `origin`.
pub(super) fn find(folder: &Path, origin: &str, told: &Told) -> Result<Found> {
    if folder.join(descriptor::FILE_NAME).is_file() {
        return described(folder);
    }
    let refused = |why: &str| Error::NotAModel { path: folder.to_owned(), why: why.to_owned() };
    let weights = weights_in(folder)?;
    let tokenizer = [folder.join("tokenizer.json"), weights.with_file_name("tokenizer.json")]
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| refused("there is no tokenizer.json"))?;
    let weights_file = model_file(&weights, "model.onnx")?;
    let tokenizer_file = model_file(&tokenizer, "tokenizer.json")?;
    let known = MODELS.iter().find(|offer| offer.weights.sha256 == weights_file.sha256.to_string());
    let descriptor = match known {
        Some(offer) => super::descriptor_of(offer),
        None => configured(folder, origin, told)?,
    };
    let descriptor =
        Descriptor { weights: Some(weights_file), tokenizer: Some(tokenizer_file), ..descriptor };
    let files = vec![(weights, "model.onnx".to_owned()), (tokenizer, "tokenizer.json".to_owned())];
    Ok(Found { descriptor, files })
}

/// A folder as this program writes it.
fn described(folder: &Path) -> Result<Found> {
    let path = folder.join(descriptor::FILE_NAME);
    let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
    let descriptor: Descriptor = toml::from_str(&text)
        .map_err(|error| Error::NotAModel { path: path.clone(), why: error.message().to_owned() })?;
    let files: Vec<(PathBuf, String)> =
        descriptor.files().map(|file| (folder.join(&file.path), file.path.clone())).collect();
    if let Some((_, name)) = files.iter().find(|(_, name)| Path::new(name).components().count() != 1) {
        return Err(Error::NotAModel { path, why: format!("{name:?} is no plain file name") });
    }
    Ok(Found { descriptor, files })
}

/// What the files of sentence-transformers say; what `told` says wins.
fn configured(folder: &Path, origin: &str, told: &Told) -> Result<Descriptor> {
    let refused = |why: &str| Error::NotAModel { path: folder.to_owned(), why: why.to_owned() };
    let pooling: PoolingConfig = json(folder, CONFIGURATION[0])?.unwrap_or_default();
    let sentence: SentenceConfig = json(folder, CONFIGURATION[1])?.unwrap_or_default();
    let prompts: PromptConfig = json(folder, CONFIGURATION[2])?.unwrap_or_default();
    let model: ModelConfig = json(folder, CONFIGURATION[3])?.unwrap_or_default();
    let tokenizer: TokenizerConfig = json(folder, CONFIGURATION[4])?.unwrap_or_default();
    if model.scores_pairs() {
        return Ok(Descriptor {
            kind: Kind::Reranker,
            max_tokens: told.max_tokens.or(sentence.max_seq_length).unwrap_or(RERANKER_TOKENS),
            licence: licence_of_readme(folder).unwrap_or_else(|| "unknown".to_owned()),
            origin: origin.to_owned(),
            ..Descriptor::hashing_reranker()
        });
    }
    let dimensions = pooling.word_embedding_dimension.or(model.hidden_size);
    let dimensions = dimensions
        .ok_or_else(|| refused("neither 1_Pooling/config.json nor config.json tells its dimensions"))?;
    let by_config =
        pooling.mode().map_err(|mode| refused(&format!("its pooling is {mode}; cls and mean are served")))?;
    let pooling = told
        .pooling
        .or(by_config)
        .ok_or_else(|| refused("nothing tells its pooling; say --pooling cls or mean"))?;
    // Tokenizers without a limit of their own write a number with thirty digits.
    let of_tokenizer = tokenizer.model_max_length.filter(|tokens| (8.0..=100_000.0).contains(tokens));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "filtered just before")]
    let of_tokenizer = of_tokenizer.map(|tokens| tokens as u32);
    let limits = [sentence.max_seq_length, of_tokenizer, model.max_position_embeddings];
    let by_config = limits.into_iter().flatten().next();
    let prompt = |names: &[&str]| names.iter().find_map(|name| prompts.prompts.get(*name).cloned());
    Ok(Descriptor {
        kind: Kind::Onnx,
        dimensions,
        pooling,
        query_prefix: told.query_prefix.clone().or_else(|| prompt(&["query"])).unwrap_or_default(),
        passage_prefix: told
            .passage_prefix
            .clone()
            .or_else(|| prompt(&["passage", "document"]))
            .unwrap_or_default(),
        max_tokens: told.max_tokens.or(by_config).unwrap_or(512),
        licence: licence_of_readme(folder).unwrap_or_else(|| "unknown".to_owned()),
        origin: origin.to_owned(),
        ..Descriptor::hashing(dimensions)
    })
}

fn weights_in(folder: &Path) -> Result<PathBuf> {
    let refused = |why: String| Error::NotAModel { path: folder.to_owned(), why };
    let named = WEIGHTS.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    let path = named.map_or_else(|| only_onnx_file(folder), Ok)?;
    let mut beside = path.clone().into_os_string();
    beside.push("_data");
    if Path::new(&beside).exists() {
        return Err(refused(
            "its weights lie in a second file (external data); export it as one file".to_owned(),
        ));
    }
    Ok(path)
}

/// The one ONNX file of a folder where none has a usual name.
fn only_onnx_file(folder: &Path) -> Result<PathBuf> {
    let entries = [folder.to_owned(), folder.join("onnx")].map(fs::read_dir).into_iter().flatten().flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let mut found = paths.filter(|path| path.extension().is_some_and(|extension| extension == "onnx"));
    let refused = |why: &str| Err(Error::NotAModel { path: folder.to_owned(), why: why.to_owned() });
    match (found.next(), found.next()) {
        (Some(path), None) => Ok(path),
        (None, _) => refused("there is no ONNX file"),
        (Some(_), Some(_)) => refused("there are several ONNX files and none is called model.onnx"),
    }
}

fn model_file(path: &Path, name: &str) -> Result<ModelFile> {
    let bytes = fs::metadata(path).map_err(Error::file("read", path))?.len();
    Ok(ModelFile { path: name.to_owned(), bytes, sha256: hash_of(path)? })
}

/// Reads a file that need not be there.
fn json<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Option<T>> {
    let path = folder.join(name);
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = fs::read(&path).map_err(Error::file("read", &path))?;
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|error| Error::NotAModel { path, why: error.to_string() })
}

fn licence_of_readme(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("README.md")).ok()?;
    let front_matter = text.strip_prefix("---")?.split("\n---").next()?;
    front_matter.lines().find_map(|line| Some(line.strip_prefix("license:")?.trim().to_owned()))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "the file has them")]
struct PoolingConfig {
    word_embedding_dimension: Option<u32>,
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
    pooling_mode_max_tokens: bool,
    pooling_mode_mean_sqrt_len_tokens: bool,
    pooling_mode_weightedmean_tokens: bool,
    pooling_mode_lasttoken: bool,
    /// How later versions write it.
    pooling_mode: Option<String>,
}

impl PoolingConfig {
    fn mode(&self) -> Result<Option<Pooling>, String> {
        match self.pooling_mode.as_deref() {
            Some("cls") => return Ok(Some(Pooling::Cls)),
            Some("mean") => return Ok(Some(Pooling::Mean)),
            Some(other) => return Err(other.to_owned()),
            None => {}
        }
        let unserved = [
            (self.pooling_mode_max_tokens, "max"),
            (self.pooling_mode_mean_sqrt_len_tokens, "mean_sqrt_len"),
            (self.pooling_mode_weightedmean_tokens, "weightedmean"),
            (self.pooling_mode_lasttoken, "lasttoken"),
        ];
        if let Some((_, name)) = unserved.iter().find(|(on, _)| *on) {
            return Err((*name).to_owned());
        }
        match (self.pooling_mode_cls_token, self.pooling_mode_mean_tokens) {
            (true, true) => Err("cls and mean together".to_owned()),
            (true, false) => Ok(Some(Pooling::Cls)),
            (false, true) => Ok(Some(Pooling::Mean)),
            (false, false) => Ok(None),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SentenceConfig {
    max_seq_length: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptConfig {
    prompts: std::collections::BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ModelConfig {
    hidden_size: Option<u32>,
    max_position_embeddings: Option<u32>,
    architectures: Vec<String>,
}

impl ModelConfig {
    /// Whether it is a cross-encoder, which is a classifier with one class.
    fn scores_pairs(&self) -> bool {
        self.architectures.iter().any(|architecture| architecture.ends_with("ForSequenceClassification"))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TokenizerConfig {
    model_max_length: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        dir
    }

    const EXPORT: [(&str, &str); 7] = [
        ("onnx/model.onnx", "weights"),
        ("tokenizer.json", "{}"),
        ("1_Pooling/config.json", r#"{"word_embedding_dimension": 384, "pooling_mode_cls_token": true}"#),
        ("sentence_bert_config.json", r#"{"max_seq_length": 256}"#),
        (
            "config_sentence_transformers.json",
            r#"{"prompts": {"query": "query: ", "document": "passage: "}}"#,
        ),
        ("tokenizer_config.json", r#"{"model_max_length": 1000000000000000019884624838656}"#),
        ("README.md", "---\ntags: [x]\nlicense: apache-2.0\n---\n# Model\n"),
    ];

    #[test]
    fn an_export_of_sentence_transformers_is_understood() {
        let dir = folder(&EXPORT);
        let found = find(dir.path(), "there", &Told::default()).unwrap();
        let descriptor = found.descriptor;
        assert_eq!(
            (descriptor.dimensions, descriptor.pooling, descriptor.max_tokens),
            (384, Pooling::Cls, 256)
        );
        assert_eq!(
            (descriptor.query_prefix.as_str(), descriptor.passage_prefix.as_str()),
            ("query: ", "passage: ")
        );
        assert_eq!((descriptor.licence.as_str(), descriptor.origin.as_str()), ("apache-2.0", "there"));
        assert_eq!(descriptor.weights.unwrap().bytes, 7);
        assert_eq!(found.files[0].0, dir.path().join("onnx/model.onnx"));
    }

    #[test]
    fn what_is_told_wins() {
        let dir = folder(&EXPORT);
        let told = Told {
            pooling: Some(Pooling::Mean),
            max_tokens: Some(99),
            query_prefix: Some(String::new()),
            passage_prefix: None,
        };
        let descriptor = find(dir.path(), "there", &told).unwrap().descriptor;
        assert_eq!((descriptor.pooling, descriptor.max_tokens), (Pooling::Mean, 99));
        assert_eq!((descriptor.query_prefix.as_str(), descriptor.passage_prefix.as_str()), ("", "passage: "));
    }

    #[test]
    fn a_folder_without_a_model_says_what_is_missing() {
        let cases: [(&[(&str, &str)], &str); 7] = [
            (&[], "no ONNX file"),
            (&[("model.onnx", "")], "no tokenizer.json"),
            (&[("a.onnx", ""), ("b.onnx", "")], "several ONNX files"),
            (&[("model.onnx", ""), ("model.onnx_data", ""), ("tokenizer.json", "")], "second file"),
            (&[("model.onnx", ""), ("tokenizer.json", "")], "dimensions"),
            (
                &[("model.onnx", ""), ("tokenizer.json", ""), ("config.json", r#"{"hidden_size": 8}"#)],
                "--pooling",
            ),
            (
                &[
                    ("model.onnx", ""),
                    ("tokenizer.json", ""),
                    ("config.json", r#"{"hidden_size": 8}"#),
                    ("1_Pooling/config.json", r#"{"pooling_mode_lasttoken": true}"#),
                ],
                "lasttoken",
            ),
        ];
        for (files, why) in cases {
            let dir = folder(files);
            let refused = find(dir.path(), "", &Told::default()).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn a_folder_of_ours_is_taken_as_it_is() {
        let dir = folder(&[("model.toml", "kind = \"hashing\"\ndimensions = 64\n")]);
        let found = find(dir.path(), "", &Told::default()).unwrap();
        assert_eq!((found.descriptor.kind, found.files.len()), (Kind::Hashing, 0));
        let dir = folder(&[(
            "model.toml",
            "kind = \"onnx\"\ndimensions = 64\n[weights]\npath = \"../x\"\nbytes = 1\n\
             sha256 = \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n",
        )]);
        assert!(matches!(find(dir.path(), "", &Told::default()), Err(Error::NotAModel { .. })));
    }
}
