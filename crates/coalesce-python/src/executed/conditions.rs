//! What comes to be run for certain, and was run under a condition before, or by nobody.
//!
//! `if cp is not None: from pkg.gpu import kernels` says that `kernels` cannot be run everywhere. When a change
//! makes another module import it without that condition, or under another one, what it does at import is read
//! (`at_import`), and so is the text of an item that arrives where its old module was not run.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{Change, Guard, Import, ImportTarget, Texts, Unproven};
use ruff_python_ast::{self as ast, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Imports, ModuleSet, MovedItem, Runs, at_import::Strictness, earlier, effects::ImportEffects,
    forwarded_to, moved_items,
};
use crate::{graph::PythonGraph, order::parents, parser};

/// Parts of names of modules that nobody's code imports: whether they can be run says nothing.
const APART: [&str; 9] = [
    "main__",
    "benchmark",
    "benchmarks",
    "conftest",
    "docs",
    "example",
    "examples",
    "test",
    "tests",
];

/// What is told of texts that come to be run.
pub(super) fn newly_run(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    now: &[Option<usize>],
    imported: &ImportEffects<'_, '_>,
) -> Vec<Unproven> {
    let reader = imported.reader();
    let was = earlier(before, after, now);
    let (old, new) = (Edges::new(before), Edges::new(after));
    let mut comparison = ImportComparison {
        before,
        after,
        was: &was,
        conditions: Conditions::new(before, &old, reader.texts()),
        old: &old,
        new: &new,
        imported,
        told: BTreeMap::new(),
    };
    comparison.items(changes);
    comparison.modules();
    comparison.told.into_values().flatten().collect()
}

/// How a module comes to import another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Way {
    /// Whenever it is executed.
    Certain,
    /// When something is called or asked for.
    Later,
    /// Under a condition, or where a failure is caught.
    Perhaps,
}

/// Importer, imported, way and place.
type ImportEdge = (usize, usize, Way, u32);

/// The imports of a graph by their conditions.
struct Edges {
    /// In the order of importers; the packages around what is imported included.
    all: Vec<ImportEdge>,
    /// Where those of each importer begin.
    starts: Vec<usize>,
    /// What runs for certain.
    certain: Imports,
}

impl Edges {
    fn new(graph: &PythonGraph) -> Self {
        let around = parents(graph);
        let imports = graph.imports.iter();
        let mut all: Vec<ImportEdge> = imports
            .flat_map(|import| edges_of(graph, &around, import))
            .collect();
        all.sort_unstable();
        all.dedup_by_key(|(importer, target, way, _)| (*importer, *target, *way));
        let count = graph.modules.len();
        let starts = (0..=count).map(|module| all.partition_point(|edge| edge.0 < module));
        let starts = starts.collect();
        let runs = certain_runs(graph, &around, &all);
        Self {
            all,
            starts,
            certain: Imports { runs, around },
        }
    }

    fn of(&self, module: usize) -> &[ImportEdge] {
        let range = self.starts.get(module).zip(self.starts.get(module + 1));
        range
            .and_then(|(start, end)| self.all.get(*start..*end))
            .unwrap_or_default()
    }

    /// The imports of one module by another one that is not for tests or the like.
    fn counted(&self, apart: &[bool]) -> impl Iterator<Item = &ImportEdge> {
        let counts = |importer: usize| apart.get(importer) != Some(&true);
        let all = self.all.iter();
        all.filter(move |edge| counts(edge.0) && edge.0 != edge.1)
    }
}

/// What an import leads to: the module, and the packages around it.
fn edges_of(graph: &PythonGraph, around: &[Option<usize>], import: &Import) -> Vec<ImportEdge> {
    let ImportTarget::Module(target) = import.target else {
        return Vec::new();
    };
    let Some(way) = way_of(graph, import) else {
        return Vec::new();
    };
    let around = |one: &usize| around.get(*one).copied().flatten();
    // The packages around the importer run before it, whatever it imports.
    let own: Vec<usize> = std::iter::successors(Some(import.importer), around).collect();
    let above = std::iter::successors(Some(target), around);
    let above = above.filter(|target| !own.contains(target));
    above
        .map(|target| (import.importer, target, way, import.span.start))
        .collect()
}

/// How an import comes to be executed; nothing where it never is.
fn way_of(graph: &PythonGraph, import: &Import) -> Option<Way> {
    let facts = graph.facts.get(import.importer)?;
    let at = import.span.start;
    let before = facts.imports.partition_point(|one| one.span.start <= at);
    let statement = before
        .checked_sub(1)
        .and_then(|found| facts.imports.get(found));
    let conditional =
        statement.is_some_and(|statement| statement.span.end >= at && statement.conditional);
    match import.guard {
        Guard::TypeChecking => None,
        Guard::None if !conditional && import.eager => Some(Way::Certain),
        Guard::None if !conditional => Some(Way::Later),
        _ => Some(Way::Perhaps),
    }
}

