//! `removed-reference`: an import, a string or a configuration value names what a manifest has moved,
//! merged or removed, and nothing stands there any more.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Finding, ImportTarget, LanguageGraph, LanguageKind, Mention, Severity, TreePath,
    finding::codes,
    manifest::{Manifest, is_guard},
    pattern::NamePattern,
};

use crate::{MENDED, Subject};

/// An old name with nothing behind it.
struct Gone<'m> {
    /// Id of the manifest.
    manifest: &'m str,
    /// Where it is now; `None` where it was removed.
    now: Option<&'m str>,
    /// Whether that is a module: later uses of items are not led on.
    is_module: bool,
}

/// How a name stands in a file.
#[derive(Clone, Copy)]
enum Form {
    Import,
    Text,
}

/// The patterns of all names that are gone, to look for in configuration.
#[must_use]
pub fn patterns(manifests: &[Manifest], known: impl Fn(&str) -> bool) -> Vec<NamePattern> {
    let gone = gone(manifests, known);
    gone.keys().map(|name| NamePattern::new(name)).collect()
}

/// Imports, string literals and configuration values of the whole tree, tests and scripts included.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut gone = gone(subject.manifests, |name| subject.knows(name));
    if gone.is_empty() {
        return Vec::new();
    }
    let modules = subject
        .index
        .graphs()
        .iter()
        .flat_map(|graph| graph.modules());
    let modules: BTreeSet<&str> = modules.map(|module| module.name.as_str()).collect();
    for one in gone.values_mut() {
        one.is_module = one.now.is_some_and(|now| modules.contains(now));
    }
    let graphs = subject.index.graphs().iter();
    let mut findings: Vec<Finding> = graphs.flat_map(|graph| of_graph(&gone, *graph)).collect();
    for mention in subject.configuration {
        let separator = LanguageKind::of_name(&mention.name).map_or(".", LanguageKind::separator);
        findings.extend(mentioned(&gone, mention, separator));
    }
    let mut on_purpose: BTreeSet<TreePath> = BTreeSet::new();
    for path in findings.iter().map(|finding| &finding.path) {
        if is_guard(path, subject.texts.text(path).as_deref()) {
            on_purpose.insert(path.clone());
        }
    }
    findings.retain(|finding| !on_purpose.contains(&finding.path));
    findings
}

/// What the source files of a language name.
fn of_graph(gone: &BTreeMap<&str, Gone<'_>>, graph: &dyn LanguageGraph) -> Vec<Finding> {
    let separator = graph.language().separator();
    let imports = graph.imports().iter();
    let unresolved = imports.filter(|import| import.target == ImportTarget::Unresolved);
    let imported = unresolved.filter_map(|import| {
        let found = find(gone, &import.name, separator)?;
        let at = (&import.path, import.span, Form::Import);
        Some(place(found, &import.name, at))
    });
    let mentions = graph.mentions().iter();
    let mentions = mentions.filter_map(|mention| mentioned(gone, mention, separator));
    imported.chain(mentions).collect()
}

/// Names before, with what became of them; those that lead somewhere again are none.
fn gone(manifests: &[Manifest], known: impl Fn(&str) -> bool) -> BTreeMap<&str, Gone<'_>> {
    let moved = manifests.iter().flat_map(|manifest| {
        let entries = manifest.entries.iter();
        let moved = entries.map(|entry| (entry.from.text.as_str(), Some(entry.to.text.as_str())));
        let removals = manifest.removals.iter();
        let removed = removals.map(|removal| (removal.module.text.as_str(), None));
        moved
            .chain(removed)
            .map(move |(name, now)| (name, manifest, now))
    });
    let mut gone: BTreeMap<&str, Gone<'_>> = BTreeMap::new();
    for (name, manifest, now) in moved.filter(|(name, ..)| !known(name)) {
        let one = Gone {
            manifest: &manifest.id,
            now,
            is_module: false,
        };
        gone.insert(name, one);
    }
    // What moved twice is where the last one put it; a manifest that was never followed has moved nothing.
    let last: Vec<(&str, Option<&str>)> = gone
        .iter()
        .map(|(name, first)| (*name, followed(&gone, first.now)))
        .collect();
    for (name, now) in last {
        match now {
            Some(to) if !known(to) => _ = gone.remove(name),
            _ => {
                if let Some(one) = gone.get_mut(name) {
                    one.now = now;
                }
            }
        }
    }
    gone
}

fn followed<'m>(gone: &BTreeMap<&str, Gone<'m>>, mut now: Option<&'m str>) -> Option<&'m str> {
    // No chain is longer than there are names; one that comes back ends here.
    for _ in 0..gone.len() {
        match now.and_then(|name| gone.get(name)) {
            Some(next) => now = next.now,
            None => break,
        }
    }
    now
}

/// The entry of the name itself, or of the longest name above it.
fn find<'g>(
    gone: &'g BTreeMap<&str, Gone<'g>>,
    name: &str,
    separator: &str,
) -> Option<(&'g str, &'g Gone<'g>)> {
    let mut end = name.len();
    loop {
        let head = name.get(..end)?;
        if let Some((known, found)) = gone.get_key_value(head) {
            return Some((known, found));
        }
        end = head.rfind(separator)?;
    }
}

fn mentioned(
    gone: &BTreeMap<&str, Gone<'_>>,
    mention: &Mention,
    separator: &str,
) -> Option<Finding> {
    let found = find(gone, &mention.name, separator)?;
    // A name of one segment is too short to mean anything outside of code.
    found.0.contains(separator).then(|| {
        place(
            found,
            &mention.name,
            (&mention.path, mention.span, Form::Text),
        )
    })
}

fn place(
    (old, gone): (&str, &Gone<'_>),
    name: &str,
    (path, span, reference): (&TreePath, ByteSpan, Form),
) -> Finding {
    let rest = name.strip_prefix(old).unwrap_or_default();
    let (message, help) = match gone.now {
        Some(now) => (
            format!("`{old}` is `{now}` since {}", gone.manifest),
            match reference {
                Form::Import if gone.is_module => format!("import `{now}{rest}`{MENDED}"),
                Form::Import => format!("import `{now}{rest}`"),
                Form::Text => format!("name `{now}{rest}`"),
            },
        ),
        None => (
            format!("`{old}` was removed by {}", gone.manifest),
            "nothing takes its place: remove the reference".to_owned(),
        ),
    };
    Finding {
        code: codes::REMOVED_REFERENCE,
        severity: Severity::Error,
        path: path.clone(),
        span: Some(span),
        message,
        help: Some(help),
    }
}
