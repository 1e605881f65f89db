//! `up` and `down`.

use proto::health::{self, Health};
use proto::metadata::VERSION;
use proto::places::SocketPath;
use proto::settings::Surroundings;
use proto::starter::{Started, Starter};
use proto::stopper::{self, Stopped};
use proto::{Code, Failure};
use serde_json::{Value, json};

use crate::args::Typed;
use crate::run::Ended;
use crate::{ask, fault, print};

/// Makes sure that a daemon of this version serves.
pub(crate) async fn up(typed: &Typed, surroundings: &Surroundings) -> Result<Ended, Failure> {
    let (starter, socket) = starter(typed, surroundings)?;
    let replaced = replace(&socket).await?;
    let outcome = starter.start().await.map_err(|error| fault::start(&error))?;
    let path = socket.as_path().display().to_string();
    let (word, words) = match (&replaced, outcome) {
        (Some(version), _) => ("replaced", format!("replaced version {version} by {VERSION}")),
        (None, Started::Now) => ("started", "started".to_owned()),
        (None, Started::Before) => ("runs", "runs already".to_owned()),
    };
    say(
        typed,
        &format!("the daemon {words}, and serves at {path}"),
        &json!({ "daemon": word, "socket": path, "version": VERSION }),
    )
}

/// Stops a daemon of another version, and says which that was.
async fn replace(socket: &SocketPath) -> Result<Option<String>, Failure> {
    match health::check(socket).await {
        Ok(Health::Serving { version }) if version.as_deref() != Some(VERSION) => {
            stopper::stop(socket).await.map_err(|error| fault::stop(&error))?;
            Ok(Some(version.unwrap_or_else(|| "unknown".to_owned())))
        }
        Ok(Health::Serving { .. } | Health::NotServing | Health::Absent) => Ok(None),
        Err(refused) => Err(Failure::new(Code::PermissionDenied)
            .advise(refused.remedy(), Code::PermissionDenied.row().remote)),
    }
}

/// Makes sure that no daemon serves.
pub(crate) async fn down(typed: &Typed, surroundings: &Surroundings) -> Result<Ended, Failure> {
    let (_, socket) = starter(typed, surroundings)?;
    match stopper::stop(&socket).await.map_err(|error| fault::stop(&error))? {
        Stopped::Now(pid) => say(
            typed,
            &format!("the daemon has stopped (process {pid})"),
            &json!({ "daemon": "stopped", "pid": pid }),
        ),
        Stopped::Before => say(typed, "no daemon was running", &json!({ "daemon": "absent" })),
    }
}

/// The starter of the daemon that is meant, and its socket.
pub(crate) fn starter(typed: &Typed, surroundings: &Surroundings) -> Result<(Starter, SocketPath), Failure> {
    let refused = |error| fault::settings(&error);
    let stores = typed.stores.clone().settle(surroundings).map_err(refused)?;
    let socket = typed.socket.clone().settle(&stores, surroundings).map_err(refused)?;
    Ok((Starter::new(stores, socket.clone(), &surroundings.base), socket))
}

fn say(typed: &Typed, words: &str, answer: &Value) -> Result<Ended, Failure> {
    let text = if typed.json { ask::json(answer) } else { format!("{words}\n") };
    print::answer(&text).map_err(|error| fault::system("print the answer", &error))?;
    Ok(Ended::Well)
}