/// The modules that each module runs for certain.
fn certain_runs(
    graph: &PythonGraph,
    around: &[Option<usize>],
    edges: &[ImportEdge],
) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = vec![Vec::new(); graph.modules.len()];
    for (importer, target, way, _) in edges {
        if let (Way::Certain, Some(list)) = (way, runs.get_mut(*importer)) {
            list.push(*target);
        }
    }
    for (module, list) in runs.iter_mut().enumerate() {
        list.extend(around.get(module).copied().flatten());
        list.extend(forwarded_to(graph, module));
    }
    runs
}

/// Under which conditions modules are imported.
struct Conditions<'g> {
    graph: &'g PythonGraph,
    edges: &'g Edges,
    texts: &'g dyn Texts,
    /// Those that are for tests or the like.
    apart: Vec<bool>,
    /// Whether a module is only ever imported under a condition.
    conditional: Vec<bool>,
    /// Whether some module imports it for certain.
    imported: Vec<bool>,
    /// The texts of the conditions of each that is conditional: modules are parsed for them, so once somebody asks.
    worded: OnceCell<FxHashMap<usize, BTreeSet<String>>>,
}

impl<'g> Conditions<'g> {
    fn new(graph: &'g PythonGraph, edges: &'g Edges, texts: &'g dyn Texts) -> Self {
        let count = graph.modules.len();
        let modules = graph.modules.iter();
        let apart: Vec<bool> = modules.map(|one| is_apart(&one.name)).collect();
        Self {
            graph,
            edges,
            texts,
            conditional: conditional_modules(edges, &apart, count),
            imported: imported_for_certain(edges, &apart, count),
            apart,
            worded: OnceCell::new(),
        }
    }

    fn worded(&self) -> &FxHashMap<usize, BTreeSet<String>> {
        self.worded.get_or_init(|| self.word())
    }

    /// Collects the conditions of what is conditional, those of what imports it for certain included.
    fn word(&self) -> FxHashMap<usize, BTreeSet<String>> {
        let mut worded = FxHashMap::<usize, BTreeSet<String>>::default();
        let mut open = Vec::new();
        for edges in self.edges.all.chunk_by(|one, next| one.0 == next.0) {
            for (target, text) in self.conditions_of(edges) {
                if worded.entry(target).or_default().insert(text.clone()) {
                    open.push((target, text));
                }
            }
        }
        while let Some((module, text)) = open.pop() {
            let edges = self.edges.of(module).iter();
            let certain = edges.filter(|edge| edge.2 != Way::Perhaps);
            let follows = certain.map(|edge| edge.1).filter(|target| {
                self.is_conditional(*target)
                    && worded.entry(*target).or_default().insert(text.clone())
            });
            open.extend(follows.map(|target| (target, text.clone())));
        }
        worded
    }

    /// What the imports of one module stand under that lead to what is conditional.
    fn conditions_of(&self, edges: &[ImportEdge]) -> Vec<(usize, String)> {
        let edges: Vec<&ImportEdge> = edges
            .iter()
            .filter(|edge| edge.2 == Way::Perhaps && self.apart.get(edge.0) != Some(&true))
            .filter(|edge| self.is_conditional(edge.1))
            .collect();
        let Some(first) = edges.first() else {
            return Vec::new();
        };
        let texts = self.texts_of(first.0, edges.iter().map(|edge| edge.3));
        edges.iter().map(|edge| edge.1).zip(texts).collect()
    }

    fn is_conditional(&self, module: usize) -> bool {
        self.conditional.get(module) == Some(&true)
    }

    /// Whether a module that is run under a condition can be run under each of these.
    fn permits(&self, module: usize, conditions: &BTreeSet<String>) -> bool {
        let known = self.worded().get(&module);
        !conditions.is_empty() && known.is_some_and(|known| conditions.is_subset(known))
    }

    fn of(&self, module: usize) -> BTreeSet<String> {
        self.worded().get(&module).cloned().unwrap_or_default()
    }

