//! The import that brings a needed name to where a definition goes.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, Guard};

use super::{
    Moved,
    builtins::is_builtin,
    cut, exports,
    loggers::{self, Own},
    needs::{Need, Origin, Problem},
    outline::Kind,
    place::{Block, Target},
    source::Source,
    through,
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
    /// It is a name of the target that somebody sets there.
    pub set_there: bool,
}

impl Resolved {
    /// Whether the target has the name already, as it stands.
    pub const fn is_there(&self) -> bool {
        self.line.is_none() && self.rename.is_none() && self.made.is_none() && !self.other_logger
    }
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
    let asked = NeedInTarget {
        mapping,
        source,
        block,
        need,
        target,
        taken,
    };
    asked.resolve(patched)
}

/// What a block needs of one name, and all that decides how it is met.
#[derive(Clone, Copy)]
struct NeedInTarget<'a> {
    mapping: &'a Mapping<'a>,
    source: &'a Source,
    block: &'a Block,
    need: &'a Need,
    target: &'a Target,
    /// Imports that the target gets for others.
    taken: &'a [Line],
}

impl NeedInTarget<'_> {
    fn resolve(self, patched: bool) -> Result<Resolved, Problem> {
        let Some(line) = line(self.mapping, self.source, self.need, self.target) else {
            return Ok(Resolved::default());
        };
        let perhaps = is_perhaps(self.source, self.need);
        if let Some(resolved) = self.without_import(&line, patched, perhaps) {
            return Ok(resolved);
        }
        if let Some(message) = goes_away(self.mapping, self.source, self.need) {
            return Err((self.place(), message));
        }
        let own = line.parent.as_deref() == Some(&self.target.parent) && !self.is_module_below();
        if own && !is_to_be_loaded(self.mapping, self.target, &line) {
            return own_name(self.need, &self.text(), self.place(), line);
        }
        if perhaps {
            let message = format!(
                "it needs `{}`, which its module has only under a condition",
                self.need.name
            );
            return Err((self.place(), message));
        }
        self.by_import(line)
    }

    /// Where the block uses the name first.
    fn place(self) -> ByteSpan {
        let first = self.need.uses.first();
        first.map_or(ByteSpan::empty(0), |used| used.span)
    }

    /// The text of the block.
    fn text(self) -> String {
        let extents = self.block.extents.iter();
        extents
            .filter_map(|span| span.of(&self.source.text))
            .collect()
    }

    /// What the target has of its own, or reads of the old module each time.
    fn without_import(self, line: &Line, patched: bool, perhaps: bool) -> Option<Resolved> {
        if !patched && let Some(resolved) = self.logger() {
            return Some(resolved);
        }
        let later = self.need.origin == Origin::Back && !self.need.eager();
        // Who asks by `NameError` whether the name is there is answered otherwise by the module.
        let asks = perhaps && mentions(&self.text(), "NameError");
        (later && !asks && (patched || perhaps))
            .then(|| self.through_module(line))
            .flatten()
    }

    /// Whether a module is needed that the target has no import of: that it stands below brings nothing.
    fn is_module_below(self) -> bool {
        let bound = self.target.analysis.bindings(0, &self.need.name);
        matches!(self.need.origin, Origin::Through(_)) && bound.is_empty()
    }

    fn by_import(self, line: Line) -> Result<Resolved, Problem> {
        let through = matches!(self.need.origin, Origin::Through(_));
        if through
            && through::is_hidden(self.source, &self.block.extents, &self.need.name, self.need)
        {
            return self.under_another_name(line);
        }
        match state(self.mapping, self.target, &line) {
            State::Same => Ok(Resolved::default()),
            State::Free if is_left_free(self.mapping, self.target, self.taken, &line) => {
                Ok(Resolved {
                    line: Some(line),
                    ..Resolved::default()
                })
            }
            State::Free | State::Taken => self.under_another_name(line),
        }
    }

    /// A logger of the module is not imported back: the target has one, or gets it.
    fn logger(self) -> Option<Resolved> {
        let (made, import) = match loggers::own(self.source, self.need, self.target)? {
            Own::Standing => {
                return Some(Resolved {
                    other_logger: true,
                    ..Resolved::default()
                });
            }
            Own::Made(made, import) => (made, import),
        };
        let free = self.is_free_for(&import);
        let line = match state(self.mapping, self.target, &import) {
            State::Same => None,
            State::Free => Some(import),
            State::Taken => return None,
        };
        free.then_some(Resolved {
            line,
            made: Some(made),
            other_logger: true,
            ..Resolved::default()
        })
    }

    /// Whether nothing else that the target gets has the name, or the one that an import for it binds.
    fn is_free_for(self, import: &Line) -> bool {
        let name = &self.need.name;
        // What arrives may have the name, too.
        let arrives = [name, &import.bound].into_iter().any(|name| {
            let mut called = self.mapping.items.called(&self.target.parent, name);
            called.next().is_some()
        });
        let known = self.taken.iter().any(|other| {
            other.bound == *name || other.bound == import.bound && !same(other, import)
        });
        !arrives && !known
    }

    /// The import under a name that is free, where another thing has the needed one.
    fn under_another_name(self, mut line: Line) -> Result<Resolved, Problem> {
        let (name, parent) = (&self.need.name, &self.target.parent);
        let is_dotted = line.parent.is_none() && line.name.contains('.');
        if is_dotted && line.name.split('.').next() == Some(&line.bound) {
            let message = format!("`{}` means something else in `{parent}`", line.bound);
            return Err((self.place(), message));
        }
        let stem = line.parent.as_deref().unwrap_or(&line.name);
        let stem = stem.rsplit('.').next().unwrap_or_default();
        let stem = stem.trim_matches('_');
        let alias = format!("{stem}_{}", name.trim_start_matches('_'));
        line.bound.clone_from(&alias);
        if self.is_taken(&line) {
            let message = format!("`{name}` means something else in `{parent}`");
            return Err((self.place(), message));
        }
        Ok(Resolved {
            line: Some(line),
            rename: Some(alias),
            ..Resolved::default()
        })
    }

    /// Whether the name that an import binds means something else to the target, the block, or another import.
    fn is_taken(self, line: &Line) -> bool {
        let name = line.bound.as_str();
        let mut scopes = self.target.analysis.scopes.iter();
        let bound = scopes.any(|scope| scope.bindings.contains_key(name));
        let mut taken = self.taken.iter();
        let known = taken.find(|other| other.bound == name);
        bound || mentions(&self.text(), name) || known.is_some_and(|other| !same(other, line))
    }

    /// A name that others set in the old module is read there each time: `old.name`.
    fn through_module(self, line: &Line) -> Option<Resolved> {
        let (above, leaf) = line.parent.as_ref()?.rsplit_once('.')?;
        let module = Line {
            parent: Some(above.to_owned()),
            name: leaf.to_owned(),
            bound: leaf.to_owned(),
            late: true,
            ..line.clone()
        };
        let mut others = self.taken.iter().filter(|other| other.bound == leaf);
        let known = others.any(|other| !same(other, &module));
        let read = |bound: &str| Some(format!("{bound}.{}", line.name));
        if !known && self.has_already(&module) {
            return Some(Resolved {
                rename: read(leaf),
                ..Resolved::default()
            });
        }
        let stem = above.rsplit('.').next().unwrap_or_default();
        let other = Line {
            bound: format!("{stem}_{leaf}"),
            ..module.clone()
        };
        let free = |line: &Line| !self.is_taken(line);
        let own = Some(module).filter(|module| !known && free(module));
        let module = own.or_else(|| Some(other).filter(free))?;
        Some(Resolved {
            rename: read(&module.bound),
            line: Some(module),
            ..Resolved::default()
        })
    }

    /// Whether the target has an import already, by a name that means nothing else in the definition.
    fn has_already(self, line: &Line) -> bool {
        let extents = &self.block.extents;
        let hidden = through::is_hidden(self.source, extents, &line.bound, self.need);
        !hidden && matches!(state(self.mapping, self.target, line), State::Same)
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
    if let Origin::Import { statement, leaf } = need.origin {
        let (import, _) = source.analysis.imports.get(statement)?;
        return imported(mapping, source, import, import.leaves.get(leaf)?, need);
    }
    if let Origin::Through(index) = need.origin {
        return through_line(mapping, source, (need, index), target);
    }
    let (module, parent, name) = place_of(mapping, source, need)?;
    Some(Line {
        parent: Some(parent),
        name,
        bound: need.name.clone(),
        relative: prefers_dots(target, source),
        module,
        typing: need.typing,
        late: false,
    })
}

