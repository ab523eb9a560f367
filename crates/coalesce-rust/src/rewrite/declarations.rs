//! Where `mod` declarations leave and arrive, and how modules are made for what comes to them.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Edit, EditSet, Evidence, Form, LanguagePlan, NewFile, Rewrite, Safety, TreePath,
};

use super::{
    conditions,
    conditions::conditions_at,
    heads::ModuleHead,
    items::merged,
    lines,
    mapping::{Mapping, refusal},
    needs::Needs,
    place::Place,
    public::is_public,
    shims::{Shims, path_attributes},
    spell::written,
    structure::{Arrival, Leaving, Structure, own_edits},
};
use crate::{
    facts::{ItemKind, ModuleDeclaration, Origin, ScopeId, SourceFacts},
    resolve::{Body, FileId, ModuleId},
};

/// The edits of all files, while declarations are put in their places.
pub(super) struct Placing<'a> {
    pub mapping: &'a Mapping<'a>,
    pub structure: &'a Structure,
    pub needs: &'a Needs,
    pub shims: &'a Shims,
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub rewrites: Vec<Rewrite>,
    pub refusals: Vec<coalesce_model::Finding>,
    /// Bytes behind which declarations go, by module and file, so that they see macros.
    pub behind: BTreeMap<(ModuleId, FileId), u32>,
    /// The declarations that have arrived, as edits.
    arrived: BTreeMap<TreePath, Vec<Edit>>,
    /// Declarations in made modules, by name.
    lines: BTreeMap<Place, BTreeMap<String, Vec<String>>>,
    /// What else comes to made modules.
    pub contents: BTreeMap<Place, ModuleContents>,
    /// Made modules that their parent declares already.
    declared: BTreeSet<Place>,
    /// Whether what arrives goes before all items.
    first: bool,
}

/// What a made module has beside the modules that it declares.
#[derive(Default)]
pub(super) struct ModuleContents {
    pub head: ModuleHead,
    /// Whether it is in no public documentation, so that its head may link what is private.
    pub is_private: bool,
    /// Imports and definitions.
    pub texts: Vec<String>,
}

impl<'a> Placing<'a> {
    pub fn new(
        mapping: &'a Mapping<'a>,
        structure: &'a Structure,
        needs: &'a Needs,
        shims: &'a Shims,
        edits: BTreeMap<TreePath, Vec<Edit>>,
    ) -> Self {
        Self {
            mapping,
            structure,
            needs,
            shims,
            edits,
            rewrites: Vec::new(),
            refusals: Vec::new(),
            behind: BTreeMap::new(),
            arrived: BTreeMap::new(),
            lines: BTreeMap::new(),
            contents: BTreeMap::new(),
            declared: BTreeSet::new(),
            first: false,
        }
    }

    /// Moves every declaration.
    pub fn place(&mut self) {
        let length = |leaving: &&Leaving| {
            let facts = self.mapping.world.facts(leaving.file);
            let found = facts.module(leaving.declaration);
            found.span.len()
        };
        let mut order: Vec<&Leaving> = self.structure.leaving.iter().collect();
        // Inner ones first: what they leave behind travels with the outer one.
        order.sort_by_key(length);
        for leaving in order {
            self.one(leaving);
        }
        for arrival in &self.structure.arrivals {
            self.settle(arrival);
        }
    }

    /// Tells what was done, and the edits with what starts at one byte made one.
    pub fn finish(self, plan: &mut LanguagePlan) {
        plan.rewrites.extend(self.rewrites);
        plan.refusals.extend(self.refusals);
        let edits = self.edits.into_iter();
        plan.edits = edits
            .map(|(path, own)| (path, merged(joined(own))))
            .collect();
    }

