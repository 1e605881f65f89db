//! The model store with the default model, installed once and shared by every test that ranks for real.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::programs::{program, workspace};

/// What is installed: the default embedder and the reranker.
const MODELS: [&str; 2] = ["bge-small-en-v1.5", "ms-marco-minilm-l-12-v2"];

/// A store that holds the runtime, the default model and the reranker: `FOOTNOTE_TEST_MODEL_DIR`, or one beside the
/// build. Installed on first use, by the command that a person would use.
///
/// # Panics
/// Where the model cannot be installed.
pub fn store() -> PathBuf {
    static STORE: OnceLock<PathBuf> = OnceLock::new();
    STORE
        .get_or_init(|| {
            let store = std::env::var_os("FOOTNOTE_TEST_MODEL_DIR")
                .map_or_else(|| workspace().join("target/test-models"), PathBuf::from);
            fs::create_dir_all(&store).expect("a folder for the models");
            let lock = File::create(store.join(".test-lock")).expect("a lock");
            lock.lock().expect("the lock");
            for model in MODELS {
                let status = Command::new(program("footnote-index"))
                    .args(["model", "install", model, "--model-dir"])
                    .arg(&store)
                    .status()
                    .expect("footnote-index starts");
                assert!(status.success(), "{model} cannot be installed");
            }
            store
        })
        .clone()
}
