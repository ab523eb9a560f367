//! The root file of a library that becomes a module: attributes that only a crate may have, macros
//! that it exports, and names of crates that it gives to all of its modules.
//!
//! What the target has at its root anyway is left out; what only decorates documentation goes, with
//! a note. A crate that can do without `std` stays able to only where the target is, too.

use coalesce_cargo::features;
use coalesce_model::{ByteSpan, Edit, Finding, Texts, TreePath, finding::codes};
use syn::{punctuated::Punctuated, spanned::Spanned as _};

use super::{
    super::{
        conditions, lines,
        mapping::{Library, Mapping, refusal},
    },
    Packages, bound_name, check, files,
    manifest::{self, Said},
};
use crate::{
    facts::{ExternCrate, ItemKind, SourceFacts},
    resolve::{ItemNode, ModuleId, World},
    syntax, words,
};

/// An inner attribute of a root file.
struct Inner {
    /// The bytes from `#!` to `]`.
    span: ByteSpan,
    /// What it says first, `cfg_attr` looked through.
    names: Vec<String>,
    /// The condition of the `cfg_attr` around it.
    condition: Option<String>,
    /// Its text.
    text: String,
}

/// A root file, read.
struct Root {
    path: TreePath,
    text: std::sync::Arc<str>,
    inner: Vec<Inner>,
}

/// Works out the edits of both root files, and the head of the new declaration.
pub(super) fn root(mapping: &Mapping<'_>, library: &Library, made: &mut Packages) {
    let target = mapping.after(library.module).krate;
    let target = mapping.world[target].root;
    let Some((old, new)) = read_both(mapping, library, target) else {
        let path = mapping.file_of(library.module);
        let message = "its root file, or that of its new crate, does not parse".to_owned();
        made.refusals.push(refusal(path, message));
        return;
    };
    let mut pass = Pass {
        mapping,
        library,
        old: &old,
        new: &new,
        above: Vec::new(),
        made,
        has_unsafe: true,
    };
    pass.run();
    let gate = gate(mapping, library);
    let head = made.heads.entry(library.module).or_default();
    head.insert_str(0, &gate);
}

/// The root of a library, and that of the crate that it goes into.
fn read_both(
    mapping: &Mapping<'_>,
    library: &Library,
    target: Option<ModuleId>,
) -> Option<(Root, Root)> {
    let old = read(mapping, library.module)?;
    Some((old, read(mapping, target?)?))
}

/// What the root of a shim says as the library did: that it does without `std`, and the crates of the
/// standard library that its signatures may name.
pub(in super::super) fn of_shim(mapping: &Mapping<'_>, module: ModuleId) -> (String, String) {
    let Some(root) = read(mapping, module) else {
        return (String::new(), String::new());
    };
    let plain = root.inner.iter().filter(|inner| {
        let mut names = inner.names.iter();
        names.any(|name| name == "no_std" || name == "feature")
    });
    let inner = plain.map(|inner| format!("{}\n", inner.text)).collect();
    (inner, standard_crates(mapping, &root))
}

/// The crates of the standard library that a root names, a line each and an empty one.
fn standard_crates(mapping: &Mapping<'_>, root: &Root) -> String {
    let Some(facts) = facts(mapping.world, &root.path) else {
        return String::new();
    };
    let standard = facts.extern_crates.iter().filter(|found| {
        let name = facts.name(found.name.name);
        found.scope.0 == 0 && ["alloc", "std", "core"].contains(&name)
    });
    let crates = standard.filter_map(|found| found.span.of(&root.text));
    let mut crates: String = crates.map(|text| format!("{text}\n")).collect();
    if !crates.is_empty() {
        crates.push('\n');
    }
    crates
}

/// The features of the target without which the library does not compile, as a condition: it asked
/// for them, and they are not on by default.
fn gate(mapping: &Mapping<'_>, library: &Library) -> String {
    let world = mapping.world;
    let text = |package: usize| mapping.texts.text(&world.manifest_of(package));
    let (Some(old), Some(new)) = (text(library.package), text(library.target)) else {
        return String::new();
    };
    let (Ok(said), Ok(there)) = (Said::of(&old), features::features(&new)) else {
        return String::new();
    };
    let on = features::defaults(&there);
    let mut missing = manifest::asked(mapping, library, &said);
    missing.retain(|name| !on.contains(name));
    let conditions: Vec<String> = missing
        .iter()
        .map(|name| format!("feature = \"{name}\""))
        .collect();
    match conditions.as_slice() {
        [] => String::new(),
        [one] => format!("#[cfg({one})]\n"),
        several => format!("#[cfg(all({}))]\n", several.join(", ")),
    }
}

