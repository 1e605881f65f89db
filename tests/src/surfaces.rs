//! The five ways to ask, each used as a client of its kind uses it, and what they say made comparable.
//!
//! `stats` and `open_path` are taken out of answers; of failures the code, the words and the field stay. What to do
//! next (`action`) is said differently to one who sits here and to one who does not, so it is not compared.

use std::cell::RefCell;
use std::net::SocketAddr;

use proto::field::Kind;
use proto::json::Word as _;
use proto::line::Line;
use proto::operations::Method;
use proto::v1::retrieval_service_client::RetrievalServiceClient;
use proto::v1::{FetchChunkRequest, Filter, IndexStatusRequest, ListCollectionsRequest, Mode, SearchRequest};
use proto::{Failure, Operation, json};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::runtime::Runtime;
use tonic::{Response, Status};

use crate::gateway::Gateway;
use crate::{World, grpc, http, mcp};

/// What a surface says to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The answer.
    Answer(Value),
    /// The failure.
    Refused {
        /// Its word.
        code: String,
        /// What happened.
        message: String,
        /// The field that is refused.
        field: Option<String>,
    },
}

impl Said {
    /// The failure's code, or `answer`.
    pub fn word(&self) -> &str {
        match self {
            Self::Answer(_) => "answer",
            Self::Refused { code, .. } => code,
        }
    }

    fn answer(mut answer: Value) -> Self {
        strip(&mut answer);
        Self::Answer(answer)
    }

    /// A failure as our surfaces write it; REST calls the message `detail`.
    fn refused(failure: &Value) -> Self {
        let text = |name: &str| failure[name].as_str().map(str::to_owned);
        Self::Refused {
            code: text("code").unwrap_or_else(|| panic!("no code: {failure}")),
            message: text("message").or_else(|| text("detail")).unwrap_or_default(),
            field: text("field"),
        }
    }
}

/// Every front of one daemon.
#[derive(Debug)]
pub struct Surfaces<'a> {
    world: &'a World,
    rest: Gateway,
    mcp: Gateway,
    stdio: RefCell<mcp::Stdio>,
    grpc: RetrievalServiceClient<Line>,
    runtime: Runtime,
    said: RefCell<Vec<(&'static str, String)>>,
}

