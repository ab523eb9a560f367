//! What a type is by what it holds, without saying so: `Send`, `Sync`, `Unpin`. What takes its place may hold
//! something else, and so may what a function gives whose result is `impl Trait` or that is `async`.
//!
//! Asked only where something of the tree asks for one of these: a word that does, or a static of the type.

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{implementations::items_in, names::Names, whole::Alike};
use crate::{
    facts::ItemKind,
    lexer::{self, Token},
    resolve::{ItemId, Res},
};

/// Types of the standard library that are kept to a thread, or to a place.
const KEPT: [&str; 14] = [
    "Args",
    "Cell",
    "LazyCell",
    "MappedMutexGuard",
    "MutexGuard",
    "NonNull",
    "OnceCell",
    "PhantomPinned",
    "Rc",
    "RefCell",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "UnsafeCell",
    "Weak",
];

/// Words of code that asks for one of these traits.
const ASKING: [&str; 9] = [
    "Send",
    "Sync",
    "Unpin",
    "async_trait",
    "catch_unwind",
    "par_iter",
    "rayon",
    "spawn",
    "thread",
];

/// Holds what gives way against what takes its place.
pub(super) struct AutoTraits<'t, 'n> {
    names: &'t Names<'n>,
    is_asked: OnceCell<bool>,
}

impl<'t, 'n> AutoTraits<'t, 'n> {
    pub fn new(names: &'t Names<'n>) -> Self {
        Self {
            names,
            is_asked: OnceCell::new(),
        }
    }

    /// What may be lost of an item in whose place another one comes that reads otherwise.
    pub fn lost(&self, (old, new): (ItemId, ItemId), pair: &Alike) -> Option<Unproven> {
        let kinds = [ItemKind::Struct, ItemKind::Enum, ItemKind::Union];
        let is_type = kinds.contains(&self.names.world[old].kind);
        let why = match is_type {
            true => self.lost_by_fields(old, new, pair),
            false => None,
        };
        let why = why.or_else(|| self.lost_by_results(new, pair))?;
        (self.is_asked() || self.is_in_static(old)).then(|| Unproven {
            kind: UnprovenKind::UnknownType,
            ..pair.unproven(why)
        })
    }

    fn lost_by_fields(&self, old: ItemId, new: ItemId, pair: &Alike) -> Option<String> {
        if self.declares(new) {
            return None;
        }
        let (here, there) = (self.held_by(old), self.held_by(new));
        let more = there.difference(&here).next()?;
        Some(format!(
            "`{}` holds `{more}`, and whether it is `Send`, `Sync` or `Unpin` where this is, the names do not tell",
            pair.to
        ))
    }

    /// Whether a type says of itself that it is `Send` and `Sync`.
    fn declares(&self, item: ItemId) -> bool {
        let world = self.names.world;
        let said = world.impls_of(item).filter_map(|one| one.trait_name(world));
        let said: BTreeSet<&str> = said.collect();
        said.contains("Send") && said.contains("Sync")
    }

