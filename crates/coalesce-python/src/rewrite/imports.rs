//! Import statements: each leaf goes to where its target is, the rest of the statement stays.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, Form};

use crate::{
    facts::{FromPart, ImportStatement, Leaf},
    graph::Entity,
    names::Names,
    rewrite::{FileEdits, Reference, mapping::Mapping},
};

/// Rewrites the import statements of a file. `module` is `None` for a fragment.
pub fn rewrite(mapping: &Mapping<'_>, module: Option<usize>, text: &str, names: &Names<'_>, found: &mut FileEdits) {
    let file = File { mapping, module, text };
    for (import, _) in &names.analysis.imports {
        match &import.from {
            None => import.leaves.iter().for_each(|leaf| file.plain(import, leaf, names, found)),
            Some(from) => file.from(import, from, found),
        }
    }
}

struct File<'a> {
    mapping: &'a Mapping<'a>,
    module: Option<usize>,
    text: &'a str,
}

/// Where a leaf comes from after the changes.
struct Destination {
    parent: String,
    name: String,
    /// The leaf's own target changed, rather than what it is imported from.
    changed: bool,
}

impl File<'_> {
    /// A leaf of `import a.b.c [as d]`.
    fn plain(&self, import: &ImportStatement, leaf: &Leaf, names: &Names<'_>, found: &mut FileEdits) {
        let name = &leaf.name.text;
        let Some(new) = self.new_dotted(name) else { return };
        let mut text = new.clone();
        if leaf.alias.is_none() && !name.contains('.') && new != *name {
            text = format!("{new} as {name}");
        }
        found.change(Edit::replace(leaf.name.span, text), Reference::resolved(Form::Import, name, &new, "the module has another name"));
        let top = leaf.bound();
        let lost = leaf.alias.is_none() && name.contains('.') && new.split('.').next() != Some(top);
        let others = names.analysis.uses.iter().filter(|found| found.chain.first().is_some_and(|root| root.text == top));
        let needs_top = others.map(|found| names.meanings(found)).any(|meanings| {
            let moved = meanings.iter().filter_map(|meaning| meaning.entity.as_ref());
            !moved.into_iter().any(|entity| matches!(entity, Entity::Module(module) if self.mapping.new_name(*module).is_some()))
        });
        if lost && needs_top {
            found.edits.push(self.after(import, &format!("import {top}")));
        }
    }

    /// The dotted name of a module as it is spelled here, after the changes.
    fn new_dotted(&self, name: &str) -> Option<String> {
        if let Some((length, new)) = self.mapping.dotted(name) {
            return Some(format!("{new}{}", name.get(length..).unwrap_or_default()));
        }
        // Spelled from another root than the canonical name: keep what stands before it.
        let module = self.mapping.graph.find(self.module, name)?;
        let new = self.mapping.new_name(module)?;
        let canonical = &self.mapping.graph.modules.get(module)?.name;
        if let Some(before) = name.strip_suffix(canonical.as_str()) {
            return Some(format!("{before}{new}"));
        }
        let root = canonical.strip_suffix(name)?;
        Some(new.strip_prefix(root).unwrap_or(new).to_owned())
    }

    fn from(&self, import: &ImportStatement, from: &FromPart, found: &mut FileEdits) {
        let moved = self.module.is_some_and(|module| self.mapping.moves(module));
        let package = self.module.map_or("", |module| self.mapping.graph.package_of(module));
        let Some(base) = import.base(package) else { return };
        let base_module = self.module.map_or_else(|| self.mapping.graph.find(None, &base), |module| self.mapping.graph.base_module(module, import));
        let destinations: Vec<Destination> = import.leaves.iter().map(|leaf| self.destination(&base, base_module, leaf)).collect();
        if !moved && destinations.iter().all(|destination| !destination.changed) {
            return;
        }
        self.check_items(base_module, import, found);
        let main = main_parent(&destinations, &base);
        let spelled = self.spell(from, &main, &base);
        let old = from.span.of(self.text).unwrap_or_default();
        if old != spelled {
            let blank = if self.text.get(..from.span.start as usize).is_some_and(|before| before.ends_with("from")) { " " } else { "" };
            found.edits.push(Edit::replace(from.span, format!("{blank}{spelled}")));
            let reason = if base == main { "the importing file moves" } else { "the module has another name" };
            found.note(from.span, Reference::resolved(Form::ImportFrom, &base, &main, reason));
        }
        self.leaves(import, from, &destinations, &main, found);
    }

    /// Names that a replaced module has and the one in its place has not.
    fn check_items(&self, base: Option<usize>, import: &ImportStatement, found: &mut FileEdits) {
        let Some(base) = base else { return };
        for leaf in &import.leaves {
            if leaf.name.text != "*"
                && self.mapping.graph.submodule(base, &leaf.name.text).is_none()
                && let Some(target) = self.mapping.lacks(base, &leaf.name.text)
            {
                let message = format!("`{}` is used here and `{target}` has no such name", leaf.name.text);
                found.refuse(leaf.name.span, message, Some("add it there, or name its equal under `rename`".to_owned()));
            }
        }
    }

    fn destination(&self, base: &str, base_module: Option<usize>, leaf: &Leaf) -> Destination {
        let name = &leaf.name.text;
        let full = format!("{base}.{name}");
        let submodule = match base_module {
            // A name that the package binds itself hides the submodule, unless it is the submodule.
            Some(package) => match self.mapping.graph.member(package, name) {
                Entity::Module(module) if self.mapping.graph.submodule(package, name) == Some(module) => Some(module),
                _ => None,
            },
            None => self.mapping.graph.find(self.module, &full),
        };
        if let Some(new) = submodule.and_then(|module| self.mapping.new_name(module)) {
            let (parent, name) = new.rsplit_once('.').unwrap_or(("", new));
            return Destination { parent: parent.to_owned(), name: name.to_owned(), changed: true };
        }
        let new_base = base_module.and_then(|module| self.mapping.new_name(module)).map(str::to_owned);
        let new_base = new_base.or_else(|| if base_module.is_none() { self.new_dotted(base) } else { None });
        let item = base_module.map_or_else(|| name.clone(), |module| self.mapping.item_after(module, name));
        match new_base {
            Some(parent) => Destination { changed: true, parent, name: item },
            None => Destination { parent: base.to_owned(), changed: false, name: item },
        }
    }

    /// How a module is spelled in the `from` part: relative where it was and can be.
    fn spell(&self, from: &FromPart, parent: &str, base: &str) -> String {
        let package = self.module.map(|module| self.mapping.package_after(module)).unwrap_or_default();
        if from.level > 0
            && let Some(relative) = relative(&package, parent)
        {
            return relative;
        }
        if from.level == 0 && from.module != base {
            return self.new_dotted(&from.module).unwrap_or_else(|| parent.to_owned());
        }
        if parent == base && from.level == 0 {
            return from.span.of(self.text).unwrap_or(parent).to_owned();
        }
        parent.to_owned()
    }

    fn leaves(&self, import: &ImportStatement, from: &FromPart, destinations: &[Destination], main: &str, found: &mut FileEdits) {
        let mut leaving: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut gone = vec![false; import.leaves.len()];
        for ((leaf, destination), gone) in import.leaves.iter().zip(destinations).zip(&mut gone) {
            let spelled = leaf_text(leaf, &destination.name);
            if destination.parent == main {
                if destination.name != leaf.name.text {
                    found.edits.push(Edit::replace(leaf.span, spelled));
                }
            } else {
                *gone = true;
                leaving.entry(&destination.parent).or_default().push(spelled);
                let new = format!("{}.{}", destination.parent, destination.name);
                found.note(leaf.name.span, Reference::resolved(Form::ImportFrom, &leaf.name.text, &new, "this name of the list is elsewhere now"));
            }
        }
        for span in removals(import, &gone) {
            found.edits.push(Edit::delete(span));
        }
        let statements: Vec<String> = leaving
            .iter()
            .map(|(parent, leaves)| format!("from {} import {}", self.spell(from, parent, ""), leaves.join(", ")))
            .collect();
        if !statements.is_empty() {
            found.edits.push(self.after_all(import, &statements));
        }
    }

    fn after(&self, import: &ImportStatement, statement: &str) -> Edit {
        self.after_all(import, &[statement.to_owned()])
    }

    /// An edit that puts statements after one, in its block.
    fn after_all(&self, import: &ImportStatement, statements: &[String]) -> Edit {
        let before = self.text.get(..import.span.start as usize).unwrap_or_default();
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default().trim_start_matches('\u{feff}');
        let rest = self.text.get(import.span.end as usize..).unwrap_or_default();
        let tail = rest.split(['\n', '\r']).next().unwrap_or_default();
        let ends_line = tail.trim_start().is_empty() || tail.trim_start().starts_with('#');
        if line.trim().is_empty() && ends_line {
            let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
            let at = import.span.end + u32::try_from(tail.len()).unwrap_or(0);
            let text: String = statements.iter().map(|statement| format!("{newline}{line}{statement}")).collect();
            return Edit::insert(at, text);
        }
        let text: String = statements.iter().map(|statement| format!("; {statement}")).collect();
        Edit::insert(import.span.end, text)
    }
}

