//! What the names in one file mean: uses, with their attributes, followed through imports.

use std::sync::OnceLock;

use coalesce_model::ByteSpan;
use rustc_hash::FxHashMap;

use crate::{
    analysis::{Analysis, Binding, Scope, Use},
    facts::{ImportStatement, Leaf, Spanned},
    graph::{Entity, PythonGraph},
};

/// How many assignments from name to name are followed.
const MAXIMUM_ASSIGNMENTS: usize = 4;

/// One file under the eye of a graph.
pub struct Names<'a> {
    graph: &'a PythonGraph,
    /// The module of the file; `None` for code that belongs to none.
    module: Option<usize>,
    /// The walk over the file.
    pub analysis: &'a Analysis,
    /// What is known of the names of each scope, once somebody asks.
    bound: OnceLock<Vec<FxHashMap<String, Bound>>>,
}

/// What the bindings of one name in one scope come to: a name may have as many as the file has
/// lines, and as many uses.
#[derive(Default)]
struct Bound {
    /// The first import of which there is a leaf: statement and leaf.
    import: Option<(usize, usize)>,
    /// Whether some import binds it.
    imported: bool,
    /// Whether something else does.
    own: bool,
    /// Uses whose value it gets, the first few.
    values: Vec<usize>,
}

/// A name or attribute and what it means: for `a.b.c` one for each of `a`, `a.b`, `a.b.c`.
#[derive(Clone, Debug)]
pub struct Meaning<'a> {
    /// The segment.
    pub segment: &'a Spanned,
    /// What the chain up to this segment means, when that is something of the tree.
    pub entity: Option<Entity>,
    /// The dotted name up to here, when it is a package, namespace packages included.
    pub dotted: Option<String>,
}

/// Of a name that nothing binds.
static NOT_BOUND: Bound = Bound {
    import: None,
    imported: false,
    own: false,
    values: Vec::new(),
};

impl<'a> Names<'a> {
    /// Looks at a file of a module.
    #[must_use]
    pub fn new(graph: &'a PythonGraph, module: Option<usize>, analysis: &'a Analysis) -> Self {
        Self {
            graph,
            module,
            analysis,
            bound: OnceLock::new(),
        }
    }

    /// What binds `name` as seen from a scope, and that scope.
    fn bound(&self, scope: usize, name: &str) -> Option<(usize, &Bound)> {
        let scope = self.analysis.binding_scope(scope, name)?;
        let known = self.bound.get_or_init(|| self.all_bound()).get(scope)?;
        // A name that is declared global need not be bound there.
        Some((scope, known.get(name).unwrap_or(&NOT_BOUND)))
    }

    fn all_bound(&self) -> Vec<FxHashMap<String, Bound>> {
        let names = |scope: &Scope| {
            let bindings = scope.bindings.iter();
            bindings
                .map(|(name, bindings)| (name.clone(), self.sum(bindings)))
                .collect()
        };
        self.analysis.scopes.iter().map(names).collect()
    }

    fn sum(&self, bindings: &[Binding]) -> Bound {
        let mut bound = Bound::default();
        for binding in bindings {
            bound.imported |= binding.import.is_some();
            bound.own |= binding.import.is_none();
            let known = bound.import.and_then(|known| self.import_at(known));
            let next = self.import(binding);
            if next.is_some_and(|(next, _)| known.is_none_or(|(first, _)| next.replaces(first))) {
                bound.import = binding.import;
            }
            if bound.values.len() < MAXIMUM_ASSIGNMENTS {
                bound.values.extend(binding.value);
            }
        }
        bound
    }

    /// The import leaf behind a binding.
    #[must_use]
    pub fn import(&self, binding: &Binding) -> Option<(&'a ImportStatement, &'a Leaf)> {
        self.import_at(binding.import?)
    }

    fn import_at(
        &self,
        (statement, leaf): (usize, usize),
    ) -> Option<(&'a ImportStatement, &'a Leaf)> {
        let (import, _) = self.analysis.imports.get(statement)?;
        Some((import, import.leaves.get(leaf)?))
    }

