//! Tables that load modules at run time: each entry follows what it names, as an import does.
//!
//! What a table cannot say — a module outside of its package, another name for the same thing — is a
//! refusal, unless a shim stays where the table goes on leading. Tables of unknown kinds are told.

use coalesce_model::{ByteSpan, Edit, Form, LanguagePlan, Module, Texts, Unproven, UnprovenKind};

use crate::{
    analysis::{LazyForm, LazyImport, Prefix, RunTimeImport, Written},
    facts::{FromPart, ImportStatement, Leaf},
    rewrite::{
        exports::with_quotes,
        file::{File, FileEdits, Reference},
        imports::{Destination, destination, relative, through_old_module},
        items::{entries_after, source_line},
        list,
        mapping::Mapping,
        run_time_reach,
    },
};

const REASON: &str = "an entry of a table of lazy imports";

/// Rewrites the tables of a file, and the calls that import by a text made of parts.
pub fn rewrite(file: &File<'_>, found: &mut FileEdits) {
    let imports = &file.analysis().lazy.imports;
    if file.module.is_none() {
        return;
    }
    for (at, each) in imports.iter().enumerate() {
        match &each.form {
            LazyForm::Names(_) if is_first_of_group(imports, at) => {
                Group::new(file, each).rewrite(found)
            }
            LazyForm::Submodule => submodule(file, each, found),
            LazyForm::Module(prefix) => module(file, each, prefix, found),
            LazyForm::Names(_) | LazyForm::Branch => {}
        }
    }
    for (call, ..) in &file.analysis().run_time {
        run_time(file, call, found);
    }
}

/// What of the run time could not be read and may name what changes: tables of unknown kinds in
/// packages that something below leaves, and imports of which only the beginning of the name is known.
pub fn unknown(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let graph = mapping.graph;
    for (at, (module, facts)) in graph.modules.iter().zip(&graph.facts).enumerate() {
        if !facts.open_imports.is_empty() {
            let doubts = open_imports(mapping, at, texts);
            plan.unproven.extend(doubts);
        }
        let tables = !facts.unknown_tables.is_empty() || !facts.perhaps_tables.is_empty();
        if module.package && tables {
            plan.unproven.extend(unread_tables(mapping, at, texts));
        }
    }
}

fn doubted(module: &Module, span: ByteSpan, kind: UnprovenKind, what: (&str, &str)) -> Unproven {
    let (name, why) = what;
    Unproven {
        path: module.path.clone(),
        span: Some(span),
        kind,
        name: name.to_owned(),
        why: why.to_owned(),
    }
}

/// Imports of a module whose names begin as that of something that changes does.
fn open_imports(mapping: &Mapping<'_>, at: usize, texts: &dyn Texts) -> Vec<Unproven> {
    let graph = mapping.graph;
    let (Some(module), Some(facts)) = (graph.modules.get(at), graph.facts.get(at)) else {
        return Vec::new();
    };
    let text = texts.text(&module.path).unwrap_or_default();
    // A name that stands there follows, or is told where it stands.
    let stands = |name: &str| text.contains(name);
    let open = facts.open_imports.iter();
    let doubts = open.filter_map(|open| {
        let name = completed(mapping, open, graph.package_of(at), stands)?;
        let why = "the rest of the name is worked out at run time; it may lead to what changes";
        Some(doubted(
            module,
            open.span,
            UnprovenKind::DynamicImport,
            (name, why),
        ))
    });
    doubts.collect()
}

