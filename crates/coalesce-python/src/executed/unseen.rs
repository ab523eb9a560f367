//! What the import of a module does though its text does nothing: it is there for whoever looks the loaded modules through,
//! and libraries are loaded that are imported for what they do.

use std::cell::OnceCell;

use coalesce_model::{Guard, Texts, Unproven, UnprovenKind};

use super::ModuleSet;
use crate::{
    facts::{ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
    names::{is_word, places_of_word},
    requirements::standard::is_standard,
    rewrite::is_test,
};

/// Modules of the standard library that do something when they are imported.
const DOING: [&str; 5] = [
    "antigravity",
    "readline",
    "rlcompleter",
    "sitecustomize",
    "this",
];

/// Reads what nobody sees of the modules that are run no longer.
pub(super) struct Unseen<'g> {
    before: &'g PythonGraph,
    after: &'g PythonGraph,
    texts: &'g dyn Texts,
    /// A module that looks through those that are loaded.
    looking: OnceCell<Option<String>>,
}

impl<'g> Unseen<'g> {
    pub(super) fn new(
        before: &'g PythonGraph,
        after: &'g PythonGraph,
        texts: &'g dyn Texts,
    ) -> Self {
        Self {
            before,
            after,
            texts,
            looking: OnceCell::new(),
        }
    }

    /// What is not there any more once the import of `root` no longer runs a module. `runs` is what it runs.
    pub(super) fn of_module(
        &self,
        module: usize,
        root: usize,
        runs: &ModuleSet,
    ) -> Option<Unproven> {
        let (found, root) = (
            self.before.modules.get(module)?,
            self.before.modules.get(root)?,
        );
        let (span, what) = self.reason(module, runs)?;
        Some(Unproven {
            path: found.path.clone(),
            span,
            kind: UnprovenKind::NotExecuted,
            name: found.name.clone(),
            why: format!(
                "importing `{}` ran it, {what}; it does not any more",
                root.name
            ),
        })
    }

    /// What is not there without a module, with its place where it has one.
    fn reason(
        &self,
        module: usize,
        runs: &ModuleSet,
    ) -> Option<(Option<coalesce_model::ByteSpan>, String)> {
        if let Some((span, name)) = self.library(module, runs) {
            let what = format!("with `{name}`, which it imports and does not use");
            return Some((Some(span), what));
        }
        let looking = self.looking.get_or_init(|| self.find_looking());
        let name = looking.as_ref()?;
        let what = format!("and `{name}` looks through the modules that are loaded");
        Some((None, what))
    }

    /// A module of the tree that goes through `sys.modules`.
    fn find_looking(&self) -> Option<String> {
        let mut modules = self.before.modules.iter();
        let looks = |text: &str| {
            let mut places = text.match_indices("sys.modules");
            places.any(|(at, word)| {
                let before = text.get(..at).unwrap_or_default();
                let after = text.get(at + word.len()..).unwrap_or_default();
                goes_through(before, after)
            })
        };
        let found = modules.find(|module| {
            let text = self.texts.text(&module.path);
            !is_test(module.path.file_name()) && text.is_some_and(|text| looks(&text))
        });
        found.map(|module| module.name.clone())
    }

    /// A library that a module imports for what it does: its name is used by nobody, and nothing that still runs imports it.
    fn library(
        &self,
        module: usize,
        runs: &ModuleSet,
    ) -> Option<(coalesce_model::ByteSpan, String)> {
        let own = self.before.modules.get(module)?;
        let facts = self.before.facts.get(module).filter(|_| !own.package)?;
        let text = self.texts.text(&own.path)?;
        let plain = facts.imports.iter().filter(|import| {
            import.eager && import.top_level && !import.conditional && import.guard == Guard::None
        });
        let mut leaves =
            plain.flat_map(|import| import.leaves.iter().map(move |leaf| (import, leaf)));
        leaves.find_map(|(import, leaf)| {
            let library = self.outside(module, import, leaf)?;
            let unused = places_of_word(&text, leaf.bound()).count() < 2
                && !self.is_taken(module, leaf.bound());
            let counts = unused && !self.is_loaded(&library, runs);
            counts.then_some((import.span, library))
        })
    }

    /// The library that a leaf imports, where importing it may do something.
    fn outside(&self, module: usize, import: &ImportStatement, leaf: &Leaf) -> Option<String> {
        let name = match &import.from {
            None => leaf.name.text.clone(),
            Some(from) if from.level == 0 => from.module.clone(),
            Some(_) => return None,
        };
        let top = name.split('.').next()?;
        let does = !is_standard(top) && top != "__future__" || DOING.contains(&top);
        let outside = self.before.leaf_entity(module, import, leaf) == Entity::External;
        (does && outside && leaf.name.text != "*").then_some(name)
    }

    /// Whether another module takes a name from this one.
    fn is_taken(&self, module: usize, name: &str) -> bool {
        let mut all = self.before.facts.iter().enumerate();
        all.any(|(importer, facts)| {
            facts.imports.iter().any(|import| {
                let mut leaves = import.leaves.iter();
                leaves.any(|leaf| leaf.name.text == name || leaf.name.text == "*")
                    && self.before.base_module(importer, import) == Some(module)
            })
        })
    }

    /// Whether a module that runs imports a library.
    fn is_loaded(&self, library: &str, runs: &ModuleSet) -> bool {
        let mut modules = runs.members().filter_map(|at| self.after.facts.get(at));
        modules.any(|facts| {
            let mut eager = facts.imports.iter().filter(|import| import.eager);
            eager.any(|import| match &import.from {
                None => import.leaves.iter().any(|leaf| leaf.name.text == library),
                Some(from) => from.level == 0 && from.module == library,
            })
        })
    }
}

/// Whether `sys.modules` between two texts is gone through: `for name in sys.modules:`, `list(sys.modules.values())`.
fn goes_through(before: &str, after: &str) -> bool {
    let views = [".values(", ".items(", ".keys("];
    let copies = ["list(", "tuple(", "sorted(", "set(", "dict("];
    if views.iter().any(|view| after.starts_with(view)) {
        return true;
    }
    if copies.iter().any(|call| before.ends_with(call)) {
        return after.starts_with([')', ',']);
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    let target = line.trim_end().strip_suffix(" in");
    let target = target.and_then(|head| Some(head.rsplit_once("for ")?.1));
    target.is_some_and(|names| {
        let mut letters = names.chars();
        let mut words = names.split_whitespace();
        // `for n in names if n` begins another loop.
        let targets = words.all(|word| !matches!(word, "in" | "if"));
        targets && letters.all(|c| is_word(c) || matches!(c, ',' | ' ' | '(' | ')'))
    }) && !after.starts_with(['.', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_told_from_look_ups() {
        for (text, expected) in [
            ("for name in @:", true),
            ("names = [n for n in @ if n]", true),
            ("for m in list(@.values()):", true),
            ("for n, m in list(@.items()):", true),
            ("for n in sorted(@):", true),
            ("if name in @:", false),
            ("[n for n in names if n in @]", false),
            ("@[name]", false),
            ("@.get(name)", false),
            ("for n in @[x].names:", false),
        ] {
            let (before, after) = text.split_once('@').unwrap_or_default();
            assert_eq!(goes_through(before, after), expected, "{text}");
        }
    }
}
