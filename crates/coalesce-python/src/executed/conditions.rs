//! What comes to be run for certain, and was run under a condition before, or by nobody.
//!
//! `if cp is not None: from pkg.gpu import kernels` says that `kernels` cannot be run everywhere. When a change
//! makes another module import it without that condition, or under another one, what it does at import is read
//! (`at_import`), and so is the text of an item that arrives where its old module was not run.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Change, Guard, ImportTarget, Subject, Texts, Unproven};
use ruff_python_ast::{self as ast, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Imports, Runs, at_import::Strictness, earlier, effects::ImportEffects, forwarded_to};
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

/// The imports of a graph by their conditions.
struct Edges {
    /// Importer, imported, way and place, in the order of importers; the packages around what is imported
    /// included.
    all: Vec<(usize, usize, Way, u32)>,
    /// Where those of each importer begin.
    starts: Vec<usize>,
    /// What runs for certain.
    certain: Imports,
}

impl Edges {
    fn new(graph: &PythonGraph) -> Self {
        let around = parents(graph);
        let mut all = Vec::new();
        for import in &graph.imports {
            let (ImportTarget::Module(target), Some(facts)) =
                (&import.target, graph.facts.get(import.importer))
            else {
                continue;
            };
            let at = import.span.start;
            let before = facts.imports.partition_point(|one| one.span.start <= at);
            let statement = before
                .checked_sub(1)
                .and_then(|found| facts.imports.get(found));
            let conditional = statement
                .is_some_and(|statement| statement.span.end >= at && statement.conditional);
            let way = match import.guard {
                Guard::TypeChecking => continue,
                Guard::None if !conditional && import.eager => Way::Certain,
                Guard::None if !conditional => Way::Later,
                _ => Way::Perhaps,
            };
            // The packages around the importer run before it, whatever it imports.
            let own: Vec<usize> = std::iter::successors(Some(import.importer), |one| {
                around.get(*one).copied().flatten()
            })
            .collect();
            let above =
                std::iter::successors(Some(*target), |one| around.get(*one).copied().flatten());
            let above = above.filter(|target| !own.contains(target));
            all.extend(above.map(|target| (import.importer, target, way, at)));
        }
        all.sort_unstable();
        all.dedup_by_key(|(importer, target, way, _)| (*importer, *target, *way));
        let count = graph.modules.len();
        let starts = (0..=count).map(|module| all.partition_point(|edge| edge.0 < module));
        let starts = starts.collect();
        let mut runs: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (importer, target, way, _) in &all {
            if let (Way::Certain, Some(list)) = (way, runs.get_mut(*importer)) {
                list.push(*target);
            }
        }
        for (module, list) in runs.iter_mut().enumerate() {
            list.extend(around.get(module).copied().flatten());
            list.extend(forwarded_to(graph, module));
        }
        Self {
            all,
            starts,
            certain: Imports { runs, around },
        }
    }

    fn of(&self, module: usize) -> &[(usize, usize, Way, u32)] {
        let range = self.starts.get(module).zip(self.starts.get(module + 1));
        range
            .and_then(|(start, end)| self.all.get(*start..*end))
            .unwrap_or_default()
    }
}

/// Under which conditions modules are imported.
struct Conditions<'g> {
    graph: &'g PythonGraph,
    texts: &'g dyn Texts,
    /// Whether a module is only ever imported under a condition.
    conditional: Vec<bool>,
    /// Whether some module imports it for certain.
    imported: Vec<bool>,
    /// The texts of the conditions of each that is conditional.
    worded: FxHashMap<usize, BTreeSet<String>>,
}

impl<'g> Conditions<'g> {
    fn new(graph: &'g PythonGraph, edges: &Edges, texts: &'g dyn Texts) -> Self {
        let count = graph.modules.len();
        let apart: Vec<bool> = graph
            .modules
            .iter()
            .map(|one| is_apart(&one.name))
            .collect();
        let counts = |importer: usize| apart.get(importer) != Some(&true);
        let conditional = conditional_modules(edges, &apart, count);
        let mut imported = vec![false; count];
        let counted = edges.all.iter();
        for (_, target, way, _) in counted.filter(|edge| counts(edge.0) && edge.0 != edge.1) {
            if let (Way::Certain, Some(mark)) = (way, imported.get_mut(*target)) {
                *mark = true;
            }
        }
        let mut conditions = Self {
            graph,
            texts,
            conditional,
            imported,
            worded: FxHashMap::default(),
        };
        conditions.word(edges, &apart);
        conditions
    }

