//! Decorators: what they do with the definitions that they stand on.

use ruff_python_ast::{self as ast, Expr};

use super::{
    super::{
        Execution,
        libraries::{BuiltinKind, builtin_kind, is_plain_call, takes_classes},
        values::AbstractValue,
    },
    Given,
};

impl Execution<'_, '_, '_> {
    /// Applies a decorator to a definition.
    pub(in crate::executed::effects) fn decorate(
        &mut self,
        decorator: &ast::Decorator,
        made: AbstractValue,
    ) -> AbstractValue {
        let expression = &decorator.expression;
        if is_accessor(expression) {
            return made;
        }
        let value = self.value(expression);
        if let AbstractValue::Outside(name) | AbstractValue::Builtin(name) = &value {
            if !self.is_known_decorator(&value, &made) {
                let what = format!("nobody knows what `{name}` does with what it stands on");
                self.doubt(decorator, what);
            }
            return compiled_by(name, made);
        }
        if let Expr::Call(call) = expression
            && let Some(name) = self.callee_outside(call)
        {
            return compiled_by(&name, made);
        }
        self.decorate_by_value(decorator, &value, made)
    }

    /// Whether it is known what something of Python or another library does with a definition.
    fn is_known_decorator(&self, decorator: &AbstractValue, made: &AbstractValue) -> bool {
        match decorator {
            AbstractValue::Outside(name) if takes_classes(name) => self.is_own_class(made),
            AbstractValue::Outside(name) => is_plain_call(name),
            AbstractValue::Builtin(name) => matches!(builtin_kind(name), BuiltinKind::Plain),
            _ => false,
        }
    }

    /// Applies a decorator of the tree, or one that a call gave.
    fn decorate_by_value(
        &mut self,
        decorator: &ast::Decorator,
        value: &AbstractValue,
        made: AbstractValue,
    ) -> AbstractValue {
        match value {
            // What a known function of the tree gives is called.
            AbstractValue::Function(..)
            | AbstractValue::Method { .. }
            | AbstractValue::Class(..) => {
                let given = Given::only(AbstractValue::Code { own: true });
                self.invoke(value, &given, decorator)
            }
            AbstractValue::Code { .. } if self.makes_decorators(&decorator.expression) => {
                AbstractValue::Code { own: true }
            }
            // What a function of the tree gives is a decorator of a known library.
            AbstractValue::Constant | AbstractValue::Own | AbstractValue::Shared => made,
            _ => self.doubt(decorator, "nobody knows what this decorator does"),
        }
    }

    fn callee_outside(&mut self, call: &ast::ExprCall) -> Option<String> {
        match self.effects_free_value(&call.func) {
            AbstractValue::Outside(name) => Some(name),
            _ => None,
        }
    }

    /// Whether a call makes a decorator that does no more than wrap: a function of the tree, whose inner functions are
    /// gone through as well.
    fn makes_decorators(&mut self, expression: &Expr) -> bool {
        let Expr::Call(call) = expression else {
            return false;
        };
        let callee = self.effects_free_value(&call.func);
        let (reaches, fails) = (self.reaches.take(), self.fails.take());
        let given = self.given(&call.arguments);
        (self.reaches, self.fails) = (reaches, fails);
        let inner = self
            .effects
            .inner_functions(self.imported, &callee, &given.all);
        inner == Some(true)
    }
}

/// `@name.setter`
fn is_accessor(decorator: &Expr) -> bool {
    matches!(decorator, Expr::Attribute(attribute)
        if matches!(attribute.attr.as_str(), "setter" | "getter" | "deleter"))
}

/// What is left of a definition below a decorator of a library: compilers give something else than a function.
fn compiled_by(decorator: &str, made: AbstractValue) -> AbstractValue {
    let compiles = decorator.ends_with("njit") || decorator.ends_with("jit");
    match &made {
        AbstractValue::Function(..) if compiles => AbstractValue::Code { own: true },
        _ => made,
    }
}
