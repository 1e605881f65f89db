//! How a file is to be read, told by its name.
//!
//! Deliberately left out: looking into the file. What a name promises and the bytes do not hold is found in `admit`.

/// How a file's text is structured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Markdown: headings, fences, tables, lists, front matter.
    Markdown,
    /// Prose without markup that this program knows: paragraphs and lines.
    Plain,
    /// Source code and configuration: blank lines and indentation.
    Code,
}

const MARKDOWN: &[&str] = &["md", "markdown", "mdown", "mkd", "mkdn", "mdx", "mdwn", "qmd", "rmd"];

const PLAIN: &[&str] = &[
    "txt",
    "text",
    "rst",
    "adoc",
    "asciidoc",
    "asc",
    "org",
    "tex",
    "textile",
    "wiki",
    "mediawiki",
    "pod",
    "log",
    "srt",
    "vtt",
    "me",
];

const CODE: &[&str] = &[
    // Systems.
    "rs",
    "c",
    "h",
    "cc",
    "cpp",
    "cxx",
    "c++",
    "hh",
    "hpp",
    "hxx",
    "inl",
    "m",
    "mm",
    "zig",
    "d",
    "go",
    "swift",
    "nim",
    "v",
    "odin",
    "s",
    "asm",
    "ada",
    "adb",
    "ads",
    "f",
    "f77",
    "f90",
    "f95",
    "f03",
    "for",
    "cob",
    "cbl",
    "pas",
    "pp",
    // Managed and functional.
    "java",
    "kt",
    "kts",
    "scala",
    "sc",
    "groovy",
    "gradle",
    "clj",
    "cljs",
    "cljc",
    "edn",
    "cs",
    "csx",
    "fs",
    "fsi",
    "fsx",
    "vb",
    "hs",
    "lhs",
    "ml",
    "mli",
    "elm",
    "purs",
    "erl",
    "hrl",
    "ex",
    "exs",
    "gleam",
    "lisp",
    "lsp",
    "cl",
    "el",
    "scm",
    "ss",
    "rkt",
    "fnl",
    "agda",
    "idr",
    "lean",
    "dart",
    "hx",
    "cr",
    // Scripts.
    "py",
    "pyi",
    "pyx",
    "pxd",
    "rb",
    "rake",
    "gemspec",
    "pl",
    "pm",
    "t",
    "raku",
    "php",
    "lua",
    "luau",
    "tcl",
    "r",
    "jl",
    "awk",
    "sed",
    "vim",
    "sh",
    "bash",
    "zsh",
    "fish",
    "ksh",
    "csh",
    "ps1",
    "psm1",
    "psd1",
    "bat",
    "cmd",
    "nu",
    "ahk",
    "applescript",
    "gd",
    "sol",
    "move",
    "cairo",
    // The web.
    "js",
    "mjs",
    "cjs",
    "jsx",
    "ts",
    "mts",
    "cts",
    "tsx",
    "vue",
    "svelte",
    "astro",
    "coffee",
    "css",
    "scss",
    "sass",
    "less",
    "styl",
    "pug",
    "graphql",
    "gql",
    "wat",
    // Data and hardware definitions, queries, builds.
    "proto",
    "thrift",
    "avdl",
    "capnp",
    "fbs",
    "sql",
    "psql",
    "prql",
    "cypher",
    "sparql",
    "vhd",
    "vhdl",
    "sv",
    "svh",
    "cu",
    "cuh",
    "cl",
    "glsl",
    "hlsl",
    "wgsl",
    "metal",
    "vert",
    "frag",
    "comp",
    "cmake",
    "mk",
    "mak",
    "ninja",
    "bzl",
    "bazel",
    "star",
    "nix",
    "dhall",
    "jsonnet",
    "libsonnet",
    "cue",
    "rego",
    "hcl",
    "tf",
    "tfvars",
    "bicep",
    "pp",
    "puppet",
    "j2",
    "jinja",
    "jinja2",
    "tmpl",
    "tpl",
    "mustache",
    "hbs",
    "erb",
    "ejs",
    // Configuration.
    "toml",
    "yaml",
    "yml",
    "ini",
    "cfg",
    "conf",
    "cnf",
    "properties",
    "service",
    "socket",
    "timer",
    "mount",
    "target",
    "desktop",
    "editorconfig",
    "dockerfile",
    "containerfile",
    "justfile",
    "patch",
    "diff",
];

