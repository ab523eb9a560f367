//! Code that asks a program what it consists of: frames, the module names of definitions, texts of files.
//!
//! Such code names nothing of what changes, so every file is asked, not only those that do.

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_model::{
    ByteSpan, Change, ChangeKind, LanguagePlan, Subject, Texts, TreePath, Unproven, UnprovenKind,
};
use rayon::prelude::*;

use super::{
    finders,
    items::{Moved, is_exported},
    mapping::Mapping,
    module_names::Readers,
    places::path_of,
    words::Word,
};
use crate::{
    analysis::{Analysis, Called, DefinitionKind, Use},
    graph::Entity,
    names::Names,
};

/// Functions that look at frames: which module a frame is of is another after a move.
const FRAMES: [[&str; 2]; 5] = [
    ["inspect", "currentframe"],
    ["inspect", "getmodule"],
    ["inspect", "stack"],
    ["sys", "_getframe"],
    ["sys", "_getframemodulename"],
];

/// Whether a use is that of a function that looks at frames.
pub fn looks_at_frames(used: &Use) -> bool {
    FRAMES
        .iter()
        .any(|[module, function]| match used.chain.as_slice() {
            [alone] => alone.text == *function && function.contains("frame"),
            [first, second, ..] => first.text == *module && second.text == *function,
            [] => false,
        })
}

/// Whether a use calls one of these functions, by its name or as an attribute of a module.
pub fn calls_any(used: &Use, functions: &BTreeSet<String>) -> bool {
    let last = used.chain.last().filter(|_| used.called != Called::No);
    let method = used.chain.len() > 2
        || used
            .chain
            .first()
            .is_some_and(|root| matches!(root.text.as_str(), "self" | "cls"));
    !method && last.is_some_and(|last| functions.contains(&last.text))
}

/// Names of functions of the tree that look at frames, and so at those who call them.
pub fn frame_readers(mapping: &Mapping<'_>, texts: &dyn Texts) -> BTreeSet<String> {
    let words = mapping.words(texts);
    let modules = mapping.graph.modules.par_iter().enumerate();
    let readers = modules.filter_map(|(index, module)| {
        let text = texts.text(&module.path)?;
        if !words.get(index)?.has(Word::Frame) {
            return None;
        }
        let analysis = Analysis::new(&text);
        let looks = analysis.uses.iter().filter(|used| looks_at_frames(used));
        let spans = looks.filter_map(|used| used.chain.first().map(|root| root.span));
        let around = spans.filter_map(|span| {
            let mut functions = analysis.definitions.iter();
            functions.rfind(|each| {
                each.class.is_none()
                    && each.kind == DefinitionKind::Function
                    && each.span.contains(span)
            })
        });
        Some(around.map(|each| each.name.clone()).collect::<Vec<_>>())
    });
    readers.flatten().collect()
}

/// Tells code that goes by the names of modules or by the texts of files: what takes `__module__` apart, and what reads
/// a file that a definition leaves.
pub fn check(
    mapping: &Mapping<'_>,
    readers: &Readers<'_>,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    if !mapping
        .all
        .iter()
        .any(|change| change.kind == ChangeKind::Move)
    {
        return;
    }
    let items = mapping
        .all
        .iter()
        .filter(|change| change.subject == Subject::Item && change.kind.carries_text());
    let left: Vec<(&Change, &TreePath)> = items
        .filter_map(|change| Some((change, path_of(mapping, change)?)))
        .collect();
    let words = mapping.words(texts);
    let modules = mapping.graph.modules.par_iter().enumerate().zip(words);
    let found: Vec<Unproven> = modules
        .filter(|(_, words)| {
            let asked = [Word::Module, Word::Frame, Word::Read];
            asked.into_iter().any(|word| words.has(word))
        })
        .flat_map_iter(|((index, module), words)| {
            let text = texts.text(&module.path).unwrap_or_default();
            let left = left.iter().filter(|_| words.has(Word::Read));
            let mut found = read_as_texts(left, &module.path, &text);
            let apart = readers.taken_apart((index, &text)).map(|(span, change)| {
                let why = "it goes by the module names of definitions, which come to be others";
                (UnprovenKind::OwnPlace, change, span, why)
            });
            let placed = readers.place_asked((index, &text)).map(|(span, change)| {
                let why = "it asks where a definition stands, which comes to be elsewhere";
                (UnprovenKind::OwnPlace, change, span, why)
            });
            let others = [
                exports_walked(mapping, (index, &text)),
                modules_made_up(mapping, &text),
            ];
            let others = others
                .into_iter()
                .flatten()
                .map(|(change, span, why)| (UnprovenKind::RuntimeTable, change, span, why));
            let told = apart.into_iter().chain(placed).chain(others);
            found.extend(told.map(|(kind, change, span, why)| Unproven {
                path: module.path.clone(),
                span: Some(span),
                kind,
                name: change.from.clone(),
                why: why.to_owned(),
            }));
            found
        })
        .collect();
    plan.unproven.extend(found);
}

