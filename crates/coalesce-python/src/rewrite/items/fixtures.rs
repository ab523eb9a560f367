//! Fixtures that leave a `conftest.py`: tests ask for them by their names, and find what that file has, also where it
//! imports it.

use coalesce_model::{Texts, TreePath};
use ruff_python_ast::Stmt;

use super::{Moved, found_by_name::is_fixture};
use crate::{
    parser::{parse_module, statements},
    rewrite::places::is_test,
};

/// Whether a `conftest.py` can go on offering what goes to another file by importing it.
pub fn can_import(conftest: &TreePath, to: &TreePath) -> bool {
    let plain = to.file_name() != "conftest.py" && !is_test(to.file_name());
    conftest.file_name() == "conftest.py" && plain && to.extension() == Some("py")
}

/// Whether a `conftest.py` goes on offering a fixture that leaves it.
pub fn goes_on(moved: &Moved, conftest: &TreePath, to: &TreePath) -> bool {
    moved.travels() && moved.change.shim.is_none() && can_import(conftest, to)
}

/// Whether a text defines a fixture by this name of a function.
pub fn defines(text: &str, function: &str) -> bool {
    let (parsed, _) = parse_module(text);
    statements(&parsed).iter().any(|statement| {
        matches!(statement, Stmt::FunctionDef(own) if own.name.as_str() == function && is_fixture(own))
    })
}

/// Whether a `conftest.py` is a module of a package, so that what stands beside it can be imported wherever pytest is
/// started.
pub fn is_in_package(conftest: &TreePath, texts: &dyn Texts) -> bool {
    let folder = conftest.parent().unwrap_or_else(TreePath::root);
    let package = folder.join("__init__.py");
    package.is_ok_and(|package| texts.exists(&package))
}
