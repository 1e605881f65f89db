//! Whether a daemon serves, and which.
//!
//! Asks `grpc.health.v1` once and starts nothing. Deliberately left out: waiting (`starter`).

use std::time::Duration;

use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::access::NotPermitted;
use crate::line::{self, Absent, Line};
use crate::metadata;
use crate::places::SocketPath;

/// A daemon that serves answers this within microseconds; a hung one must not hang its askers.
const PATIENCE: Duration = Duration::from_secs(2);

/// What listens at a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// A daemon that answers requests.
    Serving {
        /// Its version, where it names one.
        version: Option<String>,
    },
    /// A daemon that starts or drains, or something else.
    NotServing,
    /// Nothing.
    Absent,
}

/// Asks what listens at `socket`. Fails only where this user may not ask.
pub async fn check(socket: &SocketPath) -> Result<Health, NotPermitted> {
    let line = Line::new(socket.clone(), Absent::Fail);
    let mut client = HealthClient::new(line);
    let asked = client.check(HealthCheckRequest { service: String::new() });
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(answer)) if answer.get_ref().status() == ServingStatus::Serving => {
            Ok(Health::Serving { version: metadata::version(answer.metadata()).map(str::to_owned) })
        }
        Ok(Err(status)) => match line::Error::of(&status) {
            Some(line::Error::NotPermitted(refused)) => Err(refused.clone()),
            Some(line::Error::NotRunning { .. }) => Ok(Health::Absent),
            _ => Ok(Health::NotServing),
        },
        Ok(Ok(_)) | Err(_) => Ok(Health::NotServing),
    }
}

/// Whether a daemon at `socket` answers requests.
pub(crate) async fn serves(socket: &SocketPath) -> bool {
    matches!(check(socket).await, Ok(Health::Serving { .. }))
}
