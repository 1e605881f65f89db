//! The clients that can be connected, a row each: what they are called and where their configuration lies.
//!
//! Deliberately left out: what is in it (`json`, `toml`), and whether it is there (`file`).

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use proto::places::BaseDirs;
use proto::{Code, Failure};

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Claude Code
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    #[value(name = "vscode")]
    VsCode,
    /// Codex: its command line, its editor extension and its app
    Codex,
}

/// What differs from client to client.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, as its makers write it.
    pub title: &'static str,
    /// How its configuration is written.
    pub format: Format,
    /// Where it lies within a project; nowhere where the client knows of no projects.
    pub project_file: Option<&'static str>,
    /// What makes a change take effect.
    pub refresh: &'static str,
}

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, or JSON with comments.
    Json {
        /// The key that holds the servers.
        section: &'static str,
        /// Whether an entry says how it is spoken to.
        transport: Transport,
    },
    /// TOML, a table `mcp_servers.NAME` for each server.
    Toml,
}

/// Whether an entry says how it is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// `"type": "stdio"` stands in it.
    Said,
    /// Nothing does: what has a command is spoken to over its standard streams.
    Unsaid,
}

/// Whose configuration is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user's, for everything that they open.
    User,
    /// A project's, in this folder.
    Project(PathBuf),
}

const SAID: Format = Format::Json { section: "mcpServers", transport: Transport::Said };

impl Client {
    /// Its row.
    pub fn row(self) -> Row {
        match self {
            Self::ClaudeCode => Row {
                title: "Claude Code",
                format: SAID,
                project_file: Some(".mcp.json"),
                refresh: "start a new session",
            },
            Self::ClaudeDesktop => Row {
                title: "Claude Desktop",
                format: Format::Json { section: "mcpServers", transport: Transport::Unsaid },
                project_file: None,
                refresh: "quit it and start it again",
            },
            Self::Cursor => Row {
                title: "Cursor",
                format: SAID,
                project_file: Some(".cursor/mcp.json"),
                refresh: "switch it on under Settings, MCP",
            },
            Self::VsCode => Row {
                title: "VS Code",
                format: Format::Json { section: "servers", transport: Transport::Said },
                project_file: Some(".vscode/mcp.json"),
                refresh: "start it with the command `MCP: List Servers`",
            },
            Self::Codex => Row {
                title: "Codex",
                format: Format::Toml,
                project_file: Some(".codex/config.toml"),
                refresh: "start a new session",
            },
        }
    }

    /// Where its configuration lies, whether or not it is there yet.
    pub fn configuration(self, scope: &Scope, base: &BaseDirs) -> Result<PathBuf, Failure> {
        match scope {
            Scope::User => self.of_user(base, |name| env::var_os(name)).ok_or_else(no_home),
            Scope::Project(folder) => match self.row().project_file {
                Some(file) => Ok(folder.join(file)),
                None => Err(no_projects(self)),
            },
        }
    }

    fn of_user(self, base: &BaseDirs, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = base.home.as_deref();
        Some(match self {
            Self::ClaudeCode => {
                set("CLAUDE_CONFIG_DIR").or_else(|| home.map(Path::to_owned))?.join(".claude.json")
            }
            Self::ClaudeDesktop => applications(base)?.join("Claude/claude_desktop_config.json"),
            Self::Cursor => home?.join(".cursor/mcp.json"),
            Self::VsCode => applications(base)?.join("Code/User/mcp.json"),
            Self::Codex => set("CODEX_HOME").or_else(|| Some(home?.join(".codex")))?.join("config.toml"),
        })
    }
}

/// Where desktop applications keep their settings.
fn applications(base: &BaseDirs) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        Some(base.home.as_ref()?.join("Library/Application Support"))
    } else {
        base.config.parent().map(Path::to_owned)
    }
}

fn no_home() -> Failure {
    Failure::with_message(
        Code::InvalidArgument,
        "there is no home directory to look for its configuration in",
    )
    .advise("set HOME and try again", Code::InvalidArgument.row().remote)
}

fn no_projects(client: Client) -> Failure {
    let title = client.row().title;
    Failure::with_message(Code::InvalidArgument, format!("{title} has no configuration of a project"))
        .advise("leave out `--project`", Code::InvalidArgument.row().remote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_user(client: Client, variables: &[(&str, &str)]) -> PathBuf {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        let base = BaseDirs::look_up(variable, Some("/home/ada".into())).unwrap();
        client.of_user(&base, variable).unwrap()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn each_client_has_its_place() {
        for (client, expected) in [
            (Client::ClaudeCode, "/home/ada/.claude.json"),
            (Client::ClaudeDesktop, "/home/ada/.config/Claude/claude_desktop_config.json"),
            (Client::Cursor, "/home/ada/.cursor/mcp.json"),
            (Client::VsCode, "/home/ada/.config/Code/User/mcp.json"),
            (Client::Codex, "/home/ada/.codex/config.toml"),
        ] {
            assert_eq!(of_user(client, &[]), Path::new(expected));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_client_that_was_moved_is_found() {
        let moved = [
            ("CLAUDE_CONFIG_DIR", "/c/claude"),
            ("CODEX_HOME", "/c/codex"),
            ("XDG_CONFIG_HOME", "/c/config"),
        ];
        assert_eq!(of_user(Client::ClaudeCode, &moved), Path::new("/c/claude/.claude.json"));
        assert_eq!(of_user(Client::Codex, &moved), Path::new("/c/codex/config.toml"));
        assert_eq!(of_user(Client::VsCode, &moved), Path::new("/c/config/Code/User/mcp.json"));
    }
}
