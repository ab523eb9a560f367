//! What stays at the old name of an item: the definition that warns, or a re-export where rustc
//! cannot warn.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Finding, Severity, ShimRequest, Texts, TreePath, finding::codes};

use super::{
    super::{
        shims::is_known_in,
        spell::{Speller, written},
    },
    moving::{Chunk, Moving, Set},
};
use crate::{
    resolve::ModuleId,
    shim::{self, Shim},
};

/// The shims of a set.
#[derive(Default)]
pub(super) struct Shims {
    /// By index of the chunk that they take the place of.
    pub texts: BTreeMap<usize, String>,
    /// Names that the signatures of functions say, by the moving item.
    pub needed: BTreeMap<usize, BTreeSet<String>>,
    pub notes: Vec<Finding>,
}

/// Writes the shims.
pub(super) fn write(set: &Set<'_>, texts: &dyn Texts) -> Shims {
    let mut shims = Shims::default();
    for moving in &set.moving {
        if moving.change.shim.is_some() && !moving.shim {
            shims.notes.push(Finding {
                code: codes::UNSAFE_CHANGE,
                severity: Severity::Note,
                path: set
                    .mapping
                    .file_of(moving.home)
                    .unwrap_or_else(TreePath::root),
                span: None,
                message: format!(
                    "no shim for `{}`: nobody outside the crate can name it",
                    moving.change.from
                ),
                help: None,
            });
        }
    }
    for (index, chunk) in set.chunks.iter().enumerate() {
        let Some(moving) = set.moving(chunk.moving) else {
            continue;
        };
        let request = moving.change.shim.as_ref().filter(|_| moving.shim);
        if let (Some(request), Some(_)) = (request, chunk.definition) {
            shims.one(set, (index, chunk), moving, request, texts);
        }
    }
    shims
}

impl Shims {
    fn one(
        &mut self,
        set: &Set<'_>,
        (index, chunk): (usize, &Chunk),
        moving: &Moving<'_>,
        request: &ShimRequest,
        texts: &dyn Texts,
    ) {
        let world = set.world();
        let fact = chunk
            .definition
            .and_then(|at| world.facts(chunk.file)?.items.get(at as usize));
        let text = texts.text(&set.path(chunk.file));
        let definition = fact.zip(text.as_deref());
        let definition = definition.and_then(|(fact, text)| fact.span.of(text));
        let Some(definition) = definition else {
            return;
        };
        let old = world
            .items
            .get(moving.item.index())
            .map(|item| item.name.clone());
        let old = old.unwrap_or_default();
        let (inside, outside) = paths(set, moving);
        let (since, removal) = dates(request);
        let pair = [(old.clone(), moving.name.clone())];
        let made = shim::items(&Shim {
            text: definition,
            defined_as: &old,
            inside: &inside,
            outside: &outside,
            names: &pair,
            whole: false,
            since: &since,
            removal: &removal,
            trait_bounds: request.trait_bounds,
            known: &|name| is_known_in(world, moving.home, name),
        });
        let Some(made) = made else { return };
        let mut body = made.text.trim_end().to_owned();
        if made
            .needed
            .iter()
            .any(|name| is_shimmed(set, moving.home, name))
        {
            body = body.replacen("#[deprecated(", "#[allow(deprecated)]\n#[deprecated(", 1);
        }
        let silent = if made.silent.is_empty() {
            String::new()
        } else {
            format!(
                "// rustc does not warn about this: {}.\n",
                made.silent.join(", ")
            )
        };
        let marker = format!("// coalesce: item shim {} {old}\n", request.manifest);
        self.texts.insert(index, format!("{marker}{silent}{body}"));
        self.needed
            .entry(chunk.moving)
            .or_default()
            .extend(made.needed);
    }
}

/// The new module as the old crate says it, and as everybody does.
fn paths(set: &Set<'_>, moving: &Moving<'_>) -> (String, String) {
    let speller = Speller {
        mapping: set.mapping,
    };
    let names = |path: Vec<String>| -> String {
        let names: Vec<String> = path.iter().map(|name| written(name)).collect();
        names.join("::")
    };
    let inside = speller.rooted_in(set.mapping.krate(moving.home), &moving.to);
    let krate = set.world().crates.get(moving.to.krate.index());
    let krate = krate.map_or("crate", |krate| krate.name.as_str());
    let outside = std::iter::once(krate.to_owned()).chain(moving.to.path.iter().cloned());
    (names(inside), names(outside.collect()))
}

/// `since = "…", ` and `; it will be removed in …`, or nothing.
fn dates(request: &ShimRequest) -> (String, String) {
    let since = request.since.as_ref();
    let since = since.map_or_else(String::new, |since| format!("since = \"{since}\", "));
    let removal = request.remove_in.as_ref();
    let removal = removal.map_or_else(String::new, |at| format!("; it will be removed in {at}"));
    (since, removal)
}

/// Whether a name of a module is that of another shim.
fn is_shimmed(set: &Set<'_>, home: ModuleId, name: &str) -> bool {
    set.moving.iter().any(|other| {
        let item = set.world().items.get(other.item.index());
        other.shim && other.home == home && item.is_some_and(|item| item.name == *name)
    })
}
