//! Where texts leave and arrive: cut out with the edits inside them, put at the end of their new
//! module, with the imports that they need.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, Evidence, Finding, Form, NewFile, Rewrite, Safety, TreePath};

use super::{
    super::{
        declarations::{ModuleContents, Placing, cut},
        heads::ModuleHead,
        lines,
        mapping::refusal,
        place::Place,
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
    resolve::{Body, BodyId, FileId, ModuleId},
};

/// Why nothing can be put into the module at a place; `None` when it can.
pub(in crate::rewrite) fn closed(
    set: &Set<'_>,
    structure: &Structure,
    place: &Place,
) -> Option<Finding> {
    if structure.made.contains_key(place) {
        return None;
    }
    let name = set.mapping.name_of(place);
    let Some(module) = set.mapping.at(place) else {
        let message = format!("there is no way to make a module `{name}`");
        return Some(refusal(TreePath::root(), message));
    };
    let path = set.mapping.file_of(module);
    let why = closed_around(set, module).or_else(|| closed_itself(set, module))?;
    let message = format!("nothing can be put into `{name}`: {why}");
    Some(refusal(path, message))
}

/// Why nothing can be put into a module because of one around it.
fn closed_around(set: &Set<'_>, module: ModuleId) -> Option<String> {
    let world = set.world();
    let mut around = std::iter::successors(world[module].parent, |at| world[*at].parent);
    let parted = around.find(|outer| world[*outer].bodies.len() > 1)?;
    Some(format!(
        "`{}` has several texts, one for each condition",
        world[parted].canonical
    ))
}

/// The same because of its own text.
fn closed_itself(set: &Set<'_>, module: ModuleId) -> Option<String> {
    let world = set.world();
    let why = match world[module].bodies.as_slice() {
        [one] if world[one].included => "comes by `include!`",
        [one] if world.facts(world[one].file).problem.is_some() => "does not parse",
        [_] => return None,
        [] => "has no text",
        _ => "has several texts, one for each condition",
    };
    Some(format!("it {why}"))
}

/// Moves every text; the files of made modules come back.
pub(in crate::rewrite) fn arrive(
    set: &Set<'_>,
    placing: &mut Placing<'_>,
    (imports, shims): (&Imports, &Shims),
    (scan, undocumented): (&Scan, &BTreeSet<(FileId, ByteSpan)>),
) -> Vec<NewFile> {
    let mut arriving = Arriving {
        set,
        placing,
        by_place: BTreeMap::new(),
        undocumented,
        behind: rules::imports_behind(set, &scan.by_path),
        shimmed: shimmed(set, shims),
        removed: BTreeMap::new(),
    };
    // Macros come first: what stands below sees them.
    arriving.leave_all(shims, true);
    arriving.leave_all(shims, false);
    arriving.remove();
    arriving.rename_in_place();
    arriving.beside(shims);
    for (body, list) in &imports.left {
        arriving.import(*body, list);
    }
    let by_place = std::mem::take(&mut arriving.by_place);
    arriving.put_all(imports, &by_place);
    let made = MadeModules {
        set,
        imports,
        scan,
        by_place: &by_place,
    };
    made.make(placing)
}

struct Arriving<'s, 'a, 'p> {
    set: &'s Set<'a>,
    placing: &'s mut Placing<'p>,
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

/// The modules that come into being, with all that they are made of.
struct MadeModules<'m, 'a> {
    set: &'m Set<'a>,
    imports: &'m Imports,
    scan: &'m Scan,
    /// Texts that arrive.
    by_place: &'m BTreeMap<Place, Vec<String>>,
}

/// Where a shim is written, and how many line ends stand above and below it.
struct ShimSpot {
    at: u32,
    above: usize,
    below: usize,
}

impl Arriving<'_, '_, '_> {
    /// Takes out the texts of macros, or all others.
    fn leave_all(&mut self, shims: &Shims, macros: bool) {
        for (index, chunk) in self.set.chunks.iter().enumerate() {
            if self.set.moving(chunk.moving).rules.is_some() == macros {
                self.leave(chunk, shims.texts.get(&index));
            }
        }
    }

    fn rename_in_place(&mut self) {
        for (file, span, name) in self.set.renamed_in_place() {
            let edit = Edit::replace(span, written(&name));
            self.placing.edit(&self.set.path(file), [edit]);
        }
    }

    /// Puts what arrives into the modules that are there.
    fn put_all(&mut self, imports: &Imports, by_place: &BTreeMap<Place, Vec<String>>) {
        let nothing = BTreeSet::new();
        for (place, texts) in by_place {
            let list = imports.arriving.get(place).unwrap_or(&nothing);
            if !self.placing.structure.made.contains_key(place) {
                self.put(place, list, texts);
            }
        }
    }

    /// Takes out what left; neighbours go as one.
    fn remove(&mut self) {
        for (path, spans) in std::mem::take(&mut self.removed) {
            let gone = ByteSpan::united(spans).into_iter();
            self.placing.edit(&path, gone.map(Edit::delete));
        }
    }

    /// Takes a text out of its file.
    fn leave(&mut self, chunk: &Chunk, shim: Option<&String>) {
        let moving = self.set.moving(chunk.moving);
        let path = self.set.path(chunk.file);
        let Some(text) = self.set.mapping.texts.text(&path) else {
            let message = "it would have to be edited and cannot be read".to_owned();
            self.placing.refusals.push(refusal(path, message));
            return;
        };
        let within = self.placing.take_edits(&path, chunk.span);
        match shim {
            Some(shim) => self.replace(&path, &text, chunk.span, shim),
            None => {
                let removed = self.removed.entry(path.clone()).or_default();
                removed.push(removal(&text, chunk.span));
            }
        }
        self.note(chunk, moving);
        if self.set.is_dropped(chunk) {
            return;
        }
        let within = self.renamed(chunk, moving, within);
        match cut(&text, chunk.span, within) {
            Ok(moved) => {
                let moved = self.completed(chunk, moving, &moved);
                let texts = self.by_place.entry(moving.to.clone()).or_default();
                texts.push(moved);
            }
            Err(message) => self.placing.refusals.push(refusal(path, message)),
        }
    }

    /// Puts a shim where a text stood.
    fn replace(&mut self, path: &TreePath, text: &str, span: ByteSpan, shim: &str) {
        let line = lines::line_break(text);
        let indent = lines::prefix(text, span.start).unwrap_or_default();
        let shim = lines::laid_out(shim, indent, line);
        let edit = Edit::replace(span, shim.trim_start());
        self.placing.edit(path, [edit]);
    }

    /// A text that moved, with the attributes that it has to say from now on and the import that its macro needs.
    fn completed(&self, chunk: &Chunk, moving: &Moving<'_>, moved: &str) -> String {
        let mut attributes = chunk.inherited.clone();
        let export = |rules: &rules::Rules| rules.gains_export;
        if moving.rules.as_ref().is_some_and(export) {
            attributes.push("#[macro_export]".to_owned());
        }
        if self.undocumented.contains(&(chunk.file, chunk.span)) {
            attributes.push("#[allow(missing_docs)]".to_owned());
        }
        let moved = with_attributes(moved, &attributes);
        let Some(import) = self.behind.get(&chunk.moving) else {
            return moved;
        };
        // An import of what is not there under a condition would lead nowhere.
        let cfg: String = chunk.cfg.iter().map(|one| format!("{one}\n")).collect();
        format!("{}\n{cfg}{import}", moved.trim_end())
    }

    /// Shims that stand behind what stays, and at the ends of modules.
    fn beside(&mut self, shims: &Shims) {
        for (index, (file, span, shim)) in shims.beside.iter().enumerate() {
            let mut later = shims.beside.iter().skip(index + 1);
            let last = !later.any(|(other, at, _)| other == file && at.end == span.end);
            self.put_behind((*file, *span), shim, last);
        }
        for (index, (file, span, shim)) in shims.instead.iter().enumerate() {
            let mut earlier = shims.instead.iter().take(index);
            let first = !earlier.any(|(other, at, _)| (other, at.start) == (file, span.start));
            self.put_instead((*file, *span), shim, first);
        }
        for (place, shim) in &shims.elsewhere {
            let texts = self.by_place.entry(place.clone()).or_default();
            texts.push(shim.clone());
        }
    }

    /// Puts a shim before a declaration that goes with the lines that it stands in, so that the two edits are apart;
    /// `first` says whether no other one comes there before.
    fn put_instead(&mut self, (file, span): (FileId, ByteSpan), shim: &str, first: bool) {
        self.put_shim((file, span), shim, |text| {
            let removed = lines::removal(text, span);
            let before = text.get(..removed.start as usize).unwrap_or_default();
            let before = before.lines().next_back().unwrap_or_default().trim_end();
            let rest = text.get(removed.end as usize..).unwrap_or_default();
            ShimSpot {
                at: removed.start,
                above: usize::from(first && !before.is_empty() && !before.ends_with('{')),
                below: usize::from(!rest.trim_start().is_empty()),
            }
        });
    }

    /// Puts a shim behind a text; `last` says whether no other one comes there.
    fn put_behind(&mut self, (file, span): (FileId, ByteSpan), shim: &str, last: bool) {
        self.put_shim((file, span), shim, |text| {
            let at = lines::line_end(text, span.end);
            let is_open = !text.get(..at as usize).unwrap_or_default().ends_with('\n');
            let rest = text.get(at as usize..).unwrap_or_default();
            let next = rest.lines().next().unwrap_or_default().trim();
            ShimSpot {
                at,
                above: 1 + usize::from(is_open),
                below: usize::from(last && !next.is_empty() && !next.starts_with('}')),
            }
        });
    }

    /// Writes a shim, indented as what it stands for, where `spot` finds a place for it.
    fn put_shim(
        &mut self,
        (file, span): (FileId, ByteSpan),
        shim: &str,
        spot: impl FnOnce(&str) -> ShimSpot,
    ) {
        let path = self.set.path(file);
        let Some(text) = self.set.mapping.texts.text(&path) else {
            return;
        };
        let line = lines::line_break(&text);
        let indent = lines::prefix(&text, span.start).unwrap_or_default();
        let shim = lines::laid_out(shim, indent, line);
        let ShimSpot { at, above, below } = spot(&text);
        let text = format!("{}{shim}{line}{}", line.repeat(above), line.repeat(below));
        self.placing.edit(&path, [Edit::insert(at, text)]);
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
        let dropped = self.set.is_dropped(chunk);
        let reason = match (dropped, name.is_some()) {
            (true, _) => "goes; its users name the other one",
            (false, true) => "the definition goes to its new module",
            (false, false) => "an `impl` goes with its type",
        };
        let mut told = Rewrite {
            path: self.set.path(chunk.file),
            span: name.unwrap_or(chunk.span),
            form: Form::Declaration,
            evidence: Evidence::Resolved,
            from: moving.change.from.clone(),
            to: moving.change.to.clone(),
            reason: reason.to_owned(),
            safety: Safety::Safe,
        };
        if let Some(from) = self.name_along(chunk, moving).filter(|_| dropped) {
            told.reason = format!("goes with `{}`: nothing else names it", told.from);
            (told.from, told.to) = (from, String::new());
            told.safety = Safety::NeedsReview;
        }
        self.placing.rewrites.push(told);
    }

    /// The full name of a definition that goes along with another one.
    fn name_along(&self, chunk: &Chunk, moving: &Moving<'_>) -> Option<String> {
        let facts = self.set.world().facts(chunk.file);
        let name = facts.name(facts.item(chunk.definition?).name.name);
        let (home, own) = moving.change.from.rsplit_once("::")?;
        (name != own).then(|| format!("{home}::{name}"))
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
        if let Some(start) = self.start_of_gone(&path, at) {
            // An import that goes took the blank line behind it along.
            (at, blank) = (start, true);
        }
        let line = lines::line_break(&text);
        let open = at > 0 && !text.get(..at as usize).unwrap_or_default().ends_with('\n');
        let above = if open { line } else { "" };
        let below = if blank { line } else { "" };
        let block = indented_declarations(list, &indent, line);
        let edit = Edit::insert(at, format!("{above}{block}{below}"));
        self.placing.edit(&path, [edit]);
    }

    /// Where what goes begins, if a place is inside of that.
    fn start_of_gone(&self, path: &TreePath, at: u32) -> Option<u32> {
        let mut edits = self.placing.edits.get(path)?.iter();
        let goes =
            |edit: &&Edit| edit.text.is_empty() && edit.span.start < at && at < edit.span.end;
        edits.find(goes).map(|edit| edit.span.start)
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
        match empty && !list.is_empty() {
            true => texts.insert(0, declarations(list).join("\n")),
            false => self.import(id, list),
        }
        let line = lines::line_break(&text);
        let block = match last {
            true => at_end(&text, (at, &indent), &texts),
            false => format!("{}{line}{line}", joined(&indent, &texts, line)),
        };
        self.placing.edit(&path, [Edit::insert(at, block)]);
    }
}

