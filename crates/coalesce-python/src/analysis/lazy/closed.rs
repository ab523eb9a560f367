//! Whether a module of `lazy_loader` has the names of its table, or of its file of types, and no others.
//!
//! `attach` and `attach_stub` give a `__getattr__` that raises an `AttributeError` for any other name. That holds where nothing
//! but their call gives the module names, and where all that they are given is known: this is asked so that any doubt says no.

use ruff_python_ast::{self as ast, Expr, Stmt};

use crate::{
    analysis::predicates::{is_name, last_name},
    names::places_of_word,
};

/// Whether the statements of a module and its text leave no doubt.
pub(super) fn is_closed(body: &[Stmt], text: &str) -> bool {
    let has = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    // Another class for the module, another module in its place, or somebody else who is told which module it is.
    let once = ["__getattr__", "__name__"];
    if has("__class__") || has("modules[") || once.iter().any(|word| count(text, word) != 1) {
        return false;
    }
    let mut assigned = body.iter().filter_map(Stmt::as_assign_stmt);
    let Some(call) = assigned.find_map(attaching) else {
        return false;
    };
    is_of_loader(call, body, text)
        && match last_name(&call.func) {
            Some("attach_stub") => is_own_stub(&call.arguments),
            _ => is_given_tables(&call.arguments, body, text),
        }
}

/// The call of `__getattr__, … = attach(…)`.
fn attaching(assign: &ast::StmtAssign) -> Option<&ast::ExprCall> {
    let [Expr::Tuple(targets)] = assign.targets.as_slice() else {
        return None;
    };
    let first = targets.elts.first()?.as_name_expr()?;
    let call = assign.value.as_call_expr()?;
    let attaches = matches!(last_name(&call.func), Some("attach" | "attach_stub"));
    (attaches && first.id.as_str() == "__getattr__").then_some(call)
}

/// Whether a call is of `lazy_loader` itself: what it is called by is imported, and said nowhere else.
fn is_of_loader(call: &ast::ExprCall, body: &[Stmt], text: &str) -> bool {
    let (root, is_module) = match &*call.func {
        Expr::Name(name) => (name.id.as_str(), false),
        Expr::Attribute(attribute) => match &*attribute.value {
            Expr::Name(name) => (name.id.as_str(), true),
            _ => return false,
        },
        _ => return false,
    };
    let binds = |alias: &ast::Alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str() == root;
    let imports = body.iter().any(|statement| match statement {
        Stmt::Import(import) if is_module => {
            let mut names = import.names.iter();
            names.any(|alias| alias.name.as_str() == "lazy_loader" && binds(alias))
        }
        Stmt::ImportFrom(import) if !is_module && import.level == 0 => {
            let of_loader = import.module.as_deref() == Some("lazy_loader");
            let own = last_name(&call.func);
            let mut names = import.names.iter();
            of_loader && names.any(|alias| Some(alias.name.as_str()) == own && binds(alias))
        }
        _ => false,
    });
    imports && count(text, root) == 2
}

/// `attach_stub(__name__, __file__)`: the file of types is the one beside the module.
fn is_own_stub(arguments: &ast::Arguments) -> bool {
    let [name, file] = &*arguments.args else {
        return false;
    };
    arguments.keywords.is_empty() && is_name(name, "__name__") && is_name(file, "__file__")
}

/// `attach(__name__, submodules, submod_attrs)`, each of them read whole.
fn is_given_tables(arguments: &ast::Arguments, body: &[Stmt], text: &str) -> bool {
    let Some((name, tables)) = arguments.args.split_first() else {
        return false;
    };
    let mut keywords = arguments.keywords.iter();
    let known = |keyword: &ast::Keyword| {
        let name = keyword.arg.as_ref().map(ast::Identifier::as_str);
        matches!(name, Some("submodules" | "submod_attrs")) && is_table(&keyword.value, body, text)
    };
    is_name(name, "__name__")
        && tables.iter().all(|table| is_table(table, body, text))
        && keywords.all(known)
}

/// Literals, or a name that is given some once and is said nowhere else but here.
fn is_table(value: &Expr, body: &[Stmt], text: &str) -> bool {
    let Expr::Name(name) = value else {
        return is_literal(value);
    };
    let assigned = body.iter().any(|statement| match statement {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [Expr::Name(target)] => target.id == name.id && is_literal(&assign.value),
            _ => false,
        },
        _ => false,
    });
    assigned && count(text, name.id.as_str()) == 2
}

/// `None`, names of modules, or lists of names by module.
fn is_literal(value: &Expr) -> bool {
    match value {
        Expr::NoneLiteral(_) => true,
        Expr::Dict(table) => table
            .items
            .iter()
            .all(|item| matches!(item.key, Some(Expr::StringLiteral(_))) && are_texts(&item.value)),
        other => are_texts(other),
    }
}

fn are_texts(value: &Expr) -> bool {
    let elements = match value {
        Expr::List(list) => &list.elts,
        Expr::Set(set) => &set.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        _ => return false,
    };
    elements.iter().all(Expr::is_string_literal_expr)
}

/// How often a text says a word, in comments and strings, too: bodies of functions are not always parsed.
fn count(text: &str, word: &str) -> usize {
    places_of_word(text, word).count()
}