/// The parent that most leaves have; the old one where it still has any.
fn main_parent(destinations: &[Destination], base: &str) -> String {
    let unchanged = destinations.iter().find(|destination| !destination.changed);
    if let Some(destination) = unchanged {
        return destination.parent.clone();
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for destination in destinations {
        *counts.entry(&destination.parent).or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(_, count)| **count).map(|(parent, _)| (*parent).to_owned());
    most.unwrap_or_else(|| base.to_owned())
}

fn leaf_text(leaf: &Leaf, name: &str) -> String {
    match &leaf.alias {
        Some(alias) => format!("{name} as {}", alias.text),
        None if name != leaf.name.text => format!("{name} as {}", leaf.name.text),
        None => name.to_owned(),
    }
}

/// The spans that take leaves out of a list; what is between the others stays.
fn removals(import: &ImportStatement, gone: &[bool]) -> Vec<ByteSpan> {
    let mut spans = Vec::new();
    let mut at = 0;
    while at < gone.len() {
        if !gone.get(at).copied().unwrap_or(false) {
            at += 1;
            continue;
        }
        let run = gone.iter().skip(at).take_while(|gone| **gone).count();
        let (first, last) = (import.leaves.get(at), import.leaves.get(at + run - 1));
        if let (Some(first), Some(last)) = (first, last) {
            let next = import.leaves.get(at + run);
            let before = at.checked_sub(1).and_then(|before| import.leaves.get(before));
            spans.push(match (next, before) {
                (Some(next), _) => ByteSpan::new(first.span.start, next.span.start),
                (None, Some(before)) => ByteSpan::new(before.span.end, last.span.end),
                (None, None) => first.span.cover(last.span),
            });
        }
        at += run;
    }
    spans
}

/// `parent` as seen from `package`, with dots; `None` when they share no top-level package.
pub fn relative(package: &str, parent: &str) -> Option<String> {
    let here: Vec<&str> = package.split('.').filter(|part| !part.is_empty()).collect();
    let there: Vec<&str> = parent.split('.').filter(|part| !part.is_empty()).collect();
    let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return None;
    }
    let dots = ".".repeat(here.len() - shared + 1);
    Some(format!("{dots}{}", there.get(shared..).unwrap_or_default().join(".")))
}
