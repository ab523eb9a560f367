//! Modules that are objects in `sys.modules`, and look for their submodules where another package does:
//!
//! ```python
//! class Renamed(ModuleType):
//!     def __getattr__(self, name):
//!         if name in ("__path__", "__spec__"):
//!             package = importlib.import_module("project.new")
//!             return getattr(package, name)
//!         …
//!
//! sys.modules["project.old"] = Renamed("project.old")
//! ```
//!
//! `import project.old.part` finds `part` on that path, and nowhere else: the import system asks the parent in
//! `sys.modules` for `__path__` (Python reference, 5.5.1). Only this form is read; any other may have any submodule.

use ruff_python_ast::{self as ast, Expr, Stmt};
use rustc_hash::FxHashMap;

use super::predicates::{is_name, last_name};
use crate::facts::PathRedirect;

/// The redirects of a module's own statements.
pub(super) fn find(body: &[Stmt], text: &str) -> Vec<PathRedirect> {
    let has = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    if !(has("sys.modules[") && has("__path__")) {
        return Vec::new();
    }
    let packages = packages(body);
    let assigned = body.iter().filter_map(Stmt::as_assign_stmt);
    assigned
        .filter_map(|assign| redirect(assign, &packages))
        .collect()
}

/// For each class of a suite the package whose `__path__` its objects have. Of two of one name either may be the one
/// that is called.
fn packages(body: &[Stmt]) -> FxHashMap<&str, Option<&str>> {
    let mut packages = FxHashMap::default();
    for class in body.iter().filter_map(Stmt::as_class_def_stmt) {
        let of_this = package_of(class);
        let known = packages.entry(class.name.as_str());
        known.and_modify(|known| *known = None).or_insert(of_this);
    }
    packages
}

/// `sys.modules["module"] = Class(…)`.
fn redirect(
    assign: &ast::StmtAssign,
    packages: &FxHashMap<&str, Option<&str>>,
) -> Option<PathRedirect> {
    let [Expr::Subscript(place)] = &*assign.targets else {
        return None;
    };
    let Expr::Attribute(modules) = &*place.value else {
        return None;
    };
    if modules.attr.as_str() != "modules" || !is_name(&modules.value, "sys") {
        return None;
    }
    let module = literal(&place.slice)?;
    let class = assign.value.as_call_expr()?.func.as_name_expr()?;
    let package = packages.get(class.id.as_str()).copied().flatten()?;
    Some(PathRedirect {
        module: module.to_owned(),
        package: package.to_owned(),
    })
}

/// The package whose `__path__` the objects of a class have: a module whose only method is `__getattr__`.
fn package_of(class: &ast::StmtClassDef) -> Option<&str> {
    let arguments = class.arguments.as_ref()?;
    let is_module = matches!(&*arguments.args, [base] if last_name(base) == Some("ModuleType"));
    if !is_module || !arguments.keywords.is_empty() || !class.decorator_list.is_empty() {
        return None;
    }
    let [Stmt::FunctionDef(method)] = without_documentation(&class.body) else {
        return None;
    };
    let parameters = &method.parameters;
    let names: Vec<&str> = parameters.iter().map(|one| one.name().as_str()).collect();
    let [_, asked] = *names else {
        return None;
    };
    if method.name.as_str() != "__getattr__" || !method.decorator_list.is_empty() {
        return None;
    }
    let [Stmt::If(branch), ..] = without_documentation(&method.body) else {
        return None;
    };
    if !asks_for_path(&branch.test, asked) {
        return None;
    }
    let mut statements = branch.body.iter();
    let first = statements.find(|statement| !matches!(statement, Stmt::Import(_)))?;
    let Stmt::Assign(assign) = first else {
        return None;
    };
    let [Expr::Name(package)] = &*assign.targets else {
        return None;
    };
    let (Some(Stmt::Return(answer)), None) = (statements.next(), statements.next()) else {
        return None;
    };
    let answer = answer.value.as_ref()?.as_call_expr()?;
    let [of, attribute, ..] = &*answer.arguments.args else {
        return None;
    };
    let passed_on = is_name(&answer.func, "getattr")
        && is_name(of, package.id.as_str())
        && is_name(attribute, asked);
    passed_on.then(|| imported(&assign.value)).flatten()
}

/// `name == "__path__"`, or `name in ("__path__", …)`.
fn asks_for_path(test: &Expr, asked: &str) -> bool {
    let Expr::Compare(compare) = test else {
        return false;
    };
    let ([operator], [right]) = (&*compare.ops, &*compare.comparators) else {
        return false;
    };
    let is_path = |side: &Expr| literal(side) == Some("__path__");
    let holds = match (operator, right) {
        (ast::CmpOp::Eq, side) => is_path(side),
        (ast::CmpOp::In, Expr::Tuple(tuple)) => tuple.elts.iter().any(is_path),
        (ast::CmpOp::In, Expr::List(list)) => list.elts.iter().any(is_path),
        (ast::CmpOp::In, Expr::Set(set)) => set.elts.iter().any(is_path),
        _ => false,
    };
    holds && is_name(&compare.left, asked)
}

/// The module that `import_module("module")` imports.
fn imported(value: &Expr) -> Option<&str> {
    let call = value.as_call_expr()?;
    let [name] = &*call.arguments.args else {
        return None;
    };
    let absolute = |name: &&str| !name.starts_with('.');
    let imports =
        last_name(&call.func) == Some("import_module") && call.arguments.keywords.is_empty();
    literal(name).filter(absolute).filter(|_| imports)
}

fn literal(expression: &Expr) -> Option<&str> {
    expression
        .as_string_literal_expr()
        .map(|text| text.value.to_str())
}

fn without_documentation(body: &[Stmt]) -> &[Stmt] {
    match body {
        [Stmt::Expr(first), rest @ ..] if first.value.is_string_literal_expr() => rest,
        body => body,
    }
}
