//! Conditions (`cfg`) of modules and items: what code has from the modules around it and takes along
//! when it leaves them, lints that are allowed among it, and what the new place asks for besides.
//!
//! Lints that are denied stay behind: without them everything still compiles. Whether users have the
//! conditions of what they name is asked of the planned tree (`regressions`).

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, Texts, TreePath};
use rustc_hash::FxHashMap;
use syn::spanned::Spanned as _;

use super::{
    crossing::{features, named_features},
    lines,
    mapping::Mapping,
    place::Place,
    structure::Leaving,
    tests_only::serves_tests,
};
use crate::{
    condition_macros,
    discover::TargetKind,
    facts::{MacroCall, ModuleDeclaration, SourceFacts, VisibilityKind},
    lints,
    regressions::{Features, Tree, is_file_documented, is_off_for_others},
    resolve::{Body, BodyId, CrateId, FileId, ModuleId, World, is_within},
    syntax,
};

/// What arrives at a place that may have conditions of its own.
pub(super) struct Arrival<'u> {
    /// Its full names.
    pub before: String,
    pub after: String,
    /// The conditions that it had, or says itself.
    pub known: BTreeSet<String>,
    /// The crate whose features those speak of.
    pub from: CrateId,
    /// The module that it arrives in.
    pub to: Place,
    pub has_shim: bool,
    /// Whether `impl`s come along, which count without being named.
    pub has_impls: bool,
    pub users: Vec<&'u Place>,
}

/// Why something cannot arrive: a macro around its old place adds what cannot travel, or it would only
/// be there under a condition, and is needed without.
pub(super) fn refused(mapping: &Mapping<'_>, arrival: &Arrival<'_>) -> Option<String> {
    let there = conditions_at(mapping, &arrival.to);
    let mut macros = arrival.known.iter().filter(|condition| is_macro(condition));
    if let Some(name) = macros.find(|condition| !there.contains(*condition)) {
        return Some(format!(
            "`{}` stands inside `{name}`, and what that adds cannot travel",
            arrival.before
        ));
    }
    let (condition, who) = needed_without(mapping, arrival, &there)?;
    let condition = match is_macro(&condition) {
        true => format!("what `{condition}` adds"),
        false => format!("cfg({condition})"),
    };
    Some(format!(
        "`{}` would only be there under {condition}, and {who}",
        arrival.after
    ))
}

/// A condition of the new place that somebody does not have who needs what arrives, and who that is.
fn needed_without(
    mapping: &Mapping<'_>,
    arrival: &Arrival<'_>,
    there: &BTreeSet<String>,
) -> Option<(String, String)> {
    let world = mapping.world;
    let target = arrival.to.krate;
    let mut features = Features::new(Tree {
        world,
        texts: mapping.texts,
    });
    let mut lacks = |user: (CrateId, &BTreeSet<String>), condition: &str| {
        !features.implies(user, target, condition) && !features.is_in_doubt(user, target, condition)
    };
    let known = (arrival.from, &arrival.known);
    let new = there.iter();
    let new: Vec<&String> = new.filter(|condition| lacks(known, condition)).collect();
    let first = *new.first()?;
    if arrival.has_shim {
        return Some((first.clone(), "its shim is there without".to_owned()));
    }
    // What tests have among themselves is named by those that go along, or by users.
    let of_tests = |one: &&String| is_off_for_others(one) && arrival.known.contains(*one);
    if let Some(counts) = new.iter().find(|one| arrival.has_impls && !of_tests(one)) {
        return Some(((*counts).clone(), "its `impl`s count without".to_owned()));
    }
    arrival.users.iter().find_map(|user| {
        let own = conditions_at(mapping, user);
        let mut missing = new.iter();
        let condition = missing.find(|condition| lacks((user.krate, &own), condition))?;
        let name = mapping.name_of(user);
        let who = match own.contains(*condition) {
            true => format!("`{name}` uses it from another crate, which has it without"),
            false => format!("`{name}` uses it without"),
        };
        Some(((*condition).clone(), who))
    })
}

/// Whether a condition is the name of a macro that may add one.
fn is_macro(condition: &str) -> bool {
    condition.ends_with('!')
}

