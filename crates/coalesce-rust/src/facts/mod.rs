//! What one Rust file contributes: owned, compact facts without a syntax tree.
//!
//! Everything is a flat table; the tables point at each other by index and at the text by byte
//! span. Nothing is resolved here: a fact says what is written where, and in which scope. Names
//! bound by `let`, parameters and generics are left out already, so a path of the table may name
//! an item.

mod attributes;
mod docs;
mod extract;
mod hiding;
mod imports;
mod items;
mod local_names;
mod macros;
mod markdown;
mod parse;
mod patterns;
mod places;
mod source;
mod token_items;
mod token_members;
pub(crate) mod tokens;

use coalesce_model::ByteSpan;
use serde::{Deserialize, Serialize};

use crate::discover::ManifestFacts;

pub(crate) use docs::document;
pub(crate) use hiding::hiding;
pub(crate) use macros::QUOTES;
pub(crate) use parse::{document_code, is_parsed};
pub use parse::{source_facts, syntax_problem};

/// Raised whenever the facts or what fills them change.
pub const VERSION: u32 = 12;

/// The facts of one claimed file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Facts {
    /// A `.rs` file.
    Source(Box<SourceFacts>),
    /// A `Cargo.toml`.
    Manifest(Box<ManifestFacts>),
}

/// Index into [`SourceFacts::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NameId(pub u32);

/// Index into [`SourceFacts::scopes`]; scope 0 is the file itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ScopeId(pub u32);

/// The facts of a source file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SourceFacts {
    /// Every name that the other tables mention, each once, `r#` removed.
    pub names: Vec<Box<str>>,
    /// Why the file does not parse; then the tables come from its tokens.
    pub problem: Option<Problem>,
    /// Scopes, outermost first; the first one is the file.
    pub scopes: Vec<Scope>,
    /// `mod` declarations, inline ones too.
    pub modules: Vec<ModuleDeclaration>,
    /// `#![cfg(…)]` at the head of a module, without the parentheses.
    pub inner_cfg: Vec<(ScopeId, Box<str>)>,
    /// Modules that say `#![macro_use]` of themselves.
    pub inner_macro_use: Vec<ScopeId>,
    /// Items with a name, those of blocks too.
    pub items: Vec<Item>,
    /// `impl` blocks.
    pub impls: Vec<Impl>,
    /// The functions of `impl` blocks.
    pub impl_functions: Vec<ImplFunction>,
    /// `use` declarations.
    pub uses: Vec<UseDeclaration>,
    /// Leaves of all use trees, in source order within each declaration.
    pub leaves: Vec<UseLeaf>,
    /// `extern crate` declarations.
    pub extern_crates: Vec<ExternCrate>,
    /// Every path that is no part of a `use`, by place.
    pub paths: Vec<PathFact>,
    /// The paths of links in documentation that begin with `Self::`, which is the type around them.
    pub own_links: Vec<ByteSpan>,
    /// Where paths begin that say a field as well: `S { name }`.
    pub shorthands: Vec<u32>,
    /// Segments of all paths and leaves; they point into it by [`SegmentRange`].
    pub segments: Vec<Segment>,
    /// Macro invocations.
    pub macro_calls: Vec<MacroCall>,
    /// `include!`, `include_str!`, `include_bytes!` with a literal path.
    pub includes: Vec<Include>,
    /// String literals of code that hold a name with `::`.
    pub strings: Vec<StringFact>,
    /// Names in item macros that are not understood: a macro may declare modules of them.
    pub module_words: Vec<NameId>,
    /// Code blocks in documentation.
    pub doc_code: Vec<DocCode>,
    /// String literals of code that look like paths of files.
    pub path_strings: Vec<StringFact>,
    /// The items that are other names of a type, each with the path of that.
    pub aliases: Vec<(u32, u32)>,
    /// Number of lines of the file.
    pub lines: u32,
    /// First byte of each line.
    pub line_starts: Vec<u32>,
    /// The marker `// coalesce: shim ID` that a shim carries.
    pub shim_marker: Option<Box<str>>,
    /// `(manifest id, name)` of each `// coalesce: item shim ID NAME`.
    pub item_shims: Vec<(Box<str>, Box<str>)>,
    /// Whether the file starts with a macro that generated files carry (`@generated`).
    pub generated: bool,
}

