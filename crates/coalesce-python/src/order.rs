//! What would break at import time: names that are read before they are bound.
//!
//! A static cycle is no harm by itself. So the imports that execute with a module are played
//! through in the order that CPython executes them in, parent packages first, from every module of
//! the tree; a read of a name that a half-executed module has not bound yet fails. What fails after
//! the changes and did not before is reported. Calls are not followed.

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_model::{
    Change, Finding, ImportTarget, Severity, Texts, change::renamed, finding::codes,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    analysis::Analysis,
    facts::ImportStatement,
    graph::{Entity, PythonGraph},
    names::Names,
};

/// Deeper chains of imports are not followed.
const MAXIMUM_DEPTH: usize = 900;

/// A read that fails: the module imported first, the reader, the half-executed module, the name.
type Failure = (String, String, String, String);

/// Reads that fail in `after` and did not in `before`.
pub fn order_regressions(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    before_texts: &dyn Texts,
    after_texts: &dyn Texts,
) -> Vec<Finding> {
    let new_name = |name: &str| renamed(changes, ".", name).unwrap_or_else(|| name.to_owned());
    let mut told: BTreeSet<(String, String, String)> = BTreeSet::new();
    let mut findings = Vec::new();
    // A condition may hold or not: what is safe has to be so either way.
    for branches in [true, false] {
        let failing = Program::new(after, after_texts, branches).failures(&str::to_owned);
        if failing.is_empty() {
            continue;
        }
        let known = Program::new(before, before_texts, branches).failures(&new_name);
        for failure in regressions(&failing, &known) {
            let (_, reader, target, name) = failure;
            if told.insert((reader.clone(), target.clone(), name.clone())) {
                findings.extend(finding(before, after, &new_name, failure));
            }
        }
    }
    findings
}

/// Reads that fail now and did not before. A package that could not be imported before is no safer
/// to be in.
fn regressions<'f>(
    failing: &'f BTreeSet<Failure>,
    known: &'f BTreeSet<Failure>,
) -> impl Iterator<Item = &'f Failure> {
    failing.difference(known).filter(|failure| {
        let (first, reader, target, name) = failure;
        let mut above = first.as_str();
        while let Some((parent, _)) = above.rsplit_once('.') {
            above = parent;
            let in_parent = (
                parent.to_owned(),
                reader.clone(),
                target.clone(),
                name.clone(),
            );
            if known.contains(&in_parent) {
                return false;
            }
        }
        true
    })
}

fn finding(
    before: &PythonGraph,
    after: &PythonGraph,
    new_name: &dyn Fn(&str) -> String,
    (first, reader, target, name): &Failure,
) -> Option<Finding> {
    let was = before
        .modules
        .iter()
        .find(|module| new_name(&module.name) == *reader);
    let is = || after.modules.iter().find(|module| module.name == *reader);
    let path = was.or_else(is)?.path.clone();
    let what = if name == "*" {
        format!("all names of `{target}`")
    } else {
        format!("`{name}` of `{target}`")
    };
    Some(Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Error,
        path,
        span: None,
        message: format!(
            "after the migration, `{reader}` would read {what} before it is bound, when `{first}` is imported first"
        ),
        help: Some(
            "import it inside the function that uses it, or move the two modules together"
                .to_owned(),
        ),
    })
}

/// One thing that executing a module does, at a byte of its text.
#[derive(Clone, Copy)]
struct Step<'g> {
    at: u32,
    target: usize,
    /// The name that is read of the target; `None` when the target itself is what is named.
    item: Option<&'g str>,
}

/// The modules of a graph as programs that import each other.
struct Program<'g> {
    graph: &'g PythonGraph,
    texts: &'g dyn Texts,
    parents: Vec<Option<usize>>,
    steps: Vec<Vec<Step<'g>>>,
    bound: Vec<OnceCell<FxHashMap<String, u32>>>,
    reads: Vec<OnceCell<Vec<(usize, String)>>>,
}

/// Where the execution stands.
#[derive(Clone)]
struct State {
    /// 0: untouched, 1: being executed, 2: done.
    stage: Vec<u8>,
    /// The statement that a module being executed has reached.
    position: FxHashMap<usize, u32>,
}