    /// The texts of what imports of one module stand under.
    fn texts_of(&self, importer: usize, places: impl Iterator<Item = u32>) -> Vec<String> {
        let text = self.graph.modules.get(importer);
        let text = text.and_then(|module| self.texts.text(&module.path));
        let Some(text) = text else {
            return places.map(|_| String::new()).collect();
        };
        let (parsed, start) = parser::parse_module(&text);
        let source = text.get(start as usize..).unwrap_or_default();
        let enclosing = |at: u32| {
            let at = at.saturating_sub(start);
            let mut parts = Vec::new();
            ImportPlace { at, source }.enclosing(parser::statements(&parsed), &mut parts);
            parts.join(" and ")
        };
        places.map(enclosing).collect()
    }
}

/// For each module whether it is only ever imported under a condition, by those that count.
fn conditional_modules(edges: &Edges, apart: &[bool], count: usize) -> Vec<bool> {
    let counts = |importer: usize| apart.get(importer) != Some(&true);
    let mut conditional = led_to_by_conditions(edges, apart, count);
    // What somebody imports without one is free of it, and so is what that imports. A package at the top is
    // there to be imported.
    let around = |module: usize| edges.certain.around.get(module).copied().flatten();
    let mut free: Vec<usize> = (0..count)
        .filter(|module| conditional.get(*module) == Some(&false) || around(*module).is_none())
        .filter(|module| counts(*module))
        .collect();
    while let Some(module) = free.pop() {
        if let Some(mark) = conditional.get_mut(module) {
            *mark = false;
        }
        let imported = edges
            .of(module)
            .iter()
            .filter(|edge| edge.2 != Way::Perhaps);
        let imported = imported.map(|edge| edge.1).chain(around(module));
        free.extend(imported.filter(|target| conditional.get(*target) == Some(&true)));
    }
    conditional
}

/// For each module whether a condition leads to it, or to what imports it.
fn led_to_by_conditions(edges: &Edges, apart: &[bool], count: usize) -> Vec<bool> {
    let mut conditional = vec![false; count];
    let mut open: Vec<usize> = edges
        .counted(apart)
        .filter(|edge| edge.2 == Way::Perhaps)
        .map(|edge| edge.1)
        .collect();
    while let Some(module) = open.pop() {
        if let Some(mark) = conditional.get_mut(module).filter(|mark| !**mark) {
            *mark = true;
            open.extend(edges.of(module).iter().map(|edge| edge.1));
        }
    }
    conditional
}

/// For each module whether another one that counts imports it for certain.
fn imported_for_certain(edges: &Edges, apart: &[bool], count: usize) -> Vec<bool> {
    let mut imported = vec![false; count];
    for (_, target, way, _) in edges.counted(apart) {
        if let (Way::Certain, Some(mark)) = (way, imported.get_mut(*target)) {
            *mark = true;
        }
    }
    imported
}

/// Whether a module is for tests, examples or the like.
fn is_apart(name: &str) -> bool {
    name.split('.').any(|part| {
        let part = part.trim_start_matches('_');
        APART.contains(&part) || part.starts_with("test_") || part.ends_with("_test")
    })
}

/// Where an import stands.
struct ImportPlace<'s> {
    at: u32,
    source: &'s str,
}

impl ImportPlace<'_> {
    /// The conditions that it stands under, from outside.
    fn enclosing(&self, suite: &[Stmt], parts: &mut Vec<String>) {
        let found = suite.iter().find(|statement| self.is_in(statement.range()));
        let Some(statement) = found else { return };
        let inner: &[Stmt] = match statement {
            Stmt::If(found) => self.branch(found, parts),
            Stmt::Try(found) => self.block_of_try(found, parts),
            Stmt::With(found) => &found.body,
            Stmt::For(found) => &found.body,
            Stmt::While(found) => &found.body,
            Stmt::FunctionDef(found) => &found.body,
            Stmt::ClassDef(found) => &found.body,
            _ => return,
        };
        self.enclosing(inner, parts);
    }

    fn is_in(&self, range: TextRange) -> bool {
        range.start().to_u32() <= self.at && self.at < range.end().to_u32()
    }

    /// The words of a part of the text.
    fn text(&self, range: TextRange) -> String {
        let (start, end) = (range.start().to_usize(), range.end().to_usize());
        let words = self.source.get(start..end).unwrap_or_default();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The branch that it stands in, if any.
    fn branch<'a>(&self, found: &'a ast::StmtIf, parts: &mut Vec<String>) -> &'a [Stmt] {
        if found.body.iter().any(|one| self.is_in(one.range())) {
            parts.push(self.text(found.test.range()));
            return &found.body;
        }
        parts.push(format!("not ({})", self.text(found.test.range())));
        let mut clauses = found.elif_else_clauses.iter();
        let Some(clause) = clauses.find(|clause| self.is_in(clause.range())) else {
            return &[];
        };
        parts.extend(clause.test.as_ref().map(|test| self.text(test.range())));
        &clause.body
    }

    fn block_of_try<'a>(&self, found: &'a ast::StmtTry, parts: &mut Vec<String>) -> &'a [Stmt] {
        let holds = |suite: &[Stmt]| suite.iter().any(|one| self.is_in(one.range()));
        let mut handlers = found.handlers.iter();
        match handlers.find(|handler| self.is_in(handler.range())) {
            Some(ast::ExceptHandler::ExceptHandler(handler)) => {
                parts.push("a failure".to_owned());
                &handler.body
            }
            None if holds(&found.body) => {
                let first = found.body.first().map(|first| self.text(first.range()));
                parts.push(format!("try {}", first.unwrap_or_default()));
                &found.body
            }
            None if holds(&found.orelse) => {
                parts.push("no failure".to_owned());
                &found.orelse
            }
            None => &found.finalbody,
        }
    }
}

