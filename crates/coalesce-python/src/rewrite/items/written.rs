//! The texts of the files that definitions arrive in.
//!
//! What is imported where is decided before; what old modules import back is not written here.

use coalesce_model::{ByteSpan, Edit, Finding, NewFile, Severity, TreePath, finding::codes};

use super::{
    Moved, cut, exports,
    header::Header,
    imported::Line,
    outline::Kind,
    place::{Block, Placing, Target},
    refusal,
    source::{self, Source},
    way::Arrival,
};
use crate::{
    analysis::{Evaluated, Use},
    facts::ImportStatement,
};

impl Placing<'_, '_> {
    /// The texts of the targets.
    pub(super) fn write(&mut self) {
        for target in std::mem::take(&mut self.targets) {
            let mut edits = self.plan.edits.remove(&target.path).unwrap_or_default();
            self.supersede(&target, &mut edits);
            match self.arrivals(&target) {
                Ok((made, note)) => {
                    edits.extend(made);
                    self.plan.notes.extend(note);
                }
                Err((path, span, why)) => {
                    let refused = refusal(&path, Some(span), why, None);
                    self.plan.refusals.push(refused);
                }
            }
            self.put(&target, edits);
            self.targets.push(target);
        }
    }

    /// The text of a target: edits of the one that it has, or a new one.
    fn put(&mut self, target: &Target, edits: Vec<Edit>) {
        let (path, standing) = (target.path.clone(), target.module.is_some());
        if standing && !target.is_blank() {
            self.plan.edits.insert(path, edits);
            return;
        }
        let text = cut::edited("", ByteSpan::empty(0), &at_start(edits));
        let text = format!("{}\n", text.trim_matches('\n'));
        if standing {
            let whole = ByteSpan::from_range(0..target.text.len());
            let edit = Edit::replace(whole, text);
            self.plan.edits.insert(path, vec![edit]);
            return;
        }
        let reason = format!("the module that the items of `{}` move to", target.parent);
        // What arrives below it has made an empty package of it.
        self.plan.creates.retain(|created| created.path != path);
        self.plan.creates.push(NewFile { path, text, reason });
    }

    fn arrivals(&self, target: &Target) -> Result<Made, super::Misfit> {
        let newline = cut::newline(&target.text);
        let header = Header::new(&target.text, &target.outline);
        let all: Vec<&Block> = target
            .blocks
            .iter()
            .filter_map(|at| self.arriving.blocks.get(*at))
            .collect();
        let arrives = |block: &&&Block| !self.moved(block.index).is_some_and(Moved::supersedes);
        let blocks: Vec<&Block> = all.iter().filter(arrives).copied().collect();
        let (mut edits, note) = self.future(target, &all);
        let (top, end) = self.parted(target, &blocks);
        let mut lines = super::imported::statements(target, &top);
        let typing = super::imported::statements(target, &target.typing);
        edits.extend(super::imported::typing_block(target, typing, &mut lines));
        if !target.made.is_empty() {
            lines.extend((!lines.is_empty()).then(String::new));
            lines.extend(target.made.iter().cloned());
        }
        let texts: Vec<(String, Kind)> = blocks
            .iter()
            .filter_map(|block| Some((self.text_of(block)?, block.kind)))
            .collect();
        let first = (self.way.arrival == Arrival::AboveImports && !texts.is_empty())
            .then(|| self.first_own_import(target))
            .flatten();
        if let Some(at) = first {
            edits.push(above_imports(target, at, &lines, &texts));
            return Ok((edits, note));
        }
        if target.is_blank() {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            edits.push(Edit::insert(0, text));
        } else {
            let text = header.text(&lines);
            if !text.is_empty() {
                edits.push(Edit::insert(header.at, text));
            }
        }
        if blocks.is_empty() {
            return Ok((edits, note));
        }
        if !end.is_empty() {
            edits.push(at_the_end(target, &end, &texts));
            return Ok((edits, note.or_else(|| Some(stands_at_the_end(target)))));
        }
        let at = exports::place(self.mapping, target, &blocks, &header)?;
        edits.push(Edit::insert(at.at, at.text(&target.text, &texts, newline)));
        Ok((edits, note))
    }