    /// What a type holds, by itself and by the types of the tree in it, that may not be what others are.
    fn held_by(&self, item: ItemId) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let (mut open, mut seen) = (vec![item], BTreeSet::from([item]));
        while let Some(item) = open.pop() {
            let Some((file, fact)) = self.names.definition(item) else {
                continue;
            };
            let Some(names) = self.names.file(file) else {
                continue;
            };
            let module = self.names.world[item].module;
            let body = ByteSpan::new(fact.name.span.end, fact.span.end);
            let tokens = lexer::tokens(&names.text, body);
            for (at, token) in tokens.iter().enumerate() {
                let led = self.names.leads_to(&names, module, token.span);
                found.extend(self.kept_at(&names.text, &tokens, at, &led));
            }
            let inner = items_in(self.names, &names, (module, body)).into_iter();
            open.extend(inner.filter(|one| seen.insert(*one)));
        }
        found
    }

    /// What a word of a definition says that may be kept to a thread: a type of another library, a pointer, an object.
    fn kept_at(
        &self,
        text: &str,
        tokens: &[Token],
        at: usize,
        led: &BTreeSet<Res>,
    ) -> Option<String> {
        let word = |at: usize| {
            let token = tokens.get(at);
            token.and_then(|one| one.span.of(text)).unwrap_or_default()
        };
        let own = word(at);
        match own {
            "*" if matches!(word(at + 1), "const" | "mut") => return Some("a pointer".to_owned()),
            "dyn" => return object_at(&word, at, tokens.len()),
            _ => {}
        }
        let full = led.iter().find_map(|res| match res {
            Res::External(full) => Some(self.names.outside_text(*full)),
            _ => None,
        })?;
        let is_standard = ["std::", "core::", "alloc::"]
            .iter()
            .any(|root| full.starts_with(root));
        let is_shared = full.contains("sync::Weak");
        let is_type = own.starts_with(char::is_uppercase);
        let is_kept = match is_standard {
            true => {
                full.rsplit("::")
                    .next()
                    .is_some_and(|last| KEPT.contains(&last))
                    && !is_shared
            }
            false => is_type,
        };
        is_kept.then(|| full.to_string())
    }

    /// Whether a result of an item is known by what a body holds alone.
    fn lost_by_results(&self, new: ItemId, pair: &Alike) -> Option<String> {
        let own = self.names.definition(new);
        let own = own.map(|(file, fact)| (file, fact.span));
        let impls = self.names.impls(new).into_iter();
        let impls = impls.map(|(file, span, _)| (file, span));
        let mut all = own.into_iter().chain(impls);
        all.any(|(file, span)| {
            let names = self.names.file(file);
            names.is_some_and(|names| hides_a_result(&names.text, span))
        })
        .then(|| {
            format!(
                "what `{}` gives is `Send` or `Sync` by what its body holds, which is not compared",
                pair.to
            )
        })
    }

    fn is_asked(&self) -> bool {
        *self.is_asked.get_or_init(|| {
            let world = self.names.world;
            world.sources().any(|(file, _)| {
                let names = &world.facts(file).names;
                names.iter().any(|name| ASKING.contains(&&**name))
            })
        })
    }

    /// Whether a static of the tree is of a type.
    fn is_in_static(&self, item: ItemId) -> bool {
        let world = self.names.world;
        world
            .items
            .iter()
            .filter(|one| one.kind == ItemKind::Static)
            .any(|node| {
                node.definitions.iter().any(|(file, at)| {
                    let names = self.names.file(*file);
                    let span = world.facts(*file).item(*at).span;
                    names.is_some_and(|names| {
                        items_in(self.names, &names, (node.module, span)).contains(&item)
                    })
                })
            })
    }
}

/// Whether code has a function that is `async`, or whose result is `impl Trait` without a word of threads.
fn hides_a_result(text: &str, span: ByteSpan) -> bool {
    let tokens = lexer::tokens(text, span);
    let word = |at: usize| {
        let token = tokens.get(at);
        token.and_then(|one| one.span.of(text)).unwrap_or_default()
    };
    (0..tokens.len()).any(|at| match word(at) {
        "async" => word(at + 1) == "fn" || word(at + 1) == "unsafe",
        "impl" if word(at.wrapping_sub(1)) == ">" && word(at.wrapping_sub(2)) == "-" => {
            let bounds = (at..tokens.len()).take_while(|at| !matches!(word(*at), "{" | ";"));
            let said: Vec<&str> = bounds.map(word).collect();
            !(said.contains(&"Send") && said.contains(&"Sync"))
        }
        _ => false,
    })
}

/// What an object is of, unless its bounds say that it is `Send` and `Sync`.
fn object_at<'t>(word: &dyn Fn(usize) -> &'t str, at: usize, count: usize) -> Option<String> {
    let bounds = (at + 1..count).take_while(|at| !matches!(word(*at), ">" | "," | ";" | ")" | "}"));
    let said: Vec<&str> = bounds.map(word).collect();
    let is_told = said.contains(&"Send") && said.contains(&"Sync");
    (!is_told).then(|| format!("dyn {}", said.concat()))
}
