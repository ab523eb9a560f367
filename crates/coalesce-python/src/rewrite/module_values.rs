//! Modules that are held as values while an item leaves them: `return numpy_like`, `use(pkg.a)`.
//!
//! Where a module is not followed by an attribute, what is read of it is read elsewhere, through a variable.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Change, ChangeKind, LanguagePlan, ModuleKind, Subject, Texts, TreePath, Unproven,
    UnprovenKind,
};
use rayon::prelude::*;

use super::{
    file::{File, FileEdits},
    items::{Moved, looks_up_names},
    mapping::Mapping,
};
use crate::{
    analysis::{Analysis, Use},
    graph::Entity,
    names::{
        LISTING_NAMES, Names, content_of, is_word, last_word, literal_at, occurrences_of_word,
    },
    references::Mentions,
};

/// Calls that are told the attribute beside the module; those are looked at by name.
const BY_NAME: [&str; 6] = [
    "delattr", "getattr", "hasattr", "object", "patch", "setattr",
];

/// Tells each place where a module that an item leaves is taken as a value.
pub fn doubt(file: &File<'_>, found: &mut FileEdits) {
    let mapping = file.mapping;
    if mapping.items.list.is_empty() {
        return;
    }
    let leaves = |module: usize, read: &Option<BTreeSet<&str>>| {
        let mut items = mapping.items.list.iter();
        items.find(|moved| {
            let item = moved.item.as_str();
            let may_be_read = read.as_ref().is_none_or(|read| read.contains(item));
            moved.source == module
                && may_be_read
                && (leaves_untold(moved) || leaves_shim(moved) && is_asked_of_values(file, moved))
        })
    };
    for (module, span, used) in modules_read(file) {
        let read = read_of_local(file, used).or_else(|| names_asked_for(file.text, used));
        if let Some(moved) = leaves(module, &read) {
            let name = &moved.change.from;
            let why = match leaves_shim(moved) {
                true => "the module is taken as a value; who asks that for the item is warned",
                false => {
                    "the module is taken as a value; what is read of it elsewhere is not known"
                }
            };
            found.told.doubt(span, UnprovenKind::UnknownType, name, why);
        }
    }
    starred(file, found);
    gone_through(file, found);
}

/// Tells the texts by which a file imports a module that an item leaves, where it goes through the names of something:
/// `dir(import_module("pkg.settings"))`.
fn gone_through(file: &File<'_>, found: &mut FileEdits) {
    let imports = ["import_module(", "__import__("];
    let has = |words: &[&str]| words.iter().any(|word| file.text.contains(word));
    // A shim asks for what it names.
    let own = file
        .module
        .and_then(|module| file.graph().modules.get(module));
    let is_shim = own.is_some_and(|module| module.kind == ModuleKind::Shim);
    let goes_through = has(&LISTING_NAMES) || has(&["__dict__"]);
    if is_shim || !has(&imports) || !goes_through {
        return;
    }
    let why = "the module is imported by this text, and names of something are gone through";
    let mapping = file.mapping;
    for string in file
        .analysis()
        .strings
        .iter()
        .filter(|string| !string.documentation)
    {
        let text = string.span.of(file.text).unwrap_or_default();
        let mut items = mapping.items.list.iter();
        let moved = items.find(|moved| {
            let module = mapping.graph.modules.get(moved.source);
            let leaves = leaves_untold(moved) || leaves_shim(moved);
            leaves && module.is_some_and(|module| module.name == text)
        });
        if let Some(moved) = moved {
            let name = &moved.change.from;
            found
                .told
                .doubt(string.span, UnprovenKind::RuntimeTable, name, why);
        }
    }
}

const LISTED: &str = "all names of the module are gone through here, and it gets this one";

/// Whether a module that stands at a place is asked for all of its names: `dir(module)`, `module.__dict__`.
fn lists_names(text: &str, span: ByteSpan) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let own = span.of(text).unwrap_or_default();
    own.ends_with(".__dict__") || LISTING_NAMES.iter().any(|call| before.ends_with(call))
}