/// Why a file does not parse.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Where the parser stopped.
    pub span: ByteSpan,
    /// What it said.
    pub message: Box<str>,
}

/// What a scope is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScopeKind {
    /// The file.
    File,
    /// The braces of an inline module; index into [`SourceFacts::modules`].
    Module(u32),
    /// A block, or a function or impl that has names of its own.
    Block,
    /// A code block in documentation: a crate of its own that depends on this one.
    DocCode,
    /// The body of a `macro_rules!`: names resolve where it is used, `$crate` here.
    MacroBody,
}

/// A region with names of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scope {
    /// The scope around it; `None` for the file.
    pub parent: Option<ScopeId>,
    /// What it is.
    pub kind: ScopeKind,
    /// The region; for an inline module from `{` to `}`, both included.
    pub span: ByteSpan,
    /// For files and modules: the first byte after inner attributes and inner docs, where an item
    /// can be put.
    pub items_start: u32,
    /// Whether something here may define names that cannot be seen: item macros whose body is not
    /// understood, attribute or derive macros that are not the compiler's.
    pub opaque: bool,
}

/// How far a thing may be seen, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VisibilityKind {
    /// Nothing is written.
    Private,
    /// `pub`
    Public,
    /// `pub(crate)`, `crate`
    Crate,
    /// `pub(super)`
    Super,
    /// `pub(self)`
    SelfModule,
    /// `pub(in path)`; index into [`SourceFacts::paths`].
    In(u32),
}

/// A visibility and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visibility {
    /// How far.
    pub kind: VisibilityKind,
    /// From `pub` to the closing parenthesis; empty at the place where `pub` would go.
    pub span: ByteSpan,
}

/// A name and its place; `crate`, `self`, `super`, `$crate` are names as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The name.
    pub name: NameId,
    /// Its place; `r#` and the `$` of `$crate` included.
    pub span: ByteSpan,
}

/// A run of [`SourceFacts::segments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRange {
    /// First index.
    pub start: u32,
    /// How many.
    pub len: u16,
}

/// Where a fact was read from, which says how far it may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// Plain code.
    Code,
    /// Arguments of a macro of the standard library, which are expressions.
    KnownMacro,
    /// Arguments of another macro that parse as code.
    MacroArguments,
    /// Tokens of a macro call that do not parse as code.
    MacroTokens,
    /// The body of a `macro_rules!`.
    MacroBody,
    /// Code that `quote!` makes: read where the macro around it is used, in a crate that is not known.
    Quoted,
    /// An attribute, `derive` included.
    Attribute,
    /// A string in an attribute: `#[serde(with = "a::b")]`.
    AttributeString,
    /// `pub(in path)`
    Visibility,
    /// A link in documentation.
    DocLink,
    /// Code in documentation.
    DocCode,
    /// A name in a format string: `"{NAME}"`.
    FormatString,
    /// Tokens of a file that does not parse.
    BrokenFile,
}

/// Which namespaces a name stands in, or may be looked for in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces(pub u8);

impl Namespaces {
    /// Types, traits, modules, crates.
    pub const TYPE: Self = Self(1);
    /// Functions, constants, statics, constructors.
    pub const VALUE: Self = Self(2);
    /// Macros.
    pub const MACRO: Self = Self(4);
    /// All of them.
    pub const ALL: Self = Self(7);

    /// Whether the two share a namespace.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both together.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// A path outside `use`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PathFact {
    /// Innermost scope around it.
    pub scope: ScopeId,
    /// Its segments without generic arguments.
    pub segments: SegmentRange,
    /// Where its last segment is looked for.
    pub namespaces: Namespaces,
    /// Where it was read from.
    pub origin: Origin,
    /// Whether it starts with `::`.
    pub leading_colons: bool,
    /// An identifier pattern: it names a constant or a unit if there is one, else it binds.
    pub may_bind: bool,
}

