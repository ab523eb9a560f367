//! Builds that take a package at the top by the name of the project. Nothing of that is followed.

use std::ops::Range;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, LanguagePlan, Subject, Texts, Unproven, UnprovenKind,
    texts::start_of_text,
};

use super::{project_files, tools::built_in};
use crate::{
    project::{Document, NAMES},
    rewrite::Mapping,
};

/// Builds that look for a package which is called as the project is.
pub(super) const GOING_BY_PROJECT: [&str; 4] = ["flit_core", "hatchling", "poetry", "uv_build"];

/// Tells where a project file says the name of a top-level module that moves, and the build goes by it.
pub fn names_in_builds(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let changes = mapping.changes.iter();
    let moved = changes.filter(|change| {
        let whole = change.subject == Subject::Module && !change.from.contains('.');
        whole && change.kind == ChangeKind::Move && change.shim.is_none()
    });
    let moved: Vec<&Change> = moved.collect();
    if moved.is_empty() {
        return;
    }
    let files = project_files(texts).into_iter();
    for (path, text) in files.filter(|(path, _)| path.file_name() == "pyproject.toml") {
        let start = start_of_text(&text) as usize;
        let parsed = text.get(start..).map(toml_edit::Document::parse);
        let Some(Ok(document)) = parsed else { continue };
        let document = Document::new(document.as_item());
        let built = built_in(&text);
        let unsaid = moved
            .iter()
            .filter(|change| !built.contains(change.from.as_str()));
        for change in unsaid {
            let place = place_in(&document, &change.from);
            plan.unproven.extend(place.map(|(span, why)| Unproven {
                path: path.clone(),
                span: Some(ByteSpan::from_range(span.start + start..span.end + start)),
                kind: UnprovenKind::Condition,
                name: change.from.clone(),
                why: why.to_owned(),
            }));
        }
    }
}

/// Where a `pyproject.toml` has a build that goes by a name, and how.
fn place_in(document: &Document<'_>, name: &str) -> Option<(Range<usize>, &'static str)> {
    let backend = document.at(&["build-system", "build-backend"])?.as_str()?;
    let project = NAMES.iter().find_map(|keys| document.at(keys))?;
    let called = project.as_str()?.to_lowercase().replace(['-', '.'], "_");
    let goes_by = GOING_BY_PROJECT.iter().any(|known| backend.contains(known));
    let why = "the build looks for a package that is called as the project is";
    (goes_by && called == name.to_lowercase()).then_some((project.span()?, why))
}