struct ImportComparison<'g> {
    before: &'g PythonGraph,
    after: &'g PythonGraph,
    was: &'g [Option<usize>],
    conditions: Conditions<'g>,
    old: &'g Edges,
    new: &'g Edges,
    imported: &'g ImportEffects<'g, 'g>,
    /// By module and item, each once.
    told: BTreeMap<(usize, String), Vec<Unproven>>,
}

impl ImportComparison<'_> {
    fn was(&self, module: usize) -> Option<usize> {
        self.was.get(module).copied().flatten()
    }

    /// Items whose text arrives where the module that they leave was not run.
    fn items(&mut self, changes: &[Change]) {
        let mut runs = Runs::new(&self.old.certain);
        let mut along = BTreeMap::new();
        for moved in moved_items(self.before, self.after, changes) {
            let MovedItem { home, arrives, .. } = moved;
            let arrived = self.was(arrives);
            if arrived.is_some_and(|arrived| runs.of(arrived).has(home)) {
                continue;
            }
            let same = arrived.is_some_and(|arrived| {
                let conditions = self.conditions.of(arrived);
                self.conditions.permits(home, &conditions)
            });
            let strictness = match self.conditions.is_conditional(home) && !same {
                true => Strictness::Condition,
                false => Strictness::Value,
            };
            self.read(home, Some(moved.item), strictness, arrives);
            // What else it does when it is made comes at another time.
            let registers = self.imported.told().of_item(home, moved.item).is_some();
            let told = self.told.get_mut(&(home, moved.item.to_owned()));
            let told = told.filter(|_| registers);
            if let Some(told) = told.filter(|told| !told.is_empty())
                && *along.entry((home, arrives)).or_insert_with(|| {
                    is_run_along((self.old, self.new), self.was, (home, arrives))
                })
            {
                told.clear();
            }
        }
    }

    /// Modules that others come to run.
    fn modules(&mut self) {
        let (mut old_runs, mut new_runs) =
            (Runs::new(&self.old.certain), Runs::new(&self.new.certain));
        for importer in 0..self.after.modules.len() {
            let Some(importer_was) = self.was(importer) else {
                continue;
            };
            let old = self.old.of(importer_was).iter();
            let known: FxHashSet<(usize, Way)> = old.map(|edge| (edge.1, edge.2)).collect();
            let new = self.new_edges(importer, &known);
            if new.is_empty() {
                continue;
            }
            let ran = old_runs.of(importer_was);
            let lost = self.lost_edges(importer, &known);
            for edge in new {
                // Under the same condition as what it replaces.
                let mut before = vec![ran.clone()];
                let same = |lost: &&(usize, Way)| edge.2 != Way::Certain && lost.1 == edge.2;
                before.extend(lost.iter().filter(same).map(|lost| old_runs.of(lost.0)));
                self.run_by_edge(edge, importer_was, &new_runs.of(edge.1), &before);
            }
        }
    }

    /// The imports of a module that it did not have, or not in that way.
    fn new_edges(&self, importer: usize, known: &FxHashSet<(usize, Way)>) -> Vec<ImportEdge> {
        let edges = self.new.of(importer).iter();
        let is_new = |edge: &&(usize, usize, Way, u32)| {
            let was = self.was(edge.1);
            was.is_none_or(|was| {
                !known.contains(&(was, edge.2)) && !known.contains(&(was, Way::Certain))
            })
        };
        edges.filter(is_new).copied().collect()
    }

    /// The imports that a module had and has no longer.
    fn lost_edges(&self, importer: usize, known: &FxHashSet<(usize, Way)>) -> Vec<(usize, Way)> {
        let kept: FxHashSet<(usize, Way)> = self
            .new
            .of(importer)
            .iter()
            .filter_map(|edge| Some((self.was(edge.1)?, edge.2)))
            .collect();
        let known = known.iter();
        known.filter(|edge| !kept.contains(edge)).copied().collect()
    }

    /// What an import runs that none of those ran `before`.
    fn run_by_edge(
        &mut self,
        (importer, _, way, at): ImportEdge,
        importer_was: usize,
        runs: &ModuleSet,
        before: &[ModuleSet],
    ) {
        let gained = runs.members().filter_map(|module| self.was(module));
        let gained: Vec<usize> = gained
            .filter(|module| !before.iter().any(|ran| ran.has(*module)))
            .collect();
        let conditions = match way {
            Way::Perhaps => self.condition_at(importer, importer_was, at),
            Way::Certain | Way::Later => self.conditions.of(importer_was),
        };
        self.come_to_be_run(importer, &gained, &conditions);
    }

    /// Reads the modules that one comes to run under a condition.
    fn come_to_be_run(&mut self, by: usize, gained: &[usize], conditions: &BTreeSet<String>) {
        for module in gained {
            let strictness = self.strictness(*module, conditions);
            self.read(*module, None, strictness, by);
        }
    }

    /// The condition of an import, whose text stands where it stood.
    fn condition_at(&self, importer: usize, importer_was: usize, at: u32) -> BTreeSet<String> {
        let line = |graph: &PythonGraph, module: usize| {
            let mut imports = graph
                .imports
                .iter()
                .filter(|import| import.importer == module);
            imports
                .find(|import| import.span.start == at)
                .map(|import| import.line)
        };
        let Some(line) = line(self.after, importer) else {
            return BTreeSet::new();
        };
        let imports = self
            .before
            .imports
            .iter()
            .filter(|import| import.importer == importer_was);
        let mut near = imports.filter(|import| import.line == line);
        let place = near.next().map(|import| import.span.start);
        place
            .map(|at| self.conditions.texts_of(importer_was, [at].into_iter()))
            .map(BTreeSet::from_iter)
            .unwrap_or_default()
    }

    fn strictness(&self, module: usize, conditions: &BTreeSet<String>) -> Strictness {
        if self.conditions.is_conditional(module) {
            return match self.conditions.permits(module, conditions) {
                true => Strictness::Names,
                false => Strictness::Condition,
            };
        }
        match self.conditions.imported.get(module) {
            Some(true) => Strictness::Names,
            _ => Strictness::Value,
        }
    }

    fn read(&mut self, module: usize, item: Option<&str>, strictness: Strictness, by: usize) {
        let key = (module, item.unwrap_or_default().to_owned());
        if self.told.contains_key(&key) {
            return;
        }
        let (Some(found), Some(by)) = (self.before.modules.get(module), self.after.modules.get(by))
        else {
            return;
        };
        let problems = self.imported.problems(module, item, strictness);
        if problems.is_empty() {
            return;
        }
        let unproven = problems.into_iter().map(|problem| Unproven {
            path: found.path.clone(),
            span: Some(problem.span),
            kind: problem.kind,
            name: full_name(&found.name, item),
            why: reason(&by.name, strictness, &problem.what),
        });
        self.told.insert(key, unproven.collect());
    }
}

