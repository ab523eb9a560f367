//! The import that brings a needed name to where a definition goes.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, Guard};

use super::{
    Moved, cut,
    loggers::{self, Own},
    needs::{Need, Origin, Problem},
    outline::Kind,
    place::{Block, Target},
    source::Source,
};
use crate::{
    facts::{ImportStatement, Leaf},
    graph::Entity,
    rewrite::{
        file::File,
        imports::{destination, relative},
        mapping::Mapping,
    },
};

/// An import that a file gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The module of `from … import`; none for `import …`.
    pub parent: Option<String>,
    pub name: String,
    /// The name that it binds.
    pub bound: String,
    /// With dots where that is possible.
    pub relative: bool,
    /// The module of the tree that it loads.
    pub module: Option<usize>,
    /// For type checkers alone.
    pub typing: bool,
    /// It binds a module whose names are read later: no cycle hurts it.
    pub late: bool,
}

impl Line {
    fn spelled_parent(&self, package: &str) -> Option<String> {
        let parent = self.parent.as_ref()?;
        let dots = self.relative.then(|| relative(package, parent)).flatten();
        Some(dots.unwrap_or_else(|| parent.clone()))
    }

    fn leaf(&self) -> String {
        let own = match &self.parent {
            Some(_) => self.name == self.bound,
            None => self.name.split('.').next() == Some(&self.bound),
        };
        if own {
            self.name.clone()
        } else {
            format!("{} as {}", self.name, self.bound)
        }
    }

    /// The statement, in a file of this package.
    pub fn statement(&self, package: &str) -> String {
        match self.spelled_parent(package) {
            Some(parent) => format!("from {parent} import {}", self.leaf()),
            None => format!("import {}", self.leaf()),
        }
    }
}

/// What a need comes to: an import, another name in the definition, both or neither.
#[derive(Debug, Default)]
pub struct Resolved {
    pub line: Option<Line>,
    pub rename: Option<String>,
    /// A statement below the imports.
    pub made: Option<String>,
    /// It is the logger of the target, and no more that of the module.
    pub other_logger: bool,
}

/// How a need is met in `target`.
pub fn resolve(
    mapping: &Mapping<'_>,
    source: &Source,
    block: &Block,
    need: &Need,
    target: &Target,
    (taken, patched): (&[Line], bool),
) -> Result<Resolved, Problem> {
    let Some(line) = line(mapping, source, need, target) else {
        return Ok(Resolved::default());
    };
    if !patched && let Some(resolved) = logger(mapping, source, need, target, taken) {
        return Ok(resolved);
    }
    let perhaps = is_perhaps(source, need);
    if need.origin == Origin::Back
        && (patched || perhaps)
        && !need.eager()
        && let Some(resolved) = through_module(source, block, need, target, &line, taken)
    {
        return Ok(resolved);
    }
    let text: String = block
        .extents
        .iter()
        .filter_map(|span| span.of(&source.text))
        .collect();
    let place = need
        .uses
        .first()
        .map_or(ByteSpan::empty(0), |used| used.span);
    if let Some(message) = goes_away(mapping, source, need) {
        return Err((place, message));
    }
    if line.parent.as_deref() == Some(&target.parent) && !is_to_be_loaded(mapping, target, &line) {
        return own_name(need, &text, place, line);
    }
    if perhaps {
        let message = format!(
            "it needs `{}`, which its module has only under a condition",
            need.name
        );
        return Err((place, message));
    }
    match state(mapping, target, &line) {
        State::Same => Ok(Resolved::default()),
        State::Free if is_left_free(mapping, target, taken, &line) => Ok(Resolved {
            line: Some(line),
            ..Resolved::default()
        }),
        State::Free | State::Taken => under_another_name(need, target, (taken, &text), line),
    }
}

/// Whether neither a definition that arrives nor another import takes the name of an import.
fn is_left_free(mapping: &Mapping<'_>, target: &Target, taken: &[Line], line: &Line) -> bool {
    let mut arriving = mapping.items.called(&target.parent, &line.bound);
    let is_alike = |other: &Line| other.bound != line.bound || share(other, line);
    !arriving.any(Moved::travels) && taken.iter().all(is_alike)
}

/// Why a name of a module that goes away is not there any more.
fn goes_away(mapping: &Mapping<'_>, source: &Source, need: &Need) -> Option<String> {
    if need.origin != Origin::Back {
        return None;
    }
    let new = mapping.lacks(source.module, &need.name)?;
    Some(format!(
        "it needs `{}`, which goes away with its module and `{new}` does not have",
        need.name
    ))
}

