//! What whoever runs a gateway sees and says: the log, refusals before anything opens, systemd, the end.

use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::Value;
use tests::http::{ask, empty, get, post, raw, status};
use tests::programs::program;
use tests::{Gateway, Run, World, wait};

/// The lines with this message.
fn lines(gateway: &Gateway, message: &str) -> Vec<Value> {
    let log = gateway.log();
    let parsed = log.lines().map(|line| serde_json::from_str(line).unwrap());
    parsed.filter(|line: &Value| line["message"] == message).collect()
}

#[test]
fn a_request_has_one_line_without_what_was_asked() {
    let world = super::served();
    let gateway = world.start_rest(&[]);
    let body = serde_json::json!({"query": "zanzibar"});
    let mut request = post("/v1/search", &body);
    request.headers_mut().insert("x-request-id", "mine-1".parse().unwrap());
    assert_eq!(ask(gateway.address, request).status, 200);
    let query = empty(get("/v1/collections?page_token=zanzibar").header("x-request-id", "mine-2"));
    ask(gateway.address, query);
    let answered =
        wait::until(20, "two lines", || Some(lines(&gateway, "answered")).filter(|lines| lines.len() == 2));
    let line = &answered[0];
    assert_eq!(line["id"], "mine-1");
    assert_eq!(line["surface"], "rest");
    assert_eq!(line["client"], "127.0.0.1");
    assert_eq!(line["method"], "POST");
    assert_eq!(line["path"], "/v1/search");
    assert_eq!(line["status"], 200);
    assert!(line["ms"].as_f64().unwrap() > 0.0);
    assert_eq!((&answered[1]["id"], &answered[1]["path"]), (&"mine-2".into(), &"/v1/collections".into()));
    assert!(!gateway.log().contains("zanzibar"), "{}", gateway.log());
}

#[test]
fn whom_the_door_turns_away_the_operator_sees_and_the_caller_does_not() {
    let world = World::new();
    let gateway = world.start_rest(&[]);
    for number in 0..50 {
        let answer = raw(
            gateway.address,
            format!("GET / HTTP/1.1\r\nHost: evil{number}.example.net\r\nConnection: close\r\n\r\n"),
        );
        assert_eq!(status(&answer), Some(421));
        assert!(!String::from_utf8_lossy(&answer).contains("evil"));
    }
    raw(gateway.address, "GET / HTTP/1.1\r\nHost: two\r\nHost: \x1b[31mred\r\n\r\n");
    let told = lines(&gateway, "turned away");
    assert_eq!(told.len(), 5, "few lines, however many come");
    assert_eq!(
        (&told[0]["code"], &told[0]["named"]),
        (&"host_not_allowed".into(), &"evil0.example.net".into())
    );
    assert!(!gateway.log().contains('\x1b'));
}

#[test]
fn a_door_that_others_could_reach_is_refused_before_it_opens() {
    let world = World::new();
    for (flags, words) in [
        (&["--listen", "0.0.0.0:0"][..], "--allow-remote-access"),
        (&["--listen", "[::]:0"], "--allow-remote-access"),
        (&["--listen", "localhost:7412"], "write 127.0.0.1:7412"),
        (&["--listen", "127.0.0.1:0", "--any-host"], "--any-host"),
        (&["--listen", "127.0.0.1:0", "--metrics-listen", "0.0.0.0:0"], "--allow-remote-access"),
        (&["--listen", "systemd"], "LISTEN_FDS"),
    ] {
        for (program, arguments) in [("footnote-rest", &[][..]), ("footnote-mcp", &["http"])] {
            let run = Run::of(world.command(program).args(arguments).args(flags));
            assert!(run.code != 0 && run.stderr.contains(words), "{program} {flags:?}: {run}");
            assert!(!run.stderr.contains("listening"), "{program} {flags:?}: {run}");
        }
    }
}

/// Opens a socket as systemd does, and becomes the program that its arguments name.
const ACTIVATE: &str = "
import os, socket, sys
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[1], sys.argv[1:])
";

#[test]
fn systemd_may_open_the_door() {
    use std::io::{BufRead as _, BufReader};
    let world = World::new();
    let mut command = Command::new("python3");
    world.settle(&mut command);
    command.args(["-c", ACTIVATE]).arg(program("footnote-rest")).args(["--listen", "systemd"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let address = ([127, 0, 0, 1], port.trim().parse().unwrap()).into();
    // Whoever comes before the program is ready waits in the socket.
    let live = ask(address, empty(get("/livez")));
    assert_eq!(live.status, 200, "{live}");
    let foreign = ask(address, empty(get("/v1/collections").header("host", "evil.example.net")));
    assert_eq!(foreign.status, 421, "{foreign}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn it_is_ready_while_the_daemon_answers() {
    let mut world = super::served();
    let gateway = world.start_rest(&[]);
    let ready = || ask(gateway.address, empty(get("/readyz"))).status.as_u16();
    assert_eq!(ready(), 200);
    world.daemon().kill().unwrap();
    wait::until(20, "the gateway to notice", || (ready() == 503).then_some(()));
    assert_eq!(ask(gateway.address, empty(get("/livez"))).status, 200, "alive without it");
}

#[test]
fn it_ends_well_when_it_is_told_to() {
    let world = World::new();
    for (program, arguments) in [("footnote-rest", &[][..]), ("footnote-mcp", &["http"])] {
        let mut gateway = Gateway::start(&world, program, arguments);
        let _silent = TcpStream::connect(gateway.address).unwrap();
        let pid = rustix::process::Pid::from_child(gateway.child());
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let ended = wait::until(20, "its end", || gateway.child().try_wait().unwrap());
        assert!(ended.success(), "{program}: {ended}");
        assert_eq!(lines(&gateway, "stopped")[0]["complete"], true, "{program}");
    }
}
