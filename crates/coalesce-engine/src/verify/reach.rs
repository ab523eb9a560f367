//! Which edited lines a verification has reached: those that some configuration compiled, or ran when
//! it imported their module. What none reached was proven by reading at most.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{
    LanguageGraph as _, LanguageKind, OutlineUnit, Texts as _, TreePath, UnitKind, Unproven,
    UnprovenKind,
    envelope::{EditedLines, Grade, TreeState, UnreachedLines, Verify},
};
use coalesce_plan::Operation;
use coalesce_report::diff;
use coalesce_rust::{Configuration, conditional_lines};
use coalesce_verify::{Check, CompiledFile, Failure};

use super::verdict::Ran;
use crate::{MigrationPlan, Session};

/// What a compiler settles, where it has read the file: that a path in a macro leads somewhere.
const SETTLED_BY_COMPILER: [UnprovenKind; 4] = [
    UnprovenKind::MacroBuiltPath,
    UnprovenKind::MacroArgument,
    UnprovenKind::ProceduralMacro,
    UnprovenKind::UnknownType,
];

/// Code files that a plan writes, and their edited lines in the planned tree, 1-based.
pub fn edited_code(
    session: &Session,
    operations: &[Operation],
) -> BTreeMap<TreePath, BTreeSet<u32>> {
    let code = |path: &TreePath| language_of(path).is_some();
    let mut edited = BTreeMap::new();
    for operation in operations {
        let (path, old, new) = match operation {
            Operation::Move { from, to, text } => (to, Some(from), text.as_deref()),
            Operation::Edit { path, text } => (path, Some(path), Some(text.as_str())),
            // A shim is ours, the same everywhere, and checked where it is used.
            Operation::Create { text, .. } if text.contains("coalesce: shim ") => continue,
            Operation::Create { path, text, .. } => (path, None, Some(text.as_str())),
            Operation::Delete { .. } => continue,
        };
        if !code(path) {
            continue;
        }
        let old = old.and_then(|old| session.tree.text(old));
        let lines = new.map(|new| changed_lines(old.as_deref().unwrap_or_default(), new));
        edited.insert(path.clone(), lines.unwrap_or_default());
    }
    edited
}

/// The language of a source file.
pub fn language_of(path: &TreePath) -> Option<LanguageKind> {
    path.extension().and_then(LanguageKind::of_extension)
}

/// The lines of `new` that `old` does not have and that say something.
fn changed_lines(old: &str, new: &str) -> BTreeSet<u32> {
    let lines: Vec<&str> = new.lines().collect();
    let says = |number: &u32| {
        let line = lines.get(*number as usize - 1);
        line.is_some_and(|line| !line.trim().is_empty())
    };
    let numbers = diff::changed_lines(old, new).into_iter();
    numbers.filter(says).collect()
}

/// What was reached on the planned tree.
pub struct Reach<'r> {
    session_after: &'r Session,
    compiled: BTreeMap<&'r TreePath, Vec<&'r CompiledFile>>,
    /// Files with a glob that the compiler calls unused.
    idle_globs: BTreeSet<&'r TreePath>,
    imported: BTreeSet<TreePath>,
    /// Whether commands of the manifest judged the tree instead: nobody knows what they reach.
    commands: bool,
    tests: bool,
    configurations: Vec<String>,
}

impl<'r> Reach<'r> {
    /// What these checks of the planned tree have reached.
    pub fn of(session_after: &'r Session, ran: &'r [Ran]) -> Self {
        let mut reach = Self {
            session_after,
            compiled: BTreeMap::new(),
            idle_globs: BTreeSet::new(),
            imported: BTreeSet::new(),
            commands: false,
            tests: false,
            configurations: Vec::new(),
        };
        for ran in ran.iter().filter(|ran| ran.state == TreeState::After) {
            reach.add(ran);
        }
        reach
    }

    fn add(&mut self, ran: &'r Ran) {
        match &ran.check {
            Check::Cargo { .. } => {
                for file in &ran.outcome.compiled {
                    self.compiled.entry(&file.path).or_default().push(file);
                }
                let globs = ran.outcome.unused.iter().filter(|one| one.name == "*");
                self.idle_globs.extend(globs.map(|one| &one.path));
            }
            Check::Imports { modules, .. } => self.add_imported(modules, &ran.outcome.failures),
            Check::Tests { .. } => self.tests = true,
            Check::Command { .. } => self.commands = true,
        }
        let remembered = if ran.outcome.remembered {
            ", remembered"
        } else {
            ""
        };
        self.configurations
            .push(format!("{}{remembered}", ran.check.label()));
    }

    /// Adds the files of the modules that could be imported.
    fn add_imported(&mut self, modules: &[String], failures: &[Failure]) {
        let failing: BTreeSet<&String> = failures.iter().map(|failure| &failure.subject).collect();
        let passed = modules.iter().filter(|module| !failing.contains(module));
        let passed: BTreeSet<&String> = passed.collect();
        let known = self.session_after.python.graph.modules();
        let own = known.iter().filter(|module| passed.contains(&module.name));
        self.imported.extend(own.map(|module| module.path.clone()));
    }