/// Where a file reads those that definitions leave.
fn read_as_texts<'l>(
    left: impl Iterator<Item = &'l (&'l Change, &'l TreePath)>,
    own: &TreePath,
    text: &str,
) -> Vec<Unproven> {
    let read = left.filter_map(|(change, path)| {
        let span = (own != *path).then(|| reads_file(text, change, path))??;
        Some(Unproven {
            path: own.clone(),
            span: Some(span),
            kind: UnprovenKind::OwnPlace,
            name: change.from.clone(),
            why: format!("it reads `{path}` as a text, and the definition leaves that"),
        })
    });
    read.collect()
}

/// Whether a change makes another list of what a module exports: it loses or gets a name, or a shim comes to warn of it.
fn relists(mapping: &Mapping<'_>, change: &Change, module: Option<usize>) -> bool {
    let all = |name: &str| {
        let found = mapping.graph.find(None, name)?;
        let facts = mapping.graph.facts.get(found)?;
        (module.is_none_or(|module| module == found)).then_some(facts.all.as_ref()?)
    };
    if change.subject != Subject::Item {
        return change.shim.is_some() && all(&change.from).is_some();
    }
    let parts = |name: &'_ str| {
        name.rsplit_once('.')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
    };
    let (Some((old, item)), Some((new, _))) = (parts(&change.from), parts(&change.to)) else {
        return false;
    };
    let lists =
        |module: &str| all(module).is_some_and(|all| all.iter().any(|entry| entry.text == item));
    let source = mapping.graph.find(None, &old);
    let exported = source.is_some_and(|source| is_exported(mapping, source, &item));
    lists(&old) || (exported && old != new && all(&new).is_some())
}

/// A loop over the export list of a module, named or held by a variable, that a change makes another one.
fn exports_walked<'m>(
    mapping: &'m Mapping<'_>,
    (module, text): (usize, &str),
) -> Option<(&'m Change, ByteSpan, &'static str)> {
    let mut changes = mapping.all.iter();
    changes.find(|change| relists(mapping, change, None))?;
    let analysis = OnceCell::new();
    let places = memchr::memmem::find_iter(text.as_bytes(), b"__all__");
    let mut places = places.filter(|at| is_looped_over(text, *at));
    let (change, at) = places.find_map(|at| {
        let analysis = analysis.get_or_init(|| Analysis::new(text));
        let walked = match owner_before(mapping, (module, analysis), at) {
            Some(Entity::External) => return None,
            Some(Entity::Module(module)) => Some(module),
            _ => None,
        };
        let mut changes = mapping.all.iter();
        let change = changes.find(|change| relists(mapping, change, walked))?;
        Some((change, at))
    })?;
    let span = ByteSpan::from_range(at..at + "__all__".len());
    Some((
        change,
        span,
        "it goes through the export list of a module, which comes to be another",
    ))
}

/// Whether a loop goes over what is named at a place: an attribute, or what `getattr` gives.
fn is_looped_over(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let loops = line.contains("for ") && line.contains(" in ");
    let quoted = before.ends_with(['"', '\'']) && line.contains("getattr(");
    loops && (before.ends_with('.') || quoted)
}

/// An export list that becomes another one.
struct ListChange<'m> {
    module: usize,
    change: &'m Change,
    why: &'static str,
    /// The name comes to it, and does not leave.
    gains: bool,
}

/// Tells where a file reads the export list of a module that loses a name by the edits of a plan, or gets one:
/// `__all__ = a.__all__ + b.__all__`.
pub fn lists_read(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let lists = mapping.items.list.iter().flat_map(|moved| {
        let lost = takes_entry(mapping, moved, plan).then_some(ListChange {
            module: moved.source,
            change: &moved.change,
            why: "it reads the export list of the module, which loses this name",
            gains: false,
        });
        let gained = target_listing(mapping, moved).map(|module| ListChange {
            module,
            change: &moved.change,
            why: "it reads an export list that this name joins, or may do so",
            gains: true,
        });
        lost.into_iter().chain(gained)
    });
    let lists: Vec<ListChange<'_>> = lists.collect();
    if lists.is_empty() {
        return;
    }
    let words = mapping.words(texts);
    let modules = mapping.graph.modules.par_iter().enumerate().zip(words);
    let found: Vec<Unproven> = modules
        .filter(|(_, words)| words.has(Word::Read))
        .filter_map(|((index, module), _)| {
            let text = texts.text(&module.path)?;
            let analysis = Analysis::new(&text);
            let places = memchr::memmem::find_iter(text.as_bytes(), b"__all__");
            let mut places = places.filter(|at| is_read(&text, *at) && !is_looped_over(&text, *at));
            let (at, list) = places.find_map(|at| {
                let read = match owner_before(mapping, (index, &analysis), at) {
                    Some(Entity::Module(module)) => ListRead::Of(Some(module)),
                    None | Some(Entity::Opaque) if text.get(..at)?.ends_with('.') => {
                        ListRead::OfAny
                    }
                    _ => ListRead::Of(imports_list(mapping, (index, &analysis), at)),
                };
                let mut lists = lists.iter();
                let list = lists.find(|list| match read {
                    ListRead::Of(module) => Some(list.module) == module,
                    ListRead::OfAny => list.gains,
                })?;
                Some((at, list))
            })?;
            Some(Unproven {
                path: module.path.clone(),
                span: Some(ByteSpan::from_range(at..at + "__all__".len())),
                kind: UnprovenKind::RuntimeTable,
                name: list.change.from.clone(),
                why: list.why.to_owned(),
            })
        })
        .collect();
    plan.unproven.extend(found);
}

