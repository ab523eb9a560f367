//! Two definitions that say the same in other words: `math.prod` beside `from math import prod`, and types that one of them
//! alone writes down. Where they are one in that form, they are compared in it.

use std::{collections::BTreeMap, rc::Rc};

use ruff_python_ast::{
    self as ast, Expr, Stmt,
    comparable::ComparableStmt,
    name::Name,
    visitor::transformer::{self, Transformer},
};
use ruff_text_size::{Ranged, TextRange};

use super::{Definition, Modules, says_the_same};
use crate::{
    analysis::Use,
    graph::{Entity, PythonGraph},
    names::Names,
    rewrite::{
        items::{
            patches::{is_set_in_full, sources},
            set_by_parts::{is_set_in, module_of, sets},
            signatures::is_plain,
        },
        mapping::Mapping,
    },
};

/// The form in which two definitions are compared: another one where that makes them one.
pub(super) fn of_both(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    (old, new): (Definition, Definition),
) -> (Definition, Definition) {
    if says_the_same(&old, &new) {
        return (old, new);
    }
    let form = |one: &Definition, statement: Stmt, untyped: bool| Definition {
        module: one.module,
        item: one.item.clone(),
        read: Rc::clone(&one.read),
        statement,
        span: one.span,
        untyped,
    };
    let [was, is] = [&old, &new].map(|one| with_full_names(mapping.graph, modules, one));
    let ((was_bare, was_typed), (is_bare, is_typed)) = (without_types(&was), without_types(&is));
    let spelled = (form(&old, was, false), form(&new, is, false));
    if says_the_same(&spelled.0, &spelled.1) {
        return spelled;
    }
    let untyped = (form(&old, was_bare, true), form(&new, is_bare, true));
    let are_read = || {
        let read = |one: &Definition| are_types_read(mapping, modules, one);
        read(&old) || read(&new) || evaluates_types(modules)
    };
    match was_typed != is_typed && says_the_same(&untyped.0, &untyped.1) && !are_read() {
        true => untyped,
        false => (old, new),
    }
}

/// Whether two definitions are one but for types that the second alone has, and names of libraries.
pub(in crate::rewrite::items) fn adds_types_alone(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    (old, new): (Definition, Definition),
) -> bool {
    let (_, has_types) = without_types(&old.statement);
    let (old, new) = of_both(mapping, modules, (old, new));
    !has_types && says_the_same(&old, &new)
}

/// Whether something of the tree works out the types of functions that it is given.
fn evaluates_types(modules: &Modules<'_>) -> bool {
    *modules.evaluates_types.get_or_init(|| {
        let mut sources = sources(modules.texts);
        sources.any(|(_, text)| text.contains("get_type_hints"))
    })
}

fn are_types_read(mapping: &Mapping<'_>, modules: &Modules<'_>, one: &Definition) -> bool {
    let is_class = matches!(one.statement, Stmt::ClassDef(_));
    modules
        .type_readers(mapping)
        .may_read(one.module, &one.item, is_class)
}

/// What a use takes from a library.
pub(in crate::rewrite::items) struct LibraryName {
    /// Its full name: `math.prod`, whichever way its module imports it.
    full: String,
    /// How much of that is read when the module is imported, and kept: all of it after `from math import prod`.
    kept: usize,
}

impl LibraryName {
    pub(in crate::rewrite::items) fn is(&self, other: &Self) -> bool {
        self.full == other.full
    }

    /// The name as two definitions are compared by it. What somebody sets in the library is another thing for who keeps what
    /// was there before.
    fn compared(self, modules: &Modules<'_>) -> String {
        let kept = self.full.get(..self.kept).unwrap_or_default();
        let parts = kept.match_indices('.').skip(1).map(|(at, _)| at);
        let mut read = parts.chain([kept.len()]).filter_map(|end| kept.get(..end));
        match read.any(|name| name.contains('.') && is_set(modules, name)) {
            true => format!("{} as imported", self.full),
            false => self.full,
        }
    }
}

/// Whether a file of the tree sets a name of a library: `time.time = …`, `patch("time.time")`.
fn is_set(modules: &Modules<'_>, full: &str) -> bool {
    if let Some(known) = modules.libraries.borrow().get(full) {
        return *known;
    }
    let called = modules.names.called(module_of(full));
    let mut texts = sources(modules.texts);
    let set = texts.any(|(_, text)| {
        is_set_in_full(&text, full) && sets(&text) || is_set_in(&text, full, &called)
    });
    modules.libraries.borrow_mut().insert(full.to_owned(), set);
    set
}

/// What a use takes from a library, if that is what it does.
pub(in crate::rewrite::items) fn name_in_library(
    graph: &PythonGraph,
    of: &Definition,
    used: &Use,
) -> Option<LibraryName> {
    let (root, rest) = used.chain.split_first()?;
    let analysis = &of.read.analysis;
    let bindings = analysis.bindings(0, &root.text);
    let ([binding], Entity::External) = (bindings, graph.member(of.module, &root.text)) else {
        return None;
    };
    let names = Names::new(graph, Some(of.module), analysis);
    let (import, leaf) = names.import(binding)?;
    let mut full = match (&import.from, &leaf.alias) {
        (None, None) => leaf.bound().to_owned(),
        _ => import.full_name(leaf, graph.package_of(of.module))?,
    };
    let kept = full.len();
    for link in rest {
        full.push('.');
        full.push_str(&link.text);
    }
    Some(LibraryName { full, kept })
}

