//! Names that modules have no longer, where others read them as attributes, or name them in texts.
//!
//! An import that fails afterwards is seen by itself. `run.gpu.load()` imports nothing but `run`: that `run` has no `gpu` any
//! more, or that module no `load`, shows where the chain is followed in the planned tree.

mod printed;

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{
    ByteSpan, Change, Finding, Module, Refusal, Texts, TreePath, Unproven, UnprovenKind,
    change::Renames, language::LookupRegressions,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    analysis::{Analysis, Use},
    extract::is_dotted,
    graph::{Entity, PythonGraph},
    names::{Names, literal_at},
    references::{Mentions, SearchedFile},
};

/// What the modules of the planned tree have no longer.
struct Lost<'g> {
    after: &'g PythonGraph,
    /// Of modules by their number there.
    names: FxHashMap<usize, FxHashSet<String>>,
}

/// What leads nowhere in the tree `after`, and did not in the one `before`.
pub fn regressions(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    before_texts: &dyn Texts,
    after_texts: &dyn Texts,
) -> LookupRegressions {
    let mut found = LookupRegressions {
        unproven: printed::changed((before, before_texts), (after, after_texts)),
        ..LookupRegressions::default()
    };
    let lost = Lost::new(before, after, changes);
    let names: FxHashSet<&String> = lost.names.values().flatten().collect();
    if names.is_empty() {
        return found;
    }
    let mentions = mentions_of(&names);
    let origins = origins(before, after, changes);
    for (module, own) in after.modules.iter().enumerate() {
        let text = after_texts
            .text(&own.path)
            .filter(|text| mentions.any(text));
        let Some(text) = text else { continue };
        let origin = origins.get(&module).map_or(&own.path, |path| *path);
        lost.in_file(module, &text, &Place::new(origin, before_texts), &mut found);
    }
    found
}

/// Finds the texts that may mention one of these names as an attribute, or in quotes.
fn mentions_of(names: &FxHashSet<&String>) -> Mentions {
    let words = names.iter().flat_map(|name| {
        let quoted = ['"', '\''].map(|quote| format!("{quote}{name}{quote}"));
        quoted.into_iter().chain([format!(".{name}")])
    });
    Mentions::new(&[words.collect::<Vec<String>>()])
}

/// The paths that the modules of the planned tree have now.
fn origins<'g>(
    before: &'g PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
) -> BTreeMap<usize, &'g TreePath> {
    let renames = Renames::new(changes, ".");
    let moved = before.modules.iter().filter_map(|module| {
        let name = renames.renamed(&module.name)?;
        let found = after.find(None, &name)?;
        let is_new = before.module_of(&after.modules.get(found)?.path).is_none();
        is_new.then_some((found, &module.path))
    });
    moved.collect()
}

/// A file as it is now, to point at what the planned one has.
struct Place<'p> {
    path: &'p TreePath,
    text: Option<Arc<str>>,
}

impl<'p> Place<'p> {
    fn new(path: &'p TreePath, texts: &dyn Texts) -> Self {
        Self {
            path,
            text: texts.text(path),
        }
    }

    /// Where something of the planned text stands now: at the same bytes, or where the text first has it.
    fn of(&self, span: ByteSpan, text: &str) -> Option<ByteSpan> {
        let now = self.text.as_deref()?;
        let content = span.of(text)?;
        if span.of(now) == Some(content) {
            return Some(span);
        }
        let at = memchr::memmem::find(now.as_bytes(), content.as_bytes())?;
        Some(ByteSpan::from_range(at..at + content.len()))
    }
}

/// Whether two modules are source, and their texts are not the same.
fn is_changed(
    (before, module): (&PythonGraph, usize),
    (after, now): (&PythonGraph, usize),
) -> bool {
    let facts = after.facts.get(now).zip(before.facts.get(module));
    let is_same = facts.is_some_and(|(new, old)| Arc::ptr_eq(new, old));
    let is_source =
        |found: Option<&Module>| found.is_some_and(|found| found.path.extension() == Some("py"));
    !is_same && is_source(before.modules.get(module)) && is_source(after.modules.get(now))
}

impl<'g> Lost<'g> {
    fn new(before: &PythonGraph, after: &'g PythonGraph, changes: &[Change]) -> Self {
        let renames = Renames::new(changes, ".");
        let mut names: FxHashMap<usize, FxHashSet<String>> = FxHashMap::default();
        for (module, own) in before.modules.iter().enumerate() {
            let now = match renames.renamed(&own.name) {
                Some(name) => after.find(None, &name),
                None => after.module_of(&own.path),
            };
            let changed = |now: &usize| is_changed((before, module), (after, *now));
            let Some(now) = now.filter(changed) else {
                continue;
            };
            let gone = before.bound_names(module).filter(|name| {
                before.member(module, name) != Entity::Missing
                    && after.member(now, name) == Entity::Missing
            });
            let gone: FxHashSet<String> = gone.map(str::to_owned).collect();
            if !gone.is_empty() {
                names.entry(now).or_default().extend(gone);
            }
        }
        Self { after, names }
    }

