//! The words by which a tree may name something of a module: looked up, where looking through all texts for
//! each name would take the names times the tree.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeSet,
    hash::BuildHasher as _,
    rc::Rc,
};

use coalesce_model::Texts;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::{patches::sources, set_by_parts::sets};
use crate::{
    facts::ImportStatement,
    graph::PythonGraph,
    names::{is_word, last_word, places_of_word},
};

/// Names for which all texts may be looked through; before more of them it is worked out which stand anywhere.
const LOOKED_FOR: usize = 16;
/// Names that one module is followed through: with more of them it is none that the tree has by many names.
const MOST_NAMES_OF_A_MODULE: usize = 32;

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
    /// What a module is called, by the last part of its name, as far as somebody has asked.
    called: RefCell<FxHashMap<String, Rc<BTreeSet<String>>>>,
}

impl<'t> NameIndex<'t> {
    pub fn new(texts: &'t dyn Texts) -> Self {
        Self {
            texts,
            asked: Cell::default(),
            known: OnceCell::default(),
            imported: OnceCell::default(),
            called: RefCell::default(),
        }
    }

    /// What sources call a module, by the last part of its name: that, and what imports and assignments make of it, in
    /// examples, too.
    pub fn called(&self, last: &str) -> Rc<BTreeSet<String>> {
        if let Some(known) = self.called.borrow().get(last) {
            return Rc::clone(known);
        }
        let found = Rc::new(called(self.texts, last));
        let mut all = self.called.borrow_mut();
        all.insert(last.to_owned(), Rc::clone(&found));
        found
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
            words.extend((named && !word.is_empty()).then(|| hash(word)));
            before = part.chars().next_back();
        }
    }
    words
}

/// The names that a thing of this name gets in the sources, those that get it from such a name among them.
fn called(texts: &dyn Texts, name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(name) = open.pop() {
        if found.len() >= MOST_NAMES_OF_A_MODULE || !found.insert(name.clone()) {
            continue;
        }
        for (_, text) in sources(texts) {
            open.extend(given_names(&text, &name).map(str::to_owned));
        }
    }
    found
}

/// The names that a text gives to what is called so: `gpu as device`, `device = pkg.gpu`.
fn given_names<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    places_of_word(text, name).filter_map(move |at| {
        let (before, rest) = text.split_at(at);
        let rest = rest.get(name.len()..)?;
        let line = rest.split(['\n', '\r', '#', ';']).next()?.trim();
        if let Some(alias) = line.strip_prefix("as ") {
            let alias = alias.trim_start();
            return alias
                .split(|c| !is_word(c))
                .next()
                .filter(|alias| !alias.is_empty());
        }
        let (target, value) = before.rsplit(['\n', '\r', ';']).next()?.rsplit_once('=')?;
        let is_chain = value.trim_start().chars().all(|c| is_word(c) || c == '.');
        let target = last_word(target.trim_end());
        (line.is_empty() && is_chain && !target.is_empty()).then_some(target)
    })
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
    fn what_a_module_is_called_is_followed() {
        for (text, expected) in [
            (
                "from p import gpu as g\nimport p.gpu as device, q\n",
                "device g gpu",
            ),
            ("from p import gpu as g\nd = q.g  # it\n", "d g gpu"),
            (">>> import p.gpu as g\n", "g gpu"),
            ("d = gpu.count\ne = gpu()\nif d == gpu:\n    pass\n", "gpu"),
        ] {
            let tree = tree(text);
            let found: Vec<String> = NameIndex::new(&tree)
                .called("gpu")
                .iter()
                .cloned()
                .collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
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
