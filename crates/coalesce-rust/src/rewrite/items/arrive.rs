//! Where texts leave and arrive: cut out with the edits inside them, put at the end of their new
//! module, with the imports that they need.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, Evidence, Finding, Form, NewFile, Rewrite, Safety, TreePath};

use super::{
    super::{
        declarations::{Placing, cut},
        heads::ModuleHead,
        lines,
        mapping::refusal,
        needs::Needs,
        place::Place,
        shims::Shims as ModuleShims,
        spell::written,
        structure::Structure,
    },
    imports::{Import, Imports},
    moving::{Chunk, Moving, Set},
    rules,
    scan::Scan,
    shims::Shims,
    visibility::is_reachable,
};
use crate::{
    facts::{ModuleDeclaration, Origin, ScopeId, SourceFacts},
    resolve::{Body, BodyId, FileId},
};

/// What arriving takes.
#[derive(Default)]
pub(super) struct Arrival {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub creates: Vec<NewFile>,
    pub rewrites: Vec<Rewrite>,
    pub refusals: Vec<Finding>,
}

/// The modules that have to be made.
pub(super) fn made<'a>(set: &Set<'a>) -> Structure {
    let mut structure = Structure::default();
    for moving in &set.moving {
        let change = set
            .mapping
            .changes
            .iter()
            .position(|change| std::ptr::eq(change, moving.change));
        if !moving.gives_way() {
            let place = moving.to.child(&moving.name);
            structure.ways(set.mapping, change.unwrap_or(0), &place);
        }
    }
    structure
}

/// Why nothing can be put into the module at a place; `None` when it can.
pub(super) fn closed(set: &Set<'_>, structure: &Structure, place: &Place) -> Option<Finding> {
    if structure.made.contains_key(place) {
        return None;
    }
    let name = set.mapping.name_of(place);
    let Some(module) = set.mapping.at(place) else {
        let message = format!("there is no way to make a module `{name}`");
        return Some(refusal(TreePath::root(), message));
    };
    let path = set.mapping.file_of(module);
    let mut around = set.world()[module].parent;
    while let Some(node) = around.map(|outer| &set.world()[outer]) {
        if node.bodies.len() > 1 {
            let message = format!(
                "nothing can be put into `{name}`: `{}` has several texts, one for each condition",
                node.canonical
            );
            return Some(refusal(path, message));
        }
        around = node.parent;
    }
    let bodies = &set.world()[module].bodies;
    let why = match bodies.as_slice() {
        [one] => {
            let body = &set.world()[one];
            let broken = set.world().facts(body.file).problem.is_some();
            if body.included {
                "comes by `include!`"
            } else if broken {
                "does not parse"
            } else {
                return None;
            }
        }
        [] => "has no text",
        _ => "has several texts, one for each condition",
    };
    Some(refusal(
        path,
        format!("nothing can be put into `{name}`: it {why}"),
    ))
}

/// Moves every text.
pub(super) fn arrive(
    set: &Set<'_>,
    structure: &Structure,
    (imports, shims): (&Imports, &Shims),
    (scan, undocumented): (&Scan, &BTreeSet<(FileId, ByteSpan)>),
    edits: BTreeMap<TreePath, Vec<Edit>>,
) -> Arrival {
    let mut arriving = Arriving {
        set,

        arrival: Arrival {
            edits,
            ..Arrival::default()
        },
        by_place: BTreeMap::new(),
        undocumented,
        behind: rules::imports_behind(set, &scan.by_path),
        shimmed: shimmed(set, shims),
        removed: BTreeMap::new(),
    };
    // Macros come first: what stands below sees them.
    for macros in [true, false] {
        for (index, chunk) in set.chunks.iter().enumerate() {
            if set.moving(chunk.moving).rules.is_some() == macros {
                arriving.leave(chunk, shims.texts.get(&index));
            }
        }
    }
    arriving.remove();
    for (file, span, name) in set.renamed_in_place() {
        let edits = arriving.arrival.edits.entry(set.path(file)).or_default();
        edits.push(Edit::replace(span, written(&name)));
    }
    arriving.beside(shims);
    for (body, list) in &imports.left {
        arriving.import(*body, list);
    }
    let by_place = std::mem::take(&mut arriving.by_place);
    let nothing = BTreeSet::new();
    for (place, texts) in &by_place {
        let list = imports.arriving.get(place).unwrap_or(&nothing);
        if !structure.made.contains_key(place) {
            arriving.put(place, list, texts);
        }
    }
    arriving.make(structure, imports, scan, &by_place);
    arriving.arrival
}

