//! Shims of single items: where they are, who still reads the old names, and what it takes to
//! remove some of them.
//!
//! Only what `rewrite::items::shims` writes is taken out; a block that was edited by hand so that
//! its parts are not found any more is a refusal.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Certainty, Edit, Finding, Form, ItemShim, LanguagePlan, Reference, Severity, Texts,
    TreePath, finding::codes,
};

use crate::{
    analysis::{Analysis, Use},
    extract::ITEM_SHIM,
    facts::Leaf,
    graph::{Entity, PythonGraph},
    references::{Mentions, SearchedFile},
    rewrite::export_list::ExportList,
};

/// Every old name that a shim keeps.
pub fn all(graph: &PythonGraph) -> Vec<ItemShim> {
    let mut shims = Vec::new();
    for (module, facts) in graph.modules.iter().zip(&graph.facts) {
        // The types beside a source file are the same shim.
        let twin = module.path.extension() == Some("pyi")
            && graph
                .module_of(&module.path)
                .is_some_and(|at| graph.twin(at).is_some());
        if twin {
            continue;
        }
        shims.extend(facts.item_shims.iter().map(|(item, manifest)| ItemShim {
            name: format!("{}.{item}", module.name),
            module: module.name.clone(),
            path: module.path.clone(),
            manifest: manifest.clone(),
        }));
    }
    shims
}

/// An item whose old name a shim keeps.
struct Kept<'n> {
    home: usize,
    item: &'n str,
    name: &'n str,
}

/// For each name who reads an item by it, which a shim keeps, outside of the module that has the shim. Each file
/// is read once.
pub fn references(graph: &PythonGraph, names: &[&str], texts: &dyn Texts) -> Vec<Vec<Reference>> {
    let kept = names.iter().map(|name| {
        let (parent, item) = name.rsplit_once('.')?;
        let home = graph.find(None, parent)?;
        Some(Kept { home, item, name })
    });
    let kept: Vec<Option<Kept<'_>>> = kept.collect();
    let words = kept
        .iter()
        .map(|kept| kept.as_ref().map(|kept| kept.item.to_owned()));
    Mentions::new(&words.collect::<Vec<_>>()).references(graph, texts, |file, at| {
        let kept = kept.get(at)?.as_ref()?;
        let own = [Some(kept.home), graph.twin(kept.home)];
        (!own.contains(&Some(file.module))).then(|| readers_of(kept, file))
    })
}

fn readers_of(kept: &Kept<'_>, file: &SearchedFile<'_>) -> Vec<Reference> {
    let imports = file.analysis.imports.iter().map(|(import, _)| import);
    let of_home =
        imports.filter(|import| file.graph.base_module(file.module, import) == Some(kept.home));
    let leaves: Vec<&Leaf> = of_home.flat_map(|import| &import.leaves).collect();
    let star = leaves.iter().any(|leaf| leaf.name.text == "*");
    let named = leaves.iter().filter(|leaf| leaf.name.text == kept.item);
    let mut found: Vec<(ByteSpan, Form)> = named
        .map(|leaf| (leaf.name.span, Form::ImportFrom))
        .collect();
    for used in &file.analysis.uses {
        found.extend(read_by(kept, file, used, star));
    }
    let strings = file.analysis.strings.iter();
    let named = strings
        .filter(|string| !string.documentation && string.span.of(file.text) == Some(kept.name));
    found.extend(named.map(|string| (string.span, Form::String)));
    references_at(file.path, found)
}

/// Where a use reads the item. `star` is whether a star import brings it, as far as anybody can see.
fn read_by<'a>(
    kept: &Kept<'_>,
    file: &SearchedFile<'a>,
    used: &'a Use,
    star: bool,
) -> Vec<(ByteSpan, Form)> {
    let mut found = Vec::new();
    let bound = || file.analysis.binding_scope(used.scope, kept.item).is_some();
    if let Some(root) = used.chain.first()
        && star
        && root.text == kept.item
        && !bound()
    {
        found.push((root.span, Form::Path));
    }
    for (at, meaning) in file.names.meanings(used).iter().enumerate() {
        let held = meaning.entity == Some(Entity::Module(kept.home));
        let next = used.chain.get(at + 1).filter(|next| next.text == kept.item);
        found.extend(next.filter(|_| held).map(|next| (next.span, Form::Path)));
    }
    found
}

fn references_at(path: &TreePath, found: Vec<(ByteSpan, Form)>) -> Vec<Reference> {
    let reference = |(span, form)| Reference {
        path: path.clone(),
        span,
        segments: vec![span],
        form,
        certainty: Certainty::Exact,
    };
    found.into_iter().map(reference).collect()
}

/// Takes the shims of these items out.
pub fn retire(graph: &PythonGraph, names: &[String], texts: &dyn Texts) -> LanguagePlan {
    let mut plan = LanguagePlan::default();
    for (file, items) in items_by_file(graph, names) {
        let Some(path) = graph.modules.get(file).map(|module| &module.path) else {
            continue;
        };
        let Some(text) = texts.text(path) else {
            continue;
        };
        match taken_out(&text, &items) {
            Some(edits) if edits.is_empty() => {}
            Some(edits) => drop(plan.edits.insert(path.clone(), edits)),
            None => plan.refusals.push(edited_by_hand(path)),
        }
    }
    plan
}

/// The items of each file whose shims these are.
fn items_by_file<'n>(
    graph: &PythonGraph,
    names: &'n [String],
) -> BTreeMap<usize, BTreeSet<&'n str>> {
    let mut by_file: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for name in names {
        let Some((parent, item)) = name.rsplit_once('.') else {
            continue;
        };
        let Some(module) = graph.find(None, parent) else {
            continue;
        };
        for file in std::iter::once(module).chain(graph.twin(module)) {
            by_file.entry(file).or_default().insert(item);
        }
    }
    by_file
}