/// The attributes, outermost first, that the declaration of a module needs in its new place.
pub(super) fn attributes(
    mapping: &Mapping<'_>,
    leaving: &Leaving,
    known: &BTreeSet<String>,
) -> Vec<String> {
    let world = mapping.world;
    let place = mapping.after(leaving.module);
    let mut found: Vec<String> = Vec::new();
    let mut at = body_around(world, leaving);
    found.extend(of_macros(mapping, leaving.file, leaving.declaration));
    while let Some(body) = at.filter(|body| !is_around(mapping, *body, &place)) {
        let own = said_of(mapping, body).iter();
        let mut own: Vec<String> = own.filter(|own| !found.contains(own)).cloned().collect();
        own.append(&mut found);
        found = own;
        at = world[body].declared.map(|(outer, _)| outer);
    }
    if serves_tests(mapping, leaving.module) && !found.iter().any(|one| one == FOR_TESTS) {
        found.insert(0, FOR_TESTS.to_owned());
    }
    found.retain(|attribute| {
        let condition = attribute
            .strip_prefix("#[cfg(")
            .and_then(|rest| rest.strip_suffix(")]"));
        condition.is_none_or(|condition| !known.contains(&plain(condition)))
    });
    let from = mapping.krate(leaving.module);
    found.retain(|attribute| means_something(mapping, (from, &place), attribute));
    if comes_undocumented(mapping, leaving, &place) {
        found.push(format!("#[allow({DOCS})]"));
    }
    found
}

/// Whether a public module goes from where nobody asks for docs to where they are asked for.
fn comes_undocumented(mapping: &Mapping<'_>, leaving: &Leaving, place: &Place) -> bool {
    let world = mapping.world;
    let (old, new) = (world[leaving.module].parent, place.parent());
    let Some((old, new)) = old.zip(new) else {
        return false;
    };
    let mut asks = Asks::new(mapping);
    let facts = world.facts(leaving.file);
    let public = facts.module(leaving.declaration).visibility.kind == VisibilityKind::Public;
    public
        && mapping.krate(leaving.module) != place.krate
        && asks.at(&new)
        && !asks.at(&mapping.after(old))
        && asks.said(&mapping.after(leaving.module)) != Some(false)
        && !is_documented(mapping, leaving.module)
}

/// Whether all that a module shows has docs, that of modules below it, too.
fn is_documented(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    let world = mapping.world;
    let files: BTreeSet<FileId> = world
        .bodies
        .iter()
        .filter(|body| is_within(world, body.module, module))
        .map(|body| body.file)
        .collect();
    files.into_iter().all(|file| {
        let text = mapping.texts.text(&world[file].path);
        text.is_some_and(|text| is_file_documented(&text))
    })
}

/// Whether a lint that a feature switches is one of the package at `place`: of a feature that it does
/// not have, rustc says that there is none.
fn means_something(
    mapping: &Mapping<'_>,
    (from, place): (CrateId, &Place),
    attribute: &str,
) -> bool {
    if from == place.krate || !attribute.starts_with("#[cfg_attr(") {
        return true;
    }
    let named = named_features(attribute, ByteSpan::from_range(0..attribute.len()));
    if named.is_empty() {
        return true;
    }
    let package = mapping.world[place.krate].package;
    let text = mapping.texts.text(&mapping.world.manifest_of(package));
    let known = text.map(|text| features(&text)).unwrap_or_default();
    named.iter().all(|(name, _)| known.contains(name))
}

/// The text of a module that a byte of a file stands in: a module may have several in one file, each under a
/// condition.
pub(super) fn body_at(world: &World, home: ModuleId, file: FileId, at: u32) -> Option<BodyId> {
    let around = world.body_around(file, at);
    around
        .filter(|body| world[*body].module == home)
        .or_else(|| world.body_in(home, file))
}

/// The attributes, outermost first, that an item says itself once it has left a text of `home` for `place`.
pub(super) fn around_item(
    mapping: &Mapping<'_>,
    home: ModuleId,
    text: Option<BodyId>,
    place: &Place,
) -> Vec<String> {
    let world = mapping.world;
    let known: BTreeSet<String> = around_place(mapping, place);
    let mut at = text;
    let mut found: Vec<String> = Vec::new();
    while let Some(body) = at.filter(|body| !is_around(mapping, *body, place)) {
        let is_new = |own: &&String| !found.contains(own) && !known.contains(&plain(own));
        let own = said_of(mapping, body).iter();
        let mut own: Vec<String> = own.filter(is_new).cloned().collect();
        own.append(&mut found);
        found = own;
        at = world[body].declared.map(|(outer, _)| outer);
    }
    let from = mapping.krate(home);
    found.retain(|attribute| means_something(mapping, (from, place), attribute));
    found
}

