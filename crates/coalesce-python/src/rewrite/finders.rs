//! Finders of modules, in `sys.meta_path`, that find nothing: they compare the name with literals, and give nothing or raise.

use coalesce_model::Change;
use ruff_python_ast::{
    self as ast, Expr, Stmt,
    visitor::{self, Visitor},
};

use crate::{
    analysis::predicates::{chain, literal_text},
    names::is_or_below,
    parser::{parse_module, statements},
};

/// Methods by which a finder or a loader makes modules.
const MAKING: [&str; 6] = [
    "create_module",
    "exec_module",
    "find_distributions",
    "find_loader",
    "find_module",
    "load_module",
];

/// Whether the finders of a file pass over all that changes.
pub(super) fn pass_over(text: &str, changes: &[Change]) -> bool {
    let (parsed, _) = parse_module(text);
    let mut file = FinderReader {
        changes,
        finders: 0,
        passes: true,
        classes: Vec::new(),
        put: Vec::new(),
    };
    file.visit_body(statements(&parsed));
    // What comes from elsewhere may find anything.
    let own = file.put.iter().all(|name| file.classes.contains(name));
    file.passes && own && file.finders > 0
}

/// Reads the finders of a file, and what is put into the list.
struct FinderReader<'a, 's> {
    changes: &'a [Change],
    finders: usize,
    passes: bool,
    /// Classes of the file, and names that are given an object of one.
    classes: Vec<&'s str>,
    /// What is put into the list, by name.
    put: Vec<&'s str>,
}

impl<'s> FinderReader<'_, 's> {
    fn finder(&mut self, function: &'s ast::StmtFunctionDef) {
        self.finders += 1;
        // A decorator may change which parameter has the name.
        let mut decorators = function.decorator_list.iter();
        let is_plain = decorators.all(|one| match &one.expression {
            Expr::Name(name) => name.id.as_str() == "classmethod",
            _ => false,
        });
        self.passes &= is_plain;
        let name = function.parameters.iter().nth(1);
        let Some(name) = name.map(|parameter| parameter.name().as_str()) else {
            self.passes = false;
            return;
        };
        let mut body = FinderBody {
            changes: self.changes,
            name,
            passes: true,
        };
        body.visit_body(&function.body);
        self.passes &= body.passes;
    }

    /// `sys.meta_path.insert(0, finder)`; nothing else is done with the list.
    fn call(&mut self, call: &'s ast::ExprCall) -> bool {
        let method = chain(&call.func).unwrap_or_default();
        let [sys, path, method] = method.as_slice() else {
            return false;
        };
        if sys != "sys" || path != "meta_path" {
            return false;
        }
        match (method.as_str(), call.arguments.args.last()) {
            ("remove", _) => {}
            ("append" | "insert", Some(Expr::Name(name))) => self.put.push(name.id.as_str()),
            ("append" | "insert", Some(Expr::Call(made))) => match &*made.func {
                Expr::Name(class) => self.put.push(class.id.as_str()),
                _ => self.passes = false,
            },
            _ => self.passes = false,
        }
        true
    }
}

