//! What was typed, and what it means. Refused before anything is opened.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use proto::duration::TypedDuration;

use crate::client_address::TrustedProxy;
use crate::error::Error;
use crate::front::Front;
use crate::listen::{Listen, Reach};
use crate::policy::{AllowedHost, Names};
use crate::public_url::PublicUrl;
use crate::rate_limit::Rate;

/// Connections that are open at once: every program of one host and a proxy's pool. One costs 16 KiB at most while
/// it sends headers, and a few hundred bytes while it is silent.
const MAX_CONNECTIONS: NonZeroU32 = NonZeroU32::new(2048).expect("not zero");

/// Headers fit a few packets: who needs longer has a broken line or is no client.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest body over a line of 300 kbit/s.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Longer than the pools of nginx (60 s) keep a connection, so that it is the proxy that closes it: a request that
/// crosses our close would be lost.
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);

/// What is inside gets this long to end after the signal.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Only its owner: widen it where a proxy runs as somebody else.
const SOCKET_MODE: u32 = 0o600;

/// The flags of a door, for a gateway's parser to flatten.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(about = None, long_about = None, next_help_heading = "Door")]
pub struct Args {
    /// Where to listen: an address with a port, `unix:/path`, or `systemd`; may be given more than once
    #[arg(long, value_name = "PLACE", value_delimiter = ',')]
    pub listen: Vec<Listen>,
    /// Listen where other hosts can reach it
    #[arg(long, value_parser = BoolishValueParser::new())]
    pub allow_remote_access: bool,
    /// The URL by which a proxy publishes it: answer to this name alone; may be given more than once
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub public_url: Vec<PublicUrl>,
    /// Answer to this name too, at any port or at the one given; may be given more than once
    #[arg(long, value_name = "HOST[:PORT]", value_delimiter = ',')]
    pub allowed_host: Vec<AllowedHost>,
    /// Answer to every name: web pages that change what their name means (DNS rebinding) can ask
    #[arg(long, value_parser = BoolishValueParser::new())]
    pub any_host: bool,
    /// Believe this proxy who its client is, in logs and limits: an address, a network, or `unix`; may be given more
    /// than once
    #[arg(long, value_name = "NETWORK", value_delimiter = ',')]
    pub trusted_proxy: Vec<TrustedProxy>,
    /// Serve Prometheus metrics at this address, under `/metrics`
    #[arg(long, value_name = "ADDRESS")]
    pub metrics_listen: Option<MetricsListen>,
    /// The mode of a Unix socket, in octal [default: 600]
    #[arg(long, value_name = "MODE", value_parser = socket_mode)]
    pub socket_mode: Option<u32>,
    /// How many connections are open at once; beyond that the one that is silent longest is closed [default: 2048]
    #[arg(long, value_name = "N")]
    pub max_connections: Option<NonZeroU32>,
    /// How many requests a client may send in a second, and four times as many at once; 0 is no limit [default: 50
    /// where other hosts can reach it, else 0]
    #[arg(long, value_name = "N")]
    pub rate_limit: Option<u32>,
    /// How long a request's headers may take [default: 10s]
    #[arg(long, value_name = "DURATION")]
    pub header_timeout: Option<TypedDuration>,
    /// How long a request's body may take [default: 30s]
    #[arg(long, value_name = "DURATION")]
    pub body_timeout: Option<TypedDuration>,
    /// How long a connection may be silent between requests [default: 75s]
    #[arg(long, value_name = "DURATION")]
    pub idle_timeout: Option<TypedDuration>,
    /// How long requests may go on after the signal to stop [default: 10s]
    #[arg(long, value_name = "DURATION")]
    pub drain_timeout: Option<TypedDuration>,
}

/// Where metrics are served: an address in the same words as `--listen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricsListen(pub SocketAddr);

