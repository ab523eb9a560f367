//! Which open places of Python the import of every module settles, for the interpreter that it ran in.
//!
//! Only doubts about what happens while modules are imported: that something fails, that something is run that does
//! more than before, or is not run any more. A failure shows. What is done is held against what was done before: all
//! that the import of a module leaves behind, in a new interpreter on each tree. What comes later, when a function is
//! called, no import can show.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    Change, ChangeKind, LanguageGraph as _, LanguageKind, LineIndex, Subject, Texts as _, Unproven,
    UnprovenKind,
    change::Renames,
    envelope::{SettledPlace, TreeState, Verify},
};
use coalesce_plan::Operation;
use coalesce_verify::{Check, ImportQuestion, ImportQuestions, ImportState, Wanted};

use super::{Bench, states, verdict::Ran};
use crate::{Failure, MigrationPlan, Session};

/// What an import may settle.
const SETTLED_BY_IMPORT: [UnprovenKind; 3] = [
    UnprovenKind::FailingImport,
    UnprovenKind::NewlyExecuted,
    UnprovenKind::NotExecuted,
];

/// The trees, and what was imported of them.
pub struct Trees<'s> {
    /// The tree as it is.
    pub session: &'s Session,
    /// The planned tree.
    pub session_after: &'s Session,
    /// The files of both.
    pub files: (&'s Wanted, &'s Wanted),
    /// What ran on both.
    pub ran: (&'s [Ran], &'s [Ran]),
}

impl Bench<'_> {
    /// Takes from the open places what the imports settle; others say what the imports showed. The copy is the
    /// planned tree, before and after.
    pub fn settle_by_import(
        &self,
        trees: &Trees<'_>,
        worked: &mut MigrationPlan,
        verify: &mut Verify,
    ) -> Result<(), Failure> {
        let none = Vec::new();
        let changes = worked.checked.changes.get(&LanguageKind::Python);
        let changes = changes.unwrap_or(&none).clone();
        let (Some(before), Some(after)) = (
            Loads::of(trees.ran.0, TreeState::Before),
            Loads::of(trees.ran.1, TreeState::After),
        ) else {
            return Ok(());
        };
        let loads = Comparison::new(&changes, before, after);
        let open = worked.assembled.unproven.iter().enumerate();
        let doubts: Vec<Doubt> = open
            .filter_map(|(at, place)| Doubt::of(at, place, trees, &changes))
            .collect();
        let compared = self.compare_states(trees, worked, &loads, &doubts)?;
        let mut settled = BTreeSet::new();
        for doubt in &doubts {
            match doubt.verdict(&loads, &compared) {
                Verdict::Settled => drop(settled.insert(doubt.at)),
                Verdict::Open(why) => {
                    if let Some(place) = worked.assembled.unproven.get_mut(doubt.at) {
                        place.why = format!("{}; imported before and after: {why}", place.why);
                    }
                }
                Verdict::Unknown => {}
            }
        }
        if settled.is_empty() {
            return Ok(());
        }
        let interpreter = self.checker.interpreter()?;
        let mut at = 0..;
        worked.assembled.unproven.retain(|place| {
            let is_settled = at.next().is_some_and(|at| settled.contains(&at));
            if is_settled {
                verify.settled_places.push(told(place, trees, &interpreter));
            }
            !is_settled
        });
        verify.settled += settled.len();
        if !compared.is_empty() {
            verify.configurations.push(format!(
                "what the import of {} leaves behind, before and after",
                match compared.len() {
                    1 => "1 module".to_owned(),
                    count => format!("{count} modules"),
                }
            ));
        }
        Ok(())
    }

    /// For each module whose import comes to run something, or runs it no longer, what is otherwise afterwards.
    fn compare_states(
        &self,
        trees: &Trees<'_>,
        worked: &MigrationPlan,
        loads: &Comparison<'_>,
        doubts: &[Doubt],
    ) -> Result<BTreeMap<usize, Option<String>>, Failure> {
        let asked: BTreeSet<usize> = doubts
            .iter()
            .filter(|doubt| doubt.kind != UnprovenKind::FailingImport)
            .flat_map(|doubt| loads.concerned(doubt))
            .collect();
        if asked.is_empty() {
            return Ok(BTreeMap::new());
        }
        let asking = Asking {
            trees,
            loads,
            executed: doubts.iter().flat_map(Doubt::names).collect(),
            edited: edited_modules(trees, &worked.assembled.operations, loads),
            subclasses: asks_for_subclasses(trees.session),
        };
        let asked: Vec<usize> = asked.into_iter().collect();
        self.stage_states("after");
        let first = self.checker.import_states(&asking.after(&asked, None))?;
        self.bring(trees.files.0)?;
        self.stage_states("before");
        let before = self.checker.import_states(&asking.before(&asked, &first))?;
        self.bring(trees.files.1)?;
        self.stage_states("once more after");
        // What only the first tree loads comes later here.
        let after = self
            .checker
            .import_states(&asking.after(&asked, Some(&before)))?;
        let pairs = asked.iter().zip(before.iter().zip(&after));
        let compared = pairs.map(|(root, (before, after))| {
            let names = |digest: &str| self.checker.names_of_state(digest);
            (*root, asking.difference(before, after, &names))
        });
        Ok(compared.collect())
    }

    fn stage_states(&self, state: &str) {
        self.progress
            .stage(format_args!("{state}: what imports leave behind"));
    }
}

