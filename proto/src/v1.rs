//! The messages of `footnote.v1`, its client and its server, generated from `proto/footnote/v1/`.
#![expect(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::default_trait_access,
    clippy::doc_markdown,
    clippy::too_many_lines,
    unused_qualifications,
    reason = "as prost and tonic write it"
)]

include!("generated/messages.rs");
include!("generated/requests.rs");

/// The encoded descriptor set of the contract and all it imports, for server reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("generated/descriptors.bin");