fn read(mapping: &Mapping<'_>, module: ModuleId) -> Option<Root> {
    let path = mapping.file_of(module);
    let text = mapping.texts.text(&path)?;
    let inner = inner(&text)?;
    Some(Root { path, text, inner })
}

/// The inner attributes of a file, doc comments left out.
fn inner(text: &str) -> Option<Vec<Inner>> {
    let _trees = syntax::Trees::begin();
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
    let skipped = text.len() - plain.len();
    let shebang = shebang_length(plain);
    let code = plain.get(shebang..)?;
    let file: syn::File = syntax::parse(code).ok()?;
    let mut found = Vec::new();
    for attribute in &file.attrs {
        let range = attribute.span().byte_range();
        let said = code.get(range.clone())?;
        if !said.starts_with('#') {
            continue;
        }
        let start = skipped + shebang + range.start;
        found.push(Inner {
            span: ByteSpan::from_range(start..start + range.len()),
            names: names(attribute),
            condition: condition(attribute),
            text: said.to_owned(),
        });
    }
    Some(found)
}

/// How long the first line is where it names an interpreter.
fn shebang_length(text: &str) -> usize {
    let rest = text.strip_prefix("#!");
    let is_one = rest.is_some_and(|rest| {
        let rest = rest.trim_start_matches("#!");
        !rest.trim_start().starts_with('[')
    });
    if is_one {
        text.find('\n').unwrap_or(text.len())
    } else {
        0
    }
}

/// `no_std`; `doc::html_root_url`; of `cfg_attr(x, feature(y))`: `feature`.
fn names(attribute: &syn::Attribute) -> Vec<String> {
    let mut found = Vec::new();
    collect(&attribute.meta, &mut found);
    found
}

fn collect(meta: &syn::Meta, found: &mut Vec<String>) {
    let name = meta
        .path()
        .get_ident()
        .map(ToString::to_string)
        .unwrap_or_default();
    let nested = match meta {
        syn::Meta::List(list) if matches!(name.as_str(), "cfg_attr" | "doc") => nested(list),
        _ => None,
    };
    match (name.as_str(), nested) {
        ("cfg_attr", Some(nested)) => {
            for meta in nested.iter().skip(1) {
                collect(meta, found);
            }
        }
        ("doc", Some(nested)) => {
            for meta in &nested {
                let option = meta.path().get_ident().map(ToString::to_string);
                found.push(format!("doc::{}", option.unwrap_or_default()));
            }
        }
        _ => found.push(name),
    }
}

/// What stands in the parentheses of an attribute.
fn nested(list: &syn::MetaList) -> Option<Punctuated<syn::Meta, syn::Token![,]>> {
    list.parse_args_with(Punctuated::parse_terminated).ok()
}

fn condition(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::List(list) = &attribute.meta else {
        return None;
    };
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let nested = nested(list)?;
    let first = nested.first()?.span().source_text()?;
    Some(conditions::plain(&first))
}

/// When a root does without `std`: `None` never, an empty condition always.
fn no_std(root: &Root) -> Option<String> {
    let found = root.inner.iter().find(|inner| is_no_std(inner))?;
    Some(found.condition.clone().unwrap_or_default())
}

/// When the root of a crate, by its text, does without `std`: `None` never, an empty condition always.
pub(crate) fn condition_of_no_std(text: &str) -> Option<String> {
    if !text.contains("no_std") {
        return None;
    }
    let found = inner(text)?.into_iter().find(is_no_std)?;
    Some(found.condition.unwrap_or_default())
}

fn is_no_std(inner: &Inner) -> bool {
    inner.names.iter().any(|name| name == "no_std")
}

/// Why a library cannot be where there is no `std`.
fn without_std(old: &Root, new: &Root) -> Option<String> {
    let there = no_std(new)?;
    match no_std(old) {
        Some(own) if own.is_empty() || own == there => None,
        _ => Some(
            "its new crate is #![no_std], and this one is not, or not under the same condition"
                .to_owned(),
        ),
    }
}

