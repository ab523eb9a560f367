//! What is special about the places that things go to: packages that raise when they are imported, names that the
//! standard library has, packages that make up attributes, and files that pytest finds by their names.

mod left;

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, LanguagePlan, Module, Subject, Texts, TreePath, Unproven,
    UnprovenKind, finding::codes,
};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::{
    items::refusal,
    mapping::Mapping,
    search_path::{imported_as, is_imported, is_program},
};
use crate::{
    analysis::{
        Analysis,
        predicates::{blocks, is_run_as_program, is_type_checking},
        shift,
    },
    parser::{parse_module, statements},
    requirements::standard::{distribution, is_standard},
    rewrite::pytest::SETTINGS,
};

/// Looks at the place of each change.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let changes = mapping.all.iter();
    let mut looked_at = BTreeSet::new();
    for change in changes.filter(|change| change.kind != ChangeKind::Remove) {
        if looked_at.insert(parents(change)) {
            raising(mapping, change, texts, plan);
        }
        left::check(mapping, change, texts, plan);
        if change.subject == Subject::Module && change.kind == ChangeKind::Move {
            standard_name(mapping, change, texts, plan);
            made_up(mapping, change, texts, plan);
            collected(mapping, change, texts, plan);
        }
    }
}

/// The path of the module that a change is about.
pub fn path_of<'g>(mapping: &Mapping<'g>, change: &Change) -> Option<&'g TreePath> {
    let module = match change.subject {
        Subject::Item => change.from.rsplit_once('.')?.0,
        _ => change.from.as_str(),
    };
    let module = mapping.graph.find(None, module)?;
    mapping.graph.modules.get(module).map(|module| &module.path)
}

/// Packages around a name, itself included, outermost first.
fn around(name: &str) -> impl Iterator<Item = &str> {
    let dots = name.match_indices('.').map(|(at, _)| at);
    dots.chain([name.len()])
        .filter_map(move |end| name.get(..end))
}

/// What an import does not come back from.
#[derive(Clone, Copy)]
enum Raises {
    Always(ByteSpan),
    Perhaps(ByteSpan),
}

/// The modules that an import of what a change is about executes, before and after.
fn parents(change: &Change) -> (Option<String>, Option<String>) {
    let above = |name: &str| name.rsplit_once('.').map(|(above, _)| above.to_owned());
    match (change.subject, &change.kind) {
        (Subject::Item, _) => (above(&change.from), above(&change.to)),
        (_, ChangeKind::Replace { .. }) => (Some(change.from.clone()), Some(change.to.clone())),
        _ => (Some(change.from.clone()), above(&change.to)),
    }
}

/// Modules that come to be imported, and that raise.
fn raising(mapping: &Mapping<'_>, change: &Change, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let (Some(from), Some(to)) = parents(change) else {
        return;
    };
    let source = mapping.graph.find(None, &from);
    for name in around(&to) {
        let module = mapping.graph.find(None, name);
        let executed = around(&from).any(|known| known == name)
            || source
                .zip(module)
                .is_some_and(|(source, module)| mapping.loads(source, module));
        let found = module.filter(|_| !executed);
        let found = found.and_then(|module| mapping.graph.modules.get(module));
        let text = found.and_then(|module| texts.text(&module.path));
        let text = text.filter(|text| text.contains("raise") || text.contains("exit("));
        if let Some((module, text)) = found.zip(text) {
            raised(module, &text, (name, change), plan);
        }
    }
}

/// What comes to be imported and raises: always, or under a condition.
fn raised(module: &Module, text: &str, (name, change): (&str, &Change), plan: &mut LanguagePlan) {
    let (parsed, start) = parse_module(text);
    match raises_in(statements(&parsed), start) {
        Some(Raises::Always(span)) => {
            let to = &change.to;
            let message =
                format!("`{name}` raises here whenever it is imported, which `{to}` would do");
            let refused = refusal(&module.path, Some(span), message, None);
            plan.refusals.push(refused);
        }
        Some(Raises::Perhaps(span)) => plan.unproven.push(Unproven {
            path: module.path.clone(),
            span: Some(span),
            kind: UnprovenKind::Condition,
            name: name.to_owned(),
            why: format!(
                "`{}` comes to import `{name}`, which may raise here",
                change.from
            ),
        }),
        None => {}
    }
}

