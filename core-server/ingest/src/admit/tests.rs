//! Which files are admitted, and why the others are not.

use super::*;
use std::fs;

fn admitted(bytes: &[u8]) -> Result<Admitted, Refused> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    admit(file.path(), 1_000)
}

fn refusal(bytes: &[u8]) -> Refused {
    admitted(bytes).unwrap_err()
}

#[test]
fn text_is_admitted_as_it_is() {
    let text = "\u{feff}a\r\nb\rc 数据 🦀 e\u{301}";
    let admitted = admitted(text.as_bytes()).unwrap();
    assert_eq!(admitted.text, text);
    assert_eq!(admitted.sha256, Sha256::of(text.as_bytes()));
    assert_eq!(admitted.bytes, text.len() as u64);
    assert_eq!((admitted.source_class, admitted.extractor), (SourceClass::Text, None));
}

#[test]
fn utf16_is_extracted() {
    for (mark, encode) in
        [([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xfe, 0xff], u16::to_be_bytes)]
    {
        let bytes: Vec<u8> = mark.into_iter().chain("größe 🦀".encode_utf16().flat_map(encode)).collect();
        let admitted = admitted(&bytes).unwrap();
        assert_eq!(admitted.text, "größe 🦀");
        assert_eq!((admitted.source_class, admitted.extractor), (SourceClass::Extracted, Some("utf16/1")));
        assert_eq!(admitted.sha256, Sha256::of(&bytes));
    }
    assert!(
        matches!(refusal(b"\xff\xfea"), Refused::Skipped(SkipReason::BadEncoding, _)),
        "half a character"
    );
}

#[test]
fn what_is_no_text_is_ignored_and_what_is_broken_is_named() {
    assert_eq!(refusal(b""), Refused::Ignored(IgnoreReason::Empty));
    assert_eq!(refusal(b"\xef\xbb\xbf \r\n\n"), Refused::Ignored(IgnoreReason::Empty));
    assert_eq!(refusal(b"\x7fELF\0\0"), Refused::Ignored(IgnoreReason::Binary));
    let key = b"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n";
    assert_eq!(refusal(key), Refused::Ignored(IgnoreReason::Secret));
    let latin1 = Refused::Skipped(SkipReason::BadEncoding, "byte 2 is not UTF-8".to_owned());
    assert_eq!(refusal(b"gr\xf6\xdfe"), latin1);
    assert_eq!(refusal(&[b'a'; 1_001]), Refused::Skipped(SkipReason::TooLarge, "1001 bytes".to_owned()));
}

#[test]
fn only_regular_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let made = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    assert!(made.success());
    fs::write(path("file"), "text").unwrap();
    std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    assert_eq!(admit(&path("pipe"), 99), Err(Refused::Ignored(IgnoreReason::NotAFile)));
    assert_eq!(admit(&path("socket"), 99), Err(Refused::Ignored(IgnoreReason::NotAFile)));
    assert_eq!(admit(folder.path(), 99), Err(Refused::Ignored(IgnoreReason::NotAFile)));
    assert_eq!(admit(&path("link"), 99), Err(Refused::Ignored(IgnoreReason::LinkInside)));
    assert_eq!(admit(&path("gone"), 99), Err(Refused::Gone));
}

#[test]
fn words_for_machines_are_the_same_everywhere() {
    for reason in
        [IgnoreReason::Binary, IgnoreReason::LinkOutside, IgnoreReason::NotAFile, IgnoreReason::UnknownKind]
    {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
    }
    for reason in [SkipReason::BadEncoding, SkipReason::TooLarge, SkipReason::Changing] {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
    }
}
