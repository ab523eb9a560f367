//! Lifetimes that a signature leaves out: those of what a method gives are those of `self`, those of what a function
//! gives are those of its one reference.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};

use super::{
    sources::{ParsedFile, Sources},
    spelling::is_integer,
};
use crate::{
    facts::{ItemKind, Namespaces},
    resolve::{ItemId, Res},
};

/// How many aliases of aliases are followed.
const DEEPEST: usize = 8;

/// Types and traits without a lifetime in them.
const FREE: [&str; 37] = [
    "Arc",
    "BTreeMap",
    "BTreeSet",
    "Box",
    "Debug",
    "Display",
    "DoubleEndedIterator",
    "Duration",
    "ExactSizeIterator",
    "Future",
    "HashMap",
    "HashSet",
    "Instant",
    "IntoIterator",
    "Iterator",
    "Mutex",
    "Option",
    "Ordering",
    "PathBuf",
    "Rc",
    "RefCell",
    "Result",
    "RwLock",
    "Self",
    "Send",
    "String",
    "Sync",
    "SystemTime",
    "Vec",
    "VecDeque",
    "bool",
    "char",
    "f32",
    "f64",
    "str",
    "usize",
    "u64",
];

/// The lifetimes of a type that nobody wrote, and those that somebody did.
#[derive(Default)]
pub(super) struct LifetimesLeftOut {
    /// Where `&` stands without one: the byte behind it.
    pub references: Vec<u32>,
    /// Where `'_` stands.
    pub anonymous: Vec<u32>,
    /// How many have names.
    pub named: usize,
    /// Types that may have one which is not written.
    pub hidden: Vec<String>,
}

impl LifetimesLeftOut {
    /// Whether no lifetime is in it, written or not.
    pub fn is_free(&self) -> bool {
        self.left().next().is_none() && self.named == 0 && self.hidden.is_empty()
    }

    /// The places where one is left out.
    pub fn left(&self) -> impl Iterator<Item = u32> {
        self.references.iter().chain(&self.anonymous).copied()
    }
}

/// Reads a type; `parameters` are names in it that are none of items.
pub(super) fn read(
    sources: &Sources<'_>,
    source: &ParsedFile,
    parameters: &BTreeSet<String>,
    ty: &syn::Type,
) -> LifetimesLeftOut {
    let mut reader = LifetimeReader {
        sources,
        source,
        parameters,
        found: LifetimesLeftOut::default(),
        depth: 0,
    };
    reader.visit_type(ty);
    reader.found
}

struct LifetimeReader<'r, 'w> {
    sources: &'r Sources<'w>,
    source: &'r ParsedFile,
    parameters: &'r BTreeSet<String>,
    found: LifetimesLeftOut,
    /// How many aliases were followed.
    depth: usize,
}

impl LifetimeReader<'_, '_> {
    /// Whether a path without written lifetimes is known to have none.
    fn is_free(&self, path: &syn::Path) -> bool {
        let Some(last) = path.segments.last() else {
            return true;
        };
        let name = last.ident.to_string();
        if is_integer(&name) || self.parameters.contains(&name) {
            return true;
        }
        let at = path.segments.len() - 1;
        match self.source.leads_to(path, at, Namespaces::TYPE) {
            Some(Res::Item(item)) => match self.sources.world[item].kind {
                ItemKind::TypeAlias => self.is_alias_free(item),
                ItemKind::Struct | ItemKind::Enum | ItemKind::Union => self.is_type_free(item),
                _ => false,
            },
            _ => FREE.contains(&name.as_str()),
        }
    }

    /// Whether a type of the tree declares none.
    fn is_type_free(&self, item: ItemId) -> bool {
        let world = self.sources.world;
        world[item].definitions.iter().all(|(file, at)| {
            let fact = world.facts(*file).item(*at);
            let text = self.sources.texts.text(&world[*file].path);
            let head = text.as_deref().and_then(|text| fact.signature.of(text));
            head.is_some_and(|head| !head.contains('\''))
        })
    }
}

impl LifetimeReader<'_, '_> {
    /// Whether what an alias stands for has none.
    fn is_alias_free(&self, item: ItemId) -> bool {
        let Some((source, ty, parameters)) = self.sources.aliased(item) else {
            return false;
        };
        // One that leads to itself is no program.
        if self.depth > DEEPEST {
            return false;
        }
        let mut inner = LifetimeReader {
            sources: self.sources,
            source: &source,
            parameters: &parameters.into_iter().collect(),
            found: LifetimesLeftOut::default(),
            depth: self.depth + 1,
        };
        inner.visit_type(&ty);
        inner.found.is_free()
    }
}

impl<'ast> Visit<'ast> for LifetimeReader<'_, '_> {
    // Lifetimes inside are those of the function, or of the closure.
    fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
    fn visit_parenthesized_generic_arguments(
        &mut self,
        _: &'ast syn::ParenthesizedGenericArguments,
    ) {
    }

    fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
        match &reference.lifetime {
            Some(_) => {}
            None => self
                .found
                .references
                .push(self.source.end(reference.and_token.span)),
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        match lifetime.ident == "_" {
            true => self
                .found
                .anonymous
                .push(self.source.start(lifetime.span())),
            false if lifetime.ident == "static" => {}
            false => self.found.named += 1,
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let written = path
            .segments
            .iter()
            .any(|segment| match &segment.arguments {
                syn::PathArguments::AngleBracketed(list) => list
                    .args
                    .iter()
                    .any(|one| matches!(one, syn::GenericArgument::Lifetime(_))),
                _ => false,
            });
        let closure = path
            .segments
            .iter()
            .any(|segment| matches!(segment.arguments, syn::PathArguments::Parenthesized(_)));
        if !written && !closure && !self.is_free(path) {
            let last = path.segments.last();
            let name = last.map(|last| last.ident.to_string());
            self.found.hidden.extend(name);
        }
        visit::visit_path(self, path);
    }
}
