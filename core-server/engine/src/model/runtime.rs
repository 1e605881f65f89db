//! ONNX Runtime's shared library, opened from the model store and from nowhere else.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::error::{Error, Result};

/// The runtime's folder within the model store.
pub const FOLDER: &str = "runtime";

/// The runtime's shared library in the store at `dir`, the newest where there are several.
pub(super) fn library(dir: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(dir.join(FOLDER)).ok()?;
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("libonnxruntime.") && (name.contains(".so") || name.contains(".dylib"))
    };
    entries.flatten().map(|entry| entry.path()).filter(is_library).max()
}

/// What the runtime reads before it starts. Without it the runtime makes a device id in the user's cache folder and
/// uploads events, whatever its interface is told later (`Privacy.md` of its wheel).
const NO_TELEMETRY: &str = "ORT_DISABLE_TELEMETRY";

/// Forbids the runtime's telemetry for this process. The first statement of a `main` that may run a model: without it,
/// or where threads run already, no model is loaded.
#[expect(
    unsafe_code,
    clippy::disallowed_methods,
    reason = "the runtime takes this from the environment only"
)]
pub fn forbid_telemetry() {
    let alone = fs::read_dir("/proc/self/task").map_or(true, |threads| threads.count() == 1);
    if alone {
        // SAFETY: no other thread exists that could read the environment meanwhile.
        unsafe { std::env::set_var(NO_TELEMETRY, "1") };
    }
}

/// The process's one environment. The first call opens the library, which stays open: a later store's runtime is
/// not looked at. What fails may be tried again.
pub(super) fn environment(dir: &Path) -> Result<Environment> {
    // The environment has to outlive every session, and the runtime allows one per process.
    static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

    let mut environment = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*environment {
        return Ok(environment.clone());
    }
    let library = library(dir).ok_or(Error::RuntimeNotInstalled)?;
    if std::env::var_os(NO_TELEMETRY).is_none_or(|value| value != "1") {
        return Err(Error::TelemetryNotForbidden { variable: NO_TELEMETRY });
    }
    let failed = |doing| {
        move |source: Box<dyn std::error::Error + Send + Sync>| Error::Model {
            name: "onnxruntime".to_owned(),
            doing,
            source,
        }
    };
    let built = ort::init_from(&library)
        .map_err(|error| failed("opening its library")(Box::new(error)))?
        .with_name("footnote")
        .with_telemetry(false)
        .with_logger(Arc::new(log))
        .build()
        .map_err(|error| failed("starting")(Box::new(error)))?;
    built.set_log_level(LogLevel::Warning);
    *environment = Some(built.clone());
    Ok(built)
}

/// Takes what the runtime would print. Its warnings are for those who build graphs, not for operators.
fn log(level: LogLevel, category: &str, _id: &str, _place: &str, message: &str) {
    match level {
        LogLevel::Fatal | LogLevel::Error => tracing::error!(category, message, "onnxruntime"),
        LogLevel::Warning | LogLevel::Info | LogLevel::Verbose => {
            tracing::debug!(category, message, "onnxruntime");
        }
    }
}