/// `mod name;` or `mod name { … }`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModuleDeclaration {
    /// The scope that it stands in.
    pub scope: ScopeId,
    /// Its name.
    pub name: Segment,
    /// From the first attribute or doc comment to the `;` or `}`.
    pub span: ByteSpan,
    /// From the first attribute or doc comment to the last; `None` without any.
    pub attributes: Option<ByteSpan>,
    /// Its visibility.
    pub visibility: Visibility,
    /// The text of each `cfg(…)`, without the parentheses.
    pub cfg: Vec<Box<str>>,
    /// `#[path = "…"]`, also those inside `cfg_attr`.
    pub path_attributes: Vec<PathAttribute>,
    /// `#[macro_use]`
    pub macro_use: bool,
    /// The scope between its braces; `None` for `mod name;`.
    pub body: Option<ScopeId>,
    /// Where it was read from.
    pub origin: Origin,
}

/// `#[path = "…"]`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PathAttribute {
    /// The path as written.
    pub value: Box<str>,
    /// The text between the quotes.
    pub span: ByteSpan,
    /// The condition of the `cfg_attr` around it.
    pub cfg: Option<Box<str>>,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ItemKind {
    /// `fn`
    Function,
    /// `struct`
    Struct,
    /// `enum`
    Enum,
    /// `union`
    Union,
    /// `trait`, trait aliases too
    Trait,
    /// `const`
    Const,
    /// `static`
    Static,
    /// `type`
    TypeAlias,
    /// `macro_rules!`, `macro`
    Macro,
    /// Written in macro tokens, where its kind is a guess.
    Unknown,
}

/// A named item.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Item {
    /// The scope that it stands in.
    pub scope: ScopeId,
    /// Its name.
    pub name: Segment,
    /// What it is.
    pub kind: ItemKind,
    /// Where its name stands.
    pub namespaces: Namespaces,
    /// Its visibility.
    pub visibility: Visibility,
    /// From the first attribute or doc comment to the last byte.
    pub span: ByteSpan,
    /// From the visibility or keyword to the body or the end.
    pub signature: ByteSpan,
    /// Whether a `cfg` stands on it.
    pub conditional: bool,
    /// `#[macro_export]`, `#[proc_macro…]`
    pub exported: bool,
    /// Variants of an enum.
    pub variants: Vec<Segment>,
    /// Where it was read from.
    pub origin: Origin,
}

/// An `impl` block.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Impl {
    /// The scope that it stands in.
    pub scope: ScopeId,
    /// From the first attribute to the closing brace.
    pub span: ByteSpan,
    /// The path of the type; index into [`SourceFacts::paths`].
    pub self_path: Option<u32>,
    /// The path of the trait; index into [`SourceFacts::paths`].
    pub trait_path: Option<u32>,
}

/// A function of an `impl` block.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ImplFunction {
    /// Its block; index into [`SourceFacts::impls`].
    pub of: u32,
    /// Its name.
    pub name: Segment,
    /// From the first attribute or doc comment to the closing brace.
    pub span: ByteSpan,
}

/// A `use` declaration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UseDeclaration {
    /// The scope that it stands in.
    pub scope: ScopeId,
    /// From the first attribute or doc comment to the `;`.
    pub span: ByteSpan,
    /// From the first attribute or doc comment to the last; `None` without any.
    pub attributes: Option<ByteSpan>,
    /// From `use` to the `;`.
    pub keyword: ByteSpan,
    /// Its visibility.
    pub visibility: Visibility,
    /// The text of each `cfg(…)`, without the parentheses.
    pub cfg: Vec<Box<str>>,
    /// The `::` before the whole tree.
    pub leading_colons: Option<ByteSpan>,
    /// The tree.
    pub tree: UseTree,
    /// Its leaves: a run of [`SourceFacts::leaves`].
    pub leaves: (u32, u32),
    /// Where it was read from.
    pub origin: Origin,
}

