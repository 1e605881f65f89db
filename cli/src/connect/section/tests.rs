//! What `connect` and `disconnect` make of configurations as people have them.

use proptest::prelude::*;

use super::*;

fn entry() -> Entry {
    Entry { command: "/opt/footnote-mcp".into(), args: vec!["stdio".into()] }
}

fn connected(client: Client, before: &str) -> String {
    connect(client, Some(before), &entry()).unwrap().unwrap()
}

/// What is left where no backup helps.
fn disconnected(client: Client, now: &str) -> String {
    match disconnect(client, now, &[]).unwrap().unwrap() {
        Left::Text(text) | Left::Before(text) => text,
        Left::NoFile => panic!("no file is left of {now}"),
    }
}

const JSON: [Client; 4] = [Client::ClaudeCode, Client::ClaudeDesktop, Client::Cursor, Client::VsCode];

/// Configurations with a server in them, `SECTION` for the key.
const WITH_SERVERS: &[&str] = &[
    "{\n  \"SECTION\": {\n    \"git\": {\n      \"command\": \"git-mcp\"\n    }\n  }\n}\n",
    "{\r\n\t// ours\r\n\t\"SECTION\": {\r\n\t\t\"git\": { \"command\": \"x\" }, // why\r\n\t\t// \"old\": {},\r\n\t},\r\n}\r\n",
    "{\"numStartups\":7,\"SECTION\":{\"git\":{\"command\":\"x\",\"args\":[]}},\"tips\":{}}",
    "{ \"SECTION\": { \"git\": { \"url\": \"http://h/?a=1//b\" } } }",
    "{\n    \"SECTION\": {\n        \"git\": {}\n        /* and no comma */ },\n    \"z\": [1, 2.50, -1e9, \"/* \\\" // */\"]\n}",
    "/* head */ {\"SECTION\": {\"a\": 1,\n\"b\": 2}} // tail",
    "{\n\"SECTION\": {\n\"git\": {}\n}\n}\n\n\n",
    "{\"SECTION\": {\n  \"git\": {}, /* one */ // two\n\n}\n}",
];

/// Configurations without a server, where what braces hold is known to the backup only.
const WITHOUT_SERVERS: &[&str] = &[
    "",
    "\n",
    " \r\n",
    "// nothing yet",
    "// nothing yet\n",
    "{}",
    "{ }",
    "{\n}",
    "{}\n",
    "{\r\n\r\n}\r\n",
    "{\n  // soon\n}\n",
    "{\"SECTION\": {}}",
    "{\n  \"SECTION\": { }\n}",
    "{\n  \"SECTION\": {\n  }\n}\n",
    "{ \"a\": 1 }",
    "{\n\t\"a\": 1,\n}",
    "{\n  \"a\": 1 // one\n}\n",
    "{\"a\":1}",
    "{\n  \"SECTION\": {} // none\n}",
    "{\n  \"SECTION\": {\n    // none\n  }\n}",
    "{\"SECTION\": /* none */ {/* none */}}",
];

#[test]
fn what_stands_there_stays_byte_by_byte() {
    for client in JSON {
        let Format::Json { section, .. } = client.row().format else { panic!("not JSON") };
        for before in WITH_SERVERS {
            for mark in ["", "\u{feff}"] {
                let before = format!("{mark}{}", before.replace("SECTION", section));
                let after = connected(client, &before);
                assert_eq!(held(client, &after), Ok(Held::Ours(entry())));
                assert_eq!(disconnected(client, &after), before, "{after}");
            }
        }
    }
}

#[test]
fn the_backup_knows_what_empty_braces_held() {
    for client in JSON {
        let Format::Json { section, .. } = client.row().format else { panic!("not JSON") };
        for before in WITHOUT_SERVERS {
            let before = before.replace("SECTION", section);
            let after = connected(client, &before);
            assert_eq!(held(client, &after), Ok(Held::Ours(entry())));
            let left = disconnect(client, &after, &["other".into(), before.clone()]).unwrap().unwrap();
            assert_eq!(left, Left::Before(before));
        }
    }
}

