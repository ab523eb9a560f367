//! Modules and classes that are the same token by token, data and all.
//!
//! What functions have in common says nothing of a class that is mostly fields; that all of it is the
//! same does. Of a class, what its names mean has to be the same as well, as far as its file tells.

use coalesce_model::{TokenClass, UnitKind};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::{collections::BTreeMap, hash::Hasher as _};

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
        for (index, unit) in file.units.iter().enumerate() {
            let Ok(index) = u32::try_from(index) else {
                continue;
            };
            let module = unit.kind == UnitKind::Module;
            let kind = module || unit.kind == UnitKind::Class;
            if kind && telling(file, unit) >= TELLING {
                let name = if module { 0 } else { unit.name };
                let key = (module, name, hash(file, unit));
                groups.entry(key).or_default().push((at, index));
            }
        }
    }
    let mut found = FxHashSet::default();
    for ((is_module, _, _), members) in groups {
        for (index, left) in members.iter().take(PAIRED).enumerate() {
            for right in members.iter().skip(index + 1) {
                let apart = left.0 != right.0;
                if apart && (is_module || means_alike(corpus, *left, *right)) {
                    found.insert((*left.min(right), *left.max(right)));
                }
            }
        }
    }
    found
}

/// Tokens of a unit that are in no import of it.
fn telling(file: &SourceFile, unit: &Unit) -> u32 {
    let inside = |other: &&Unit| unit.first <= other.first && other.end <= unit.end;
    let imports = file.units.iter().filter(inside);
    let imports = imports.filter(|other| other.kind == UnitKind::Imports);
    let length = |unit: &Unit| unit.end.saturating_sub(unit.first);
    length(unit).saturating_sub(imports.map(length).sum())
}

fn hash(file: &SourceFile, unit: &Unit) -> u64 {
    let mut hasher = FxHasher::default();
    for token in file.tokens_of(unit) {
        hasher.write_u32(token.id);
    }
    hasher.finish()
}

/// Whether the words of two equal classes mean the same: what their files define under these names is
/// the same, and their imports are, where they bring one of these.
fn means_alike(corpus: &Corpus, left: Container, right: Container) -> bool {
    let place = |(file, unit): Container| {
        let file = corpus.files.get(file as usize)?;
        Some((file, file.units.get(unit as usize)?))
    };
    let (Some((a, unit)), Some((b, _))) = (place(left), place(right)) else {
        return false;
    };
    let words: FxHashSet<u32> = a
        .tokens_of(unit)
        .iter()
        .filter(|token| token.class == TokenClass::Word && token.id != unit.name)
        .map(|token| token.id)
        .collect();
    let (here, there) = (Names::of(a), Names::of(b));
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
