//! What a person or a machine hears while an ingest runs: a bar on a terminal, plain lines elsewhere, JSON lines with
//! `--json`.
//!
//! Deliberately left out: the summary at the end (`summary`).

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use serde_json::{Value, json};

/// Between two plain lines or JSON lines about the same work.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// How it is said.
#[derive(Debug)]
enum Form {
    /// A bar on a terminal.
    Bar,
    /// Lines on standard error.
    Lines,
    /// JSON lines on standard output.
    Json,
    /// Nothing at all.
    Quiet,
}

/// Tells how far the work is. Shared by all threads that do it.
#[derive(Debug)]
pub struct Progress {
    form: Form,
    done: AtomicU64,
    work: Mutex<Option<Work>>,
}

#[derive(Debug)]
struct Work {
    what: &'static str,
    total: u64,
    begun: Instant,
    said: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar where standard error is a terminal, else plain lines there.
    pub fn for_people() -> Self {
        Self::new(if io::stderr().is_terminal() { Form::Bar } else { Form::Lines })
    }

    /// JSON lines on standard output.
    pub fn for_machines() -> Self {
        Self::new(Form::Json)
    }

    /// Says nothing.
    pub fn quiet() -> Self {
        Self::new(Form::Quiet)
    }

    fn new(form: Form) -> Self {
        Self { form, done: AtomicU64::new(0), work: Mutex::new(None) }
    }

    /// Begins work on `total` things; `what` is a word such as `reading`.
    pub fn begin(&self, what: &'static str, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        let bar = matches!(self.form, Form::Bar).then(|| bar(what, total));
        let now = Instant::now();
        *self.lock() = Some(Work { what, total, begun: now, said: now, bar });
    }

    /// So many more are done.
    pub fn advance(&self, count: u64) {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        // Whoever finds it busy leaves it: the next one tells.
        let Ok(mut work) = self.work.try_lock() else { return };
        let Some(work) = work.as_mut() else { return };
        if let Some(bar) = &work.bar {
            bar.set_position(done);
        } else if work.said.elapsed() >= LINE_EVERY {
            work.said = Instant::now();
            let line = work.line(done);
            let event = work.event(done);
            self.emit(&line, &event);
        }
    }

    /// The work begun last is over.
    pub fn end(&self) {
        if let Some(Work { bar: Some(bar), .. }) = self.lock().take() {
            bar.finish_and_clear();
        }
    }

    /// Says how long embedding `count` chunks will take, and that searching works meanwhile.
    pub fn estimate(&self, count: usize, whole: Duration) {
        let line = format!(
            "embedding {} chunks takes about {}; searching by words (bm25) works already. Ctrl-C keeps what is done",
            HumanCount(count as u64),
            duration_in_words(whole)
        );
        self.emit(&line, &json!({"event": "estimate", "chunks": count, "seconds": whole.as_secs()}));
    }

    /// Says something that happened, once.
    pub fn say(&self, event: &'static str, line: &str, details: Value) {
        let mut object = json!({"event": event, "message": line});
        if let (Value::Object(object), Value::Object(details)) = (&mut object, details) {
            object.extend(details);
        }
        self.emit(line, &object);
    }

    fn emit(&self, line: &str, event: &Value) {
        match self.form {
            Form::Quiet => {}
            Form::Json => {
                // A reader that went away is no reason to stop the work.
                writeln!(io::stdout(), "{event}").ok();
            }
            Form::Lines => {
                writeln!(io::stderr(), "{line}").ok();
            }
            Form::Bar => {
                let work = self.work.try_lock().ok();
                match work.as_ref().and_then(|work| work.as_ref()?.bar.as_ref()) {
                    Some(bar) => bar.println(line),
                    None => {
                        writeln!(io::stderr(), "{line}").ok();
                    }
                }
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Work>> {
        self.work.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Work {
    fn line(&self, done: u64) -> String {
        let rest = self.rest(done).map(|rest| format!(", {} left", duration_in_words(rest)));
        format!(
            "{} {} of {}{}",
            self.what,
            HumanCount(done),
            HumanCount(self.total),
            rest.unwrap_or_default()
        )
    }

    fn event(&self, done: u64) -> Value {
        json!({
            "event": self.what,
            "done": done,
            "total": self.total,
            "seconds": self.begun.elapsed().as_secs_f64(),
            "seconds_left": self.rest(done).map(|rest| rest.as_secs()),
        })
    }

    fn rest(&self, done: u64) -> Option<Duration> {
        let left = u32::try_from(self.total.saturating_sub(done)).ok()?;
        let each = self.begun.elapsed().checked_div(u32::try_from(done).ok()?)?;
        Some(each * left)
    }
}

/// `3 seconds`, `2 minutes`, `1 hour 20 minutes`.
pub fn duration_in_words(duration: Duration) -> String {
    let count = |number: u64, unit: &str| format!("{number} {unit}{}", if number == 1 { "" } else { "s" });
    let seconds = duration.as_secs().max(1);
    match seconds {
        0..90 => count(seconds, "second"),
        90..5400 => count((seconds + 30) / 60, "minute"),
        _ => {
            let minutes = (seconds + 30) / 60;
            match minutes % 60 {
                0 => count(minutes / 60, "hour"),
                rest => format!("{} {}", count(minutes / 60, "hour"), count(rest, "minute")),
            }
        }
    }
}

fn bar(what: &'static str, total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{prefix:>10} {wide_bar} {human_pos} of {human_len} ({per_sec}), {eta} left",
    )
    .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(total).with_style(style).with_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_in_words() {
        for (seconds, words) in [
            (0, "1 second"),
            (45, "45 seconds"),
            (90, "2 minutes"),
            (600, "10 minutes"),
            (4800, "80 minutes"),
            (7200, "2 hours"),
            (8000, "2 hours 13 minutes"),
        ] {
            assert_eq!(duration_in_words(Duration::from_secs(seconds)), words);
        }
    }
}