/// A surface's name, and what it says; `None` where it cannot put the question.
pub type Heard = (&'static str, Option<Said>);

impl<'a> Surfaces<'a> {
    /// Opens them all. A daemon has to be there.
    pub fn open(world: &'a World) -> Self {
        let mut stdio = mcp::Stdio::start(world, &[]);
        stdio.ask(&mcp::initialize(0, mcp::LEGACY[3]));
        stdio.send(&mcp::notification("notifications/initialized", &Value::Object(Map::new())));
        Self {
            world,
            rest: world.start_rest(&[]),
            mcp: world.start_mcp(&[]),
            stdio: RefCell::new(stdio),
            grpc: grpc::client(&world.socket()),
            runtime: crate::runtime(),
            said: RefCell::default(),
        }
    }

    /// Where REST listens.
    pub fn rest(&self) -> SocketAddr {
        self.rest.address
    }

    /// Every byte that a surface has said so far, as text.
    pub fn everything_said(&self) -> Vec<(&'static str, String)> {
        self.said.borrow().clone()
    }

    /// Asks every one of them.
    pub fn ask(&self, operation: &Operation, request: &Value) -> Vec<Heard> {
        vec![
            ("grpc", self.over_grpc(operation, request)),
            ("rest", self.over_rest(operation, request)),
            ("mcp stdio", Some(self.over_stdio(operation, request))),
            ("mcp http", Some(self.over_mcp(operation, request))),
            ("cli", self.on_the_command_line(operation, request)),
        ]
    }

    /// As a service does that has the contract's messages and none of our checks.
    fn over_grpc(&self, operation: &Operation, request: &Value) -> Option<Said> {
        let mut client = self.grpc.clone();
        let object = request.as_object()?;
        Some(match operation.name {
            "search" => {
                let message = search(object)?;
                self.heard(self.runtime.block_on(client.search(message)))
            }
            "fetch_chunk" => {
                let message = fetch_chunk(object)?;
                self.heard(self.runtime.block_on(client.fetch_chunk(message)))
            }
            "list_collections" => {
                let message = list_collections(object)?;
                self.heard(self.runtime.block_on(client.list_collections(message)))
            }
            "index_status" => {
                let message = index_status(object)?;
                self.heard(self.runtime.block_on(client.index_status(message)))
            }
            other => panic!("{other} is to be asked over gRPC, too"),
        })
    }

    fn heard<M: Serialize>(&self, answered: Result<Response<M>, Status>) -> Said {
        match answered {
            Ok(response) => {
                let answer = json::answer(response.get_ref()).expect("an answer that is JSON").to_string();
                // Read back as the others are, for reading rounds a number's last digit.
                Said::answer(serde_json::from_str(&answer).expect("JSON"))
            }
            Err(status) => {
                self.keep("grpc", &format!("{status:?} {}", String::from_utf8_lossy(status.details())));
                let failure = Failure::from(status);
                let (code, message) = (failure.code.word().to_owned(), failure.message);
                Said::Refused { code, message, field: failure.field }
            }
        }
    }

    fn keep(&self, surface: &'static str, said: &impl ToString) {
        self.said.borrow_mut().push((surface, said.to_string()));
    }

    /// By every route that can put the question; they have to agree.
    fn over_rest(&self, operation: &Operation, request: &Value) -> Option<Said> {
        let mut all = operation.rest.iter().filter_map(|route| {
            let sent = match route.method {
                Method::Post => http::post(route.path, request),
                Method::Get => http::empty(http::get(&target(route.path, request)?)),
            };
            let answer = http::ask(self.rest.address, sent);
            self.keep("rest", &answer);
            Some(if answer.status.is_success() {
                Said::answer(answer.json())
            } else {
                assert_eq!(answer.header("content-type"), "application/problem+json", "{answer}");
                Said::refused(&answer.json())
            })
        });
        let first = all.next()?;
        for other in all {
            assert_eq!(other, first, "two routes of {} disagree about {request}", operation.name);
        }
        Some(first)
    }

    fn over_stdio(&self, operation: &Operation, request: &Value) -> Said {
        let call = mcp::call(1, operation.name, request);
        let mut stdio = self.stdio.borrow_mut();
        let answer = stdio.ask(&call);
        self.keep("mcp stdio", &format!("{answer}\n{}", stdio.errors()));
        tool(&answer)
    }

    fn over_mcp(&self, operation: &Operation, request: &Value) -> Said {
        let call = mcp::modern(mcp::call(1, operation.name, request));
        let answer = http::ask(self.mcp.address, mcp::post(&call));
        self.keep("mcp http", &answer);
        tool(&answer.json())
    }

    fn on_the_command_line(&self, operation: &Operation, request: &Value) -> Option<Said> {
        let mut arguments = vec![operation.command.to_owned(), "--json".to_owned()];
        arguments.extend(flags(operation, request)?);
        let run = self.world.footnote(&arguments);
        self.keep("cli", &run);
        if run.code == 0 {
            return Some(Said::answer(run.json()));
        }
        let failure: Value =
            serde_json::from_str(&run.stderr).unwrap_or_else(|error| panic!("{error}: {arguments:?} {run}"));
        Some(Said::refused(&failure["error"]))
    }
}

/// A tool's result, or the protocol's error where the fault is ours.
fn tool(answer: &Value) -> Said {
    let result = &answer["result"];
    if result["isError"] == true {
        return Said::refused(&result["_meta"]["footnote/failure"]);
    }
    match result.get("structuredContent") {
        Some(structured) => Said::answer(structured.clone()),
        None => Said::refused(&answer["error"]["data"]),
    }
}

/// Takes out what two equal questions may be told differently.
fn strip(answer: &mut Value) {
    match answer {
        Value::Object(fields) => {
            fields.remove("stats");
            fields.remove("open_path");
            fields.remove("action");
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The target of a `GET`; `None` where path and query cannot say it.
fn target(path: &str, request: &Value) -> Option<String> {
    let mut fields: Vec<(&String, String)> = request
        .as_object()?
        .iter()
        .map(|(name, value)| Some((name, escaped(&scalar(value)?))))
        .collect::<Option<_>>()?;
    let mut target = path.to_owned();
    while let Some(start) = target.find('{') {
        let end = start + target[start..].find('}')?;
        let at = fields.iter().position(|(name, _)| **name == target[start + 1..end])?;
        let (_, value) = fields.remove(at);
        if value.is_empty() {
            return None;
        }
        target.replace_range(start..=end, &value);
    }
    let query: Vec<String> =
        fields.into_iter().map(|(name, value)| format!("{}={value}", escaped(name))).collect();
    Some(if query.is_empty() { target } else { format!("{target}?{}", query.join("&")) })
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// The arguments of a command; `None` where it has no way to say it.
fn flags(operation: &Operation, request: &Value) -> Option<Vec<String>> {
    let request = request.as_object()?;
    let mut arguments = Vec::new();
    let mut words = None;
    for (name, value) in request {
        let field = operation.fields.iter().find(|field| field.name == name)?;
        let flag = format!("--{}", name.replace('_', "-"));
        match value {
            Value::String(text) if text.contains('\0') => return None,
            Value::String(text) if field.required && operation.positional == Some(field.name) => {
                // `-` would be standard input.
                words = (text != "-").then(|| text.clone());
                words.as_ref()?;
            }
            Value::Bool(on) if field.default == Some("true") => {
                if !on {
                    arguments.push(format!("--no-{}", name.replace('_', "-")));
                }
            }
            Value::Bool(on) => {
                if *on {
                    arguments.push(flag);
                }
            }
            Value::Object(within) if name == "filter" => arguments.extend(filter_flags(within)?),
            // A switch is given or not, and an object has flags of its own.
            _ if matches!(field.kind, Kind::Switch | Kind::Object(_)) => return None,
            // clap takes no empty value.
            Value::String(text) if text.is_empty() => return None,
            Value::String(_) | Value::Number(_) => arguments.push(format!("{flag}={}", scalar(value)?)),
            Value::Object(_) | Value::Array(_) | Value::Null => return None,
        }
    }
    if operation.fields.iter().any(|field| field.required && operation.positional == Some(field.name)) {
        arguments.push("--".to_owned());
        arguments.push(words?);
    }
    Some(arguments)
}

fn filter_flags(filter: &Map<String, Value>) -> Option<Vec<String>> {
    let mut arguments = Vec::new();
    for (name, value) in filter {
        let flag = match name.as_str() {
            "paths" => "--path",
            "tags_any" => "--tag",
            "tags_all" => "--all-tags",
            "from" => "--since",
            "until" => "--until",
            _ => return None,
        };
        // What is typed is always text, and a list's item is always given alone.
        let values = match (flag, value) {
            ("--since" | "--until", other) => vec![scalar(other)?],
            (_, Value::Array(items)) => {
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()?
            }
            _ => return None,
        };
        if values.is_empty() || values.iter().any(|text| text.is_empty() || text.contains('\0')) {
            return None;
        }
        arguments.extend(values.into_iter().map(|text| format!("{flag}={text}")));
    }
    (!arguments.is_empty()).then_some(arguments)
}

/// A message, where its fields can hold what is asked.
fn search(request: &Map<String, Value>) -> Option<SearchRequest> {
    let mut message = SearchRequest::default();
    for (name, value) in request {
        match name.as_str() {
            "query" => value.as_str()?.clone_into(&mut message.query),
            "collection" => message.collection = Some(value.as_str()?.to_owned()),
            "top_k" => message.top_k = Some(json::whole_number(value)?),
            "mode" => message.mode = Some(Mode::from_word(value.as_str()?)?.into()),
            "max_bytes" => message.max_bytes = Some(json::whole_number(value)?),
            "verify" => message.verify = Some(value.as_bool()?),
            "filter" => message.filter = Some(filter(value.as_object()?)?),
            "neighbors" => message.neighbors = Some(json::whole_number(value)?),
            "section" => message.section = Some(value.as_bool()?),
            "rerank" => message.rerank = Some(value.as_bool()?),
            "explain" => message.explain = Some(value.as_bool()?),
            _ => return None,
        }
    }
    Some(message)
}

fn filter(request: &Map<String, Value>) -> Option<Filter> {
    let texts = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let mut message = Filter::default();
    for (name, value) in request {
        match name.as_str() {
            "paths" => message.paths = texts(value)?,
            "tags_any" => message.tags_any = texts(value)?,
            "tags_all" => message.tags_all = texts(value)?,
            "from" => message.from = Some(value.as_str()?.to_owned()),
            "until" => message.until = Some(value.as_str()?.to_owned()),
            _ => return None,
        }
    }
    Some(message)
}

fn fetch_chunk(request: &Map<String, Value>) -> Option<FetchChunkRequest> {
    let mut message = FetchChunkRequest::default();
    for (name, value) in request {
        match name.as_str() {
            "chunk_id" => message.chunk_id = Some(value.as_str()?.to_owned()),
            "footnote" => message.footnote = Some(value.as_str()?.to_owned()),
            "neighbors" => message.neighbors = Some(json::whole_number(value)?),
            "collection" => message.collection = Some(value.as_str()?.to_owned()),
            _ => return None,
        }
    }
    Some(message)
}

fn list_collections(request: &Map<String, Value>) -> Option<ListCollectionsRequest> {
    let mut message = ListCollectionsRequest::default();
    for (name, value) in request {
        match name.as_str() {
            "page_size" => message.page_size = Some(json::whole_number(value)?),
            "page_token" => message.page_token = Some(value.as_str()?.to_owned()),
            _ => return None,
        }
    }
    Some(message)
}

fn index_status(request: &Map<String, Value>) -> Option<IndexStatusRequest> {
    let mut message = IndexStatusRequest::default();
    for (name, value) in request {
        match name.as_str() {
            "collection" => message.collection = Some(value.as_str()?.to_owned()),
            _ => return None,
        }
    }
    Some(message)
}
