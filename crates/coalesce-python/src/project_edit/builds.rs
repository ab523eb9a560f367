//! What builds say of a package at the top in words of their own, `include = "gpu"`, or take it by the name of the project.
//! Nothing of that is followed.

use coalesce_model::{
    ByteSpan, ChangeKind, LanguagePlan, Subject, Texts, TreePath, Unproven, UnprovenKind,
    texts::start_of_text,
};
use toml_edit::{Document, Item, TableLike, Value};

use super::project_files;
use crate::rewrite::Mapping;

/// Tools that find by their tables what is built.
const BUILDING: [&str; 7] = [
    "flit",
    "hatch",
    "maturin",
    "pdm",
    "poetry",
    "setuptools",
    "uv",
];

/// Builds that look for a package which is called as the project is.
const GOING_BY_PROJECT: [&str; 4] = ["flit_core", "hatchling", "poetry", "uv_build"];

/// Tells where a project file says the name of a top-level module that moves, and the build goes by it.
pub fn names_in_builds(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let changes = mapping.changes.iter();
    let moved = changes.filter(|change| {
        let whole = change.subject == Subject::Module && !change.from.contains('.');
        whole && change.kind == ChangeKind::Move && change.shim.is_none()
    });
    for change in moved {
        for (path, text) in project_files(texts) {
            let place = place_in(&path, &text, &change.from);
            plan.unproven.extend(place.map(|(span, why)| Unproven {
                path,
                span: Some(span),
                kind: UnprovenKind::Condition,
                name: change.from.clone(),
                why: why.to_owned(),
            }));
        }
    }
}

/// Where a `pyproject.toml` has a build that goes by a name, and how.
fn place_in(path: &TreePath, text: &str, name: &str) -> Option<(ByteSpan, &'static str)> {
    let start = start_of_text(text) as usize;
    let document = Document::parse(text.get(start..)?).ok()?;
    if path.file_name() != "pyproject.toml" {
        return None;
    }
    let tables = BUILDING
        .iter()
        .filter_map(|tool| Some((*tool, document.get("tool")?.get(tool)?)));
    let said = tables.into_iter().find_map(|(tool, table)| {
        let tables = table.as_table_like()?.iter();
        let mut own = tables.filter(|(key, _)| {
            // These lists are followed.
            tool != "setuptools" || !matches!(*key, "packages" | "py-modules")
        });
        own.find_map(|(_, item)| said_in(item, name))
    });
    let shift =
        |span: std::ops::Range<usize>| ByteSpan::from_range(span.start + start..span.end + start);
    if let Some(span) = said {
        return Some((
            shift(span),
            "the build goes by this name, and it does not follow",
        ));
    }
    let backend = document
        .get("build-system")?
        .get("build-backend")?
        .as_str()?;
    let project = document.get("project")?.get("name")?;
    let called = project.as_str()?.to_lowercase().replace(['-', '.'], "_");
    let goes_by = GOING_BY_PROJECT.iter().any(|known| backend.contains(known));
    let why = "the build looks for a package that is called as the project is";
    (goes_by && called == name.to_lowercase()).then_some((shift(project.span()?), why))
}

/// Where an item says a name, as a text or as a key.
fn said_in(item: &Item, name: &str) -> Option<std::ops::Range<usize>> {
    match item {
        Item::Value(value) => said_in_value(value, name),
        Item::Table(table) => said_in_table(table, name),
        Item::ArrayOfTables(tables) => tables.iter().find_map(|table| said_in_table(table, name)),
        Item::None => None,
    }
}

fn said_in_table(table: &dyn TableLike, name: &str) -> Option<std::ops::Range<usize>> {
    table.iter().find_map(|(key, item)| {
        let own = table.key(key).filter(|_| key == name);
        own.and_then(|key| key.span())
            .or_else(|| said_in(item, name))
    })
}

fn said_in_value(value: &Value, name: &str) -> Option<std::ops::Range<usize>> {
    match value {
        Value::String(text) if text.value() == name => value.span(),
        Value::Array(array) => array.iter().find_map(|each| said_in_value(each, name)),
        Value::InlineTable(table) => said_in_table(table, name),
        _ => None,
    }
}