/// Tables of a package that could not be read, where something below it changes.
fn unread_tables(mapping: &Mapping<'_>, at: usize, texts: &dyn Texts) -> Vec<Unproven> {
    let graph = mapping.graph;
    let (Some(module), Some(facts)) = (graph.modules.get(at), graph.facts.get(at)) else {
        return Vec::new();
    };
    let below = format!("{}.", module.name);
    let changes = mapping.all.iter();
    let mut changes = changes
        .filter(|change| change.from.starts_with(&below))
        .peekable();
    if changes.peek().is_none() {
        return Vec::new();
    }
    let why = "what this package loads at run time could not be read; it may name what changes";
    let doubt =
        |span: ByteSpan, name| doubted(module, span, UnprovenKind::RuntimeTable, (name, why));
    let unknown = facts.unknown_tables.iter().filter_map(|span| {
        let mut changes = changes.clone();
        let reached =
            changes.find(|change| run_time_reach::may_load(graph, at, *span, change, texts))?;
        Some(doubt(*span, &reached.from))
    });
    let mut doubts: Vec<Unproven> = unknown.collect();
    let text = texts.text(&module.path).unwrap_or_default();
    if let Some(quoted) = changes.find(|change| quotes(&text, &change.from)) {
        let perhaps = facts.perhaps_tables.iter();
        doubts.extend(perhaps.map(|span| doubt(*span, &quoted.from)));
    }
    doubts
}

/// The name of a module that changes and begins as an import does of which no more is known, or that such an import goes on
/// from without having it in one piece.
fn completed<'m>(
    mapping: &'m Mapping<'_>,
    open: &FromPart,
    package: &str,
    stands: impl Fn(&str) -> bool,
) -> Option<&'m str> {
    let own = open.module.is_empty() && open.level > 0;
    let begins = format!("{}{}", open.absolute(package)?, if own { "." } else { "" });
    let goes_on = |from: &str| {
        let rest = begins.strip_prefix(from);
        open.level == 0 && rest.is_some_and(|rest| rest.starts_with('.')) && !stands(from)
    };
    let mut changes = mapping.changes.iter().map(|change| change.from.as_str());
    changes.find(|from| from.starts_with(&begins) || goes_on(from))
}

/// Whether the last part of a name stands at the end of a literal.
fn quotes(text: &str, name: &str) -> bool {
    let leaf = name.rsplit('.').next().unwrap_or_default();
    [format!("{leaf}\""), format!("{leaf}'")].iter().any(|end| {
        memchr::memmem::find_iter(text.as_bytes(), end.as_bytes()).any(|at| {
            let before = text.get(..at).and_then(|head| head.chars().next_back());
            matches!(before, Some('"' | '\'' | '.'))
        })
    })
}

fn from_of(import: &ImportStatement) -> Option<&FromPart> {
    import.from.as_ref()
}

fn is_same_key(a: &LazyImport, b: &LazyImport) -> bool {
    let key = |each: &LazyImport| {
        each.import
            .from
            .as_ref()
            .map(|from| (from.level, from.module.clone()))
    };
    a.table == b.table
        && matches!((&a.form, &b.form), (LazyForm::Names(_), LazyForm::Names(_)))
        && key(a) == key(b)
}

fn is_first_of_group(imports: &[LazyImport], at: usize) -> bool {
    let Some(own) = imports.get(at) else {
        return false;
    };
    let mut before = imports.iter().take(at);
    !before.any(|other| is_same_key(own, other))
}

/// What `new` is called below the package of a file.
fn below<'n>(file: &File<'_>, new: &'n str) -> Option<&'n str> {
    new.strip_prefix(file.package_after.as_str())?
        .strip_prefix('.')
}

/// What a table cannot say: refused, unless a shim stays at the old name.
fn cannot(file: &File<'_>, span: ByteSpan, full: &str, why: &str, found: &mut FileEdits) {
    if file.has_shim(full) {
        let why = format!("{why}; the table goes on naming the shim, which warns");
        found.told.leave(span, Form::String, full, &why);
        found
            .told
            .doubt(span, UnprovenKind::RuntimeTable, full, &why);
        return;
    }
    let help = "leave a shim with `shim = true`, or import the name in the package itself first";
    found.refuse(span, why.to_owned(), Some(help.to_owned()));
}

/// The entries of a table for one module, wherever they are written.
struct Group<'a> {
    file: &'a File<'a>,
    first: &'a LazyImport,
    entries: Vec<&'a LazyImport>,
    base: String,
}

impl<'a> Group<'a> {
    fn new(file: &'a File<'a>, first: &'a LazyImport) -> Self {
        let all = file.analysis().lazy.imports.iter();
        Self {
            file,
            first,
            entries: all.filter(|other| is_same_key(first, other)).collect(),
            base: first.import.base(file.package).unwrap_or_default(),
        }
    }

