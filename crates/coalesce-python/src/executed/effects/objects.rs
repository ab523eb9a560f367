//! What operators, look-ups and functions that Python has itself run of objects of the tree: their methods.

use ruff_python_ast::{self as ast, CmpOp, Expr, Operator};
use ruff_text_size::Ranged;

use super::{Execution, calls::Given, classes::ClassMember, values::AbstractValue};

/// What objects may have for somebody to go through them.
const GOING_THROUGH: [&str; 6] = [
    "__iter__",
    "__next__",
    "__len__",
    "keys",
    "__getitem__",
    "__reversed__",
];

/// What they may have for numbers and other values to be made of them.
const CONVERTING: [&str; 11] = [
    "__int__",
    "__float__",
    "__index__",
    "__abs__",
    "__round__",
    "__complex__",
    "__bytes__",
    "__dir__",
    "__divmod__",
    "__pow__",
    "__trunc__",
];

impl Execution<'_, '_, '_> {
    /// Runs a method of an object: what it gives; nothing where the class is known and has none.
    pub(super) fn run_method(
        &mut self,
        object: &AbstractValue,
        name: &str,
        given: &AbstractValue,
        at: &impl Ranged,
    ) -> Option<AbstractValue> {
        let AbstractValue::Instance { home, class, own } = object else {
            return None;
        };
        match self.effects.member_of_class(*home, class, name, 0) {
            ClassMember::None => None,
            ClassMember::Method(home, class) => {
                let method = AbstractValue::Method {
                    home,
                    class,
                    name: name.to_owned(),
                    own: *own,
                };
                Some(self.invoke(&method, &Given::only(given.clone()), at))
            }
            _ => Some(self.doubt(at, format!("nobody knows whether `{class}` has `{name}`"))),
        }
    }

    /// `a + b`, of which one is an object of the tree; nothing where neither is.
    pub(super) fn operator_of_objects(
        &mut self,
        (one, two): (&AbstractValue, &AbstractValue),
        operator: Operator,
        at: &impl Ranged,
    ) -> Option<AbstractValue> {
        let is_object = |value: &AbstractValue| matches!(value, AbstractValue::Instance { .. });
        if !is_object(one) && !is_object(two) {
            return None;
        }
        let found = self
            .run_method(one, operator.dunder(), two, at)
            .or_else(|| self.run_method(two, operator.reflected_dunder(), one, at));
        Some(found.unwrap_or_else(|| self.doubt(at, "nobody knows what this operator does there")))
    }

    /// Compares two values, of which one may be an object of the tree.
    pub(super) fn compare_objects(
        &mut self,
        (one, two): (&AbstractValue, &AbstractValue),
        operator: CmpOp,
        at: &impl Ranged,
    ) {
        if let CmpOp::In | CmpOp::NotIn = operator {
            self.run_contains(two, one, at);
        }
        let Some((name, reflected)) = comparing_methods(operator) else {
            return;
        };
        if self.run_method(one, name, two, at).is_none() {
            self.run_method(two, reflected, one, at);
        }
        // `!=` asks `__eq__` where there is nothing else.
        if operator == CmpOp::NotEq && self.run_method(one, "__eq__", two, at).is_none() {
            self.run_method(two, "__eq__", one, at);
        }
    }

    /// `object in place`
    fn run_contains(&mut self, place: &AbstractValue, object: &AbstractValue, at: &impl Ranged) {
        let own = self.run_method(place, "__contains__", object, at);
        if own.is_none() {
            self.run_method(place, "__iter__", &AbstractValue::Constant, at);
        }
    }

    /// An object is hashed, or shown, or is a key: what that runs.
    pub(super) fn run_shown(&mut self, value: &AbstractValue, at: &impl Ranged) {
        for name in ["__hash__", "__repr__", "__str__", "__format__"] {
            self.run_method(value, name, &AbstractValue::Constant, at);
        }
        self.run_method(value, "__eq__", value, at);
    }

    /// What a function that Python has itself runs of an object that it is given.
    pub(super) fn run_examined(&mut self, function: &str, value: &AbstractValue, at: &impl Ranged) {
        let names: &[&str] = match function {
            "len" => &["__len__"],
            "bool" | "any" | "all" => &["__bool__", "__len__"],
            "list" | "tuple" | "iter" | "enumerate" | "zip" | "map" | "filter" | "reversed"
            | "set" | "frozenset" | "sorted" | "dict" | "sum" | "max" | "min" => &GOING_THROUGH,
            "str" | "repr" | "format" | "ascii" => &["__str__", "__repr__", "__format__"],
            "hash" => &["__hash__"],
            _ => &CONVERTING,
        };
        for name in names {
            self.run_method(value, name, &AbstractValue::Constant, at);
        }
    }

    /// `object[key]`
    pub(super) fn looked_up_in_object(
        &mut self,
        object: &AbstractValue,
        key: &AbstractValue,
        at: &ast::ExprSubscript,
    ) -> AbstractValue {
        match self.run_method(object, "__getitem__", key, at) {
            Some(value) => value,
            None => self.doubt(at, "nobody knows what looking this up does"),
        }
    }

    /// `object[key] = value`
    pub(super) fn set_in_object(
        &mut self,
        object: &AbstractValue,
        key: &Expr,
        (value, at): (&AbstractValue, &Expr),
    ) {
        let given = self.effects_free_value(key).or(value.clone());
        if self.run_method(object, "__setitem__", &given, at).is_none() {
            self.doubt(at, "nobody knows what setting this does");
        }
    }
}

/// The methods that a comparison asks, of the one object and of the other.
fn comparing_methods(operator: CmpOp) -> Option<(&'static str, &'static str)> {
    Some(match operator {
        CmpOp::Eq => ("__eq__", "__eq__"),
        CmpOp::NotEq => ("__ne__", "__ne__"),
        CmpOp::Lt => ("__lt__", "__gt__"),
        CmpOp::LtE => ("__le__", "__ge__"),
        CmpOp::Gt => ("__gt__", "__lt__"),
        CmpOp::GtE => ("__ge__", "__le__"),
        CmpOp::In | CmpOp::NotIn | CmpOp::Is | CmpOp::IsNot => return None,
    })
}
