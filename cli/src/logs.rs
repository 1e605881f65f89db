//! `logs`: the end of the daemon's log, and what is added to it.
//!
//! Deliberately left out: logs of a daemon that a service manager started, which that keeps.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use proto::settings::Surroundings;
use proto::{Code, Failure, clean};
use serde_json::json;

use crate::args::{LogsArgs, Typed};
use crate::print::Reader;
use crate::run::Ended;
use crate::{daemon, fault, print};

/// How much of the end of a log is looked at for its last lines.
const TAIL_BYTES: u64 = 4 * 1024 * 1024;

/// How often a log is looked at for more: seldom enough to cost nothing, often enough to look immediate.
const PAUSE: Duration = Duration::from_millis(200);

/// Prints the log's end and, where that is wanted, goes on until interrupted.
pub(crate) async fn logs(
    wanted: &LogsArgs,
    typed: &Typed,
    surroundings: &Surroundings,
) -> Result<Ended, Failure> {
    let (starter, _) = daemon::starter(typed, surroundings)?;
    let path = starter.log_file();
    let failed = |error: io::Error| fault::system(&format!("read {}", path.display()), &error);
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(nothing_logged(path)),
        opened => opened.map_err(failed)?,
    };
    let mut reader = show(&last_lines(&mut file, wanted.lines).map_err(failed)?, typed.json)?;
    while wanted.follow && reader == Reader::Reads {
        tokio::time::sleep(PAUSE).await;
        let mut more = Vec::new();
        file.read_to_end(&mut more).map_err(failed)?;
        reader = show(&String::from_utf8_lossy(&more), typed.json)?;
        if was_put_aside(&file, path) {
            file = File::open(path).map_err(failed)?;
        }
    }
    Ok(Ended::Well)
}

fn nothing_logged(path: &Path) -> Failure {
    Failure::with_message(Code::CoreUnavailable, format!("there is no log at {}", path.display())).advise(
        "a daemon that was started by a service manager logs there (`journalctl`); `footnote up` starts one that logs here",
        Code::CoreUnavailable.row().remote,
    )
}

fn show(text: &str, as_json: bool) -> Result<Reader, Failure> {
    let printed = if as_json {
        text.lines()
            .try_fold(Reader::Reads, |_, line| print::answer(&format!("{}\n", json!({ "line": line }))))
    } else {
        print::answer(&clean::text(text))
    };
    printed.map_err(|error| fault::system("print the log", &error))
}

fn last_lines(file: &mut File, lines: usize) -> io::Result<String> {
    let end = file.metadata()?.len();
    file.seek(SeekFrom::Start(end.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<_> = text.split_inclusive('\n').collect();
    Ok(all[all.len().saturating_sub(lines)..].concat())
}

/// Whether the daemon has begun a new file at that path.
fn was_put_aside(file: &File, path: &Path) -> bool {
    let inode = |metadata: io::Result<std::fs::Metadata>| metadata.map(|metadata| metadata.ino()).ok();
    let now = inode(path.metadata());
    now.is_some() && now != inode(file.metadata())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_last_lines_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("core.log");
        fs::write(&path, "a\nb\nc").unwrap();
        let last = |lines| last_lines(&mut File::open(&path).unwrap(), lines).unwrap();
        assert_eq!((last(0), last(2), last(9)), (String::new(), "b\nc".to_owned(), "a\nb\nc".to_owned()));
    }

    #[test]
    fn a_new_file_at_the_path_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("core.log");
        fs::write(&path, "a").unwrap();
        let file = File::open(&path).unwrap();
        assert!(!was_put_aside(&file, &path));
        fs::rename(&path, folder.path().join("core.log.1")).unwrap();
        assert!(!was_put_aside(&file, &path));
        fs::write(&path, "b").unwrap();
        assert!(was_put_aside(&file, &path));
    }
}