/// Whether an attribute, or an option of a `doc`, is for a crate alone.
fn is_of_crate(name: &str) -> bool {
    words::CRATE_ATTRIBUTES.contains(name)
        || name
            .strip_prefix("doc::")
            .is_some_and(|option| words::CRATE_DOCS.contains(option))
}

/// The levels that a root gives lints whatever the conditions, each with its lint.
fn levels(root: &Root) -> Vec<(String, String)> {
    let strict = root.inner.iter().filter(|inner| inner.condition.is_none());
    let said = strict.flat_map(|inner| {
        let level = inner.names.first().cloned().unwrap_or_default();
        let list = inner.text.split_once('(').map_or("", |(_, rest)| rest);
        let list = list.trim_end_matches([']', ')', ' ', ',']);
        let lints = list.split(',').map(|lint| lint.trim().to_owned());
        lints.map(move |lint| (level.clone(), lint))
    });
    said.filter(|(level, lint)| {
        let is_level = matches!(
            level.as_str(),
            "deny" | "forbid" | "warn" | "allow" | "expect"
        );
        is_level && !lint.is_empty() && !lint.contains('=')
    })
    .collect()
}

/// The attribute that has a module go on as it did where its new crate denies a lint or warns of it: what warns
/// anyway goes on warning.
fn milder(level: &str, lint: &str) -> Option<String> {
    let anyway = !lint.contains("::") && !words::QUIET_LINTS.contains(lint);
    match (level, anyway) {
        ("deny", true) => Some(format!("#[warn({lint})]\n")),
        ("deny" | "warn", false) => Some(format!("#[allow({lint})]\n")),
        _ => None,
    }
}

/// An `extern crate` as it is written, without `pub`.
fn without_visibility(declaration: &ExternCrate, text: &str) -> String {
    let said = declaration.span.of(text).unwrap_or_default();
    let visibility = declaration.visibility.span.of(text);
    match visibility.filter(|text| !text.is_empty()) {
        Some(visibility) => said.replacen(&format!("{visibility} "), "", 1),
        None => said.to_owned(),
    }
}

struct Pass<'p, 'a> {
    mapping: &'p Mapping<'a>,
    library: &'p Library,
    old: &'p Root,
    new: &'p Root,
    /// Lines that go to the head of the target's root, before its first item.
    above: Vec<String>,
    made: &'p mut Packages,
    /// Whether a source of the library says `unsafe` somewhere.
    has_unsafe: bool,
}

impl Pass<'_, '_> {
    fn note(&mut self, span: ByteSpan, message: String) {
        self.made
            .notes
            .push(Finding::note(self.old.path.clone(), message).at(span));
    }

    fn edit(&mut self, path: TreePath, edit: Edit) {
        self.made.edits.entry(path).or_default().push(edit);
    }

    fn run(&mut self) {
        self.standard_library();
        self.attributes(self.mapping.texts);
        self.crates();
        self.macros();
        self.lints();
        self.settle();
    }

    fn standard_library(&mut self) {
        if let Some(why) = without_std(self.old, self.new) {
            let refused = refusal(self.old.path.clone(), why).coded(codes::FORBIDDEN_IN_TARGET);
            self.made.refusals.push(refused);
        }
    }

    /// Attributes that only a crate may have leave the file; the target gets what it lacks.
    fn attributes(&mut self, texts: &dyn Texts) {
        self.has_unsafe = files::bodies(self.mapping.world, self.library)
            .any(|(_, path)| texts.text(path).is_some_and(|text| text.contains("unsafe")));
        let old = self.old;
        for inner in &old.inner {
            let own = inner.names.iter().filter(|name| is_of_crate(name)).count();
            if own == 0 {
                continue;
            }
            if own < inner.names.len() {
                let message = format!(
                    "`{}` says what only a crate may say together with what a module may: part it first",
                    inner.text
                );
                let refused = refusal(old.path.clone(), message).at(inner.span);
                self.made.refusals.push(refused);
                continue;
            }
            let edit = Edit::delete(lines::removal(&old.text, inner.span));
            self.edit(old.path.clone(), edit);
            self.carry(inner);
        }
    }

