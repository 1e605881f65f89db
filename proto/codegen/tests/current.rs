//! The committed code is what the contract says. `BLESS=1` rewrites it.

use std::path::Path;

#[test]
fn the_committed_code_is_current() {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("codegen lies in proto");
    let folder = proto.join("src/generated");
    let files = codegen::generate(proto, "footnote/v1/retrieval.proto").expect("the contract is sound");
    let bless = std::env::var_os("BLESS").is_some();
    for file in &files {
        let path = folder.join(file.name);
        if bless {
            std::fs::write(&path, &file.content).expect("writable");
        }
        let committed = std::fs::read(&path).unwrap_or_default();
        assert!(committed == file.content, "{} is stale; run this test with BLESS=1", file.name);
    }
    let known: Vec<_> = files.iter().map(|file| file.name.to_owned()).collect();
    for entry in std::fs::read_dir(&folder).expect("readable") {
        let name = entry.expect("readable").file_name().into_string().expect("UTF-8");
        assert!(known.contains(&name), "nothing generates {name}");
    }
}
