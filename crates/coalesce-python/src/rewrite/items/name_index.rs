//! The words by which a tree may name something of a module: looked up, where looking through all texts for
//! each name would take the names times the tree.

use std::{
    cell::{Cell, OnceCell},
    hash::BuildHasher as _,
};

use coalesce_model::Texts;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::{patches::sources, set_by_parts::sets};
use crate::{
    facts::ImportStatement,
    graph::PythonGraph,
    names::{is_word, last_word},
};

/// Names for which all texts may be looked through; before more of them it is worked out which stand anywhere.
const LOOKED_FOR: usize = 16;

/// What the imports of a tree name.
struct ImportedNames {
    full: FxHashSet<String>,
    /// Modules of which there are star imports.
    starred: FxHashSet<usize>,
}

/// The words of a tree's sources.
pub struct NameIndex<'t> {
    pub texts: &'t dyn Texts,
    asked: Cell<usize>,
    /// Hashes of the words that stand behind a dot or a quote, and of all words of the files that set names.
    known: OnceCell<FxHashSet<u64>>,
    imported: OnceCell<ImportedNames>,
}

impl<'t> NameIndex<'t> {
    pub fn new(texts: &'t dyn Texts) -> Self {
        Self {
            texts,
            asked: Cell::default(),
            known: OnceCell::default(),
            imported: OnceCell::default(),
        }
    }

    /// Whether an import names this in full.
    pub fn is_imported(&self, graph: &PythonGraph, full: &str) -> bool {
        self.imports(graph).full.contains(full)
    }

    /// Whether any module has a star import of this one.
    pub fn is_star_imported(&self, graph: &PythonGraph, module: usize) -> bool {
        self.imports(graph).starred.contains(&module)
    }

    fn imports(&self, graph: &PythonGraph) -> &ImportedNames {
        self.imported.get_or_init(|| {
            let names = graph.imports.iter().map(|import| import.name.clone());
            let facts = graph.facts.iter().enumerate();
            let stars = facts.flat_map(|(user, facts)| {
                let star = |import: &&ImportStatement| {
                    import.leaves.iter().any(|leaf| leaf.name.text == "*")
                };
                let stars = facts.imports.iter().filter(star);
                stars.filter_map(move |import| graph.base_module(user, import))
            });
            ImportedNames {
                full: names.collect(),
                starred: stars.collect(),
            }
        })
    }

    /// Whether it is worth looking for what names a thing behind a dot or in quotes, or sets it; of a full
    /// name the last part is asked for.
    pub fn may_name(&self, full: &str) -> bool {
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() <= LOOKED_FOR {
            return true;
        }
        let known = self.known.get_or_init(|| read(self.texts));
        known.contains(&hash(last_word(full)))
    }
}

fn read(texts: &dyn Texts) -> FxHashSet<u64> {
    let mut words = FxHashSet::default();
    for (_, text) in sources(texts) {
        let all = sets(&text);
        let mut before = None;
        for part in text.split_inclusive(|c| !is_word(c)) {
            let word = part.trim_end_matches(|c| !is_word(c));
            let named = all || matches!(before, Some('.' | '"' | '\''));
            if named && !word.is_empty() {
                words.insert(hash(word));
            }
            before = part.chars().next_back();
        }
    }
    words
}

fn hash(word: &str) -> u64 {
    FxBuildHasher.hash_one(word)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use coalesce_model::TreePath;

    use super::*;

    struct One(Vec<TreePath>, BTreeMap<TreePath, Arc<str>>);

    impl Texts for One {
        fn paths(&self) -> &[TreePath] {
            &self.0
        }

        fn text(&self, path: &TreePath) -> Option<Arc<str>> {
            self.1.get(path).cloned()
        }
    }

    fn tree(text: &str) -> One {
        let path = TreePath::new("p/a.py").unwrap();
        One(vec![path.clone()], BTreeMap::from([(path, text.into())]))
    }

    #[test]
    fn words_are_seen_behind_dots_and_quotes_and_all_of_them_where_names_are_set() {
        for (text, name, expected) in [
            ("kernels.load\n", "p.kernels.load", true),
            ("f(kernels, \"load\")\n", "load", true),
            ("load = 1\n", "load", false),
            ("kernels.loads\n", "load", false),
            ("kernels._load\n", "load", false),
            ("patch.multiple('p', load=1)\n", "load", true),
            ("é.load\n", "p.load", true),
        ] {
            let tree = tree(text);
            let names = NameIndex::new(&tree);
            for _ in 0..LOOKED_FOR {
                assert!(names.may_name("anything"), "the first ones are looked for");
            }
            assert_eq!(names.may_name(name), expected, "{text}");
        }
    }
}