/// Whether all who come to run a module ran another one before, and somebody does: that it is imported alone is nobody's
/// way to it.
fn is_run_along(
    (old, new): (&Edges, &Edges),
    was: &[Option<usize>],
    (home, arrives): (usize, usize),
) -> bool {
    let mut runs = Runs::new(&old.certain);
    let mut roots = new.certain.leading_to(&[arrives]);
    // Those who import it later, or under a condition, come to run it as well.
    let later = new.all.iter().filter(|edge| edge.1 == arrives);
    roots.extend(later.map(|edge| edge.0));
    let mut others = roots.into_iter().filter(|root| *root != arrives).peekable();
    let any = others.peek().is_some();
    any && others.all(|root| {
        let root = was.get(root).copied().flatten();
        root.is_some_and(|root| runs.of(root).has(home))
    })
}

fn full_name(module: &str, item: Option<&str>) -> String {
    match item {
        Some(item) => format!("{module}.{item}"),
        None => module.to_owned(),
    }
}

/// Why a text that `by` comes to run is told of, and that it was run under a condition where it is read so closely.
fn reason(by: &str, strictness: Strictness, what: &str) -> String {
    let under = match strictness {
        Strictness::Condition => ", and was run under a condition only",
        Strictness::Value | Strictness::Names => "",
    };
    format!("importing `{by}` comes to run it{under}; {what}")
}
