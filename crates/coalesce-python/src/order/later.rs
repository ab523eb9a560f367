//! Imports that wait until something is called: what a plan does where none of its ways binds everything in time.
//!
//! Only statements whose names nobody but functions of the module use, those of files that the plan touches anyway first.
//! The import of every module is played without them; as few as possible are taken.

use std::collections::BTreeSet;

use coalesce_model::{
    Change, Deferral, Edit, Finding, Guard, Severity, Texts, change::Renames, finding::codes,
};

use super::{
    Failure, advice,
    asked::is_asked_for,
    failures, played,
    program::{Program, Statement},
    regressions, touched,
};
use crate::{
    graph::PythonGraph,
    rewrite::{inside_functions, is_test},
};

/// More is another change than the one that was asked for.
const MAXIMUM: usize = 4;

/// How many of them in files that the plan leaves alone otherwise.
const MAXIMUM_MORE: usize = 1;

/// How many sets of statements are played.
const MAXIMUM_TRIALS: usize = 48;

/// What is known before statements are tried.
struct Search<'g> {
    after: &'g PythonGraph,
    texts: &'g dyn Texts,
    touched: &'g [bool],
    /// The play of all imports, with the branches of `if` and without, and what failed before in each.
    plays: Vec<(Program<'g>, BTreeSet<Failure>)>,
    trials: usize,
}

/// What has to wait so that no name is read before it is bound that was bound before; nothing where that does not help.
pub fn deferrals(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    texts: &dyn Texts,
) -> Vec<Deferral> {
    let renames = Renames::new(changes, ".");
    let new_name = |name: &str| renames.name_after(name);
    let (touched_before, touched_after) = (touched(before, after), touched(after, before));
    let plays = [true, false].map(|branches| {
        let known = failures(before, &touched_before, branches, &new_name);
        (Program::new(after, &touched_after, branches), known)
    });
    let mut search = Search {
        after,
        texts,
        touched: &touched_after,
        plays: plays.into(),
        trials: 0,
    };
    let found = search.found().unwrap_or_default();
    let told = found.iter().map(|statement| search.deferral(*statement));
    told.collect::<Option<Vec<Deferral>>>().unwrap_or_default()
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
        let mut failing = Vec::new();
        for (play, (program, known)) in self.plays.iter_mut().enumerate() {
            program.without = without.to_vec();
            let found = played(program, self.after, &str::to_owned);
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
        let (play, failure) = left.iter().find(|(_, (.., certain))| *certain)?;
        let trail = self.trail(*play, failure, chosen)?;
        let mut best: Option<(Statement, Vec<(usize, Failure)>)> = None;
        let (own, others): (Vec<Statement>, Vec<Statement>) =
            (trail.into_iter().rev()).partition(|statement| self.is_touched(*statement));
        for statement in own.into_iter().chain(others) {
            if self.trials >= MAXIMUM_TRIALS {
                break;
            }
            if chosen.contains(&statement) || !self.may_wait(statement, chosen) {
                continue;
            }
            let without: Vec<Statement> = chosen.iter().copied().chain([statement]).collect();
            let remaining = self.failing(&without);
            let less = best
                .as_ref()
                .map_or(left.len(), |(_, remaining)| remaining.len());
            if remaining.len() < less {
                let done = remaining.is_empty();
                best = Some((statement, remaining));
                if done {
                    break;
                }
            }
        }
        best
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
        let state = advice::play(program, self.after, failure, Some(Vec::new()))?;
        let mut trails = state.trails.into_iter();
        let found = trails.find(|(read, _)| advice::is_read_of(self.after, read, failure));
        found.map(|(_, trail)| trail)
    }

    /// Whether the plan changes the file of a statement anyway.
    fn is_touched(&self, statement: Statement) -> bool {
        self.touched.get(statement.0) == Some(&true)
    }

    /// Whether a statement can wait, and is not one too many of files that the plan leaves alone otherwise.
    fn may_wait(&self, statement: Statement, chosen: &[Statement]) -> bool {
        let more = chosen.iter().filter(|each| !self.is_touched(**each));
        (self.is_touched(statement) || more.count() < MAXIMUM_MORE)
            && can_wait(self.after, self.texts, statement)
    }

    fn deferral(&self, statement: Statement) -> Option<Deferral> {
        let (module, at) = statement;
        let own = self.after.modules.get(module)?;
        let import = self.after.facts.get(module)?.imports.get(at as usize)?;
        let bound = import
            .leaves
            .iter()
            .map(|leaf| format!("`{}`", leaf.bound()));
        let names: Vec<String> = bound.collect();
        let message = format!(
            "`{}` imports {} inside of the functions that use it, when they are called: at its head a name would be read before it is bound",
            own.name,
            names.join(", "),
        );
        Some(Deferral {
            path: own.path.clone(),
            edits: edits(self.after, self.texts, statement)?,
            note: Finding {
                code: codes::READ_BEFORE_BOUND,
                severity: Severity::Note,
                path: own.path.clone(),
                span: None,
                message,
                help: None,
            },
        })
    }
}

/// Whether a statement can wait, and nobody else asks its module for what it binds.
pub(super) fn can_wait(graph: &PythonGraph, texts: &dyn Texts, statement: Statement) -> bool {
    let (module, at) = statement;
    let (Some(own), Some(facts)) = (graph.modules.get(module), graph.facts.get(module)) else {
        return false;
    };
    let test = is_test(own.path.file_name()) || own.path.file_name() == "conftest.py";
    let ours = !facts.dynamic && !test && own.path.extension() == Some("py");
    let (true, Some(names), Some(import)) = (
        ours,
        advice::waits(graph, statement),
        facts.imports.get(at as usize),
    ) else {
        return false;
    };
    import.guard == Guard::None
        && !import.conditional
        && !import.lazy
        && edits(graph, texts, statement).is_some()
        && !is_asked_for(graph, texts, module, &names)
}

fn edits(graph: &PythonGraph, texts: &dyn Texts, (module, at): Statement) -> Option<Vec<Edit>> {
    let path = &graph.modules.get(module)?.path;
    let import = graph.facts.get(module)?.imports.get(at as usize)?;
    inside_functions(&texts.text(path)?, import.span)
}
