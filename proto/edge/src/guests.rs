//! Who is inside: every connection, what it is busy with, and which one leaves when the house is full.
//!
//! A connection is *at work* while an answer is being made for a request that came in whole; then nobody closes it. In
//! between (it is silent, its headers or its body are on their way) it is *quiet*. Where a newcomer finds the house
//! full, the one that has been quiet longest leaves, so that ten thousand open and silent connections keep nobody
//! out. It also leaves when it was quiet for too long.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use crate::config::Patience;

/// So many connections are a crowd: they held memory that is worth giving back.
const CROWD: usize = 256;

/// All connections.
#[derive(Debug)]
pub(crate) struct Guests {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    present: usize,
    /// The most there were since somebody asked whether a crowd has left.
    most: usize,
    next: u64,
    /// Those that are quiet, the one that became so first at the front, each with what tells it to leave.
    quiet: BTreeMap<u64, Arc<Notify>>,
}

/// A connection. It leaves when it is dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    guests: Arc<Guests>,
    told: Arc<Notify>,
    busy: Mutex<Busy>,
}

#[derive(Debug)]
struct Busy {
    /// Its place among the quiet; `None` while it is at work.
    place: Option<u64>,
    /// Requests that came in whole and are not answered yet.
    work: usize,
    /// Requests whose headers came and that are not answered yet.
    open: usize,
    /// Since when there has been none.
    since: Instant,
    /// When the first byte of the next request's headers came.
    heard: Option<Instant>,
}

/// A request, from its headers to the end of its answer.
#[derive(Debug)]
pub(crate) struct Seat {
    guest: Arc<Guest>,
    at_work: Mutex<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Guests {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, state: Mutex::default() })
    }

    /// Lets a connection in. `None` where the house is full and all are at work.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Arc<Guest>> {
        let mut state = lock(&self.state);
        if state.present >= self.limit && !state.send_away() {
            return None;
        }
        state.present += 1;
        state.most = state.most.max(state.present);
        let told = Arc::new(Notify::new());
        let place = Some(state.take_place(&told));
        drop(state);
        let busy = Busy { place, work: 0, open: 0, since: Instant::now(), heard: None };
        Some(Arc::new(Guest { guests: Arc::clone(self), told, busy: Mutex::new(busy) }))
    }

    /// Sends away the connection that has been quiet longest; `false` where none is.
    pub(crate) fn send_away(&self) -> bool {
        lock(&self.state).send_away()
    }

    /// Whether many have left since this was asked last.
    pub(crate) fn a_crowd_has_left(&self) -> bool {
        let mut state = lock(&self.state);
        let has_left = state.most >= state.present + CROWD;
        if has_left {
            state.most = state.present;
        }
        has_left
    }

    /// How many connections there are.
    pub(crate) fn present(&self) -> usize {
        lock(&self.state).present
    }
}

impl State {
    fn send_away(&mut self) -> bool {
        let Some((_, told)) = self.quiet.pop_first() else { return false };
        told.notify_one();
        self.present -= 1;
        true
    }

    fn take_place(&mut self, told: &Arc<Notify>) -> u64 {
        let place = self.next;
        self.next += 1;
        self.quiet.insert(place, Arc::clone(told));
        place
    }
}

impl Guest {
    /// A request's headers came.
    pub(crate) fn sit(self: &Arc<Self>) -> Seat {
        let mut busy = lock(&self.busy);
        busy.open += 1;
        busy.heard = None;
        Seat { guest: Arc::clone(self), at_work: Mutex::new(false) }
    }

    /// Bytes came.
    pub(crate) fn hear(&self) {
        let mut busy = lock(&self.busy);
        if busy.open == 0 && busy.heard.is_none() {
            busy.heard = Some(Instant::now());
        }
    }

    /// Ends when this connection has to leave for another.
    pub(crate) async fn told_to_leave(&self) {
        self.told.notified().await;
    }

    /// Ends when it was quiet for too long.
    pub(crate) async fn too_quiet(&self, patience: Patience) {
        // Bytes tell nobody that they came, so the time is looked at again before headers can be late.
        let look_again = patience.header.min(patience.idle) / 4;
        loop {
            let now = Instant::now();
            let wake = now + look_again;
            match self.deadline(patience) {
                Some(deadline) if deadline <= now => return,
                Some(deadline) => tokio::time::sleep_until(deadline.min(wake).into()).await,
                None => tokio::time::sleep_until(wake.into()).await,
            }
        }
    }