    fn one(&mut self, leaving: &Leaving) {
        let world = self.mapping.world;
        let (path, facts) = (&world[leaving.file].path, world.facts(leaving.file));
        let declaration = facts.module(leaving.declaration);
        let Some(text) = self.mapping.texts.text(path) else {
            let message = "it would have to be edited and cannot be read".to_owned();
            self.refusals.push(refusal(path.clone(), message));
            return;
        };
        let (mapping, structure, needs) = (self.mapping, self.structure, self.needs);
        let mut own = own_edits(mapping, structure, leaving, declaration, needs);
        own.extend(self.inherited(leaving, declaration, &text));
        self.note(leaving, declaration, path);
        self.edits.entry(path.clone()).or_default().extend(own);
        let shim = self.shims.declarations.get(&leaving.module);
        // One that stays declares itself under its new name; its shim needs a declaration, too.
        if shim.is_none() && Structure::is_in_place(self.mapping, leaving.module) {
            return;
        }
        let within = self.take_edits(path, declaration.span);
        let paths = match shim.is_some() && self.has_usual_shim(leaving.module) {
            true => path_attributes(&text, declaration),
            false => Vec::new(),
        };
        let list = self.edits.entry(path.clone()).or_default();
        match shim {
            Some(attribute) => {
                list.extend(shim_edits(facts, declaration, &text, attribute));
                list.extend(paths.into_iter().map(Edit::delete));
            }
            None => list.push(Edit::delete(lines::removal(&text, declaration.span))),
        }
        if self.mapping.is_replaced(leaving.module) {
            return;
        }
        match cut(&text, declaration.span, within) {
            Ok(moved) => self.arrive(leaving, declaration, &moved),
            Err(message) => self.refusals.push(refusal(path.clone(), message)),
        }
    }

    /// Whether the shim of a module has a file of its own, and the module keeps the one that a path names.
    fn has_usual_shim(&self, module: ModuleId) -> bool {
        let path = self.shims.path_of(module);
        path.is_some_and(|path| *path != self.mapping.file_of(module))
    }

    /// Adds the edits of a file.
    pub fn edit(&mut self, path: &TreePath, edits: impl IntoIterator<Item = Edit>) {
        self.edits.entry(path.clone()).or_default().extend(edits);
    }

    /// Takes the edits inside of what leaves from those of its file: what has arrived in front of it stays.
    pub fn take_edits(&mut self, path: &TreePath, span: ByteSpan) -> Vec<Edit> {
        let arrived = self.arrived.get(path);
        let front = ByteSpan::empty(span.start);
        let is_front = |edit: &Edit| {
            edit.span == front && arrived.is_some_and(|arrived| arrived.contains(edit))
        };
        let inside = |edit: &Edit| span.contains(edit.span) && !is_front(edit);
        let list = self.edits.entry(path.clone()).or_default();
        let (within, rest) = std::mem::take(list).into_iter().partition(inside);
        *list = rest;
        within
    }

    /// What the declaration has to say itself from now on.
    fn inherited(
        &self,
        leaving: &Leaving,
        declaration: &ModuleDeclaration,
        text: &str,
    ) -> Option<Edit> {
        let place = self.mapping.after(leaving.module);
        if self.mapping.is_replaced(leaving.module) {
            return None;
        }
        let mut known: BTreeSet<String> = place
            .parent()
            .map(|home| conditions_at(self.mapping, &home))
            .unwrap_or_default();
        known.extend(declaration.cfg.iter().map(|own| conditions::plain(own)));
        let attributes = conditions::attributes(self.mapping, leaving, &known);
        let at = declaration.visibility.span.start;
        let indent = lines::prefix(text, at).unwrap_or_default();
        let line = lines::line_break(text);
        let lines: String = attributes
            .iter()
            .map(|attribute| format!("{attribute}{line}{indent}"))
            .collect();
        (!lines.is_empty()).then(|| Edit::insert(at, lines))
    }

    fn note(&mut self, leaving: &Leaving, declaration: &ModuleDeclaration, path: &TreePath) {
        let name = |place: &Place| self.mapping.name_of(place);
        let from = &self.mapping.world[leaving.module];
        self.rewrites.push(Rewrite {
            path: path.clone(),
            span: declaration.name.span,
            form: Form::Declaration,
            evidence: Evidence::Resolved,
            from: from.canonical.clone(),
            to: name(&self.mapping.after(leaving.module)),
            reason: "the declaration goes to the new parent".to_owned(),
            safety: Safety::Safe,
        });
    }

    /// Puts a declaration into the module that is its parent from now on.
    fn arrive(&mut self, leaving: &Leaving, declaration: &ModuleDeclaration, text: &str) {
        let place = self.mapping.after(leaving.module);
        let Some(home) = place.parent() else { return };
        if self.structure.made.contains_key(&home) {
            let lines = self.lines.entry(home.clone()).or_default();
            let named = lines.entry(place.name().to_owned()).or_default();
            named.push(text.to_owned());
            self.make(leaving, declaration, &home);
        } else {
            self.insert(&home, place.name(), text);
        }
    }

