//! A report for a terminal: a row a mode, what differs, what to know before believing it.

use std::fmt;

use super::asking::STAGES;
use super::metrics::Metric;
use super::report::{Comparison, Latency, Report};

/// The name of each column of metrics is so wide.
const WIDTH: usize = 10;

/// A report, as it is printed.
#[derive(Debug)]
pub struct Table<'a>(pub &'a Report);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        head(f, report)?;
        metrics(f, report)?;
        latency(f, report)?;
        abstention(f, report)?;
        if !report.comparisons.is_empty() {
            writeln!(f, "\ndifferences, with the interval of {:.0} %", 100.0 * report.settings.confidence)?;
        }
        for comparison in &report.comparisons {
            differences(f, comparison, &format!("against {}", comparison.against.word()))?;
        }
        if let Some(baseline) = &report.baseline {
            writeln!(
                f,
                "\nsince {} of {:.0}, over {} queries",
                baseline.program, baseline.measured_at, baseline.shared_queries
            )?;
            for comparison in &baseline.comparisons {
                differences(f, comparison, "since then")?;
            }
        }
        for warning in &report.warnings {
            writeln!(f, "\nwarning: {warning}")?;
        }
        Ok(())
    }
}

fn head(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let (corpus, judgments) = (&report.corpus, &report.judgments);
    let model = corpus.model.as_ref().map_or("no vectors", |model| &*model.name);
    writeln!(f, "{}: {} documents, {} chunks, {model}", corpus.name, corpus.documents, corpus.chunks)?;
    writeln!(
        f,
        "{} queries with an answer, {} without; judged by {}\n",
        judgments.answerable, judgments.unanswerable, judgments.unit
    )
}

fn metrics(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    write!(f, "{:8}", "")?;
    for metric in Metric::ALL {
        write!(f, " {:>WIDTH$}", metric.title())?;
    }
    writeln!(f)?;
    for mode in &report.modes {
        write!(f, "{:8}", mode.mode.word())?;
        for metric in Metric::ALL {
            match mode.metrics.get(&metric) {
                Some(estimate) => write!(f, " {:>WIDTH$.4}", estimate.mean)?,
                None => write!(f, " {:>WIDTH$}", "–")?,
            }
        }
        writeln!(f)?;
    }
    Ok(())
}

fn latency(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let present = |stage: &&&str| report.modes.iter().any(|mode| mode.latency.contains_key(**stage));
    let stages: Vec<&&str> = STAGES.iter().filter(present).collect();
    write!(f, "\n{:8}", "ms")?;
    for stage in &stages {
        write!(f, " {stage:>13}")?;
    }
    writeln!(f, "   p50/p95, {} passages", report.settings.served)?;
    for mode in &report.modes {
        write!(f, "{:8}", mode.mode.word())?;
        for stage in &stages {
            let latency = mode.latency.get(**stage);
            let shown = |time: &Latency| format!("{}/{}", milliseconds(time.p50), milliseconds(time.p95));
            let shown = latency.map_or_else(String::new, shown);
            write!(f, " {shown:>13}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

/// As many digits as say something.
fn milliseconds(time: f64) -> String {
    if time < 100.0 { format!("{time:.2}") } else { format!("{time:.0}") }
}

fn abstention(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let judgments = &report.judgments;
    if judgments.unanswerable == 0 && report.modes.iter().all(|mode| mode.abstention.answerable == 0) {
        return Ok(());
    }
    writeln!(f)?;
    for mode in &report.modes {
        writeln!(
            f,
            "{:8} says that there is no answer to {} of {} queries without, {} of {} with one",
            mode.mode.word(),
            mode.abstention.unanswerable,
            judgments.unanswerable,
            mode.abstention.answerable,
            judgments.answerable
        )?;
    }
    Ok(())
}

fn differences(f: &mut fmt::Formatter<'_>, comparison: &Comparison, against: &str) -> fmt::Result {
    writeln!(f, "{} {against}", comparison.mode.word())?;
    for (metric, difference) in &comparison.metrics {
        let estimate = difference.estimate;
        let verdict = match (estimate.is_gain(), estimate.is_loss()) {
            (true, _) => "better",
            (_, true) => "worse",
            (false, false) => "",
        };
        writeln!(
            f,
            "  {:WIDTH$} {:+.4} ({:+.4} to {:+.4})  {} better, {} worse  {verdict}",
            metric.title(),
            estimate.mean,
            estimate.low,
            estimate.high,
            difference.better,
            difference.worse
        )?;
    }
    Ok(())
}
