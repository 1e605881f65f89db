//! Looks at bytes: are they text, and is it one that should stay where it is.

/// How many bytes at the beginning are looked at to tell text from other things.
const BEGINNING: usize = 8 * 1024;

/// One control character in this many bytes is still text: terminals' colours in logs, form feeds in old sources.
const CONTROLS: usize = 10;

/// Whether `bytes` are no text: a NUL anywhere, or too many control characters at the beginning.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    let controls = beginning.iter().filter(|byte| is_control(**byte)).count();
    memchr::memchr(0, bytes).is_some() || controls * CONTROLS > beginning.len()
}

fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b) || byte == 0x7f
}

/// Whether `text` holds a private key in one of the armours that they are kept in. One that is quoted within other words
/// on its line is no key; neither is a first line without what should follow it.
pub(super) fn is_secret(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), b"-----BEGIN ").any(|at| {
        let rest = &text[at..];
        let begins_line =
            text[..at].ends_with(['\n', '\r', '\u{feff}', '"', '\'', '`', ' ', '\t', '|', '>']) || at == 0;
        let Some((label, behind)) = rest["-----BEGIN ".len()..].split_once("-----") else { return false };
        let is_key = matches!(
            label,
            "PRIVATE KEY"
                | "ENCRYPTED PRIVATE KEY"
                | "RSA PRIVATE KEY"
                | "DSA PRIVATE KEY"
                | "EC PRIVATE KEY"
                | "OPENSSH PRIVATE KEY"
                | "SSH2 ENCRYPTED PRIVATE KEY"
                | "PGP PRIVATE KEY BLOCK"
        );
        begins_line && is_key && holds_key(behind)
    })
}

/// Whether something like base64 of some length follows: documentation that only names the armour stays.
fn holds_key(behind: &str) -> bool {
    let body = behind.split("-----END ").next().unwrap_or_default();
    let lines = body
        .split(['\n', '\r'])
        .map(|line| line.trim_matches([' ', '\t', '"', '\'', '\\', '|', '>', '+', ',']));
    let escaped = |line: &str| line.split("\\n").map(str::len).max().unwrap_or_default() >= 32;
    let base64 = |line: &str| {
        line.len() >= 32
            && line
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\'))
            && escaped(line)
    };
    lines.take(40).any(base64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_apart() {
        for text in
            ["", "plain\r\n", "größe 数据 🦀", "\u{feff}with a mark", "\x1b[31mred\x1b[0m text in a log"]
        {
            assert!(!is_binary(text.as_bytes()), "{text:?}");
        }
        for bytes in [&b"\xff\xfe\0\0a\0\0\0"[..], b"text with a \0 in it", b"\x01\x02\x03\x04abc"] {
            assert!(is_binary(bytes), "{bytes:?}");
        }
    }

    #[test]
    fn private_keys_are_found_and_talk_of_them_is_not() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        for label in [
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "EC PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
        ] {
            let key = format!("-----BEGIN {label}-----\n{body}\n{body}\n-----END {label}-----\n");
            assert!(is_secret(&key), "{label}");
            assert!(
                is_secret(&format!("notes\r\n\r\n    {}", key.replace('\n', "\r\n    "))),
                "{label} indented"
            );
            assert!(is_secret(&format!("key = \"{}\"", key.replace('\n', "\\n"))), "{label} escaped");
        }
        let pgp = format!(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----\n"
        );
        assert!(is_secret(&pgp));
        for text in [
            "A file that begins with `-----BEGIN PRIVATE KEY-----` is ignored.",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
            "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n",
            "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n",
            "-----BEGIN ",
        ] {
            assert!(!is_secret(text), "{text}");
        }
    }
}