    /// What each prefix of a use means; empty for names of the file's own local scopes.
    #[must_use]
    pub fn meanings(&self, found: &'a Use) -> Vec<Meaning<'a>> {
        self.meanings_at(found, 0)
    }

    fn meanings_at(&self, found: &'a Use, depth: usize) -> Vec<Meaning<'a>> {
        let Some((root, attributes)) = found.chain.split_first() else {
            return Vec::new();
        };
        // A name that was given a module leads on as that module does.
        let mut held = self.held(found.scope, root, depth);
        let known = self.root(found.scope, &root.text);
        if known.is_none() && held.is_none() {
            return Vec::new();
        }
        let (entity, dotted) = known.unwrap_or_default();
        let mut meanings = vec![Meaning {
            segment: root,
            entity,
            dotted,
        }];
        self.follow_attributes(attributes, held.take(), &mut meanings);
        meanings
    }

    /// What the attributes of a name mean, as far as anybody knows; the first may be one of the module that the name `held`.
    fn follow_attributes(
        &self,
        attributes: &'a [Spanned],
        held: Option<Meaning<'a>>,
        meanings: &mut Vec<Meaning<'a>>,
    ) {
        let mut held = held;
        for attribute in attributes {
            let held = held.take();
            let Some(last) = held.as_ref().or(meanings.last()) else {
                break;
            };
            let Some((entity, dotted)) = self.attribute(last, &attribute.text) else {
                break;
            };
            meanings.push(Meaning {
                segment: attribute,
                entity,
                dotted,
            });
        }
    }

    /// The module that a plain assignment gives to a name: `filters = nx.filters`.
    fn held(&self, scope: usize, root: &'a Spanned, depth: usize) -> Option<Meaning<'a>> {
        let (_, bound) = self.bound(scope, &root.text)?;
        if depth > MAXIMUM_ASSIGNMENTS || bound.imported {
            return None;
        }
        let values = bound.values.iter();
        values
            .filter_map(|value| self.analysis.uses.get(*value))
            .find_map(|value| self.module_of(value, depth + 1))
    }

    /// The meaning of a whole use, when it is a module.
    fn module_of(&self, value: &'a Use, depth: usize) -> Option<Meaning<'a>> {
        let mut meanings = self.meanings_at(value, depth);
        let whole = meanings.len() == value.chain.len();
        let last = meanings.pop().filter(|_| whole)?;
        if matches!(last.entity, Some(Entity::Module(_))) {
            return Some(last);
        }
        match value.chain.as_slice() {
            [root] => self.held(value.scope, root, depth),
            _ => None,
        }
    }

    /// The module that a name holds by assignment, as seen from a scope.
    #[must_use]
    pub fn held_module(&self, scope: usize, root: &'a Spanned) -> Option<usize> {
        match self.held(scope, root, 0)?.entity {
            Some(Entity::Module(module)) => Some(module),
            _ => None,
        }
    }

    fn root(&self, scope: usize, name: &str) -> Option<(Option<Entity>, Option<String>)> {
        let Some((bound_in, bound)) = self.bound(scope, name) else {
            // Nothing in the file binds it: a star import may.
            let entity = self.graph.member(self.module?, name);
            return matches!(entity, Entity::Module(_) | Entity::Item(..))
                .then_some((Some(entity), None));
        };
        let import = bound.import.and_then(|import| self.import_at(import));
        let imported = import.map(|(import, leaf)| self.leaf(import, leaf));
        let own = bound.own;
        match imported {
            Some((entity, dotted)) => {
                let namespace = dotted.as_ref().map(|name| self.graph.is_namespace(name));
                let internal = namespace == Some(true)
                    || matches!(entity, Some(Entity::Module(_) | Entity::Item(..)));
                if internal || !own || bound_in != 0 {
                    Some((entity, dotted))
                } else {
                    Some((self.item(name), None))
                }
            }
            None => (bound_in == 0).then(|| (self.item(name), None)),
        }
    }

    fn item(&self, name: &str) -> Option<Entity> {
        self.module
            .map(|module| Entity::Item(module, name.to_owned()))
    }

    /// What the name that a leaf binds means.
    fn leaf(&self, import: &ImportStatement, leaf: &Leaf) -> (Option<Entity>, Option<String>) {
        let (entity, dotted) = if import.from.is_none() && leaf.alias.is_none() {
            let top = leaf.bound().to_owned();
            (
                self.graph.find(self.module, &top).map(Entity::Module),
                Some(top),
            )
        } else {
            let entity = self.graph.leaf_entity(self.module, import, leaf);
            (
                Some(entity),
                import.full_name(
                    leaf,
                    self.module
                        .map_or("", |module| self.graph.package_of(module)),
                ),
            )
        };
        let package = matches!(
            entity,
            None | Some(Entity::Module(_) | Entity::External | Entity::Opaque)
        );
        (entity, dotted.filter(|_| package))
    }

    fn attribute(
        &self,
        before: &Meaning<'_>,
        name: &str,
    ) -> Option<(Option<Entity>, Option<String>)> {
        let dotted = before
            .dotted
            .as_ref()
            .map(|dotted| format!("{dotted}.{name}"));
        match &before.entity {
            Some(Entity::Module(module)) => match self.graph.member(*module, name) {
                entity @ Entity::Module(_) => Some((Some(entity), dotted)),
                entity @ Entity::Item(..) => Some((Some(entity), None)),
                _ => None,
            },
            None | Some(Entity::External | Entity::Opaque) => {
                let dotted = dotted?;
                let entity = self.graph.find(self.module, &dotted).map(Entity::Module);
                // Beyond what has a name below it in the tree, nothing is ours.
                (entity.is_some() || self.graph.is_namespace(&dotted))
                    .then_some((entity, Some(dotted)))
            }
            Some(Entity::Item(..) | Entity::Missing) => None,
        }
    }
}

/// The dotted names inside a text that stand alone there: no identifier character or dot touches
/// them.
pub fn occurrences<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = ByteSpan> + 't {
    memchr::memmem::find_iter(text.as_bytes(), name.as_bytes()).filter_map(move |at| {
        let before = text.get(..at)?.chars().next_back();
        let after = text.get(at + name.len()..)?.chars().next();
        let alone = !before.is_some_and(|c| is_word(c) || c == '.') && !after.is_some_and(is_word);
        alone.then(|| ByteSpan::from_range(at..at + name.len()))
    })
}

/// Whether a character may stand in an identifier.
pub fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The text of the literal that code begins with, and what follows it.
pub fn literal_at(code: &str) -> Option<(&str, &str)> {
    let quote = code.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    code.get(1..)?.split_once(quote)
}

/// The text of code that is one literal.
pub fn content_of(code: &str) -> Option<&str> {
    let (content, rest) = literal_at(code)?;
    rest.is_empty().then_some(content)
}

/// The arguments of a call whose parenthesis opens before `start`, as they are written, each with its place.
pub fn arguments_at(text: &str, start: usize) -> Vec<(usize, &str)> {
    let (mut found, mut begin, mut depth, mut quote) = (Vec::new(), start, 0_usize, None);
    let mut letters = text.get(start..).unwrap_or_default().char_indices();
    while let Some((at, c)) = letters.next() {
        let at = start + at;
        match (quote, c) {
            (Some(_), '\\') => _ = letters.next(),
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') if depth > 0 => depth -= 1,
            (None, ',') if depth == 0 => {
                found.extend(text.get(begin..at).map(|argument| (begin, argument)));
                begin = at + 1;
            }
            (None, ')') => {
                found.extend(text.get(begin..at).map(|argument| (begin, argument)));
                return found;
            }
            _ => {}
        }
    }
    found.extend(text.get(begin..).map(|argument| (begin, argument)));
    found
}

/// Calls that give all names of a module.
pub const LISTING_NAMES: [&str; 4] = ["dir(", "getmembers(", "getmembers_static(", "vars("];

/// Whether a dotted name is below another one.
pub fn is_below(name: &str, above: &str) -> bool {
    let rest = name.strip_prefix(above);
    rest.is_some_and(|rest| rest.starts_with('.'))
}

/// Whether a dotted name is another one, or below it.
pub fn is_or_below(name: &str, other: &str) -> bool {
    name == other || is_below(name, other)
}

/// What stands before a name or a literal, its quotes left out.
pub fn code_before(text: &str, at: u32) -> &str {
    let before = text.get(..at as usize).unwrap_or_default();
    before.trim_end_matches(['"', '\'']).trim_end()
}

/// The identifier that a text ends with; empty where it ends with something else.
pub fn last_word(text: &str) -> &str {
    let at = text.trim_end_matches(is_word).len();
    text.get(at..).unwrap_or_default()
}

/// Whether an identifier stands in a text, as an attribute too.
pub fn occurrences_of_word(text: &str, name: &str) -> bool {
    places_of_word(text, name).next().is_some()
}

/// Where an identifier stands in a text, as an attribute and in prose, too.
pub fn places_of_word<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    memchr::memmem::find_iter(text.as_bytes(), name.as_bytes()).filter(move |at| {
        let at = *at;
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text
            .get(at + name.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}