/// Whether a test that leaves `home` for `place` comes from where all is for tests to where not all is.
pub(super) fn needs_test(
    mapping: &Mapping<'_>,
    (home, place): (ModuleId, &Place),
    inherited: &[String],
) -> bool {
    let krate = mapping.krate(home);
    mapping.world[krate].kind == TargetKind::Test
        && !inherited.iter().any(|one| one == FOR_TESTS)
        && is_there_without_tests(mapping, place)
}

/// Whether a place is there where no tests are built.
pub(super) fn is_there_without_tests(mapping: &Mapping<'_>, place: &Place) -> bool {
    mapping.world[place.krate].kind != TargetKind::Test
        && !around_place(mapping, place).contains(FOR_TESTS)
}

/// `#[allow(missing_docs)]` on the declarations of modules that become public where docs are asked
/// for: what is inside was not written for others.
pub(super) fn undocumented(
    mapping: &Mapping<'_>,
    shown: &[ModuleId],
) -> BTreeMap<TreePath, Vec<Edit>> {
    let mut found: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
    let mut asks = Asks::new(mapping);
    for module in shown {
        let parent = mapping.after(*module).parent();
        if !parent.is_some_and(|parent| asks.at(&parent)) {
            continue;
        }
        for (file, at) in mapping.world.declarations(*module) {
            if let Some(edit) = allow_no_docs(mapping, file, at) {
                let path = mapping.world[file].path.clone();
                found.entry(path).or_default().push(edit);
            }
        }
    }
    found
}

/// Puts the attribute above a declaration that becomes public.
fn allow_no_docs(mapping: &Mapping<'_>, file: FileId, at: u32) -> Option<Edit> {
    let visibility = mapping.world.facts(file).module(at).visibility;
    if visibility.kind == VisibilityKind::Public {
        return None;
    }
    let text = mapping.texts.text(&mapping.world[file].path)?;
    let start = visibility.span.start;
    let indent = lines::prefix(&text, start)?;
    let line = lines::line_break(&text);
    let attribute = format!("{indent}#[allow(missing_docs)]{line}");
    Some(Edit::insert(lines::line_start(&text, start), attribute))
}

/// Where docs are asked for, each module looked at once.
pub(super) struct Asks<'m, 'a> {
    mapping: &'m Mapping<'a>,
    known: FxHashMap<Place, bool>,
}

impl<'m, 'a> Asks<'m, 'a> {
    pub fn new(mapping: &'m Mapping<'a>) -> Self {
        Self {
            mapping,
            known: FxHashMap::default(),
        }
    }

    /// Whether rustc warns of what has no docs at a place, and may be told not to.
    pub fn at(&mut self, place: &Place) -> bool {
        let mut passed = Vec::new();
        let mut at = Some(place.clone());
        let mut level = None;
        while let Some(here) = at {
            level = match self.known.get(&here) {
                Some(known) => Some(*known),
                None => self.said(&here),
            };
            at = here.parent();
            passed.push(here);
            if level.is_some() {
                break;
            }
        }
        let asks = level.unwrap_or_else(|| self.of_package(place.krate));
        self.known
            .extend(passed.into_iter().map(|place| (place, asks)));
        asks
    }

    /// What the module of a place says, or its `mod` line.
    fn said(&self, place: &Place) -> Option<bool> {
        let (world, texts) = (self.mapping.world, self.mapping.texts);
        let module = self.mapping.at(place)?;
        let mut found = None;
        for body in world.bodies_of(module) {
            let mut said = Vec::new();
            if let Some((outer, at)) = body.declared {
                let outer = world[outer].file;
                let declared = world.facts(outer).module(at).attributes;
                let text = texts.text(&world[outer].path);
                let read = declared.zip(text.as_deref());
                said.extend(read.map(|(span, text)| lints::said(text, span)));
            }
            said.push(lints::of_head(world, body, texts));
            let mut last = said.into_iter().flatten();
            let last = last.rfind(|said| said.lint == DOCS);
            found = last.map(|said| is_asked(said.level)).or(found);
        }
        found
    }