    /// The imports of a file's head, and those of its end, where definitions arrive there and it ends with nothing else. At
    /// the end a name may be gone, or another object stand for the module.
    fn parted(&self, target: &Target, blocks: &[&Block]) -> (Vec<Line>, Vec<Line>) {
        let ends = self.way.arrival == Arrival::AtEnd
            && target.module.is_some()
            && !target.is_blank()
            && target.text.ends_with('\n')
            && !target.text.contains("# coalesce: ")
            && !takes_back(&target.text)
            && target.outline.programs.is_empty()
            && !blocks.is_empty();
        let (end, top) = target
            .top
            .iter()
            .cloned()
            .partition(|line: &Line| ends && line.module.is_some());
        (top, end)
    }

    /// Where the first statement at the top of a file begins that imports from the tree.
    fn first_own_import(&self, target: &Target) -> Option<u32> {
        let (module, graph) = (target.module?, self.mapping.graph);
        let is_own = |import: &&ImportStatement| match &import.from {
            Some(_) => graph.base_module(module, import).is_some(),
            None => {
                let mut leaves = import.leaves.iter();
                leaves.any(|leaf| graph.find(Some(module), &leaf.name.text).is_some())
            }
        };
        let imports = target.analysis.imports.iter().map(|(import, _)| import);
        let first = imports
            .filter(is_own)
            .map(|import| import.span.start)
            .min()?;
        let mut statements = target.outline.statements.iter();
        statements
            .find(|statement| statement.span.start <= first && first < statement.span.end)
            .filter(|statement| matches!(statement.kind, Kind::Import | Kind::Guarded))
            .map(|statement| statement.span.start)
    }

    /// Definitions that take the place of those which the target has.
    fn supersede(&mut self, target: &Target, edits: &mut Vec<Edit>) {
        for at in &target.blocks {
            let Some(block) = self.arriving.blocks.get(*at) else {
                continue;
            };
            let Some(moved) = self.moved(block.index).filter(|moved| moved.supersedes()) else {
                continue;
            };
            let standing = target.module.and_then(|module| {
                let own =
                    Source::new(self.mapping, self.of_kind(module, &target.path), self.texts)?;
                let standing = Moved {
                    source: module,
                    item: moved.name.clone(),
                    ..moved.clone()
                };
                Some(source::definition(self.mapping, &own, &standing))
            });
            let place = block.extents.first().copied();
            let (problem, extents) = match standing {
                Some(Ok((_, extents))) => (None, extents),
                Some(Err((span, why))) => {
                    (Some((target.path.clone(), Some(span), why)), Vec::new())
                }
                None => (
                    Some((block.path.clone(), place, "it is nowhere".into())),
                    Vec::new(),
                ),
            };
            if let Some((path, span, why)) = problem {
                let message = format!("`{}` cannot be superseded: {why}", moved.change.to);
                self.plan.refusals.push(refusal(&path, span, message, None));
                continue;
            }
            let Some(text) = self.text_of(block) else {
                continue;
            };
            let newline = cut::newline(&target.text);
            let inside = |edit: &Edit| extents.iter().any(|extent| extent.contains(edit.span));
            edits.retain(|edit| !inside(edit));
            let mut extents = extents.into_iter();
            if let Some(first) = extents.next() {
                let text = format!("{text}\n").replace('\n', newline);
                edits.push(Edit::replace(first, text));
            }
            edits.extend(extents.map(Edit::delete));
        }
    }

    /// The module of a file: that of types beside `module` has a number of its own.
    fn of_kind(&self, module: usize, path: &TreePath) -> usize {
        let graph = self.mapping.graph;
        let twin = graph.twin(module).filter(|twin| {
            let twin = graph.modules.get(*twin);
            twin.is_some_and(|twin| twin.path == *path)
        });
        twin.unwrap_or(module)
    }

    fn text_of(&self, block: &Block) -> Option<String> {
        let mut left = self.arriving.left.iter();
        let source = &left.find(|left| left.source.path == block.path)?.source;
        let edits = cut::merged(block.edits.clone());
        let parts = block.extents.iter();
        let parts: Vec<String> = parts
            .map(|extent| cut::edited(&source.text, *extent, &edits).replace("\r\n", "\n"))
            .map(|text| text.trim_end_matches('\n').to_owned())
            .collect();
        Some(parts.join("\n\n\n"))
    }