/// Tells where all names of a module are gone through that an item comes to.
pub fn arrivals(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let mut targets: BTreeMap<usize, &Moved> = BTreeMap::new();
    for moved in mapping.items.list.iter().filter(|moved| moved.travels()) {
        if let Some(target) = moved.target {
            targets.entry(target).or_insert(moved);
        }
    }
    if targets.is_empty() {
        return;
    }
    let modules = mapping.graph.modules.par_iter().enumerate();
    let told: Vec<Unproven> = modules
        .flat_map_iter(|(index, module)| {
            let text = texts.text(&module.path).unwrap_or_default();
            let own = targets
                .get(&index)
                .and_then(|moved| own_names_listed(&text).zip(Some(*moved)));
            let lists =
                LISTING_NAMES.iter().any(|call| text.contains(call)) || text.contains(".__dict__");
            let others = lists.then(|| names_listed(mapping, index, &text, &targets));
            let all = own.into_iter().chain(others.into_iter().flatten());
            let all: Vec<Unproven> = all
                .map(|(span, moved)| Unproven {
                    path: module.path.clone(),
                    span: Some(span),
                    kind: UnprovenKind::RuntimeTable,
                    name: moved.change.from.clone(),
                    why: LISTED.to_owned(),
                })
                .collect();
            all
        })
        .collect();
    plan.unproven.extend(told);
}

/// Where a file goes through all names of a module that an item comes to.
fn names_listed<'m>(
    mapping: &Mapping<'_>,
    index: usize,
    text: &str,
    targets: &BTreeMap<usize, &'m Moved>,
) -> Vec<(ByteSpan, &'m Moved)> {
    let last = |module: &usize| {
        let module = mapping.graph.modules.get(*module);
        module.and_then(|module| module.name.rsplit('.').next())
    };
    let mut called = targets.keys().filter_map(last);
    if !called.any(|name| occurrences_of_word(text, name)) {
        return Vec::new();
    }
    let analysis = Analysis::new(text);
    let names = Names::new(mapping.graph, Some(index), &analysis);
    let found = analysis.uses.iter().filter_map(|used| {
        let meanings = names.meanings(used);
        let table = used.chain.iter().position(|link| link.text == "__dict__");
        let length = table.unwrap_or(used.chain.len());
        let entity = meanings.get(length.checked_sub(1)?)?.entity.clone();
        let Some(Entity::Module(module)) = entity else {
            return None;
        };
        let last = used.chain.get(table.unwrap_or(length - 1))?;
        let span = used.chain.first()?.span.cover(last.span);
        let moved = targets.get(&module).filter(|_| lists_names(text, span))?;
        (!is_subscripted_by_text(text, used)).then_some((span, *moved))
    });
    found.collect()
}

/// Where a module goes through its own names.
fn own_names_listed(text: &str) -> Option<ByteSpan> {
    let tables = ["globals()", "vars()", "locals()", "dir()"];
    tables.iter().find_map(|table| {
        let mut places = text.match_indices(table);
        places.find_map(|(at, table)| {
            let before = text.get(..at)?;
            let line = before.rsplit('\n').next().unwrap_or_default();
            let before = before.trim_end();
            let walks = line.trim_start().starts_with("for ") || line.contains(" for ");
            let whole = before.ends_with(" in") || before.ends_with("list(");
            let top = !line.starts_with(char::is_whitespace) || table.starts_with("globals");
            (walks && whole && top).then(|| ByteSpan::from_range(at..at + table.len()))
        })
    })
}

/// Tells the star imports of a module that an item leaves, in a file that looks its names up by their texts and has that of
/// the item: `"%(HOST)s" % globals()`.
fn starred(file: &File<'_>, found: &mut FileEdits) {
    let mapping = file.mapping;
    if !looks_up_names(file.text, file.analysis()) {
        return;
    }
    let why =
        "it takes all names of the module and looks names up by their texts, where this one stands";
    for (import, _) in &file.analysis().imports {
        let base = import.base(file.package).unwrap_or_default();
        let module = file.base_module(import, &base);
        let module = module.filter(|_| import.leaves.iter().any(|leaf| leaf.name.text == "*"));
        let mut items = mapping.items.list.iter();
        let moved = items.find(|moved| {
            Some(moved.source) == module
                && leaves_untold(moved)
                && occurrences_of_word(file.text, &moved.item)
        });
        if let Some(moved) = moved {
            let name = &moved.change.from;
            found
                .told
                .doubt(import.span, UnprovenKind::RuntimeTable, name, why);
        }
    }
}

/// The modules that a file reads whole, and where.
fn modules_read<'f>(file: &'f File<'_>) -> Vec<(usize, ByteSpan, &'f Use)> {
    let uses = file.analysis().uses.iter();
    let read = uses.filter(|used| !used.store && !used.assigned && !used.annotation);
    let read = read.filter(|used| !is_looked_up_by_name(file, used));
    let read = read.filter(|used| !is_only_asked(file.text, used));
    let whole = read.filter_map(|used| {
        let (first, last) = used.chain.first().zip(used.chain.last())?;
        Some((whole_module(file, used)?, first.span.cover(last.span), used))
    });
    whole.collect()
}

