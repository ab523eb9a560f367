//! The tables of a manifest as they stand in TOML.
//!
//! The one source of what a manifest may say: it is read through these types, and their comments are
//! the JSON schema, `docs/manifest.md` and `coalesce help manifest`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{NameKind, VerifyTable};
use crate::{Allowed, ShimStyle, Uses};

/// An example of each table, and of what stands above the first one.
pub const EXAMPLES: &[(&str, &str)] = &[
    (
        "",
        "schema = 1\ndescription = \"one home for the GPU code\"\n",
    ),
    (
        "shims",
        "[shims]\nsince = \"3.0.0\"\nremove-in = \"4.0.0\"\nkeep-uses = [\"tests/test_old_names.py\"]\n",
    ),
    (
        "move",
        "[[move]]\nfrom = \"pkg.gpu_utils\"\nto = \"pkg.core.gpu\"\nshim = true\n\
         rename = { pick_device = \"select_device\" }\n",
    ),
    (
        "replace",
        "[[replace]]\nfrom = \"pkg.old.pick_device\"\nto = \"pkg.core.gpu.select_device\"\nkind = \"item\"\n",
    ),
    (
        "merge",
        "[[merge]]\nfrom = \"crate_name::gpu_cache\"\ninto = \"crate_name::core::cache\"\n\
         rename = { Store = \"Cache\" }\ndecide = { LIMIT = \"keep-into\", flush = \"rename:flush_all\" }\n",
    ),
    ("remove", "[[remove]]\nmodule = \"pkg.gpu_stub\"\n"),
    (
        "accessor",
        "[[accessor]]\nimport = \"cupy\"\nget = \"pkg.core.gpu.get_cupy\"\nhas = \"pkg.core.gpu.has_cupy\"\n",
    ),
    (
        "forbid",
        "[[forbid]]\nimport = \"pkg.optimization.**\"\nexcept = [\"tests.**\"]\nmessage = \"use pkg.core\"\n",
    ),
    (
        "verify",
        "[verify]\ntests = [\"tests/test_gpu.py\"]\ntimeout = 600\n",
    ),
    (
        "verify.matrix",
        "[[verify.matrix]]\npackages = [\"native\"]\nfeatures = [\"cuda\"]\nno-default-features = true\n",
    ),
    ("allow", "[allow]\nrequirements = [\"numpy\"]\n"),
];

/// A migration manifest of Coalesce: what moves, what gives way to what, and what is forbidden from
/// then on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "Manifest")]
pub struct Document {
    /// Version of the format: 1.
    #[schemars(with = "u32")]
    pub schema: Spanned<u32>,
    /// What the migration is for, in a sentence.
    pub description: Option<String>,
    /// What is said of every shim that the manifest leaves.
    #[serde(default)]
    pub shims: ShimDates,
    /// A module, item or crate gets another name, and its file another place.
    #[serde(default, rename = "move")]
    #[schemars(with = "Vec<MoveTable>")]
    pub moves: Vec<Spanned<MoveTable>>,
    /// A module or item gives way to one that is there already and has all of it.
    #[serde(default, rename = "replace")]
    #[schemars(with = "Vec<ReplaceTable>")]
    pub replaces: Vec<Spanned<ReplaceTable>>,
    /// A module gives way to one that is there already; what that one lacks moves to it.
    #[serde(default, rename = "merge")]
    #[schemars(with = "Vec<MergeTable>")]
    pub merges: Vec<Spanned<MergeTable>>,
    /// A module that nobody uses goes, with all that it defines, and nothing takes its place.
    #[serde(default, rename = "remove")]
    #[schemars(with = "Vec<RemoveTable>")]
    pub removals: Vec<Spanned<RemoveTable>>,
    /// Guarded imports of a library (`try: import … except ImportError: … = None`) give way to a function that
    /// gives it. Python alone.
    #[serde(default, rename = "accessor")]
    #[schemars(with = "Vec<AccessorTable>")]
    pub accessors: Vec<Spanned<AccessorTable>>,
    /// A name that `coalesce check` forbids from now on.
    #[serde(default, rename = "forbid")]
    #[schemars(with = "Vec<ForbidTable>")]
    pub forbids: Vec<Spanned<ForbidTable>>,
    /// How the project checks the result.
    #[serde(default)]
    pub verify: VerifyTable,
    /// What may change when modules are imported.
    #[serde(default)]
    pub allow: Allowed,
}

/// What is said of every shim that the manifest leaves.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ShimDates {
    /// First release with the new names.
    pub since: Option<String>,
    /// Release that removes the shims; `coalesce retire --due` goes by it.
    pub remove_in: Option<String>,
    /// Whether shims of traits warn where they are asked for, and can then not be implemented by
    /// their old names. Rust alone.
    #[serde(default)]
    pub trait_bounds: bool,
    /// How much of a shim stands in its own file. Python alone.
    #[serde(default)]
    pub style: ShimStyle,
    /// Files that use old names on purpose, such as tests of the shims, as globs of `.gitignore`: no
    /// plan changes them, and `check` lets them be.
    #[serde(default)]
    pub keep_uses: Vec<String>,
}

