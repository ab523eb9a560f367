//! What goes along with the items that move: what they need while they are defined, and is private
//! or used by nobody outside of their module.
//!
//! Only tried where leaving it behind would make two modules need each other at once.

use coalesce_model::{
    Change, ChangeKind, Finding, LanguageGraph as _, Severity, Subject, Texts, TreePath,
};

use super::{
    Moved,
    needs::{self, Origin},
    refusal,
    source::{Source, definition},
};
use crate::{
    graph::{Entity, PythonGraph},
    rewrite::mapping::Mapping,
};

/// More is another move than the one that was asked for.
const MAXIMUM: usize = 12;

/// The changes, and those that come on top.
pub struct Along {
    pub changes: Vec<Change>,
    pub notes: Vec<Finding>,
}

/// What has to go along, if anything may.
pub fn along(graph: &PythonGraph, changes: &[Change], texts: &dyn Texts) -> Option<Along> {
    let mut all = changes.to_vec();
    let mut notes = Vec::new();
    while let Some((change, note)) = next(graph, &all, texts) {
        all.push(change);
        notes.push(note);
        if notes.len() > MAXIMUM {
            return None;
        }
    }
    (!notes.is_empty()).then_some(Along {
        changes: all,
        notes,
    })
}

/// The next definition that goes along.
fn next(graph: &PythonGraph, changes: &[Change], texts: &dyn Texts) -> Option<(Change, Finding)> {
    let mapping = Mapping::new(graph, changes, texts);
    let travelling = mapping.items.list.iter().filter(|moved| moved.travels());
    travelling.into_iter().find_map(|moved| {
        let source = Source::new(&mapping, moved.source, texts)?;
        let (_, extents) = definition(&mapping, &source, moved).ok()?;
        let module = needs::Bound::new(&source);
        let needs = needs::of(&mapping, (&source, &module), &extents, &[]).ok()?;
        let eager = needs
            .iter()
            .filter(|need| need.origin == Origin::Back && need.eager());
        eager
            .map(|need| need.name.as_str())
            .find_map(|name| goes_along(&mapping, &source, moved, name, texts))
    })
}

fn goes_along(
    mapping: &Mapping<'_>,
    source: &Source,
    moved: &Moved,
    name: &str,
    texts: &dyn Texts,
) -> Option<(Change, Finding)> {
    let graph = mapping.graph;
    let module = graph.modules.get(moved.source)?;
    let from = format!("{}.{name}", module.name);
    let to = format!("{}.{name}", moved.parent);
    let twin = graph
        .twin(moved.source)
        .and_then(|twin| graph.modules.get(twin));
    let own = |path: &TreePath| path == &module.path || twin.is_some_and(|twin| &twin.path == path);
    let used_elsewhere = || {
        let references = graph.references(&from, texts);
        references.iter().any(|reference| !own(&reference.path))
    };
    let taken = moved
        .target
        .is_some_and(|target| !matches!(graph.member(target, name), Entity::Missing));
    let exported =
        module.exports.iter().any(|export| export == name) && source.analysis.all.is_some();
    if taken || exported || (!name.starts_with('_') && used_elsewhere()) {
        return None;
    }
    let change = Change {
        from: from.clone(),
        to: to.clone(),
        subject: Subject::Item,
        kind: ChangeKind::Move,
        shim: None,
        uses: coalesce_model::Uses::default(),
    };
    let moving = Moved {
        change: change.clone(),
        item: name.to_owned(),
        name: name.to_owned(),
        follows: false,
        ..moved.clone()
    };
    definition(mapping, source, &moving).ok()?;
    let message = format!(
        "`{from}` goes along to `{to}`: `{}` needs it while it is defined, and it is no other module's",
        moved.change.from
    );
    let note = Finding {
        severity: Severity::Note,
        ..refusal(&module.path, None, message, None)
    };
    Some((change, note))
}