    /// Declares the root of a library that has become a module.
    fn settle(&mut self, arrival: &Arrival) {
        let first = self.mapping.after(arrival.module);
        let mut place = first.clone();
        let mut text = format!("{}pub mod {};", arrival.head, written(place.name()));
        while let Some(home) = place.parent() {
            if !self.structure.made.contains_key(&home) {
                let is_new = place == first || self.declared.insert(place.clone());
                if is_new {
                    self.insert_before_macros(&home, place.name(), &text);
                }
                return;
            }
            let lines = self.lines.entry(home.clone()).or_default();
            let named = lines.entry(place.name().to_owned()).or_default();
            if !named.contains(&text) {
                named.push(text);
            }
            text = format!("pub mod {};", written(home.name()));
            place = home;
        }
    }

    /// Declares a made module, and those around it that are made as well.
    fn make(&mut self, leaving: &Leaving, declaration: &ModuleDeclaration, made: &Place) {
        let Some(home) = made.parent() else { return };
        let line = self.made_line(leaving, declaration, made, &home);
        self.declare(made, line);
        if self.structure.made.contains_key(&home) {
            self.make(leaving, declaration, &home);
        }
    }

    /// Puts the declaration of a made module into the module around it, once.
    pub fn declare(&mut self, made: &Place, line: String) {
        let Some(home) = made.parent() else { return };
        if self.structure.made.contains_key(&home) {
            let lines = self.lines.entry(home).or_default();
            let named = lines.entry(made.name().to_owned());
            named.or_insert_with(|| vec![line]);
        } else if self.declared.insert(made.clone()) {
            self.insert(&home, made.name(), &line);
        }
    }

    fn made_line(
        &self,
        leaving: &Leaving,
        declaration: &ModuleDeclaration,
        made: &Place,
        home: &Place,
    ) -> String {
        let all = self.structure.leaving.iter();
        let inside = all.filter(|other| self.mapping.after(other.module).is_within(made));
        let inside: Vec<&Leaving> = inside.collect();
        let conditions = declaration.cfg.iter().filter(|_| inside.len() == 1);
        let conditions: String = conditions.map(|cfg| format!("#[cfg({cfg})]\n")).collect();
        let mut inside = inside.into_iter();
        let visibility = match inside.any(|other| is_public(self.mapping, other.module)) {
            true => "pub ".to_owned(),
            false => self.needs.seen_from(leaving.module, home),
        };
        format!("{conditions}{visibility}mod {};", written(made.name()))
    }

    /// The files of made modules: what they are about, what they declare, and what else comes to them.
    pub fn made(&mut self) -> Vec<NewFile> {
        let mut files = Vec::new();
        for (place, made) in &self.structure.made {
            let lines = self.lines.remove(place).unwrap_or_default();
            let mut contents = self.contents.remove(place).unwrap_or_default();
            for (name, said) in &lines {
                let is_shown = |line: &String| line.contains("pub mod ") && !line.contains("cfg");
                let is_linked = contents.is_private || said.iter().all(is_shown);
                contents.head.add(name, is_linked);
            }
            let mut parts = vec![contents.head.text()];
            if !lines.is_empty() {
                let lines: Vec<String> = lines.into_values().flatten().collect();
                parts.push(lines.join("\n"));
            }
            parts.append(&mut contents.texts);
            let from = self.mapping.changes.get(made.change);
            files.push(NewFile {
                path: made.file.clone(),
                text: format!("{}\n", parts.join("\n\n")),
                reason: format!(
                    "makes the module that `{}` moves to",
                    from.map_or("", |change| &change.from)
                ),
            });
        }
        files.sort();
        files
    }

    /// Puts a declaration into the bodies of an existing module.
    pub fn insert(&mut self, home: &Place, name: &str, text: &str) {
        let world = self.mapping.world;
        let module = self.mapping.at(home).into_iter();
        let bodies = module.flat_map(|module| world.bodies_of(module));
        for body in bodies.filter(|body| !body.included) {
            self.insert_into(body, name, text);
        }
    }