fn edited_by_hand(path: &TreePath) -> Finding {
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Error,
        path: path.clone(),
        span: None,
        message: "the shim of its items was edited, and what belongs to it cannot be told".into(),
        help: Some("take the shim out by hand".into()),
    }
}

/// A block that a shim of items is: from its marker to its last line.
struct Block<'t> {
    span: ByteSpan,
    text: &'t str,
    names: Vec<&'t str>,
}

/// The edits that take items out of the shims of a file; none when their parts are not found.
fn taken_out(text: &str, items: &BTreeSet<&str>) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    let mut gone = Vec::new();
    for block in blocks(text)? {
        let stays: Vec<&str> = block
            .names
            .iter()
            .copied()
            .filter(|name| !items.contains(name))
            .collect();
        if stays.len() == block.names.len() {
            continue;
        }
        gone.extend(block.names.iter().filter(|name| items.contains(*name)));
        if stays.is_empty() {
            edits.push(Edit::delete(with_blanks(text, block.span)));
        } else {
            edits.push(Edit::replace(block.span, without(&block, items, &stays)?));
        }
    }
    edits.extend(unlisted(text, &gone));
    edits.sort_by_key(|edit| edit.span);
    Some(edits)
}

fn blocks(text: &str) -> Option<Vec<Block<'_>>> {
    let mut found = Vec::new();
    let starts = memchr::memmem::find_iter(text.as_bytes(), ITEM_SHIM.as_bytes());
    for start in starts.filter(|at| *at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n')) {
        let rest = text.get(start..)?;
        let marker = rest.lines().next()?;
        let (_, names) = marker.strip_prefix(ITEM_SHIM)?.trim().split_once(' ')?;
        let after = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let end = after + length_of_block(rest.get(after..)?)?;
        found.push(Block {
            span: ByteSpan::from_range(start..start + end),
            text: rest.get(..end)?,
            names: names.split(',').map(str::trim).collect(),
        });
    }
    Some(found)
}

/// How long the rest of a block is below its marker; nothing where its end is not found.
fn length_of_block(below: &str) -> Option<usize> {
    // The types of a shim are imports below the marker; else it ends with its own deletion.
    let is_types = below.starts_with("from ");
    let mut length = 0;
    for line in below.split_inclusive('\n') {
        if is_types && !line.starts_with("from ") {
            break;
        }
        length += line.len();
        if line.starts_with("del _forward_items") {
            return Some(length);
        }
    }
    is_types.then_some(length)
}

/// The block without some of its names.
fn without(block: &Block<'_>, items: &BTreeSet<&str>, stays: &[&str]) -> Option<String> {
    let newline = if block.text.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let marker = block.text.lines().next()?;
    let (head, _) = marker.strip_prefix(ITEM_SHIM)?.trim().split_once(' ')?;
    let mut lines = vec![format!("{ITEM_SHIM}{head} {}{newline}", stays.join(", "))];
    let mut dropped = 0;
    for line in block.text.split_inclusive('\n').skip(1) {
        if name_of_line(line).is_some_and(|name| items.contains(name)) {
            dropped += 1;
        } else {
            lines.push(line.to_owned());
        }
    }
    let gone = block.names.len() - stays.len();
    (dropped >= gone).then(|| without_types(lines.concat(), newline))
}

/// The name that a line of a block stands for.
fn name_of_line(line: &str) -> Option<&str> {
    let line = line.trim();
    let entry = line
        .strip_prefix('"')
        .and_then(|rest| rest.split_once("\": (\""));
    let entry = entry.map(|(name, _)| name);
    let import = || line.strip_prefix("from ")?.rsplit_once(" as ");
    entry.or_else(|| import().map(|(_, name)| name))
}

/// The block for type checkers goes when nothing is left in it.
fn without_types(text: String, newline: &str) -> String {
    let head =
        format!("import typing as _typing{newline}{newline}if _typing.TYPE_CHECKING:{newline}");
    let Some(at) = text.find(&head) else {
        return text;
    };
    let rest = text.get(at + head.len()..).unwrap_or_default();
    if rest.starts_with("    ") {
        return text;
    }
    let before = text.get(..at).unwrap_or_default();
    let rest = rest.trim_start_matches(['\r', '\n']);
    let rest = rest.replace("del _forward_items, _typing", "del _forward_items");
    format!("{before}{rest}")
}

/// A block and the blank lines above it.
fn with_blanks(text: &str, span: ByteSpan) -> ByteSpan {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let content = before.trim_end_matches(['\r', '\n']);
    let rest = before.get(content.len()..).unwrap_or_default();
    let first = rest.find('\n').map_or(rest.len(), |at| at + 1);
    let start = if content.is_empty() {
        0
    } else {
        content.len() + first
    };
    ByteSpan::from_range(start..span.end as usize)
}

/// The entries of `__all__` that nothing in the file stands for any more.
fn unlisted(text: &str, gone: &[&str]) -> Vec<Edit> {
    let analysis = Analysis::new(text);
    let stale = |name: &str| {
        let bindings = analysis.bindings(0, name).iter();
        // What is there for type checkers is part of the shim.
        let mut executed = bindings.filter(|binding| {
            let import = binding.import.and_then(|(at, _)| analysis.imports.get(at));
            import.is_none_or(|(import, _)| import.eager)
        });
        gone.contains(&name) && executed.next().is_none()
    };
    ExportList::new(text).take_out(&stale)
}
