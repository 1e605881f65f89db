//! How often one client may ask.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use governor::clock::{Clock as _, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::visit::Client;

/// What a client may ask in a second where other hosts can reach the door: a person's tools never do.
pub(crate) const PUBLISHED: Rate = Rate::per_second(50);

/// How many seconds' worth may come at once: an agent asks a dozen things in a breath.
const BURST_SECONDS: u32 = 4;

/// Clients that are told apart, at some 100 bytes each; where there are more, they share a few allowances by chance
/// until some have been quiet.
const MAX_CLIENTS: usize = 16_384;

/// Requests in a second; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate(Option<NonZeroU32>);

impl Rate {
    /// 0 is no limit.
    pub(crate) const fn per_second(requests: u32) -> Self {
        Self(NonZeroU32::new(requests))
    }
}

/// The allowances of all clients.
#[derive(Debug)]
pub(crate) struct RateLimit {
    // Not governor's own clock, which spends up to 200 ms on measuring the processor's when it is made.
    limiter: RateLimiter<Key, DashMapStateStore<Key>, MonotonicClock, NoOpMiddleware<Instant>>,
    clock: MonotonicClock,
    chance: RandomState,
}

/// Whose allowance it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Address(IpAddr),
    Local,
    Crowd(u8),
}

impl Key {
    /// A network of 64 bits is one client's: it has all of its addresses.
    fn of(client: Client) -> Self {
        match client {
            Client::Local => Self::Local,
            Client::Address(address) => match address.to_canonical() {
                IpAddr::V6(address) => Self::Address(IpAddr::V6((address.to_bits() >> 64 << 64).into())),
                address @ IpAddr::V4(_) => Self::Address(address),
            },
        }
    }
}

impl RateLimit {
    /// `None` where there is no limit.
    pub(crate) fn new(rate: Rate) -> Option<Self> {
        let per_second = rate.0?;
        let burst = per_second.saturating_mul(NonZeroU32::new(BURST_SECONDS)?);
        let quota = Quota::per_second(per_second).allow_burst(burst);
        let limiter = RateLimiter::dashmap_with_clock(quota, MonotonicClock);
        Some(Self { limiter, clock: MonotonicClock, chance: RandomState::new() })
    }

    /// Takes one request off a client's allowance, or says after how long there is one again.
    pub(crate) fn take(&self, client: Client) -> Result<(), Duration> {
        self.limiter.check_key(&self.key(client)).map_err(|until| until.wait_time_from(self.clock.now()))
    }

    fn key(&self, client: Client) -> Key {
        if self.limiter.len() >= MAX_CLIENTS {
            return Key::Crowd(self.chance.hash_one(client).to_le_bytes()[0]);
        }
        Key::of(client)
    }

    /// Forgets clients that have their whole allowance again. To be called every few seconds.
    pub(crate) fn forget_quiet(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> Client {
        Client::Address(text.parse().unwrap())
    }

    #[test]
    fn a_client_has_a_burst_and_then_waits_and_others_do_not() {
        let limit = RateLimit::new(Rate::per_second(1)).unwrap();
        for _ in 0..4 {
            limit.take(client("192.0.2.1")).unwrap();
        }
        let wait = limit.take(client("192.0.2.1")).unwrap_err();
        assert!(wait <= Duration::from_secs(1) && !wait.is_zero(), "{wait:?}");
        limit.take(client("192.0.2.2")).unwrap();
        assert!(RateLimit::new(Rate::per_second(0)).is_none());
    }

    #[test]
    fn a_network_of_64_bits_is_one_client_and_a_mapped_address_is_its_own() {
        let key = |text| Key::of(client(text));
        assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:1"));
        assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_ne!(key("::ffff:192.0.2.1"), key("::ffff:192.0.2.2"));
    }

    #[test]
    fn a_crowd_of_clients_does_not_fill_the_memory() {
        let limit = RateLimit::new(Rate::per_second(1)).unwrap();
        for number in 0..2 * u32::try_from(MAX_CLIENTS).unwrap() {
            _ = limit.take(Client::Address(IpAddr::V4(number.into())));
        }
        assert!(limit.limiter.len() <= MAX_CLIENTS + 256, "{}", limit.limiter.len());
    }
}