struct Arriving<'s, 'a> {
    set: &'s Set<'a>,
    arrival: Arrival,
    by_place: BTreeMap<Place, Vec<String>>,
    /// Texts that get to be public without docs where docs are asked for.
    undocumented: &'s BTreeSet<(FileId, ByteSpan)>,
    /// What stands behind a macro in its new place, by moving item.
    behind: BTreeMap<usize, String>,
    /// Texts of which shims take the places.
    shimmed: BTreeSet<(FileId, ByteSpan)>,
    /// What leaves each file.
    removed: BTreeMap<TreePath, Vec<ByteSpan>>,
}

impl Arriving<'_, '_> {
    /// Takes out what left; neighbours go as one.
    fn remove(&mut self) {
        for (path, mut spans) in std::mem::take(&mut self.removed) {
            spans.sort();
            let mut whole: Vec<ByteSpan> = Vec::new();
            for span in spans {
                match whole.last_mut() {
                    Some(last) if span.start <= last.end => *last = last.cover(span),
                    _ => whole.push(span),
                }
            }
            let edits = self.arrival.edits.entry(path).or_default();
            edits.extend(whole.into_iter().map(Edit::delete));
        }
    }

    /// Takes a text out of its file.
    fn leave(&mut self, chunk: &Chunk, shim: Option<&String>) {
        let moving = self.set.moving(chunk.moving);
        let path = self.set.path(chunk.file);
        let Some(text) = self.set.mapping.texts.text(&path) else {
            let message = "it would have to be edited and cannot be read".to_owned();
            self.arrival.refusals.push(refusal(path, message));
            return;
        };
        let list = self.arrival.edits.entry(path.clone()).or_default();
        let inside = |edit: &Edit| chunk.span.contains(edit.span);
        let (within, rest): (Vec<Edit>, Vec<Edit>) =
            std::mem::take(list).into_iter().partition(inside);
        *list = rest;
        if let Some(shim) = shim {
            let line = lines::line_break(&text);
            let indent = lines::prefix(&text, chunk.span.start).unwrap_or_default();
            let shim = lines::reindented(shim, "", indent);
            let shim = shim.trim_start().replace('\n', line);
            list.push(Edit::replace(chunk.span, shim));
        } else {
            let removed = self.removed.entry(path.clone()).or_default();
            removed.push(removal(&text, chunk.span));
        }
        self.note(chunk, moving);
        if self.set.is_dropped(chunk) {
            return;
        }
        let within = self.renamed(chunk, moving, within);
        match cut(&text, chunk.span, within) {
            Ok(moved) => {
                let texts = self.by_place.entry(moving.to.clone()).or_default();
                let mut attributes = chunk.inherited.clone();
                let export = |rules: &rules::Rules| rules.gains_export;
                if moving.rules.as_ref().is_some_and(export) {
                    attributes.push("#[macro_export]".to_owned());
                }
                if self.undocumented.contains(&(chunk.file, chunk.span)) {
                    attributes.push("#[allow(missing_docs)]".to_owned());
                }
                let mut moved = with_attributes(&moved, &attributes);
                if let Some(import) = self.behind.get(&chunk.moving) {
                    // An import of what is not there under a condition would lead nowhere.
                    let cfg: String = chunk.cfg.iter().map(|one| format!("{one}\n")).collect();
                    moved = format!("{}\n{cfg}{import}", moved.trim_end());
                }
                texts.push(moved);
            }
            Err(message) => self.arrival.refusals.push(refusal(path, message)),
        }
    }

