//! What both transports serve: the tools, and whom they ask.
//!
//! Introductions and lists are answered from the table of operations alone; only a call goes to the daemon.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proto::client::Client;
use proto::metadata::{Caller, Surface, VERSION};
use proto::{Audience, Code, Failure, Operation};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
    MetaObject, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::caught::caught;
use crate::instructions::INSTRUCTIONS;
use crate::{outcome, tools};

/// How long a client may keep what only another build changes.
const FRESH_MS: u64 = 5 * 60 * 1000;

/// Where a modern result names its server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Whether a method is served in an era, so that one with parameters that make no sense is not called unknown.
fn serves(method: &str, is_modern: bool) -> bool {
    match method {
        "tools/list" | "tools/call" | "server/discover" => true,
        "initialize" | "ping" => !is_modern,
        _ => false,
    }
}

fn unknown_method() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no such method", None)
}

/// The tools. Clones share everything.
#[derive(Clone, Debug)]
pub(crate) struct Gateway(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    client: Client,
    surface: Surface,
    working_directory: Option<PathBuf>,
    collection: Option<String>,
    tools: Vec<Tool>,
    told_version: AtomicBool,
}

impl Gateway {
    /// Tools for one who sits at this host, in `working_directory`. `collection` is asked where a call names none.
    pub(crate) fn local(
        client: Client,
        working_directory: Option<PathBuf>,
        collection: Option<String>,
    ) -> Self {
        Self::new(client, Surface::Stdio, working_directory, collection)
    }

    /// Tools for everyone who comes in by the door.
    pub(crate) fn remote(client: Client, collection: Option<String>) -> Self {
        Self::new(client, Surface::Mcp, None, collection)
    }

    fn new(
        client: Client,
        surface: Surface,
        working_directory: Option<PathBuf>,
        collection: Option<String>,
    ) -> Self {
        let (tools, told_version) = (tools::all(), AtomicBool::new(false));
        Self(Arc::new(Shared { client, surface, working_directory, collection, tools, told_version }))
    }

    fn audience(&self) -> Audience {
        if self.0.surface.is_local() { Audience::Local } else { Audience::Remote }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        caller: &Caller,
    ) -> Result<CallToolResult, ErrorData> {
        let Some(operation) = Operation::named(&request.name) else {
            return Err(ErrorData::invalid_params("no tool has that name: `tools/list` names them", None));
        };
        let mut arguments = Value::Object(request.arguments.unwrap_or_default());
        operation.name_collection(&mut arguments, self.0.collection.as_deref());
        let answered = self.0.client.ask(operation, caller, arguments.clone()).await;
        self.tell_other_version();
        match answered {
            Ok(answer) => Ok(outcome::answered(operation, &arguments, answer)),
            Err(failure) => outcome::failed(&failure, self.audience()),
        }
    }

    fn tell_other_version(&self) {
        if let Some(daemon) = self.0.client.other_version()
            && !self.0.told_version.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(daemon, gateway = VERSION, "versions differ; `footnote up` replaces the daemon");
        }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let visit = context
            .extensions
            .get::<http::request::Parts>()
            .and_then(|request| request.extensions.get::<edge::Visit>());
        let mut caller = match visit {
            Some(visit) => visit.caller(self.0.surface),
            None => Caller::new(self.0.surface),
        };
        caller.working_directory.clone_from(&self.0.working_directory);
        caller.open_paths = self.0.surface.is_local();
        if caller.trace_parent.is_none() {
            caller.trace_parent = context.meta.get("traceparent").and_then(Value::as_str).map(str::to_owned);
        }
        caller
    }
}

/// Whether a result goes to a client that is named its server in each.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

fn implementation() -> Implementation {
    Implementation::new("footnote", VERSION).with_title("Footnote")
}

fn sign(meta: &mut Option<MetaObject>) {
    let implementation = serde_json::json!(implementation());
    meta.get_or_insert_default().0.insert(SERVER_INFO.to_owned(), implementation);
}

impl ServerHandler for Gateway {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation())
            .with_instructions(INSTRUCTIONS)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    /// rmcp's own would remember the version that was asked for in place of the one agreed on.
    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if context.meta.protocol_version().is_some_and(|version| !version.has_initialize()) {
            return Err(unknown_method());
        }
        let agreed = self.negotiate_initialize(&request)?;
        request.protocol_version = agreed.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(agreed)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(FRESH_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("no list has that cursor: there is one page", None));
        }
        let mut list = ListToolsResult::with_all_items(self.0.tools.clone());
        if is_modern(&context) {
            list = list.with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Public);
            sign(&mut list.meta);
        }
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context);
        let fault = || {
            let failure = Failure::new(Code::Internal).of_request(caller.request_id.as_str());
            outcome::internal(&failure, self.audience())
        };
        let mut result = tokio::select! {
            result = caught(self.call(request, &caller), fault) => result?,
            // Dropped, the question is taken back from the daemon. Nobody reads what is answered here.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        if is_modern(&context) {
            sign(&mut result.meta);
        }
        Ok(result.into())
    }

    /// What rmcp could not read as any request it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(if serves(&request.method, is_modern(&context)) {
            ErrorData::invalid_params("the parameters are not those of this method", None)
        } else {
            unknown_method()
        })
    }
}