/// Whole names, in lower case, that have no extension or whose extension says nothing.
const NAMES: &[(&str, Kind)] = &[
    ("readme", Kind::Plain),
    ("license", Kind::Plain),
    ("licence", Kind::Plain),
    ("copying", Kind::Plain),
    ("notice", Kind::Plain),
    ("authors", Kind::Plain),
    ("contributors", Kind::Plain),
    ("maintainers", Kind::Plain),
    ("changelog", Kind::Plain),
    ("changes", Kind::Plain),
    ("history", Kind::Plain),
    ("news", Kind::Plain),
    ("todo", Kind::Plain),
    ("install", Kind::Plain),
    ("contributing", Kind::Plain),
    ("codeowners", Kind::Code),
    ("makefile", Kind::Code),
    ("gnumakefile", Kind::Code),
    ("dockerfile", Kind::Code),
    ("containerfile", Kind::Code),
    ("caddyfile", Kind::Code),
    ("justfile", Kind::Code),
    ("rakefile", Kind::Code),
    ("gemfile", Kind::Code),
    ("vagrantfile", Kind::Code),
    ("procfile", Kind::Code),
    ("jenkinsfile", Kind::Code),
    ("brewfile", Kind::Code),
    ("meson.build", Kind::Code),
    ("build", Kind::Code),
    ("workspace", Kind::Code),
    ("go.mod", Kind::Code),
    ("go.work", Kind::Code),
    ("kconfig", Kind::Code),
    ("kbuild", Kind::Code),
];

/// Whole names, in lower case, of files that a program writes for itself: of a known kind, but nobody's words.
const GENERATED: &[&str] = &[
    "cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "composer.lock",
    "gemfile.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "pipfile.lock",
    "flake.lock",
    "go.sum",
    "mix.lock",
    "pubspec.lock",
    "podfile.lock",
];

impl Kind {
    /// The kind of the file that `source` names; `None` where the name says nothing that this program knows.
    pub fn of(source: &str) -> Option<Self> {
        let name = file_name(source).to_lowercase();
        if let Some((_, kind)) = NAMES.iter().find(|(known, _)| *known == name) {
            return Some(*kind);
        }
        let (_, extension) = name.rsplit_once('.')?;
        if MARKDOWN.contains(&extension) {
            Some(Self::Markdown)
        } else if PLAIN.contains(&extension) {
            Some(Self::Plain)
        } else if CODE.contains(&extension) {
            Some(Self::Code)
        } else {
            None
        }
    }
}

/// Whether the file that `source` names is known to be written by a program for itself: lock files, minified scripts.
pub fn is_generated(source: &str) -> bool {
    let name = file_name(source).to_lowercase();
    GENERATED.contains(&name.as_str())
        || [".min.js", ".min.css", ".min.mjs", ".bundle.js"].iter().any(|end| name.ends_with(end))
}

fn file_name(source: &str) -> &str {
    source.rsplit('/').next().unwrap_or(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_kind() {
        for (source, kind) in [
            ("README.md", Some(Kind::Markdown)),
            ("docs/GUIDE.MD", Some(Kind::Markdown)),
            ("notes.txt", Some(Kind::Plain)),
            ("LICENSE", Some(Kind::Plain)),
            ("src/main.rs", Some(Kind::Code)),
            ("Makefile", Some(Kind::Code)),
            ("a.b/c", None),
            ("image.png", None),
            ("md", None),
        ] {
            assert_eq!(Kind::of(source), kind, "{source}");
        }
        assert!(is_generated("web/app.min.js"));
        assert!(is_generated("Cargo.lock"));
        assert!(!is_generated("src/lock.rs"));
    }
}