    fn deadline(&self, patience: Patience) -> Option<Instant> {
        let busy = lock(&self.busy);
        match (busy.open, busy.heard) {
            (0, Some(heard)) => Some(heard + patience.header),
            (0, None) => Some(busy.since + patience.idle),
            _ => None,
        }
    }

    fn begin_work(&self) {
        let mut busy = lock(&self.busy);
        busy.work += 1;
        // One that was told to leave has no place among the quiet any more, and is not counted: it stays so.
        if let Some(place) = busy.place
            && lock(&self.guests.state).quiet.remove(&place).is_some()
        {
            busy.place = None;
        }
    }

    fn end(&self, at_work: bool) {
        let mut busy = lock(&self.busy);
        busy.open -= 1;
        busy.work -= usize::from(at_work);
        if busy.open == 0 {
            busy.since = Instant::now();
        }
        if busy.work == 0 && busy.place.is_none() {
            busy.place = Some(lock(&self.guests.state).take_place(&self.told));
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let place = lock(&self.busy).place;
        let mut state = lock(&self.guests.state);
        let counted = place.is_none_or(|place| state.quiet.remove(&place).is_some());
        state.present -= usize::from(counted);
    }
}

impl Seat {
    /// The request came in whole, or no more of it is wanted.
    pub(crate) fn work(&self) {
        let mut at_work = lock(&self.at_work);
        if !*at_work {
            *at_work = true;
            self.guest.begin_work();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.guest.end(*lock(&self.at_work));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn told(guest: &Guest) -> bool {
        tokio::time::timeout(Duration::ZERO, guest.told_to_leave()).await.is_ok()
    }

    #[tokio::test]
    async fn the_one_that_is_quiet_longest_makes_room() {
        let guests = Guests::new(2);
        let (first, second) = (guests.enter().unwrap(), guests.enter().unwrap());
        // Sitting down is not work: the body may never come.
        let seat = first.sit();
        seat.work();
        let third = guests.enter().unwrap();
        assert!(!told(&first).await && told(&second).await);
        assert_eq!(guests.present(), 2);
        drop(seat);
        let _fourth = guests.enter().unwrap();
        assert!(
            told(&third).await && !told(&first).await,
            "the third became quiet before the first did again"
        );
        drop((first, second, third));
        assert_eq!(guests.present(), 1);
    }

    #[test]
    fn nobody_leaves_who_is_at_work() {
        let guests = Guests::new(1);
        let guest = guests.enter().unwrap();
        let (seat, other) = (guest.sit(), guest.sit());
        assert!(guests.enter().is_some(), "a body on its way is no work");
        let guest = guests.enter().unwrap();
        drop((seat, other));
        let (seat, other) = (guest.sit(), guest.sit());
        seat.work();
        seat.work();
        other.work();
        assert!(guests.enter().is_none());
        drop(seat);
        assert!(guests.enter().is_none(), "one of two requests is still at work");
        drop(other);
        assert!(guests.enter().is_some());
    }

    #[test]
    fn one_that_was_told_to_leave_is_never_counted_again() {
        let guests = Guests::new(1);
        let first = guests.enter().unwrap();
        let second = guests.enter().unwrap();
        let seat = first.sit();
        seat.work();
        drop(seat);
        assert_eq!(guests.present(), 1);
        drop(first);
        assert_eq!(guests.present(), 1);
        drop(second);
        assert_eq!(guests.present(), 0);
    }

    #[test]
    fn a_crowd_is_noticed_once_when_it_has_left() {
        let guests = Guests::new(1000);
        let crowd: Vec<_> = (0..300).map(|_| guests.enter().unwrap()).collect();
        assert!(!guests.a_crowd_has_left(), "it is still there");
        drop(crowd);
        assert!(guests.a_crowd_has_left());
        assert!(!guests.a_crowd_has_left());
    }

    #[tokio::test]
    async fn headers_have_less_time_than_silence() {
        let second = Duration::from_secs(1);
        let patience = Patience { header: second, body: second, idle: 60 * second, drain: second };
        let guest = Guests::new(1).enter().unwrap();
        let left = |guest: &Guest| guest.deadline(patience).map(|deadline| deadline - Instant::now());
        assert!(left(&guest).unwrap() > 50 * second);
        guest.hear();
        assert!(left(&guest).unwrap() <= second);
        let seat = guest.sit();
        guest.hear();
        assert_eq!(left(&guest), None, "an answer takes as long as it takes");
        drop(seat);
        assert!(left(&guest).unwrap() > 50 * second);
    }
}