    fn destination(&self, leaf: &Leaf) -> Destination {
        let base_module = self.file.base_module(&self.first.import, &self.base);
        destination(self.file, &self.base, base_module, leaf)
    }

    fn rewrite(&self, found: &mut FileEdits) {
        let leaves: Vec<(&Leaf, Destination)> = self
            .entries
            .iter()
            .flat_map(|each| &each.import.leaves)
            .map(|leaf| (leaf, self.destination(leaf)))
            .collect();
        if leaves.iter().all(|(_, to)| !to.changed) {
            return;
        }
        for (leaf, to) in &leaves {
            let full = format!("{}.{}", self.base, leaf.name.text);
            let why = if to.name != leaf.name.text {
                format!(
                    "the lazy imports of `{}` cannot give `{}` another name",
                    self.file.package, to.name
                )
            } else if !to.own && below(self.file, &to.parent).is_none() {
                format!(
                    "lazy imports of `{}` cannot lead to `{}`, which is not below it",
                    self.file.package, to.parent
                )
            } else {
                continue;
            };
            let module = self.file.base_module(&self.first.import, &self.base);
            if through_old_module(self.file, module, &leaf.name.text) {
                let why = format!("{why}; the module that it leaves imports it");
                found.told.leave(leaf.name.span, Form::String, &full, &why);
            } else {
                cannot(self.file, leaf.name.span, &full, &why, found);
            }
            return;
        }
        let parents: Vec<&str> = leaves.iter().map(|(_, to)| to.parent.as_str()).collect();
        match parents.as_slice() {
            [first, rest @ ..]
                if rest.iter().all(|other| other == first)
                    && !leaves.iter().any(|(_, to)| to.own) =>
            {
                self.whole(first, found);
            }
            _ => self.entries.iter().for_each(|each| self.part(each, found)),
        }
    }