/// A use tree as written; a leaf is an index into [`SourceFacts::leaves`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UseTree {
    /// `segment::rest`
    Path(Segment, Box<UseTree>),
    /// `name`, `name as other`, `self`, `*`
    Leaf(u32),
    /// `{ … }`, with the span of the braces
    Group(ByteSpan, Vec<UseTree>),
}

/// What a leaf brings in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeafKind {
    /// A name.
    Name,
    /// `self` in a group: the module before the group. The leaf's segments end with the module's.
    SelfModule,
    /// `*`. The leaf's segments are the path before it.
    Glob,
}

/// One leaf of a use tree, with the whole path that leads to it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct UseLeaf {
    /// Its declaration; index into [`SourceFacts::uses`].
    pub declaration: u32,
    /// What it is.
    pub kind: LeafKind,
    /// The whole path, prefix of the groups included; the `self` of a group is left out.
    pub segments: SegmentRange,
    /// How many of the segments stand in the leaf itself (1, or 0 for `self` and `*`).
    pub own: u16,
    /// `as name` (`_` as well).
    pub alias: Option<Segment>,
    /// The leaf itself: the name with its alias, `self`, or `*`.
    pub span: ByteSpan,
    /// Whether the path starts with `::`.
    pub leading_colons: bool,
}

/// `extern crate name as alias;`
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ExternCrate {
    /// The scope that it stands in.
    pub scope: ScopeId,
    /// The crate; may be `self`.
    pub name: Segment,
    /// `as name`
    pub alias: Option<Segment>,
    /// From the first attribute to the `;`.
    pub span: ByteSpan,
    /// Its visibility.
    pub visibility: Visibility,
    /// `#[macro_use]`
    pub macro_use: bool,
}

/// How the arguments of a macro call could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MacroReading {
    /// Nothing inside.
    Empty,
    /// Expressions parted by commas, or statements.
    Code,
    /// Items.
    Items,
    /// Nothing that parses.
    Tokens,
}

/// A macro invocation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct MacroCall {
    /// The scope that it stands in.
    pub scope: ScopeId,
    /// Its name; index into [`SourceFacts::paths`].
    pub path: u32,
    /// What stands between its delimiters.
    pub body: ByteSpan,
    /// Whether it stands where items do.
    pub item_position: bool,
    /// How its arguments could be read.
    pub reading: MacroReading,
}

/// What an include macro does with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IncludeKind {
    /// `include!`: its tokens are code here.
    Code,
    /// `include_str!`
    Text,
    /// `include_bytes!`
    Bytes,
    /// `#[doc = include_str!("…")]`
    Doc,
}

/// An include of a literal path, relative to the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Include {
    /// The scope that it stands in.
    pub scope: ScopeId,
    /// What happens with the file.
    pub kind: IncludeKind,
    /// The path as written.
    pub value: Box<str>,
    /// The text between the quotes.
    pub span: ByteSpan,
    /// The path goes on from `env!("CARGO_MANIFEST_DIR")`: it is relative to the package.
    pub from_manifest: bool,
}

/// A string literal that holds a name with `::`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StringFact {
    /// The scope that it stands in.
    pub scope: ScopeId,
    /// The text between the quotes.
    pub value: Box<str>,
    /// The text between the quotes.
    pub span: ByteSpan,
}

/// A code block in documentation. Its facts stand in the other tables with this scope.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct DocCode {
    /// Its scope.
    pub scope: ScopeId,
    /// From the first line of code to the last, comment prefixes included.
    pub span: ByteSpan,
}

impl SourceFacts {
    /// Whether a text stands between the delimiters of a macro's call: it is the macro's to read, and
    /// nothing may be put before it there.
    #[must_use]
    pub fn is_given_to_a_macro(&self, span: ByteSpan) -> bool {
        let mut calls = self.macro_calls.iter();
        calls.any(|call| call.body.contains(span))
    }

