//! Whether anybody asks a module for a name that one of its imports binds: such an import cannot wait.
//!
//! By words, since values are not followed: a module that may hold this one as a value, and has the name as an attribute
//! or in quotes, asks for it. Who only imports other names from it holds no such value.

use coalesce_model::Texts;

use crate::{
    analysis::Analysis,
    facts::ImportStatement,
    graph::{Entity, PythonGraph},
    names::{is_word, occurrences_of_word},
};

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
    let Some(own) = graph.modules.get(module) else {
        return true;
    };
    let last = own.name.rsplit('.').next().unwrap_or_default();
    let others = graph.modules.iter().enumerate();
    let mut others = others.filter(|(other, _)| *other != module);
    others.any(|(other, found)| {
        let asker = Asker {
            graph,
            other,
            module,
            last,
        };
        let text = texts.text(&found.path).unwrap_or_default();
        asker.takes_all() || (occurrences_of_word(&text, last) && asker.asks(&text, names))
    })
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