/// All that is read of a module which a local name of a function is given, where nothing else is done with that name:
/// `module = gpu if fast else None`, `module.dispatch()`. `None` where it may be anything.
fn read_of_local<'f>(file: &'f File<'_>, used: &Use) -> Option<BTreeSet<&'f str>> {
    let target = local_given(file.text, used)?;
    let analysis = file.analysis();
    let scope = analysis.binding_scope(used.stands_in, target)?;
    let is_local = scope > 0 && analysis.scopes.get(scope).is_some_and(|scope| !scope.class);
    let own = analysis.uses.iter().filter(|one| {
        one.root() == target && analysis.binding_scope(one.scope, target) == Some(scope)
    });
    let mut read = BTreeSet::new();
    for one in own.filter(|one| !one.store) {
        match one.chain.get(1) {
            Some(attribute) => _ = read.insert(attribute.text.as_str()),
            None if is_asked_for(file.text, one) => {}
            None => return None,
        }
    }
    let sets_any = read.contains("__dict__") || read.contains("__getattribute__");
    (is_local && !sets_any).then_some(read)
}

/// The names by which a module is asked where a loop goes through literals: `for name in ("f", "g"): getattr(module, name)`.
fn names_asked_for<'t>(text: &'t str, used: &Use) -> Option<BTreeSet<&'t str>> {
    let (first, last) = used.chain.first().zip(used.chain.last())?;
    let before = text.get(..first.span.start as usize)?;
    let call = before.trim_end().strip_suffix('(')?;
    let after = text
        .get(last.span.end as usize..)?
        .trim_start()
        .strip_prefix(',')?;
    let after = after.trim_start();
    let variable = after
        .get(..after.find(|c| !is_word(c))?)
        .filter(|name| !name.is_empty())?;
    let head = format!("for {variable} in ");
    let mut loops = text.match_indices(&head);
    let (Some((at, _)), None) = (loops.next(), loops.next()) else {
        return None;
    };
    let set = [format!("{variable} ="), format!("{variable} :=")];
    let list = text.get(at + head.len()..)?;
    let list = list.strip_prefix(['(', '['])?;
    let list = list.get(..list.find([')', ']'])?)?;
    let names = list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let literal = |name: &'t str| {
        let inner = content_of(name)?;
        inner.chars().all(is_word).then_some(inner)
    };
    let names: BTreeSet<&str> = names.map(literal).collect::<Option<_>>()?;
    let by_name = BY_NAME.contains(&last_word(call));
    (by_name && !set.iter().any(|set| text.contains(set.as_str()))).then_some(names)
}

/// The name that a line gives what a use reads, and nothing else: `m = a.b`, `m = a if c else None`.
fn local_given<'t>(text: &'t str, used: &Use) -> Option<&'t str> {
    let (first, last) = used.chain.first().zip(used.chain.last())?;
    let before = text.get(..first.span.start as usize)?;
    let before = before.rsplit('\n').next()?;
    let after = text.get(last.span.end as usize..)?.lines().next()?;
    let (target, head) = before.trim_start().split_once(" = ")?;
    let is_chain = |part: &str| !part.is_empty() && part.chars().all(|c| is_word(c) || c == '.');
    let is_other = match (head.trim(), after.trim()) {
        ("", "") => true,
        ("", after) => {
            let other = after
                .strip_prefix("if ")
                .and_then(|rest| rest.split_once(" else "));
            other.is_some_and(|(_, other)| is_chain(other.trim()))
        }
        (head, "") => {
            let other = head
                .strip_suffix(" else")
                .and_then(|rest| rest.split_once(" if "));
            other.is_some_and(|(other, _)| is_chain(other.trim()))
        }
        _ => false,
    };
    (is_other && target.chars().all(is_word)).then_some(target)
}

/// Whether a name is asked whether it is anything: `if m:`, `m is not None`.
fn is_asked_for(text: &str, used: &Use) -> bool {
    let Some(root) = used.chain.first() else {
        return false;
    };
    let before = text.get(..root.span.start as usize).unwrap_or_default();
    let before = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let after = text.get(root.span.end as usize..).unwrap_or_default();
    let condition = ["if ", "elif ", "if not ", "elif not ", "while "];
    let none = [" is None", " is not None"];
    let mut compared = none.iter().filter_map(|none| after.strip_prefix(none));
    compared.any(|rest| !rest.starts_with(is_word))
        || condition.contains(&before) && after.starts_with(':')
}

