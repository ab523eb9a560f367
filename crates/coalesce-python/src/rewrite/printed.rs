//! Expressions that are printed as they stand: `f"{gpu.count=}"` says `gpu.count=2`, so another name in it is another output.

use coalesce_model::{LanguagePlan, Texts, Unproven, UnprovenKind};

use super::mapping::Mapping;
use crate::analysis::Analysis;

/// Tells the edits within such expressions, whatever entry makes them.
pub(super) fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let modules = mapping.graph.modules.iter();
    for path in modules.map(|module| &module.path) {
        let edits = plan.edits.get(path).filter(|edits| !edits.is_empty());
        let Some((edits, text)) = edits.zip(texts.text(path)) else {
            continue;
        };
        if !may_print(&text) {
            continue;
        }
        for span in Analysis::new(&text).printed {
            let is_inside = |at: usize| (span.start as usize..=span.end as usize).contains(&at);
            let mut edits = edits.iter().map(|edit| edit.span);
            if edits.any(|edit| is_inside(edit.start as usize) && is_inside(edit.end as usize)) {
                plan.unproven.push(Unproven {
                    path: path.clone(),
                    span: Some(span),
                    kind: UnprovenKind::OwnPlace,
                    name: span.of(&text).unwrap_or_default().to_owned(),
                    why: "`=` prints this expression as it stands, and it is another one afterwards"
                        .to_owned(),
                });
            }
        }
    }
}

/// Whether a text has an `=` with which an expression in a string may end: before `}`, `!r` or a format.
fn may_print(text: &str) -> bool {
    let mut signs = text.match_indices('=');
    signs.any(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default().trim_start();
        rest.starts_with(['}', '!', ':'])
    })
}