/// The first of these statements that raises when they are executed.
fn raises_in(body: &[Stmt], start: u32) -> Option<Raises> {
    let mut perhaps = None;
    for statement in body {
        let span = shift(statement.range(), start);
        let found = match statement {
            Stmt::Raise(_) => return Some(perhaps.unwrap_or(Raises::Always(span))),
            Stmt::Expr(expression) if exits(&expression.value) => {
                return Some(perhaps.unwrap_or(Raises::Always(span)));
            }
            block => suites_that_may_run(block)
                .into_iter()
                .find_map(|suite| raises_in(suite, start)),
        };
        perhaps = perhaps.or(found.map(|found| match found {
            Raises::Always(span) | Raises::Perhaps(span) => Raises::Perhaps(span),
        }));
    }
    perhaps
}

/// The suites of a statement that may be executed where it is imported, but for the one that a `try` guards.
fn suites_that_may_run(statement: &Stmt) -> Vec<&[Stmt]> {
    match statement {
        Stmt::If(block) if is_run_as_program(&block.test) || is_type_checking(&block.test) => {
            Vec::new()
        }
        // The first one is what it guards.
        Stmt::Try(_) => blocks(statement).split_off(1),
        Stmt::If(_) | Stmt::With(_) => blocks(statement),
        Stmt::For(block) => vec![&*block.body],
        _ => Vec::new(),
    }
}

/// `sys.exit(…)` and its like.
fn exits(expression: &Expr) -> bool {
    let Expr::Call(call) = expression else {
        return false;
    };
    match &*call.func {
        Expr::Name(name) => matches!(name.id.as_str(), "exit" | "quit"),
        Expr::Attribute(attribute) => {
            let of = matches!(&*attribute.value, Expr::Name(name) if matches!(name.id.as_str(), "sys" | "os"));
            of && matches!(attribute.attr.as_str(), "exit" | "_exit")
        }
        _ => false,
    }
}

/// A module that gets the name of one that everybody imports.
fn standard_name(
    mapping: &Mapping<'_>,
    change: &Change,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    let Some(path) = path_of(mapping, change) else {
        return;
    };
    let leaf = change.to.rsplit('.').next().unwrap_or(&change.to);
    if leaf == change.from {
        return;
    }
    if leaf == change.to {
        let Some(what) = owner_of_name(mapping, leaf) else {
            return;
        };
        let message = format!(
            "`{leaf}` is the name of a module of {what}: who imports that one would get this one"
        );
        let refused = refusal(path, None, message, None).coded(codes::NAME_TAKEN);
        plan.refusals.push(refused);
    } else if is_standard(leaf) {
        beside_programs(mapping, change, leaf, texts, plan);
    }
}

/// Whose a top-level name is that everybody imports by it.
fn owner_of_name(mapping: &Mapping<'_>, name: &str) -> Option<&'static str> {
    if is_standard(name) {
        return Some("the standard library");
    }
    is_required(mapping, name).then_some("a library that the project requires")
}

/// Whether a top-level name is that of a library that is always installed along.
pub(super) fn is_required(mapping: &Mapping<'_>, name: &str) -> bool {
    let plain = |name: &str| name.to_lowercase().replace(['-', '.'], "_");
    let own = plain(distribution(name));
    let mut declared = mapping.graph.requirements.iter();
    declared.any(|each| plain(each) == own || plain(each) == plain(name))
}

/// Files beside the new one that are run by their paths: what they import is looked for in their folder first.
fn beside_programs(
    mapping: &Mapping<'_>,
    change: &Change,
    leaf: &str,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    let folder = path_of(mapping, change).and_then(|path| mapping.files.get(path)?.parent());
    let Some(folder) = folder else { return };
    for (index, module) in mapping.graph.modules.iter().enumerate() {
        if module.path.parent().as_ref() != Some(&folder) || module.package {
            continue;
        }
        let import = imported_as(mapping, index, leaf);
        let run = !is_imported(mapping, index)
            || is_program(&texts.text(&module.path).unwrap_or_default());
        plan.unproven.extend(import.filter(|_| run).map(|import| Unproven {
            path: module.path.clone(),
            span: Some(import.span),
            kind: UnprovenKind::Condition,
            name: change.to.clone(),
            why: format!("run by its path, this file finds the new `{leaf}` beside it before the standard library's"),
        }));
    }
}

/// A package whose `__getattr__` answers to the name that the module gets: the module hides the answer.
fn made_up(mapping: &Mapping<'_>, change: &Change, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let Some((package, leaf)) = change.to.rsplit_once('.') else {
        return;
    };
    let module = mapping.graph.find(None, package);
    let Some(module) = module.and_then(|module| mapping.graph.modules.get(module)) else {
        return;
    };
    let Some(text) = texts
        .text(&module.path)
        .filter(|text| text.contains("def __getattr__"))
    else {
        return;
    };
    let answer = answer_to(&text, leaf);
    plan.unproven.extend(answer.map(|answer| Unproven {
        path: module.path.clone(),
        span: Some(answer),
        kind: UnprovenKind::RuntimeTable,
        name: change.to.clone(),
        why: format!("`{package}` makes up an attribute `{leaf}`, which the module would hide"),
    }));
}