/// A place that was settled.
fn told(place: &Unproven, trees: &Trees<'_>, interpreter: &str) -> SettledPlace {
    let text = trees.session.tree.text(&place.path);
    let line = place.span.zip(text);
    SettledPlace {
        path: place.path.clone(),
        line: line.map(|(span, text)| LineIndex::new(&text).line_number(span.start)),
        kind: place.kind,
        name: place.name.clone(),
        why: place.why.clone(),
        by: format!("the import of every module, with {interpreter}"),
    }
}

/// What the imports of a tree have loaded.
struct Loads<'r> {
    modules: &'r [String],
    loaded: &'r BTreeMap<String, Vec<u32>>,
}

impl<'r> Loads<'r> {
    fn of(ran: &'r [Ran], state: TreeState) -> Option<Self> {
        ran.iter()
            .filter(|ran| ran.state == state)
            .find_map(|ran| match &ran.check {
                Check::Imports { modules, .. } => Some(Self {
                    modules,
                    loaded: &ran.outcome.loaded,
                }),
                _ => None,
            })
    }

    /// What the import of a module has loaded; `None` where it failed.
    fn by(&self, module: &str) -> Option<BTreeSet<&'r str>> {
        let places = self.loaded.get(module)?.iter();
        let names = places.filter_map(|place| self.modules.get(*place as usize));
        Some(names.map(String::as_str).collect())
    }
}

/// A module that can be imported in both trees, and what it loads of the tree in each.
struct Importer<'r> {
    before: String,
    after: String,
    loaded_before: BTreeSet<&'r str>,
    loaded_after: BTreeSet<&'r str>,
}

struct Comparison<'r> {
    importers: Vec<Importer<'r>>,
    /// The modules that both trees have, by their names before.
    in_both: BTreeSet<&'r str>,
    /// The names after of what moves, each with its name before.
    moved: BTreeMap<String, String>,
    /// The names of what gives way to something else, each with that.
    replaced: BTreeMap<String, String>,
}

impl<'r> Comparison<'r> {
    fn new(changes: &[Change], before: Loads<'r>, after: Loads<'r>) -> Self {
        let renames = Renames::new(changes, ".");
        let stays = |name: &str| {
            let change = renames.nearest(name);
            change.is_none_or(|(change, _)| change.kind.carries_text())
        };
        let modules = before.modules.iter().filter(|module| stays(module));
        let importers = modules.filter_map(|module| {
            let now = renames.name_after(module);
            Some(Importer {
                loaded_before: before.by(module)?,
                loaded_after: after.by(&now)?,
                before: module.clone(),
                after: now,
            })
        });
        let modules_after: BTreeSet<&String> = after.modules.iter().collect();
        let is_there = |module: &&String| modules_after.contains(&renames.name_after(module));
        let in_both = before.modules.iter().filter(is_there);
        let in_both = in_both.map(String::as_str).collect();
        let mut moved = BTreeMap::new();
        let mut replaced = BTreeMap::new();
        for change in changes {
            match &change.kind {
                ChangeKind::Move => drop(moved.insert(change.to.clone(), change.from.clone())),
                ChangeKind::Replace { .. } => {
                    replaced.insert(change.from.clone(), change.to.clone());
                }
                ChangeKind::Supersede | ChangeKind::Remove => {}
            }
        }
        Self {
            importers: importers.collect(),
            in_both,
            moved,
            replaced,
        }
    }