/// The import of the module that an item goes to.
fn through_line(
    mapping: &Mapping<'_>,
    source: &Source,
    (need, index): (&Need, usize),
    target: &Target,
) -> Option<Line> {
    let moved = mapping.items.list.get(index)?;
    let (parent, name) = match moved.parent.rsplit_once('.') {
        Some((parent, name)) => (Some(parent.to_owned()), name),
        None => (None, moved.parent.as_str()),
    };
    Some(Line {
        parent,
        name: name.to_owned(),
        bound: name.to_owned(),
        relative: prefers_dots(target, source),
        module: moved.target,
        typing: need.typing,
        late: true,
    })
}

/// The module that has what no import of the old file brings, with its name and the name there.
fn place_of(
    mapping: &Mapping<'_>,
    source: &Source,
    need: &Need,
) -> Option<(Option<usize>, String, String)> {
    match &need.origin {
        Origin::Back => {
            let item = mapping.item_after(source.module, &need.name);
            Some((Some(source.module), mapping.name_after(source.module), item))
        }
        Origin::Item(index) => {
            let moved = mapping.items.list.get(*index)?;
            Some((moved.target, moved.parent.clone(), moved.name.clone()))
        }
        Origin::Star(full) => {
            let spelled = mapping.absolute(None, full);
            let spelled = spelled.unwrap_or_else(|| full.clone());
            let (parent, name) = spelled.rsplit_once('.')?;
            let (parent, name) = (parent.to_owned(), name.to_owned());
            Some((module_with(mapping, full), parent, name))
        }
        Origin::Import { .. } | Origin::Through(_) => None,
    }
}

