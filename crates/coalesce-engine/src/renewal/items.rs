//! Later uses of an item by the name that it had before its entry was applied.
//!
//! Of Python: the languages are asked about a tree in which the old module has the item still, with the text that it
//! has where it is now.

use std::{collections::BTreeSet, ops::Range};

use coalesce_model::{
    Change, ChangeKind, ImportTarget, ItemPlace, LanguageKind, LanguagePlan, Module, OutlineUnit,
    Subject, Texts as _, TreePath, UnitKind, UnprovenKind,
    language::RewriteOptions,
    manifest::{Entry, is_guard},
};
use coalesce_plan::Operation;

use super::{RenewedPart, StandIn, create};
use crate::{Session, session::LanguagePart};

/// What leads later uses of an item on.
pub(super) fn proposal(
    session: &Session,
    part: &dyn LanguagePart,
    entry: &Entry,
    options: RewriteOptions,
) -> Option<LanguagePlan> {
    let graph = part.graph();
    let (old, new) = (entry.from.text.as_str(), entry.to.text.as_str());
    let item = graph
        .item(new)
        .filter(|item| item.place == ItemPlace::Defined)?;
    if part.kind() != LanguageKind::Python || graph.item(old).is_some() {
        return None;
    }
    let users = users(session, part, old);
    if users.is_empty() {
        return None;
    }
    let stand_in = stand_in(session, part, (old, new), graph.modules().get(item.module)?)?;
    let change = replacement(entry);
    let asked = RenewedPart {
        session,
        part,
        options,
    };
    let mut plan = asked.lead_on(change, &users, &stand_in)?;
    // It is one definition, by two names.
    plan.unproven
        .retain(|one| one.kind != UnprovenKind::Equivalence);
    Some(plan)
}

/// The change of an entry as if its item were still to give way.
fn replacement(entry: &Entry) -> Change {
    Change {
        from: entry.from.text.clone(),
        to: entry.to.text.clone(),
        subject: Subject::Item,
        kind: ChangeKind::Replace { rename: Vec::new() },
        shim: None,
        uses: entry.uses,
    }
}

/// Files that import the old name in vain.
fn users(session: &Session, part: &dyn LanguagePart, old: &str) -> BTreeSet<TreePath> {
    let imports = part.graph().imports().iter();
    let in_vain =
        imports.filter(|import| import.name == old && import.target == ImportTarget::Unresolved);
    let on_purpose = |path: &TreePath| is_guard(path, session.tree.text(path).as_deref());
    let paths = in_vain.map(|import| import.path.clone());
    paths.filter(|path| !on_purpose(path)).collect()
}

/// The old module with the item by its old name.
fn stand_in(
    session: &Session,
    part: &dyn LanguagePart,
    (old, new): (&str, &str),
    home: &Module,
) -> Option<StandIn> {
    let (module, name) = old.rsplit_once('.')?;
    let definition = definition(session, part, new.rsplit_once('.')?.1, home)?;
    let definition = definition.named(name);
    let modules = part.graph().modules();
    let Some(there) = modules.iter().find(|one| one.name == module) else {
        let graph = part.graph();
        let leading = graph.leading_module(module, &home.name, &session.tree)?;
        return Some(StandIn {
            operations: vec![create(leading.path, definition)],
            declared_in: None,
        });
    };
    let own = session.tree.text(&there.path)?;
    Some(StandIn {
        declared_in: Some((there.path.clone(), u32::try_from(own.len()).ok()?)),
        operations: vec![Operation::Edit {
            path: there.path.clone(),
            text: format!("{own}\n\n{definition}"),
        }],
    })
}

/// The text of a definition, and where its name stands in it.
struct Definition {
    text: String,
    name: Range<usize>,
}

impl Definition {
    /// The same by another name.
    fn named(mut self, name: &str) -> String {
        self.text.replace_range(self.name, name);
        self.text
    }
}

/// A class or a function as it is written; what is neither is a value of which nothing is known.
fn definition(
    session: &Session,
    part: &dyn LanguagePart,
    name: &str,
    home: &Module,
) -> Option<Definition> {
    let text = session.tree.text(&home.path)?;
    let outline = part.graph().outline(&home.path, &text)?;
    let units = outline.units.iter().filter(|unit| unit.parent == Some(0));
    let mut units = units.filter(|unit| unit.name.of(&text) == Some(name));
    let unit = units.find(|unit| matches!(unit.kind, UnitKind::Class | UnitKind::Function));
    match unit {
        Some(unit) => written(&text, unit),
        None => Some(Definition {
            text: format!("{name} = None\n"),
            name: 0..name.len(),
        }),
    }
}

/// The lines of a unit.
fn written(text: &str, unit: &OutlineUnit) -> Option<Definition> {
    let (first, last) = unit.lines;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let before = lines.get(..first.checked_sub(1)? as usize)?;
    let start: usize = before.iter().map(|line| line.len()).sum();
    let whole = lines.get(first as usize - 1..last as usize)?.concat();
    let name = unit.name.start as usize - start..unit.name.end as usize - start;
    Some(Definition {
        text: format!("{}\n", whole.trim_end()),
        name,
    })
}