    /// Fills in what a passed verification comes to, and takes from the plan's open places what a
    /// compiler has settled.
    pub fn judge(&self, session: &Session, plan: &mut MigrationPlan, verify: &mut Verify) {
        let edited = edited_code(session, &plan.assembled.operations);
        let mut whole = true;
        for (path, lines) in &edited {
            let unreached = self.unreached(path, lines);
            verify.edited_lines.all += lines.len();
            verify.edited_lines.only_resolved += unreached.lines.len();
            whole &= !unreached.lowers;
            if !unreached.lines.is_empty() {
                verify.unreached.push(UnreachedLines {
                    path: path.clone(),
                    lines: unreached.lines.into_iter().collect(),
                    why: unreached.why.to_owned(),
                });
            }
        }
        verify.configurations.clone_from(&self.configurations);
        verify.grade = Some(if self.commands || (whole && self.tests) {
            Grade::Tested
        } else if whole {
            Grade::Compiled
        } else {
            Grade::Resolved
        });
        if self.commands {
            // Nobody knows which lines a command reaches.
            verify.edited_lines = EditedLines::default();
            verify.unreached.clear();
        }
        self.settle(session, plan, verify);
    }

    fn settle(&self, session: &Session, plan: &mut MigrationPlan, verify: &mut Verify) {
        let renamed: BTreeMap<TreePath, TreePath> = plan
            .assembled
            .operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Move { from, to, .. } => Some((from.clone(), to.clone())),
                _ => None,
            })
            .collect();
        let before = plan.assembled.unproven.len();
        plan.assembled.unproven.retain(|place| {
            let path = renamed.get(&place.path).unwrap_or(&place.path);
            let settles = SETTLED_BY_COMPILER.contains(&place.kind)
                || (self.is_glob(session, place, path) && !self.idle_globs.contains(path));
            !(settles && self.compiled.contains_key(path))
        });
        verify.settled = before - plan.assembled.unproven.len();
    }

    /// Whether it is about a glob that may be idle, in the tree or in the planned one, where it has this path.
    fn is_glob(&self, session: &Session, place: &Unproven, path: &TreePath) -> bool {
        let texts = [
            session.tree.text(&place.path),
            self.session_after.tree.text(path),
        ];
        let ends = |text: &Arc<str>| {
            let named = place.span.and_then(|span| span.of(text));
            named.is_some_and(|named| named.ends_with('*'))
        };
        place.kind == UnprovenKind::LeftUnused && texts.iter().flatten().any(ends)
    }

    /// Which of these lines nothing reached.
    fn unreached(&self, path: &TreePath, lines: &BTreeSet<u32>) -> Unreached {
        match language_of(path) {
            Some(LanguageKind::Rust) => self.not_compiled(path, lines),
            Some(LanguageKind::Python) => self.not_run(path, lines),
            Some(LanguageKind::Kernel) | None => Unreached::default(),
        }
    }

    fn not_compiled(&self, path: &TreePath, lines: &BTreeSet<u32>) -> Unreached {
        let Some(compiled) = self.compiled.get(path) else {
            return Unreached::all(lines, "no configuration compiles this file");
        };
        let text = self.session_after.tree.text(path).unwrap_or_default();
        let conditional = conditional_lines(&text);
        let configurations: Vec<Configuration> = compiled
            .iter()
            .map(|file| Configuration::new(file.names.iter().cloned()))
            .collect();
        let is_left_out = |line: &&u32| {
            !configurations.iter().any(|configuration| {
                conditional
                    .iter()
                    .filter(|one| (one.lines.0..=one.lines.1).contains(line))
                    .all(|one| one.holds(configuration))
            })
        };
        let left: BTreeSet<u32> = lines.iter().filter(is_left_out).copied().collect();
        Unreached {
            lowers: !left.is_empty(),
            lines: left,
            why: "their condition holds in no configuration",
        }
    }

    fn not_run(&self, path: &TreePath, lines: &BTreeSet<u32>) -> Unreached {
        // Types beside a module are read by nobody who runs it.
        if path.extension() == Some("pyi") {
            return Unreached::lines(lines.clone(), "stubs are not imported");
        }
        if !self.imported.contains(path) {
            return Unreached::all(lines, "its module was not imported");
        }
        let units = self.units(path);
        let in_function = |line: &u32| {
            units.iter().any(|unit| {
                matches!(unit.kind, UnitKind::Function | UnitKind::Method)
                    && unit.lines.0 < *line
                    && *line <= unit.lines.1
            })
        };
        let left = lines.iter().copied().filter(in_function).collect();
        Unreached::lines(
            left,
            "they run when their function is called, not at import",
        )
    }

    /// The units of a Python file.
    fn units(&self, path: &TreePath) -> Vec<OutlineUnit> {
        let text: Arc<str> = self.session_after.tree.text(path).unwrap_or_default();
        let graph = &self.session_after.python.graph;
        let outline = graph.outline(path, &text);
        outline.map(|outline| outline.units).unwrap_or_default()
    }
}

/// Lines that nothing reached, and why.
#[derive(Default)]
struct Unreached {
    lines: BTreeSet<u32>,
    why: &'static str,
    /// Whether the plan as a whole cannot be called compiled for that.
    lowers: bool,
}

impl Unreached {
    fn all(lines: &BTreeSet<u32>, why: &'static str) -> Self {
        Self {
            lines: lines.clone(),
            why,
            lowers: true,
        }
    }

    const fn lines(lines: BTreeSet<u32>, why: &'static str) -> Self {
        Self {
            lines,
            why,
            lowers: false,
        }
    }
}
