//! Which ranking a question gets: the one asked for or none, else the best there is and why not better.

use crate::error::{Error, ModeObstacle, Result};
use crate::generation::manifest::Manifest;
use crate::index::Collection;
use crate::model::{Availability, Embed, Loaded, Models};
use crate::query::{Mode, Notice, ScoreScale};

/// A ranking and what it needs.
pub(super) enum Ranking {
    /// Words alone.
    Bm25,
    /// Meaning alone.
    Dense(Loaded),
    /// Both.
    Hybrid(Loaded),
}

impl Ranking {
    /// The ranking for a question to `collection`. A mode that was asked for is served or refused; where none was,
    /// it is hybrid, or BM25 with a notice of what is in the way. A model that is being loaded is in nobody's way
    /// for good: [`Error::WarmingUp`].
    pub(super) fn choose(
        mode: Option<Mode>,
        collection: &Collection,
        models: &Models,
    ) -> Result<(Self, Vec<Notice>)> {
        let manifest = collection.generation().manifest();
        match mode {
            Some(Mode::Bm25) => Ok((Self::Bm25, Vec::new())),
            Some(mode) => match usable(manifest, models)? {
                Ok(model) if mode == Mode::Dense => Ok((Self::Dense(model), Vec::new())),
                Ok(model) => Ok((Self::Hybrid(model), Vec::new())),
                Err(why) => Err(Error::ModeUnavailable { collection: collection.name().clone(), why }),
            },
            None => match usable(manifest, models) {
                Ok(Ok(model)) => Ok((Self::Hybrid(model), Vec::new())),
                Ok(Err(why)) => Ok((Self::Bm25, notices(manifest, why))),
                // Another model under its name cannot be used, but words can.
                Err(Error::ModelMismatch { .. }) => {
                    Ok((Self::Bm25, notices(manifest, ModeObstacle::ModelFailed)))
                }
                Err(error) => Err(error),
            },
        }
    }

    /// The model that is asked.
    pub(super) fn model(&self) -> Option<&dyn Embed> {
        match self {
            Self::Bm25 => None,
            Self::Dense(model) | Self::Hybrid(model) => Some(&**model),
        }
    }

    pub(super) fn mode(&self) -> Mode {
        match self {
            Self::Bm25 => Mode::Bm25,
            Self::Dense(_) => Mode::Dense,
            Self::Hybrid(_) => Mode::Hybrid,
        }
    }

    pub(super) fn scale(&self) -> ScoreScale {
        match self {
            Self::Bm25 => ScoreScale::Bm25,
            Self::Dense(_) => ScoreScale::Cosine,
            Self::Hybrid(_) => ScoreScale::Fused,
        }
    }
}

/// The collection's model, or what is in the way of using it.
fn usable(manifest: &Manifest, models: &Models) -> Result<Result<Loaded, ModeObstacle>> {
    let Some(bound) = manifest.model.as_ref().filter(|_| manifest.vectors) else {
        return Ok(Err(ModeObstacle::NoVectors));
    };
    Ok(match models.now(bound)? {
        Availability::Loaded(model) => Ok(model),
        Availability::Loading => return Err(Error::WarmingUp),
        Availability::NotInstalled => Err(ModeObstacle::ModelNotInstalled),
        Availability::Failed => Err(ModeObstacle::ModelFailed),
    })
}

fn notices(manifest: &Manifest, why: ModeObstacle) -> Vec<Notice> {
    let model = || manifest.model.as_ref().map_or_else(String::new, |model| model.name.clone());
    match why {
        ModeObstacle::NoVectors if manifest.model.is_some() => {
            vec![Notice::NoVectors, Notice::EmbeddingPending { chunks: manifest.chunks }]
        }
        ModeObstacle::NoVectors => vec![Notice::NoVectors],
        ModeObstacle::ModelNotInstalled => vec![Notice::ModelNotInstalled { model: model() }],
        ModeObstacle::ModelFailed => vec![Notice::ModelFailed { model: model() }],
    }
}
