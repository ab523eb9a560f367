//! Imports that wait until something is called, or asked for: what a plan does where none of its ways binds everything in
//! time.
//!
//! Only statements whose names nobody but functions of the module use, or nobody but others, those of files that the plan
//! touches anyway first. The import of every module is played without them; as few as possible are taken.

use std::collections::BTreeSet;

use coalesce_model::{
    Change, Edit, Guard, ImportChange, Texts, Unproven, UnprovenKind, change::Renames,
};

use super::{
    Failure, KnownFailures, advice,
    asked::{is_asked_for, is_looked_through},
    lost::Trees,
    nearer::takes_what_stays,
    note, played, played_from,
    program::{Program, Statement},
    regressions, touched,
};
use crate::{
    facts::ImportStatement,
    graph::PythonGraph,
    requirements::runs_besides,
    rewrite::{inside_functions, is_test, on_request},
};

/// More is another change than the one that was asked for.
const MAXIMUM: usize = 4;

/// How many of them in files that the plan leaves alone otherwise.
const MAXIMUM_MORE: usize = 1;

/// How many sets of statements are played on the whole tree.
const MAXIMUM_TRIALS: usize = 48;

/// How many modules whose import fails a statement is tried on first.
const SAMPLE: usize = 16;

/// What is known before statements are tried.
struct Search<'g> {
    trees: Trees<'g>,
    touched: &'g [bool],
    /// The play of all imports, with the branches of `if` and without, and what failed before in each.
    plays: Vec<(Program<'g>, KnownFailures)>,
    trials: usize,
}

/// What has to wait so that no name is read before it is bound that was bound before; nothing where that does not help.
pub fn deferrals(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    texts: &dyn Texts,
) -> Vec<ImportChange> {
    let renames = Renames::new(changes, ".");
    let new_name = |name: &str| renames.name_after(name);
    let (touched_before, touched_after) = (touched(before, after), touched(after, before));
    let plays = [true, false].map(|branches| {
        let known = KnownFailures::of(before, &touched_before, branches, &new_name);
        (Program::new(after, &touched_after, branches), known)
    });
    let mut search = Search {
        trees: Trees {
            before,
            after,
            changes,
            texts,
        },
        touched: &touched_after,
        plays: plays.into(),
        trials: 0,
    };
    let found = search.found().unwrap_or_default();
    search.deferrals(&found).unwrap_or_default()
}

/// How an import waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// In the functions that use what it brings.
    InFunctions,
    /// In the module's `__getattr__`, for others alone.
    OnRequest,
}