/// A definition in which what it takes from libraries stands by its full name.
fn with_full_names(graph: &PythonGraph, modules: &Modules<'_>, of: &Definition) -> Stmt {
    let places = of.names().filter_map(|used| {
        let (first, last) = used.chain.first().zip(used.chain.last())?;
        let full = name_in_library(graph, of, used)?.compared(modules);
        let start = of.start();
        let offset = |at: u32| at.checked_sub(start);
        Some(((offset(first.span.start)?, offset(last.span.end)?), full))
    });
    let names = FullNames(places.collect());
    let mut statement = of.statement.clone();
    names.visit_stmt(&mut statement);
    statement
}

/// Full names, by where they stand.
struct FullNames(BTreeMap<(u32, u32), String>);

impl Transformer for FullNames {
    fn visit_expr(&self, expression: &mut Expr) {
        let range = expression.range();
        let place = (u32::from(range.start()), u32::from(range.end()));
        let whole = matches!(expression, Expr::Name(_) | Expr::Attribute(_));
        match self.0.get(&place).filter(|_| whole) {
            Some(full) => *expression = name(full, range),
            None => transformer::walk_expr(self, expression),
        }
    }
}

fn name(text: &str, range: TextRange) -> Expr {
    Expr::Name(ast::ExprName {
        node_index: ast::AtomicNodeIndex::NONE,
        range,
        id: Name::new(text),
        ctx: ast::ExprContext::Load,
    })
}

/// A definition without the types that say nothing to Python, and whether there were any. Decorators may go by types, and
/// so may classes by those of their fields.
fn without_types(statement: &Stmt) -> (Stmt, bool) {
    let mut untyped = statement.clone();
    Untyped.visit_stmt(&mut untyped);
    let differs = ComparableStmt::from(&untyped) != ComparableStmt::from(statement);
    (untyped, differs)
}

struct Untyped;

impl Transformer for Untyped {
    fn visit_stmt(&self, statement: &mut Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                let known = |decorator: &ast::Decorator| {
                    let name = decorator.expression.as_name_expr();
                    name.is_some_and(|name| {
                        matches!(
                            name.id.as_str(),
                            "classmethod" | "property" | "staticmethod"
                        )
                    })
                };
                let decorators = &function.decorator_list;
                if decorators.iter().all(known) || is_plain(decorators) {
                    function.returns = None;
                    transformer::walk_parameters(self, &mut function.parameters);
                    transformer::walk_body(self, &mut function.body);
                }
            }
            Stmt::ClassDef(class) => {
                for each in &mut class.body {
                    if each.is_function_def_stmt() {
                        self.visit_stmt(each);
                    }
                }
            }
            // Of a function: the fields of classes are not gone into.
            Stmt::AnnAssign(assign) if assign.target.is_name_expr() => {
                if let Some(value) = assign.value.take() {
                    *statement = Stmt::Assign(ast::StmtAssign {
                        node_index: ast::AtomicNodeIndex::NONE,
                        range: assign.range,
                        targets: vec![(*assign.target).clone()],
                        value,
                    });
                }
            }
            other => transformer::walk_stmt(self, other),
        }
    }

    fn visit_parameter(&self, parameter: &mut ast::Parameter) {
        parameter.annotation = None;
    }

    // What a lambda or a default holds has no types.
    fn visit_expr(&self, _: &mut Expr) {}
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::parse_module;

    use super::*;

    fn untyped(text: &str) -> (Stmt, bool) {
        let parsed = parse_module(text).unwrap().into_syntax();
        without_types(&parsed.body.into_iter().next().unwrap())
    }

    #[test]
    fn types_of_functions_say_nothing() {
        for (typed, plain) in [
            (
                "def f(a: int, *b: str) -> int:\n    c: int = a\n    return c",
                "def f(a, *b):\n    c = a\n    return c",
            ),
            (
                "class K:\n    def f(self, a: int) -> None: ...",
                "class K:\n    def f(self, a): ...",
            ),
        ] {
            let ((was, has), (is, none)) = (untyped(typed), untyped(plain));
            assert!(has && !none, "{typed}");
            assert_eq!(
                ComparableStmt::from(&was),
                ComparableStmt::from(&is),
                "{typed}"
            );
        }
    }

    #[test]
    fn types_that_somebody_may_go_by_stay() {
        for text in [
            "class K:\n    a: int = 1",
            "@f.register\ndef _(a: int): ...",
            "x: int = 1",
        ] {
            let (_, differs) = untyped(text);
            assert_eq!(differs, text.starts_with('x'), "{text}");
        }
    }
}
