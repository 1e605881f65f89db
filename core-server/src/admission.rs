//! Who gets in, who waits, and where the computing is done.
//!
//! A bounded number of requests is in; the next one is told to come back, at once. Those inside wait in order
//! for a worker: a thread of the blocking pool, as many as there are cores. This is the one place that calls
//! `spawn_blocking`.
//!
//! What takes a thousand times as long as a plain question, reranking, has a lane of its own: its own worker, and a
//! short line before it. No plain question ever waits for one that is reranked.
//!
//! Deliberately left out: deadlines, which end the waiting from outside (`call`).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Limits;

/// Reranked questions that compute at once. More would only share the same reranker's threads.
pub const RERANK_WORKERS: usize = 1;

/// Reranked questions that are in: the last in line waits a few seconds, which is as long as one waits gladly.
const RERANK_PLACES: usize = 4;

/// Which workers a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Answered in milliseconds.
    Plain,
    /// Answered in seconds.
    Rerank,
}

/// The door. Clones share it.
#[derive(Clone, Debug)]
pub struct Admission {
    places: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    rerank_places: Arc<Semaphore>,
    rerank_workers: Arc<Semaphore>,
    max_in_flight: usize,
}

/// As many requests are in as may be, in all or in this lane.
#[derive(Debug, PartialEq, Eq)]
pub struct FullHouse(pub Lane);

/// A place inside. Given back when it is dropped and the work done under it has ended.
#[derive(Debug)]
pub struct Ticket {
    /// The place in the house, and the one in the lane where that has its own.
    places: Arc<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>)>,
    workers: Arc<Semaphore>,
}

/// The work panicked.
#[derive(Debug, PartialEq, Eq)]
pub struct Panicked(pub String);

impl Admission {
    /// Nobody is in yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            places: Arc::new(Semaphore::new(limits.max_in_flight)),
            workers: Arc::new(Semaphore::new(limits.workers)),
            rerank_places: Arc::new(Semaphore::new(RERANK_PLACES)),
            rerank_workers: Arc::new(Semaphore::new(RERANK_WORKERS)),
            max_in_flight: limits.max_in_flight,
        }
    }

    /// Lets one in, or says at once that there is no place.
    pub fn enter(&self, lane: Lane) -> Result<Ticket, FullHouse> {
        let take = |places: &Arc<Semaphore>, lane| {
            Arc::clone(places).try_acquire_owned().map_err(|_| FullHouse(lane))
        };
        let place = take(&self.places, Lane::Plain)?;
        let (in_lane, workers) = match lane {
            Lane::Plain => (None, &self.workers),
            Lane::Rerank => (Some(take(&self.rerank_places, Lane::Rerank)?), &self.rerank_workers),
        };
        Ok(Ticket { places: Arc::new((place, in_lane)), workers: Arc::clone(workers) })
    }

    /// How many are in.
    pub fn in_flight(&self) -> usize {
        self.max_in_flight - self.places.available_permits()
    }
}

impl Ticket {
    /// Waits for a worker, in the order of asking, and runs `work` there; `work` is told how long the waiting
    /// took.
    ///
    /// Dropping the future ends the waiting. Work that has begun goes on, and keeps place and worker until it
    /// ends: what runs is always counted.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(Duration) -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        let began = Instant::now();
        let worker = Arc::clone(&self.workers).acquire_owned().await;
        let waited = began.elapsed();
        let places = Arc::clone(&self.places);
        let span = tracing::Span::current();
        let done = tokio::task::spawn_blocking(move || {
            let _held = (worker, places);
            span.in_scope(|| catch_unwind(AssertUnwindSafe(|| work(waited))))
        });
        match done.await {
            Ok(Ok(made)) => Ok(made),
            Ok(Err(panic)) => Err(Panicked(words(panic.as_ref()))),
            // The pool is gone: the process ends.
            Err(error) => Err(Panicked(error.to_string())),
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc;

    use super::*;

    fn admission(max_in_flight: usize, workers: usize) -> Admission {
        Admission::new(Limits { max_in_flight, workers })
    }

    #[tokio::test]
    async fn a_full_house_is_overloaded_until_somebody_leaves() {
        let admission = admission(64, 2);
        let mut inside: Vec<_> = (0..64).map(|_| admission.enter(Lane::Plain).unwrap()).collect();
        assert_eq!(admission.enter(Lane::Plain).unwrap_err(), FullHouse(Lane::Plain));
        assert_eq!(admission.in_flight(), 64);
        inside.pop();
        assert!(admission.enter(Lane::Plain).is_ok());
    }

    #[tokio::test]
    async fn reranked_questions_are_few_and_hold_up_nobody() {
        let admission = admission(64, 1);
        let (open, gate) = mpsc::channel::<()>();
        let mut waiting = Vec::new();
        let gate = Arc::new(Mutex::new(gate));
        for _ in 0..RERANK_PLACES {
            let (ticket, gate) = (admission.enter(Lane::Rerank).unwrap(), Arc::clone(&gate));
            waiting.push(tokio::spawn(async move {
                ticket.run(move |_| gate.lock().unwrap().recv().unwrap()).await.unwrap();
            }));
            tokio::task::yield_now().await;
        }
        assert_eq!(admission.enter(Lane::Rerank).unwrap_err(), FullHouse(Lane::Rerank));
        for _ in 0..3 {
            let plain = admission.enter(Lane::Plain).unwrap();
            assert_eq!(plain.run(|_| "served").await, Ok("served"));
        }
        for _ in 0..RERANK_PLACES {
            open.send(()).unwrap();
        }
        for task in waiting {
            task.await.unwrap();
        }
        assert!(admission.enter(Lane::Rerank).is_ok());
    }

    #[tokio::test]
    async fn those_inside_are_served_in_the_order_of_asking() {
        let admission = admission(8, 1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let (open, gate) = mpsc::channel::<()>();
        let first = admission.enter(Lane::Plain).unwrap();
        let mut waiting = vec![tokio::spawn(async move {
            first.run(move |_| gate.recv().unwrap()).await.unwrap();
        })];
        tokio::task::yield_now().await;
        for number in 0..5 {
            let (ticket, order) = (admission.enter(Lane::Plain).unwrap(), Arc::clone(&order));
            waiting.push(tokio::spawn(async move {
                ticket.run(move |_| order.lock().unwrap().push(number)).await.unwrap();
            }));
            tokio::task::yield_now().await;
        }
        open.send(()).unwrap();
        for task in waiting {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
    }

    #[tokio::test]
    async fn work_that_was_left_behind_keeps_its_place() {
        let admission = admission(1, 1);
        let ticket = admission.enter(Lane::Plain).unwrap();
        let (open, gate) = mpsc::channel::<()>();
        let (begun, begins) = tokio::sync::oneshot::channel();
        let caller = tokio::spawn(async move {
            ticket
                .run(move |_| {
                    begun.send(()).unwrap();
                    gate.recv().unwrap();
                })
                .await
        });
        begins.await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        assert!(admission.enter(Lane::Plain).is_err(), "the work still runs");
        open.send(()).unwrap();
        while admission.enter(Lane::Plain).is_err() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_panic_is_the_requests_own() {
        let admission = admission(1, 1);
        let ticket = admission.enter(Lane::Plain).unwrap();
        let panicked = ticket.run(|_| -> () { panic!("planted") }).await;
        assert_eq!(panicked, Err(Panicked("planted".into())));
        assert_eq!(ticket.run(|_| 7).await, Ok(7));
    }
}