impl MadeModules<'_, '_> {
    /// Declares the modules, and gives their files.
    fn make(&self, placing: &mut Placing<'_>) -> Vec<NewFile> {
        let made = placing.structure.made.keys();
        let comes = |place: &Place| self.set.moving.iter().any(|one| one.to.is_within(place));
        for place in made.filter(|place| comes(place)) {
            let Some(home) = place.parent() else { continue };
            let line = self.line(place, &home);
            let contents = self.contents(place, line.starts_with("pub mod "));
            placing.contents.insert(place.clone(), contents);
            placing.declare(place, line);
        }
        placing.made()
    }

    /// `mod name;` for a module that is made.
    fn line(&self, place: &Place, home: &Place) -> String {
        let below = |moving: &Moving<'_>| moving.to.is_within(place);
        let mut moving = self.set.moving.iter();
        let public = moving.any(|moving| below(moving) && is_reachable(self.set, moving));
        let moving = self.set.moving.iter().enumerate();
        let inside = moving.filter(|(_, moving)| below(moving));
        let mut users = inside
            .filter_map(|(at, _)| self.scan.users.get(&at))
            .flatten();
        let reach = users.try_fold(home.clone(), |reach, user| reach.common(user));
        let visibility = match reach {
            Some(reach) if !public => reach.visibility(home),
            _ => "pub ".to_owned(),
        };
        format!("{visibility}mod {};", written(place.name()))
    }