/// Whether a name of the module, needed when the definition is used, may not be there: an import of it
/// would fail at once, where the module goes on without it.
fn is_perhaps(source: &Source, need: &Need) -> bool {
    need.origin == Origin::Back
        && !source.is_stub()
        && !need.typing
        && !need.eager()
        && !source.outline.certain.contains(&need.name)
}

/// A logger of the module is not imported back: the target has one, or gets it.
fn logger(
    mapping: &Mapping<'_>,
    source: &Source,
    need: &Need,
    target: &Target,
    taken: &[Line],
) -> Option<Resolved> {
    let (made, import) = match loggers::own(source, need, target)? {
        Own::Standing => {
            return Some(Resolved {
                other_logger: true,
                ..Resolved::default()
            });
        }
        Own::Made(made, import) => (made, import),
    };
    // What arrives may have the name, too.
    let arrives = [&need.name, &import.bound].into_iter().any(|name| {
        let mut called = mapping.items.called(&target.parent, name);
        called.next().is_some()
    });
    let known = taken.iter().any(|other| {
        other.bound == need.name || other.bound == import.bound && !same(other, &import)
    });
    let line = match state(mapping, target, &import) {
        State::Same => None,
        State::Free => Some(import),
        State::Taken => return None,
    };
    (!arrives && !known).then_some(Resolved {
        line,
        made: Some(made),
        other_logger: true,
        ..Resolved::default()
    })
}

/// Whether a name of a package is that of a module in it, which nobody may have imported when it is read.
fn is_to_be_loaded(mapping: &Mapping<'_>, target: &Target, line: &Line) -> bool {
    let names = |module| mapping.name_after(module) == format!("{}.{}", target.parent, line.name);
    line.module.is_some_and(names) && target.analysis.bindings(0, &line.name).is_empty()
}

/// The name is one of the target's own.
fn own_name(need: &Need, text: &str, place: ByteSpan, line: Line) -> Result<Resolved, Problem> {
    if line.name == need.name {
        return Ok(Resolved::default());
    }
    if mentions(text, &line.name) {
        let message = format!("`{}` would mean something else in it", line.name);
        return Err((place, message));
    }
    Ok(Resolved {
        line: None,
        rename: Some(line.name),
        ..Resolved::default()
    })
}

/// The import under a name that is free, where another thing has the needed one.
fn under_another_name(
    need: &Need,
    target: &Target,
    (taken, text): (&[Line], &str),
    mut line: Line,
) -> Result<Resolved, Problem> {
    let place = need.uses.first();
    let place = place.map_or(ByteSpan::empty(0), |used| used.span);
    if line.parent.is_none()
        && line.name.contains('.')
        && line.name.split('.').next() == Some(&line.bound)
    {
        let message = format!(
            "`{}` means something else in `{}`",
            line.bound, target.parent
        );
        return Err((place, message));
    }
    let stem = line.parent.as_deref().unwrap_or(&line.name);
    let stem = stem
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .trim_matches('_');
    let alias = format!("{stem}_{}", need.name.trim_start_matches('_'));
    let bound = |name: &str| {
        target
            .analysis
            .scopes
            .iter()
            .any(|scope| scope.bindings.contains_key(name))
    };
    let known = taken.iter().find(|other| other.bound == alias);
    line.bound.clone_from(&alias);
    if bound(&alias) || mentions(text, &alias) || known.is_some_and(|other| !same(other, &line)) {
        let message = format!(
            "`{}` means something else in `{}`",
            need.name, target.parent
        );
        return Err((place, message));
    }
    Ok(Resolved {
        line: Some(line),
        rename: Some(alias),
        ..Resolved::default()
    })
}

/// A name that others set in the old module is read there each time: `old.name`.
fn through_module(
    source: &Source,
    block: &Block,
    need: &Need,
    target: &Target,
    line: &Line,
    taken: &[Line],
) -> Option<Resolved> {
    let (above, leaf) = line.parent.as_ref()?.rsplit_once('.')?;
    let text: String = block
        .extents
        .iter()
        .filter_map(|span| span.of(&source.text))
        .collect();
    let module = Line {
        parent: Some(above.to_owned()),
        name: leaf.to_owned(),
        bound: leaf.to_owned(),
        late: true,
        ..line.clone()
    };
    let known = taken
        .iter()
        .any(|other| other.bound == leaf && !same(other, &module));
    let bound = target
        .analysis
        .scopes
        .iter()
        .any(|scope| scope.bindings.contains_key(leaf));
    if known || bound || mentions(&text, leaf) {
        return None;
    }
    Some(Resolved {
        line: Some(module),
        rename: Some(format!("{leaf}.{}", need.name)),
        ..Resolved::default()
    })
}

