//! Entry points of project files and configuration, `pkg.old:item`, where the module gives way to one without the item.
//! Texts of code are looked at in `strings`.

use coalesce_model::{ByteSpan, Finding, LanguagePlan, Severity, Texts, finding::codes};

use super::mapping::Mapping;
use crate::names::occurrences;

/// Refuses those that would lead nowhere.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    for change in &mapping.changes {
        let module = mapping.graph.find(None, &change.from);
        let Some(module) = module.filter(|module| mapping.goes_away(*module)) else {
            continue;
        };
        let begun = format!("{}:", change.from);
        let others = texts.paths().iter().filter(|path| {
            let name = path.file_name();
            !name.ends_with(".py") && !name.ends_with(".pyi")
        });
        for path in others {
            let Some(text) = texts.text(path).filter(|text| text.contains(&begun)) else {
                continue;
            };
            for place in occurrences(&text, &change.from) {
                let rest = text.get(place.end as usize..).unwrap_or_default();
                let Some(item) = rest.strip_prefix(':') else {
                    continue;
                };
                let end = item.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let item = item.get(..end.unwrap_or(item.len())).unwrap_or_default();
                let Some(target) = mapping.lacks(module, item).filter(|_| !item.is_empty()) else {
                    continue;
                };
                let end = place.end as usize + 1 + item.len();
                plan.refusals.push(Finding {
                    code: codes::MISMATCHED_REPLACEMENT,
                    severity: Severity::Error,
                    path: path.clone(),
                    span: Some(ByteSpan::from_range(place.start as usize..end)),
                    message: format!("`{item}` is used here and `{target}` has no such name"),
                    help: Some("add it there, or name its equal under `rename`".to_owned()),
                });
            }
        }
    }
}
