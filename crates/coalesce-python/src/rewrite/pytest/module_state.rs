//! What the file of a test does for all tests in it: marks, fixtures that each of them gets, what is set up before
//! them, a condition under which none is run.

use coalesce_model::ByteSpan;
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use crate::{
    analysis::{
        predicates::{blocks, last_name},
        shift,
    },
    parser::{parse_module, statements},
    rewrite::items::{NamedFunction, is_fixture},
};

/// Functions that are called around the tests of a file.
const AROUND: [&str; 12] = [
    "setUpModule",
    "setup",
    "setup_function",
    "setup_module",
    "tearDownModule",
    "teardown",
    "teardown_function",
    "teardown_module",
    "load_tests",
    "pytest_generate_tests",
    "pytestmark",
    "__test__",
];

/// One such statement.
pub(super) struct ForAll {
    pub(super) span: ByteSpan,
    /// For people.
    pub(super) name: String,
    /// To be compared.
    pub(super) text: String,
}

/// Those of a file.
pub(super) fn of(text: &str) -> Vec<ForAll> {
    let (parsed, start) = parse_module(text);
    let mut found = Vec::new();
    collect(statements(&parsed), text, start, &mut found);
    found
}

fn collect(body: &[Stmt], text: &str, start: u32, found: &mut Vec<ForAll>) {
    for statement in body {
        let span = shift(statement.range(), start);
        found.extend(name_of(statement).map(|name| ForAll {
            span,
            name,
            text: span.of(text).unwrap_or_default().to_owned(),
        }));
        for block in conditional_blocks(statement) {
            collect(block, text, start, found);
        }
    }
}

/// What a statement is called that concerns all tests of its module; nothing for any other.
fn name_of(statement: &Stmt) -> Option<String> {
    match statement {
        Stmt::FunctionDef(function) => {
            let named = function.name.as_str();
            let automatic = is_fixture(function) && NamedFunction::new(function).autouse;
            (automatic || AROUND.contains(&named)).then(|| named.to_owned())
        }
        Stmt::Assign(assign) => {
            let mut names = assign.targets.iter().filter_map(last_name);
            let named = names.find(|name| AROUND.contains(name));
            named.map(str::to_owned).or_else(|| skipping(&assign.value))
        }
        Stmt::AugAssign(assign) => {
            let named = last_name(&assign.target).filter(|name| AROUND.contains(name));
            named.map(str::to_owned)
        }
        Stmt::Expr(expression) => skipping(&expression.value),
        _ => None,
    }
}

/// The blocks of a statement that a condition or a failure leads to.
fn conditional_blocks(statement: &Stmt) -> Vec<&[Stmt]> {
    let mut all = blocks(statement);
    match statement {
        Stmt::If(_) => all,
        Stmt::Try(block) => {
            all.truncate(1 + block.handlers.len());
            all.split_off(1)
        }
        _ => Vec::new(),
    }
}

/// `pytest.skip(…)` and `pytest.importorskip(…)`.
fn skipping(value: &Expr) -> Option<String> {
    let Expr::Call(call) = value else { return None };
    let name = last_name(&call.func)?;
    matches!(name, "importorskip" | "skip" | "exit").then(|| name.to_owned())
}