    /// Gives back what the tables were given in advance: facts stay for as long as the run.
    fn shrink(&mut self) {
        self.names.shrink_to_fit();
        self.scopes.shrink_to_fit();
        self.modules.shrink_to_fit();
        self.items.shrink_to_fit();
        self.impls.shrink_to_fit();
        self.impl_functions.shrink_to_fit();
        self.uses.shrink_to_fit();
        self.leaves.shrink_to_fit();
        self.paths.shrink_to_fit();
        self.segments.shrink_to_fit();
        self.macro_calls.shrink_to_fit();
        self.strings.shrink_to_fit();
        self.module_words.shrink_to_fit();
        self.path_strings.shrink_to_fit();
        self.aliases.shrink_to_fit();
        self.line_starts.shrink_to_fit();
    }

    /// The line number (1-based) of a byte.
    #[must_use]
    pub fn line_number(&self, offset: u32) -> u32 {
        source::index(self.line_starts.partition_point(|start| *start <= offset))
    }

    /// The text of a name.
    #[must_use]
    pub fn name(&self, name: NameId) -> &str {
        self.names.get(name.0 as usize).map_or("", |name| name)
    }

    /// Whether the module of a scope says `#![macro_use]` of itself.
    #[must_use]
    pub fn gives_macros(&self, scope: ScopeId) -> bool {
        self.inner_macro_use.contains(&scope)
    }

    /// The segments of a path or leaf.
    #[must_use]
    pub fn segments(&self, range: SegmentRange) -> &[Segment] {
        let start = range.start as usize;
        self.segments
            .get(start..start + range.len as usize)
            .unwrap_or_default()
    }

    /// The scope of that index.
    #[must_use]
    pub fn scope(&self, scope: ScopeId) -> &Scope {
        row(&self.scopes, scope.0)
    }

    /// The leaf of that index.
    #[must_use]
    pub fn leaf(&self, at: u32) -> &UseLeaf {
        row(&self.leaves, at)
    }

    /// The `use` of that index.
    #[must_use]
    pub fn declaration(&self, at: u32) -> &UseDeclaration {
        row(&self.uses, at)
    }

    /// The `use` that a leaf is part of.
    #[must_use]
    pub fn declaration_of(&self, leaf: u32) -> &UseDeclaration {
        let of = self.leaf(leaf).declaration;
        self.declaration(of)
    }

    /// The `mod` of that index.
    #[must_use]
    pub fn module(&self, at: u32) -> &ModuleDeclaration {
        row(&self.modules, at)
    }

    /// The item of that index.
    #[must_use]
    pub fn item(&self, at: u32) -> &Item {
        row(&self.items, at)
    }

    /// What a path is to say that stands at a place of the text: a field that is said by it alone keeps its name.
    #[must_use]
    pub fn with_field(&self, (text, span): (&str, ByteSpan), said: String) -> String {
        let field = span.of(text);
        match field.filter(|_| self.shorthands.contains(&span.start)) {
            Some(field) => format!("{field}: {said}"),
            None => said,
        }
    }

    /// The path of that index.
    #[must_use]
    pub fn path(&self, at: u32) -> &PathFact {
        row(&self.paths, at)
    }

    /// The innermost file or module scope around `scope`, itself included.
    #[must_use]
    pub fn module_scope(&self, scope: ScopeId) -> ScopeId {
        let mut at = scope;
        loop {
            let scope = self.scope(at);
            match (scope.kind, scope.parent) {
                (ScopeKind::File | ScopeKind::Module(_), _) | (_, None) => return at,
                (_, Some(parent)) => at = parent,
            }
        }
    }
}

/// A row of a table of facts; what facts say of each other was written by the same pass.
fn row<T>(table: &[T], at: u32) -> &T {
    table
        .get(at as usize)
        .expect("invariant: facts number what stands in their own tables")
}