    /// Collects the conditions of what is conditional, those of what imports it for certain included.
    fn word(&mut self, edges: &Edges, apart: &[bool]) {
        let mut open = Vec::new();
        for (importer, target, way, at) in &edges.all {
            if *way == Way::Perhaps
                && self.conditional.get(*target) == Some(&true)
                && apart.get(*importer) != Some(&true)
            {
                let text = self.text_of(*importer, *at);
                if self.worded.entry(*target).or_default().insert(text.clone()) {
                    open.push((*target, text));
                }
            }
        }
        while let Some((module, text)) = open.pop() {
            for (_, target, way, _) in edges.of(module) {
                let follows = *way != Way::Perhaps && self.conditional.get(*target) == Some(&true);
                if follows && self.worded.entry(*target).or_default().insert(text.clone()) {
                    open.push((*target, text.clone()));
                }
            }
        }
    }

    fn is_conditional(&self, module: usize) -> bool {
        self.conditional.get(module) == Some(&true)
    }

    /// Whether a module that is run under a condition can be run under each of these.
    fn permits(&self, module: usize, conditions: &BTreeSet<String>) -> bool {
        let known = self.worded.get(&module);
        !conditions.is_empty() && known.is_some_and(|known| conditions.is_subset(known))
    }

    fn of(&self, module: usize) -> BTreeSet<String> {
        self.worded.get(&module).cloned().unwrap_or_default()
    }

    /// The text of what an import stands under.
    fn text_of(&self, importer: usize, at: u32) -> String {
        let text = self.graph.modules.get(importer);
        let text = text.and_then(|module| self.texts.text(&module.path));
        let Some(text) = text else {
            return String::new();
        };
        let (parsed, start) = parser::parse_module(&text);
        let source = text.get(start as usize..).unwrap_or_default();
        let mut parts = Vec::new();
        enclosing(
            parser::statements(&parsed),
            at.saturating_sub(start),
            source,
            &mut parts,
        );
        parts.join(" and ")
    }
}

