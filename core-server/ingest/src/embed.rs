//! Embeds what has no vector yet, with all cores busy and at low priority.
//!
//! Workers take the next text from the lexical index itself, so that nothing but a list of rows is held; the one
//! thread that owns the catalog gathers what they made and commits it every now and then, so that an interruption
//! loses seconds. Deliberately left out: which texts lack a vector, and where vectors are written (`vectors`).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use engine::dense::quantize;
use engine::generation::manifest::ModelIdentity;
use engine::id::Sha256;
use engine::lexical::Lexical;
use engine::model::Embed;
use sha2::Digest as _;
use tantivy::DocAddress;

use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Between two commits at most: what a kill may cost.
const COMMIT_EVERY: Duration = Duration::from_secs(2);

/// Between two commits at most, in vectors.
const COMMIT_AFTER: usize = 512;

/// Vectors that wait for the catalog at most.
const WAITING: usize = 256;

/// So many texts tell how fast it goes.
const SAMPLE: usize = 16;

/// After so long fewer texts have to tell it too.
const LONG_ENOUGH: Duration = Duration::from_secs(3);

/// Shorter work than this is not announced.
const WORTH_SAYING: Duration = Duration::from_secs(5);

/// How the workers stand behind everything that answers somebody.
const NICE: i32 = 15;

/// A chunk that has no vector: where it is, and the key of what it embeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The chunk's row.
    pub address: DocAddress,
    /// What its vector will be known by.
    pub key: Sha256,
}

/// What embedding did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    /// How many texts were embedded.
    pub texts: usize,
    /// How many of them exceed the model's window, so that their end has no part in the vector.
    pub truncated: usize,
}

/// What a chunk's vector is known by: a hash of the model's identity and of the exact string embedded.
pub fn embed_key(model: &Sha256, text: &str) -> Sha256 {
    let hasher = sha2::Sha256::new().chain_update(model.as_bytes()).chain_update(text);
    Sha256::from_bytes(hasher.finalize().into())
}

/// Embeds every chunk of `missing` into the catalog. [`Error::Interrupted`] keeps what is done.
pub fn embed(
    model: &dyn Embed,
    lexical: &Lexical,
    missing: &[Missing],
    catalog: &mut Catalog,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Embedded> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(missing.len().max(1));
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = sync_channel::<Result<Made>>(WAITING);
    let work = Work { model, lexical, missing, next: &next, stop: &stop };
    let mut gathered =
        Gathered { catalog, waiting: Vec::new(), since: Instant::now(), embedded: Embedded::default() };
    let mut pace = Pace::begin(missing.len());
    progress.begin("embedding", missing.len() as u64);
    let result = thread::scope(|scope| {
        for _ in 0..workers {
            let sender = sender.clone();
            scope.spawn(move || work.run(&sender));
        }
        drop(sender);
        let result = loop {
            if interrupt.is_asked() {
                break Err(Error::Interrupted);
            }
            match receiver.recv_timeout(Duration::from_millis(100)) {
                Ok(Ok(made)) => {
                    progress.advance(1);
                    pace.count(progress);
                    if let Err(error) = gathered.take(made) {
                        break Err(error);
                    }
                }
                Ok(Err(error)) => break Err(error),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
            }
        };
        stop.store(true, Ordering::Relaxed);
        // What the workers are at comes in still; then they see the flag.
        for made in receiver.iter().flatten() {
            gathered.waiting.push((made.key, made.vector));
        }
        result
    });
    let kept = gathered.commit();
    progress.end();
    result.and(kept)?;
    Ok(gathered.embedded)
}

struct Made {
    key: Sha256,
    vector: Vec<u8>,
    truncated: bool,
}

#[derive(Clone, Copy)]
struct Work<'a> {
    model: &'a dyn Embed,
    lexical: &'a Lexical,
    missing: &'a [Missing],
    next: &'a AtomicUsize,
    stop: &'a AtomicBool,
}

impl Work<'_> {
    fn run(&self, results: &SyncSender<Result<Made>>) {
        // Of this thread only. Where it is refused, the work is as right and merely less polite.
        rustix::process::nice(NICE).ok();
        while !self.stop.load(Ordering::Relaxed) {
            let Some(missing) = self.missing.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return };
            let made = self.make(*missing);
            let failed = made.is_err();
            if results.send(made).is_err() || failed {
                return;
            }
        }
    }

    fn make(&self, missing: Missing) -> Result<Made> {
        let text = self.lexical.record(missing.address)?.embedded_text();
        let embedding = self.model.embed_passage(&text)?;
        Ok(Made {
            key: missing.key,
            vector: quantize::encode(&embedding.vector),
            truncated: embedding.truncated,
        })
    }
}

struct Gathered<'a> {
    catalog: &'a mut Catalog,
    waiting: Vec<(Sha256, Vec<u8>)>,
    since: Instant,
    embedded: Embedded,
}

impl Gathered<'_> {
    fn take(&mut self, made: Made) -> Result<()> {
        self.embedded.texts += 1;
        self.embedded.truncated += usize::from(made.truncated);
        self.waiting.push((made.key, made.vector));
        if self.waiting.len() >= COMMIT_AFTER || self.since.elapsed() >= COMMIT_EVERY {
            self.commit()?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.catalog.keep_embeddings(&self.waiting)?;
        self.waiting.clear();
        self.since = Instant::now();
        Ok(())
    }
}

/// Says once how long it will take, as soon as that can be told.
struct Pace {
    begun: Instant,
    total: usize,
    done: usize,
    said: bool,
}

impl Pace {
    fn begin(total: usize) -> Self {
        Self { begun: Instant::now(), total, done: 0, said: false }
    }

    fn count(&mut self, progress: &Progress) {
        self.done += 1;
        let elapsed = self.begun.elapsed();
        if self.said || self.done < SAMPLE && elapsed < LONG_ENOUGH {
            return;
        }
        self.said = true;
        let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
        let whole = elapsed.mul_f64(count(self.total) / count(self.done));
        if whole >= WORTH_SAYING {
            progress.estimate(self.total, whole);
        }
    }
}

/// `name (384 dimensions, weights 1f0c…)`: enough to tell two identities apart.
pub fn identity_in_words(identity: &ModelIdentity) -> String {
    format!(
        "{} ({} dimensions, weights {}, identity {})",
        identity.name,
        identity.dimensions,
        identity.weights.short(),
        identity.fingerprint().short()
    )
}
