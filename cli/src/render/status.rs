//! How fresh and how complete a collection is.

use proto::clean;
use proto::v1::{IndexStatusResponse, ModelState, Process};

use super::collections::modes;
use super::{FAINT, Page, STRONG, count, moment};

/// Renders a collection's state, a line for each thing to know.
pub fn status(answer: &IndexStatusResponse) -> Page {
    let mut page = Page::default();
    page.line(format!("{STRONG}{}{STRONG:#}", answer.collection));
    let mut row = |name: &str, value: String| page.line(format!("  {FAINT}{name:<11}{FAINT:#}{value}"));
    row("generation", format!("{}, published {}", answer.generation, moment(&answer.published_at)));
    row("documents", answer.documents.to_string());
    row("passages", answer.chunks.to_string());
    if answer.pending_chunks > 0 {
        row("pending", format!("{} still to be embedded; `footnote ingest` goes on", answer.pending_chunks));
    }
    if answer.skipped_files > 0 {
        row("skipped", skipped(answer));
    }
    row("modes", modes(answer.modes()));
    row("model", model(answer));
    row("format", answer.schema_version.to_string());
    if let Some(process) = &answer.process {
        row("daemon", daemon(process));
    }
    page.notices(&answer.notices);
    page
}

fn skipped(answer: &IndexStatusResponse) -> String {
    let reasons: Vec<_> =
        answer.skipped.iter().map(|count| format!("{} {}", count.files, count.reason)).collect();
    let files = count(answer.skipped_files, "file", "files");
    format!("{files} ({}); `footnote skipped` lists them", clean::line(&reasons.join(", ")))
}

fn model(answer: &IndexStatusResponse) -> String {
    let state = match answer.model_state() {
        ModelState::None => return "none; `footnote model install` adds one".to_owned(),
        ModelState::NotInstalled => "not installed; `footnote model install` adds it",
        ModelState::Loading => "being loaded",
        ModelState::Loaded => "in memory, shared by everyone who asks",
        ModelState::Failed => "could not be loaded; `footnote logs` says why",
        ModelState::Unspecified => "unknown",
    };
    let Some(model) = &answer.model else { return state.to_owned() };
    format!(
        "{} ({} dimensions, {} tokens): {state}",
        clean::line(&model.name),
        model.dimensions,
        model.max_tokens
    )
}

fn daemon(process: &Process) -> String {
    let models = if process.loaded_models.is_empty() {
        "no model in memory".to_owned()
    } else {
        format!("in memory: {}", clean::line(&process.loaded_models.join(", ")))
    };
    let reranker = process
        .reranker
        .as_ref()
        .map_or_else(String::new, |name| format!("; reranks with {} for those who ask", clean::line(name)));
    format!("{}, since {}, {models}{reranker}", clean::line(&process.version), moment(&process.started_at))
}

#[cfg(test)]
mod tests {
    use proto::v1::{Mode, Model, SkippedCount};

    use super::super::tests::plain;
    use super::*;

    fn answer() -> IndexStatusResponse {
        IndexStatusResponse {
            collection: "docs".into(),
            generation: 3,
            published_at: "2026-11-30T12:00:00Z".into(),
            schema_version: 1,
            documents: 12,
            chunks: 340,
            model_state: ModelState::None.into(),
            modes: vec![Mode::Bm25.into()],
            process: Some(Process {
                version: "0.1.0".into(),
                started_at: "2026-11-30T11:00:00.123456789Z".into(),
                ..Process::default()
            }),
            ..IndexStatusResponse::default()
        }
    }

    #[test]
    fn a_collection_without_a_model_says_how_to_add_one() {
        insta::assert_snapshot!(plain(&status(&answer()).answer), @r###"
docs
  generation 3, published 2026-11-30T12:00:00Z
  documents  12
  passages   340
  modes      bm25
  model      none; `footnote model install` adds one
  format     1
  daemon     0.1.0, since 2026-11-30T11:00:00Z, no model in memory
"###);
    }

    #[test]
    fn what_is_incomplete_is_shown() {
        let incomplete = IndexStatusResponse {
            pending_chunks: 20,
            skipped_files: 3,
            skipped: vec![
                SkippedCount { reason: "too_large".into(), files: 2 },
                SkippedCount { reason: "unreadable".into(), files: 1 },
            ],
            model: Some(Model {
                name: "bge-small-en-v1.5".into(),
                identity: "ab".into(),
                dimensions: 384,
                max_tokens: 512,
            }),
            model_state: ModelState::Loading.into(),
            ..answer()
        };
        insta::assert_snapshot!(plain(&status(&incomplete).answer), @r###"
docs
  generation 3, published 2026-11-30T12:00:00Z
  documents  12
  passages   340
  pending    20 still to be embedded; `footnote ingest` goes on
  skipped    3 files (2 too_large, 1 unreadable); `footnote skipped` lists them
  modes      bm25
  model      bge-small-en-v1.5 (384 dimensions, 512 tokens): being loaded
  format     1
  daemon     0.1.0, since 2026-11-30T11:00:00Z, no model in memory
"###);
    }
}
