//! Examples that pytest runs in every module (`--doctest-modules`), where what has them comes to lie where it looks for
//! them, or does not any more; and what a `conftest.py` gives them.

use std::sync::Arc;

use coalesce_model::{LanguagePlan, Texts, TreePath, Unproven, UnprovenKind};

use super::{conftest::Conftest, conftests, definitions, settings::TestSettings};
use crate::rewrite::mapping::Mapping;

/// What an example begins with.
const PROMPT: &str = ">>>";

/// Something with examples that goes to another file.
struct WithExamples {
    name: String,
    path: TreePath,
    target: TreePath,
}

/// Tells examples that pytest comes to run, or does not run any more, or runs with other names.
pub(super) fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let settings = TestSettings::of(texts);
    if !settings.imports_all {
        return;
    }
    let after = settings.after(&mapping.paths);
    let conftests = conftests(mapping, texts);
    for going in going(mapping, texts) {
        let left_out = |path: &TreePath, is_new: bool| {
            let mut conftests = conftests.iter();
            conftests.any(|conftest| conftest.leaves_out_any(path, is_new))
        };
        let was = settings.collects(&going.path) && !left_out(&going.path, false);
        let is = after.collects(&going.target) && !left_out(&going.target, true);
        let mut naming = conftests.iter().filter(|each| each.gives_names());
        let named =
            |conftest: &Conftest| conftest.reached(&going.path) != conftest.reaches(&going.target);
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
            path: going.path,
            span: None,
            kind: UnprovenKind::Condition,
            name: going.name,
            why: why.to_owned(),
        });
    }
}

/// The modules and definitions with examples that go to another file.
fn going(mapping: &Mapping<'_>, texts: &dyn Texts) -> Vec<WithExamples> {
    let text = |path: &TreePath| -> Option<Arc<str>> {
        let text = texts.text(path)?;
        (path.extension() == Some("py") && text.contains(PROMPT)).then_some(text)
    };
    let modules = mapping.graph.modules.iter();
    let modules = modules.filter_map(|module| {
        let target = mapping.files.get(&module.path)?;
        text(&module.path)?;
        Some(WithExamples {
            name: module.name.clone(),
            path: module.path.clone(),
            target: target.clone(),
        })
    });
    let items = mapping.items.list.iter().filter(|moved| moved.travels());
    let items = items.filter_map(|moved| {
        let module = mapping.graph.modules.get(moved.source)?;
        let text = text(&module.path)?;
        let (span, _) = *definitions(&text).get(&moved.item)?;
        span.of(&text)?.contains(PROMPT).then_some(())?;
        Some(WithExamples {
            name: moved.change.from.clone(),
            path: module.path.clone(),
            target: moved.path_after(mapping)?,
        })
    });
    modules.chain(items).collect()
}
