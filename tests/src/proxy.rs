//! A real nginx or Caddy with the configuration in `deploy/`, and a visitor from outside.
//!
//! The rules are used as they are shipped. What belongs to a site is given as the files say: for nginx by the folder
//! of includes (the shipped ones with this test's ports and certificate), for Caddy by variables.

use std::fmt;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::programs::workspace;
use crate::wait;

/// The public name.
pub const NAME: &str = "search.example.com";

/// Who may log in, in curl's words.
pub const LOGIN: &str = "ada:secret";

/// Which proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// nginx.
    Nginx,
    /// Caddy.
    Caddy,
}

/// A running proxy. Stopped when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    folder: TempDir,
    port: u16,
    child: Child,
}

/// What a visitor was answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status; 0 where there was no HTTP at all.
    pub status: u16,
    /// The headers, as they came.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answer {
    /// A header; empty where it is absent.
    pub fn header(&self, name: &str) -> &str {
        let named =
            |line: &&str| line.split(':').next().is_some_and(|found| found.eq_ignore_ascii_case(name));
        self.head
            .lines()
            .find(named)
            .and_then(|line| line.split_once(':'))
            .map_or("", |(_, value)| value.trim())
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// Where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}\n{}", self.status, self.head, self.body)
    }
}

impl Proxy {
    /// Starts one before gateways that listen at these addresses.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start(kind: Kind, mcp: SocketAddr, rest: SocketAddr) -> Self {
        let folder = tempfile::Builder::new().prefix("fp-").tempdir().expect("a temporary folder");
        certify(folder.path());
        let port = free_port();
        let mut command = match kind {
            Kind::Nginx => nginx(folder.path(), port, mcp, rest),
            Kind::Caddy => caddy(folder.path(), port, mcp, rest),
        };
        let log = fs::File::create(folder.path().join("log")).expect("a log");
        let errors = log.try_clone().expect("the same log");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .unwrap_or_else(|error| panic!("{kind:?}: {error}; deploy/test.sh installs it"));
        wait::until(20, "the proxy's port", || {
            if let Some(status) = child.try_wait().expect("its status") {
                panic!(
                    "{kind:?}: {status}: {}",
                    fs::read_to_string(folder.path().join("log")).unwrap_or_default()
                );
            }
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Self { folder, port, child }
    }

    /// curl, as a visitor runs it who believes in this test's certificate and finds every name here.
    pub fn curl(&self, arguments: &[&str]) -> Command {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--max-time", "30", "--path-as-is", "--connect-to"])
            .arg(format!("::127.0.0.1:{}", self.port))
            .arg("--cacert")
            .arg(self.folder.path().join("cert.pem"))
            .args(arguments);
        curl
    }

    /// Asks the public name with the login.
    pub fn ask(&self, arguments: &[&str], target: &str) -> Answer {
        self.ask_anyhow(&[&["-u", LOGIN], arguments].concat(), &format!("https://{NAME}{target}"))
    }

    /// Asks whatever is said, and as whoever.
    ///
    /// # Panics
    /// Where curl is not there.
    pub fn ask_anyhow(&self, arguments: &[&str], url: &str) -> Answer {
        let output =
            self.curl(arguments).args(["-i", url]).output().expect("curl; deploy/test.sh installs it");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // Whoever asked whether to send a body was first told to go on.
        let told_to_go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        let text = text.strip_prefix(told_to_go_on).unwrap_or(&text);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // nginx's workers end with their master only where it is asked to.
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        drop(self.child.wait());
    }
}

fn nginx(folder: &Path, port: u16, mcp: SocketAddr, rest: SocketAddr) -> Command {
    let shipped = workspace().canonicalize().expect("the workspace").join("deploy/nginx");
    let includes = folder.join("footnote");
    fs::create_dir(&includes).expect("a folder for includes");
    let of_site = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("listen [::]"));
        lines.collect::<Vec<_>>().join("\n")
    };
    for name in ["gateways.conf", "site.conf", "listen-default.conf"] {
        let text = fs::read_to_string(shipped.join("footnote").join(name)).expect("a shipped include");
        let text = of_site(&text)
            .replace("127.0.0.1:7411", &mcp.to_string())
            .replace("127.0.0.1:7412", &rest.to_string())
            .replace("listen 443 ", &format!("listen 127.0.0.1:{port} "))
            .replace("/etc/ssl/search.example.com.pem", &path(folder, "cert.pem"))
            .replace("/etc/ssl/private/search.example.com.key", &path(folder, "key.pem"));
        fs::write(includes.join(name), text).expect("an include");
    }
    let (name, password) = LOGIN.split_once(':').expect("a name and a password");
    let hash = said(Command::new("openssl").args(["passwd", "-6", password]));
    fs::write(includes.join("htpasswd"), format!("{name}:{hash}\n")).expect("the users");
    // Workers of another user would not reach this folder.
    let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {};", path(folder, &format!("{name}-temp"))))
        .join(" ");
    let main = format!(
        "daemon off; {user} pid {}; error_log stderr; events {{}}\n\
         http {{ access_log off; {temporary} include {}; }}\n",
        path(folder, "pid"),
        path(&shipped, "footnote.conf"),
    );
    fs::write(folder.join("nginx.conf"), main).expect("its configuration");
    let found =
        ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].into_iter().find(|name| Path::new(name).exists());
    let mut command = Command::new(found.unwrap_or("nginx"));
    command.args(["-e", "stderr", "-p"]).arg(folder).arg("-c").arg(folder.join("nginx.conf"));
    command
}

fn caddy(folder: &Path, port: u16, mcp: SocketAddr, rest: SocketAddr) -> Command {
    let (name, password) = LOGIN.split_once(':').expect("a name and a password");
    let hash = said(Command::new("caddy").args(["hash-password", "--plaintext", password]));
    let users = folder.join("users");
    fs::write(&users, format!("{name} {hash}\n")).expect("the users");
    let mut command = Command::new("caddy");
    command
        .args(["run", "--adapter", "caddyfile", "--config"])
        .arg(workspace().join("deploy/caddy/Caddyfile"))
        .env("HOME", folder)
        .env("XDG_DATA_HOME", folder)
        .env("XDG_CONFIG_HOME", folder)
        .env("FOOTNOTE_NAME", NAME)
        .env("FOOTNOTE_PORT", port.to_string())
        .env("FOOTNOTE_TLS", format!("{} {}", path(folder, "cert.pem"), path(folder, "key.pem")))
        .env("FOOTNOTE_USERS", users)
        .env("FOOTNOTE_MCP", mcp.to_string())
        .env("FOOTNOTE_REST", rest.to_string())
        .env("FOOTNOTE_ADMIN", "off");
    command
}

/// Makes a certificate for the public name that certifies itself.
fn certify(folder: &Path) {
    said(
        Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
            .args(["-days", "2", "-subj", &format!("/CN={NAME}"), "-addext"])
            .arg(format!("subjectAltName=DNS:{NAME}"))
            .args(["-keyout", "key.pem", "-out", "cert.pem"])
            .current_dir(folder),
    );
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// What a program says that must succeed.
fn said(command: &mut Command) -> String {
    let output =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; deploy/test.sh installs it"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A port that was free a moment ago: neither program can be given a socket.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}
