//! Libraries of tags, which templates load by the last part of a module's name: `{% load gpu_tags %}`. They are looked for
//! in the packages `templatetags` of all that is installed.

use coalesce_model::{ByteSpan, ChangeKind, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind};

use super::mapping::Mapping;
use crate::names::places_of_word;

/// The package that such libraries lie in.
const HOME: &str = "templatetags";

/// Tells templates that load a library by a name which it loses.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let last = |name: &'_ str| name.rsplit('.').next().map(str::to_owned);
    let is_library = |name: &str| name.split('.').rev().nth(1) == Some(HOME);
    let lost = mapping.changes.iter().filter(|change| {
        let kept = is_library(&change.to) && last(&change.from) == last(&change.to);
        let stays = change.kind == ChangeKind::Move && (kept || change.shim.is_some());
        is_library(&change.from) && !stays
    });
    let lost: Vec<_> = lost.collect();
    if lost.is_empty() {
        return;
    }
    for path in texts.paths().iter().filter(|path| is_template(path)) {
        let Some(text) = texts.text(path) else {
            continue;
        };
        for change in &lost {
            let name = last(&change.from).unwrap_or_default();
            let place = loaded(&text, &name);
            plan.unproven.extend(place.map(|span| Unproven {
                path: path.clone(),
                span: Some(span),
                kind: UnprovenKind::DynamicImport,
                name: change.from.clone(),
                why: "a template loads the library by this name, which it loses".to_owned(),
            }));
        }
    }
}

fn is_template(path: &TreePath) -> bool {
    let known = ["html", "htm", "xml", "txt", "jinja", "j2", "djhtml"];
    path.extension().is_some_and(|end| known.contains(&end))
}

/// Where a template loads a library of this name.
fn loaded(text: &str, name: &str) -> Option<ByteSpan> {
    const LOAD: &str = "{% load ";
    let places = text.match_indices(LOAD);
    let mut found = places.filter_map(|(at, load)| {
        let start = at + load.len();
        let tag = text.get(start..)?.split("%}").next()?;
        let place = start + places_of_word(tag, name).next()?;
        Some(ByteSpan::from_range(place..place + name.len()))
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_loaded_by_their_names() {
        assert!(loaded("{% load static gpu_tags %}", "gpu_tags").is_some());
        assert!(loaded("{% load device from gpu_tags %}", "gpu_tags").is_some());
        assert!(loaded("{% load gpu_tags_2 %}gpu_tags", "gpu_tags").is_none());
    }
}
