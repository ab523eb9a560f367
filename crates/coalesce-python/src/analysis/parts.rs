//! What the walk over a file finds: scopes, bindings, uses, definitions, strings.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::ByteSpan;

use crate::facts::Spanned;

/// A statement of module-level code that defines a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The class that it is a method of.
    pub class: Option<String>,
    /// The whole statement, decorators included.
    pub span: ByteSpan,
    /// What it is.
    pub kind: DefinitionKind,
    /// A class that does something when it gets a subclass or, as a metaclass, a class.
    pub hooks: bool,
}

/// What a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// A function.
    Function,
    /// A class.
    Class,
    /// A name that gets a value.
    Value,
}

/// What a use has to do with a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Called {
    /// Nothing.
    #[default]
    No,
    /// It is the base of a class.
    Base,
    /// It is handed to one, which may call it.
    Passed,
    /// It is what is called: a callee, a decorator, a context, what a loop goes through.
    Callee,
}

/// One scope.
#[derive(Debug, Default)]
pub struct Scope {
    /// The scope around it.
    pub parent: Option<usize>,
    /// A class body: its names are not seen from the functions in it.
    pub class: bool,
    /// A comprehension: what `:=` binds in it is bound around it.
    pub comprehension: bool,
    /// Names bound here.
    pub bindings: BTreeMap<String, Vec<Binding>>,
    /// Names declared `global`.
    pub globals: BTreeSet<String>,
    /// Names declared `nonlocal`.
    pub nonlocals: BTreeSet<String>,
}

/// One binding of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Place of the name.
    pub span: ByteSpan,
    /// The import statement and leaf that bind it, if that is what does.
    pub import: Option<(usize, usize)>,
    /// The use whose value it takes over unchanged: `b` in `a = b`.
    pub value: Option<usize>,
    /// It is made only when the file runs as a program: whoever imports it does not see it.
    pub program: bool,
    /// Where the statement is through that makes it.
    pub through: u32,
    /// It changes the value that the name has already: `a += b`.
    pub augments: bool,
}

/// A name, and the attributes that follow it: `a.b.c`.
#[derive(Debug)]
pub struct Use {
    /// Scope from which its name is looked up.
    pub scope: usize,
    /// Scope that it stands in. A class body that does not bind the name is this one and not the other: a name
    /// that is put in place of it is looked up from here.
    pub stands_in: usize,
    /// The name and the attributes, each with its place.
    pub chain: Vec<Spanned>,
    /// The name is assigned to or deleted, not read.
    pub store: bool,
    /// Evaluated with the module.
    pub eager: bool,
    /// It stands in a type, which need not be evaluated.
    pub annotation: bool,
    /// The last attribute of the chain is assigned to or deleted.
    pub assigned: bool,
    /// Whether it is called.
    pub called: Called,
    /// Whether it is evaluated where it stands.
    pub evaluated: Evaluated,
}

/// Whether what stands in a type is evaluated when the code around is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evaluated {
    /// It is, as any other expression.
    #[default]
    Always,
    /// It is an annotation: not under `from __future__ import annotations`.
    WithoutFuture,
    /// It stands in quotes or comments, or is the type of a local variable.
    Never,
}

impl Use {
    /// The name that the chain begins with.
    #[must_use]
    pub fn root(&self) -> &str {
        self.chain.first().map_or("", |root| root.text.as_str())
    }

    /// Whether it is never evaluated, in a file that has `from __future__ import annotations` or
    /// has not.
    #[must_use]
    pub fn unevaluated(&self, future: bool) -> bool {
        match self.evaluated {
            Evaluated::Always => false,
            Evaluated::WithoutFuture => future,
            Evaluated::Never => true,
        }
    }
}

/// A string literal.
#[derive(Debug)]
pub struct StringLiteral {
    /// The bytes between the quotes.
    pub span: ByteSpan,
    /// It is a docstring.
    pub documentation: bool,
    /// It stands where a type is expected: its text is code.
    pub annotation: bool,
}