    /// What becomes of an attribute that left.
    fn carry(&mut self, inner: &Inner) {
        let says = |name: &str| inner.names.iter().any(|own| own == name);
        let same = |other: &Inner| conditions::plain(&other.text) == conditions::plain(&inner.text);
        if self.new.inner.iter().any(same) || says("no_std") || says("no_core") {
            return;
        }
        if says("feature") || says("recursion_limit") || says("type_length_limit") {
            self.carry_to_root(inner);
            return;
        }
        self.note(
            inner.span,
            format!(
                "`{}` goes: it is of a crate, and this will be a module",
                inner.text
            ),
        );
    }

    /// Has the new crate's root say it, unless that has a limit of its own.
    fn carry_to_root(&mut self, inner: &Inner) {
        let says = |name: &str| inner.names.iter().any(|own| own == name);
        let taken = self.new.inner.iter().any(|other| {
            let limit = |name: &&String| name.ends_with("_limit");
            other.names.iter().filter(limit).any(|name| says(name))
        });
        let text = &inner.text;
        let message = if taken {
            format!("`{text}` goes: its new crate has a limit of its own")
        } else {
            self.above.push(text.clone());
            format!("`{text}` goes to the root of the new crate")
        };
        self.note(inner.span, message);
    }

    /// Crates that the root names for all of its modules: there, only a root can do that.
    fn crates(&mut self) {
        let facts = facts(self.mapping.world, &self.old.path);
        let known = facts_of_new(self.mapping.world, &self.new.path);
        let Some(facts) = facts else { return };
        let declared = facts.extern_crates.iter();
        for declaration in declared.filter(|found| found.scope.0 == 0) {
            let name = facts.name(declaration.name.name);
            if self.is_of_tree(name) {
                continue;
            }
            let bound = bound_name(facts, declaration);
            let already = known
                .iter()
                .any(|(other, macros)| other == bound && (*macros || !declaration.macro_use));
            let free = name == "std" && no_std(self.new).is_none();
            if !already && !free {
                let plain = without_visibility(declaration, &self.old.text);
                self.above.push(plain);
            }
            if declaration.macro_use {
                // Only a root may take the macros of a crate like this.
                let span = lines::removal(&self.old.text, declaration.span);
                self.edit(self.old.path.clone(), Edit::delete(span));
            }
        }
    }

    /// Whether a name is that of a library of the tree that goes along: its users are spelled anew.
    fn is_of_tree(&self, name: &str) -> bool {
        let externs = &self.mapping.world[self.library.krate].externs;
        let known = externs.iter().find(|(known, _)| known == name);
        let place = self.mapping.after(self.library.module);
        known
            .and_then(|(_, krate)| *krate)
            .is_some_and(|krate| krate == place.krate || self.mapping.library_of(krate).is_some())
            || name == "self"
    }

    /// Exported macros are at the root of their crate; a re-export keeps the path below the module.
    fn macros(&mut self) {
        let names = check::exported(self.mapping, self.library.krate);
        if names.is_empty() {
            return;
        }
        let mut lines = String::new();
        for name in &names {
            let conditions = self.conditions(name);
            lines.push_str(&format!("{conditions}pub use crate::{name};\n"));
        }
        let end = u32::try_from(self.old.text.len()).unwrap_or(u32::MAX);
        let open = if self.old.text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let path = self.old.path.clone();
        let lines = format!("{open}\n{lines}").replace('\n', lines::line_break(&self.old.text));
        self.edit(path, Edit::insert(end, lines));
    }

    /// The conditions under which a macro is there, a line each.
    fn conditions(&self, name: &str) -> String {
        let world = self.mapping.world;
        let krate = self.library.krate;
        let items = world.items.iter().filter(|item| {
            item.kind == ItemKind::Macro
                && item.name == name
                && self.mapping.krate(item.module) == krate
        });
        let found = items.map(|item| self.conditions_of(item));
        found.collect()
    }

    /// The conditions of one macro; none of one that is not exported, or defined in several ways.
    fn conditions_of(&self, item: &ItemNode) -> String {
        let [(file, at)] = item.definitions.as_slice() else {
            return String::new();
        };
        let world = self.mapping.world;
        let fact = world.facts(*file).item(*at);
        if !fact.exported {
            return String::new();
        }
        let of_module = conditions::conditions_of(self.mapping, item.module).into_iter();
        let mut found: String = of_module
            .map(|condition| format!("#[cfg({condition})]\n"))
            .collect();
        if fact.conditional {
            found.push_str(&self.own_conditions(&world[file].path, fact.span));
        }
        found
    }

