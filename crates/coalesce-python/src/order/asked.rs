//! Whether anybody asks a module for a name that one of its imports binds: such an import cannot wait.
//!
//! By words, since values are not followed: a module that may hold this one as a value, and has the name as an attribute
//! or in quotes, asks for it. Who only imports other names from it holds no such value.

use std::sync::Arc;

use coalesce_model::Texts;

use crate::{
    analysis::Analysis,
    facts::ImportStatement,
    graph::{Entity, PythonGraph},
    names::{LISTING_NAMES, Names, is_word, occurrences_of_word},
};

/// What may give any module of the tree.
const ANY_MODULE: [&str; 5] = [
    "import_module",
    "__import__",
    "sys.modules",
    "iter_modules",
    "walk_packages",
];

/// A module that may ask, and the one that is asked.
struct Asker<'g> {
    graph: &'g PythonGraph,
    other: usize,
    module: usize,
    /// The last part of the name of the module that is asked.
    last: &'g str,
}

/// Whether a text of another module may mean a name of this one, or takes all of them.
pub(super) fn is_asked_for(
    graph: &PythonGraph,
    texts: &dyn Texts,
    module: usize,
    names: &[String],
) -> bool {
    let mut askers = askers(graph, texts, module);
    askers.any(|(asker, text)| {
        asker.takes_all() || (occurrences_of_word(&text, asker.last) && asker.asks(&text, names))
    })
}

/// All other modules of the tree, with their texts.
fn askers<'g>(
    graph: &'g PythonGraph,
    texts: &'g dyn Texts,
    module: usize,
) -> impl Iterator<Item = (Asker<'g>, Arc<str>)> {
    let own = graph.modules.get(module);
    let last = own.and_then(|own| own.name.rsplit('.').next());
    let others = graph.modules.iter().enumerate();
    let others = others.filter(move |(other, _)| *other != module);
    others.map(move |(other, found)| {
        let asker = Asker {
            graph,
            other,
            module,
            last: last.unwrap_or_default(),
        };
        (asker, texts.text(&found.path).unwrap_or_default())
    })
}

/// Whether another module takes all names of this one, has it as a value, or lists what any module has: a name that is
/// given when somebody asks is not among those.
pub(super) fn is_looked_through(
    graph: &PythonGraph,
    texts: &dyn Texts,
    module: usize,
    import: &ImportStatement,
) -> bool {
    let Some(facts) = graph.facts.get(module) else {
        return true;
    };
    // What `__all__` lists is asked for by a star import.
    let listed = import.leaves.iter().all(|leaf| {
        let mut all = facts.all.iter().flatten();
        all.any(|entry| entry.text == leaf.bound())
    });
    let is_shim = |other: usize| {
        let facts = graph.facts.get(other);
        facts.is_some_and(|facts| facts.shim.is_some() || !facts.item_shims.is_empty())
    };
    let mut askers = askers(graph, texts, module);
    askers.any(|(asker, text)| {
        (!listed && asker.takes_all())
            || (!is_shim(asker.other) && lists_any_module(&text))
            || (occurrences_of_word(&text, asker.last) && asker.passes_on(&text))
    })
}

/// Whether a text may list the names of a module that is not named there.
fn lists_any_module(text: &str) -> bool {
    if !ANY_MODULE.iter().any(|word| text.contains(word)) {
        return false;
    }
    let is_variable = |operand: &str| {
        let root = operand.split('.').next().unwrap_or_default();
        !matches!(root, "" | "self" | "cls")
    };
    let listed = LISTING_NAMES.iter().flat_map(|word| {
        let places = memchr::memmem::find_iter(text.as_bytes(), word.as_bytes());
        places.filter_map(|at| {
            let (before, after) = (text.get(..at)?, text.get(at + word.len()..)?);
            let rest = after.trim_start_matches(|c: char| is_word(c) || c == '.');
            let apart = !before.ends_with(is_word) && !before.ends_with("os.");
            apart.then(|| after.get(..after.len() - rest.len()))?
        })
    });
    let mut operands = listed.chain(attributes(text, "__dict__").map(|(_, chain)| chain));
    operands.any(is_variable)
}

