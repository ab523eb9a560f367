//! Libraries of tags, which templates load by the last part of a module's name: `{% load gpu_tags %}`. They are looked for
//! in the packages `templatetags` of all that is installed.

use coalesce_model::{ByteSpan, ChangeKind, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind};

use super::mapping::Mapping;
use crate::names::places_of_word;

/// The package that such libraries lie in.
const HOME: &str = "templatetags";

/// Tells templates that load a library by a name which it loses.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let modules = mapping.graph.modules.iter().enumerate();
    let lost = modules.filter_map(|(at, module)| Some((library(&module.name)?, at)));
    let lost: Vec<(&str, usize)> = lost
        .filter(|(library, module)| loses(mapping, *module, library))
        .collect();
    if lost.is_empty() {
        return;
    }
    for path in texts.paths().iter().filter(|path| is_template(path)) {
        let Some(text) = texts.text(path) else {
            continue;
        };
        for (library, module) in &lost {
            let place = loaded(&text, library);
            let module = mapping.graph.modules.get(*module);
            plan.unproven
                .extend(place.zip(module).map(|(span, module)| Unproven {
                    path: path.clone(),
                    span: Some(span),
                    kind: UnprovenKind::DynamicImport,
                    name: module.name.clone(),
                    why: "a template loads the library by this name, which it loses".to_owned(),
                }));
        }
    }
}

/// The name by which templates load a module, if it is such a library.
fn library(module: &str) -> Option<&str> {
    let (home, library) = module.rsplit_once('.')?;
    (home.rsplit('.').next() == Some(HOME)).then_some(library)
}

/// Whether no library has the name of one after the changes, by its own or by those of packages around it.
fn loses(mapping: &Mapping<'_>, module: usize, name: &str) -> bool {
    let Some(own) = mapping.graph.modules.get(module) else {
        return false;
    };
    let change = mapping.renames.nearest(&own.name);
    let change = change.map(|(change, _)| change);
    let kept = mapping.new_name(module).map(library);
    let gives_way = change.is_some_and(|change| change.kind != ChangeKind::Move);
    let is_shimmed = change.is_some_and(|change| change.shim.is_some());
    let goes = gives_way || kept.is_some_and(|kept| kept != Some(name));
    goes && (gives_way || !is_shimmed)
}

fn is_template(path: &TreePath) -> bool {
    let known = ["html", "htm", "xml", "txt", "jinja", "j2", "djhtml"];
    path.extension().is_some_and(|end| known.contains(&end))
}

/// Where a template loads a library of this name.
fn loaded(text: &str, name: &str) -> Option<ByteSpan> {
    let tags = text.match_indices("{%");
    let mut found = tags.filter_map(|(at, open)| {
        let start = at + open.len();
        let tag = text.get(start..)?.split("%}").next()?;
        // A sign that takes the space away may come first.
        let words = tag.trim_start_matches(['-', '+']).trim_start();
        let libraries = words.strip_prefix("load")?;
        if !libraries.starts_with(char::is_whitespace) {
            return None;
        }
        let start = start + tag.len() - libraries.len();
        let place = start + places_of_word(libraries, name).next()?;
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
        assert!(loaded("{%load\tgpu_tags%}", "gpu_tags").is_some());
        assert!(loaded("{%- load gpu_tags -%}", "gpu_tags").is_some());
        assert!(loaded("{% load gpu_tags_2 %}gpu_tags", "gpu_tags").is_none());
        assert!(loaded("{% loader gpu_tags %}", "gpu_tags").is_none());
    }
}