    /// Shims that stand behind what stays, and at the ends of modules.
    fn beside(&mut self, shims: &Shims) {
        for (index, (file, span, shim)) in shims.beside.iter().enumerate() {
            let mut later = shims.beside.iter().skip(index + 1);
            let last = !later.any(|(other, at, _)| other == file && at.end == span.end);
            let path = self.set.path(*file);
            let Some(text) = self.set.mapping.texts.text(&path) else {
                continue;
            };
            let line = lines::line_break(&text);
            let indent = lines::prefix(&text, span.start).unwrap_or_default();
            let shim = lines::reindented(shim, "", indent).replace('\n', line);
            let at = lines::line_end(&text, span.end);
            let open = !text.get(..at as usize).unwrap_or_default().ends_with('\n');
            let above = if open { line } else { "" };
            let rest = text.get(at as usize..).unwrap_or_default();
            let next = rest.lines().next().unwrap_or_default().trim();
            let below = if !last || next.is_empty() || next.starts_with('}') {
                ""
            } else {
                line
            };
            self.insert(&path, at, format!("{above}{line}{shim}{line}{below}"));
        }
        for (place, shim) in &shims.elsewhere {
            let texts = self.by_place.entry(place.clone()).or_default();
            texts.push(shim.clone());
        }
    }

    /// The new name in the definition itself.
    fn renamed(&self, chunk: &Chunk, moving: &Moving<'_>, mut edits: Vec<Edit>) -> Vec<Edit> {
        let world = self.set.world();
        let renamed = chunk
            .definition
            .filter(|_| world[moving.item].name != moving.name);
        edits.extend(renamed.map(|at| {
            let name = world.facts(chunk.file).item(at).name.span;
            Edit::replace(name, written(&moving.name))
        }));
        edits
    }

    fn note(&mut self, chunk: &Chunk, moving: &Moving<'_>) {
        let facts = self.set.world().facts(chunk.file);
        let defined = chunk.definition.map(|at| facts.item(at));
        let name = defined.map(|item| item.name.span);
        let own = moving.change.from.rsplit_once("::");
        let along = defined.zip(own).and_then(|(item, own)| {
            let name = facts.name(item.name.name);
            (name != own.1).then(|| format!("{}::{name}", own.0))
        });
        if let Some(from) = along.filter(|_| self.set.is_dropped(chunk)) {
            self.arrival.rewrites.push(Rewrite {
                path: self.set.path(chunk.file),
                span: name.unwrap_or(chunk.span),
                form: Form::Declaration,
                evidence: Evidence::Resolved,
                from,
                to: String::new(),
                reason: format!("goes with `{}`: nothing else names it", moving.change.from),
                safety: Safety::NeedsReview,
            });
            return;
        }
        let reason = match (self.set.is_dropped(chunk), name.is_some()) {
            (true, _) => "goes; its users name the other one",
            (false, true) => "the definition goes to its new module",
            (false, false) => "an `impl` goes with its type",
        };
        self.arrival.rewrites.push(Rewrite {
            path: self.set.path(chunk.file),
            span: name.unwrap_or(chunk.span),
            form: Form::Declaration,
            evidence: Evidence::Resolved,
            from: moving.change.from.clone(),
            to: moving.change.to.clone(),
            reason: reason.to_owned(),
            safety: Safety::Safe,
        });
    }

    fn insert(&mut self, path: &TreePath, at: u32, text: String) {
        let edits = self.arrival.edits.entry(path.clone()).or_default();
        edits.push(Edit::insert(at, text));
    }

    /// Adds imports to a body.
    fn import(&mut self, body: BodyId, list: &BTreeSet<Import>) {
        let world = self.set.world();
        let body = &world[body];
        let (path, facts) = (self.set.path(body.file), world.facts(body.file));
        let Some(text) = self.set.mapping.texts.text(&path) else {
            return;
        };
        if list.is_empty() {
            return;
        }
        let (mut at, indent, mut blank) = import_spot(self, body, facts, &text);
        let none = Vec::new();
        let mut edits = self.arrival.edits.get(&path).unwrap_or(&none).iter();
        let gone =
            edits.find(|edit| edit.text.is_empty() && edit.span.start < at && at < edit.span.end);
        if let Some(gone) = gone {
            // An import that goes took the blank line behind it along.
            (at, blank) = (gone.span.start, true);
        }
        let line = lines::line_break(&text);
        let mut block: String = declarations(list)
            .iter()
            .flat_map(|declaration| declaration.lines())
            .map(|one| format!("{indent}{one}{line}"))
            .collect();
        let open = at > 0 && !text.get(..at as usize).unwrap_or_default().ends_with('\n');
        if open {
            block.insert_str(0, line);
        }
        if blank {
            block.push_str(line);
        }
        self.insert(&path, at, block);
    }

