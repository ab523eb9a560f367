//! Modules and classes that are the same token by token, data and all.
//!
//! What functions have in common says nothing of a class that is mostly fields; that all of it is the
//! same does. Of a class, what its names mean has to be the same as well, as far as its file tells.

use coalesce_model::{TokenClass, UnitKind};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::{
    collections::{BTreeMap, hash_map::Entry},
    hash::Hasher as _,
};

use crate::{
    containers::Container,
    corpus::Corpus,
    source::{SourceFile, Unit},
};

/// Tokens outside of imports below which being the same says little.
const TELLING: u32 = 45;
/// Members of one group that are paired with each other; of larger ones each with the first.
const PAIRED: usize = 24;

/// Every two of different files that are the same, by place.
#[must_use]
pub fn pairs(corpus: &Corpus) -> FxHashSet<(Container, Container)> {
    let mut groups: BTreeMap<(bool, u32, u64), Vec<Container>> = BTreeMap::new();
    for (at, file) in corpus.files.iter().enumerate() {
        let Ok(at) = u32::try_from(at) else { continue };
        let imports = Imports::of(file);
        for (index, unit) in file.units.iter().enumerate() {
            let Ok(index) = u32::try_from(index) else {
                continue;
            };
            let module = unit.kind == UnitKind::Module;
            let kind = module || unit.kind == UnitKind::Class;
            if kind && imports.telling(unit) >= TELLING {
                let name = if module { 0 } else { unit.name };
                let key = (module, name, hash(file, unit));
                groups.entry(key).or_default().push((at, index));
            }
        }
    }
    let mut found = FxHashSet::default();
    let mut names = FxHashMap::default();
    for ((is_module, _, _), members) in groups {
        for (index, left) in members.iter().take(PAIRED).enumerate() {
            for right in members.iter().skip(index + 1) {
                let apart = left.0 != right.0;
                if apart && (is_module || means_alike(corpus, &mut names, *left, *right)) {
                    found.insert((*left.min(right), *left.max(right)));
                }
            }
        }
    }
    found
}

/// The imports of a file, by place.
struct Imports {
    /// Where each begins, and the tokens of all before it.
    before: Vec<(u32, u32)>,
    /// The tokens of all.
    all: u32,
}

impl Imports {
    fn of(file: &SourceFile) -> Self {
        let imports = file.units.iter();
        let imports = imports.filter(|unit| unit.kind == UnitKind::Imports);
        let mut before: Vec<_> = imports.map(|unit| (unit.first, length(unit))).collect();
        before.sort_unstable();
        let mut all = 0_u32;
        for (_, tokens) in &mut before {
            (all, *tokens) = (all.saturating_add(*tokens), all);
        }
        Self { before, all }
    }

    /// Tokens of a unit that are in no import of it.
    fn telling(&self, unit: &Unit) -> u32 {
        let up_to = |token: u32| {
            let at = self.before.partition_point(|(first, _)| *first < token);
            self.before.get(at).map_or(self.all, |(_, tokens)| *tokens)
        };
        let imported = up_to(unit.end).saturating_sub(up_to(unit.first));
        length(unit).saturating_sub(imported)
    }
}

const fn length(unit: &Unit) -> u32 {
    unit.end.saturating_sub(unit.first)
}

fn hash(file: &SourceFile, unit: &Unit) -> u64 {
    let mut hasher = FxHasher::default();
    for token in file.tokens_of(unit) {
        hasher.write_u32(token.id);
    }
    hasher.finish()
}

/// Whether the words of two equal classes mean the same: what their files define under these names is
/// the same, and their imports are, where they bring one of these. What is known of a file is kept in `known`.
fn means_alike(
    corpus: &Corpus,
    known: &mut FxHashMap<u32, Names>,
    left: Container,
    right: Container,
) -> bool {
    for (at, _) in [left, right] {
        if let (Some(file), Entry::Vacant(names)) = (corpus.files.get(at as usize), known.entry(at))
        {
            names.insert(Names::of(file));
        }
    }
    let unit = |(file, unit): Container| {
        let file = corpus.files.get(file as usize)?;
        Some((file, file.units.get(unit as usize)?))
    };
    let (Some((file, unit)), Some(here), Some(there)) =
        (unit(left), known.get(&left.0), known.get(&right.0))
    else {
        return false;
    };
    let words: FxHashSet<u32> = file
        .tokens_of(unit)
        .iter()
        .filter(|token| token.class == TokenClass::Word && token.id != unit.name)
        .map(|token| token.id)
        .collect();
    words.iter().all(|word| {
        let defined = here.defined.get(word) == there.defined.get(word);
        let imported = here.imported.contains(word) || there.imported.contains(word);
        defined && (!imported || here.imports == there.imports)
    })
}

/// What the names of a file are, as far as its units tell.
struct Names {
    /// Classes and functions at the top of it, each with a hash of its text.
    defined: FxHashMap<u32, u64>,
    /// Words of its imports.
    imported: FxHashSet<u32>,
    /// A hash of all imports.
    imports: u64,
}

impl Names {
    fn of(file: &SourceFile) -> Self {
        let mut names = Self {
            defined: FxHashMap::default(),
            imported: FxHashSet::default(),
            imports: 0,
        };
        let mut imports = FxHasher::default();
        for unit in &file.units {
            match unit.kind {
                UnitKind::Class | UnitKind::Function if unit.parent == Some(0) => {
                    names.defined.insert(unit.name, hash(file, unit));
                }
                UnitKind::Imports | UnitKind::GuardedImport => {
                    for token in file.tokens_of(unit) {
                        imports.write_u32(token.id);
                        names.imported.insert(token.id);
                    }
                }
                _ => {}
            }
        }
        names.imports = imports.finish();
        names
    }
}