    /// Entries for a module of the same table.
    fn of_module(&self, key: &str) -> Option<&'a LazyImport> {
        self.file.analysis().lazy.imports.iter().find(|other| {
            let from = from_of(&other.import);
            other.table == self.first.table
                && matches!(other.form, LazyForm::Names(_))
                && from.is_some_and(|from| from.level == 1 && from.module == key)
                && !other.import.leaves.is_empty()
        })
    }

    /// All names of the module go to one place: the key says so.
    fn whole(&self, parent: &str, found: &mut FileEdits) {
        let Some(key) = below(self.file, parent) else {
            return;
        };
        if self
            .of_module(key)
            .is_some_and(|other| !is_same_key(other, self.first))
        {
            self.entries.iter().for_each(|each| self.part(each, found));
            return;
        }
        for from in self.entries.iter().filter_map(|each| from_of(&each.import)) {
            if from.span.of(self.file.text) != Some(key) {
                let reference = Reference::exact(Form::String, &self.base, parent, REASON);
                found.change(Edit::replace(from.span, key), reference);
            }
        }
    }

    /// Some names of an entry go elsewhere.
    fn part(&self, each: &LazyImport, found: &mut FileEdits) {
        let leaves = &each.import.leaves;
        let to: Vec<Destination> = leaves.iter().map(|leaf| self.destination(leaf)).collect();
        let gone: Vec<bool> = to
            .iter()
            .map(|to| to.parent != self.base || to.own)
            .collect();
        let mut keys: Vec<&str> = Vec::new();
        for (leaf, to) in leaves.iter().zip(&to).filter(|(_, to)| to.changed) {
            let (from, new) = (
                format!("{}.{}", self.base, leaf.name.text),
                format!("{}.{}", to.parent, to.name),
            );
            found.note(
                leaf.name.span,
                Reference::exact(Form::String, &from, &new, REASON),
            );
            let key = below(self.file, &to.parent).filter(|key| !to.own && !keys.contains(key));
            keys.extend(key);
        }
        let mut made = String::new();
        for key in keys {
            let goes = |to: &&Destination| !to.own && below(self.file, &to.parent) == Some(key);
            let names: Vec<&str> = to.iter().filter(goes).map(|to| to.name.as_str()).collect();
            match self
                .of_module(key)
                .and_then(|other| other.import.leaves.last())
            {
                Some(last) => found.push(entries_after(self.file.text, last.name.span, &names)),
                None => made.push_str(&self.entry(each, key, &names)),
            }
        }
        let statement = each.form == LazyForm::Names(Written::Statement);
        if statement && !made.is_empty() && !gone.contains(&false) {
            // The new statement stands where the old one stood.
            let text = made.trim_start();
            found.push(Edit::replace(each.entry, text));
            return;
        }
        if !made.is_empty() {
            found.push(Edit::insert(each.entry.end, made));
        }
        let spans: Vec<ByteSpan> = leaves
            .iter()
            .map(|leaf| with_quotes(self.file.text, leaf.name.span))
            .collect();
        if gone.contains(&false) {
            for span in list::remove(self.file.text, &spans, &gone).spans {
                found.push(Edit::delete(span));
            }
        } else if statement && let Some(line) = source_line(self.file.text, each.entry) {
            found.push(line);
        } else if let (Some(first), Some(last)) = (spans.first(), spans.last()) {
            found.push(Edit::delete(first.cover(*last)));
        }
    }

    /// A new entry that follows another one, written as that is.
    fn entry(&self, each: &LazyImport, key: &str, names: &[&str]) -> String {
        let text = self.file.text;
        let start = from_of(&each.import).map_or(each.entry.start, |from| from.span.start);
        let before = text.get(..start as usize).unwrap_or_default();
        let quote = before
            .chars()
            .next_back()
            .filter(|c| matches!(c, '"' | '\''))
            .unwrap_or('"');
        let listed: Vec<String> = names
            .iter()
            .map(|name| format!("{quote}{name}{quote}"))
            .collect();
        let listed = listed.join(", ");
        let line = before.rsplit('\n').next().unwrap_or_default();
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        if each.form == LazyForm::Names(Written::Statement) {
            let whole = each.entry.of(text).unwrap_or_default();
            let table = whole.split('[').next().unwrap_or_default();
            let indent = &line[..line.len() - line.trim_start().len()];
            return format!("{newline}{indent}{table}[{quote}{key}{quote}] = [{listed}]");
        }
        let indent = line.trim_end_matches(['"', '\'']);
        let part = if indent.trim().is_empty() && before.contains('\n') {
            format!(",{newline}{indent}")
        } else {
            ", ".to_owned()
        };
        format!("{part}{quote}{key}{quote}: [{listed}]")
    }
}

/// An element of a list of modules: it follows its module below the package, and goes with it.
fn submodule(file: &File<'_>, each: &LazyImport, found: &mut FileEdits) {
    let Some(leaf) = each.import.leaves.first() else {
        return;
    };
    let full = each
        .import
        .full_name(leaf, file.package)
        .unwrap_or_default();
    let Some(new) = file
        .absolute(&full)
        .filter(|_| !found.covered(leaf.name.span))
    else {
        return;
    };
    let reference = Reference::exact(Form::String, &full, &new, REASON);
    let old = leaf.name.span.of(file.text);
    match below(file, &new).filter(|below| !below.contains('.')) {
        Some(name) if old == Some(name) => {}
        Some(name) => found.change(Edit::replace(leaf.name.span, name), reference),
        None => {
            let all = file.analysis().lazy.imports.iter();
            let same: Vec<&LazyImport> = all
                .filter(|other| other.table == each.table && other.form == LazyForm::Submodule)
                .collect();
            let spans: Vec<ByteSpan> = same
                .iter()
                .map(|other| with_quotes(file.text, other.entry))
                .collect();
            let gone: Vec<bool> = same.iter().map(|other| other.entry == each.entry).collect();
            found.note(leaf.name.span, reference.needs_review());
            match spans.as_slice() {
                [only] => found.push(Edit::delete(*only)),
                several => list::remove(file.text, several, &gone)
                    .spans
                    .into_iter()
                    .for_each(|span| found.push(Edit::delete(span))),
            }
        }
    }
}