    /// As [`Self::insert`], and ahead of macros that what arrives knew nothing of.
    fn insert_before_macros(&mut self, home: &Place, name: &str, text: &str) {
        let world = self.mapping.world;
        let module = self.mapping.at(home).into_iter();
        let bodies = module.flat_map(|module| world.bodies_of(module));
        for body in bodies.filter(|body| !body.included) {
            let facts = world.facts(body.file);
            let (mut modules, mut items) = (facts.modules.iter(), facts.items.iter());
            self.first = modules.any(|found| found.scope == body.scope && found.macro_use)
                || items.any(|item| item.scope == body.scope && item.kind == ItemKind::Macro);
            self.insert_into(body, name, text);
            self.first = false;
        }
    }

    fn insert_into(&mut self, body: &Body, name: &str, declaration: &str) {
        let world = self.mapping.world;
        let (source, facts) = (&world[body.file], world.facts(body.file));
        let Some(text) = self.mapping.texts.text(&source.path) else {
            return;
        };
        let spot = if self.first {
            Self::first_spot(facts, body.scope, &text, 0)
        } else {
            self.spot(body, facts, name, &text)
        };
        let line = lines::line_break(&text);
        let block = lines::laid_out(declaration, &spot.indent, line);
        let inserted = format!("{}{block}{line}{}", spot.before, spot.after);
        let edit = Edit::insert(spot.at, inserted);
        for edits in [&mut self.arrived, &mut self.edits] {
            let list = edits.entry(source.path.clone()).or_default();
            list.push(edit.clone());
        }
    }

    /// Where a declaration of that name goes in a scope: among the others by name, else before the
    /// first item.
    fn spot(&self, body: &Body, facts: &SourceFacts, name: &str, text: &str) -> Spot {
        let others = self.others_in(body, facts);
        let name_of = |other: &&ModuleDeclaration| facts.name(other.name.name).to_owned();
        let sorted = others.is_sorted_by_key(name_of);
        let macros = self.behind.get(&(body.module, body.file)).copied();
        let macros = macros.unwrap_or(0);
        let next = others
            .iter()
            .find(|other| sorted && name_of(other).as_str() > name && other.span.start >= macros);
        let indent = |at: u32| lines::prefix(text, at).unwrap_or_default().to_owned();
        let around = facts.scope(body.scope).span;
        if let Some(next) = next {
            let start = next.span.start;
            return Spot::plain(lines::start_within(text, start, around), indent(start));
        }
        let Some(last) = others.last().filter(|last| last.span.end >= macros) else {
            return Self::first_spot(facts, body.scope, text, macros);
        };
        let at = lines::end_within(text, last.span.end, around);
        let open = !text.get(..at as usize).unwrap_or_default().ends_with('\n');
        let before = if open { lines::line_break(text) } else { "" };
        Spot {
            before: before.to_owned(),
            ..Spot::plain(at, indent(last.span.start))
        }
    }

    /// The declarations of files in a body that stay there.
    fn others_in<'f>(&self, body: &Body, facts: &'f SourceFacts) -> Vec<&'f ModuleDeclaration> {
        let leaves = |at: usize| {
            self.structure.leaving.iter().any(|leaving| {
                leaving.file == body.file
                    && leaving.declaration as usize == at
                    && !Structure::is_in_place(self.mapping, leaving.module)
            })
        };
        let others = facts.modules.iter().enumerate().filter(|(at, other)| {
            other.scope == body.scope
                && other.origin == Origin::Code
                && !leaves(*at)
                && other.body.is_none()
        });
        others.map(|(_, other)| other).collect()
    }

    fn first_spot(facts: &SourceFacts, scope: ScopeId, text: &str, behind: u32) -> Spot {
        let line = lines::line_break(text);
        let Some(first) = first_start(facts, scope, behind) else {
            return Self::spot_at_end(facts, scope, text);
        };
        let prefix = lines::prefix(text, first);
        let at = match prefix {
            Some(_) => lines::line_start(text, first),
            None => first,
        };
        Spot {
            after: line.to_owned(),
            ..Spot::plain(at, prefix.unwrap_or_default().to_owned())
        }
    }

    /// The end of a scope.
    fn spot_at_end(facts: &SourceFacts, scope: ScopeId, text: &str) -> Spot {
        let line = lines::line_break(text);
        let inline = scope.0 != 0;
        let (at, indent) = match inline {
            true => (facts.scope(scope).span.end.saturating_sub(1), "    "),
            false => (u32::try_from(text.len()).unwrap_or(0), ""),
        };
        let head = text.get(..at as usize).unwrap_or_default();
        let open = !head.is_empty() && !head.ends_with('\n');
        let blank = !inline && !head.trim().is_empty();
        Spot {
            before: line.repeat(usize::from(open) + usize::from(blank)),
            ..Spot::plain(at, indent.to_owned())
        }
    }
}