impl Search<'_> {
    /// The statements that have to wait.
    fn found(&mut self) -> Option<Vec<Statement>> {
        let mut chosen: Vec<Statement> = Vec::new();
        let mut left = self.failing(&chosen);
        while !left.is_empty() {
            if chosen.len() == MAXIMUM {
                return None;
            }
            let (next, remaining) = self.next(&chosen, &left)?;
            chosen.push(next);
            left = remaining;
        }
        // What was taken first may not be needed with what came after.
        for statement in chosen.clone() {
            let fewer: Vec<Statement> = chosen
                .iter()
                .copied()
                .filter(|each| *each != statement)
                .collect();
            if !fewer.is_empty() && self.failing(&fewer).is_empty() {
                chosen = fewer;
            }
        }
        Some(chosen)
    }

    /// What fails without some statements and did not before, by the play that it fails in.
    fn failing(&mut self, without: &[Statement]) -> Vec<(usize, Failure)> {
        self.trials += 1;
        self.regressions(without, &|program, after| {
            played(program, after, &str::to_owned)
        })
    }

    /// The same of the imports of some modules alone.
    fn failing_from(&mut self, without: &[Statement], roots: &[usize]) -> Vec<(usize, Failure)> {
        self.regressions(without, &|program, after| {
            played_from(program, after, roots.iter().copied(), &str::to_owned)
        })
    }

    fn regressions(
        &mut self,
        without: &[Statement],
        played: &dyn Fn(&Program<'_>, &PythonGraph) -> BTreeSet<Failure>,
    ) -> Vec<(usize, Failure)> {
        let mut failing = Vec::new();
        for (play, (program, known)) in self.plays.iter_mut().enumerate() {
            program.without = without.to_vec();
            let found = played(program, self.trees.after);
            let new = regressions(&found, known).cloned();
            failing.extend(new.map(|failure| (play, failure)));
        }
        failing
    }

    /// One more statement, the one that leaves the least to fail; of equal ones the nearest to the read.
    fn next(
        &mut self,
        chosen: &[Statement],
        left: &[(usize, Failure)],
    ) -> Option<(Statement, Vec<(usize, Failure)>)> {
        let helping = self.helping(chosen, left)?;
        for (_, statement) in helping {
            if self.trials >= MAXIMUM_TRIALS {
                break;
            }
            let remaining = self.failing(&with(chosen, statement));
            if remaining.len() < left.len() {
                return Some((statement, remaining));
            }
        }
        None
    }

    /// The statements without which less fails of a sample, those first that leave the least.
    fn helping(
        &mut self,
        chosen: &[Statement],
        left: &[(usize, Failure)],
    ) -> Option<Vec<(usize, Statement)>> {
        let (play, failure) = left.iter().find(|(_, failure)| failure.certain)?;
        let trail = self.trail(*play, failure, chosen)?;
        let sample = self.sample(left);
        let fails = self.failing_from(chosen, &sample).len();
        let mut helping: Vec<(usize, Statement)> = Vec::new();
        for statement in self.candidates(trail, chosen) {
            let remaining = self.failing_from(&with(chosen, statement), &sample).len();
            if remaining < fails {
                helping.push((remaining, statement));
            }
            if remaining == 0 {
                break;
            }
        }
        helping.sort_by_key(|(remaining, _)| *remaining);
        Some(helping)
    }

    /// Modules whose import fails, drawn from all over them: a change may break that of thousands at once.
    fn sample(&self, left: &[(usize, Failure)]) -> Vec<usize> {
        let names: BTreeSet<&str> = left
            .iter()
            .map(|(_, failure)| failure.first.as_str())
            .collect();
        let step = names.len().div_ceil(SAMPLE).max(1);
        let sample: BTreeSet<&str> = names.into_iter().step_by(step).collect();
        let modules = self.trees.after.modules.iter().enumerate();
        modules
            .filter(|(_, module)| sample.contains(module.name.as_str()))
            .map(|(at, _)| at)
            .collect()
    }

    /// The statements of a trail that can wait, those that are the least of a change first.
    fn candidates(&self, trail: Vec<Statement>, chosen: &[Statement]) -> Vec<Statement> {
        let (own, others): (Vec<Statement>, Vec<Statement>) =
            (trail.into_iter().rev()).partition(|statement| self.is_touched(*statement));
        let candidates = own.into_iter().chain(others);
        let candidates = candidates.filter(|statement| !chosen.contains(statement));
        let mut candidates: Vec<(Statement, Manner)> = candidates
            .filter_map(|statement| Some((statement, self.manner(statement, chosen)?)))
            .collect();
        // What stays in the functions that need it is less of a change than what a module answers by.
        candidates.sort_by_key(|(_, manner)| *manner == Manner::OnRequest);
        candidates
            .into_iter()
            .map(|(statement, _)| statement)
            .collect()
    }

    /// The import statements that are being executed when a read fails.
    fn trail(
        &mut self,
        play: usize,
        failure: &Failure,
        without: &[Statement],
    ) -> Option<Vec<Statement>> {
        let (program, _) = self.plays.get_mut(play)?;
        program.without = without.to_vec();
        let state = advice::play(program, self.trees.after, failure, Some(Vec::new()))?;
        let mut trails = state.trails.into_iter();
        let found = trails.find(|(read, _)| advice::is_read_of(self.trees.after, read, failure));
        found.map(|(_, trail)| trail)
    }

    /// Whether the plan changes the file of a statement anyway.
    fn is_touched(&self, statement: Statement) -> bool {
        self.touched.get(statement.0) == Some(&true)
    }

    /// How a statement can wait that is not one too many of files that the plan leaves alone otherwise.
    fn manner(&self, statement: Statement, chosen: &[Statement]) -> Option<Manner> {
        let more = chosen.iter().filter(|each| !self.is_touched(**each));
        let permitted = self.is_touched(statement) || more.count() < MAXIMUM_MORE;
        permitted.then(|| manner(self.trees.after, self.trees.texts, statement))?
    }

    /// What waits in each module; nothing where something cannot.
    fn deferrals(&self, found: &[Statement]) -> Option<Vec<ImportChange>> {
        let modules: BTreeSet<usize> = found.iter().map(|(module, _)| *module).collect();
        let told = modules.into_iter().map(|module| {
            let statements = found.iter().filter(|statement| statement.0 == module);
            let statements: Vec<Statement> = statements.copied().collect();
            let settled = found.len() == 1 && self.is_settled(module, &statements);
            self.deferral(module, &statements, settled)
        });
        told.collect()
    }

    /// Whether what one statement brings has run by the time that a function of its module is called, and is the same then
    /// at each call.
    fn is_settled(&self, module: usize, statements: &[Statement]) -> bool {
        let [statement] = statements else {
            return false;
        };
        let at = statement.1 as usize;
        let facts = self.trees.after.facts.get(module);
        let import = facts.and_then(|facts| facts.imports.get(at));
        import.is_some_and(|import| {
            takes_what_stays(self.trees.after, self.trees.texts, (module, import))
                && runs_besides(self.trees.after, module, at)
        })
    }

    /// What waits in one module; nothing is left to prove where it is settled what the functions find.
    fn deferral(
        &self,
        module: usize,
        statements: &[Statement],
        settled: bool,
    ) -> Option<ImportChange> {
        let own = self.trees.after.modules.get(module)?;
        let waiting = self.waiting(module, statements)?;
        let is_asked = !waiting.asked.is_empty();
        let why = what_changes(&own.name, &waiting.called, &waiting.asked);
        let message = format!(
            "`{}` imports {}: at its head a name would be read before it is bound",
            own.name,
            waiting.told()
        );
        Some(ImportChange {
            path: own.path.clone(),
            edits: waiting.edits,
            note: note(own, message),
            unproven: (!settled || is_asked).then(|| Unproven {
                path: own.path.clone(),
                span: None,
                kind: UnprovenKind::NotLoaded,
                name: own.name.clone(),
                why,
            }),
            lost_names: self.trees.lost_names(module, &waiting.imports),
        })
    }

    /// The statements of a module that wait, and the edits that make them.
    fn waiting(&self, module: usize, statements: &[Statement]) -> Option<Waiting<'_>> {
        let own = self.trees.after.modules.get(module)?;
        let facts = self.trees.after.facts.get(module)?;
        let text = self.trees.texts.text(&own.path)?;
        let mut waiting = Waiting::default();
        let mut spans = Vec::new();
        for statement in statements {
            let import = facts.imports.get(statement.1 as usize)?;
            match manner(self.trees.after, self.trees.texts, *statement)? {
                Manner::InFunctions => {
                    waiting.imports.push(import);
                    waiting.called.extend(bound_names(import));
                    waiting.edits.extend(inside_functions(&text, import.span)?);
                }
                Manner::OnRequest => {
                    waiting.asked.extend(bound_names(import));
                    spans.push(import.span);
                }
            }
        }
        if !spans.is_empty() {
            waiting.edits.extend(on_request(&text, &spans)?);
        }
        Some(waiting)
    }
}