impl<'g> Program<'g> {
    fn new(graph: &'g PythonGraph, texts: &'g dyn Texts, branches: bool) -> Self {
        let by_name: FxHashMap<&str, usize> = graph
            .modules
            .iter()
            .enumerate()
            .rev()
            .map(|(index, module)| (module.name.as_str(), index))
            .collect();
        // A package without a file executes nothing; the ones above it do.
        let parent = |name: &str| {
            let above = std::iter::successors(Some(name), |name| Some(name.rsplit_once('.')?.0));
            above
                .skip(1)
                .find_map(|parent| by_name.get(parent).copied())
        };
        Self {
            graph,
            texts,
            parents: graph
                .modules
                .iter()
                .map(|module| parent(&module.name))
                .collect(),
            steps: steps(graph, branches),
            bound: graph.modules.iter().map(|_| OnceCell::new()).collect(),
            reads: graph.modules.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// Plays the import of every module, each in a fresh interpreter; what a top-level package
    /// does is shared by all modules below it.
    fn failures(&self, name: &dyn Fn(&str) -> String) -> BTreeSet<Failure> {
        let fresh = State {
            stage: vec![0; self.graph.modules.len()],
            position: FxHashMap::default(),
        };
        let mut tops: FxHashMap<usize, State> = FxHashMap::default();
        let mut failures = BTreeSet::new();
        let module_name = |module: usize| {
            self.graph
                .modules
                .get(module)
                .map(|module| name(&module.name))
                .unwrap_or_default()
        };
        for root in 0..self.graph.modules.len() {
            let mut found = FxHashSet::default();
            let top = std::iter::successors(Some(root), |module| {
                self.parents.get(*module).copied().flatten()
            })
            .last()
            .unwrap_or(root);
            let start = tops.entry(top).or_insert_with(|| {
                let mut state = fresh.clone();
                let mut own = FxHashSet::default();
                self.execute(top, &mut state, &mut own, 0);
                failures.extend(own.into_iter().map(|(reader, target, item)| {
                    (
                        module_name(top),
                        module_name(reader),
                        module_name(target),
                        item,
                    )
                }));
                state
            });
            if start.stage.get(root) == Some(&0) {
                let mut state = start.clone();
                self.execute(root, &mut state, &mut found, 0);
            }
            let told = found.into_iter().map(|(reader, target, item)| {
                (
                    module_name(root),
                    module_name(reader),
                    module_name(target),
                    item,
                )
            });
            failures.extend(told);
        }
        failures
    }

    fn execute(
        &self,
        module: usize,
        state: &mut State,
        found: &mut FxHashSet<(usize, usize, String)>,
        depth: usize,
    ) {
        if depth > MAXIMUM_DEPTH || state.stage.get(module) != Some(&0) {
            return;
        }
        if let Some(parent) = self.parents.get(module).copied().flatten() {
            self.execute(parent, state, found, depth + 1);
        }
        match state.stage.get_mut(module) {
            Some(stage) if *stage == 0 => *stage = 1,
            _ => return,
        }
        let mut reads_running = false;
        for step in self.steps.get(module).into_iter().flatten() {
            state.position.insert(module, step.at);
            self.execute(step.target, state, found, depth + 1);
            match step.item {
                Some(item) => self.read(module, step.target, item, state, found, depth),
                None => reads_running |= step.target != module && self.running(step.target, state),
            }
        }
        if reads_running {
            self.attributes(module, state, found);
        }
        state.position.remove(&module);
        if let Some(stage) = state.stage.get_mut(module) {
            *stage = 2;
        }
    }

    fn running(&self, module: usize, state: &State) -> bool {
        state.stage.get(module) == Some(&1)
    }

    /// `from target import item`, with `target` executed as far as it is.
    fn read(
        &self,
        reader: usize,
        target: usize,
        item: &str,
        state: &mut State,
        found: &mut FxHashSet<(usize, usize, String)>,
        depth: usize,
    ) {
        if reader == target
            || !self.running(target, state)
            || self.bound_by_now(target, item, state)
        {
            return;
        }
        // The import system looks for a submodule of that name, bound or not.
        match self.graph.submodule(target, item) {
            Some(submodule) => self.execute(submodule, state, found, depth + 1),
            None => drop(found.insert((reader, target, item.to_owned()))),
        }
    }

    /// Whether a module that is being executed has bound a name already.
    fn bound_by_now(&self, module: usize, name: &str, state: &State) -> bool {
        let (Some(position), Some(facts)) =
            (state.position.get(&module), self.graph.facts.get(module))
        else {
            return true;
        };
        if name == "*" {
            return false;
        }
        // What run-time code may supply is given the benefit of doubt.
        if name.starts_with("__") && name.ends_with("__") {
            return true;
        }
        let executed = facts
            .imports
            .iter()
            .filter(|import| import.top_level && import.eager);
        let (before, later): (Vec<_>, Vec<_>) =
            executed.partition(|import| import.span.start < *position);
        let supplied = |import: &&ImportStatement| self.supplies(module, import, name);
        let own = self
            .bound
            .get(module)
            .and_then(|bound| bound.get_or_init(|| self.bindings(module)).get(name));
        if before.iter().any(|import| supplied(import) != Some(false))
            || own.is_some_and(|at| at < position)
        {
            return true;
        }
        let bound_later =
            own.is_some() || later.iter().any(|import| supplied(import) == Some(true));
        facts.dynamic && !bound_later
    }

    /// Whether an import statement of a module binds a name; `None` when a star may.
    fn supplies(&self, module: usize, import: &ImportStatement, name: &str) -> Option<bool> {
        if import.leaves.iter().any(|leaf| leaf.bound() == name) {
            return Some(true);
        }
        if !import.leaves.iter().any(|leaf| leaf.name.text == "*") {
            return Some(false);
        }
        let source = self.graph.base_module(module, import)?;
        match self.graph.star_member(source, name, 0) {
            Entity::Missing => Some(false),
            Entity::Module(_) | Entity::Item(..) => Some(true),
            Entity::External | Entity::Opaque => None,
        }
    }

    /// Where a module first binds each of its own names.
    fn bindings(&self, module: usize) -> FxHashMap<String, u32> {
        let text = self
            .graph
            .modules
            .get(module)
            .and_then(|module| self.texts.text(&module.path));
        let Some(analysis) = text.map(|text| Analysis::new(&text)) else {
            return FxHashMap::default();
        };
        let scope = analysis.scopes.into_iter().next().unwrap_or_default();
        let own = scope.bindings.into_iter().filter_map(|(name, bindings)| {
            let first = bindings
                .iter()
                .filter(|binding| binding.import.is_none())
                .map(|binding| binding.span.start)
                .min()?;
            Some((name, first))
        });
        own.collect()
    }

    /// Reads of attributes of half-executed modules, while `module` is executed.
    fn attributes(
        &self,
        module: usize,
        state: &State,
        found: &mut FxHashSet<(usize, usize, String)>,
    ) {
        let Some(reads) = self.reads.get(module) else {
            return;
        };
        for (target, item) in reads.get_or_init(|| self.attribute_reads(module)) {
            if *target != module
                && self.running(*target, state)
                && !self.bound_by_now(*target, item, state)
            {
                found.insert((module, *target, item.clone()));
            }
        }
    }

    /// The attributes of other modules that executing a module reads.
    fn attribute_reads(&self, module: usize) -> Vec<(usize, String)> {
        let text = self
            .graph
            .modules
            .get(module)
            .and_then(|module| self.texts.text(&module.path));
        let Some(analysis) = text.map(|text| Analysis::new(&text)) else {
            return Vec::new();
        };
        let names = Names::new(self.graph, Some(module), &analysis);
        let mut reads = Vec::new();
        for used in analysis
            .uses
            .iter()
            .filter(|used| used.eager && used.chain.len() > 1)
        {
            for pair in names.meanings(used).windows(2) {
                if let [before, item] = pair
                    && let (Some(Entity::Module(target)), Some(Entity::Item(..))) =
                        (&before.entity, &item.entity)
                {
                    reads.push((*target, item.segment.text.clone()));
                }
            }
        }
        reads.sort();
        reads.dedup();
        reads
    }
}

/// What executing each module imports, in order; what stands in branches of `if` only with
/// `branches`.
fn steps(graph: &PythonGraph, branches: bool) -> Vec<Vec<Step<'_>>> {
    let mut steps: Vec<Vec<Step<'_>>> = vec![Vec::new(); graph.modules.len()];
    for import in graph.imports.iter().filter(|import| import.eager) {
        let (ImportTarget::Module(target), Some(list)) =
            (&import.target, steps.get_mut(import.importer))
        else {
            continue;
        };
        let named = |name: &String| import.name == *name;
        let itself = graph
            .modules
            .get(*target)
            .is_some_and(|module| named(&module.name) || module.also.iter().any(named));
        let item = if itself {
            None
        } else {
            import.name.rsplit('.').next()
        };
        list.push(Step {
            at: import.span.start,
            target: *target,
            item,
        });
    }
    for (list, facts) in steps.iter_mut().zip(&graph.facts) {
        let mut statements: Vec<_> = facts.imports.iter().collect();
        statements.sort_by_key(|import| import.span.start);
        list.retain_mut(|step| {
            let at = statements
                .partition_point(|import| import.span.start <= step.at)
                .checked_sub(1);
            let statement = at.and_then(|at| statements.get(at));
            if let Some(statement) = statement.filter(|statement| step.at < statement.span.end) {
                // A statement counts from its keyword: what it binds is bound when it is through.
                step.at = statement.span.start;
                let star = statement.leaves.iter().any(|leaf| leaf.name.text == "*");
                if star && step.item.is_none() {
                    step.item = Some("*");
                }
            }
            branches || !statement.is_some_and(|statement| statement.conditional)
        });
        list.sort_by_key(|step| step.at);
    }
    steps
}