/// Whose export list is read.
enum ListRead {
    Of(Option<usize>),
    /// That of something that is not followed: `namespace.__all__`.
    OfAny,
}

/// The module whose export list an item joins where it arrives.
fn target_listing(mapping: &Mapping<'_>, moved: &Moved) -> Option<usize> {
    let target = moved.target.filter(|_| moved.travels())?;
    let listed = mapping.graph.facts.get(target)?.all.as_ref()?;
    let joins = is_exported(mapping, moved.source, &moved.item)
        && listed.iter().all(|entry| entry.text != moved.name);
    joins.then_some(target)
}

/// Whether the edits of a plan take the entry of an item out of the list of the module that it leaves.
fn takes_entry(mapping: &Mapping<'_>, moved: &Moved, plan: &LanguagePlan) -> bool {
    let facts = mapping.graph.facts.get(moved.source);
    let listed = facts.and_then(|facts| facts.all.as_ref());
    let module = mapping.graph.modules.get(moved.source);
    let edits = module.and_then(|module| plan.edits.get(&module.path));
    let mut entries = listed.into_iter().flatten();
    entries.any(|entry| {
        let mut edits = edits.into_iter().flatten();
        entry.text == moved.item && edits.any(|edit| edit.span.contains(entry.span))
    })
}

/// Whether an attribute at a place is read, or a name is imported, and nothing is put into it: `a.__all__ + b.__all__`.
fn is_read(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at + "__all__".len()..).unwrap_or_default();
    let after = after.trim_start();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let added = after.starts_with("+=") || after.starts_with('=') && !after.starts_with("==");
    let changed = [".append(", ".extend(", ".remove(", ".insert("];
    let changed = changed.iter().any(|call| after.starts_with(call));
    (before.ends_with('.') || line.contains("import ")) && !added && !changed
}

/// The module whose export list a statement at a place imports: `from .b import __all__ as b_all`.
fn imports_list(
    mapping: &Mapping<'_>,
    (module, analysis): (usize, &Analysis),
    at: usize,
) -> Option<usize> {
    let mut imports = analysis.imports.iter();
    let (import, _) = imports.find(|(import, _)| {
        let mut leaves = import.leaves.iter();
        leaves.any(|leaf| leaf.name.span.start as usize == at)
    })?;
    mapping.graph.base_module(module, import)
}

/// What an attribute that stands at a place is read of, where that is named there.
fn owner_before(
    mapping: &Mapping<'_>,
    (module, analysis): (usize, &Analysis),
    at: usize,
) -> Option<Entity> {
    let names = Names::new(mapping.graph, Some(module), analysis);
    analysis.uses.iter().find_map(|used| {
        let mut chain = used.chain.iter();
        let position = chain.position(|each| each.span.start as usize == at)?;
        let meanings = names.meanings(used);
        meanings.get(position.checked_sub(1)?)?.entity.clone()
    })
}

/// A finder that makes up modules from others, where one gets another name.
fn modules_made_up<'m>(
    mapping: &'m Mapping<'_>,
    text: &str,
) -> Option<(&'m Change, ByteSpan, &'static str)> {
    let change = mapping.changes.first()?;
    if text.contains("sys.meta_path") && finders::pass_over(text, &mapping.changes) {
        return None;
    }
    let mut places = text.match_indices("sys.meta_path").map(|(at, _)| at);
    let at = places.find(|at| {
        let before = text.get(..*at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        // A line that is a comment finds nothing.
        !line.trim_start().starts_with('#')
    })?;
    let span = ByteSpan::from_range(at..at + "sys.meta_path".len());
    Some((
        change,
        span,
        "a finder of modules, which may go by the names of those that change",
    ))
}

/// Where a file names the file of a definition to read it, and has the definition's name.
fn reads_file(text: &str, change: &Change, path: &TreePath) -> Option<ByteSpan> {
    let item = change.from.rsplit('.').next()?;
    if !text.contains(item) {
        return None;
    }
    let file = path.file_name();
    let mut places = memchr::memmem::find_iter(text.as_bytes(), file.as_bytes());
    let at = places.find(|at| {
        let before = text.get(..*at).unwrap_or_default();
        let after = text.get(at + file.len()..).unwrap_or_default();
        before.ends_with(['"', '\'', '/']) && after.starts_with(['"', '\''])
    })?;
    let generic = file.starts_with("__init__.");
    let folder = path.parent().filter(|_| generic);
    let named = folder.is_none_or(|folder| text.contains(folder.file_name()));
    named.then(|| ByteSpan::from_range(at..at + file.len()))
}