    /// Puts texts at the end of an existing module.
    fn put(&mut self, place: &Place, list: &BTreeSet<Import>, texts: &[String]) {
        let world = self.set.world();
        let module = self.set.mapping.at(place).map(|at| &world[at]);
        let Some(id) = module.and_then(|node| node.bodies.first()).copied() else {
            return;
        };
        let body = &world[id];
        let (path, facts) = (self.set.path(body.file), world.facts(body.file));
        let Some(text) = self.set.mapping.texts.text(&path) else {
            return;
        };
        let (at, indent, last) = end_spot(body, facts, &text);
        let mut texts = texts.to_vec();
        let empty = import_spot(self, body, facts, &text).0 == at && last;
        if empty && !list.is_empty() {
            texts.insert(0, declarations(list).join("\n"));
        } else {
            self.import(id, list);
        }
        let block = if last {
            at_end(&text, (at, &indent), &texts)
        } else {
            let line = lines::line_break(&text);
            format!("{}{line}{line}", joined(&indent, &texts, line))
        };
        self.insert(&path, at, block);
    }

    /// The files of modules that come into being, and their declarations.
    fn make(
        &mut self,
        structure: &Structure,
        imports: &Imports,
        scan: &Scan,
        by_place: &BTreeMap<Place, Vec<String>>,
    ) {
        let (needs, shims) = (Needs::default(), ModuleShims::default());
        let edits = std::mem::take(&mut self.arrival.edits);
        let set = self.set;
        let mut placing = Placing::new(set.mapping, structure, &needs, &shims, edits);
        for (place, made) in &structure.made {
            let Some(home) = place.parent() else { continue };
            let line = made_line(set, scan, place, &home);
            let is_shown = line.starts_with("pub mod ");
            if !structure.made.contains_key(&home) {
                placing.insert(&home, place.name(), &line);
            }
            let inner = structure.made.keys();
            let inner: Vec<&Place> = inner
                .filter(|inner| inner.parent().as_ref() == Some(place))
                .collect();
            let mut parts: Vec<String> = Vec::new();
            let lines: Vec<String> = inner
                .iter()
                .map(|inner| made_line(set, scan, inner, place))
                .collect();
            let mut head = ModuleHead::default();
            for (inner, line) in inner.iter().zip(&lines) {
                head.add(inner.name(), !is_shown || line.starts_with("pub mod "));
            }
            let arriving = set.moving.iter().enumerate();
            for (at, _) in arriving.filter(|(_, moving)| moving.to == *place) {
                head.add_item(set, at, is_shown);
            }
            parts.push(head.text());
            if !lines.is_empty() {
                parts.push(lines.join("\n"));
            }
            if let Some(list) = imports.arriving.get(place).filter(|list| !list.is_empty()) {
                parts.push(declarations(list).join("\n"));
            }
            let moved = by_place.get(place).into_iter().flatten();
            parts.extend(moved.map(|text| text.replace("\r\n", "\n")));
            let change = set.mapping.changes.get(made.change);
            self.arrival.creates.push(NewFile {
                path: made.file.clone(),
                text: format!("{}\n", parts.join("\n\n")),
                reason: format!(
                    "makes the module that `{}` moves to",
                    change.map_or("", |change| &change.from)
                ),
            });
        }
        self.arrival.edits = placing.edits;
        self.arrival.refusals.append(&mut placing.refusals);
    }
}

/// Texts of which shims take the places.
fn shimmed(set: &Set<'_>, shims: &Shims) -> BTreeSet<(FileId, ByteSpan)> {
    let chunks = shims.texts.keys().filter_map(|at| set.chunks.get(*at));
    chunks.map(|chunk| (chunk.file, chunk.span)).collect()
}

