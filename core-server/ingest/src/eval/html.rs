//! A report as one HTML page: everything is in it, nothing is fetched, no script runs.
//!
//! Deliberately left out: figures that the JSON does not have.

mod plots;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::asking::{AskedMode, STAGES};
use super::bootstrap::Estimate;
use super::history::Entry;
use super::metrics::Metric;
use super::report::{Comparison, ModeReport, QueryReport, Report};
use crate::error::Result;

/// So many of the queries that differ most are shown in each direction.
const MOST: usize = 10;

const STYLE: &str = include_str!("html/style.css");

/// The page. `history` has earlier runs of the same collection and judgments, oldest first, and this one.
pub fn page(report: &Report, history: &[Entry]) -> Result<String> {
    let corpus = &report.corpus;
    let answerable = report.judgments.answerable > 0;
    let body = html! {
        header {
            h1 { "How well " code { (corpus.name) } " answers" }
            p { (subject(report)) }
        }
        @if !report.warnings.is_empty() {
            section.warnings {
                h2 { "Before believing it" }
                ul { @for warning in &report.warnings { li { (warning) } } }
            }
        }
        section {
            h2 { "Quality" }
            @if answerable {
                (figure(&plots::quality(report)?, &report.modes, "Means over the queries that have an answer, and the interval of 95 % of the \
                    means when queries are drawn anew."))
            }
            (quality(report))
        }
        @if answerable {
            section {
                h2 { "Recall by depth" }
                (figure(&plots::recall(report)?, &report.modes, "The share of what is relevant that stands among the first so many."))
            }
        }
        @for comparison in &report.comparisons {
            (compared(report, comparison)?)
        }
        @if let Some(baseline) = &report.baseline {
            section {
                h2 { "Since " (baseline.program) " of " (format!("{:.0}", baseline.measured_at)) }
                p { "Over the " (baseline.shared_queries) " queries that both runs asked." }
                @for comparison in &baseline.comparisons {
                    h3 { (comparison.mode.word()) }
                    (differences(comparison))
                }
            }
        }
        @if history.len() > 1 {
            section {
                h2 { "History" }
                (figure(&plots::history(history)?, &report.modes, "nDCG@10 of each run of the history that measured the same documents with the \
                    same judgments, oldest first."))
            }
        }
        section {
            h2 { "Time" }
            (figure(&plots::latency(report)?, &report.modes, "Milliseconds by stage on a logarithmic scale: from what half of the requests take \
                at most (point) to what nineteen of twenty do (bar). One request at a time."))
            (latency(report))
        }
        section {
            h2 { "Abstention" }
            (abstention(report))
        }
        section {
            h2 { "Every query" }
            details { summary { (report.queries.len()) " queries" } (queries(report)) }
        }
        footer { (provenance(report)) }
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (corpus.name) " · footnote eval" }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    Ok(page.into_string())
}

fn subject(report: &Report) -> Markup {
    let (corpus, judgments) = (&report.corpus, &report.judgments);
    html! {
        (corpus.documents) " documents in " (corpus.chunks) " passages, "
        @match &corpus.model {
            Some(model) => { "embedded with " (model.name) }
            None => { "without vectors" }
        }
        ". " (judgments.answerable) " queries with an answer, " (judgments.unanswerable) " without, judged by "
        (judgments.unit) ". Measured by " (report.program) " at " (format!("{:.0}", report.measured_at)) "."
    }
}

/// A plot with what its colours mean; `modes` is empty where they mean something else.
fn figure(svg: &str, modes: &[ModeReport], caption: &str) -> Markup {
    html! {
        figure {
            @if !modes.is_empty() { p.legend { @for mode in modes { (chip(mode.mode)) " " } } }
            (PreEscaped(svg))
            figcaption { (caption) }
        }
    }
}