    /// The importers, by their places, that run what a doubt is about in one tree alone; of what gives way to
    /// something else, in any.
    fn concerned(&self, doubt: &Doubt) -> Vec<usize> {
        let all = self.importers.iter().enumerate();
        let is_concerned = |importer: &Importer<'_>| {
            let ran = importer.loaded_before.contains(doubt.before.as_str());
            let runs = importer.loaded_after.contains(doubt.after.as_str());
            if doubt.gives_way {
                ran || runs
            } else {
                ran != runs
            }
        };
        let found = all.filter(|(_, importer)| is_concerned(importer));
        found.map(|(at, _)| at).collect()
    }

    /// The name before of one after.
    fn name_before(&self, name: &str) -> String {
        let mut end = name.len();
        loop {
            let head = name.get(..end).unwrap_or_default();
            if let Some(before) = self.moved.get(head) {
                return format!("{before}{}", name.get(end..).unwrap_or_default());
            }
            match head.rfind('.') {
                Some(at) => end = at,
                None => return name.to_owned(),
            }
        }
    }
}

/// An open place that an import may settle.
struct Doubt {
    /// Its place among all.
    at: usize,
    kind: UnprovenKind,
    /// The module that runs it, in both trees.
    before: String,
    after: String,
    /// Whether it gives way to something else, which is run instead.
    gives_way: bool,
}

enum Verdict {
    Settled,
    /// The imports show why not.
    Open(String),
    /// The imports show nothing.
    Unknown,
}

impl Doubt {
    fn of(at: usize, place: &Unproven, trees: &Trees<'_>, changes: &[Change]) -> Option<Self> {
        if !SETTLED_BY_IMPORT.contains(&place.kind) || place.path.extension() != Some("py") {
            return None;
        }
        let graph = &trees.session.python.graph;
        let module = graph.modules().get(graph.module_of(&place.path)?)?;
        let renames = Renames::new(changes, ".");
        let change = renames.nearest(&place.name).map(|(change, _)| change);
        if change.is_some_and(|change| change.kind == ChangeKind::Remove) {
            return None;
        }
        let item =
            change.filter(|change| change.subject == Subject::Item && change.from == place.name);
        let after = match item {
            Some(change) => change.to.rsplit_once('.')?.0.to_owned(),
            None => renames.name_after(&module.name),
        };
        Some(Self {
            at,
            kind: place.kind,
            before: module.name.clone(),
            after,
            gives_way: change.is_some_and(|change| !matches!(change.kind, ChangeKind::Move)),
        })
    }

    fn names(&self) -> [String; 2] {
        [self.before.clone(), self.after.clone()]
    }

    fn verdict(
        &self,
        loads: &Comparison<'_>,
        compared: &BTreeMap<usize, Option<String>>,
    ) -> Verdict {
        // What could not be imported before by itself is not known to be importable at all.
        let imported = |importer: &&Importer<'_>| importer.before == self.before;
        if !loads.importers.iter().any(|one| imported(&one)) {
            return Verdict::Unknown;
        }
        let concerned = loads.concerned(self);
        if concerned.is_empty() {
            return Verdict::Unknown;
        }
        if self.kind == UnprovenKind::FailingImport {
            let runs = |at: &usize| {
                let importer = loads.importers.get(*at);
                importer.is_some_and(|one| one.loaded_after.contains(self.after.as_str()))
            };
            return if concerned.iter().any(runs) {
                Verdict::Settled
            } else {
                Verdict::Unknown
            };
        }
        for at in concerned {
            match (compared.get(&at), loads.importers.get(at)) {
                (Some(None), Some(_)) => {}
                (Some(Some(why)), Some(importer)) => {
                    return Verdict::Open(format!("`{}` leaves {why}", importer.before));
                }
                _ => return Verdict::Unknown,
            }
        }
        Verdict::Settled
    }
}

/// What the questions for both trees are made of.
struct Asking<'s> {
    trees: &'s Trees<'s>,
    loads: &'s Comparison<'s>,
    /// The modules that the doubts are about, by all of their names.
    executed: BTreeSet<String>,
    /// The modules that the plan writes, by their names before.
    edited: BTreeSet<String>,
    subclasses: bool,
}

