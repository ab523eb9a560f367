//! Functions that say the same in other words of their own: what they call their parameters, their locals and themselves.
//!
//! A name is exchanged wherever it stands in its function, and only where all of its places are the function's own. What
//! others may call by such a name, or look up by it, keeps it: parameters of functions inside, what `locals()` gives.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use ruff_python_ast::{
    self as ast, ExceptHandler, Expr, ExprContext, InterpolatedStringElement, Parameters, Pattern,
    Stmt, StmtFunctionDef,
    comparable::ComparableStmt,
    name::Name,
    visitor::{
        self, Visitor,
        transformer::{self, Transformer},
    },
};

use super::{equivalence::Definition, signatures::is_plain};

/// Names under which a function gets at its locals as texts, or at its own code.
const LOOKING: [&str; 10] = [
    "__class__",
    "_getframe",
    "dir",
    "eval",
    "exec",
    "exec_",
    "inspect",
    "locals",
    "sys",
    "vars",
];

/// What is said of a function when it is compared with another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parametric {
    /// Its parameters have to be called alike.
    ByName,
    /// They may be called otherwise: its callers are looked at.
    ByPosition,
}

/// Whether two functions are one but for the names that are their own.
pub(super) fn are_one(old: &Definition, new: &Definition, parameters: Parametric) -> bool {
    let both = (old.statement.as_function_def_stmt()).zip(new.statement.as_function_def_stmt());
    let Some((was, is)) = both else {
        return false;
    };
    let around = |one: &Definition| -> BTreeSet<String> {
        let roots = one.names().filter_map(|used| used.chain.first());
        roots.map(|root| root.text.clone()).collect()
    };
    is_one(
        (was, (&old.item, &around(old))),
        (is, (&new.item, &around(new))),
        parameters,
    )
}

/// A function, what it is called, and the names that it takes from around it.
type Named<'f> = (&'f StmtFunctionDef, (&'f str, &'f BTreeSet<String>));

fn is_one(old: Named<'_>, new: Named<'_>, parameters: Parametric) -> bool {
    let ((was, (item, _)), (is, _)) = (old, new);
    let apart = positional(was) != positional(is);
    if apart && !(parameters == Parametric::ByPosition && may_be_called_otherwise(was, is, item)) {
        return false;
    }
    let both = [old, new].map(|named| exchanged(named, parameters));
    let [Some(was), Some(is)] = both else {
        return false;
    };
    ComparableStmt::from(&was) == ComparableStmt::from(&is)
}

/// The parameters that may be given by position.
fn positional(function: &StmtFunctionDef) -> Vec<&str> {
    let parameters = &function.parameters;
    let all = parameters.posonlyargs.iter().chain(&parameters.args);
    all.map(|each| each.name().as_str()).collect()
}

/// Whether calls by position may mean the same for two functions whose parameters have other names, and calls by name are
/// seen not to fit: no name is that of two positions, and none goes into `**rest`.
fn may_be_called_otherwise(was: &StmtFunctionDef, is: &StmtFunctionDef, item: &str) -> bool {
    let (old, new) = (positional(was), positional(is));
    let mut pairs = old.iter().zip(&new);
    let one_place = pairs.all(|(a, b)| a == b || !(old.contains(b) || new.contains(a)));
    let rest = was.parameters.kwarg.is_some() || is.parameters.kwarg.is_some();
    // A decorator may go by the names, and pytest does.
    let asked_by_name = item.starts_with("test") || item.starts_with("pytest_");
    let plain = is_plain(&was.decorator_list) && is_plain(&is.decorator_list);
    old.len() == new.len() && one_place && !rest && plain && !asked_by_name
}

/// A function in which each name of its own is replaced by its number.
fn exchanged((function, (item, around)): Named<'_>, parameters: Parametric) -> Option<Stmt> {
    if LOOKING.iter().any(|name| around.contains(*name)) {
        return None;
    }
    let mut own = OwnNames::default();
    own.visit_body(&function.body);
    own.of_parameters(&function.parameters, parameters);
    let OwnNames { bound, kept, .. } = own;
    let free = |name: &String| !kept.contains(name) && !around.contains(name);
    let mut names: BTreeSet<String> = bound.into_iter().filter(free).collect();
    if !kept.contains(item) && around.contains(item) {
        names.insert(item.to_owned());
    }
    let numbers = Numbers {
        names,
        known: RefCell::default(),
    };
    let mut statement = Stmt::FunctionDef(function.clone());
    numbers.visit_stmt(&mut statement);
    Some(statement)
}