fn same(a: &Line, b: &Line) -> bool {
    (&a.parent, &a.name, &a.bound) == (&b.parent, &b.name, &b.bound)
}

/// Whether two imports bind one name to one thing: `import a.b` and `import a.c` both bind `a`.
fn share(a: &Line, b: &Line) -> bool {
    let root =
        |line: &Line| line.parent.is_none() && line.name.split('.').next() == Some(&line.bound);
    same(a, b) || root(a) && root(b) && a.bound == b.bound
}

/// Whether an identifier stands in a text.
fn mentions(text: &str, name: &str) -> bool {
    crate::names::occurrences_of_word(text, name)
}

/// The import as the old file has it, or the one that brings the name from there.
fn line(mapping: &Mapping<'_>, source: &Source, need: &Need, target: &Target) -> Option<Line> {
    let own = |module: Option<usize>, parent: String, name: String| Line {
        parent: Some(parent),
        name,
        bound: need.name.clone(),
        relative: prefers_dots(target, source),
        module,
        typing: need.typing,
        late: false,
    };
    match &need.origin {
        Origin::Back => Some(own(
            Some(source.module),
            mapping.name_after(source.module),
            mapping.item_after(source.module, &need.name),
        )),
        Origin::Item(index) => {
            let moved = mapping.items.list.get(*index)?;
            Some(own(moved.target, moved.parent.clone(), moved.name.clone()))
        }
        Origin::Star(full) => {
            let entity = mapping.graph.lookup(full);
            let module = match entity {
                Entity::Module(module) | Entity::Item(module, _) => Some(module),
                _ => None,
            };
            let full = mapping.absolute(None, full).unwrap_or_else(|| full.clone());
            let (parent, name) = full.rsplit_once('.')?;
            Some(own(module, parent.to_owned(), name.to_owned()))
        }
        Origin::Import { statement, leaf } => {
            let (import, _) = source.analysis.imports.get(*statement)?;
            imported(mapping, source, import, import.leaves.get(*leaf)?, need)
        }
    }
}

/// Whether modules of the tree are named with dots: as the target does, else as the old file does.
fn prefers_dots(target: &Target, source: &Source) -> bool {
    let levels = |analysis: &crate::analysis::Analysis| {
        let from = analysis
            .imports
            .iter()
            .filter_map(|(import, _)| import.from.clone());
        from.map(|from| from.level).collect::<Vec<_>>()
    };
    let top = target.parent.split('.').next().unwrap_or_default();
    let absolute = target.analysis.imports.iter().any(|(import, _)| {
        import
            .from
            .as_ref()
            .is_some_and(|from| from.level == 0 && from.module.split('.').next() == Some(top))
    });
    if absolute {
        return false;
    }
    let dots = |levels: Vec<u32>| levels.iter().any(|level| *level > 0);
    dots(levels(&target.analysis)) || dots(levels(&source.analysis))
}

fn imported(
    mapping: &Mapping<'_>,
    source: &Source,
    import: &ImportStatement,
    leaf: &Leaf,
    need: &Need,
) -> Option<Line> {
    let file = File::new(mapping, Some(source.module), &source.text, &source.analysis);
    let graph = mapping.graph;
    let entity = graph.leaf_entity(source.module, import, leaf);
    let Some(from) = &import.from else {
        let name = &leaf.name.text;
        return Some(Line {
            parent: None,
            name: file.absolute(name).unwrap_or_else(|| name.clone()),
            bound: leaf.bound().to_owned(),
            relative: false,
            module: graph.find(Some(source.module), name),
            typing: need.typing,
            late: false,
        });
    };
    let base = import.base(graph.package_of(source.module))?;
    let base_module = file.base_module(import, &base);
    let to = destination(&file, &base, base_module, leaf);
    let module = match entity {
        Entity::Module(module) => Some(module),
        _ => base_module,
    };
    Some(Line {
        parent: Some(to.parent),
        name: to.name,
        bound: leaf.bound().to_owned(),
        relative: from.level > 0,
        module,
        typing: need.typing,
        late: false,
    })
}