    /// Types that are not evaluated where they come from must not be where they go.
    fn future(&self, target: &Target, blocks: &[&Block]) -> (Vec<Edit>, Option<Finding>) {
        let lefts = &self.arriving.left;
        let of = |block: &Block| lefts.iter().find(|left| left.source.path == block.path);
        let wanted = blocks
            .iter()
            .any(|block| of(block).is_some_and(|left| is_unevaluated(&left.source, block)));
        if !wanted || source::has_future(&target.analysis) {
            return (Vec::new(), None);
        }
        let newline = cut::newline(&target.text);
        let line = format!("from __future__ import annotations{newline}");
        if target.is_blank() {
            return (vec![Edit::insert(0, format!("{line}{newline}"))], None);
        }
        let annotated = |used: &Use| used.evaluated == Evaluated::WithoutFuture;
        let typed = target.analysis.uses.iter().any(annotated);
        let why = "types in this file are not evaluated any more: \
                   `from __future__ import annotations` comes with the item";
        let note = typed.then(|| Finding {
            severity: Severity::Note,
            ..refusal(&target.path, None, why.to_owned(), None)
        });
        let (at, before, after) = place_of_future(target, newline);
        let edit = Edit::insert(at, format!("{before}{line}{after}"));
        (vec![edit], note)
    }
}

/// The edits of a file, and what its reader should know.
type Made = (Vec<Edit>, Option<Finding>);

/// Imports and definitions before the first import of the tree, which begins at a place.
fn above_imports(target: &Target, at: u32, lines: &[String], texts: &[(String, Kind)]) -> Edit {
    let texts = texts.iter().map(|(text, _)| text.trim_matches('\n'));
    let parts: Vec<String> = std::iter::once(lines.join("\n"))
        .chain(texts.map(str::to_owned))
        .filter(|part| !part.is_empty())
        .collect();
    let before = target.text.get(..at as usize).unwrap_or_default();
    let apart = !before.trim().is_empty() && !before.ends_with("\n\n\n") && lines.is_empty();
    let blank = if apart { "\n" } else { "" };
    let text = format!("{blank}{}\n\n\n", parts.join("\n\n\n"));
    Edit::insert(at, text.replace('\n', cut::newline(&target.text)))
}

/// Whether a text deletes names, or puts something else into the place of modules.
fn takes_back(text: &str) -> bool {
    let mut lines = text.split(['\n', ';']).map(str::trim_start);
    lines.any(|line| line.starts_with("del ") || line.starts_with("del("))
        || text.contains("modules[")
}

/// Imports of the tree and definitions below all that a file has.
fn at_the_end(target: &Target, imports: &[Line], texts: &[(String, Kind)]) -> Edit {
    let own = super::imported::statements(target, imports).join("\n");
    let texts = texts.iter().map(|(text, _)| text.trim_matches('\n'));
    let parts: Vec<&str> = std::iter::once(own.as_str()).chain(texts).collect();
    let text = format!("\n\n{}\n", parts.join("\n\n\n"));
    let last = u32::try_from(target.text.trim_end().len()).unwrap_or(u32::MAX);
    let at = cut::line_end(&target.text, last);
    Edit::insert(at, text.replace('\n', cut::newline(&target.text)))
}

/// Says why imports stand where nobody looks for them.
fn stands_at_the_end(target: &Target) -> Finding {
    Finding {
        code: codes::READ_BEFORE_BOUND,
        severity: Severity::Note,
        path: target.path.clone(),
        span: None,
        message: "what arrives here stands at the end, below the imports that it needs: at the head a name would be read before it is bound".to_owned(),
        help: None,
    }
}

/// Insertions of an empty text, one after the other.
fn at_start(edits: Vec<Edit>) -> Vec<Edit> {
    let text = edits.into_iter().map(|edit| edit.text).collect::<String>();
    vec![Edit::insert(0, text)]
}

/// Whether a block has types that are not evaluated where it comes from, and were elsewhere.
fn is_unevaluated(source: &Source, block: &Block) -> bool {
    let mut uses = source.analysis.uses_in(&block.extents);
    source::has_future(&source.analysis)
        && uses.any(|used| used.evaluated == Evaluated::WithoutFuture)
}

/// Where the import of a feature goes in a file, and the line breaks around it.
fn place_of_future<'n>(target: &Target, newline: &'n str) -> (u32, &'n str, &'n str) {
    let docs = target.outline.statements.first();
    let docs = docs.filter(|first| first.kind == Kind::Documentation);
    let mut statements = target.outline.statements.iter();
    let future = statements.find(|each| each.kind == Kind::Future);
    match (future, docs) {
        (Some(future), _) => (cut::line_end(&target.text, future.span.end), "", ""),
        (None, Some(docs)) => (cut::line_end(&target.text, docs.span.end), newline, ""),
        (None, None) => (cut::heading_end(&target.text, &target.outline), "", newline),
    }
}
