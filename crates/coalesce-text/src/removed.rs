//! Names of modules that go, in files of no programming language: nothing takes their place, so nothing changes there.

use coalesce_model::{
    Change, ChangeKind, Finding, Form, LanguageKind, LanguagePlan, NotRewritten, Reference,
    Severity, Texts, Unproven, UnprovenKind, finding::codes,
};

/// Tells the places that name what goes: an entry point is in use, a configuration file may be, and a document says
/// something that is not there any more.
pub(crate) fn tell(
    changes: &[Change],
    language: LanguageKind,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    let removed = changes.iter().filter(|change| is_removal(change));
    let names: Vec<&str> = removed.map(|change| change.from.as_str()).collect();
    for (name, places) in names.iter().zip(crate::references(&names, language, texts)) {
        for place in places {
            let text = texts.text(&place.path).unwrap_or_default();
            tell_place(name, place, &text, plan);
        }
    }
}

/// Whether nothing takes the place of what changes.
pub(crate) fn is_removal(change: &Change) -> bool {
    change.kind == ChangeKind::Remove
}

fn tell_place(name: &str, place: Reference, text: &str, plan: &mut LanguagePlan) {
    let Reference {
        path, span, form, ..
    } = place;
    let name = name.to_owned();
    let behind = text.get(span.end as usize..).unwrap_or_default();
    if form != Form::Configuration {
        plan.not_rewritten.push(NotRewritten {
            path,
            span,
            form,
            name,
            why: "the module goes, and nothing takes its place".to_owned(),
        });
    } else if is_entry_point(behind) {
        plan.refusals.push(Finding {
            code: codes::REMOVED_IN_USE,
            severity: Severity::Error,
            path,
            span: Some(span),
            message: format!("`{name}` is named here, so it cannot be removed"),
            help: Some("let the entry point lead to something else first".to_owned()),
        });
    } else {
        plan.unproven.push(Unproven {
            path,
            span: Some(span),
            kind: UnprovenKind::DynamicImport,
            name,
            why: "a configuration file names the module that goes; it may be loaded by that"
                .to_owned(),
        });
    }
}

/// `package.module:function`.
fn is_entry_point(behind: &str) -> bool {
    let item = behind
        .strip_prefix(':')
        .and_then(|item| item.chars().next());
    item.is_some_and(|first| first == '_' || first.is_alphabetic())
}