impl<'s> Visitor<'s> for FinderReader<'_, 's> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        match statement {
            Stmt::FunctionDef(function) => match function.name.as_str() {
                "find_spec" => self.finder(function),
                name => self.passes &= !MAKING.contains(&name),
            },
            // One that is made of another finder finds what that does.
            Stmt::ClassDef(class) => {
                let mut bases = class.arguments.iter().flat_map(|all| &all.args);
                let plain = |base: &Expr| {
                    let known = ["ABC", "MetaPathFinder", "object"];
                    chain(base).is_some_and(|base| {
                        base.last()
                            .is_some_and(|last| known.contains(&last.as_str()))
                    })
                };
                if bases.all(plain) {
                    self.classes.push(class.name.as_str());
                }
            }
            Stmt::Assign(assign) => {
                let made = assign
                    .value
                    .as_call_expr()
                    .and_then(|call| call.func.as_name_expr());
                let of_file = made.is_some_and(|made| self.classes.contains(&made.id.as_str()));
                let names = assign.targets.iter().filter_map(Expr::as_name_expr);
                if of_file {
                    self.classes.extend(names.map(|name| name.id.as_str()));
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'s Expr) {
        match expression {
            Expr::Call(call) if self.call(call) => return,
            Expr::Attribute(attribute) => self.passes &= attribute.attr.as_str() != "meta_path",
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

/// What a finder does with the name that it is asked for.
struct FinderBody<'a> {
    changes: &'a [Change],
    name: &'a str,
    passes: bool,
}

impl FinderBody<'_> {
    fn is_name(&self, expression: &Expr) -> bool {
        let name = expression.as_name_expr();
        name.is_some_and(|name| name.id.as_str() == self.name)
    }

    /// Whether an expression holds no name of what changes.
    fn is_elsewhere(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Tuple(tuple) => tuple.elts.iter().all(|each| self.is_elsewhere(each)),
            Expr::List(list) => list.elts.iter().all(|each| self.is_elsewhere(each)),
            Expr::Set(set) => set.elts.iter().all(|each| self.is_elsewhere(each)),
            other => literal_text(other).is_some_and(|text| self.passes_over(text)),
        }
    }

    /// Whether a name, or the beginning of one, is not that of anything that changes.
    fn passes_over(&self, text: &str) -> bool {
        let met = |name: &str| {
            is_or_below(text, name) || is_or_below(name, text) || name.starts_with(text)
        };
        let mut changes = self.changes.iter();
        !text.is_empty() && !changes.any(|change| met(&change.from) || met(&change.to))
    }
}

impl<'s> Visitor<'s> for FinderBody<'_> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        match statement {
            // What an error says is read by people.
            Stmt::Raise(_) => return,
            Stmt::Return(found) => {
                let nothing = found
                    .value
                    .as_deref()
                    .is_none_or(Expr::is_none_literal_expr);
                self.passes &= nothing;
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'s Expr) {
        match expression {
            Expr::Compare(compare)
                if self.is_name(&compare.left)
                    && compare
                        .comparators
                        .iter()
                        .all(|other| self.is_elsewhere(other)) => {}
            Expr::Call(call) => {
                let asked = call.func.as_attribute_expr();
                let asked = asked.filter(|method| {
                    method.attr.as_str() == "startswith" && self.is_name(&method.value)
                });
                let given = call.arguments.args.first();
                match given.filter(|given| asked.is_some() && self.is_elsewhere(given)) {
                    Some(_) => {}
                    None => visitor::walk_expr(self, expression),
                }
            }
            Expr::Name(name) => self.passes &= name.id.as_str() != self.name,
            _ => visitor::walk_expr(self, expression),
        }
    }
}

#[cfg(test)]
mod tests {
    use coalesce_model::{ChangeKind, Subject, change::Uses};

    use super::*;

    #[test]
    fn finders_that_find_nothing_are_told_from_others() {
        let changes = [Change {
            from: "p.a".to_owned(),
            to: "p.b".to_owned(),
            subject: Subject::Module,
            kind: ChangeKind::Move,
            shim: None,
            uses: Uses::default(),
        }];
        let code = |body: &str, put: &str| {
            format!(
                "import sys\nfrom x import Other\nclass F(MetaPathFinder):\n    \
                 def find_spec(self, name, path, target=None):\n        {body}\n{put}\n"
            )
        };
        let insert = "f = F()\nsys.meta_path.insert(0, f)";
        for (body, put, expected) in [
            (
                "if name == 'q.r':\n            raise ImportError(f'no {name}')",
                insert,
                true,
            ),
            ("if name in ('q', 'r'): return None", insert, true),
            ("if name.startswith('q.'): return", insert, true),
            ("if name == 'p.a': raise ImportError", insert, false),
            ("if name.startswith('p'): raise ImportError", insert, false),
            ("if name == 'q': return make(name)", insert, false),
            ("return TABLE.get(name)", insert, false),
            ("return None", "sys.meta_path.append(Other())", false),
            ("return None", "sys.meta_path[:] = [F()]", false),
        ] {
            assert_eq!(
                pass_over(&code(body, put), &changes),
                expected,
                "{body} {put}"
            );
        }
    }
}
