//! Every place that names a module or an item.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;
use coalesce_model::{ByteSpan, Certainty, Form, Reference, Texts, TreePath};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{
    analysis::{Analysis, Use},
    extract::is_dotted,
    facts::{FromPart, ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
    names::Names,
};

/// The references of each of `names`, its own definition left out, sorted. Each file is read once, however many
/// they are.
pub fn references(graph: &PythonGraph, names: &[&str], texts: &dyn Texts) -> Vec<Vec<Reference>> {
    let aliases = aliases(graph);
    let sought = names.iter().map(|name| {
        let targets = graph.lookup_all(name);
        let spellings = spellings(graph, &aliases, name, &targets);
        (targets, spellings)
    });
    let (targets, spellings): (Vec<_>, Vec<_>) = sought.unzip();
    Mentions::new(&spellings).references(graph, texts, |file, at| {
        targets.get(at).map(|targets| in_file(file, targets))
    })
}

/// Which of several names a text may mention.
#[derive(Default)]
pub(crate) struct Mentions {
    /// `None` where nothing is sought.
    finder: Option<AhoCorasick>,
    /// For each pattern the numbers of its names: thousands may share a word.
    owners: Vec<Vec<usize>>,
    /// How many names there are.
    count: usize,
}

impl Mentions {
    /// For each name the words it may be written as; without a word it is mentioned nowhere.
    pub(crate) fn new<'s, W>(words: &'s [W]) -> Self
    where
        &'s W: IntoIterator<Item = &'s String>,
    {
        let all = words.iter().enumerate();
        let all = all.flat_map(|(at, words)| words.into_iter().map(move |word| (at, word)));
        let mut by_word: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
        for (at, word) in all {
            by_word.entry(word).or_default().push(at);
        }
        let (patterns, owners): (Vec<&String>, Vec<Vec<usize>>) = by_word.into_iter().unzip();
        let finder = (!patterns.is_empty()).then(|| {
            AhoCorasick::new(&patterns)
                .expect("invariant: names of a tree that was read are fewer than 2³¹ states")
        });
        Self {
            finder,
            owners,
            count: words.len(),
        }
    }

    /// For each name what `find` finds of it in the files that mention it, sorted. Each file is read once, none where there
    /// is nothing to look for; `find` gives `None` where the file is not to be looked through for the name.
    pub(crate) fn references(
        &self,
        graph: &PythonGraph,
        texts: &dyn Texts,
        find: impl Fn(&SearchedFile<'_>, usize) -> Option<Vec<Reference>> + Sync,
    ) -> Vec<Vec<Reference>> {
        if self.finder.is_none() {
            return vec![Vec::new(); self.count];
        }
        let per_file = graph.modules.par_iter().enumerate().map(|(module, found)| {
            let text = texts.text(&found.path);
            text.map(|text| self.found_in(graph, module, &text, &find))
                .unwrap_or_default()
        });
        let mut by_name = vec![Vec::new(); self.count];
        for (at, found) in per_file.flatten().collect::<Vec<_>>() {
            if let Some(own) = by_name.get_mut(at) {
                own.extend(found);
            }
        }
        by_name.iter_mut().for_each(sort_each_once);
        by_name
    }

    /// What `find` finds in one file of the names that it mentions.
    fn found_in(
        &self,
        graph: &PythonGraph,
        module: usize,
        text: &str,
        find: &impl Fn(&SearchedFile<'_>, usize) -> Option<Vec<Reference>>,
    ) -> Vec<(usize, Vec<Reference>)> {
        let mentioned = self.of(text);
        let own = graph.modules.get(module);
        let Some(own) = own.filter(|_| !mentioned.is_empty()) else {
            return Vec::new();
        };
        let analysis = Analysis::new(text);
        let file = SearchedFile {
            graph,
            module,
            path: &own.path,
            text,
            names: Names::new(graph, Some(module), &analysis),
            analysis: &analysis,
        };
        let found = mentioned.into_iter();
        let found = found.filter_map(|at| Some((at, find(&file, at)?)));
        found.collect()
    }

    /// Whether a text may mention one of them.
    pub(crate) fn any(&self, text: &str) -> bool {
        let mut finder = self.finder.iter();
        finder.any(|finder| finder.is_match(text))
    }

    /// For each name the modules that may mention it.
    pub(crate) fn modules(&self, graph: &PythonGraph, texts: &dyn Texts) -> Vec<Vec<usize>> {
        if self.finder.is_none() {
            return vec![Vec::new(); self.count];
        }
        let of_each = graph.modules.par_iter().map(|module| {
            let text = texts.text(&module.path);
            text.map(|text| self.of(&text)).unwrap_or_default()
        });
        let mut by_name = vec![Vec::new(); self.count];
        let of_each: Vec<Vec<usize>> = of_each.collect();
        let mentions = of_each.into_iter().enumerate();
        let mentions = mentions
            .flat_map(|(module, mentioned)| mentioned.into_iter().map(move |at| (module, at)));
        for (module, at) in mentions {
            if let Some(own) = by_name.get_mut(at) {
                own.push(module);
            }
        }
        by_name
    }

    /// The numbers of names that this text mentions, sorted.
    pub(crate) fn of(&self, text: &str) -> Vec<usize> {
        let found = self.finder.iter();
        let found = found.flat_map(|finder| finder.find_overlapping_iter(text));
        let words: BTreeSet<usize> = found.map(|found| found.pattern().as_usize()).collect();
        let owners = words.into_iter().filter_map(|word| self.owners.get(word));
        let names: BTreeSet<usize> = owners.flatten().copied().collect();
        names.into_iter().collect()
    }
}

fn last_of(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// For the last part of each name that some import renames, what it is called then.
fn aliases(graph: &PythonGraph) -> FxHashMap<&str, BTreeSet<&str>> {
    let mut aliases: FxHashMap<&str, BTreeSet<&str>> = FxHashMap::default();
    let imports = graph.facts.iter().flat_map(|facts| &facts.imports);
    for leaf in imports.flat_map(|import| &import.leaves) {
        if let Some(alias) = leaf.alias.as_ref().filter(|alias| !alias.text.is_empty()) {
            let of = aliases.entry(last_of(&leaf.name.text)).or_default();
            of.insert(&alias.text);
        }
    }
    aliases
}

/// The last segment of the name, and every alias that some import gives it. Nothing for what is not there.
fn spellings(
    graph: &PythonGraph,
    aliases: &FxHashMap<&str, BTreeSet<&str>>,
    name: &str,
    targets: &[Entity],
) -> BTreeSet<String> {
    if targets.is_empty() {
        return BTreeSet::new();
    }
    let full = targets.iter().filter_map(|target| graph.full_name(target));
    let full = full.map(|name| last_of(&name).to_owned());
    let mut open: Vec<String> = full.chain([last_of(name).to_owned()]).collect();
    let mut spellings = BTreeSet::new();
    while let Some(spelling) = open.pop() {
        if spellings.contains(&spelling) {
            continue;
        }
        let renamed = aliases.get(spelling.as_str()).into_iter().flatten();
        open.extend(renamed.map(|alias| (*alias).to_owned()));
        spellings.insert(spelling);
    }
    spellings
}

/// A file that is looked through for one name after the other.
pub(crate) struct SearchedFile<'a> {
    pub(crate) graph: &'a PythonGraph,
    pub(crate) module: usize,
    pub(crate) path: &'a TreePath,
    pub(crate) text: &'a str,
    pub(crate) analysis: &'a Analysis,
    pub(crate) names: Names<'a>,
}

fn sort_each_once(found: &mut Vec<Reference>) {
    found.sort();
    found.dedup_by(|a, b| a.path == b.path && a.span == b.span);
}

fn in_file(file: &SearchedFile<'_>, targets: &[Entity]) -> Vec<Reference> {
    let (graph, module, analysis) = (file.graph, file.module, file.analysis);
    let mut finder = Finder {
        graph,
        module,
        path: file.path,
        targets,
        found: Vec::new(),
    };
    finder.imports(analysis);
    let definition = finder.definition(&own_definitions(analysis, module, targets));
    for used in &analysis.uses {
        finder.chain(used, &file.names, definition);
    }
    for entry in analysis.all.iter().flatten() {
        if targets.contains(&graph.member(module, &entry.text)) {
            finder.push(entry.span, vec![entry.span], Form::ExportList);
        }
    }
    finder.strings(analysis, file.text);
    finder.found
}

/// Where the file itself binds the item. With several places none is more the definition than
/// another.
fn own_definitions(analysis: &Analysis, module: usize, targets: &[Entity]) -> Vec<ByteSpan> {
    let own = targets.iter().filter_map(|target| match target {
        Entity::Item(owner, item) if *owner == module => Some(item),
        _ => None,
    });
    let Some(scope) = analysis.scopes.first() else {
        return Vec::new();
    };
    own.filter_map(|item| scope.bindings.get(item))
        .flatten()
        .filter(|binding| binding.import.is_none())
        .map(|binding| binding.span)
        .collect()
}

struct Finder<'a> {
    graph: &'a PythonGraph,
    module: usize,
    path: &'a TreePath,
    targets: &'a [Entity],
    found: Vec<Reference>,
}

/// How a part of a chain is written, of a use that may bind its first name.
const fn form_of_part(store: bool, at: usize) -> Form {
    match store && at == 0 {
        true => Form::Binding,
        false => Form::Path,
    }
}

impl Finder<'_> {
    /// What the import statements name, and what is imported as they would.
    fn imports(&mut self, analysis: &Analysis) {
        for (import, _) in &analysis.imports {
            self.import(import);
        }
        for each in &analysis.lazy.imports {
            self.lazy(&each.import);
        }
        for (found, ..) in &analysis.run_time {
            self.run_time(&found.from);
        }
    }

    /// The one place where the file itself binds the item; several are references like others.
    fn definition(&mut self, places: &[ByteSpan]) -> Option<ByteSpan> {
        if let [only] = places {
            return Some(*only);
        }
        for span in places {
            self.push(*span, vec![*span], Form::Binding);
        }
        None
    }

    fn push(&mut self, span: ByteSpan, segments: Vec<ByteSpan>, form: Form) {
        self.found.push(Reference {
            path: self.path.clone(),
            span,
            segments,
            form,
            certainty: Certainty::Exact,
        });
    }

    /// The parts of a chain that lead to what is looked for, but for its definition.
    fn chain<'a>(&mut self, used: &'a Use, names: &Names<'a>, definition: Option<ByteSpan>) {
        let meanings = names.meanings(used);
        let spans: Vec<ByteSpan> = meanings.iter().map(|one| one.segment.span).collect();
        for (at, (meaning, span)) in meanings.iter().zip(&spans).enumerate() {
            let entity = meaning.entity.as_ref();
            let is_meant = entity.is_some_and(|entity| self.targets.contains(entity));
            if is_meant && Some(*span) != definition {
                let form = form_of_part(used.store, at);
                let segments = spans.iter().take(at + 1).copied();
                self.push(*span, segments.collect(), form);
            }
        }
    }

    fn import(&mut self, import: &ImportStatement) {
        if let Some(from) = &import.from
            && let Some(base) = self.graph.base_module(self.module, import)
        {
            self.base(import, from, base);
        }
        for leaf in &import.leaves {
            self.leaf(import, leaf);
        }
    }

    /// The `from` part of a statement that names the module `base`.
    fn base(&mut self, import: &ImportStatement, from: &FromPart, base: usize) {
        if self.targets.contains(&Entity::Module(base)) {
            let star = import.leaves.iter().any(|leaf| leaf.name.text == "*");
            let form = if star { Form::Glob } else { Form::ImportFrom };
            self.push(from.span, vec![from.span], form);
        } else if from.level == 0 {
            self.prefixes(&from.module, from.span, Form::ImportFrom);
        }
    }

    fn leaf(&mut self, import: &ImportStatement, leaf: &Leaf) {
        if leaf.name.text == "*" {
            return;
        }
        if self
            .targets
            .contains(&self.graph.leaf_entity(self.module, import, leaf))
        {
            let form = if import.from.is_some() {
                Form::ImportFrom
            } else {
                Form::Import
            };
            self.push(leaf.name.span, vec![leaf.name.span], form);
        } else if import.from.is_none() {
            self.prefixes(&leaf.name.text, leaf.name.span, Form::Import);
        }
    }

    /// An entry of a table that says an import.
    fn lazy(&mut self, import: &ImportStatement) {
        if let Some(from) = &import.from
            && let Some(base) = self.graph.base_module(self.module, import)
            && self.targets.contains(&Entity::Module(base))
        {
            self.push(from.span, vec![from.span], Form::String);
        }
        for leaf in &import.leaves {
            let entity = self.graph.leaf_entity(self.module, import, leaf);
            if self.targets.contains(&entity) {
                self.push(leaf.name.span, vec![leaf.name.span], Form::String);
            }
        }
    }

    /// A module that a call imports by a text that is more than its full name.
    fn run_time(&mut self, from: &FromPart) {
        let package = self.graph.package_of(self.module);
        let found = from
            .absolute(package)
            .and_then(|name| self.graph.find(Some(self.module), &name));
        if found.is_some_and(|found| self.targets.contains(&Entity::Module(found))) {
            self.push(from.span, vec![from.span], Form::String);
        }
    }

    /// The packages that a dotted name leads through.
    fn prefixes(&mut self, name: &str, span: ByteSpan, form: Form) {
        if name.len() != span.len() as usize {
            return;
        }
        for (at, _) in name.match_indices('.') {
            let prefix = name
                .get(..at)
                .and_then(|prefix| self.graph.find(Some(self.module), prefix));
            if prefix.is_some_and(|prefix| self.targets.contains(&Entity::Module(prefix))) {
                let start = name
                    .get(..at)
                    .and_then(|prefix| prefix.rfind('.'))
                    .map_or(0, |dot| dot + 1);
                let segment =
                    ByteSpan::from_range(span.start as usize + start..span.start as usize + at);
                self.push(segment, vec![segment], form);
            }
        }
    }

    /// Strings that are a full name of the target and nothing else, and entry points (`pkg.old:item`).
    fn strings(&mut self, analysis: &Analysis, text: &str) {
        for string in analysis
            .strings
            .iter()
            .filter(|string| !string.documentation)
        {
            let Some(content) = string.span.of(text) else {
                continue;
            };
            let named = match content.split_once(':') {
                Some((module, item)) if is_dotted(module) && is_dotted(item) => {
                    self.graph.lookup(&format!("{module}.{item}"))
                }
                None if is_dotted(content) => self.graph.lookup(content),
                _ => continue,
            };
            if self.targets.contains(&named) {
                self.push(string.span, vec![string.span], Form::String);
            }
        }
    }
}
