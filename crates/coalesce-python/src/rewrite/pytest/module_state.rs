//! What the file of a test does for all tests in it: marks, fixtures that each of them gets, what is set up before
//! them, a condition under which none is run.

use coalesce_model::ByteSpan;
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use crate::{
    analysis::{predicates::last_name, shift},
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
        let name = match statement {
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
            Stmt::If(block) => {
                collect(&block.body, text, start, found);
                for clause in &block.elif_else_clauses {
                    collect(&clause.body, text, start, found);
                }
                None
            }
            Stmt::Try(block) => {
                for ruff_python_ast::ExceptHandler::ExceptHandler(handler) in &block.handlers {
                    collect(&handler.body, text, start, found);
                }
                None
            }
            _ => None,
        };
        let span = shift(statement.range(), start);
        found.extend(name.map(|name| ForAll {
            span,
            name,
            text: span.of(text).unwrap_or_default().to_owned(),
        }));
    }
}

/// `pytest.skip(…)` and `pytest.importorskip(…)`.
fn skipping(value: &Expr) -> Option<String> {
    let Expr::Call(call) = value else { return None };
    let name = last_name(&call.func)?;
    matches!(name, "importorskip" | "skip" | "exit").then(|| name.to_owned())
}