impl Asking<'_> {
    /// The questions for the tree as it is.
    fn before(&self, asked: &[usize], after: &[ImportState]) -> ImportQuestions {
        let importers = asked.iter().filter_map(|at| self.loads.importers.get(*at));
        let asked = importers.zip(after).map(|(importer, state)| {
            let names = importer.loaded_after.iter();
            let names = names.map(|name| self.loads.name_before(name));
            ImportQuestion {
                module: importer.before.clone(),
                then_outside: outside(state),
                then: self.others(names, &importer.loaded_before),
            }
        });
        self.questions(
            asked.collect(),
            &self.loads.replaced,
            self.trees.session,
            false,
        )
    }

    /// The questions for the planned tree; without what the other one has loaded it is not compared yet.
    fn after(&self, asked: &[usize], before: Option<&[ImportState]>) -> ImportQuestions {
        let importers = asked.iter().filter_map(|at| self.loads.importers.get(*at));
        let renamed: BTreeMap<&str, &str> = self
            .loads
            .importers
            .iter()
            .map(|importer| (importer.before.as_str(), importer.after.as_str()))
            .collect();
        let asked = importers.enumerate().map(|(number, importer)| {
            let names = importer.loaded_before.iter();
            let names = names.filter_map(|name| renamed.get(name).map(|now| (*now).to_owned()));
            let state = before.and_then(|before| before.get(number));
            ImportQuestion {
                module: importer.after.clone(),
                then_outside: state.map(outside).unwrap_or_default(),
                then: match before {
                    Some(_) => self.others(names, &importer.loaded_after),
                    None => Vec::new(),
                },
            }
        });
        self.questions(
            asked.collect(),
            &self.loads.moved,
            self.trees.session_after,
            before.is_none(),
        )
    }

    /// Those that are not loaded, and that no doubt is about.
    fn others(&self, names: impl Iterator<Item = String>, loaded: &BTreeSet<&str>) -> Vec<String> {
        let others =
            names.filter(|name| !loaded.contains(name.as_str()) && !self.executed.contains(name));
        others.collect()
    }

    fn questions(
        &self,
        asked: Vec<ImportQuestion>,
        names: &BTreeMap<String, String>,
        session: &Session,
        anew: bool,
    ) -> ImportQuestions {
        let modules = session.python.graph.modules();
        let top = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
        let own: BTreeSet<String> = modules.iter().map(|module| top(&module.name)).collect();
        let watched = modules
            .iter()
            .filter(|module| self.executed.contains(&module.name));
        ImportQuestions {
            anew,
            roots: states::import_roots(session),
            own: own.into_iter().collect(),
            asked,
            names: names.clone(),
            watched: watched.map(|module| module.path.clone()).collect(),
            subclasses: self.subclasses,
        }
    }

    /// What is otherwise after an import, in a fragment; `None` where nothing is.
    fn difference(
        &self,
        before: &ImportState,
        after: &ImportState,
        names: &dyn Fn(&str) -> BTreeMap<String, String>,
    ) -> Option<String> {
        if let Some(error) = before.error.as_ref().or(after.error.as_ref()) {
            return Some(format!("no answer: {error}"));
        }
        if let Some(name) = other_part(before, after) {
            return Some(format!("the process otherwise: {name}"));
        }
        if let Some(told) = first_difference(&before.told, &after.told) {
            return Some(format!("other warnings: {told}"));
        }
        if let Some(done) = first_difference(&before.outside, &after.outside) {
            return Some(format!("something else outside of the process: {done}"));
        }
        let compiled = before.compiled.iter().chain(&after.compiled);
        if let Some(library) = compiled.min() {
            return Some(format!(
                "`{library}` in a state that cannot be compared, since it is compiled"
            ));
        }
        self.other_modules(before, after, names)
    }

    fn other_modules(
        &self,
        before: &ImportState,
        after: &ImportState,
        names: &dyn Fn(&str) -> BTreeMap<String, String>,
    ) -> Option<String> {
        let all: BTreeSet<&String> = before.modules.keys().chain(after.modules.keys()).collect();
        // What nobody that is watched has to do with, where both load the same, is what it was.
        let same = outside(before) == outside(after);
        let used: BTreeSet<&String> = before.used.iter().chain(&after.used).collect();
        let concerned = |name: &&String| {
            let of = before
                .modules
                .get(*name)
                .or_else(|| after.modules.get(*name));
            let top = name.split('.').next().unwrap_or(name).to_owned();
            !same || used.contains(&top) || of.is_some_and(|module| module.own)
        };
        all.into_iter().filter(concerned).find_map(|name| {
            let (own, other) = (before.modules.get(name), after.modules.get(name));
            let was = own.or_else(|| before.later.get(name));
            let is = other.or_else(|| after.later.get(name));
            match (was, is) {
                (Some(was), Some(is)) if was == is => None,
                (Some(was), Some(is)) if was.own => {
                    let found = self.other_name(name, &names(&was.digest), &names(&is.digest))?;
                    Some(format!("`{name}` otherwise: {found}"))
                }
                (Some(_), Some(_)) => Some(format!("`{name}` otherwise")),
                // What the doubts are about is run in one tree alone, and what is new has no counterpart.
                (Some(one), None) | (None, Some(one)) if one.own && self.may_be_alone(name) => None,
                _ => Some(format!("`{name}` loaded, in one of the trees alone")),
            }
        })
    }

    fn may_be_alone(&self, name: &str) -> bool {
        self.executed.contains(name) || !self.loads.in_both.contains(name)
    }

    /// A name of a module that is something else than before. What comes and goes where the plan writes, reading has
    /// proven; modules are attributes of their packages wherever they are loaded.
    fn other_name(
        &self,
        module: &str,
        before: &BTreeMap<String, String>,
        after: &BTreeMap<String, String>,
    ) -> Option<String> {
        let edited = self.edited.contains(module);
        let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let found = all
            .into_iter()
            .find(|name| match (before.get(*name), after.get(*name)) {
                (Some(was), Some(is)) => was != is && !(edited && *name == "__all__"),
                (Some(one), None) | (None, Some(one)) => !edited && !one.starts_with("module "),
                (None, None) => false,
            });
        // A module without a file that nobody could look into again is not known to be the same.
        let unknown = before.is_empty() && after.is_empty();
        found
            .map(|name| format!("`{name}`"))
            .or_else(|| unknown.then(|| "its names".to_owned()))
    }
}