/// What waits in a module.
#[derive(Default)]
struct Waiting<'g> {
    /// The statements that go into functions.
    imports: Vec<&'g ImportStatement>,
    edits: Vec<Edit>,
    /// What is imported when a function is called.
    called: Vec<String>,
    /// What is imported when somebody asks for it.
    asked: Vec<String>,
}

impl Waiting<'_> {
    /// What is imported when.
    fn told(&self) -> String {
        let told = [
            (
                &self.called,
                "inside of the functions that use it, when they are called",
            ),
            (&self.asked, "in its `__getattr__`, when somebody asks"),
        ];
        let told = told.into_iter().filter(|(names, _)| !names.is_empty());
        let told: Vec<String> = told
            .map(|(names, when)| format!("{} {when}", names.join(", ")))
            .collect();
        told.join("; ")
    }
}

/// The names that a statement binds, as they are told.
fn bound_names(import: &ImportStatement) -> impl Iterator<Item = String> {
    let leaves = import.leaves.iter();
    leaves.map(|leaf| format!("`{}`", leaf.bound()))
}

/// Statements with one more.
fn with(chosen: &[Statement], statement: Statement) -> Vec<Statement> {
    let chosen = chosen.iter().copied();
    chosen.chain([statement]).collect()
}

/// What may be otherwise where imports wait: of names that functions use, and of those that others ask for.
fn what_changes(module: &str, called: &[String], asked: &[String]) -> String {
    if let Some(name) = asked.first() {
        return format!(
            "it imports {name} when somebody asks and not before: what that runs, or reads, comes later, and who lists \
             the names of `{module}` does not find it"
        );
    }
    format!(
        "it imports {} when a function is called and not before: what that runs, or reads, comes later, and the name is \
         read anew at each call",
        called.join(", ")
    )
}

/// Whether a statement can wait, and nobody who asks its module for what it binds gets another answer.
pub(super) fn can_wait(graph: &PythonGraph, texts: &dyn Texts, statement: Statement) -> bool {
    manner(graph, texts, statement).is_some()
}

/// How a statement can wait.
fn manner(graph: &PythonGraph, texts: &dyn Texts, statement: Statement) -> Option<Manner> {
    let (module, at) = statement;
    let (own, facts) = (graph.modules.get(module)?, graph.facts.get(module)?);
    let test = is_test(own.path.file_name()) || own.path.file_name() == "conftest.py";
    let import = facts.imports.get(at as usize)?;
    let plain = !facts.dynamic && !test && own.path.extension() == Some("py");
    if !plain || import.guard != Guard::None || import.conditional || import.lazy {
        return None;
    }
    let text = texts.text(&own.path)?;
    if let Some(names) = advice::waits(graph, statement)
        && inside_functions(&text, import.span).is_some()
        && !is_asked_for(graph, texts, module, &names)
    {
        return Some(Manner::InFunctions);
    }
    let offered = advice::offers(graph, statement)
        && on_request(&text, &[import.span]).is_some()
        && !is_looked_through(graph, texts, module, import);
    offered.then_some(Manner::OnRequest)
}
