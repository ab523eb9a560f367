//! Functions that functions define, called by their names where they stand, or given to others as decorators.

use std::rc::Rc;

use ruff_python_ast::{
    self as ast, Expr, Stmt,
    visitor::{self, Visitor},
};

use super::{Execution, values::AbstractValue};

/// A function in the body of another one that is being run.
#[derive(Clone)]
pub(super) struct InnerFunction {
    text: Rc<ast::StmtFunctionDef>,
    /// How many scopes are around it.
    depth: usize,
    /// How often its name has been bound there.
    bound: usize,
}

impl Execution<'_, '_, '_> {
    /// Keeps a function that one which is run defines.
    pub(super) fn define_inner(&mut self, function: &ast::StmtFunctionDef) {
        if self.called && !self.scopes.is_empty() {
            let before = self
                .scopes
                .last()
                .and_then(|scope| scope.get(function.name.as_str()));
            let is_other = before.is_some_and(|value| *value != AbstractValue::Constant);
            self.inner.push(InnerFunction {
                text: Rc::new(function.clone()),
                depth: self.scopes.len(),
                bound: usize::from(is_other),
            });
        }
    }

    /// A name is bound where the text has come to.
    pub(super) fn note_binding(&mut self, name: &str) {
        let depth = self.scopes.len();
        let inner = self.inner.iter_mut();
        let named = inner.filter(|each| each.depth == depth && each.text.name.as_str() == name);
        named.for_each(|each| each.bound += 1);
    }

    /// Functions of these names may be others from here on.
    pub(super) fn forget_inner(&mut self, names: &[ast::Identifier]) {
        self.inner.retain(|each| !names.contains(&each.text.name));
    }

    /// The function that a name stands for which is called; none where it may be another one, or something else.
    pub(super) fn inner_function(&self, callee: &Expr) -> Option<InnerFunction> {
        let Expr::Name(name) = callee else {
            return None;
        };
        let name = name.id.as_str();
        let scopes = self.scopes.iter().enumerate().rev();
        let (at, value) = scopes
            .filter_map(|(at, scope)| Some((at, scope.get(name)?)))
            .next()?;
        let inner = self.inner.iter();
        let mut named = inner.filter(|each| each.text.name.as_str() == name);
        let (only, other) = (named.next()?, named.next());
        let is_it = *value == AbstractValue::Code { own: true } && only.depth == at + 1;
        let alone = other.is_none() && only.bound == 1;
        let plain = only.text.decorator_list.is_empty() && !only.text.is_async;
        (is_it && alone && plain && !gives_in_parts(&only.text)).then(|| only.clone())
    }

    /// Calls such a function where it was defined; nothing where it is being called already, or too much is.
    pub(super) fn call_inner(
        &mut self,
        function: &InnerFunction,
        given: &AbstractValue,
    ) -> Option<AbstractValue> {
        let text = &function.text;
        let at = self
            .inner
            .iter()
            .position(|each| Rc::ptr_eq(&each.text, text))?;
        self.inner.remove(at);
        let (known, globals) = (self.inner.len(), self.globals.clone());
        let outer = self.scopes.split_off(function.depth);
        let returned = std::mem::replace(&mut self.returned, AbstractValue::Constant);
        let effects = self.effects;
        let done = effects.depth.deeper(|| {
            self.enter(text, None, given);
            self.suite(&text.body);
            self.scopes.pop();
        });
        let value = std::mem::replace(&mut self.returned, returned);
        self.scopes.extend(outer);
        self.globals = globals;
        self.inner.truncate(known);
        self.inner.push(function.clone());
        done.map(|()| value)
    }

    /// Runs with a definition what the body gives of a function that has been run, or all functions that it defines
    /// where it gives something else. Nothing where it defines none.
    pub(super) fn run_returned(&mut self, body: &[Stmt]) -> Option<()> {
        let made = AbstractValue::Code { own: true };
        let mut finder = ReturnFinder::default();
        finder.visit_body(body);
        let all = self.inner.clone();
        let known = finder.values.iter().all(|value| match value {
            Expr::Name(_) => self.inner_function(value).is_some(),
            other => other.is_lambda_expr(),
        });
        if !known || finder.values.is_empty() {
            all.first()?;
            for one in &all {
                self.run_with(one, &made);
            }
            return Some(());
        }
        for value in finder.values {
            match (value, self.inner_function(value)) {
                (Expr::Lambda(lambda), _) => drop(self.call_lambda(lambda, &made)),
                (_, Some(function)) => self.run_with(&function, &made),
                _ => {}
            }
        }
        Some(())
    }

    fn run_with(&mut self, function: &InnerFunction, made: &AbstractValue) {
        if self.call_inner(function, made).is_none() {
            self.doubt(&*function.text, "nobody knows what this call does");
        }
    }
}

/// Whether calling a function runs nothing of it: it gives one thing after the other to who goes through them.
fn gives_in_parts(function: &ast::StmtFunctionDef) -> bool {
    let mut finder = ReturnFinder::default();
    finder.visit_body(&function.body);
    finder.yields
}

/// Finds what a function gives; functions and classes in it are others.
#[derive(Default)]
struct ReturnFinder<'s> {
    values: Vec<&'s Expr>,
    yields: bool,
}

impl<'s> ReturnFinder<'s> {
    fn returned(&mut self, value: &'s Expr) {
        match value {
            Expr::If(choice) => {
                self.returned(&choice.body);
                self.returned(&choice.orelse);
            }
            other => self.values.push(other),
        }
    }
}

impl<'s> Visitor<'s> for ReturnFinder<'s> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Return(found) => {
                found.value.iter().for_each(|value| {
                    self.visit_expr(value);
                    self.returned(value);
                });
            }
            other => visitor::walk_stmt(self, other),
        }
    }

    fn visit_expr(&mut self, expression: &'s Expr) {
        match expression {
            Expr::Lambda(_) => {}
            Expr::Yield(_) | Expr::YieldFrom(_) => self.yields = true,
            other => visitor::walk_expr(self, other),
        }
    }
}