fn leaves_untold(moved: &Moved) -> bool {
    !moved.supersedes() && !moved.follows && moved.change.shim.is_none()
}

fn leaves_shim(moved: &Moved) -> bool {
    !moved.follows && moved.change.shim.is_some()
}

/// Whether an item is read of something that is not known, or may be, by a name that a file works out.
fn is_asked_of_values(file: &File<'_>, moved: &Moved) -> bool {
    let attribute = format!(".{}", moved.item);
    let mut mentioning = file.mapping.mentioning(&moved.item).iter();
    file.text.contains("getattr(")
        || mentioning.any(|(other, text)| {
            let read = || {
                let analysis = Analysis::new(text);
                let names = Names::new(file.graph(), Some(*other), &analysis);
                reads_of_value(&names, &moved.item) || reads_of_item(&names, &moved.item)
            };
            text.contains(&attribute) && (is_read_of_result(text, &moved.item) || read())
        })
}

/// Whether an attribute of this name is read of what a module of the tree defines: a variable that may hold anything.
fn reads_of_item(names: &Names<'_>, attribute: &str) -> bool {
    names.analysis.uses.iter().any(|used| {
        let attributes = used.chain.iter().skip(1);
        let at = attributes
            .map(|link| &link.text)
            .position(|text| text == attribute);
        at.is_some_and(|at| {
            let meanings = names.meanings(used);
            let of = meanings.get(at).and_then(|meaning| meaning.entity.as_ref());
            matches!(of, Some(Entity::Item(..)))
        })
    })
}

/// The module that all of a use names, or whose table of names it takes: `module.__dict__`.
fn whole_module(file: &File<'_>, used: &Use) -> Option<usize> {
    let meanings = file.names.meanings(used);
    let table = used.chain.iter().position(|link| link.text == "__dict__");
    let table = table.filter(|_| !is_subscripted_by_text(file.text, used));
    let length = table.unwrap_or(used.chain.len());
    let last = meanings.get(length.checked_sub(1)?);
    let last = last.and_then(|last| last.entity.clone());
    match last.filter(|_| table.is_some() || meanings.len() == length)? {
        Entity::Module(module) => Some(module),
        _ => None,
    }
}

/// Whether one literal is looked up in what a use gives: `module.__dict__["f"]`, which is looked at by name.
fn is_subscripted_by_text(text: &str, used: &Use) -> bool {
    let end = used.chain.last().map_or(0, |last| last.span.end as usize);
    let after = text.get(end..).unwrap_or_default();
    after.starts_with("[\"") || after.starts_with("['")
}

/// Tells packages that are taken as values where a module leaves them that somebody reads of a value: `get().old`.
pub fn packages(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let left = modules_left(mapping);
    let attributes = left.iter().map(|(.., leaf)| [format!(".{leaf}")]);
    let mentions = Mentions::new(&attributes.collect::<Vec<_>>());
    let mentioning = mentions.modules(mapping.graph, texts);
    for ((change, package, leaf), mentioning) in left.into_iter().zip(mentioning) {
        let modules = mapping.graph.modules.as_slice();
        let reading = mentioning.par_iter().find_map_first(|index| {
            let module = modules.get(*index)?;
            let text = texts.text(&module.path)?;
            let reads = || {
                let analysis = Analysis::new(&text);
                reads_of_value(&Names::new(mapping.graph, Some(*index), &analysis), leaf)
            };
            (is_read_of_result(&text, leaf) || reads()).then_some(&module.path)
        });
        let Some(reader) = reading else { continue };
        let why =
            format!("the package is taken as a value, and `{reader}` reads `{leaf}` of something");
        let taken = taken_as_value(mapping, texts, package);
        plan.unproven.extend(taken.map(|(path, span)| Unproven {
            path,
            span: Some(span),
            kind: UnprovenKind::UnknownType,
            name: change.from.clone(),
            why,
        }));
    }
}

/// The modules that leave a package without a shim: the changes, the packages, and their names there.
fn modules_left<'m>(mapping: &'m Mapping<'_>) -> Vec<(&'m Change, usize, &'m str)> {
    let changes = mapping.changes.iter().filter(|change| {
        change.subject == Subject::Module
            && change.kind != ChangeKind::Remove
            && change.shim.is_none()
    });
    let left = changes.filter_map(|change| {
        let (above, leaf) = change.from.rsplit_once('.')?;
        Some((change, mapping.graph.find(None, above)?, leaf))
    });
    left.collect()
}