/// Where the `__getattr__` of a module has a name as a text.
fn answer_to(text: &str, name: &str) -> Option<ByteSpan> {
    let analysis = Analysis::new(text);
    let mut definitions = analysis.definitions.iter();
    let function = definitions.find(|each| each.name == "__getattr__" && each.class.is_none())?;
    let mut strings = analysis.strings.iter();
    let answer = strings
        .find(|string| function.span.contains(string.span) && string.span.of(text) == Some(name))?;
    Some(answer.span)
}

/// Whether pytest collects a file of this name.
pub fn is_test(file: &str) -> bool {
    file.strip_suffix(".py")
        .is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
}

/// Where a project says itself which files are tests.
pub fn has_own_rules(texts: &dyn Texts) -> bool {
    let mut files = SETTINGS.iter();
    files.any(|file| {
        let text = TreePath::new(file).ok().and_then(|path| texts.text(&path));
        text.is_some_and(|text| text.contains("python_files"))
    })
}

/// Files that pytest finds by their names and places.
fn collected(mapping: &Mapping<'_>, change: &Change, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let path = path_of(mapping, change);
    let target = path.and_then(|path| Some((path, mapping.files.get(path)?, texts.text(path)?)));
    let Some((path, to, text)) = target else {
        return;
    };
    let (old, new) = (path.file_name(), to.file_name());
    let why = if old == "conftest.py" && (text.contains("fixture") || text.contains("pytest_")) {
        if new == "conftest.py" && reaches_as_far(path, to) {
            return;
        }
        "pytest finds what is in it by its name and its folder"
    } else if is_test(old) && !is_test(new) && is_tested(&text) {
        if has_own_rules(texts) {
            let why = "whether pytest collects the new file is for `python_files` to say";
            plan.unproven.push(unseen(path, change, None, why));
            return;
        }
        "pytest would not collect it by its new name: `test_*.py` and `*_test.py` are tests"
    } else {
        return;
    };
    let message = format!("`{}` cannot become `{}`: {why}", change.from, change.to);
    let refused = refusal(path, None, message, None).coded(codes::LOST_TEST);
    plan.refusals.push(refused);
}

/// Whether a `conftest.py` reaches all that it reached before.
fn reaches_as_far(old: &TreePath, new: &TreePath) -> bool {
    old.parent()
        .zip(new.parent())
        .is_some_and(|(old, new)| new.is_root() || old == new || old.strip_prefix(&new).is_some())
}

fn is_tested(text: &str) -> bool {
    ["def test", "class Test", "TestCase"]
        .iter()
        .any(|each| text.contains(each))
}

fn unseen(path: &TreePath, change: &Change, span: Option<ByteSpan>, why: &str) -> Unproven {
    Unproven {
        path: path.clone(),
        span,
        kind: UnprovenKind::Condition,
        name: change.from.clone(),
        why: why.to_owned(),
    }
}