#[test]
fn a_place_for_servers_that_we_made_goes_with_us_also_after_other_changes() {
    let before = "{\n  \"theme\": \"dark\"\n}\n";
    let now = connected(Client::ClaudeCode, before).replace("dark", "light");
    let left = disconnect(Client::ClaudeCode, &now, &[before.into()]).unwrap().unwrap();
    assert_eq!(left.text().unwrap(), "{\n  \"theme\": \"light\"\n}\n");
    // Without the backup nobody knows whose it was.
    assert_eq!(
        disconnected(Client::ClaudeCode, &now),
        "{\n  \"theme\": \"light\",\n  \"mcpServers\": {}\n}\n"
    );
}

#[test]
fn a_new_configuration_is_pretty() {
    insta::assert_snapshot!(snippet(Client::Cursor, &entry()), @r###"
{
  "mcpServers": {
    "footnote": {
      "type": "stdio",
      "command": "/opt/footnote-mcp",
      "args": ["stdio"]
    }
  }
}
"###);
    insta::assert_snapshot!(snippet(Client::Codex, &entry()), @r###"
[mcp_servers.footnote]
command = "/opt/footnote-mcp"
args = ["stdio"]
"###);
    for client in [Client::VsCode, Client::Codex] {
        assert_eq!(connect(client, None, &entry()), Ok(Some(snippet(client, &entry()))));
        assert_eq!(disconnect(client, &snippet(client, &entry()), &[]), Ok(Some(Left::NoFile)));
    }
}

#[test]
fn an_entry_is_laid_out_like_its_neighbours() {
    let tabs = "{\r\n\t\"servers\": {\r\n\t\t\"git\": {}, // why\r\n\t},\r\n}\r\n";
    assert_eq!(
        connected(Client::VsCode, tabs),
        "{\r\n\t\"servers\": {\r\n\t\t\"git\": {}, // why\r\n\t\t\"footnote\": {\r\n\t\t\t\"type\": \"stdio\",\r\n\
         \t\t\t\"command\": \"/opt/footnote-mcp\",\r\n\t\t\t\"args\": [\"stdio\"]\r\n\t\t},\r\n\t},\r\n}\r\n"
    );
    assert_eq!(
        connected(Client::ClaudeDesktop, r#"{"mcpServers":{"git":{}}}"#),
        r#"{"mcpServers":{"git":{},"footnote":{"command":"/opt/footnote-mcp","args":["stdio"]}}}"#
    );
}

#[test]
fn connecting_again_changes_nothing_and_another_place_changes_the_entry_only() {
    let other = Entry { args: vec!["stdio".into(), "--collection".into(), "notes".into()], ..entry() };
    for client in JSON.into_iter().chain([Client::Codex]) {
        let first = connect(client, None, &entry()).unwrap().unwrap();
        assert_eq!(connect(client, Some(&first), &entry()), Ok(None));
        let second = connect(client, Some(&first), &other).unwrap().unwrap();
        assert_eq!(second, connect(client, None, &other).unwrap().unwrap());
        assert_eq!(disconnect(client, "", &[]), Ok(None));
    }
}

#[test]
fn what_is_unusual_is_left_alone() {
    for (text, expected) in [
        ("[]", "what stands there is not an object"),
        ("null", "what stands there is not an object"),
        ("{", "it cannot be understood"),
        ("{'a': 1}", "it cannot be understood"),
        ("{\"a\": 1} x", "it cannot be understood"),
        ("\u{feff}\u{feff}{}", "it cannot be understood"),
        (r#"{"mcpServers": []}"#, "`mcpServers` is not an object"),
        (r#"{"mcpServers": null}"#, "`mcpServers` is not an object"),
        (r#"{"mcpServers": {}, "mcpServers": {}}"#, "`mcpServers` stands there twice"),
        (r#"{"mcpServers": {"footnote": {}, "footnote": {}}}"#, "`footnote` stands there twice"),
        (r#"{"mcpServers": {"foot\u006eote": 1, "footnote": {}}}"#, "`footnote` stands there twice"),
    ] {
        let error = connect(Client::Cursor, Some(text), &entry()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(disconnect(Client::Cursor, text, &[]).is_err(), "{text}");
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(connect(Client::Cursor, Some(&deep), &entry()), Err(Unusual::Syntax(_))));
    let template = Entry { args: vec!["stdio".into(), "--socket".into(), "/${HOME}/s".into()], ..entry() };
    assert_eq!(connect(Client::VsCode, None, &template), Err(Unusual::Template));
}

#[test]
fn an_entry_made_by_hand_is_left_alone() {
    for by_hand in [
        r#""command": "/opt/footnote-mcp", "args": ["stdio"]"#,
        r#""type": "stdio", "command": "/opt/footnote-mcp", "args": ["stdio"], "env": {}"#,
        r#""type": "stdio", "command": "footnote-mcp", "args": ["stdio"]"#,
        r#""type": "stdio", "command": "/opt/footnote-mcp", "args": ["stdio", 3]"#,
        r#""type": "stdio", "command": "/opt/footnote-mcp", /* mine */ "args": ["stdio"]"#,
        r#""type": "http", "url": "https://search.example.com/mcp""#,
    ] {
        let text = format!(r#"{{"mcpServers": {{"footnote": {{{by_hand}}}}}}}"#);
        assert_eq!(connect(Client::Cursor, Some(&text), &entry()), Err(Unusual::Foreign), "{by_hand}");
        assert_eq!(disconnect(Client::Cursor, &text, &[]), Err(Unusual::Foreign), "{by_hand}");
    }
}

#[test]
fn codex_keeps_its_lines() {
    for before in [
        "",
        "\n",
        "\n\n",
        "# mine\n",
        "model = \"o\"",
        "model = \"o\"\n",
        "model = \"o\"\n\n\n",
        "model = \"o\"\r\n\r\n[mcp_servers.git] # why\r\ncommand = 'x'\r\n",
        "mcp_servers.git.command = \"x\"\n[projects.\"/home/ada\"]\ntrust_level = \"trusted\"\n",
        "text = \"\"\"\n[mcp_servers.footnote]\ncommand = \"/opt/footnote-mcp\"\nargs = [\"stdio\"]\n\"\"\"\n",
        "[mcp_servers]\n[mcp_servers.git]\ncommand = \"x\"\n[[profiles]]\nname = \"a\"\n# end",
    ] {
        for mark in ["", "\u{feff}"] {
            let before = format!("{mark}{before}");
            let after = connected(Client::Codex, &before);
            assert!(after.starts_with(&before), "{after}");
            assert_eq!(held(Client::Codex, &after), Ok(Held::Ours(entry())));
            if !before.trim_start_matches(BOM).is_empty() {
                assert_eq!(disconnected(Client::Codex, &after), before);
            }
            let backups = [before.clone()];
            assert_eq!(disconnect(Client::Codex, &after, &backups), Ok(Some(Left::Before(before))));
        }
    }
    let later = connected(Client::Codex, "model = \"o\"\n") + "\n[tui]\nsound = true\n";
    assert_eq!(disconnected(Client::Codex, &later), "model = \"o\"\n\n[tui]\nsound = true\n");
}

#[test]
fn codex_left_alone() {
    for (text, expected) in [
        ("mcp_servers = {}", "not a table of tables"),
        ("[[mcp_servers]]", "not a table of tables"),
        ("mcp_servers = 1", "not a table of tables"),
        ("a = ", "cannot be understood"),
        ("[a]\n[a]", "cannot be understood"),
        ("mcp_servers.footnote.command = \"/opt/footnote-mcp\"", "made by hand"),
        ("[mcp_servers.footnote]\nurl = \"https://search.example.com/mcp\"", "made by hand"),
        (
            "[mcp_servers.footnote]\ncommand = \"/opt/footnote-mcp\" # mine\nargs = [\"stdio\"]",
            "made by hand",
        ),
        (
            "[mcp_servers.footnote]\ncommand = \"/opt/footnote-mcp\"\nargs = [\"stdio\"]\nenabled = false",
            "made by hand",
        ),
        (
            "[mcp_servers.footnote]\ncommand = \"/opt/footnote-mcp\"\nargs = [\"stdio\"]\n[mcp_servers.footnote.env]\n",
            "made by hand",
        ),
    ] {
        let error = connect(Client::Codex, Some(text), &entry()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
        assert!(disconnect(Client::Codex, text, &[]).is_err(), "{text}");
    }
}

/// White space and comments as they may stand between two tokens.
fn trivia() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => "[ \t]{0,3}", 3 => Just("\n".to_owned()), 1 => Just("\r\n".to_owned()),
        1 => "/\\*[ a,:{}\"]{0,4}\\*/", 1 => "//[ a,:{}\"]{0,4}\n", 1 => "//[ a]{0,2}\r\n",
    ];
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("-1.50e3".to_owned()),
        Just("true".to_owned()),
        "\"[ a-c,:/*{}\\[\\]ü]{0,5}\"",
        Just(r#""\"\\\u00e9""#.to_owned()),
    ]
}

/// An object's text from its members' values, with names of their own, and perhaps a trailing comma.
fn object(values: impl Strategy<Value = String>, least: usize) -> impl Strategy<Value = String> {
    let member = (trivia(), trivia(), trivia(), values, trivia());
    (prop::collection::vec(member, least..4), trivia(), any::<bool>()).prop_map(
        |(members, inner, trailing)| {
            let count = members.len();
            let members = members.into_iter().enumerate().map(|(at, (a, b, c, value, d))| {
                let comma = if at + 1 < count || trailing { "," } else { "" };
                format!("{a}\"k{at}\"{b}:{c}{value}{d}{comma}")
            });
            format!("{{{}{inner}}}", members.collect::<String>())
        },
    )
}

fn value() -> impl Strategy<Value = String> {
    let list = |inner: BoxedStrategy<String>| {
        prop::collection::vec((trivia(), inner, trivia()), 0..3).prop_map(|elements| {
            let elements: Vec<_> =
                elements.into_iter().map(|(a, value, b)| format!("{a}{value}{b}")).collect();
            format!("[{}]", elements.join(","))
        })
    };
    scalar()
        .boxed()
        .prop_recursive(3, 16, 3, move |inner| prop_oneof![object(inner.clone(), 0), list(inner)].boxed())
}

proptest! {
    #[test]
    fn disconnecting_gives_the_bytes_before(
        head in trivia(), servers in object(value(), 1), others in object(value(), 1), tail in trivia(), first: bool,
    ) {
        let named = format!("\"mcpServers\":{servers}");
        let inner = &others[1..others.len() - 1];
        let root = if first { format!("{{{named},{inner}}}") } else { others.replacen("\"k0\"", &format!("{named},\"k0\""), 1) };
        let before = format!("{head}{root}{tail}");
        let after = connected(Client::Cursor, &before);
        prop_assert_eq!(disconnected(Client::Cursor, &after), before);
    }

    #[test]
    fn disconnecting_gives_the_bytes_before_where_there_was_no_place_for_servers(
        head in trivia(), root in object(value(), 1), tail in trivia(),
    ) {
        let before = format!("{head}{root}{tail}");
        let after = connected(Client::ClaudeDesktop, &before);
        let now = format!("{after}\n");
        let left = disconnect(Client::ClaudeDesktop, &now, std::slice::from_ref(&before)).unwrap().unwrap();
        prop_assert_eq!(left, Left::Text(format!("{before}\n")));
        let left = disconnect(Client::ClaudeDesktop, &after, std::slice::from_ref(&before)).unwrap().unwrap();
        prop_assert_eq!(left, Left::Before(before));
    }

    #[test]
    fn nothing_makes_it_panic(text in ".{0,60}", words in "[\\[\\]{}\",:/*a \nmcpServers]{0,60}") {
        for client in JSON.into_iter().chain([Client::Codex]) {
            for text in [&text, &words] {
                drop(connect(client, Some(text), &entry()));
                drop(disconnect(client, text, &[]));
            }
        }
    }
}
