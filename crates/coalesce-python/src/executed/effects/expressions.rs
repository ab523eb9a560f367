//! Expressions: what they run, and what they give.

use ruff_python_ast::{self as ast, Expr};

use super::{
    Execution,
    libraries::{has_plain_operators, is_state},
    values::AbstractValue,
};

/// What a metaclass may have for its classes to be compared, hashed or shown.
const COMPARING: [&str; 9] = [
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__", "__str__",
];

/// What it may have for operators.
const OPERATORS: [&str; 14] = [
    "__or__",
    "__ror__",
    "__and__",
    "__rand__",
    "__xor__",
    "__add__",
    "__radd__",
    "__sub__",
    "__mul__",
    "__rmul__",
    "__matmul__",
    "__truediv__",
    "__invert__",
    "__rshift__",
];

impl Execution<'_, '_, '_> {
    /// Evaluates an expression.
    pub(super) fn value(&mut self, expression: &Expr) -> AbstractValue {
        match expression {
            Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_) => AbstractValue::Constant,
            Expr::FString(text) => self.formatted(text),
            Expr::Name(name) => self.named(&name.id),
            Expr::Attribute(attribute) => {
                let base = self.value(&attribute.value);
                self.attribute(base, &attribute.attr, attribute)
            }
            Expr::Subscript(subscript) => self.subscript(subscript),
            Expr::Call(call) => self.call(call),
            Expr::BinOp(operation) => self.operated(operation),
            Expr::UnaryOp(operation) => self.unary(operation),
            Expr::BoolOp(operation) => self.either(&operation.values),
            Expr::Compare(compare) => self.comparison(compare),
            other => self.display(other),
        }
    }

    fn unary(&mut self, operation: &ast::ExprUnaryOp) -> AbstractValue {
        let value = self.value(&operation.operand);
        if operation.op == ast::UnaryOp::Not {
            self.asked(&value, operation);
            return AbstractValue::Constant;
        }
        self.operand(value, operation)
    }

    /// Evaluates an expression that makes a container.
    fn display(&mut self, expression: &Expr) -> AbstractValue {
        match expression {
            Expr::Tuple(all) => match self.elements(&all.elts) {
                AbstractValue::Constant => AbstractValue::Constant,
                elements => AbstractValue::container_of(elements),
            },
            Expr::List(all) => AbstractValue::container_of(self.elements(&all.elts)),
            Expr::Set(all) => {
                all.elts.iter().for_each(|one| self.compared(one));
                AbstractValue::container_of(self.elements(&all.elts))
            }
            Expr::Dict(all) => self.dictionary(all),
            Expr::ListComp(all) => self.comprehension(&all.generators, &[&all.elt]),
            Expr::SetComp(all) => self.comprehension(&all.generators, &[&all.elt]),
            Expr::DictComp(all) => {
                let key = all.key.as_deref();
                let parts: Vec<&Expr> = key.into_iter().chain([&*all.value]).collect();
                self.comprehension(&all.generators, &parts)
            }
            other => self.compound(other),
        }
    }

    /// Evaluates an expression that is made of others.
    fn compound(&mut self, expression: &Expr) -> AbstractValue {
        match expression {
            Expr::If(choice) => self.choice(choice),
            Expr::Lambda(lambda) => {
                lambda.parameters.iter().for_each(|all| self.defaults(all));
                AbstractValue::Code { own: true }
            }
            Expr::Named(named) => self.bind_inline(named),
            Expr::Starred(starred) => {
                let value = self.value(&starred.value);
                self.iterated(&value, starred)
            }
            Expr::Slice(slice) => self.slice(slice),
            Expr::Generator(all) => {
                let made = self.comprehension(&all.generators, &[&all.elt]);
                AbstractValue::stream_of(made.element(), &[])
            }
            Expr::Yield(found) => {
                found.value.iter().for_each(|value| drop(self.value(value)));
                AbstractValue::Unknown
            }
            _ => self.doubt(expression, "it may run more than its text says"),
        }
    }

    /// `one if test else two`
    fn choice(&mut self, choice: &ast::ExprIf) -> AbstractValue {
        let test = self.value(&choice.test);
        self.asked(&test, &*choice.test);
        self.value(&choice.body).or(self.value(&choice.orelse))
    }

    /// `name := value`
    fn bind_inline(&mut self, named: &ast::ExprNamed) -> AbstractValue {
        let value = self.value(&named.value);
        if let Expr::Name(name) = &*named.target {
            self.bind(&name.id, value.clone());
        }
        value
    }

    fn slice(&mut self, slice: &ast::ExprSlice) -> AbstractValue {
        for part in [&slice.lower, &slice.upper, &slice.step] {
            part.iter().for_each(|part| self.compared(part));
        }
        AbstractValue::Constant
    }

    fn formatted(&mut self, text: &ast::ExprFString) -> AbstractValue {
        let mut parts: Vec<&Expr> = Vec::new();
        text.value
            .elements()
            .for_each(|element| shown(element, &mut parts));
        parts.into_iter().for_each(|part| self.compared(part));
        AbstractValue::Constant
    }

    /// What all of them are.
    pub(super) fn elements(&mut self, all: &[Expr]) -> AbstractValue {
        let mut found = AbstractValue::Constant;
        for one in all {
            let value = self.value(one);
            found = found.or(value);
        }
        found
    }

    fn dictionary(&mut self, all: &ast::ExprDict) -> AbstractValue {
        let mut values = AbstractValue::Constant;
        for item in &all.items {
            item.key.iter().for_each(|key| self.compared(key));
            let value = self.elements(std::slice::from_ref(&item.value));
            values = values.or(match (&item.key, value) {
                (None, found) => found.element(),
                (Some(_), found) => found,
            });
        }
        AbstractValue::container_of(values)
    }

    /// Evaluates what is compared, hashed or shown.
    pub(super) fn compared(&mut self, expression: &Expr) {
        let value = self.value(expression);
        self.compared_value(&value, expression);
    }

    /// The same of what has been evaluated.
    fn compared_value(&mut self, value: &AbstractValue, expression: &Expr) {
        self.run_metaclass(value, &COMPARING, expression);
        if let AbstractValue::Instance { .. } = value {
            self.run_shown(value, expression);
        } else if !value.is_plain() {
            self.doubt(
                expression,
                "it is compared or shown, by a method that nobody knows",
            );
        }
    }

    fn operated(&mut self, operation: &ast::ExprBinOp) -> AbstractValue {
        let (left, right) = (&*operation.left, &*operation.right);
        let one = self.value(left);
        let two = self.value(right);
        if let Some(made) = self.operator_of_objects((&one, &two), operation.op, operation) {
            return made;
        }
        let one = self.operand(one, left);
        let two = self.operand(two, right);
        one.or(two)
    }

    /// What an operator makes of a value.
    pub(super) fn operand(
        &mut self,
        value: AbstractValue,
        at: &impl ruff_text_size::Ranged,
    ) -> AbstractValue {
        match value {
            AbstractValue::Constant => AbstractValue::Constant,
            AbstractValue::Own | AbstractValue::Shared => AbstractValue::Own,
            AbstractValue::Container { element, .. } => {
                AbstractValue::Container { own: true, element }
            }
            AbstractValue::Outside(name) if has_plain_operators(&name) => AbstractValue::Own,
            AbstractValue::Outside(name) => self.doubt(
                at,
                format!("nobody knows what an operator of `{name}` does"),
            ),
            // Unions of types.
            AbstractValue::Class(..) | AbstractValue::Builtin(_) | AbstractValue::Code { .. } => {
                self.run_metaclass(&value, &OPERATORS, at);
                AbstractValue::Code { own: false }
            }
            _ => self.doubt(at, "nobody knows what this operator does there"),
        }
    }

    /// `or` and `and`, which give one of them.
    fn either(&mut self, all: &[Expr]) -> AbstractValue {
        let mut found = None;
        for one in all {
            let value = self.value(one);
            self.asked(&value, one);
            found = Some(match found {
                Some(known) => AbstractValue::or(known, value),
                None => value,
            });
        }
        found.unwrap_or(AbstractValue::Constant)
    }

    /// Whether a value is true.
    pub(super) fn asked(&mut self, value: &AbstractValue, at: &impl ruff_text_size::Ranged) {
        self.run_metaclass(value, &["__bool__", "__len__"], at);
        if let AbstractValue::Instance { .. } = value {
            self.run_examined("bool", value, at);
        } else if !value.has_plain_length() {
            self.doubt(
                at,
                "whether this is true is for a method to say that nobody knows",
            );
        }
    }

    fn comparison(&mut self, compare: &ast::ExprCompare) -> AbstractValue {
        let identity = |op: &ast::CmpOp| matches!(op, ast::CmpOp::Is | ast::CmpOp::IsNot);
        let plain = compare.ops.iter().all(identity);
        let sides: Vec<&Expr> = std::iter::once(&*compare.left)
            .chain(&compare.comparators)
            .collect();
        let values = self.compared_sides(&sides, plain);
        for ((op, pair), side) in compare.ops.iter().zip(values.windows(2)).zip(&sides) {
            if let [one, two] = pair {
                self.compare_objects((one, two), *op, *side);
            }
        }
        let places = values.iter().zip(&sides).skip(1);
        for (op, (value, side)) in compare.ops.iter().zip(places) {
            if matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn) {
                self.looked_through(value, side);
            }
        }
        AbstractValue::Constant
    }

    /// Evaluates the sides of a comparison, which is of identity alone where it is `plain`.
    fn compared_sides(&mut self, sides: &[&Expr], plain: bool) -> Vec<AbstractValue> {
        let mut values = Vec::new();
        for side in sides {
            let value = self.value(side);
            if !plain && !matches!(value, AbstractValue::Instance { .. }) {
                self.compared_value(&value, side);
            }
            values.push(value);
        }
        values
    }

    /// `x in place`
    fn looked_through(&mut self, value: &AbstractValue, place: &Expr) {
        self.run_metaclass(value, &["__contains__", "__iter__", "__getitem__"], place);
        self.used_up(value, place);
    }

    /// Something is read: whether that changes what others have, too.
    pub(super) fn used_up(&mut self, value: &AbstractValue, at: &impl ruff_text_size::Ranged) {
        if value.is_used_up() {
            self.doubt(at, "it uses up, or adds to, what others have, too");
        }
    }

    fn subscript(&mut self, subscript: &ast::ExprSubscript) -> AbstractValue {
        let base = self.value(&subscript.value);
        let index = self.value(&subscript.slice);
        self.question_lookup(&base, &index, subscript);
        self.looked_up(base, &index, subscript)
    }

    /// Whether a look-up may fail in another process, and whether what it is looked up by runs more.
    fn question_lookup(
        &mut self,
        base: &AbstractValue,
        index: &AbstractValue,
        subscript: &ast::ExprSubscript,
    ) {
        let of_state = matches!(base, AbstractValue::Outside(name) if is_state(name));
        if of_state || self.reads_state(&subscript.slice) {
            self.may_fail(
                subscript,
                "it needs something of the process that need not be there",
            );
        }
        if self.is_to_be_filled(&subscript.value, &subscript.slice) {
            self.may_fail(subscript, "it needs what others put there first");
        }
        if !index.is_plain()
            && !matches!(base, AbstractValue::Class(..) | AbstractValue::Outside(_))
        {
            self.doubt(
                subscript,
                "what it is looked up by is compared by a method that nobody knows",
            );
        }
    }

    /// What a look-up gives.
    fn looked_up(
        &mut self,
        base: AbstractValue,
        index: &AbstractValue,
        subscript: &ast::ExprSubscript,
    ) -> AbstractValue {
        match base {
            AbstractValue::Outside(name) if name == "sys.modules" => {
                self.looked_up_in_modules(&subscript.slice)
            }
            AbstractValue::Outside(name) if is_state(&name) => AbstractValue::Constant,
            base if base.is_of_builtins() => {
                self.used_up(&base, subscript);
                base.element()
            }
            AbstractValue::Class(home, class) => self.subscript_of_class(home, class, subscript),
            AbstractValue::Outside(_) | AbstractValue::Builtin(_) => base,
            AbstractValue::Code { .. } => AbstractValue::Unknown,
            AbstractValue::Instance { .. } => self.looked_up_in_object(&base, index, subscript),
            _ => self.doubt(subscript, "nobody knows what looking this up does"),
        }
    }

    /// `sys.modules[name]`
    fn looked_up_in_modules(&self, name: &Expr) -> AbstractValue {
        match name {
            Expr::Name(own) if own.id.as_str() == "__name__" => AbstractValue::Module(self.home),
            _ => AbstractValue::Unknown,
        }
    }

    /// `Class[parameter]`
    fn subscript_of_class(
        &mut self,
        home: usize,
        class: String,
        at: &ast::ExprSubscript,
    ) -> AbstractValue {
        let whole = AbstractValue::Class(home, class.clone());
        self.run_metaclass(&whole, &["__getitem__"], at);
        self.run_hook((home, &class, false), "__class_getitem__", at);
        whole
    }

    /// Goes through something.
    pub(super) fn iterated(
        &mut self,
        value: &AbstractValue,
        at: &impl ruff_text_size::Ranged,
    ) -> AbstractValue {
        match value {
            AbstractValue::Class(home, class) if self.is_enum(*home, class, 0) => {
                AbstractValue::Shared
            }
            AbstractValue::Outside(name) if has_plain_operators(name) => AbstractValue::Shared,
            value if value.is_of_builtins() => {
                self.used_up(value, at);
                value.element()
            }
            AbstractValue::Instance { .. } => {
                match self.run_method(value, "__iter__", &AbstractValue::Constant, at) {
                    Some(_) => AbstractValue::Unknown,
                    None => self.doubt(at, "nobody knows what going through this does"),
                }
            }
            _ => self.doubt(at, "nobody knows what going through this does"),
        }
    }

    fn comprehension(
        &mut self,
        generators: &[ast::Comprehension],
        parts: &[&Expr],
    ) -> AbstractValue {
        self.scopes.push(rustc_hash::FxHashMap::default());
        for generator in generators {
            let iterated = self.value(&generator.iter);
            let element = self.iterated(&iterated, &generator.iter);
            self.assign(&generator.target, &element);
            for test in &generator.ifs {
                let value = self.value(test);
                self.asked(&value, test);
            }
        }
        let mut found = AbstractValue::Constant;
        for part in parts {
            found = found.or(self.elements(std::slice::from_ref(*part)));
        }
        self.scopes.pop();
        AbstractValue::container_of(found)
    }

    /// Whether an expression reads what differs from process to process.
    pub(super) fn reads_state(&mut self, expression: &Expr) -> bool {
        let mut found = Vec::new();
        chains(expression, &mut found);
        found.into_iter().any(|chain| {
            let value = self.effects_free_value(chain);
            matches!(value, AbstractValue::Outside(name) if is_state(&name))
        })
    }

    /// What a name with attributes is, nothing of it counted.
    pub(super) fn effects_free_value(&mut self, chain: &Expr) -> AbstractValue {
        let (reaches, fails) = (self.reaches.take(), self.fails.take());
        let value = self.value(chain);
        (self.reaches, self.fails) = (reaches, fails);
        value
    }

    /// What annotations run: calls, and attributes of objects.
    pub(super) fn annotation(&mut self, annotation: &Expr) {
        match annotation {
            Expr::Name(_) | Expr::StringLiteral(_) => {}
            Expr::Attribute(attribute) => {
                let base = self.value(&attribute.value);
                if base != AbstractValue::Unknown {
                    self.attribute(base, &attribute.attr, attribute);
                }
            }
            Expr::Subscript(subscript) => {
                self.annotation(&subscript.value);
                self.annotation(&subscript.slice);
            }
            Expr::BinOp(operation) if operation.op == ast::Operator::BitOr => {
                self.annotated_union(operation);
            }
            Expr::Tuple(all) => all.elts.iter().for_each(|one| self.annotation(one)),
            Expr::List(all) => all.elts.iter().for_each(|one| self.annotation(one)),
            other => drop(self.value(other)),
        }
    }

    /// `one | two` in an annotation.
    fn annotated_union(&mut self, operation: &ast::ExprBinOp) {
        for side in [&*operation.left, &*operation.right] {
            self.annotation(side);
            if let Expr::Name(name) = side
                && let AbstractValue::Instance { .. } = self.named(&name.id)
            {
                self.doubt(side, "nobody knows what an operator of this object does");
            }
        }
    }
}

/// The expressions of a part of a text that are shown there, or say how.
fn shown<'e>(element: &'e ast::InterpolatedStringElement, parts: &mut Vec<&'e Expr>) {
    let ast::InterpolatedStringElement::Interpolation(part) = element else {
        return;
    };
    parts.push(&part.expression);
    let specification = part
        .format_spec
        .iter()
        .flat_map(|spec| spec.elements.iter());
    specification.for_each(|element| shown(element, parts));
}

/// The names with their attributes that an expression reads.
fn chains<'e>(expression: &'e Expr, found: &mut Vec<&'e Expr>) {
    struct ChainFinder<'e, 'f>(&'f mut Vec<&'e Expr>);
    impl<'e> ast::visitor::Visitor<'e> for ChainFinder<'e, '_> {
        fn visit_expr(&mut self, expression: &'e Expr) {
            if matches!(expression, Expr::Name(_) | Expr::Attribute(_))
                && crate::analysis::predicates::chain(expression).is_some()
            {
                self.0.push(expression);
            }
            ast::visitor::walk_expr(self, expression);
        }
    }
    ast::visitor::Visitor::visit_expr(&mut ChainFinder(found), expression);
}