    fn of_package(&self, krate: CrateId) -> bool {
        let levels = lints::package_levels(self.mapping.world, krate, self.mapping.texts);
        let mut levels = levels.iter().filter(|(lint, _)| lint == DOCS);
        levels.any(|(_, level)| is_asked(level))
    }
}

/// The condition of what is there for tests alone.
pub(super) const FOR_TESTS: &str = "#[cfg(test)]";

/// The lint that asks for docs.
const DOCS: &str = "missing_docs";

/// Whether a level asks, and lets itself be told otherwise.
fn is_asked(level: &str) -> bool {
    matches!(level, "warn" | "deny")
}

/// The module around a place, or the place itself, whose head sets a lint to one of these levels. Each
/// module is looked at once: modules may stand a thousand deep in each other.
pub(super) struct SetAround<'m, 'a> {
    mapping: &'m Mapping<'a>,
    lint: &'m str,
    levels: &'m [&'m str],
    known: FxHashMap<Place, Option<ModuleId>>,
}

impl<'m, 'a> SetAround<'m, 'a> {
    pub fn new(mapping: &'m Mapping<'a>, (lint, levels): (&'m str, &'m [&'m str])) -> Self {
        Self {
            mapping,
            lint,
            levels,
            known: FxHashMap::default(),
        }
    }

    pub fn of(&mut self, place: &Place) -> Option<ModuleId> {
        let mut passed = Vec::new();
        let mut at = Some(place.clone());
        let mut found = None;
        while let Some(here) = at {
            if let Some(known) = self.known.get(&here) {
                found = *known;
                break;
            }
            let module = self.mapping.at(&here).filter(|module| self.sets(*module));
            at = here.parent();
            passed.push(here);
            if module.is_some() {
                found = module;
                break;
            }
        }
        self.known
            .extend(passed.into_iter().map(|place| (place, found)));
        found
    }

    fn sets(&self, module: ModuleId) -> bool {
        let mapping = self.mapping;
        mapping.world.bodies_of(module).any(|body| {
            let said = lints::of_head(mapping.world, body, mapping.texts);
            let mut said = said.iter();
            said.any(|said| said.lint == self.lint && self.levels.contains(&said.level))
        })
    }
}

/// What the modules around a place say, without spaces.
fn around_place(mapping: &Mapping<'_>, place: &Place) -> BTreeSet<String> {
    let world = mapping.world;
    let mut found = BTreeSet::new();
    let mut at = Some(place.clone());
    while let Some(here) = at {
        let modules = mapping.at(&here).into_iter();
        for body in modules.flat_map(|module| &world[module].bodies) {
            let own = said_of(mapping, *body).iter();
            found.extend(own.map(|attribute| plain(attribute)));
        }
        at = here.parent();
    }
    found
}

/// The lints that the files of a module allow at their head: a shim says the same names.
pub(super) fn allowed(world: &World, module: ModuleId, texts: &dyn Texts) -> Vec<String> {
    let _trees = syntax::Trees::begin();
    let mut found = Vec::new();
    for body in world.bodies_of(module).filter(|body| body.scope.0 == 0) {
        let text = texts.text(&world[body.file].path);
        let parsed = text.and_then(|text| syntax::parse_file(&text).ok());
        let own = parsed.map(|file| kept(&file.attrs)).unwrap_or_default();
        found.extend(own.into_iter().filter(|own| own.starts_with("#[allow")));
    }
    found.sort();
    found.dedup();
    found
}

/// What the declaration of a module says of conditions and allowed lints, and its file of the latter.
pub(super) fn declared(world: &World, module: ModuleId, texts: &dyn Texts) -> Vec<String> {
    let first = world.bodies_of(module).next();
    let mut found = first
        .map(|body| of_body(world, body, texts))
        .unwrap_or_default();
    let mut seen = BTreeSet::new();
    found.retain(|attribute| seen.insert(plain(attribute)));
    found
}

/// The conditions among attributes, written as outer ones.
pub(super) fn conditions(attributes: &[syn::Attribute]) -> Vec<String> {
    let mut found = kept(attributes);
    found.retain(|attribute| attribute.starts_with("#[cfg("));
    found
}

/// The conditions that an import says itself.
pub(super) fn of_import(mapping: &Mapping<'_>, (file, leaf): (FileId, u32)) -> Vec<String> {
    let _trees = syntax::Trees::begin();
    let world = mapping.world;
    let span = world.facts(file).declaration_of(leaf).span;
    let text = mapping.texts.text(&world[file].path);
    let found = text.and_then(|text| {
        let item: syn::ItemUse = syntax::parse(span.of(&text)?).ok()?;
        Some(conditions(&item.attrs))
    });
    found.unwrap_or_default()
}

/// A condition without its spaces, as conditions are compared.
pub(super) fn plain(condition: &str) -> String {
    condition.split_whitespace().collect()
}

/// The body that a declaration stands in.
fn body_around(world: &World, leaving: &Leaving) -> Option<BodyId> {
    let declared = |body: &&Body| {
        body.declared.is_some_and(|(outer, at)| {
            let outer = &world[outer];
            at == leaving.declaration && (outer.file == leaving.file)
        })
    };
    let node = &world[leaving.module];
    let mut own = node.bodies.iter().map(|body| &world[body]);
    let known = own.find(declared).and_then(|body| body.declared);
    // A file that several declarations lead to is one body, of the first of them.
    let start = || {
        world
            .facts(leaving.file)
            .module(leaving.declaration)
            .span
            .start
    };
    match known {
        Some((outer, _)) => Some(outer),
        None => world.body_around(leaving.file, start()),
    }
}

/// Whether the new place is below the module of a body, so that it still has all from it.
fn is_around(mapping: &Mapping<'_>, body: BodyId, place: &Place) -> bool {
    let module = mapping.world[body].module;
    place.is_within(&mapping.after(module))
}

/// What the declaration of a body says, the head of its file, and the macros around the declaration. Each
/// body is read once: all that leaves a file asks for it.
fn said_of<'m>(mapping: &'m Mapping<'_>, body: BodyId) -> &'m [String] {
    mapping.said_of_body(body, || {
        let world = mapping.world;
        let body = &world[body];
        let mut own = of_body(world, body, mapping.texts);
        own.extend(of_macros_around(mapping, body));
        own
    })
}

/// What the declaration of a body says, and the head of its file.
fn of_body(world: &World, body: &Body, texts: &dyn Texts) -> Vec<String> {
    let _trees = syntax::Trees::begin();
    let mut found = Vec::new();
    if let Some((outer, at)) = body.declared {
        let outer = &world[outer];
        let text = texts.text(&world[outer.file].path);
        let span = world.facts(outer.file).module(at).span;
        if let Some(text) = text.as_deref().and_then(|text| span.of(text)) {
            let attributes = syntax::parse::<syn::ItemMod>(text).map(|item| item.attrs);
            found.extend(kept(&attributes.unwrap_or_default()));
        }
    }
    if body.scope.0 == 0
        && let Some(text) = texts.text(&world[body.file].path)
    {
        let attributes = syntax::parse_file(&text).map(|file| file.attrs);
        found.extend(kept(&attributes.unwrap_or_default()));
    }
    found
}

/// Lints that the compiler hears of at the head of a crate alone.
const OF_CRATES: [&str; 6] = [
    "confusable_idents",
    "mixed_script_confusables",
    "non_ascii_idents",
    "uncommon_codepoints",
    "unused_crate_dependencies",
    "linker_messages",
];

/// Conditions and allowed lints among attributes, written as outer ones.
fn kept(attributes: &[syn::Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in attributes {
        let path = attribute.path();
        let Some(said) = attribute.meta.span().source_text() else {
            continue;
        };
        let said = said.trim();
        if OF_CRATES.iter().any(|lint| said.contains(lint)) {
            continue;
        }
        if path.is_ident("cfg") || path.is_ident("allow") {
            found.push(format!("#[{said}]"));
        } else if path.is_ident("expect") {
            found.push(format!(
                "#[allow{}]",
                said.strip_prefix("expect").unwrap_or(said)
            ));
        } else if path.is_ident("cfg_attr") && said.contains("allow(") {
            found.push(format!("#[{said}]"));
        }
    }
    found
}

/// The conditions on the declarations of a module and of those around it; one that only some of
/// several declarations have does not count.
pub(super) fn conditions_of(mapping: &Mapping<'_>, module: ModuleId) -> BTreeSet<String> {
    let world = mapping.world;
    let mut found = BTreeSet::new();
    let mut at = Some(module);
    while let Some(module) = at {
        let mut all = world.declarations(module).into_iter().map(|(file, index)| {
            let facts = world.facts(file);
            let declared = facts.module(index);
            let krate = world[module].krate;
            let around = macros_around(mapping, krate, facts, declared);
            let conditions = declared.cfg.iter();
            conditions
                .map(|condition| plain(condition))
                .chain(around)
                .collect::<BTreeSet<String>>()
        });
        if let (Some(only), None) = (all.next(), all.next()) {
            found.extend(only);
        }
        found.extend(inner_conditions(world, module));
        at = world[module].parent;
    }
    found
}

/// What the head of a module's only body says of it.
fn inner_conditions(world: &World, module: ModuleId) -> Vec<String> {
    let node = &world[module];
    let [body] = node.bodies.as_slice() else {
        return Vec::new();
    };
    let body = &world[body];
    let all = world.facts(body.file).inner_cfg.iter();
    let own = all.filter(|(at, _)| *at == body.scope);
    own.map(|(_, condition)| plain(condition)).collect()
}

/// The macro calls that a declaration stands in, as conditions: those that they add, or their names where
/// what they add is not known.
fn macros_around(
    mapping: &Mapping<'_>,
    krate: CrateId,
    facts: &SourceFacts,
    declared: &ModuleDeclaration,
) -> Vec<String> {
    let mut found = Vec::new();
    for call in calls_around(facts, declared) {
        match mapping.condition_macros().of_call(krate, facts, call) {
            Some(added) => {
                let said = added
                    .iter()
                    .filter_map(|one| condition_macros::condition(one));
                found.extend(said.map(plain));
            }
            None => {
                let path = facts.path(call.path);
                let name = facts.segments(path.segments).last();
                found.extend(name.map(|name| format!("{}!", facts.name(name.name))));
            }
        }
    }
    found
}

/// The macro calls that a declaration stands in, the outermost first.
fn calls_around<'f>(facts: &'f SourceFacts, declared: &ModuleDeclaration) -> Vec<&'f MacroCall> {
    let calls = facts.macro_calls.iter();
    let around = calls.filter(|call| call.body.contains(declared.span));
    let mut found: Vec<&MacroCall> = around.collect();
    found.sort_by_key(|call| std::cmp::Reverse(call.body.len()));
    found
}

/// Whether a declaration stands in macro calls of which all is known that they add.
pub(super) fn is_conditioned(mapping: &Mapping<'_>, file: FileId, declaration: u32) -> bool {
    let world = mapping.world;
    let facts = world.facts(file);
    let Some(krate) = mapping.crate_of(file) else {
        return false;
    };
    let calls = calls_around(facts, facts.module(declaration));
    let known = |call: &&MacroCall| {
        let added = mapping.condition_macros().of_call(krate, facts, call);
        added.is_some()
    };
    !calls.is_empty() && calls.iter().all(known)
}

/// The attributes that known macros put on a declaration.
fn of_macros(mapping: &Mapping<'_>, file: FileId, declaration: u32) -> Vec<String> {
    let world = mapping.world;
    let facts = world.facts(file);
    let Some(krate) = mapping.crate_of(file) else {
        return Vec::new();
    };
    let calls = calls_around(facts, facts.module(declaration)).into_iter();
    let added = calls.filter_map(|call| mapping.condition_macros().of_call(krate, facts, call));
    added.flatten().cloned().collect()
}

/// The same of the declaration that leads to a body.
fn of_macros_around(mapping: &Mapping<'_>, body: &Body) -> Vec<String> {
    let declared = body.declared;
    let found = declared.map(|(outer, at)| of_macros(mapping, mapping.world[outer].file, at));
    found.unwrap_or_default()
}

/// The conditions of what is at a place after, or around it.
pub(super) fn conditions_at(mapping: &Mapping<'_>, place: &Place) -> BTreeSet<String> {
    let mut at = Some(place.clone());
    while let Some(here) = at {
        if let Some(module) = mapping.at(&here) {
            return conditions_of(mapping, module);
        }
        at = here.parent();
    }
    BTreeSet::new()
}
