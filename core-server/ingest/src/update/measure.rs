//! When a collection is measured by what it does by chance, and when its measurement is carried over.
//!
//! Deliberately left out: measuring (`calibrate`).

use engine::evidence::{Calibration, METHOD};
use engine::generation::{LEXICAL_FOLDER, VECTORS_FOLDER};
use engine::lexical::Lexical;

use super::contents::Contents;
use super::publishing::Side;
use super::{Model, Run};
use crate::calibrate::Chance;
use crate::error::Result;
use crate::parent::Parent;
use crate::plan::Files;
use crate::publish::Draft;

impl Run<'_> {
    /// What the collection does by chance: as the parent has it, or measured anew where too much changed.
    pub(super) fn calibrate(
        &mut self,
        parent: Option<&Parent>,
        draft: &Draft<'_>,
        contents: &Contents,
        side: &Side,
    ) -> Result<Option<Calibration>> {
        if contents.chunks == 0 {
            return Ok(None);
        }
        let parent = parent.filter(|parent| parent.is_usable());
        let changed = parent.map_or(0, |parent| changed_chunks(&parent.files, &contents.files));
        let parent = parent.map(|parent| parent.generation.manifest());
        let known = parent
            .and_then(|parent| parent.evidence.clone())
            .map(|known| Calibration { changed: known.changed.saturating_add(changed), ..known });
        let known = known.filter(|known| !known.is_stale());
        let is_same_model = parent.is_some_and(|parent| parent.model == side.bound);
        let similarity = known.as_ref().and_then(|known| known.similarity).filter(|_| is_same_model);
        if let Some(known) = &known
            && (!side.vectors || similarity.is_some())
        {
            return Ok(Some(Calibration { similarity, ..known.clone() }));
        }
        let lexical = Lexical::open_counted(&draft.path().join(LEXICAL_FOLDER), &contents.tokens)?;
        let chance = Chance::of(&lexical)?;
        let interrupt = self.update.interrupt;
        let similarity = match (&side.bound, &self.model) {
            (Some(bound), Model::Installed(_)) if side.vectors => {
                let model = self.loaded(&bound.name, 1)?;
                chance.similarity(&lexical, &draft.path().join(VECTORS_FOLDER), &*model, interrupt)?
            }
            // What was measured before is nearer to the truth than nothing.
            _ => similarity.or_else(|| parent?.evidence.as_ref()?.similarity.filter(|_| is_same_model)),
        };
        match known {
            Some(known) => Ok(Some(Calibration { similarity, ..known })),
            None => Ok(Some(Calibration {
                method: METHOD.to_owned(),
                words: chance.words(&lexical, interrupt)?,
                similarity: similarity.filter(|_| side.vectors),
                chunks: contents.chunks,
                changed: 0,
            })),
        }
    }
}

/// Chunks of documents that only one of the two has, or that changed.
fn changed_chunks(before: &Files, now: &Files) -> u32 {
    let gone = before.iter().filter(|(source, _)| !now.contains_key(*source)).map(|(_, state)| state.chunks);
    let came = now.iter().filter_map(|(source, state)| match before.get(source) {
        Some(before) if before.sha256 == state.sha256 => None,
        Some(before) => Some(state.chunks.max(before.chunks)),
        None => Some(state.chunks),
    });
    gone.chain(came).fold(0, u32::saturating_add)
}
