//! Which open places of Python the import of every module settles, for the interpreter that it ran in.
//!
//! Only doubts whether an import fails: a failure shows. What else an import does, to the process or to what others
//! look into later, cannot be compared as a whole: functions are values, libraries are patched in place, and what is
//! registered with compiled code is nobody's to see. Such places stay open.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    Change, LanguageGraph as _, LanguageKind, Subject, Unproven, UnprovenKind,
    change::Renames,
    envelope::{Locator, TreeState, Verify},
};
use coalesce_verify::Check;

use super::{Bench, verdict::Ran};
use crate::{Failure, MigrationPlan, Session};

impl Bench<'_> {
    /// Takes from the open places what the imports of both trees settle.
    pub fn settle_by_import(
        &self,
        session: &Session,
        (before, after): (&[Ran], &[Ran]),
        worked: &mut MigrationPlan,
        verify: &mut Verify,
    ) -> Result<(), Failure> {
        let changes = worked.checked.changes.get(&LanguageKind::Python);
        let renames = Renames::new(changes.map_or(&[][..], Vec::as_slice), ".");
        let before = Loads::of(before, TreeState::Before);
        let after = Loads::of(after, TreeState::After);
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(());
        };
        let importers = Importers::new(&renames, &before, &after);
        let mut locator = Locator::new(&session.tree);
        let open = &mut worked.assembled.unproven;
        for place in open.extract_if(.., |place| {
            let doubt = Doubt::of(place, session, &renames);
            doubt.is_some_and(|doubt| importers.settle(&doubt))
        }) {
            verify.settled += 1;
            verify.settled_places.push(locator.unproven(&place));
        }
        if !verify.settled_places.is_empty() {
            verify.settled_by = Some(self.checker.interpreter()?);
        }
        Ok(())
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
    loaded_before: BTreeSet<&'r str>,
    loaded_after: BTreeSet<&'r str>,
}

struct Importers<'r>(Vec<Importer<'r>>);

impl<'r> Importers<'r> {
    fn new(renames: &Renames<'_>, before: &Loads<'r>, after: &Loads<'r>) -> Self {
        let stays = |name: &str| {
            let change = renames.nearest(name);
            change.is_none_or(|(change, _)| change.kind.carries_text())
        };
        let modules = before.modules.iter().filter(|module| stays(module));
        let importers = modules.filter_map(|module| {
            Some(Importer {
                loaded_before: before.by(module)?,
                loaded_after: after.by(&renames.name_after(module))?,
                before: module.clone(),
            })
        });
        Self(importers.collect())
    }

    /// Whether some module that did not run the text of a doubt does so now, and was imported on both trees. What
    /// could not be imported before by itself is not known to be importable at all.
    fn settle(&self, doubt: &Doubt) -> bool {
        let comes_to_run = |one: &Importer<'_>| {
            !one.loaded_before.contains(doubt.before.as_str())
                && one.loaded_after.contains(doubt.after.as_str())
        };
        self.0.iter().any(|one| one.before == doubt.before) && self.0.iter().any(comes_to_run)
    }
}

/// An open place that an import may settle: the module that runs it, in both trees.
struct Doubt {
    before: String,
    after: String,
}

impl Doubt {
    fn of(place: &Unproven, session: &Session, renames: &Renames<'_>) -> Option<Self> {
        if place.kind != UnprovenKind::FailingImport || place.path.extension() != Some("py") {
            return None;
        }
        let graph = &session.python.graph;
        let module = graph.modules().get(graph.module_of(&place.path)?)?;
        let change = renames.nearest(&place.name).map(|(change, _)| change);
        // What gives way to something else is not run any more.
        if change.is_some_and(|change| !change.kind.carries_text()) {
            return None;
        }
        let is_item =
            |change: &&Change| change.subject == Subject::Item && change.from == place.name;
        let after = match change.filter(is_item) {
            Some(change) => change.to.rsplit_once('.')?.0.to_owned(),
            None => renames.name_after(&module.name),
        };
        Some(Self {
            before: module.name.clone(),
            after,
        })
    }
}