impl std::str::FromStr for MetricsListen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(Listen::Tcp(address)) => Ok(Self(address)),
            Ok(Listen::Unix(_) | Listen::Systemd) => {
                Err("write an address such as `127.0.0.1:9411`".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

fn socket_mode(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|mode| *mode <= 0o777)
        .ok_or_else(|| "write a mode in octal, such as 660".to_owned())
}

/// What a door was told.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) listen: Vec<Listen>,
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) remote: Remote,
    pub(crate) names: Names,
    pub(crate) trusted_proxies: Vec<TrustedProxy>,
    pub(crate) socket_mode: u32,
    pub(crate) max_connections: usize,
    /// `None` where nobody said: then it hangs on who can reach the door.
    pub(crate) rate: Option<Rate>,
    pub(crate) patience: Patience,
}

/// Whether other hosts may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remote {
    Allowed,
    Refused,
}

/// How long is waited for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) header: Duration,
    pub(crate) body: Duration,
    pub(crate) idle: Duration,
    pub(crate) drain: Duration,
}

impl Args {
    /// Says what it all means for this gateway.
    pub fn settle(self, front: &Front) -> Result<Config, Error> {
        let default = || vec![Listen::Tcp((Ipv4Addr::LOCALHOST, front.port).into())];
        let or = |typed: Option<TypedDuration>, default| typed.map_or(default, TypedDuration::get);
        let config = Config {
            listen: if self.listen.is_empty() { default() } else { self.listen },
            metrics: self.metrics_listen.map(|MetricsListen(address)| address),
            remote: if self.allow_remote_access { Remote::Allowed } else { Remote::Refused },
            names: match (self.any_host, self.public_url.is_empty()) {
                (true, false) => return Err(Error::AnyHostAndPublicUrl),
                (true, true) => Names::Any { besides: self.allowed_host },
                (false, true) => Names::OfPlace { besides: self.allowed_host },
                (false, false) => Names::Public { urls: self.public_url, besides: self.allowed_host },
            },
            trusted_proxies: self.trusted_proxy,
            socket_mode: self.socket_mode.unwrap_or(SOCKET_MODE),
            max_connections: self.max_connections.unwrap_or(MAX_CONNECTIONS).get() as usize,
            rate: self.rate_limit.map(Rate::per_second),
            patience: Patience {
                header: or(self.header_timeout, HEADER_TIMEOUT),
                body: or(self.body_timeout, BODY_TIMEOUT),
                idle: or(self.idle_timeout, IDLE_TIMEOUT),
                drain: or(self.drain_timeout, DRAIN_TIMEOUT),
            },
        };
        for place in &config.listen {
            match place {
                Listen::Tcp(address) => config.admit(Reach::of(*address), place)?,
                Listen::Unix(_) => config.admit(Reach::Unix, place)?,
                // Looked at once they are taken over: systemd opened them, not we.
                Listen::Systemd => {}
            }
        }
        if let Some(address) = config.metrics {
            config.publish(Reach::of(address), &address)?;
        }
        Ok(config)
    }
}

impl Config {
    /// The URLs by which the gateway is known, in the order given; empty where there is no proxy.
    pub fn public_urls(&self) -> &[PublicUrl] {
        match &self.names {
            Names::Public { urls, .. } => urls,
            Names::OfPlace { .. } | Names::Any { .. } => &[],
        }
    }

    /// Whether a place of this reach may be listened at with these names.
    pub(crate) fn admit(&self, reach: Reach, place: &impl ToString) -> Result<(), Error> {
        self.publish(reach, place)?;
        match (&self.names, reach) {
            (Names::Any { .. }, Reach::Loopback | Reach::Unix) => {
                Err(Error::AnyHostOnLoopback { place: place.to_string() })
            }
            _ => Ok(()),
        }
    }

    fn publish(&self, reach: Reach, place: &impl ToString) -> Result<(), Error> {
        match (reach, self.remote) {
            (Reach::Published, Remote::Refused) => Err(Error::Published { place: place.to_string() }),
            _ => Ok(()),
        }
    }
}

