//! The one starter of the daemon. Whoever asks and finds none starts it here.
//!
//! The daemon gets a session of its own, no terminal, `/` for a working directory and a log file, and so
//! outlives the one who asked. A lock beside the socket makes one daemon of any number of starts at once; the
//! start is over when health says SERVING, which never waits for a model. Deliberately left out: stopping
//! (`stopper`).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use tokio::time::{Instant, sleep};

use crate::health;
use crate::places::{BaseDirs, SocketPath};
use crate::settings::{AUTOSTART_IDLE_EXIT, Stores};

/// The daemon's program.
pub const PROGRAM: &str = "footnoted";

/// How long a start may take: it opens an index and loads nothing, so this is for a machine under load.
const PATIENCE: Duration = Duration::from_secs(20);

/// How much of a failed daemon's log is read.
const LOG_TAIL_BYTES: u64 = 64 * 1024;

/// How many lines of it are told.
const LOG_TAIL_LINES: usize = 5;

/// Why the daemon does not serve.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such program.
    #[error("cannot find `{PROGRAM}` beside this program or on PATH")]
    NoProgram,
    /// A folder that the daemon needs cannot be made.
    #[error("cannot create {}", path.display())]
    CreateFolder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The lock of those who start cannot be taken.
    #[error("cannot lock {}", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program does not run.
    #[error("cannot run {}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The daemon ended before it served.
    #[error("{}", ended(*.status, said, log_file))]
    Ended {
        /// How.
        status: ExitStatus,
        /// The last lines that it logged.
        said: Vec<String>,
        /// Where the rest is.
        log_file: PathBuf,
    },
    /// The daemon runs and does not serve.
    #[error("the daemon did not serve within {PATIENCE:?}; its log is {}", log_file.display())]
    TooSlow {
        /// Its log.
        log_file: PathBuf,
    },
}

/// What a start found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// None served before.
    Now,
    /// One served already.
    Before,
}

/// Starts the daemon of one index directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starter {
    stores: Stores,
    socket: SocketPath,
    log_file: PathBuf,
}

impl Starter {
    /// A starter of the daemon that serves `stores` at `socket`.
    pub fn new(stores: Stores, socket: SocketPath, base: &BaseDirs) -> Self {
        let log_file = base.log_file(&socket);
        Self { stores, socket, log_file }
    }

    /// The log of a daemon that this started.
    pub fn log_file(&self) -> &Path {
        &self.log_file
    }

    /// Makes sure that a daemon serves.
    pub async fn start(&self) -> Result<Started, Error> {
        let deadline = Instant::now() + PATIENCE;
        for file in [self.socket.as_path(), &self.log_file] {
            create_folder_of(file)?;
        }
        let _lock = self.lock(deadline).await?;
        if health::serves(&self.socket).await {
            return Ok(Started::Before);
        }
        self.spawn_and_wait(deadline).await?;
        Ok(Started::Now)
    }

    /// Held by one at a time; the others find a daemon when their turn comes.
    async fn lock(&self, deadline: Instant) -> Result<File, Error> {
        let path = self.socket.start_lock();
        let failed = |source| Error::Lock { path: path.clone(), source };
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        // A blocking lock would hold a thread that nobody can call back.
        while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if error != rustix::io::Errno::WOULDBLOCK {
                return Err(failed(error.into()));
            }
            if Instant::now() > deadline {
                return Err(Error::TooSlow { log_file: self.log_file.clone() });
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(file)
    }

    async fn spawn_and_wait(&self, deadline: Instant) -> Result<(), Error> {
        let logged_before = fs::metadata(&self.log_file).map_or(0, |metadata| metadata.len());
        let program = program().ok_or(Error::NoProgram)?;
        let mut daemon = tokio::process::Command::from(self.command(&program))
            .spawn()
            .map_err(|source| Error::Spawn { program, source })?;
        let mut pause = Duration::from_millis(1);
        loop {
            if health::serves(&self.socket).await {
                // Awaited to its end, so that a front that lives longer than its daemon keeps no zombie.
                tokio::spawn(async move { daemon.wait().await });
                return Ok(());
            }
            if let Ok(Some(status)) = daemon.try_wait() {
                let said = log_tail(&self.log_file, logged_before);
                return Err(Error::Ended { status, said, log_file: self.log_file.clone() });
            }
            if Instant::now() > deadline {
                return Err(Error::TooSlow { log_file: self.log_file.clone() });
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .arg("--index-dir")
            .arg(&self.stores.index_dir)
            .arg("--model-dir")
            .arg(&self.stores.model_dir)
            .arg("--socket")
            .arg(self.socket.as_path())
            .arg("--log-file")
            .arg(&self.log_file)
            .arg("--idle-exit")
            .arg(format!("{}s", AUTOSTART_IDLE_EXIT.as_secs()))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        own_session(&mut command);
        command
    }
}

/// Out of the asker's session and process group, a Ctrl-C or a closed terminal there is nothing to the daemon.
fn own_session(command: &mut Command) {
    let new_session = || {
        rustix::process::setsid()?;
        Ok(())
    };
    #[expect(
        unsafe_code,
        reason = "the only way to a session of its own; setsid is safe between fork and exec"
    )]
    unsafe {
        command.pre_exec(new_session);
    }
}

/// Beside the running program, where one build installs them all, else on PATH.
fn program() -> Option<PathBuf> {
    sibling(PROGRAM)
}

/// A program of ours: beside the running one, else on PATH.
pub fn sibling(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join(name)));
    let on_path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|path| std::env::split_paths(&path).map(|folder| folder.join(name)).collect::<Vec<_>>())
        .filter(|program| program.is_absolute());
    beside.into_iter().chain(on_path).find(|program| program.is_file())
}

fn create_folder_of(file: &Path) -> Result<(), Error> {
    let Some(folder) = file.parent() else { return Ok(()) };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|source| Error::CreateFolder { path: folder.to_owned(), source })
}

/// The last lines that were logged behind `offset`; of all, where the file was begun anew since.
fn log_tail(path: &Path, offset: u64) -> Vec<String> {
    let read = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let end = file.metadata()?.len();
        let begin = if offset <= end { offset } else { 0 };
        file.seek(SeekFrom::Start(begin.max(end.saturating_sub(LOG_TAIL_BYTES))))?;
        let mut bytes = Vec::new();
        file.take(LOG_TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].iter().map(|line| (*line).to_owned()).collect()
}

fn ended(status: ExitStatus, said: &[String], log_file: &Path) -> String {
    if said.is_empty() {
        return format!(
            "the daemon ended at its start ({status}) and logged nothing to {}",
            log_file.display()
        );
    }
    format!(
        "the daemon ended at its start ({status}); {} ends with\n  {}",
        log_file.display(),
        said.join("\n  ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_this_start_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("core.log");
        fs::write(&path, "old\n1\n2\n\n3\n4\n5\n6\n").unwrap();
        assert_eq!(log_tail(&path, 4), ["2", "3", "4", "5", "6"]);
        assert_eq!(log_tail(&path, 14), ["6"]);
        assert_eq!(log_tail(&path, 1_000), ["2", "3", "4", "5", "6"]);
        assert_eq!(log_tail(&folder.path().join("none"), 0), [""; 0]);
    }
}