    fn own_conditions(&self, path: &TreePath, span: ByteSpan) -> String {
        let _trees = syntax::Trees::begin();
        let text = (*path == self.old.path).then(|| span.of(&self.old.text).unwrap_or_default());
        let parsed = text.and_then(|text| syntax::parse::<syn::ItemMacro>(text).ok());
        let found = parsed.map(|item| conditions::conditions(&item.attrs));
        let lines = found.unwrap_or_default().into_iter();
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// What the target forbids at its root and this one does not.
    fn lints(&mut self) {
        let own = levels(self.old);
        let there = levels(self.new);
        let mut head = String::new();
        for (level, lint) in &there {
            let known = own.iter().any(|(_, other)| other == lint);
            let forbids = |(own, other): &(String, String)| own == "forbid" && other == lint;
            if level == "forbid" && !own.iter().any(forbids) {
                self.forbidden(lint);
            } else if !known {
                head.push_str(&milder(level, lint).unwrap_or_default());
            }
        }
        let module = self.library.module;
        self.made.heads.insert(module, head);
    }

    /// A lint that nothing inside can allow.
    fn forbidden(&mut self, lint: &str) {
        let unsafe_code = lint == "unsafe_code";
        let breaks = !unsafe_code || self.has_unsafe;
        if breaks {
            let message = format!(
                "its new crate says #![forbid({lint})], and this one does not keep to it for sure"
            );
            let refused = refusal(self.new.path.clone(), message).coded(codes::FORBIDDEN_IN_TARGET);
            self.made.refusals.push(refused);
        }
    }

    /// Puts what the target's root gets where inner attributes and crates stand.
    fn settle(&mut self) {
        if self.above.is_empty() {
            return;
        }
        let world = self.mapping.world;
        let start = facts(world, &self.new.path)
            .and_then(|facts| facts.scopes.first())
            .map_or(0, |scope| scope.items_start);
        let line = lines::line_break(&self.new.text);
        let (inner, items) = self.parted(line);
        let head = self.new.text.get(..start as usize).unwrap_or_default();
        let is_open = !head.is_empty() && !head.ends_with('\n');
        let open = if is_open { line } else { "" };
        let at = match self.new.inner.last() {
            Some(last) => lines::line_end(&self.new.text, last.span.end),
            None => start,
        };
        let path = self.new.path.clone();
        if at < start {
            self.edit(path.clone(), Edit::insert(at, inner));
            self.edit(path, Edit::insert(start, format!("{open}{items}")));
        } else {
            self.edit(
                path,
                Edit::insert(start.max(at), format!("{open}{inner}{items}")),
            );
        }
    }

    /// What the target's root gets: inner attributes, and crates.
    fn parted(&self, line: &str) -> (String, String) {
        let (mut inner, mut items) = (String::new(), String::new());
        for text in &self.above {
            let list = if text.starts_with("#!") {
                &mut inner
            } else {
                &mut items
            };
            list.push_str(text);
            list.push_str(line);
        }
        (inner, items)
    }
}

fn facts<'w>(world: &'w World, path: &TreePath) -> Option<&'w SourceFacts> {
    Some(world.facts(world.file_at(path)?))
}

/// The crates that a root names, and whether with their macros.
fn facts_of_new(world: &World, path: &TreePath) -> Vec<(String, bool)> {
    let Some(facts) = facts(world, path) else {
        return Vec::new();
    };
    let own = facts
        .extern_crates
        .iter()
        .filter(|found| found.scope.0 == 0);
    own.map(|found| {
        let bound = found.alias.unwrap_or(found.name);
        (facts.name(bound.name).to_owned(), found.macro_use)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_known_through_conditions() {
        let text = "#!/usr/bin/env x\n//! docs\n#![no_std]\n#![cfg_attr(docsrs, feature(doc_cfg))]\n#![doc(html_root_url = \"x\")]\n#![allow(dead_code)]\nfn f() {}\n";
        let found = inner(text).unwrap();
        let names: Vec<_> = found.iter().map(|inner| inner.names.join(" ")).collect();
        assert_eq!(names, ["no_std", "feature", "doc::html_root_url", "allow"]);
        assert_eq!(found[1].condition.as_deref(), Some("docsrs"));
        assert_eq!(found[0].span.of(text), Some("#![no_std]"));
    }
}