/// `mod name;` for a module that is made.
/// Texts as they stand at the end of a body that goes up to a place, after an empty line.
pub(in crate::rewrite) fn at_end(
    text: &str,
    (at, indent): (u32, &str),
    moved: &[String],
) -> String {
    let line = lines::line_break(text);
    let head = text.get(..at as usize).unwrap_or_default();
    let open = !head.is_empty() && !head.ends_with('\n');
    let apart = !head.trim().is_empty() && !head.trim_end().ends_with('{');
    let before = line.repeat(usize::from(open) + usize::from(apart));
    format!("{before}{}{line}", joined(indent, moved, line))
}

/// Texts with an empty line between them.
fn joined(indent: &str, moved: &[String], line: &str) -> String {
    let moved = moved
        .iter()
        .map(|moved| lines::reindented(moved, "", indent))
        .map(|moved| moved.replace("\r\n", "\n").replace('\n', line));
    let moved: Vec<String> = moved.collect();
    moved.join(&format!("{line}{line}"))
}

fn made_line(set: &Set<'_>, scan: &Scan, place: &Place, home: &Place) -> String {
    let below = |moving: &&Moving<'_>| moving.to.is_within(place);
    let public = set
        .moving
        .iter()
        .filter(below)
        .any(|moving| is_reachable(set, moving));
    let mut reach = Some(home.clone());
    for (at, moving) in set.moving.iter().enumerate() {
        if !below(&moving) {
            continue;
        }
        for user in scan.users.get(&at).into_iter().flatten() {
            reach = reach.and_then(|reach| reach.common(user));
        }
    }
    let visibility = match reach {
        Some(reach) if !public => reach.visibility(home),
        _ => "pub ".to_owned(),
    };
    format!("{visibility}mod {};", written(place.name()))
}

/// A text with attributes behind the comments at its head.
fn with_attributes(text: &str, attributes: &[String]) -> String {
    let comment = |line: &&str| line.trim_start().starts_with("//");
    let head: usize = text
        .split_inclusive('\n')
        .take_while(comment)
        .map(str::len)
        .sum();
    let (head, rest) = text.split_at(head);
    let lines: String = attributes.iter().map(|one| format!("{one}\n")).collect();
    format!("{head}{lines}{rest}")
}

/// The bytes that go with a text, and one of two blank lines that would meet.
fn removal(text: &str, span: ByteSpan) -> ByteSpan {
    let found = lines::removal(text, span);
    let rest = text.get(found.end as usize..).unwrap_or_default();
    let above = text.get(..found.start as usize).unwrap_or_default();
    let last = rest.trim().is_empty() || rest.trim_start().starts_with('}');
    for blank in ["\n\r\n", "\n\n"] {
        if last && above.ends_with(blank) {
            let cut = u32::try_from(blank.len() - 1).unwrap_or(0);
            return ByteSpan::new(found.start - cut, found.end);
        }
    }
    found
}

/// `use` declarations, names of one parent together.
fn declarations(list: &BTreeSet<Import>) -> Vec<String> {
    type Key = (BTreeSet<String>, Vec<String>);
    let mut groups: BTreeMap<Key, BTreeSet<String>> = BTreeMap::new();
    for import in list {
        let Some((last, parent)) = import.path.split_last() else {
            continue;
        };
        let name = written(last);
        let name = match &import.alias {
            Some(alias) if alias == "_" => format!("{name} as _"),
            Some(alias) => format!("{name} as {}", written(alias)),
            None => name,
        };
        let key = (import.cfg.clone(), parent.to_vec());
        groups.entry(key).or_default().insert(name);
    }
    let mut found = Vec::new();
    for ((cfg, parent), names) in groups {
        let attributes: String = cfg.iter().map(|cfg| format!("{cfg}\n")).collect();
        let prefix: String = parent
            .iter()
            .map(|name| format!("{}::", written(name)))
            .collect();
        let names: Vec<String> = names.into_iter().collect();
        let tree = match names.as_slice() {
            [one] => format!("{prefix}{one}"),
            several => format!("{prefix}{{{}}}", several.join(", ")),
        };
        found.push(format!("{attributes}use {tree};"));
    }
    found
}