/// Whether an attribute of this name is read of what no text says.
fn reads_of_value(names: &Names<'_>, leaf: &str) -> bool {
    names.analysis.uses.iter().any(|used| {
        let position = used.chain.iter().position(|each| each.text == leaf);
        let Some(position) = position.filter(|position| *position > 0) else {
            return false;
        };
        let root = used.chain.first().map_or("", |root| root.text.as_str());
        let known = names.meanings(used).len() >= position
            || used
                .chain
                .first()
                .is_some_and(|root| names.held_module(used.scope, root).is_some());
        !known && !matches!(root, "self" | "cls")
    })
}

/// Whether an attribute is read of what a call or a subscript gives.
fn is_read_of_result(text: &str, leaf: &str) -> bool {
    [")", "]"].iter().any(|end| {
        let needle = format!("{end}.{leaf}");
        memchr::memmem::find_iter(text.as_bytes(), needle.as_bytes()).any(|at| {
            let rest = text.get(at + needle.len()..).unwrap_or_default();
            !rest.starts_with(is_word)
        })
    })
}

/// Where some file takes a package as a value.
fn taken_as_value(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    package: usize,
) -> Option<(TreePath, ByteSpan)> {
    let graph = mapping.graph;
    let last = graph.modules.get(package)?.name.rsplit('.').next()?;
    graph.modules.iter().enumerate().find_map(|(index, module)| {
        let text = texts.text(&module.path)?;
        if !occurrences_of_word(&text, last) {
            return None;
        }
        let analysis = Analysis::new(&text);
        let names = Names::new(graph, Some(index), &analysis);
        analysis.uses.iter().find_map(|used| {
            let meanings = names.meanings(used);
            let whole = meanings.len() == used.chain.len();
            let taken = !used.store && !used.assigned && !used.annotation && whole;
            let is_it = matches!(meanings.last()?.entity, Some(Entity::Module(found)) if found == package);
            let (first, last) = used.chain.first().zip(used.chain.last())?;
            let passed_on = !is_named_beside(&text, used) && !is_only_asked(&text, used);
            (taken && is_it && passed_on).then(|| (module.path.clone(), first.span.cover(last.span)))
        })
    })
}

/// `getattr(module, "name")` and its kin, and `reload(module)`.
fn is_looked_up_by_name(file: &File<'_>, used: &Use) -> bool {
    is_named_beside(file.text, used)
}

fn is_named_beside(text: &str, used: &Use) -> bool {
    let (Some(first), Some(last)) = (used.chain.first(), used.chain.last()) else {
        return true;
    };
    let before = text.get(..first.span.start as usize).unwrap_or_default();
    let after = text.get(last.span.end as usize..).unwrap_or_default();
    let Some(call) = before.trim_end().strip_suffix('(') else {
        return false;
    };
    let callee = last_word(call);
    let argument = after.trim_start().strip_prefix(',').map(str::trim_start);
    callee == "reload" || (argument.is_some_and(is_whole_literal) && BY_NAME.contains(&callee))
}

/// Whether what a use names is asked about there, and nobody is given it: `if gpu is not None:`, `not gpu`.
fn is_only_asked(text: &str, used: &Use) -> bool {
    let (Some(first), Some(last)) = (used.chain.first(), used.chain.last()) else {
        return false;
    };
    let before = text.get(..first.span.start as usize).unwrap_or_default();
    let after = text.get(last.span.end as usize..).unwrap_or_default();
    let after = after.trim_start_matches([' ', '\t']);
    let begins = |start: &str| {
        let rest = after.strip_prefix(start);
        rest.is_some_and(|rest| !rest.starts_with(is_word))
    };
    if ["is None", "is not None", "== None", "!= None"]
        .into_iter()
        .any(begins)
    {
        return true;
    }
    let before = before.trim_end_matches([' ', '\t']);
    // Of what is compared by identity nothing is read.
    let negated = before.strip_suffix("not").unwrap_or(before).trim_end();
    if begins("is") || last_word(negated) == "is" {
        return true;
    }
    match last_word(before) {
        "not" => !before.ends_with(['(', '[', '.']) && !after.starts_with(['(', '[']),
        "if" => after.starts_with(':') || begins("else"),
        "elif" | "while" => after.starts_with(':'),
        _ => before.ends_with("bool(") && after.starts_with(')'),
    }
}

/// Whether an argument is one string literal and nothing else.
fn is_whole_literal(argument: &str) -> bool {
    literal_at(argument).is_some_and(|(_, rest)| rest.trim_start().starts_with([',', ')']))
}
