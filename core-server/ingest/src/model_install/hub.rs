//! A model from the Hugging Face hub, or from a mirror that speaks like it: fetched by pinned revision into a folder,
//! from where it goes on as any folder does.

use std::fs;
use std::path::{Path, PathBuf};

use hf_hub::api::sync::{ApiBuilder, ApiError, ApiRepo};
use hf_hub::{Repo, RepoType};

use super::error::{Error, Result};
use super::layout::{CONFIGURATION, WEIGHTS};

/// The hub that is asked where no other is named.
pub const DEFAULT_ENDPOINT: &str = "https://huggingface.co";

/// A model on the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubModel {
    /// The repository, `owner/name`.
    pub repository: String,
    /// The commit: 40 hex digits, so that nobody can move it.
    pub revision: String,
    /// The ONNX file in it, where it is not at a usual place.
    pub file: Option<String>,
    /// The hub.
    pub endpoint: String,
}

impl HubModel {
    /// Where it is from, for people.
    pub(super) fn origin(&self) -> String {
        format!("{} at {} from {}", self.repository, self.revision, self.endpoint)
    }

    /// Fetches what a model needs into `into`.
    pub(super) fn fetch(&self, into: &Path) -> Result<PathBuf> {
        if self.revision.len() != 40 || !self.revision.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Error::Revision { revision: self.revision.clone() });
        }
        let api = ApiBuilder::new()
            .with_endpoint(self.endpoint.clone())
            .with_cache_dir(into.join("cache"))
            .with_progress(false)
            // The person's own token would go to whatever endpoint was named.
            .with_token(None)
            .with_retries(2)
            .build()
            .map_err(|error| self.failed("API", &error))?;
        let revision = self.revision.clone();
        let repository = api.repo(Repo::with_revision(self.repository.clone(), RepoType::Model, revision));
        let folder = into.join("model");
        let weights = match &self.file {
            Some(file) => vec![file.as_str()],
            None => WEIGHTS.to_vec(),
        };
        let file = self.fetch_first(&repository, &weights)?;
        self.place(&file, &folder, WEIGHTS[0])?;
        let tokenizer = self.get(&repository, "tokenizer.json")?;
        let tokenizer = tokenizer.ok_or_else(|| self.absent("tokenizer.json"))?;
        self.place(&tokenizer, &folder, "tokenizer.json")?;
        for name in CONFIGURATION {
            if let Some(path) = self.get(&repository, name)? {
                self.place(&path, &folder, name)?;
            }
        }
        Ok(folder)
    }

    fn fetch_first(&self, repository: &ApiRepo, names: &[&str]) -> Result<PathBuf> {
        for name in names {
            if let Some(path) = self.get(repository, name)? {
                return Ok(path);
            }
        }
        Err(self.absent(&names.join(" or ")))
    }

    /// Fetches a file; `None` where the repository has none of that name.
    fn get(&self, repository: &ApiRepo, name: &str) -> Result<Option<PathBuf>> {
        match repository.get(name) {
            // The client files what it fetched under the commit that the hub says it is from.
            Ok(path) if path.components().any(|part| part.as_os_str() == self.revision.as_str()) => {
                Ok(Some(path))
            }
            Ok(_) => Err(self.refused(name, "the hub gave another revision".to_owned())),
            Err(ApiError::RequestError(error)) if is_not_found(&error.to_string()) => Ok(None),
            Err(error) => Err(self.failed(name, &error)),
        }
    }

    #[expect(clippy::unused_self, reason = "reads like its neighbours")]
    fn place(&self, from: &Path, folder: &Path, name: &str) -> Result<()> {
        let target = folder.join(name);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
        }
        fs::copy(from, &target).map(drop).map_err(Error::file("write", &target))
    }

    fn failed(&self, file: &str, error: &ApiError) -> Error {
        self.refused(file, error.to_string())
    }

    fn absent(&self, file: &str) -> Error {
        self.refused(file, "there is no such file".to_owned())
    }

    fn refused(&self, file: &str, why: String) -> Error {
        let (repository, revision) = (self.repository.clone(), self.revision.clone());
        Error::Hub { repository, revision, file: file.to_owned(), why }
    }
}

/// The client's error type is not ours to name; its text has the status.
fn is_not_found(error: &str) -> bool {
    error.contains("404")
}
