//! `docs/reference.md` is rendered from the contract and the tables. `BLESS=1` rewrites it.

use std::fmt::{Display, Write as _};
use std::path::Path;

use codegen::{Compiled, Contract, Kind as Type, Message, WordList};
use proto::code::{FAILURES, Row};
use proto::field::{At, Kind};
use proto::operations::Method;
use proto::{Exit, Field, OPERATIONS, Operation};

#[test]
fn the_reference_is_current() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = crate_folder.parent().expect("proto lies in the workspace").join("docs/reference.md");
    let compiled = Compiled::open(crate_folder, "footnote/v1/retrieval.proto").expect("it compiles");
    let page = page(&Contract::read(&compiled).expect("the contract is sound"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).expect("writable");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page, "docs/reference.md is stale; run this test with BLESS=1");
}

const OPENING: &str = "\
<!-- Rendered from the contract by proto/tests/reference.rs; BLESS=1 rewrites it. -->
# Reference

Four operations, all of which only read. Every surface offers the same ones under the same names, refuses the same
values with the same words, and answers with the same fields.

In JSON, fields are snake case and enums are words. A request refuses fields that it does not know; an answer may grow.
An answer writes every field, also `0`, `false` and `[]`; an optional one that is unset is absent, never `null`. Dates
and times are RFC 3339. Lengths of text count Unicode scalar values.
";

fn page(contract: &Contract) -> String {
    let mut page = Page(OPENING.to_owned());
    page.line("\n## Operations");
    for (operation, described) in OPERATIONS.iter().zip(&contract.operations) {
        page.operation(operation, &described.answer);
    }
    page.line("\n## Messages");
    let roots: Vec<_> = contract.operations.iter().map(|operation| &operation.answer.name).collect();
    for message in contract.answers().into_iter().filter(|message| !roots.contains(&&message.name)) {
        page.line(format_args!("\n### {}\n\n{}\n", message.name, message.description));
        page.answer_fields(message);
    }
    page.line("\n## Words");
    for list in &contract.words {
        page.words(list);
    }
    page.failures();
    page.exit_codes();
    page.0
}

struct Page(String);

impl Page {
    fn line(&mut self, line: impl Display) {
        // Writing to a string does not fail.
        _ = writeln!(self.0, "{line}");
    }

    fn operation(&mut self, operation: &Operation, answer: &Message) {
        self.line(format_args!("\n### {}\n\n{}\n", operation.name, operation.description));
        self.line(format_args!("- gRPC: `footnote.v1.RetrievalService/{}`", operation.rpc));
        for binding in operation.rest {
            let method = match binding.method {
                Method::Get => "GET",
                Method::Post => "POST",
            };
            self.line(format_args!("- REST: `{method} {}`", binding.path));
        }
        self.line(format_args!("- command line: `footnote {}{}`", operation.command, positional(operation)));
        self.line("\nRequest:\n\n| field | accepts | unset | meaning |\n|---|---|---|---|");
        self.request_fields(At::Request, operation.fields);
        self.line("\nAnswer:\n");
        self.answer_fields(answer);
    }

    fn request_fields(&mut self, at: At<'_>, fields: &[Field]) {
        for field in fields {
            let path = At::Field(&at, field.name);
            self.line(format_args!(
                "| `{path}` | {} | {} | {} |",
                cell(&field.accepts().to_string()),
                unset(field),
                cell(field.description)
            ));
            if let Kind::Object(fields) = field.kind {
                self.request_fields(path, fields);
            }
        }
    }

    fn answer_fields(&mut self, message: &Message) {
        self.line("| field | type | meaning |\n|---|---|---|");
        for field in &message.fields {
            let name = match &field.kind {
                Type::Text => "text".to_owned(),
                Type::Number => "whole number".to_owned(),
                Type::Decimal => "number".to_owned(),
                Type::Switch => "true or false".to_owned(),
                Type::Word(WordList { name, .. }) | Type::Message(Message { name, .. }) => {
                    format!("[{name}](#{})", name.to_lowercase())
                }
            };
            let list = if field.list { "list of " } else { "" };
            let optional = if field.optional { ", optional" } else { "" };
            self.line(format_args!(
                "| `{}` | {list}{name}{optional} | {} |",
                field.name,
                cell(&field.description)
            ));
        }
    }

    fn words(&mut self, list: &WordList) {
        self.line(format_args!(
            "\n### {}\n\n{}\n\n| word | meaning |\n|---|---|",
            list.name, list.description
        ));
        for (word, _, description) in &list.words {
            self.line(format_args!("| `{word}` | {} |", cell(description)));
        }
    }

    fn failures(&mut self) {
        self.line(
            "\n## Failures\n\nThe code is the reason of gRPC's `google.rpc.ErrorInfo` (domain `footnote`), the `code` of a \
             problem in REST, and what decides the exit code of a command. With each goes what to do now.\n\n\
             | code | gRPC | HTTP | exit | it means | at this host | elsewhere |\n|---|---|---|---|---|---|---|",
        );
        for row in FAILURES {
            self.line(format_args!(
                "| `{}` | {} | {} | {} | {} | {} | {} |",
                row.word,
                if over_http_alone(row) { "–".to_owned() } else { status(row.grpc) },
                row.http,
                if over_http_alone(row) { "–".to_owned() } else { row.exit.to_string() },
                cell(row.message),
                cell(row.local),
                cell(row.remote)
            ));
        }
    }

    fn exit_codes(&mut self) {
        self.line(
            "\n## Other exit codes\n\n0 is success, also where nothing was found.\n\n| exit | it means |\n|---|---|",
        );
        for (exit, meaning) in Exit::ALL {
            self.line(format_args!("| {} | {meaning} |", *exit as u8));
        }
    }
}

fn positional(operation: &Operation) -> String {
    let field = operation.fields.iter().find(|field| Some(field.name) == operation.positional);
    match field {
        Some(field) if field.required => format!(" {}", field.name.to_uppercase()),
        Some(field) => format!(" [{}]", field.name.to_uppercase()),
        None => String::new(),
    }
}

fn unset(field: &Field) -> String {
    match (field.required, field.one_of, field.default) {
        (true, ..) => "required".to_owned(),
        (_, Some(_), _) => "one of these".to_owned(),
        (.., Some(default)) => format!("`{default}`"),
        (false, None, None) => String::new(),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace("\n\n", " ")
}

/// Whether neither the socket nor the command line ever says it.
fn over_http_alone(row: &Row) -> bool {
    row.grpc == tonic::Code::Unknown
}

/// `InvalidArgument` → `INVALID_ARGUMENT`.
fn status(code: tonic::Code) -> String {
    let mut name = String::new();
    for character in format!("{code:?}").chars() {
        if character.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(character.to_ascii_uppercase());
    }
    name
}