/// Gives every flag of [`Args`] in `command` its variable (`FOOTNOTE_REST_LISTEN`) and `--listen` its default, both of
/// which are the gateway's own.
pub fn with_variables(command: clap::Command, front: &Front) -> clap::Command {
    let flags = <Args as clap::Args>::augment_args(clap::Command::new(front.name));
    let ids: Vec<_> = flags.get_arguments().map(|flag| flag.get_id().clone()).collect();
    let command = ids.iter().fold(command, |command, id| {
        command.mut_arg(id, |flag| flag.env(format!("{}_{}", front.variables, id.as_str().to_uppercase())))
    });
    command.mut_arg("listen", |flag| flag.default_value(format!("{}:{}", Ipv4Addr::LOCALHOST, front.port)))
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;
    use crate::testing::FRONT;

    fn settle(flags: &[&str]) -> Result<Config, String> {
        let command = with_variables(Args::augment_args(clap::Command::new("door")), &FRONT);
        let matches =
            command.try_get_matches_from([&["door"], flags].concat()).map_err(|error| error.to_string())?;
        let args = Args::from_arg_matches(&matches).unwrap();
        args.settle(&FRONT).map_err(|error| error.to_string())
    }

    #[test]
    fn it_listens_at_loopback_unless_told_otherwise() {
        assert_eq!(settle(&[]).unwrap().listen, [Listen::Tcp(([127, 0, 0, 1], FRONT.port).into())]);
        let config = settle(&["--listen", "[::1]:0", "--listen", "unix:/run/x.sock"]).unwrap();
        assert_eq!(config.listen.len(), 2);
    }

    #[test]
    fn other_hosts_come_in_only_where_that_was_said() {
        for place in ["0.0.0.0:1", "[::]:1", "192.168.1.1:1", "[::ffff:10.0.0.1]:1"] {
            let refused = settle(&["--listen", place]).unwrap_err();
            assert!(refused.contains("--allow-remote-access"), "{refused}");
            assert!(settle(&["--listen", place, "--allow-remote-access"]).is_ok(), "{place}");
            let metrics = settle(&["--metrics-listen", place]).unwrap_err();
            assert!(metrics.contains("--allow-remote-access"), "{metrics}");
            // A public URL says what the name is, not that the address is meant.
            assert!(settle(&["--listen", place, "--public-url", "https://search.example.com"]).is_err());
        }
    }

    #[test]
    fn a_name_is_refused_with_what_to_write() {
        for flag in ["--listen", "--metrics-listen"] {
            let refused = settle(&[flag, "localhost:7411"]).unwrap_err();
            assert!(refused.contains("write 127.0.0.1:7411"), "{refused}");
        }
    }

    #[test]
    fn every_name_is_refused_where_the_name_is_all_that_protects() {
        for place in ["127.0.0.1:1", "[::1]:1", "unix:/run/x.sock"] {
            for remote in [&["--any-host"][..], &["--any-host", "--allow-remote-access"]] {
                let refused = settle(&[&["--listen", place], remote].concat()).unwrap_err();
                assert!(refused.contains("--any-host"), "{refused}");
            }
        }
        assert!(settle(&["--listen", "0.0.0.0:1", "--allow-remote-access", "--any-host"]).is_ok());
        let both =
            ["--listen", "0.0.0.0:1", "--allow-remote-access", "--any-host", "--public-url", "https://a.b"];
        assert!(settle(&both).unwrap_err().contains("contradict"));
    }

    #[test]
    fn every_flag_has_a_variable_of_this_gateway() {
        let command = with_variables(Args::augment_args(clap::Command::new("door")), &FRONT);
        for flag in command.get_arguments() {
            let variable = flag.get_env().unwrap().to_string_lossy().into_owned();
            let named = flag.get_long().unwrap().replace('-', "_").to_uppercase();
            assert_eq!(variable, format!("{}_{named}", FRONT.variables));
        }
    }

    #[test]
    fn values_that_mean_nothing_are_refused() {
        for flags in [
            ["--public-url", "search.example.com"],
            ["--allowed-host", "http://search.lan"],
            ["--allowed-host", "a..b"],
            ["--trusted-proxy", "nginx"],
            ["--socket-mode", "9"],
            ["--max-connections", "0"],
            ["--header-timeout", "soon"],
            ["--metrics-listen", "unix:/run/x.sock"],
        ] {
            assert!(settle(&flags).is_err(), "{flags:?}");
        }
    }
}