/// Where an import goes in a body: behind those at its head, else before its first item; the
/// indent, and whether a blank line follows.
fn import_spot(
    arriving: &Arriving<'_, '_>,
    body: &Body,
    facts: &SourceFacts,
    text: &str,
) -> (u32, String, bool) {
    // Where a shim takes the place of a text, something stays.
    let stays = |at: u32| {
        let chunk = arriving.set.chunk_at(body.file, at);
        chunk.is_none_or(|chunk| arriving.shimmed.contains(&(chunk.file, chunk.span)))
    };
    let firsts = facts
        .items
        .iter()
        .filter(|item| item.origin == Origin::Code)
        .map(|item| (item.scope, item.span))
        .chain(facts.impls.iter().map(|one| (one.scope, one.span)));
    let first = firsts
        .filter(|(scope, span)| *scope == body.scope && stays(span.start))
        .filter(|(_, span)| !facts.is_given_to_a_macro(*span))
        .map(|(_, span)| span.start)
        .min();
    let indent = |at: u32| lines::prefix(text, at).unwrap_or_default().to_owned();
    let around = facts.scope(body.scope).span;
    let uses = facts.uses.iter().filter(|declaration| {
        declaration.scope == body.scope
            && declaration.origin == Origin::Code
            && first.is_none_or(|first| declaration.span.start < first)
    });
    if let Some(last) = uses.max_by_key(|declaration| declaration.span.start) {
        let at = lines::end_within(text, last.span.end, around);
        return (at, indent(last.span.start), false);
    }
    let modules = facts.modules.iter().filter(|one| one.scope == body.scope);
    let first = modules
        .filter(|one| !facts.is_given_to_a_macro(one.span))
        .map(|one| one.span.start)
        .chain(first)
        .min()
        .map(|first| lines::with_comments_above(text, ByteSpan::empty(first)).start);
    if let Some(first) = first {
        return (
            lines::start_within(text, first, around),
            indent(first),
            true,
        );
    }
    let (at, indent) = end_of(body.scope, facts, text);
    (at, indent, true)
}

/// The end of a scope, and the indent of what stands in it.
pub(in crate::rewrite) fn end_of(scope: ScopeId, facts: &SourceFacts, text: &str) -> (u32, String) {
    if scope.0 == 0 {
        return (u32::try_from(text.len()).unwrap_or(0), String::new());
    }
    let end = facts.scope(scope).span.end;
    let brace = end.saturating_sub(1);
    let start = lines::line_start(text, brace);
    match lines::prefix(text, brace) {
        Some(outer) => (start, format!("{outer}    ")),
        None => (brace, " ".to_owned()),
    }
}

/// The tests that stand at the end of a body, before which items arrive.
pub(in crate::rewrite) fn tests_at_end(
    scope: ScopeId,
    facts: &SourceFacts,
) -> Option<&ModuleDeclaration> {
    let modules = facts.modules.iter().filter(|one| one.scope == scope);
    let tests = modules
        .filter(|one| one.body.is_some() && one.cfg.iter().any(|cfg| **cfg == *"test"))
        .filter(|one| !facts.is_given_to_a_macro(one.span))
        .max_by_key(|one| one.span.start)?;
    let items = facts.items.iter().map(|item| (item.scope, item.span.start));
    let impls = facts.impls.iter().map(|one| (one.scope, one.span.start));
    let is_last = !items
        .chain(impls)
        .any(|(of, start)| of == scope && start > tests.span.end);
    is_last.then_some(tests)
}

/// Where an item goes in a body: at its end, but before tests that stand there; the indent, and
/// whether it is the last thing of the scope then.
fn end_spot(body: &Body, facts: &SourceFacts, text: &str) -> (u32, String, bool) {
    if let Some(tests) = tests_at_end(body.scope, facts) {
        let start = lines::with_comments_above(text, tests.span).start;
        let indent = lines::prefix(text, start).unwrap_or_default().to_owned();
        let around = facts.scope(body.scope).span;
        return (lines::start_within(text, start, around), indent, false);
    }
    let (at, indent) = end_of(body.scope, facts, text);
    (at, indent, true)
}