/// A module, item or crate gets another name, and its file another place. Every reference follows.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MoveTable {
    /// The name before: `pkg.module` in Python, `crate_name::module` in Rust; `dir//name` where two
    /// packages have one name. A single `impl` block is `crate_name::module::impl Type`, or `impl Trait for
    /// Type`; of several, `impl Type#2`. A method is `crate_name::module::Type::method`.
    #[schemars(with = "String")]
    pub from: Spanned<String>,
    /// The name after; nothing may stand there yet. What a method becomes: a function, `crate_name::other::function`,
    /// or a method in a block of another module, `crate_name::other::impl Type`.
    #[schemars(with = "String")]
    pub to: Spanned<String>,
    /// What the names are, where both a module and an item have them.
    #[schemars(with = "Option<NameKind>")]
    pub kind: Option<Spanned<String>>,
    /// Whether the old name goes on working, with a warning.
    #[serde(default)]
    pub shim: bool,
    /// Items of a module that get another name while it moves: old name = new name.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// What files call what they import by a name that changes: `"rename"`, the new name throughout,
    /// or `"alias"`, the old one by `import new as old` or `use new as old`.
    #[serde(default)]
    pub uses: Uses,
}

/// A module or item gives way to one that is there already and has all of it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReplaceTable {
    /// What gives way; in Rust a method, too: `crate_name::module::Type::method`.
    #[schemars(with = "String")]
    pub from: Spanned<String>,
    /// What takes its place; it must be there. In the place of a method comes a function, which is given what that
    /// was called on, or one parameter less.
    #[schemars(with = "String")]
    pub to: Spanned<String>,
    /// What the names are, where both a module and an item have them.
    #[schemars(with = "Option<NameKind>")]
    pub kind: Option<Spanned<String>>,
    /// Whether the old name goes on working, with a warning.
    #[serde(default)]
    pub shim: bool,
    /// What files call what they import by a name that changes: `"rename"`, the new name throughout,
    /// or `"alias"`, the old one by `import new as old` or `use new as old`.
    #[serde(default)]
    pub uses: Uses,
    /// Items of `from` that are called otherwise in `to`: old name = new name.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
}

/// A module gives way to one that is there already; what that one lacks moves to it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MergeTable {
    /// The module that gives way.
    #[schemars(with = "String")]
    pub from: Spanned<String>,
    /// The module that takes its place; it must be there.
    #[schemars(with = "String")]
    pub into: Spanned<String>,
    /// `module` or `crate`, where the name may be either.
    #[schemars(with = "Option<NameKind>")]
    pub kind: Option<Spanned<String>>,
    /// Whether the old name goes on working, with a warning.
    #[serde(default)]
    pub shim: bool,
    /// What files call what they import by a name that changes: `"rename"`, the new name throughout,
    /// or `"alias"`, the old one by `import new as old` or `use new as old`.
    #[serde(default)]
    pub uses: Uses,
    /// Items of `from` that are called otherwise in `into`: old name = new name.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// What becomes of what both have and is not the same: `"keep-into"`, `"keep-from"` or
    /// `"rename:NAME"` for each item. The last keeps both, also of what is the same.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub decide: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// A module that nobody uses goes, with all that it defines, and nothing takes its place.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RemoveTable {
    /// The module.
    #[schemars(with = "String")]
    pub module: Spanned<String>,
}

/// Guarded imports of a library (`try: import … except ImportError: … = None`) give way to a function that gives
/// it. Python alone.
///
/// The names that such an import binds stay, flags included, with the values that they had. One that does more
/// than import is refused.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AccessorTable {
    /// The library, as it is imported: `cupy`.
    #[schemars(with = "String")]
    pub import: Spanned<String>,
    /// The function that gives it, or `None` where it is missing; it must be there.
    #[schemars(with = "String")]
    pub get: Spanned<String>,
    /// The function that says whether it is there, for flags; without it they become `… is not None`.
    #[schemars(with = "Option<String>")]
    pub has: Option<Spanned<String>>,
    /// Modules that go on importing it themselves, as patterns.
    #[serde(default)]
    pub except: Vec<String>,
}

/// A name that `coalesce check` forbids from now on: in imports, strings and configuration.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ForbidTable {
    /// What must not be named, with all below it; `*` stands for part of a segment, `**` for
    /// segments.
    #[schemars(with = "String")]
    pub import: Spanned<String>,
    /// Modules that may name it all the same, as patterns.
    #[serde(default)]
    pub except: Vec<String>,
    /// What to use instead, for the help of the finding.
    pub message: Option<String>,
}