/// `"name": "module"`, `"name": ("module", "name")`.
fn module(file: &File<'_>, each: &LazyImport, prefix: &Prefix, found: &mut FileEdits) {
    let (Some(from), Some(leaf)) = (from_of(&each.import), each.import.leaves.first()) else {
        return;
    };
    let base = each.import.base(file.package).unwrap_or_default();
    let to = destination(file, &base, file.base_module(&each.import, &base), leaf);
    let text = from.span.of(file.text).unwrap_or_default();
    if !to.changed {
        return;
    }
    let full = format!("{base}.{}", leaf.name.text);
    // The text may say the module, or all of what is imported.
    let whole = text.rsplit('.').next() == Some(leaf.name.text.as_str())
        && base.rsplit('.').next() != text.rsplit('.').next();
    let own_text = leaf.alias.is_some() || leaf.name.span != each_key(each);
    if !whole && to.name != leaf.name.text && !own_text {
        let why = format!(
            "a table of `{}` cannot give `{}` another name",
            file.package, to.name
        );
        cannot(file, from.span, &full, &why, found);
        return;
    }
    let new = if whole {
        format!("{}.{}", to.parent, to.name)
    } else {
        to.parent.clone()
    };
    let spelled = match prefix {
        Prefix::None if text.starts_with('.') => relative(&file.package_after, &new),
        Prefix::None => Some(new.clone()),
        Prefix::Package => below(file, &new).map(str::to_owned),
        Prefix::Text(before) if before.starts_with('.') => {
            let dots = relative(&file.package_after, &new);
            dots.and_then(|dots| Some(dots.strip_prefix(before.as_str())?.to_owned()))
        }
        Prefix::Text(before) => new.strip_prefix(before.as_str()).map(str::to_owned),
    };
    let Some(spelled) = spelled.filter(|spelled| !spelled.is_empty()) else {
        let why = format!("a table of `{}` cannot lead to `{new}`", file.package);
        cannot(file, from.span, &full, &why, found);
        return;
    };
    let reference = Reference::exact(Form::String, &full, &new, REASON);
    if spelled != text {
        found.change(Edit::replace(from.span, spelled), reference);
    }
    // The text of a key that is the module itself was replaced as such.
    let keyed = leaf.name.span != from.span;
    let renamed = to.name != leaf.name.text;
    if whole && keyed && renamed && leaf.alias.is_none() && to.parent == file.package_after {
        found.push(Edit::replace(each_key(each), to.name.as_str()));
    } else if !whole && to.name != leaf.name.text {
        found.push(Edit::replace(leaf.name.span, to.name));
    }
}

/// The key of an entry: it begins with it.
fn each_key(each: &LazyImport) -> ByteSpan {
    let leaf = each.import.leaves.first();
    let bound = leaf.map(|leaf| leaf.alias.as_ref().unwrap_or(&leaf.name));
    let length = bound.map_or(0, |bound| bound.text.len());
    ByteSpan::from_range(each.entry.start as usize..each.entry.start as usize + length)
}

/// A call that imports by a text made of parts.
fn run_time(file: &File<'_>, call: &RunTimeImport, found: &mut FileEdits) {
    let Some(full) = call.from.absolute(file.package).filter(|_| !call.plain) else {
        return;
    };
    if file.graph().find(file.module, &full).is_none() {
        return;
    }
    let new = file.absolute(&full).unwrap_or_else(|| full.clone());
    let reference = Reference::exact(
        Form::String,
        &full,
        &new,
        "a name that is imported at run time",
    );
    let tail = new
        .strip_prefix(file.package_after.as_str())
        .filter(|rest| rest.starts_with('.'));
    match (&call.tail, tail) {
        (Some((text, span)), Some(tail)) if call.own && text.starts_with('.') => {
            if text != tail {
                found.change(Edit::replace(*span, tail), reference);
            }
        }
        _ if new == full && !call.own => {}
        _ => found.change(
            Edit::replace(call.from.span, format!("\"{new}\"")),
            reference,
        ),
    }
}
