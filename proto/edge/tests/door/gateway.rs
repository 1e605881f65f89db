//! A gateway in this process, and a client that writes and reads bytes.

use std::convert::Infallible;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use clap::{Args as _, FromArgMatches as _};
use edge::{Args, Body, Front, Listen, Refusal, Visit, read_body};
use http::{Request, Response};
use http_body_util::Full;
use proto::metadata::Surface;
use proto::places::SocketPath;
use proto::{Audience, Code};
use tokio::sync::{Notify, oneshot};

/// A client waits this long for bytes; nothing here takes a tenth of it.
const TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) const FRONT: Front = Front {
    name: "footnote-door",
    surface: Surface::Rest,
    variables: "FOOTNOTE_DOOR_TEST",
    port: 0,
    content_types: &["application/json"],
    refuse: |refusal: &Refusal| {
        let mut response = Response::new(Full::from(refusal.failure().json(Audience::Remote).to_string()));
        *response.status_mut() = refusal.status();
        response
    },
};

/// What a gateway behind the door has seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Requests that came through the door.
    pub(crate) requests: AtomicUsize,
    /// Requests to `/wait` that are under way.
    pub(crate) waiting: AtomicUsize,
    /// Lets those at `/wait` go on.
    pub(crate) go_on: Notify,
}

/// A running gateway. It stops when it is dropped.
#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) places: Vec<Listen>,
    pub(crate) metrics: Option<Listen>,
    pub(crate) seen: Arc<Seen>,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
}

impl Gateway {
    /// Opens the door with these flags and listens at a free port of loopback unless they say otherwise.
    pub(crate) fn open(flags: &[&str]) -> Self {
        let default = ["door", "--listen", "127.0.0.1:0"];
        let name = &default[..if flags.contains(&"--listen") { 1 } else { 3 }];
        let command = edge::with_variables(Args::augment_args(clap::Command::new("door")), &FRONT);
        let matches = command.get_matches_from([name, flags].concat());
        let config = Args::from_arg_matches(&matches).unwrap().settle(&FRONT).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let opened = {
            let _entered = runtime.enter();
            edge::open(config, FRONT).unwrap()
        };
        let (places, metrics) = (opened.addresses(), opened.metrics_address());
        let seen = Arc::new(Seen::default());
        let (stop, stopped) = oneshot::channel();
        let service = tower::service_fn({
            let seen = Arc::clone(&seen);
            move |request| answer(Arc::clone(&seen), request)
        });
        let running = std::thread::spawn(move || {
            let core = SocketPath::try_from(std::path::PathBuf::from("/nonexistent/core.sock")).unwrap();
            runtime.block_on(opened.serve(service, core, async { drop(stopped.await) }));
            runtime.shutdown_timeout(Duration::ZERO);
        });
        Self { places, metrics, seen, stop: Some(stop), running: Some(running) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        address(&self.places[0])
    }

    /// The same at loopback, where it listens at every address.
    pub(crate) fn loopback(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.address().port()).into()
    }

    pub(crate) fn connect(&self) -> Client {
        Client::to(self.address())
    }

    /// Sends bytes over a connection of their own and returns all that comes back until it is closed.
    pub(crate) fn ask(&self, request: &str) -> String {
        let mut client = self.connect();
        client.send(request);
        client.rest()
    }

    /// A GET of a path by a host.
    pub(crate) fn get(&self, path: &str, host: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    /// Tells it to stop, without waiting.
    pub(crate) fn tell_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub(crate) fn wait_until_stopped(&mut self) {
        self.running.take().unwrap().join().unwrap();
    }
}

/// The address of a place.
pub(crate) fn address(place: &Listen) -> SocketAddr {
    match place {
        Listen::Tcp(address) => *address,
        Listen::Unix(_) | Listen::Systemd => panic!("listens at {place}"),
    }
}

/// Waits until so many are counted.
pub(crate) fn wait_for(what: &AtomicUsize, count: usize) {
    until(|| what.load(Ordering::SeqCst) == count);
}

/// Waits for something to become true.
pub(crate) fn until(question: impl Fn() -> bool) {
    let end = std::time::Instant::now() + TIMEOUT;
    while !question() {
        assert!(std::time::Instant::now() < end, "it never came true");
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(running) = self.running.take() {
            drop(running.join());
        }
    }
}

async fn answer(seen: Arc<Seen>, request: Request<Body>) -> Result<Response<Full<Bytes>>, Infallible> {
    seen.requests.fetch_add(1, Ordering::SeqCst);
    let visit = request.extensions().get::<Visit>().unwrap().clone();
    let refuse = |failure| FRONT.answer(&Refusal::new(failure));
    Ok(match request.uri().path() {
        "/hello" => Response::new(Full::from("hello")),
        "/client" => Response::new(Full::from(visit.client.to_string())),
        "/length" => match read_body(request.into_body()).await {
            Ok(body) => Response::new(Full::from(format!("length {}", body.len()))),
            Err(failure) => refuse(failure),
        },
        "/wait" => {
            let _waiting = Waiting::begin(&seen);
            seen.go_on.notified().await;
            Response::new(Full::from("waited"))
        }
        "/panic" => panic!("as it was asked to"),
        _ => FRONT.answer(&Refusal::of(Code::NotFound)),
    })
}

/// Counts a request as long as somebody waits for it.
struct Waiting(Arc<Seen>);

impl Waiting {
    fn begin(seen: &Arc<Seen>) -> Self {
        seen.waiting.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(seen))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One connection of a client.
#[derive(Debug)]
pub(crate) struct Client(TcpStream);

impl Client {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(TIMEOUT)).unwrap();
        Self(stream)
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends as much as the other end takes.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.0.write_all(bytes.as_ref())
    }

    /// Waits until the first byte of an answer is there, and leaves it.
    pub(crate) fn wait_for_answer(&mut self) {
        assert_eq!(self.0.peek(&mut [0]).unwrap(), 1);
    }

    /// Everything until the other end closes.
    ///
    /// # Panics
    /// Where it neither closes nor says anything, or resets the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes).expect("it is closed properly");
        String::from_utf8(bytes).unwrap()
    }

    /// One answer with a `content-length`: its head and its body.
    pub(crate) fn one(&mut self) -> String {
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&bytes);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_lowercase();
                let length = head
                    .split("content-length: ")
                    .nth(1)
                    .map_or(0, |rest| rest.lines().next().unwrap().parse::<usize>().unwrap());
                if body.len() >= length {
                    return text.into_owned();
                }
            }
            let mut byte = [0];
            assert_eq!(self.0.read(&mut byte).unwrap(), 1, "closed after {text}");
            bytes.push(byte[0]);
        }
    }
}

/// The status of an answer.
#[track_caller]
pub(crate) fn status(answer: &str) -> u16 {
    answer
        .strip_prefix("HTTP/1.")
        .and_then(|rest| rest[2..5].parse().ok())
        .unwrap_or_else(|| panic!("{answer:?}"))
}

/// The statuses of all answers in a row.
pub(crate) fn statuses(answers: &str) -> Vec<u16> {
    answers.split("HTTP/1.1 ").skip(1).map(|answer| answer[..3].parse().unwrap()).collect()
}

/// The value of a header, which stands in an answer at most once.
pub(crate) fn header<'answer>(answer: &'answer str, name: &str) -> Option<&'answer str> {
    let head = answer.split("\r\n\r\n").next()?;
    let mut values = head.lines().filter_map(|line| line.split_once(": ")).filter(|(key, _)| *key == name);
    let value = values.next();
    assert!(values.next().is_none(), "{name} twice in {head}");
    value.map(|(_, value)| value)
}