/// What the whole process shares that is otherwise; of what one import loads and the other does not, as it is once
/// both have.
fn other_part<'s>(before: &'s ImportState, after: &'s ImportState) -> Option<&'s String> {
    fn of<'s>(state: &'s ImportState, name: &str) -> Option<&'s String> {
        let at_once = state.process.get(name);
        at_once.or_else(|| state.process_later.get(name))
    }
    let mut all = before.process.keys().chain(after.process.keys());
    all.find(|name| of(before, name) != of(after, name))
}

/// What an import has loaded from outside.
fn outside(state: &ImportState) -> Vec<String> {
    let outside = state.modules.iter().filter(|(_, module)| !module.own);
    outside.map(|(name, _)| name.clone()).collect()
}

/// The first entry that one of the lists has more often.
fn first_difference(before: &[String], after: &[String]) -> Option<String> {
    let mut counts: BTreeMap<&String, isize> = BTreeMap::new();
    for entry in before {
        *counts.entry(entry).or_default() += 1;
    }
    for entry in after {
        *counts.entry(entry).or_default() -= 1;
    }
    let different = counts.into_iter().find(|(_, count)| *count != 0);
    different.map(|(entry, _)| entry.chars().take(200).collect())
}

/// The modules that a plan writes, by their names before.
fn edited_modules(
    trees: &Trees<'_>,
    operations: &[Operation],
    loads: &Comparison<'_>,
) -> BTreeSet<String> {
    let (before, after) = (
        &trees.session.python.graph,
        &trees.session_after.python.graph,
    );
    let mut edited = BTreeSet::new();
    for operation in operations {
        let (old, new) = match operation {
            Operation::Move { from, to, .. } => (from, to),
            other => (other.path(), other.path()),
        };
        let old = before
            .module_of(old)
            .and_then(|at| before.modules().get(at));
        let new = after.module_of(new).and_then(|at| after.modules().get(at));
        edited.extend(old.map(|module| module.name.clone()));
        edited.extend(new.map(|module| loads.name_before(&module.name)));
    }
    edited
}

/// Whether some file of the tree asks a class for its subclasses.
fn asks_for_subclasses(session: &Session) -> bool {
    let modules = session.python.graph.modules().iter();
    let mut texts = modules.filter_map(|module| session.tree.text(&module.path));
    texts.any(|text| text.contains("__subclasses__"))
}