    /// What is lost in one file of the planned tree.
    fn in_file(&self, module: usize, text: &str, place: &Place<'_>, found: &mut LookupRegressions) {
        let Some(own) = self.after.modules.get(module) else {
            return;
        };
        let analysis = Analysis::new(text);
        let file = SearchedFile {
            graph: self.after,
            module,
            path: &own.path,
            text,
            names: Names::new(self.after, Some(module), &analysis),
            analysis: &analysis,
        };
        self.chains(&file, place, &mut found.refusals);
        self.texts(&file, place, &mut found.unproven);
    }

    fn has(&self, module: usize, name: &str) -> bool {
        let names = self.names.get(&module);
        names.is_some_and(|names| names.contains(name))
    }

    /// The chains of a file that read what is lost.
    fn chains(&self, file: &SearchedFile<'_>, place: &Place<'_>, refusals: &mut Vec<Finding>) {
        for used in &file.analysis.uses {
            let Some(length) = self.broken_at(file, used) else {
                continue;
            };
            let parts = used.chain.iter().take(length);
            let parts: Vec<&str> = parts.map(|part| part.text.as_str()).collect();
            let ends = used.chain.first().zip(used.chain.get(length - 1));
            let span =
                ends.and_then(|(first, last)| place.of(first.span.cover(last.span), file.text));
            let name = parts.join(".");
            let refusal = Refusal::UnresolvedAfter { name }.at(place.path, span);
            if !refusals.contains(&refusal) {
                refusals.push(refusal);
            }
        }
    }

    /// How many names of a chain lead to what is lost, itself included.
    fn broken_at(&self, file: &SearchedFile<'_>, used: &Use) -> Option<usize> {
        let meanings = file.names.meanings(used);
        let part = used.chain.get(meanings.len().max(1))?;
        let owner = match &meanings.last()?.entity {
            Some(Entity::Module(owner)) => *owner,
            _ => file
                .names
                .held_module(used.scope, used.chain.first()?)
                .filter(|_| meanings.len() == 1)?,
        };
        let length = meanings.len() + 1;
        let is_set = (used.assigned || used.store) && length == used.chain.len();
        (self.has(owner, &part.text) && !is_set).then_some(length)
    }

    /// The texts of a file that name what is lost, in full or behind the module: `getattr(gpu, "name")`.
    fn texts(&self, file: &SearchedFile<'_>, place: &Place<'_>, unproven: &mut Vec<Unproven>) {
        for literal in &file.analysis.strings {
            let Some(content) = literal.span.of(file.text) else {
                continue;
            };
            let full = is_dotted(content) && !literal.documentation;
            if full && let Some(name) = self.full_name(file.module, content) {
                let why = format!("the text names `{name}`, which is not there any more");
                unproven.push(told(place, (literal.span, file.text), content, why));
            }
        }
        let read = file.analysis.uses.iter();
        unproven.extend(read.filter_map(|used| self.read_by_text(file, place, used)));
    }

    /// A name that is lost and that a text reads of the module that it stands behind.
    fn read_by_text<'a>(
        &self,
        file: &SearchedFile<'a>,
        place: &Place<'_>,
        used: &'a Use,
    ) -> Option<Unproven> {
        let meanings = file.names.meanings(used);
        let whole = meanings.len() == used.chain.len();
        let Some(Entity::Module(owner)) = meanings.last()?.entity else {
            return None;
        };
        let last = used.chain.last().filter(|_| whole)?;
        let (span, name) = named_behind(file.text, last.span)?;
        let why = format!("`{name}` is read of a module by a text, and is not there any more");
        self.has(owner, name)
            .then(|| told(place, (span, file.text), name, why))
    }

    /// The part of a full name that leads nowhere any more.
    fn full_name<'n>(&self, from: usize, name: &'n str) -> Option<&'n str> {
        let (first, _) = name.split_once('.')?;
        let mut module = self.after.find(Some(from), first)?;
        let mut at = first.len();
        loop {
            let rest = name.get(at + 1..)?;
            let part = rest.split('.').next()?;
            let end = at + 1 + part.len();
            if self.has(module, part) {
                return name.get(..end);
            }
            match self.after.member(module, part) {
                Entity::Module(next) => (module, at) = (next, end),
                _ => return None,
            }
        }
    }
}

/// The literal behind a name and a comma.
pub(crate) fn named_behind(text: &str, span: ByteSpan) -> Option<(ByteSpan, &str)> {
    let rest = text.get(span.end as usize..)?;
    let quoted = rest.trim_start().strip_prefix(',')?.trim_start();
    let (name, _) = literal_at(quoted)?;
    let start = text.len() - quoted.len() + 1;
    Some((ByteSpan::from_range(start..start + name.len()), name))
}

fn told(place: &Place<'_>, (span, text): (ByteSpan, &str), name: &str, why: String) -> Unproven {
    Unproven {
        path: place.path.clone(),
        span: place.of(span, text),
        kind: UnprovenKind::DynamicImport,
        name: name.to_owned(),
        why,
    }
}