/// For each module whether it is only ever imported under a condition, by those that count.
fn conditional_modules(edges: &Edges, apart: &[bool], count: usize) -> Vec<bool> {
    let counts = |importer: usize| apart.get(importer) != Some(&true);
    let counted = edges.all.iter();
    let counted = counted.filter(|edge| counts(edge.0) && edge.0 != edge.1);
    // What a condition leads to, and all that this imports.
    let mut conditional = vec![false; count];
    let mut open: Vec<usize> = counted
        .filter(|edge| edge.2 == Way::Perhaps)
        .map(|edge| edge.1)
        .collect();
    while let Some(module) = open.pop() {
        if let Some(mark) = conditional.get_mut(module).filter(|mark| !**mark) {
            *mark = true;
            open.extend(edges.of(module).iter().map(|edge| edge.1));
        }
    }
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

/// Whether a module is for tests, examples or the like.
fn is_apart(name: &str) -> bool {
    name.split('.').any(|part| {
        let part = part.trim_start_matches('_');
        APART.contains(&part) || part.starts_with("test_") || part.ends_with("_test")
    })
}

/// The conditions that the statement at a place stands under, from outside.
fn enclosing(suite: &[Stmt], at: u32, source: &str, parts: &mut Vec<String>) {
    let holds = |range: ruff_text_size::TextRange| {
        range.start().to_u32() <= at && at < range.end().to_u32()
    };
    let text = |range: ruff_text_size::TextRange| {
        let (start, end) = (range.start().to_usize(), range.end().to_usize());
        let words = source.get(start..end).unwrap_or_default();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let Some(statement) = suite.iter().find(|statement| holds(statement.range())) else {
        return;
    };
    let inner: &[Stmt] = match statement {
        Stmt::If(found) => {
            let in_body = found.body.iter().any(|one| holds(one.range()));
            if in_body {
                parts.push(text(found.test.range()));
                &found.body
            } else {
                parts.push(format!("not ({})", text(found.test.range())));
                let clauses = found.elif_else_clauses.iter();
                let mut clauses = clauses.filter(|clause| holds(clause.range()));
                let Some(clause) = clauses.next() else { return };
                parts.extend(clause.test.as_ref().map(|test| text(test.range())));
                &clause.body
            }
        }
        Stmt::Try(found) => {
            let handler = found.handlers.iter().find(|handler| holds(handler.range()));
            match handler {
                Some(ast::ExceptHandler::ExceptHandler(handler)) => {
                    parts.push("a failure".to_owned());
                    &handler.body
                }
                None if found.body.iter().any(|one| holds(one.range())) => {
                    let first = found.body.first().map(|first| text(first.range()));
                    parts.push(format!("try {}", first.unwrap_or_default()));
                    &found.body
                }
                None if found.orelse.iter().any(|one| holds(one.range())) => {
                    parts.push("no failure".to_owned());
                    &found.orelse
                }
                None => &found.finalbody,
            }
        }
        Stmt::With(found) => &found.body,
        Stmt::For(found) => &found.body,
        Stmt::While(found) => &found.body,
        Stmt::FunctionDef(found) => &found.body,
        Stmt::ClassDef(found) => &found.body,
        _ => return,
    };
    enclosing(inner, at, source, parts);
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
        let moves = changes
            .iter()
            .filter(|change| change.subject == Subject::Item && change.kind.carries_text());
        let mut runs = Runs::new(&self.old.certain);
        for change in moves {
            let (Some((home, item)), Some((place, _))) =
                (change.from.rsplit_once('.'), change.to.rsplit_once('.'))
            else {
                continue;
            };
            let (Some(home), Some(arrives)) =
                (self.before.find(None, home), self.after.find(None, place))
            else {
                continue;
            };
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
            self.read(home, Some(item), strictness, arrives);
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
            let known: FxHashSet<(usize, Way)> = self
                .old
                .of(importer_was)
                .iter()
                .map(|edge| (edge.1, edge.2))
                .collect();
            let edges = self.new.of(importer).iter();
            let is_new = |edge: &&(usize, usize, Way, u32)| {
                let was = self.was(edge.1);
                was.is_none_or(|was| {
                    !known.contains(&(was, edge.2)) && !known.contains(&(was, Way::Certain))
                })
            };
            let new: Vec<_> = edges.filter(is_new).copied().collect();
            if new.is_empty() {
                continue;
            }
            let kept: FxHashSet<(usize, Way)> = self
                .new
                .of(importer)
                .iter()
                .filter_map(|edge| Some((self.was(edge.1)?, edge.2)))
                .collect();
            let ran = old_runs.of(importer_was);
            let lost: Vec<_> = known
                .iter()
                .filter(|edge| !kept.contains(edge))
                .copied()
                .collect();
            for (_, target, way, at) in new {
                // Under the same condition as what it replaces.
                let mut before = vec![ran.clone()];
                if way != Way::Certain {
                    let same = lost.iter().filter(|edge| edge.1 == way);
                    before.extend(same.map(|edge| old_runs.of(edge.0)));
                }
                let gained = new_runs.of(target);
                let gained = gained.members().filter_map(|module| self.was(module));
                let gained: Vec<usize> = gained
                    .filter(|module| !before.iter().any(|ran| ran.has(*module)))
                    .collect();
                let conditions = match way {
                    Way::Perhaps => self.condition_at(importer, importer_was, at),
                    Way::Certain | Way::Later => self.conditions.of(importer_was),
                };
                self.come_to_be_run(importer, &gained, &conditions);
            }
        }
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
            .map(|at| BTreeSet::from([self.conditions.text_of(importer_was, at)]))
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
        let name = match item {
            Some(item) => format!("{}.{item}", found.name),
            None => found.name.clone(),
        };
        let under = match strictness {
            Strictness::Condition => ", and was run under a condition only",
            Strictness::Value | Strictness::Names => "",
        };
        let unproven = problems.into_iter().map(|problem| Unproven {
            path: found.path.clone(),
            span: Some(problem.span),
            kind: problem.kind,
            name: name.clone(),
            why: format!(
                "importing `{}` comes to run it{under}; {}",
                by.name, problem.what
            ),
        });
        self.told.insert(key, unproven.collect());
    }
}
