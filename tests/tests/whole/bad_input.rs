//! What is not meant for the index is counted, what should have worked is named, and the rest is indexed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use serde_json::Value;
use tests::documents::{RECIPE, RUNBOOK};
use tests::programs::program;
use tests::{Run, World};

/// A world with one good document; each test adds what is bad.
fn world() -> World {
    let world = World::new();
    world.write("good.md", RUNBOOK);
    world
}

/// Ingests, and checks that the good document was indexed whatever else happened.
fn ingest(world: &World, code: i32) -> Value {
    let run = world.try_ingest(&[]);
    assert_eq!(run.code, code, "{run}");
    let answer = world.search(&["drain", "stuck"]);
    assert_eq!(answer["hits"][0]["citation"]["source"], "good.md", "{answer:#}");
    run.last_json()
}

/// How many files the summary counts as ignored for `reason`.
fn ignored(summary: &Value, reason: &str) -> u64 {
    summary["ignored"][reason].as_u64().unwrap_or(0)
}

/// The reasons by which the summary names `source` as skipped.
fn skipped(world: &World, source: &str) -> Vec<String> {
    let run = world.footnote(["skipped", "docs", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    let all = run.json();
    all["skipped"]
        .as_array()
        .unwrap_or_else(|| panic!("{all:#}"))
        .iter()
        .filter(|file| file["source"] == source)
        .map(|file| file["reason"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_binary_file_is_ignored() {
    let world = world();
    world.write("picture.md", [0_u8, 159, 146, 150, 0, 1, 2, 3].repeat(100));
    assert_eq!(ignored(&ingest(&world, 0), "binary"), 1);
}

#[test]
fn a_kind_it_does_not_know_is_ignored_unless_included() {
    let world = world();
    world.write("data.xyzzy", "plain words about a marmot\n");
    assert_eq!(ignored(&ingest(&world, 0), "unknown_kind"), 1);
    world.ingest_with(&["--include", "*.xyzzy"]);
    tests::wait::until(20, "the included file", || {
        (world.search(&["marmot"])["hits"][0]["citation"]["source"] == "data.xyzzy").then_some(())
    });
}

#[test]
fn a_fifo_is_never_opened() {
    let world = world();
    let status = Command::new("mkfifo").arg(world.doc("pipe.md")).status().unwrap();
    assert!(status.success());
    assert_eq!(ignored(&ingest(&world, 0), "not_a_file"), 1);
}

#[test]
fn a_link_out_of_the_root_is_ignored() {
    let world = world();
    fs::write(world.home().join("outside.md"), "words from outside, about a wombat\n").unwrap();
    symlink(world.home().join("outside.md"), world.doc("inside.md")).unwrap();
    symlink("/", world.doc("everything")).unwrap();
    ingest(&world, 0);
    let answer = world.search(&["wombat"]);
    assert!(!answer.to_string().contains("from outside"), "{answer:#}");
}

#[test]
fn ignore_files_are_honoured_at_every_level() {
    let world = world();
    world.write(".gitignore", "*.log.md\n/top/\n");
    world.write("a.log.md", RECIPE);
    world.write("top/b.md", RECIPE);
    world.write("deep/top/c.md", "the only dingo\n");
    world.write("deep/.footnoteignore", "hidden-from-us.md\n");
    world.write("deep/hidden-from-us.md", RECIPE);
    world.write(".secret/d.md", RECIPE);
    fs::create_dir(world.doc(".git")).unwrap();
    fs::create_dir(world.doc(".git/info")).unwrap();
    fs::write(world.doc(".git/info/exclude"), "excluded.md\n").unwrap();
    world.write("excluded.md", RECIPE);
    let summary = ingest(&world, 0);
    assert_eq!(summary["documents"], 2, "{summary:#}");
    assert_eq!(world.search(&["dingo"])["hits"][0]["citation"]["source"], "deep/top/c.md");
}

#[test]
fn a_private_key_is_ignored_as_a_secret() {
    let world = world();
    let key = ["-----BEGIN OPENSSH", " PRIVATE KEY-----\n", &"b3BlbnNzaC1rZXktdjEA".repeat(4), "\n"].concat();
    world.write("deploy.txt", key);
    assert_eq!(ignored(&ingest(&world, 0), "secret"), 1);
}

#[test]
fn a_file_that_is_too_large_is_skipped_by_name() {
    let world = world();
    world.write("large.md", "many words ".repeat(200_000));
    let run = world.try_ingest(&["--max-file-bytes", "1000000"]);
    assert_eq!(run.code, 8, "{run}");
    assert_eq!(skipped(&world, "large.md"), ["too_large"]);
}

#[test]
fn an_encoding_it_does_not_know_is_skipped_by_name() {
    let world = world();
    world.write("old.md", b"caf\xE9 in an old code page\n");
    ingest(&world, 8);
    assert_eq!(skipped(&world, "old.md"), ["bad_encoding"]);
}

#[test]
fn a_name_that_is_no_text_is_skipped() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = world();
    fs::write(world.docs().join(std::ffi::OsStr::from_bytes(b"caf\xE9.md")), RECIPE).unwrap();
    ingest(&world, 8);
}

#[test]
fn a_file_that_may_not_be_read_is_skipped_by_name() {
    let world = world();
    let path = world.write("locked.md", RECIPE);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let run =
        as_nobody(&world, &["ingest", &world.docs().to_string_lossy(), "--collection", "docs", "--json"]);
    assert_eq!(run.code, 8, "{run}");
    assert!(run.stdout.contains("unreadable") && run.stdout.contains("locked.md"), "{run}");
}

#[test]
fn broken_front_matter_is_a_warning_and_the_body_is_indexed() {
    let world = world();
    world.write("broken.md", "---\ntitle: [unclosed\ntags: {{{\n---\n\nA numbat lives here.\n");
    let run = world.try_ingest(&[]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("broken.md") || run.stderr.contains("broken.md"), "{run}");
    assert_eq!(world.search(&["numbat"])["hits"][0]["citation"]["source"], "broken.md");
}

#[test]
fn front_matter_gives_title_tags_and_dates_and_is_not_ranked() {
    let world = world();
    world.write(
        "posts/one.md",
        "---\ntitle: The quoll report\ntags: [marsupial, night]\ndate: 2024-05-06\nzebra: 1\n---\n\nIt was dark.\n",
    );
    ingest(&world, 0);
    let hit = &world.search(&["quoll", "report"])["hits"][0];
    assert_eq!(hit["title"], "The quoll report");
    assert_eq!(hit["tags"], serde_json::json!(["marsupial", "night"]));
    assert!(hit["date"].as_str().unwrap().starts_with("2024-05-06"), "{hit:#}");
    let zebra = world.search(&["--mode", "bm25", "zebra"]);
    assert_eq!(zebra["hits"].as_array().unwrap().len(), 0, "{zebra:#}");
}

#[test]
fn a_root_that_is_gone_empties_nothing() {
    let world = world();
    ingest(&world, 0);
    fs::rename(world.docs(), world.home().join("unmounted")).unwrap();
    let run = world.footnote(["ingest", "--collection", "docs"]);
    assert_ne!(run.code, 0, "{run}");
    fs::rename(world.home().join("unmounted"), world.docs()).unwrap();
    ingest(&world, 0);
}

#[test]
fn a_path_that_is_not_there_is_refused() {
    let world = world();
    let run = world.footnote(["ingest", "/no/such/folder"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("/no/such/folder"), "{run}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = world();
    let run = world.try_ingest(&["--dry-run"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(!world.index().exists());
}

#[test]
fn an_empty_folder_makes_an_empty_collection_that_can_be_asked() {
    let world = World::new();
    let run = world.try_ingest(&[]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(world.search(&["anything"])["hits"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_second_ingest_names_the_first_one_and_leaves() {
    let world = world();
    ingest(&world, 0);
    let lock = fs::File::options().write(true).open(world.index().join("docs/writer/lock")).unwrap();
    lock.lock().unwrap();
    let run = world.try_ingest(&[]);
    assert_eq!(run.code, 10, "{run}");
}

#[test]
fn a_foreign_folder_in_the_index_is_skipped_in_listings_and_refused_by_name() {
    let world = world();
    ingest(&world, 0);
    fs::create_dir(world.index().join("foreign")).unwrap();
    fs::write(world.index().join("foreign/CURRENT"), "nonsense").unwrap();
    let listing = tests::wait::until(20, "the foreign folder's notice", || {
        let listing = world.footnote(["collections", "--json"]).json();
        listing["notices"].to_string().contains("foreign").then_some(listing)
    });
    assert_eq!(listing["collections"].as_array().unwrap().len(), 1, "{listing:#}");
    let run = world.footnote(["search", "--json", "--collection", "foreign", "drain"]);
    assert_eq!(run.code, 7, "{run}");
    assert!(run.stderr.contains("index_damaged"), "{run}");
}

#[test]
fn an_index_of_another_format_is_refused_with_the_remedy() {
    let world = world();
    ingest(&world, 0);
    world.footnote(["down"]);
    let generation = world.index().join("docs/generations/00000001");
    let path = generation.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut manifest: Value = serde_json::from_str(&text).unwrap();
    manifest["schema_version"] = 99.into();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let text = serde_json::to_string(&manifest).unwrap();
    fs::write(&path, &text).unwrap();
    fs::write(world.index().join("docs/CURRENT"), format!("00000001 {}\n", sha256(&text))).unwrap();
    let run = world.footnote(["search", "--json", "--collection", "docs", "drain"]);
    assert_eq!(run.code, 7, "{run}");
    assert!(run.stderr.contains("newer"), "{run}");
}

/// Runs `footnote-index` as the user `nobody`, in a home of this world that is made theirs.
fn as_nobody(world: &World, arguments: &[&str]) -> Run {
    const NOBODY: u32 = 65534;
    std::os::unix::fs::chown(world.home(), Some(NOBODY), Some(NOBODY)).unwrap();
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(readable("footnote-index"))
        .args(arguments);
    world.settle(&mut command);
    Run::of(&mut command)
}

/// A copy of a program where every user may reach it.
fn readable(name: &str) -> std::path::PathBuf {
    static COPIES: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    let folder = COPIES.get_or_init(|| tempfile::Builder::new().prefix("fn-bin-").tempdir().unwrap());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join(name);
    if !copy.exists() {
        fs::copy(program(name), &copy).unwrap();
    }
    copy
}

fn sha256(text: &str) -> String {
    use sha2::Digest as _;
    hex::encode(sha2::Sha256::digest(text.as_bytes()))
}
