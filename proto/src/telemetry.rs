//! Logs, set up alike in every server: one filter, text or JSON, on standard error or in a file.
//!
//! Deliberately left out: what is logged. Standard output is never touched: it belongs to protocols.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing::Subscriber;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::settings::{Log, LogFormat};

/// A log file larger than this is put aside as `.1`, and a new one begun: some 50,000 requests.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Why there are no logs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The filter is not in `tracing`'s grammar.
    #[error("`{filter}` is no log filter: write a level (error, warn, info, debug, trace) or `target=level`")]
    Filter {
        /// What was given.
        filter: String,
        /// What is wrong with it.
        source: ParseError,
    },
    /// The log file cannot be written.
    #[error("cannot open the log file {}", path.display())]
    OpenFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Logs were set up before.
    #[error("logs are already set up")]
    Twice(#[source] TryInitError),
}

/// Sets up the logs of this process, once.
pub fn start(log: &Log) -> Result<(), Error> {
    let filter = EnvFilter::builder()
        .parse(&log.filter)
        .map_err(|source| Error::Filter { filter: log.filter.clone(), source })?;
    let subscriber: Box<dyn Subscriber + Send + Sync> = match &log.file {
        Some(path) => {
            let file =
                LogFile::open(path).map_err(|source| Error::OpenFile { path: path.clone(), source })?;
            subscriber(log.format, filter, Mutex::new(file), false)
        }
        None => subscriber(log.format, filter, io::stderr, io::stderr().is_terminal()),
    };
    subscriber.try_init().map_err(Error::Twice)
}

fn subscriber<W>(
    format: LogFormat,
    filter: EnvFilter,
    writer: W,
    colours: bool,
) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(colours);
    match format {
        LogFormat::Text => Box::new(builder.finish()),
        LogFormat::Json => Box::new(builder.json().flatten_event(true).finish()),
    }
}

/// A file that only its owner reads, and that does not grow for ever.
struct LogFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl LogFile {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    fn put_aside(&mut self) -> io::Result<()> {
        let mut aside = self.path.clone().into_os_string();
        aside.push(".1");
        fs::rename(&self.path, aside)?;
        *self = Self::open(&self.path)?;
        Ok(())
    }
}

impl Write for LogFile {
    // One call is one line: the subscriber formats a line before it writes.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.bytes > MAX_FILE_BYTES {
            // Where that fails, for example in a read-only folder, the old file goes on growing.
            drop(self.put_aside());
        }
        let written = self.file.write(line)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_log_file_is_its_owners_alone_and_is_put_aside_when_large() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/core.log");
        let mut log = LogFile::open(&path).unwrap();
        log.write_all(b"first\n").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);

        log.bytes = MAX_FILE_BYTES + 1;
        log.write_all(b"second\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second\n");
        assert_eq!(fs::read_to_string(folder.path().join("state/core.log.1")).unwrap(), "first\n");
        assert_eq!(LogFile::open(&path).unwrap().bytes, 7);
    }

    #[test]
    fn a_filter_that_is_none_is_refused_with_the_levels() {
        let log = Log { filter: "a=b=c".into(), format: LogFormat::Text, file: None };
        let error = start(&log).unwrap_err().to_string();
        assert!(error.contains("error, warn, info"), "{error}");
    }
}
