//! Who reads types as they are written down: of which definitions, where that is said.

use std::collections::BTreeSet;

use coalesce_model::Texts;

use crate::{
    analysis::Analysis,
    graph::Entity,
    names::Names,
    rewrite::{mapping::Mapping, words::Word},
};

/// The attribute that has the types of a definition.
const ATTRIBUTE: &str = "__annotations__";

/// What is read of types in a tree.
#[derive(Debug, Default)]
pub struct AnnotationReaders {
    /// Somebody reads those of something that reading cannot tell.
    unknown: bool,
    /// Definitions whose types are read, by module and name.
    of: BTreeSet<(usize, String)>,
}

impl AnnotationReaders {
    /// Goes through the files that read types.
    pub fn of_tree(mapping: &Mapping<'_>, texts: &dyn Texts) -> Self {
        let mut found = Self::default();
        let words = mapping.words(texts).iter().enumerate();
        for (module, _) in words.filter(|(_, words)| words.has(Word::Annotations)) {
            let path = mapping.graph.modules.get(module).map(|module| &module.path);
            let text = path.and_then(|path| texts.text(path)).unwrap_or_default();
            found.read(mapping, module, &text);
        }
        found
    }

    /// One file. Each place that is not the attribute of a definition of the tree is one of anything.
    fn read(&mut self, mapping: &Mapping<'_>, module: usize, text: &str) {
        let analysis = Analysis::new(text);
        let names = Names::new(mapping.graph, Some(module), &analysis);
        let mut known = 0;
        for used in &analysis.uses {
            let mut chain = used.chain.iter();
            let Some(position) = chain.position(|each| each.text == ATTRIBUTE) else {
                continue;
            };
            let meanings = names.meanings(used);
            let owner = position.checked_sub(1).and_then(|at| meanings.get(at));
            if let Some(Entity::Item(home, name)) = owner.and_then(|owner| owner.entity.as_ref())
                && is_class(mapping, *home, name)
            {
                self.of.insert((*home, name.clone()));
                known += 1;
            }
        }
        self.unknown |= reads_of_parts(&analysis, text);
        // `getattr(function, "__annotations__")` reads those of anything, too.
        let places = memchr::memmem::find_iter(text.as_bytes(), ATTRIBUTE.as_bytes());
        self.unknown |= places.count() > known;
    }

    /// Whether the types of a definition may be read. Those of a class are read of classes below it, too.
    pub fn may_read(&self, module: usize, name: &str, is_class: bool) -> bool {
        self.unknown
            || (is_class && !self.of.is_empty())
            || self.of.contains(&(module, name.to_owned()))
    }
}

/// Whether a file reads the types of fields or of parameters: `field.type`, `parameter.annotation`.
fn reads_of_parts(analysis: &Analysis, text: &str) -> bool {
    let pairs = [
        (["fields(", "__dataclass_fields__"], "type"),
        (["signature(", "getfullargspec("], "annotation"),
    ];
    pairs.iter().any(|(sources, attribute)| {
        let mut uses = analysis.uses.iter();
        let mut reads = uses.any(|used| {
            let mut attributes = used.chain.iter().skip(1);
            attributes.any(|each| each.text == *attribute)
        });
        reads |=
            text.contains(&format!(").{attribute}")) || text.contains(&format!("].{attribute}"));
        reads && sources.iter().any(|source| text.contains(source))
    })
}

/// Whether a name of a module is that of a class, and not of a value that may be something else.
fn is_class(mapping: &Mapping<'_>, module: usize, name: &str) -> bool {
    let facts = mapping.graph.facts.get(module);
    facts.is_some_and(|facts| {
        let flow = &facts.flow;
        let mut named = flow.bodies.iter();
        named.any(|body| body.class && flow.text(body.name) == name)
    })
}