/// The module that a full name is of: itself, or the one with the item.
fn module_with(mapping: &Mapping<'_>, full: &str) -> Option<usize> {
    match mapping.graph.lookup(full) {
        Entity::Module(module) | Entity::Item(module, _) => Some(module),
        _ => None,
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
    let Some(from) = &import.from else {
        return Some(whole_module(&file, leaf, need));
    };
    let base = import.base(mapping.graph.package_of(source.module))?;
    let base_module = file.base_module(import, &base);
    let to = destination(&file, &base, base_module, leaf);
    let entity = mapping.graph.leaf_entity(source.module, import, leaf);
    let module = module_itself(&entity).or(base_module);
    Some(Line {
        parent: Some(to.parent),
        name: to.name,
        relative: from.level > 0,
        module,
        ..written(leaf, need)
    })
}

const fn module_itself(entity: &Entity) -> Option<usize> {
    match entity {
        Entity::Module(module) => Some(*module),
        _ => None,
    }
}

/// `import a.b` in the words of another file.
fn whole_module(file: &File<'_>, leaf: &Leaf, need: &Need) -> Line {
    let line = written(leaf, need);
    Line {
        name: file
            .absolute(&line.name)
            .unwrap_or_else(|| line.name.clone()),
        module: file.graph().find(file.module, &line.name),
        ..line
    }
}

/// An import as it is written, before it is known what it brings.
fn written(leaf: &Leaf, need: &Need) -> Line {
    Line {
        parent: None,
        name: leaf.name.text.clone(),
        bound: leaf.bound().to_owned(),
        relative: false,
        module: None,
        typing: need.typing,
        late: false,
    }
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
    let hides = bindings.is_empty()
        && (hides_built_in(mapping, target, &line.bound) || hides_star(mapping, target, line));
    if hides || exports::is_deleted(&target.analysis, &line.bound) {
        return State::Taken;
    }
    let Some(module) = target.module.filter(|_| !bindings.is_empty()) else {
        return State::Free;
    };
    let file = File::new(mapping, Some(module), &target.text, &target.analysis);
    let mut state = State::Free;
    for binding in bindings {
        let Some((import, leaf)) = file.names.import(binding) else {
            return State::Taken;
        };
        if !imports_same(&file, (import, leaf), line) {
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

/// Whether a target reads what is built in by a name, which an import of that name would put something else before.
fn hides_built_in(mapping: &Mapping<'_>, target: &Target, name: &str) -> bool {
    let member = |module| mapping.graph.member(module, name);
    let supplied = target.module.map(member);
    is_builtin(name)
        && exports::reads_unbound(&target.analysis, name)
        && !matches!(supplied, Some(Entity::Item(..) | Entity::Module(_)))
}

/// Whether a target has something else by the name of an import from a star import of its own.
fn hides_star(mapping: &Mapping<'_>, target: &Target, line: &Line) -> bool {
    let brought = |module| mapping.graph.brought_by_star(module, &line.bound);
    match target.module.and_then(brought) {
        None => false,
        Some(Entity::Item(module, item)) => {
            let is_same = line.parent.as_deref() == Some(&mapping.name_after(module));
            !is_same || line.name != mapping.item_after(module, &item)
        }
        Some(Entity::Module(module)) => {
            let full = match &line.parent {
                Some(parent) => format!("{parent}.{}", line.name),
                None => line.name.clone(),
            };
            full != mapping.name_after(module)
        }
        // What a library has is not known: it is as soon as somebody uses the name.
        Some(_) => {
            !is_builtin(&line.bound) && exports::reads_unbound(&target.analysis, &line.bound)
        }
    }
}

/// Whether an import of a file brings the very thing that a line does.
fn imports_same(file: &File<'_>, (import, leaf): (&ImportStatement, &Leaf), line: &Line) -> bool {
    if import.from.is_some() {
        let base = import.base(file.package).unwrap_or_default();
        let to = destination(file, &base, file.base_module(import, &base), leaf);
        return line.parent.as_deref() == Some(&to.parent) && line.name == to.name;
    }
    let name = &leaf.name.text;
    let name = file.absolute(name).unwrap_or_else(|| name.clone());
    let top = |name: &str| name.split('.').next() == Some(line.bound.as_str());
    let is_same = name == line.name;
    line.parent.is_none()
        && (is_same || (top(&name) && top(&line.name)))
        && (is_same || leaf.alias.is_none())
}

/// The statements for some imports: those of one module are one.
pub fn statements(target: &Target, lines: &[Line]) -> Vec<String> {
    let mut plain: Vec<String> = Vec::new();
    let mut from: BTreeMap<(bool, String), Vec<String>> = BTreeMap::new();
    for line in lines {
        let Some(parent) = line.spelled_parent(&target.package) else {
            plain.push(line.statement(&target.package));
            continue;
        };
        let leaves = from.entry((parent.starts_with('.'), parent)).or_default();
        if !leaves.contains(&line.leaf()) {
            leaves.push(line.leaf());
        }
    }
    plain.sort();
    plain.dedup();
    plain.extend(from.into_iter().map(|((_, parent), mut leaves)| {
        leaves.sort();
        from_statement(&parent, &leaves)
    }));
    plain
}

/// `from parent import …`, with a line for each name where they are too long for one.
fn from_statement(parent: &str, leaves: &[String]) -> String {
    let statement = format!("from {parent} import {}", leaves.join(", "));
    if statement.len() <= 88 || leaves.len() == 1 {
        return statement;
    }
    let leaves: String = leaves.iter().map(|leaf| format!("    {leaf},\n")).collect();
    format!("from {parent} import (\n{leaves})")
}

/// Imports for type checkers go into the block that the file has, or into a new one below `lines`.
pub fn typing_block(target: &Target, typing: Vec<String>, lines: &mut Vec<String>) -> Option<Edit> {
    if typing.is_empty() {
        return None;
    }
    let mut statements = target.outline.statements.iter();
    let block = statements.find_map(|each| match each.kind {
        Kind::Typing { body } => Some(body),
        _ => None,
    });
    if let Some(edit) = block.and_then(|body| at_end_of_block(&target.text, body, &typing)) {
        return Some(edit);
    }
    let known = !target.analysis.bindings(0, "TYPE_CHECKING").is_empty()
        || lines.iter().any(|line| line.contains("TYPE_CHECKING"));
    if !known {
        lines.insert(0, "from typing import TYPE_CHECKING".to_owned());
    }
    let body = indented(&typing, "    ");
    lines.push(format!("\nif TYPE_CHECKING:\n{}", body.trim_end()));
    None
}

/// Statements on lines of their own, each line of them indented.
fn indented(statements: &[String], indentation: &str) -> String {
    let each = statements.iter().map(|line| {
        format!(
            "{indentation}{}\n",
            line.replace('\n', &format!("\n{indentation}"))
        )
    });
    each.collect()
}

/// Statements below the last one of a block, indented as its first one is; none where the block is all on one line.
fn at_end_of_block(text: &str, body: ByteSpan, statements: &[String]) -> Option<Edit> {
    let start = cut::line_start(text, body.start);
    let indentation = text.get(start as usize..body.start as usize)?;
    if indentation.is_empty() || !indentation.trim().is_empty() {
        return None;
    }
    let at = cut::line_end(text, body.end);
    let above = text.get(..at as usize).unwrap_or_default();
    let made = indented(statements, indentation);
    let open = if above.ends_with('\n') { "" } else { "\n" };
    Some(Edit::insert(at, format!("{open}{made}")))
}
