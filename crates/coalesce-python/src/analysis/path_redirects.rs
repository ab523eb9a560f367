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
//! `sys.modules` for `__path__` (Python reference, 5.3.4). Only this form is read, with the names of the standard library
//! for what they are and one class of its name; any other may have any submodule.

use ruff_python_ast::{self as ast, Expr, Stmt};
use rustc_hash::FxHashMap;

use super::{
    Scope,
    predicates::{is_name, literal_text},
};
use crate::facts::PathRedirect;

/// The redirects of a module's own statements.
pub(super) fn find(body: &[Stmt], text: &str, module: Option<&Scope>) -> Vec<PathRedirect> {
    let has = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    if !(has("sys.modules[") && has("__path__")) || has("globals()") {
        return Vec::new();
    }
    let bare = BareNames::of(body);
    // Of two that bind a name either may be the one that is called.
    let bindings = |name: &str| module.and_then(|module| module.bindings.get(name));
    let is_alone = |name: &str| bindings(name).map(Vec::len) == Some(1);
    let packages: FxHashMap<&str, &str> = body
        .iter()
        .filter_map(Stmt::as_class_def_stmt)
        .filter(|class| is_alone(class.name.as_str()))
        .filter_map(|class| Some((class.name.as_str(), package_of(class, bare)?)))
        .collect();
    let assigned = body.iter().filter_map(Stmt::as_assign_stmt);
    assigned
        .filter_map(|assign| redirect(assign, &packages))
        .collect()
}

/// `sys.modules["module"] = Class(…)`.
fn redirect(assign: &ast::StmtAssign, packages: &FxHashMap<&str, &str>) -> Option<PathRedirect> {
    let [Expr::Subscript(place)] = &*assign.targets else {
        return None;
    };
    let Expr::Attribute(modules) = &*place.value else {
        return None;
    };
    if modules.attr.as_str() != "modules" || !is_name(&modules.value, "sys") {
        return None;
    }
    let module = literal_text(&place.slice)?;
    let class = assign.value.as_call_expr()?.func.as_name_expr()?;
    let package = *packages.get(class.id.as_str())?;
    Some(PathRedirect {
        module: module.to_owned(),
        package: package.to_owned(),
    })
}

/// The package whose `__path__` the objects of a class have: a module whose only method is `__getattr__`.
fn package_of(class: &ast::StmtClassDef, bare: BareNames) -> Option<&str> {
    let (body, asked) = getattr_of(class, bare)?;
    let [Stmt::If(branch), ..] = without_documentation(body) else {
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
    is_asked(answer, package.id.as_str(), asked)
        .then(|| imported(&assign.value, bare))
        .flatten()
}

/// `getattr(package, name)`
fn is_asked(answer: &ast::ExprCall, package: &str, name: &str) -> bool {
    let [of, attribute, ..] = &*answer.arguments.args else {
        return false;
    };
    is_name(&answer.func, "getattr") && is_name(of, package) && is_name(attribute, name)
}

/// The body of `__getattr__`, and the name that it is asked for, of a class that is a module and has nothing else.
fn getattr_of(class: &ast::StmtClassDef, bare: BareNames) -> Option<(&[Stmt], &str)> {
    let arguments = class.arguments.as_ref()?;
    let is_module = matches!(&*arguments.args, [base] if is_of(base, ("types", "ModuleType"), bare.module_type));
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
    let is_it = method.name.as_str() == "__getattr__" && method.decorator_list.is_empty();
    is_it.then_some((&*method.body, asked))
}

/// `name == "__path__"`, or `name in ("__path__", …)`.
fn asks_for_path(test: &Expr, asked: &str) -> bool {
    let Expr::Compare(compare) = test else {
        return false;
    };
    let ([operator], [right]) = (&*compare.ops, &*compare.comparators) else {
        return false;
    };
    let is_path = |side: &Expr| literal_text(side) == Some("__path__");
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
fn imported(value: &Expr, bare: BareNames) -> Option<&str> {
    let call = value.as_call_expr()?;
    let [name] = &*call.arguments.args else {
        return None;
    };
    let absolute = |name: &&str| !name.starts_with('.');
    let imports = is_of(
        &call.func,
        ("importlib", "import_module"),
        bare.import_module,
    );
    literal_text(name)
        .filter(absolute)
        .filter(|_| imports && call.arguments.keywords.is_empty())
}

/// Which names of the standard library a file has by themselves.
#[derive(Clone, Copy)]
struct BareNames {
    module_type: bool,
    import_module: bool,
}

impl BareNames {
    fn of(body: &[Stmt]) -> Self {
        let has = |module: &str, name: &str| {
            let mut imports = body.iter().filter_map(Stmt::as_import_from_stmt);
            imports.any(|from| {
                let mut names = from.names.iter();
                from.level == 0
                    && from
                        .module
                        .as_ref()
                        .is_some_and(|from| from.as_str() == module)
                    && names.any(|alias| alias.name.as_str() == name && alias.asname.is_none())
            })
        };
        Self {
            module_type: has("types", "ModuleType"),
            import_module: has("importlib", "import_module"),
        }
    }
}

/// Whether an expression is a name of a module of the standard library: `types.ModuleType`, or `ModuleType` where the file
/// has that by itself.
fn is_of(expression: &Expr, (module, name): (&str, &str), bare: bool) -> bool {
    match expression {
        Expr::Attribute(found) => found.attr.as_str() == name && is_name(&found.value, module),
        found => bare && is_name(found, name),
    }
}

fn without_documentation(body: &[Stmt]) -> &[Stmt] {
    match body {
        [Stmt::Expr(first), rest @ ..] if first.value.is_string_literal_expr() => rest,
        body => body,
    }
}