enum State {
    /// The file does not bind the name.
    Free,
    /// It binds it to this very thing.
    Same,
    Taken,
}

fn state(mapping: &Mapping<'_>, target: &Target, line: &Line) -> State {
    let bindings = target.analysis.bindings(0, &line.bound);
    let Some(module) = target.module.filter(|_| !bindings.is_empty()) else {
        return State::Free;
    };
    let file = File::new(mapping, Some(module), &target.text, &target.analysis);
    let mut state = State::Free;
    for binding in bindings {
        let Some((import, leaf)) = file.names.import(binding) else {
            return State::Taken;
        };
        let equal = match &import.from {
            None => {
                let name = &leaf.name.text;
                let name = file.absolute(name).unwrap_or_else(|| name.clone());
                let top = name.split('.').next() == Some(&line.bound);
                line.parent.is_none()
                    && (name == line.name
                        || (top && line.name.split('.').next() == Some(&line.bound)))
                    && (name == line.name || leaf.alias.is_none())
            }
            Some(_) => {
                let base = import.base(file.package).unwrap_or_default();
                let to = destination(&file, &base, file.base_module(import, &base), leaf);
                line.parent.as_deref() == Some(&to.parent) && line.name == to.name
            }
        };
        if !equal {
            return State::Taken;
        }
        let whole = line.parent.is_some() || leaf.name.text == line.name || line.typing;
        let counts = import.guard == Guard::None && import.top_level && !import.conditional;
        if whole && (counts || line.typing) {
            state = State::Same;
        }
    }
    state
}

/// The statements for some imports: those of one module are one.
pub fn statements(target: &Target, lines: &[Line]) -> Vec<String> {
    let mut plain: Vec<String> = Vec::new();
    let mut from: BTreeMap<(bool, String), Vec<String>> = BTreeMap::new();
    for line in lines {
        match line.spelled_parent(&target.package) {
            None => plain.push(line.statement(&target.package)),
            Some(parent) => {
                let leaves = from.entry((parent.starts_with('.'), parent)).or_default();
                if !leaves.contains(&line.leaf()) {
                    leaves.push(line.leaf());
                }
            }
        }
    }
    plain.sort();
    plain.dedup();
    plain.extend(from.into_iter().map(|((_, parent), mut leaves)| {
        leaves.sort();
        let statement = format!("from {parent} import {}", leaves.join(", "));
        if statement.len() <= 88 || leaves.len() == 1 {
            return statement;
        }
        let leaves: String = leaves.iter().map(|leaf| format!("    {leaf},\n")).collect();
        format!("from {parent} import (\n{leaves})")
    }));
    plain
}

/// Imports for type checkers go into the block that the file has, or into a new one below `lines`.
pub fn typing_block(target: &Target, typing: Vec<String>, lines: &mut Vec<String>) -> Option<Edit> {
    if typing.is_empty() {
        return None;
    }
    let inner = |indentation: &str| -> String {
        let each = typing.iter().map(|line| {
            format!(
                "{indentation}{}\n",
                line.replace('\n', &format!("\n{indentation}"))
            )
        });
        each.collect()
    };
    let block = target
        .outline
        .statements
        .iter()
        .find(|each| each.kind == Kind::Typing);
    if let Some(block) = block {
        let start = cut::line_start(&target.text, block.span.end.saturating_sub(1));
        let line = target.text.get(start as usize..).unwrap_or_default();
        let own = line.len() - line.trim_start_matches([' ', '\t']).len();
        let closing = line.trim_start().starts_with(')');
        if own > 0 || closing {
            let at = cut::line_end(&target.text, block.span.end);
            let open = !target
                .text
                .get(..at as usize)
                .unwrap_or_default()
                .ends_with('\n');
            let text = inner(line.get(..own.max(1)).filter(|_| own > 0).unwrap_or("    "));
            let text = if open { format!("\n{text}") } else { text };
            return Some(Edit::insert(at, text));
        }
    }
    let known = !target.analysis.bindings(0, "TYPE_CHECKING").is_empty()
        || lines.iter().any(|line| line.contains("TYPE_CHECKING"));
    if !known {
        lines.insert(0, "from typing import TYPE_CHECKING".to_owned());
    }
    let body = inner("    ");
    lines.push(format!("\nif TYPE_CHECKING:\n{}", body.trim_end()));
    None
}