    /// What comes to one; `is_shown` says whether it may be in public documentation.
    fn contents(&self, place: &Place, is_shown: bool) -> ModuleContents {
        let mut head = ModuleHead::default();
        let arriving = self.set.moving.iter().enumerate();
        for (at, _) in arriving.filter(|(_, moving)| moving.to == *place) {
            head.add_item(self.set, at, is_shown);
        }
        let imports = self.imports.arriving.get(place);
        let imports = imports.filter(|list| !list.is_empty());
        let imports = imports.map(|list| declarations(list).join("\n"));
        let moved = self.by_place.get(place).into_iter().flatten();
        let moved = moved.map(|text| text.replace("\r\n", "\n"));
        ModuleContents {
            head,
            is_private: !is_shown,
            texts: imports.into_iter().chain(moved).collect(),
        }
    }
}

/// Texts of which shims take the places.
fn shimmed(set: &Set<'_>, shims: &Shims) -> BTreeSet<(FileId, ByteSpan)> {
    let chunks = shims.texts.keys().filter_map(|at| set.chunks.get(*at));
    chunks.map(|chunk| (chunk.file, chunk.span)).collect()
}

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
    let moved = moved.iter().map(|one| lines::laid_out(one, indent, line));
    let moved: Vec<String> = moved.collect();
    moved.join(&format!("{line}{line}"))
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
        if let Some((last, parent)) = import.path.split_last() {
            let key = (import.cfg.clone(), parent.to_vec());
            groups.entry(key).or_default().insert(leaf(last, import));
        }
    }
    let declarations = groups.into_iter().map(|((cfg, parent), names)| {
        let attributes: String = cfg.iter().map(|cfg| format!("{cfg}\n")).collect();
        let parent = parent.iter().map(|name| format!("{}::", written(name)));
        let prefix: String = parent.collect();
        let names: Vec<String> = names.into_iter().collect();
        let tree = match names.as_slice() {
            [one] => format!("{prefix}{one}"),
            several => format!("{prefix}{{{}}}", several.join(", ")),
        };
        format!("{attributes}use {tree};")
    });
    declarations.collect()
}