/// The names that a function binds.
#[derive(Default)]
struct OwnNames {
    bound: BTreeSet<String>,
    /// Those that stay what they are.
    kept: BTreeSet<String>,
    /// In the body of a class, whose names others may ask for.
    in_class: bool,
    /// In what is printed as it stands: `f"{a=}"`.
    printed: bool,
}

impl OwnNames {
    fn note(&mut self, name: &str) {
        let names = match self.in_class {
            true => &mut self.kept,
            false => &mut self.bound,
        };
        names.insert(name.to_owned());
    }

    fn keep(&mut self, name: &str) {
        self.kept.insert(name.to_owned());
    }

    fn keep_parameters(&mut self, parameters: &Parameters) {
        for each in parameters.iter() {
            self.keep(each.name().as_str());
        }
    }

    /// The parameters of the function itself.
    fn of_parameters(&mut self, parameters: &Parameters, parametric: Parametric) {
        if parametric == Parametric::ByName {
            return self.keep_parameters(parameters);
        }
        for each in parameters.iter() {
            self.note(each.name().as_str());
        }
        // These are given by their names alone.
        for each in &parameters.kwonlyargs {
            self.keep(each.name().as_str());
        }
    }
}

impl Visitor<'_> for OwnNames {
    fn visit_stmt(&mut self, statement: &Stmt) {
        let outer = self.in_class;
        match statement {
            Stmt::FunctionDef(function) => {
                self.keep(function.name.as_str());
                self.keep_parameters(&function.parameters);
                self.in_class = false;
            }
            Stmt::ClassDef(class) => {
                self.keep(class.name.as_str());
                self.in_class = true;
            }
            Stmt::Global(found) => found.names.iter().for_each(|name| self.keep(name)),
            Stmt::Nonlocal(found) => found.names.iter().for_each(|name| self.keep(name)),
            _ => {}
        }
        visitor::walk_stmt(self, statement);
        self.in_class = outer;
    }

    fn visit_alias(&mut self, alias: &ast::Alias) {
        let bound = alias.asname.as_ref().unwrap_or(&alias.name);
        let first = bound.split('.').next().unwrap_or_default();
        self.keep(first);
    }

    fn visit_type_param(&mut self, parameter: &ast::TypeParam) {
        self.keep(parameter.name());
        visitor::walk_type_param(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &ExceptHandler) {
        let ExceptHandler::ExceptHandler(found) = handler;
        if let Some(name) = &found.name {
            self.note(name);
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &Pattern) {
        let name = match pattern {
            Pattern::MatchAs(found) => found.name.as_ref(),
            Pattern::MatchStar(found) => found.name.as_ref(),
            Pattern::MatchMapping(found) => found.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.keep(name);
        }
        visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Name(name) if self.printed => self.keep(&name.id),
            Expr::Name(name) if name.ctx != ExprContext::Load => self.note(&name.id),
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.keep_parameters(parameters);
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_interpolated_string_element(&mut self, element: &InterpolatedStringElement) {
        let outer = self.printed;
        self.printed |= matches!(element, InterpolatedStringElement::Interpolation(one) if one.debug_text.is_some());
        visitor::walk_interpolated_string_element(self, element);
        self.printed = outer;
    }
}

/// Puts numbers in the places of names, in the order in which they come.
struct Numbers {
    names: BTreeSet<String>,
    known: RefCell<BTreeMap<String, usize>>,
}

impl Numbers {
    fn exchange(&self, name: &mut Name) {
        if self.names.contains(name.as_str()) {
            let mut known = self.known.borrow_mut();
            let next = known.len();
            let number = *known.entry(name.to_string()).or_insert(next);
            // No identifier begins with a digit.
            *name = Name::new(number.to_string());
        }
    }
}

impl Transformer for Numbers {
    fn visit_parameter(&self, parameter: &mut ast::Parameter) {
        transformer::walk_parameter(self, parameter);
        self.exchange(&mut parameter.name.id);
    }

    fn visit_except_handler(&self, handler: &mut ExceptHandler) {
        transformer::walk_except_handler(self, handler);
        let ExceptHandler::ExceptHandler(found) = handler;
        if let Some(name) = &mut found.name {
            self.exchange(&mut name.id);
        }
    }

    fn visit_expr(&self, expression: &mut Expr) {
        if let Expr::Name(name) = expression {
            self.exchange(&mut name.id);
        }
        transformer::walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::parse_module;

    use super::*;

    fn says_one(old: &str, new: &str, around: &[&str], parametric: Parametric) -> bool {
        let read = |text: &str| {
            let parsed = parse_module(text).unwrap().into_syntax();
            let function = parsed.body.into_iter().next().unwrap();
            let mut function = function.function_def_stmt().unwrap();
            function.name.id = Name::empty();
            function
        };
        let around: BTreeSet<String> = around.iter().map(|name| (*name).to_owned()).collect();
        let (old, new) = (read(old), read(new));
        is_one((&old, ("f", &around)), (&new, ("g", &around)), parametric)
    }

    #[test]
    fn names_of_a_function_may_be_others() {
        for (old, new) in [
            (
                "def f(a):\n    b = a\n    return b",
                "def g(a):\n    c = a\n    return c",
            ),
            (
                "def f(a):\n    return [x + 1 for x in a]",
                "def g(a):\n    return [y + 1 for y in a]",
            ),
            (
                "def f(a):\n    try:\n        a()\n    except E as e:\n        print(e)",
                "def g(a):\n    try:\n        a()\n    except E as x:\n        print(x)",
            ),
            (
                "def f(n):\n    return n and f(n - 1)",
                "def g(n):\n    return n and g(n - 1)",
            ),
        ] {
            let around = ["print", "E", "f", "g"];
            assert!(says_one(old, new, &around, Parametric::ByName), "{old}");
        }
    }

    #[test]
    fn parameters_may_be_others_where_they_are_given_by_position() {
        for (old, new, by_position) in [
            (
                "def f(a, k=1):\n    return a",
                "def g(b, k=1):\n    return b",
                true,
            ),
            (
                "def f(a, *, k):\n    return k",
                "def g(a, *, l):\n    return l",
                false,
            ),
            (
                "def f(a, b):\n    return a",
                "def g(b, a):\n    return b",
                false,
            ),
            (
                "def f(a, **k):\n    return a",
                "def g(b, **k):\n    return b",
                false,
            ),
        ] {
            assert!(!says_one(old, new, &[], Parametric::ByName), "{old}");
            let found = says_one(old, new, &[], Parametric::ByPosition);
            assert_eq!(found, by_position, "{old}");
        }
    }

    #[test]
    fn what_is_read_from_around_or_by_a_text_is_kept() {
        for (old, new, around) in [
            (
                "def f(a):\n    b = a\n    return c",
                "def g(a):\n    c = a\n    return c",
                &["c"][..],
            ),
            (
                "def f():\n    a = 1\n    return locals()",
                "def g():\n    b = 1\n    return locals()",
                &["locals"][..],
            ),
            (
                "def f():\n    a = 1\n    return f'{a=}'",
                "def g():\n    b = 1\n    return f'{b=}'",
                &[][..],
            ),
            (
                "def f():\n    a, b = 1, 2\n    return a",
                "def g():\n    a, b = 1, 2\n    return b",
                &[][..],
            ),
            (
                "def f():\n    class K:\n        a = 1\n    return K",
                "def g():\n    class K:\n        b = 1\n    return K",
                &[][..],
            ),
            (
                "def f():\n    return lambda a: a",
                "def g():\n    return lambda b: b",
                &[][..],
            ),
        ] {
            assert!(!says_one(old, new, around, Parametric::ByPosition), "{old}");
        }
    }
}
