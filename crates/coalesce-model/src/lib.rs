//! The data that every part of Coalesce speaks: byte spans, edits stamped with
//! the text they belong to, names, manifests, findings, plans and the JSON
//! envelope, and the two traits that a language fulfils.
//!
//! Data only: nothing here reads a disk, starts a program or knows a language's
//! grammar. Every position is a byte offset into the original text of a file;
//! lines and columns are made from it at the edge, by [`LineIndex`].

pub mod change;
mod check_settings;
mod components;
pub mod edit;
pub mod envelope;
pub mod finding;
pub mod grammar;
pub mod hash;
pub mod json_schema;
pub mod language;
pub mod lines;
pub mod manifest;
mod memo;
pub mod module;
pub mod outline;
pub mod path;
pub mod pattern;
pub mod plan;
pub mod reference;
pub mod refusal;
pub mod release;
mod shortest_path;
pub mod span;
pub mod texts;

pub use change::{Change, ChangeKind, ShimRequest, ShimStyle, Subject, Uses};
pub use check_settings::{CheckSettings, Layers, ProjectRule, RoleHome, RuleSubject};
pub use components::components;
pub use edit::{Edit, EditError, EditSet};
pub use finding::{Code, Finding, Severity};
pub use grammar::{Grammar, Lexicon};
pub use hash::ContentHash;
pub use language::{
    Allowed, Documentation, DuplicateSettings, FoundItem, ItemPlace, ItemShim, Language,
    LanguageGraph, Settings,
};
pub use memo::Memo;
pub use module::{Guard, Import, ImportTarget, LanguageKind, Mention, Module, ModuleKind, Root};
pub use outline::{Outline, OutlineToken, OutlineUnit, TokenClass, UnitKind};
pub use path::{PathError, TreePath};
pub use plan::{
    AddedImport, FileMove, FileReferences, ImportChange, LanguagePlan, NewFile, NotRewritten,
    Rewrite, Safety, Unproven, UnprovenKind,
};
pub use reference::{Certainty, Evidence, Form, Reference};
pub use refusal::Refusal;
pub use shortest_path::shortest_path;
pub use span::{ByteSpan, LineIndex, Position};
pub use texts::{MemoryTexts, Overlay, Texts};