fn quality(report: &Report) -> Markup {
    html! {
        table {
            thead { tr { th { "mode" } @for metric in Metric::ALL { th.number { (metric.title()) } } } }
            tbody {
                @for mode in &report.modes {
                    tr {
                        th { (chip(mode.mode)) }
                        @for metric in Metric::ALL {
                            td.number {
                                @if let Some(estimate) = mode.metrics.get(&metric) {
                                    (format!("{:.3}", estimate.mean)) br;
                                    span.interval { (format!("{:.3} – {:.3}", estimate.low, estimate.high)) }
                                } @else { "–" }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn compared(report: &Report, comparison: &Comparison) -> Result<Markup> {
    let (mode, against) = (comparison.mode, comparison.against);
    let mut by: Vec<(&QueryReport, f64)> =
        report.queries.iter().filter_map(|query| Some((query, by(query, mode, against)?))).collect();
    by.sort_by(|left, right| left.1.total_cmp(&right.1));
    let worst: Vec<_> = by.iter().filter(|(_, by)| *by < 0.0).take(MOST).collect();
    let best: Vec<_> = by.iter().rev().filter(|(_, by)| *by > 0.0).take(MOST).collect();
    let values: Vec<f64> = by.iter().map(|(_, by)| *by).collect();
    Ok(html! {
        section {
            h2 { (mode.word()) " beside " (against.word()) }
            (figure(&plots::differences(&values)?, &[], "Each query's difference in nDCG@10, worst to best; queries of equal value lie \
                flat in the middle."))
            (differences(comparison))
            @for (title, queries) in [("Most is lost at", &worst), ("Most is gained at", &best)] {
                @if !queries.is_empty() {
                    h3 { (title) }
                    table {
                        tbody {
                            @for (query, by) in queries {
                                tr { td.number { (format!("{by:+.3}")) } td { (query.text) } td { code { (query.id) } } }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// The difference of a query's nDCG@10 between two modes.
fn by(query: &QueryReport, mode: AskedMode, against: AskedMode) -> Option<f64> {
    let value = |mode| query.modes.get(&mode)?.metrics.get(&Metric::Ndcg10).copied();
    Some(value(mode)? - value(against)?)
}

fn differences(comparison: &Comparison) -> Markup {
    html! {
        table {
            thead { tr { th { "metric" } th.number { "difference" } th.number { "better" } th.number { "worse" } th { "" } } }
            tbody {
                @for (metric, difference) in &comparison.metrics {
                    tr {
                        th { (metric.title()) }
                        td.number {
                            (format!("{:+.4}", difference.estimate.mean)) " "
                            span.interval {
                                (format!("{:+.4} to {:+.4}", difference.estimate.low, difference.estimate.high))
                            }
                        }
                        td.number { (difference.better) }
                        td.number { (difference.worse) }
                        td { (verdict(&difference.estimate)) }
                    }
                }
            }
        }
    }
}

fn verdict(estimate: &Estimate) -> Markup {
    html! {
        @if estimate.is_gain() { span.gain { "better" } }
        @else if estimate.is_loss() { span.loss { "worse" } }
        @else { "not told apart" }
    }
}

fn latency(report: &Report) -> Markup {
    html! {
        table {
            thead { tr { th { "ms, p50 / p95" } @for stage in STAGES { th.number { (stage) } } } }
            tbody {
                @for mode in &report.modes {
                    tr {
                        th { (chip(mode.mode)) }
                        @for stage in STAGES {
                            td.number {
                                @if let Some(time) = mode.latency.get(stage) {
                                    (format!("{:.2} / {:.2}", time.p50, time.p95))
                                } @else { "–" }
                            }
                        }
                    }
                }
            }
        }
        p { (report.settings.served) " passages a request, each checked against its file." }
    }
}

fn abstention(report: &Report) -> Markup {
    let judgments = &report.judgments;
    html! {
        table {
            thead {
                tr {
                    th { "says that there is no answer to" }
                    th.number { "queries without, of " (judgments.unanswerable) }
                    th.number { "queries with one, of " (judgments.answerable) }
                }
            }
            tbody {
                @for mode in &report.modes {
                    tr {
                        th { (chip(mode.mode)) }
                        td.number { (mode.abstention.unanswerable) }
                        td.number { (mode.abstention.answerable) }
                    }
                }
            }
        }
    }
}

fn queries(report: &Report) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th { "id" } th { "query" } th.number { "relevant" }
                    @for mode in &report.modes { th.number { (mode.mode.word()) } th.number { "first" } }
                }
            }
            tbody {
                @for query in &report.queries {
                    tr {
                        td { code { (query.id) } } td { (query.text) } td.number { (query.relevant) }
                        @for values in query.modes.values() {
                            td.number {
                                @match values.metrics.get(&Metric::Ndcg10) {
                                    Some(value) => { (format!("{value:.3}")) }
                                    None => { @if values.abstained { "none" } @else { "answered" } }
                                }
                            }
                            td.number { @if let Some(first) = values.first { (first) } @else { "–" } }
                        }
                    }
                }
            }
        }
    }
}

fn provenance(report: &Report) -> Markup {
    let (corpus, settings) = (&report.corpus, &report.settings);
    html! {
        p {
            "Corpus " code { (corpus.sha256.short()) } ", judgments " code { (report.judgments.sha256.short()) } ", chunker "
            (corpus.chunker) ", analyzer " (corpus.analyzer)
            @if let Some(model) = &corpus.model { ", model " (model.name) " " code { (model.fingerprint().short()) } }
            ". Ranked to depth " (settings.depth) "; " (settings.resamples) " draws from seed " (settings.seed) "."
        }
        p {
            "nDCG takes grades as gains and discounts by log2(rank + 1) (Järvelin and Kekäläinen 2002); what was not judged is not \
             relevant. Intervals are percentile bootstraps over queries, paired where two rankings are compared."
        }
    }
}

fn chip(mode: AskedMode) -> Markup {
    html! { span class={ "chip " (mode.word()) } { (mode.word()) } }
}
