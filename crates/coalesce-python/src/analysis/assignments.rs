//! Assignments and declarations: what they bind, what `__all__` becomes.

use ruff_python_ast::{self as ast, Expr, Stmt, visitor};

use super::{
    Called, Definition, DefinitionKind, Evaluated, Use, Walker, predicates::is_name, shift,
};
use crate::facts::Spanned;

impl<'t> Walker<'t> {
    pub(super) fn nonlocal(&mut self, statement: &ast::StmtNonlocal) {
        if let Some(scope) = self.found.scopes.get_mut(self.scope) {
            let names = statement.names.iter();
            let names = names.map(|name| name.as_str().to_owned());
            scope.nonlocals.extend(names);
        }
    }

    pub(super) fn global(&mut self, global: &ast::StmtGlobal) {
        let names = global.names.iter();
        let names: Vec<String> = names.map(|name| self.mangled(name).into_owned()).collect();
        if let Some(scope) = self.found.scopes.get_mut(self.scope) {
            scope.globals.extend(names);
        }
        for name in &global.names {
            let name = Spanned {
                text: self.mangled(name).into_owned(),
                span: self.span(name),
            };
            // Nothing is read here, whatever the time.
            self.found.uses.push(Use {
                scope: self.scope,
                stands_in: self.scope,
                chain: vec![name],
                store: true,
                eager: false,
                annotation: self.annotation,
                assigned: false,
                called: Called::No,
                evaluated: Evaluated::Always,
            });
        }
    }

    /// Keeps what a name is given when that is a text which is put together.
    fn hold(&mut self, assign: &'t ast::StmtAssign) {
        if let ([Expr::Name(name)], Expr::FString(_) | Expr::BinOp(_)) =
            (assign.targets.as_slice(), &*assign.value)
        {
            self.texts.insert(name.id.as_str(), &assign.value);
        }
    }

    pub(super) fn assign(&mut self, assign: &'t ast::StmtAssign, statement: &'t Stmt) {
        let value = self.found.uses.len();
        self.hold(assign);
        visitor::walk_stmt(self, statement);
        for target in &assign.targets {
            self.gets_value(target, statement);
        }
        let whole = match &*assign.value {
            Expr::Name(_) => true,
            Expr::Attribute(attribute) => self.chain(attribute).is_some(),
            _ => false,
        };
        let Some(scope) = self.found.scopes.get_mut(self.scope).filter(|_| whole) else {
            return;
        };
        for target in &assign.targets {
            if let Expr::Name(name) = target
                && let Some(bindings) = scope.bindings.get_mut(name.id.as_str())
                && let Some(last) = bindings.last_mut()
            {
                last.value = Some(value);
            }
        }
    }

    /// Notes a name of module-level code that gets a value.
    pub(super) fn gets_value(&mut self, target: &Expr, statement: &Stmt) {
        let span = self.span(statement);
        match target {
            Expr::Name(name) if self.scope == 0 && self.executed() => {
                let name = name.id.to_string();
                let kind = DefinitionKind::Value;
                let hooks = false;
                self.found.definitions.push(Definition {
                    name,
                    class: None,
                    span,
                    kind,
                    hooks,
                });
            }
            Expr::Tuple(tuple) => {
                for element in &tuple.elts {
                    self.gets_value(element, statement);
                }
            }
            _ => {}
        }
    }

    pub(super) fn assign_all(&mut self, value: &Expr, extend: bool) {
        let Some(mut entries) = self.literal_strings(value) else {
            self.found.dynamic = true;
            return;
        };
        match &mut self.found.all {
            Some(all) if extend => all.append(&mut entries),
            all => *all = Some(entries),
        }
    }

    pub(super) fn literal_strings(&self, value: &Expr) -> Option<Vec<Spanned>> {
        let elements = match value {
            Expr::List(list) => &list.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::BinOp(sum) => {
                let mut left = self.literal_strings(&sum.left)?;
                left.extend(self.literal_strings(&sum.right)?);
                return Some(left);
            }
            Expr::Call(call) => {
                let kinds = ["list", "sorted", "tuple"];
                let copies = kinds.iter().any(|kind| is_name(&call.func, kind));
                let [only] = &*call.arguments.args else {
                    return None;
                };
                return self.literal_strings(only).filter(|_| copies);
            }
            _ => return None,
        };
        let strings = elements.iter().map(|element| self.literal_string(element));
        strings.collect()
    }

    /// A text, at the place of its first part.
    fn literal_string(&self, element: &Expr) -> Option<Spanned> {
        let Expr::StringLiteral(literal) = element else {
            return None;
        };
        let part = literal.value.iter().next()?;
        Some(Spanned {
            text: literal.value.to_str().to_owned(),
            span: shift(part.content_range(), self.start),
        })
    }

    /// `__all__.append("f")` and its like.
    pub(super) fn extend_all(&mut self, call: &ast::ExprCall, method: &str) {
        let Expr::Attribute(attribute) = &*call.func else {
            return;
        };
        if !is_name(&attribute.value, "__all__") {
            return;
        }
        let arguments = &call.arguments.args;
        let value = match (method, &**arguments) {
            ("extend", [value]) => return self.assign_all(value, true),
            ("append" | "remove", [value]) | ("insert", [_, value]) => value,
            _ => return self.found.dynamic = true,
        };
        let entry = self.literal_string(value);
        let (Some(entry), Some(all)) = (entry, &mut self.found.all) else {
            return self.found.dynamic = true;
        };
        if method == "remove" {
            all.retain(|other| other.text != entry.text);
        } else {
            all.push(entry);
        }
    }
}
