//! Code that asks a program what it consists of: frames, the module names of definitions, texts of files.
//!
//! Such code names nothing of what changes, so every file is asked, not only those that do.

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, LanguagePlan, Subject, Texts, TreePath, Unproven, UnprovenKind,
};
use rayon::prelude::*;

use super::{mapping::Mapping, places::path_of, words::Word};
use crate::analysis::{Analysis, Called, DefinitionKind, Use};

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
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let moves = mapping.all.iter();
    let Some(first) = moves.clone().find(|change| change.kind == ChangeKind::Move) else {
        return;
    };
    let items =
        moves.filter(|change| change.subject == Subject::Item && change.kind.carries_text());
    let left: Vec<(&Change, &TreePath)> = items
        .filter_map(|change| Some((change, path_of(mapping, change)?)))
        .collect();
    let found: Vec<Unproven> = mapping
        .graph
        .modules
        .par_iter()
        .zip(mapping.words(texts))
        .filter(|(_, words)| words.has(Word::Module) || words.has(Word::Read))
        .flat_map_iter(|(module, words)| {
            let text = texts.text(&module.path);
            text.into_iter().flat_map(|text| {
                let apart = taken_apart(&text, mapping.all).map(|span| Unproven {
                    path: module.path.clone(),
                    span: Some(span),
                    kind: UnprovenKind::OwnPlace,
                    name: first.from.clone(),
                    why: "it goes by the module names of definitions, which come to be others"
                        .to_owned(),
                });
                let left = left.iter().filter(|_| words.has(Word::Read));
                let read = left.filter_map(|(change, path)| {
                    let span =
                        (module.path != **path).then(|| reads_file(&text, change, path))??;
                    Some(Unproven {
                        path: module.path.clone(),
                        span: Some(span),
                        kind: UnprovenKind::OwnPlace,
                        name: change.from.clone(),
                        why: format!("it reads `{path}` as a text, and the definition leaves that"),
                    })
                });
                let others = [
                    exports_walked(mapping, &text),
                    modules_made_up(mapping, &text),
                ];
                let others = others
                    .into_iter()
                    .flatten()
                    .map(|(change, span, why)| Unproven {
                        path: module.path.clone(),
                        span: Some(span),
                        kind: UnprovenKind::RuntimeTable,
                        name: change.from.clone(),
                        why: why.to_owned(),
                    });
                apart
                    .into_iter()
                    .chain(read)
                    .chain(others)
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    plan.unproven.extend(found);
}

/// A loop over the export list of some module, where a change adds a name to one, takes one out, or leaves a shim that
/// warns of each.
fn exports_walked<'m>(
    mapping: &'m Mapping<'_>,
    text: &str,
) -> Option<(&'m Change, ByteSpan, &'static str)> {
    let listed = |name: &str| {
        let module = mapping.graph.find(None, name);
        let facts = module.and_then(|module| mapping.graph.facts.get(module));
        facts.is_some_and(|facts| facts.all.is_some())
    };
    let parent = |name: &'m str| name.rsplit_once('.').map_or("", |(parent, _)| parent);
    let mut changes = mapping.all.iter();
    let change = changes.find(|change| match change.subject {
        Subject::Item => listed(parent(&change.from)) || listed(parent(&change.to)),
        _ => change.shim.is_some() && listed(&change.from),
    })?;
    let mut places = memchr::memmem::find_iter(text.as_bytes(), b".__all__");
    let at = places.find(|at| {
        let line = text
            .get(..*at)
            .and_then(|before| before.rsplit('\n').next());
        line.is_some_and(|line| line.contains("for ") && line.contains(" in "))
    })?;
    let span = ByteSpan::from_range(at + 1..at + ".__all__".len());
    Some((
        change,
        span,
        "it goes through the export list of a module, which comes to be another",
    ))
}

/// A finder that makes up modules from others, where one gets another name.
fn modules_made_up<'m>(
    mapping: &'m Mapping<'_>,
    text: &str,
) -> Option<(&'m Change, ByteSpan, &'static str)> {
    let change = mapping.changes.first()?;
    let at = text.find("sys.meta_path")?;
    let span = ByteSpan::from_range(at..at + "sys.meta_path".len());
    Some((
        change,
        span,
        "a finder of modules, which may go by the names of those that change",
    ))
}

/// Where the name of a definition's module is taken apart, in a way that the changes may make another one.
fn taken_apart(text: &str, changes: &[Change]) -> Option<ByteSpan> {
    let name = ".__module__";
    let mut places = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes());
    let at = places.find(|at| {
        let after = text.get(at + name.len()..).unwrap_or_default();
        changes.iter().any(|change| tells_apart(after, change))
    })?;
    Some(ByteSpan::from_range(at + 1..at + name.len()))
}

/// Whether what follows `__module__` may come out otherwise for a change. Where it is held against texts, one of them has
/// to be of a name.
fn tells_apart(after: &str, change: &Change) -> bool {
    let module = |name: &str| match change.subject {
        Subject::Item => name
            .rsplit_once('.')
            .map_or("", |(module, _)| module)
            .to_owned(),
        _ => name.to_owned(),
    };
    let (from, to) = (module(&change.from), module(&change.to));
    let Some((method, rest)) = after
        .strip_prefix('.')
        .and_then(|rest| rest.split_once('('))
    else {
        return from != to && after.starts_with('[');
    };
    let (argument, rest) = rest.split_once(')').unwrap_or((rest, ""));
    let (given, compared) = (
        literals(argument),
        literals(rest.lines().next().unwrap_or_default()),
    );
    let top = |name: &str| name.split('.').next().map(str::to_owned);
    let part = |text: &&str| {
        from.split('.').any(|part| part == *text) != to.split('.').any(|part| part == *text)
    };
    match method {
        "startswith" if !given.is_empty() => given
            .iter()
            .any(|text| from.starts_with(text) != to.starts_with(text)),
        "endswith" if !given.is_empty() => given
            .iter()
            .any(|text| from.ends_with(text) != to.ends_with(text)),
        "split" | "partition" if rest.starts_with("[0]") => top(&from) != top(&to),
        "split" | "rsplit" | "partition" | "rpartition"
            if rest.contains("==") && !compared.is_empty() =>
        {
            compared.iter().any(part)
        }
        "split" | "rsplit" | "partition" | "rpartition" | "startswith" | "endswith"
        | "removeprefix" | "removesuffix" => from != to,
        _ => false,
    }
}

/// The texts in quotes of a piece of code.
fn literals(code: &str) -> Vec<&str> {
    code.split(['"', '\'']).skip(1).step_by(2).collect()
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
