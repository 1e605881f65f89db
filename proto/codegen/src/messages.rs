//! Messages, client and server: what prost and tonic write, with serde on answers.
//!
//! Requests get no serde: reading them is generated beside their checks, so that a refusal names its field.

use prost_build::Module;

use crate::contract::{Contract, Field, Kind};
use crate::{Compiled, Error, Result};

/// Writes the messages of the service's file; those of imported files are options and stay out.
pub(crate) fn write(compiled: &Compiled, contract: &Contract) -> Result<String> {
    let mut config = prost_build::Config::new();
    config.service_generator(tonic_prost_build::configure().service_generator());
    for message in contract.answers() {
        let path = format!(".footnote.v1.{}", message.name);
        config.message_attribute(&path, "#[derive(serde::Serialize, serde::Deserialize)]");
        for field in &message.fields {
            for attribute in attributes(field) {
                config.field_attribute(format!("{path}.{}", field.name), format!("#[serde({attribute})]"));
            }
        }
    }
    let module = Module::from_protobuf_package_name("footnote.v1");
    let requests = compiled
        .pool
        .file_descriptor_protos()
        .filter(|file| file.name() == compiled.file)
        .map(|file| (module.clone(), file.clone()))
        .collect();
    let mut modules = config.generate(requests).map_err(Error::WriteMessages)?;
    Ok(modules.remove(&module).unwrap_or_default())
}

/// How serde writes and reads a field. Every field without presence is written, also 0, false and []; an unset
/// optional is left out, never null. A field that is absent is read as unset: answers may come from another
/// version.
fn attributes(field: &Field) -> Vec<String> {
    let mut attributes = vec!["default".to_owned()];
    let may_be_absent = field.optional || (matches!(field.kind, Kind::Message(_)) && !field.list);
    if may_be_absent {
        attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
    }
    let module = match (field.list, field.optional) {
        (true, _) => "list",
        (false, true) => "optional",
        (false, false) => "one",
    };
    match &field.kind {
        Kind::Word(words) => {
            let name = &words.name;
            attributes.push(format!("serialize_with = \"crate::json::word::{module}::write::<{name}, _>\""));
            attributes.push(format!("deserialize_with = \"crate::json::word::{module}::read::<{name}, _>\""));
        }
        Kind::Decimal => {
            attributes.push(format!("serialize_with = \"crate::json::decimal::{module}\""));
        }
        Kind::Text | Kind::Number | Kind::Switch | Kind::Message(_) => {}
    }
    attributes
}