/// What becomes of the old declaration when a shim stays: it warns, where there is an attribute for it, and has its
/// body in a file.
fn shim_edits(
    facts: &SourceFacts,
    declaration: &ModuleDeclaration,
    text: &str,
    attribute: &str,
) -> Vec<Edit> {
    let at = declaration.visibility.span.start;
    let indent = lines::prefix(text, at).unwrap_or_default();
    let line = lines::line_break(text);
    // With the visibility: what arrives here is declared before it.
    let visibility = declaration.visibility.span;
    let said = visibility.of(text).unwrap_or_default();
    let mut edits = Vec::new();
    if !attribute.is_empty() {
        let said = format!("{attribute}{line}{indent}{said}");
        edits.push(Edit::replace(visibility, said));
    }
    let body = declaration.body.map(|body| facts.scope(body));
    if let Some(body) = body {
        let start = declaration.name.span.end;
        edits.push(Edit::replace(ByteSpan::new(start, body.span.end), ";"));
    }
    edits
}

/// A place for a line.
struct Spot {
    at: u32,
    indent: String,
    before: String,
    after: String,
}

impl Spot {
    fn plain(at: u32, indent: String) -> Self {
        Self {
            at,
            indent,
            before: String::new(),
            after: String::new(),
        }
    }
}

/// The text of a span with its edits made, a comment behind it included.
pub(super) fn cut(text: &str, span: ByteSpan, edits: Vec<Edit>) -> Result<String, String> {
    let comment = lines::trailing_comment(text, span).unwrap_or_default();
    let slice = span.of(text).unwrap_or_default();
    let shifted = edits
        .into_iter()
        .map(|edit| Edit {
            span: ByteSpan::new(edit.span.start - span.start, edit.span.end - span.start),
            ..edit
        })
        .collect();
    let set = EditSet::from_edits(slice, joined(shifted)).map_err(|error| error.to_string())?;
    let moved = set.apply(slice).map_err(|error| error.to_string())?;
    let indent = lines::prefix(text, span.start).unwrap_or_default();
    Ok(format!(
        "{}{comment}",
        lines::reindented(&moved, indent, "")
    ))
}

/// Edits that start at the same byte, made one: what is inserted comes first, a visibility last of that,
/// for it belongs to what stands there.
pub(super) fn joined(mut edits: Vec<Edit>) -> Vec<Edit> {
    let is_visibility = |edit: &Edit| {
        let plain = edit.text.starts_with("pub") && !edit.text.contains('\n');
        edit.span.is_empty() && plain && edit.text.ends_with(' ')
    };
    edits.sort();
    edits.sort_by_key(|edit| (edit.span, is_visibility(edit)));
    edits.dedup();
    let mut result: Vec<Edit> = Vec::new();
    for edit in edits {
        match result.last_mut() {
            Some(last) if last.span.start == edit.span.start && last.span.is_empty() => {
                last.text.push_str(&edit.text);
                last.span = edit.span;
            }
            _ => result.push(edit),
        }
    }
    result
}

/// Where the first thing of a scope begins that stands behind a byte.
fn first_start(facts: &SourceFacts, scope: ScopeId, behind: u32) -> Option<u32> {
    let items = facts.items.iter().map(|found| (found.scope, found.span));
    let uses = facts.uses.iter().map(|found| (found.scope, found.span));
    let impls = facts.impls.iter().map(|found| (found.scope, found.span));
    let modules = facts.modules.iter().map(|found| (found.scope, found.span));
    let crates = facts.extern_crates.iter();
    let crates = crates.map(|found| (found.scope, found.span));
    let all = items.chain(uses).chain(impls).chain(modules).chain(crates);
    all.filter(|(within, span)| *within == scope && span.start >= behind)
        .filter(|(_, span)| !facts.is_given_to_a_macro(*span))
        .map(|(_, span)| span.start)
        .min()
}