impl Asker<'_> {
    fn imports(&self) -> impl Iterator<Item = &ImportStatement> {
        let facts = self.graph.facts.get(self.other);
        facts.into_iter().flat_map(|facts| &facts.imports)
    }

    fn takes_all(&self) -> bool {
        self.imports().any(|import| {
            import.leaves.iter().any(|leaf| leaf.name.text == "*")
                && self.graph.base_module(self.other, import) == Some(self.module)
        })
    }

    /// Whether the module is a value there of which more may be asked than an attribute by its name.
    fn passes_on(&self, text: &str) -> bool {
        let analysis = Analysis::new(text);
        let names = Names::new(self.graph, Some(self.other), &analysis);
        analysis.uses.iter().any(|used| {
            let meanings = names.meanings(used);
            let mut meanings = meanings.iter();
            let found = meanings.position(|meaning| {
                matches!(meaning.entity, Some(Entity::Module(found)) if found == self.module)
            });
            let next = found.map(|at| used.chain.get(at + 1).map(|next| next.text.as_str()));
            matches!(next, Some(None | Some("__dict__" | "__all__")))
        })
    }

    fn asks(&self, text: &str, names: &[String]) -> bool {
        if !names.iter().any(|name| occurrences_of_word(text, name)) {
            return false;
        }
        let analysis = Analysis::new(text);
        self.takes(names) || self.asks_in_documentation(text, &analysis, names) || {
            self.holds(text, &analysis) && self.asks_in_code(text, &analysis, names)
        }
    }

    /// Whether an import takes one of the names from what may be the module, also one that nothing resolves.
    fn takes(&self, names: &[String]) -> bool {
        self.imports().any(|import| {
            let from = import.from.as_ref();
            from.is_some_and(|from| from.module.rsplit('.').next() == Some(self.last))
                && import
                    .leaves
                    .iter()
                    .any(|leaf| names.contains(&leaf.name.text))
        })
    }

    /// Whether the module itself may be a value there: a path that an import takes other names from gives none.
    fn holds(&self, text: &str, analysis: &Analysis) -> bool {
        let mut leaves = self.imports().flat_map(|import| &import.leaves);
        let mut uses = analysis.uses.iter().flat_map(|used| &used.chain);
        let mut strings = analysis.strings.iter();
        let in_import = |at: usize| {
            let mut imports = analysis.imports.iter();
            imports.any(|(import, _)| {
                (import.span.start as usize..import.span.end as usize).contains(&at)
            })
        };
        analysis.dynamic
            || leaves.any(|leaf| leaf.name.text.rsplit('.').next() == Some(self.last))
            || uses.any(|link| link.text == self.last)
            || attributes(text, self.last).any(|(at, _)| !in_import(at))
            || strings.any(|string| {
                let quoted = string.span.of(text).unwrap_or_default();
                !string.documentation && occurrences_of_word(quoted, self.last)
            })
    }

    fn asks_in_code(&self, text: &str, analysis: &Analysis, names: &[String]) -> bool {
        let documentation = |at: usize| {
            let mut strings = analysis.strings.iter();
            strings.any(|string| {
                let (start, end) = (string.span.start as usize, string.span.end as usize);
                string.documentation && (start..end).contains(&at)
            })
        };
        names.iter().any(|name| {
            let forms = [format!("\"{name}\""), format!("'{name}'")];
            let mut places = attributes(text, name);
            forms.iter().any(|form| text.contains(form.as_str()))
                || places.any(|(at, chain)| !documentation(at) && !self.is_another(chain))
        })
    }

    /// Whether a docstring has one of the names as an attribute of the module, by whatever name the module goes there.
    fn asks_in_documentation(&self, text: &str, analysis: &Analysis, names: &[String]) -> bool {
        let documentation = analysis.strings.iter().filter(|each| each.documentation);
        let mut texts = documentation.filter_map(|string| string.span.of(text));
        texts.any(|quoted| {
            let renamed = quoted.contains(&format!("{} as ", self.last));
            let asks = |chain: &str| {
                let link = chain.rsplit('.').next().unwrap_or_default();
                renamed || link == self.last || link.is_empty() || self.is_bound(link)
            };
            let mut names = names.iter();
            names.any(|name| attributes(quoted, name).any(|(_, chain)| asks(chain)))
        })
    }

    /// Whether an import binds a name to the module that is asked.
    fn is_bound(&self, name: &str) -> bool {
        self.entities(name)
            .any(|entity| matches!(entity, Entity::Module(found) if found == self.module))
    }

    fn entities(&self, name: &str) -> impl Iterator<Item = Entity> {
        let leaves = self
            .imports()
            .flat_map(|import| import.leaves.iter().map(move |leaf| (import, leaf)));
        let bound = leaves.filter(move |(_, leaf)| leaf.bound() == name);
        bound.map(|(import, leaf)| self.graph.leaf_entity(self.other, import, leaf))
    }

    /// Whether what stands before an attribute is something else than the module for certain.
    fn is_another(&self, chain: &str) -> bool {
        let (root, rest) = chain.split_once('.').unwrap_or((chain, ""));
        let held = matches!(root, "" | "self" | "cls");
        let elsewhere = || {
            let mut entities = self.entities(root).peekable();
            entities.peek().is_some()
                && entities
                    .all(|entity| !matches!(entity, Entity::Module(found) if found == self.module))
        };
        chain.rsplit('.').next() != Some(self.last) && !held && (!rest.is_empty() || elsewhere())
    }
}

/// The places of a text that have a name as an attribute, each with the dotted words before it.
fn attributes<'t>(text: &'t str, name: &str) -> impl Iterator<Item = (usize, &'t str)> {
    let attribute = format!(".{name}");
    let places: Vec<usize> = text.match_indices(&attribute).map(|(at, _)| at).collect();
    places.into_iter().filter_map(move |at| {
        let after = text.get(at + attribute.len()..)?;
        let before = text.get(..at)?;
        let kept = before.trim_end_matches(|c: char| is_word(c) || c == '.');
        let chain = before.get(kept.len()..)?;
        (!after.starts_with(is_word)).then_some((at, chain))
    })
}
