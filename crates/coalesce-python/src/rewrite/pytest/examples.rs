//! Examples that pytest runs in every module (`--doctest-modules`), where what has them comes to lie where it looks for
//! them, or does not any more; and what a `conftest.py` gives them.

use coalesce_model::{LanguagePlan, Texts, TreePath, Unproven, UnprovenKind};

use super::{conftest::Conftest, conftests, definitions, settings::TestSettings};
use crate::{
    project_edit::{Going, going},
    rewrite::mapping::Mapping,
};

/// What an example begins with.
const PROMPT: &str = ">>>";

/// Tells examples that pytest comes to run, or does not run any more, or runs with other names.
pub(super) fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let settings = TestSettings::of(texts);
    if !settings.imports_all {
        return;
    }
    let after = settings.after(&mapping.paths);
    let conftests = conftests(mapping, texts);
    let going = going(mapping).into_iter();
    for going in going.filter(|going| has_examples(texts, going)) {
        let (path, target) = (&going.was.file, &going.is.file);
        let left_out = |path: &TreePath, is_new: bool| {
            let mut conftests = conftests.iter();
            conftests.any(|conftest| conftest.leaves_out_any(path, is_new))
        };
        let was = settings.collects(path) && !left_out(path, false);
        let is = after.collects(target) && !left_out(target, true);
        let mut naming = conftests.iter().filter(|each| each.gives_names());
        let named = |conftest: &Conftest| conftest.reached(path) != conftest.reaches(target);
        let why = match (was, is) {
            (true, false) => {
                "pytest no longer runs the examples in it, which go where it does not look"
            }
            (false, true) => {
                "pytest comes to run the examples in it, which go where it looks for some"
            }
            (true, true) if naming.any(named) => {
                "pytest runs the examples in it with other names than before (`doctest_namespace`)"
            }
            _ => continue,
        };
        plan.unproven.push(Unproven {
            path: path.clone(),
            span: None,
            kind: UnprovenKind::Condition,
            name: going.name,
            why: why.to_owned(),
        });
    }
}

/// Whether a module or definition that goes to another file has examples.
fn has_examples(texts: &dyn Texts, going: &Going) -> bool {
    let path = &going.was.file;
    let text = texts.text(path).filter(|text| text.contains(PROMPT));
    let Some(text) = text.filter(|_| path.extension() == Some("py")) else {
        return false;
    };
    let Some(item) = &going.item else {
        return true;
    };
    let own = definitions(&text).get(item).copied();
    let own = own.and_then(|(span, _)| span.of(&text));
    own.is_some_and(|own| own.contains(PROMPT))
}