/// The last name of an import, with the one that it gives.
fn leaf(name: &str, import: &Import) -> String {
    let name = written(name);
    match &import.alias {
        Some(alias) if alias == "_" => format!("{name} as _"),
        Some(alias) => format!("{name} as {}", written(alias)),
        None => name,
    }
}

/// The same as lines of a body.
fn indented_declarations(list: &BTreeSet<Import>, indent: &str, line: &str) -> String {
    let declarations = declarations(list);
    let all = declarations.iter().flat_map(|one| one.lines());
    all.map(|one| format!("{indent}{one}{line}")).collect()
}

/// Where an import goes in a body: behind those at its head, else before its first item; the
/// indent, and whether a blank line follows.
fn import_spot(
    arriving: &Arriving<'_, '_, '_>,
    body: &Body,
    facts: &SourceFacts,
    text: &str,
) -> (u32, String, bool) {
    let first = first_item(arriving, body, facts);
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
    let modules = modules.filter(|one| !facts.is_given_to_a_macro(one.span));
    let Some(first) = modules.map(|one| one.span.start).chain(first).min() else {
        let (at, indent) = end_of(body.scope, facts, text);
        return (at, indent, true);
    };
    let first = lines::with_comments_above(text, ByteSpan::empty(first)).start;
    let at = lines::start_within(text, first, around);
    (at, indent(first), true)
}

/// Where the first item or `impl` of a body begins: one that leaves counts where a shim takes its place.
fn first_item(arriving: &Arriving<'_, '_, '_>, body: &Body, facts: &SourceFacts) -> Option<u32> {
    let stays = |at: u32| {
        let chunk = arriving.set.chunk_at(body.file, at);
        chunk.is_none_or(|chunk| arriving.shimmed.contains(&(chunk.file, chunk.span)))
    };
    let items = facts
        .items
        .iter()
        .filter(|item| item.origin == Origin::Code);
    let items = items.map(|item| (item.scope, item.span));
    let all = items.chain(facts.impls.iter().map(|one| (one.scope, one.span)));
    all.filter(|(scope, span)| *scope == body.scope && stays(span.start))
        .filter(|(_, span)| !facts.is_given_to_a_macro(*span))
        .map(|(_, span)| span.start)
        .min()
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
