//! Calls: of builtins, of other libraries, and of what the tree defines.

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use super::{
    Execution,
    libraries::{
        BuiltinKind, builtin_kind, calls_arguments, changes_first, changes_itself, is_plain_call,
        is_plain_method, is_stream, only_holds, puts_elements, takes_classes,
    },
    values::AbstractValue,
};

/// What a call is given.
pub(super) struct Given {
    values: Vec<AbstractValue>,
    /// What holds of all of them.
    all: AbstractValue,
    /// The same, in general.
    general: AbstractValue,
}

impl Given {
    /// A call with such values alone.
    pub(super) fn only(value: AbstractValue) -> Self {
        Self {
            values: vec![value.clone()],
            all: value.clone(),
            general: value.in_general(),
        }
    }

    fn first(&self) -> AbstractValue {
        self.values
            .first()
            .cloned()
            .unwrap_or(AbstractValue::Constant)
    }
}

impl Execution<'_, '_, '_> {
    pub(super) fn call(&mut self, call: &ast::ExprCall) -> AbstractValue {
        if let Expr::Name(name) = &*call.func
            && self
                .effects
                .told
                .only_forwards(self.home, &[name.id.to_string()])
        {
            return AbstractValue::Code { own: true };
        }
        let callee = match &*call.func {
            Expr::Attribute(method) => {
                if is_super(&method.value) {
                    let given = self.given(&call.arguments);
                    return self.call_above(&method.attr, &given, call);
                }
                let base = self.value(&method.value);
                if let Some(made) = self.of_named_tuple(&base, &method.attr, &call.arguments) {
                    return made;
                }
                if matches!(
                    base,
                    AbstractValue::Constant
                        | AbstractValue::Own
                        | AbstractValue::Shared
                        | AbstractValue::Stream { .. }
                        | AbstractValue::Container { .. }
                ) {
                    let given = self.given(&call.arguments);
                    self.used_up(&base, method);
                    if changes_itself(&method.attr) {
                        let stored = match puts_elements(&method.attr) {
                            true => given.all.element(),
                            false => given.all.clone(),
                        };
                        self.store(&method.value, &stored);
                    }
                    return self.call_method(&base, method, &given, &call.arguments);
                }
                self.attribute(base, &method.attr, method)
            }
            other => self.value(other),
        };
        let given = self.given(&call.arguments);
        match callee {
            AbstractValue::Builtin(name) => self.call_builtin(&name, &given, call),
            AbstractValue::Outside(name) => self.call_outside(&name, &given, call),
            callee => self.invoke(&callee, &given, call),
        }
    }

    pub(super) fn given(&mut self, arguments: &ast::Arguments) -> Given {
        let keywords = arguments.keywords.iter().map(|keyword| &keyword.value);
        let mut values = Vec::new();
        for argument in arguments.args.iter().chain(keywords) {
            let value = self.value(argument);
            values.push(value);
        }
        let all = values
            .iter()
            .cloned()
            .fold(AbstractValue::Constant, AbstractValue::or);
        Given {
            general: all.clone().in_general(),
            values,
            all,
        }
    }

    /// Calls what the tree defines.
    pub(super) fn invoke(
        &mut self,
        callee: &AbstractValue,
        given: &Given,
        at: &impl Ranged,
    ) -> AbstractValue {
        let outcome = match callee {
            AbstractValue::Function(home, name) => {
                self.effects
                    .call_function(self.imported, (*home, name), &given.all)
            }
            AbstractValue::Method {
                home,
                class,
                name,
                own,
            } => {
                let object = AbstractValue::Instance {
                    home: *home,
                    class: class.clone(),
                    own: *own,
                };
                self.effects
                    .call_method(self.imported, (*home, class, name), object, &given.all)
            }
            AbstractValue::Class(home, class) => {
                self.effects.make(self.imported, (*home, class), &given.all)
            }
            // Classes and the like that known libraries make: named tuples.
            AbstractValue::Constant | AbstractValue::Own | AbstractValue::Shared
                if given.general.is_plain() =>
            {
                return AbstractValue::container_of(given.general.clone());
            }
            AbstractValue::Builtin(name) if matches!(builtin_kind(name), BuiltinKind::Plain) => {
                return AbstractValue::Own;
            }
            AbstractValue::Outside(name) if is_plain_call(name) => {
                return given.general.clone().or(AbstractValue::Own);
            }
            _ => None,
        };
        let Some(outcome) = outcome else {
            return self.doubt(at, "nobody knows what this call does");
        };
        if let Some(effect) = outcome.effect {
            self.doubt(at, effect);
        }
        outcome.value
    }

    /// A method of something that builtins or known libraries made.
    fn call_method(
        &mut self,
        base: &AbstractValue,
        method: &ast::ExprAttribute,
        given: &Given,
        arguments: &ast::Arguments,
    ) -> AbstractValue {
        let name = method.attr.as_str();
        if changes_itself(name) {
            if !base.is_own() {
                self.doubt(method, "it changes what others have, too");
            }
            if name == "sort" {
                self.call_given(given, arguments);
            }
            return base.element();
        }
        if !is_plain_method(name) {
            return self.doubt(
                method,
                format!("nobody knows what the method `{name}` does"),
            );
        }
        if calls_arguments(name) {
            self.call_given(given, arguments);
        } else if !given.general.is_plain() && name != "get" {
            self.doubt(method, "it is given an object whose methods nobody knows");
        }
        match base {
            AbstractValue::Constant => AbstractValue::Own,
            AbstractValue::Container { element, .. } | AbstractValue::Stream { element, .. }
                if matches!(name, "copy" | "items" | "keys" | "values" | "union") =>
            {
                AbstractValue::container_of((**element).clone())
            }
            other => other.element(),
        }
    }

    /// What calls its arguments, calls those.
    fn call_given(&mut self, given: &Given, arguments: &ast::Arguments) {
        let others = given.values.iter().filter(|value| {
            !matches!(
                value,
                AbstractValue::Code { .. }
                    | AbstractValue::Function(..)
                    | AbstractValue::Class(..)
                    | AbstractValue::Builtin(_)
                    | AbstractValue::Outside(_)
            )
        });
        let others = others.fold(AbstractValue::Constant, |all, value| {
            all.or(value.element())
        });
        let keywords = arguments.keywords.iter().map(|keyword| &keyword.value);
        let expressions: Vec<&Expr> = arguments.args.iter().chain(keywords).collect();
        for (value, expression) in given.values.clone().into_iter().zip(expressions) {
            match (&value, expression) {
                (_, Expr::Lambda(lambda)) => self.call_lambda(lambda, &others),
                (
                    AbstractValue::Function(..)
                    | AbstractValue::Class(..)
                    | AbstractValue::Method { .. }
                    | AbstractValue::Outside(_),
                    _,
                ) => {
                    drop(self.invoke(&value, &Given::only(others.clone()), expression));
                }
                (AbstractValue::Builtin(name), _) => match builtin_kind(name) {
                    BuiltinKind::Plain => {}
                    BuiltinKind::Examining if others.is_plain() => {}
                    _ => drop(self.doubt(expression, format!("`{name}` is called with each"))),
                },
                (
                    AbstractValue::Code { .. }
                    | AbstractValue::Unknown
                    | AbstractValue::Instance { .. },
                    _,
                ) => {
                    drop(self.doubt(expression, "it is called, and nobody knows what it does"));
                }
                _ => {}
            }
        }
    }

    fn call_lambda(&mut self, lambda: &ast::ExprLambda, given: &AbstractValue) {
        let parameters = lambda.parameters.iter();
        let names = parameters.flat_map(|all| all.iter().map(|one| one.name().to_string()));
        let scope: FxHashMap<String, AbstractValue> =
            names.map(|name| (name, given.clone())).collect();
        self.scopes.push(scope);
        self.value(&lambda.body);
        self.scopes.pop();
    }

    fn call_builtin(&mut self, name: &str, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        if let Some((_, method)) = name.split_once('.') {
            if method.starts_with("__set") || method.starts_with("__del") || changes_itself(method)
            {
                self.changed(&given.first(), call);
                return AbstractValue::Constant;
            }
            let known = is_plain_method(method)
                || matches!(method, "__new__" | "__init__" | "fromkeys" | "fromhex");
            return match known && given.general.is_plain() {
                true => AbstractValue::Own,
                false => self.doubt(call, format!("nobody knows what `{name}` does")),
            };
        }
        match builtin_kind(name) {
            BuiltinKind::Plain if name == "type" && given.values.len() > 1 => {
                self.made_class(given, call)
            }
            BuiltinKind::Plain if matches!(name, "property" | "classmethod" | "staticmethod") => {
                AbstractValue::Code { own: true }
            }
            BuiltinKind::Plain if name == "type" => AbstractValue::Code { own: false },
            BuiltinKind::Plain if matches!(name, "isinstance" | "issubclass") => {
                self.asked_of_class(name, given, call)
            }
            BuiltinKind::Plain => AbstractValue::Own,
            BuiltinKind::Examining => self.examine(name, given, call),
            BuiltinKind::Changing => {
                self.changed(&given.first(), call);
                AbstractValue::Constant
            }
            BuiltinKind::Names if given.values.is_empty() => AbstractValue::Own,
            BuiltinKind::Attribute => self.read_by_name(given, call),
            BuiltinKind::Opening if reads(call) => {
                AbstractValue::stream_of(AbstractValue::Own, &[])
            }
            _ => self.doubt(call, format!("`{name}` does more than give a value")),
        }
    }

    /// `isinstance(x, K)`, for which the metaclass of `K` may have a method, and `issubclass(A, K)`.
    fn asked_of_class(&mut self, name: &str, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        let classes = given.values.get(1).cloned().into_iter();
        let hook = match name {
            "isinstance" => "__instancecheck__",
            _ => "__subclasscheck__",
        };
        for class in classes.flat_map(|one| [one.element(), one]) {
            self.run_metaclass(&class, &[hook], call);
            if let AbstractValue::Class(home, class) = &class {
                self.run_hook((*home, class, false), "__subclasshook__", call);
            }
        }
        AbstractValue::Constant
    }

    fn examine(&mut self, name: &str, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        if calls_arguments(name) {
            self.call_given(given, &call.arguments);
        }
        for value in &given.values {
            self.run_examined(name, value, call);
        }
        let positional = call.arguments.args.len();
        let mut values = given.values.iter().enumerate();
        if values.any(|(at, value)| !is_examined(name, value, at < positional)) {
            return self.doubt(
                call,
                "it goes through an object, or shows it, by a method that nobody knows",
            );
        }
        if !waits(name) && name != "len" {
            given.values.iter().for_each(|one| self.used_up(one, call));
        }
        let gives_elements = goes_through(name) || matches!(name, "map" | "filter" | "max" | "min");
        if !gives_elements || matches!(name, "sum" | "any" | "all") {
            return AbstractValue::Own;
        }
        let found = self.examined_elements(given, calls_arguments(name));
        match name {
            "map" => AbstractValue::stream_of(AbstractValue::Code { own: false }, &given.values),
            "max" | "min" => found,
            _ if waits(name) => AbstractValue::stream_of(found, &given.values),
            _ => AbstractValue::container_of(found),
        }
    }

    /// The elements of what a call is given; what it calls is none of them.
    fn examined_elements(&self, given: &Given, callbacks: bool) -> AbstractValue {
        let mut found = AbstractValue::Constant;
        for value in &given.values {
            let element = match value {
                AbstractValue::Class(home, class) if self.is_enum(*home, class, 0) => {
                    AbstractValue::Shared
                }
                AbstractValue::Function(..)
                | AbstractValue::Class(..)
                | AbstractValue::Code { .. }
                    if callbacks =>
                {
                    continue;
                }
                AbstractValue::Constant
                | AbstractValue::Own
                | AbstractValue::Shared
                | AbstractValue::Stream { .. }
                | AbstractValue::Container { .. } => value.element(),
                other => other.clone(),
            };
            found = found.or(element);
        }
        found
    }

    /// `getattr(object, "name", …)`
    fn read_by_name(&mut self, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        let base = given.first();
        match call.arguments.args.get(1) {
            Some(Expr::StringLiteral(name)) => {
                let found = self.attribute(base, name.value.to_str(), call);
                match given.values.get(2) {
                    Some(other) => found.in_general().or(other.clone().in_general()),
                    None => found,
                }
            }
            _ if matches!(
                base,
                AbstractValue::Instance { .. } | AbstractValue::Unknown | AbstractValue::Module(_)
            ) =>
            {
                self.doubt(call, "nobody knows which attribute is read there")
            }
            _ => AbstractValue::Code { own: false },
        }
    }

    /// `type(name, bases, names)`
    fn made_class(&mut self, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        let bases = match call.arguments.args.get(1) {
            Some(Expr::Tuple(bases)) => bases.elts.clone(),
            _ => {
                return self.doubt(
                    call,
                    "nobody knows the bases of the class that is made there",
                );
            }
        };
        bases.iter().for_each(|base| self.base(base));
        match given.values.get(2) {
            Some(names) if names.is_plain() => AbstractValue::Code { own: true },
            _ => self.doubt(call, "nobody knows what the class has that is made there"),
        }
    }

    fn call_outside(&mut self, name: &str, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        if let Some(known) = self.call_known(name, given, call) {
            return known;
        }
        if changes_first(name) {
            self.changed(&given.first(), call);
            return given.first();
        }
        if !is_plain_call(name) {
            return self.doubt(call, format!("nobody knows what `{name}` does"));
        }
        if calls_arguments(name) {
            self.call_given(given, &call.arguments);
        }
        if !only_holds(name) && !given.general.is_plain() {
            return self.doubt(call, "it runs methods of an object that nobody knows");
        }
        if let Some(out) = call.arguments.find_keyword("out") {
            let changed = self.effects_free_value(&out.value);
            self.changed(&changed, call);
        }
        if is_stream(name) {
            return AbstractValue::stream_of(given.general.element(), &given.values);
        }
        given.values.iter().for_each(|one| self.used_up(one, call));
        match given.general.clone().gone_through() {
            _ if name == "operator.methodcaller" => AbstractValue::Code { own: true },
            _ if name == "collections.defaultdict" => self.filled_by_default(given, call),
            AbstractValue::Constant | AbstractValue::Own => AbstractValue::Own,
            AbstractValue::Shared => AbstractValue::Shared,
            AbstractValue::Code { .. } => AbstractValue::Code { own: true },
            // What holds an object may run its methods when it is used.
            _ => AbstractValue::Unknown,
        }
    }

    /// Functions of other libraries of which more is known than that.
    fn call_known(
        &mut self,
        name: &str,
        given: &Given,
        call: &ast::ExprCall,
    ) -> Option<AbstractValue> {
        Some(match name {
            "logging.getLogger" if given.values.is_empty() => {
                AbstractValue::Outside("logging.root".to_owned())
            }
            "logging.getLogger" if !self.is_own_logger(call) => AbstractValue::Shared,
            // Nobody has an object of the class yet.
            name if takes_classes(name) && self.is_own_class(&given.first()) => given.first(),
            // Warnings are told by themselves.
            "warnings.warn" | "warnings.warn_explicit" | "warnings.catch_warnings" => {
                AbstractValue::Own
            }
            "typing.cast" | "typing_extensions.cast" => {
                let value = given.values.get(1).cloned();
                value.unwrap_or(AbstractValue::Unknown)
            }
            "dataclasses.replace"
            | "dataclasses.asdict"
            | "dataclasses.astuple"
            | "dataclasses.fields" => self.of_data_class(name, given, call),
            "types.new_class" | "dataclasses.make_dataclass" => {
                let all = given.values.iter();
                let all = all.flat_map(|one| [one.element(), one.clone()]);
                let is_class = |one: &AbstractValue| matches!(one, AbstractValue::Class(..));
                let classes: Vec<AbstractValue> = all.filter(is_class).collect();
                classes.into_iter().for_each(|one| self.made_of(one, call));
                return None;
            }
            _ => return None,
        })
    }

    /// Whether a value is a class of what is imported.
    fn is_own_class(&self, value: &AbstractValue) -> bool {
        matches!(value, AbstractValue::Class(home, _) if Some(*home) == self.imported)
    }

    /// `replace(config, size=2)` makes another object of the class; the others give what the fields have.
    fn of_data_class(&mut self, name: &str, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        let object = given.first();
        match object {
            AbstractValue::Instance { home, class, .. } if name == "dataclasses.replace" => {
                self.invoke(&AbstractValue::Class(home, class), given, call)
            }
            AbstractValue::Unknown => {
                self.doubt(call, "it runs methods of an object that nobody knows")
            }
            _ => AbstractValue::container_of(AbstractValue::Code { own: false }),
        }
    }

    /// Whether the logger that a call gives is named after the module, or by what a function is given.
    fn is_own_logger(&self, call: &ast::ExprCall) -> bool {
        let Some(name) = call.arguments.args.first() else {
            return false;
        };
        let module = self.effects.reader.graph.modules.get(self.home);
        let own = module.map_or("", |module| module.name.as_str());
        match name {
            Expr::StringLiteral(text) => {
                let rest = text.value.to_str().strip_prefix(own);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }
            Expr::Name(name) if name.id.as_str() == "__package__" => false,
            Expr::Name(name) if name.id.as_str() == "__name__" => true,
            Expr::Name(name) => {
                let mut scopes = self.scopes.iter();
                scopes.any(|scope| scope.contains_key(name.id.as_str()))
            }
            _ => true,
        }
    }

    /// `defaultdict(list)`, whose elements a call makes when they are looked up.
    fn filled_by_default(&mut self, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        let filled = self.elements_by_default(given, call);
        match filled {
            AbstractValue::Unknown => AbstractValue::Unknown,
            filled => AbstractValue::stream_of(filled.element(), &[]),
        }
    }

    fn elements_by_default(&mut self, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        match given.first() {
            AbstractValue::Builtin(name)
                if matches!(
                    builtin_kind(&name),
                    BuiltinKind::Plain | BuiltinKind::Examining
                ) =>
            {
                AbstractValue::Own
            }
            AbstractValue::Constant => AbstractValue::Own,
            maker @ (AbstractValue::Function(..) | AbstractValue::Class(..)) => {
                let element = self.invoke(&maker, &Given::only(AbstractValue::Constant), call);
                AbstractValue::container_of(element)
            }
            _ => AbstractValue::Unknown,
        }
    }

    /// Applies a decorator to a definition.
    pub(super) fn decorate(
        &mut self,
        decorator: &ast::Decorator,
        made: AbstractValue,
    ) -> AbstractValue {
        let expression = &decorator.expression;
        // `@name.setter`
        if let Expr::Attribute(attribute) = expression
            && matches!(attribute.attr.as_str(), "setter" | "getter" | "deleter")
        {
            return made;
        }
        let value = self.value(expression);
        let (name, is_called) = match (&value, expression) {
            (AbstractValue::Outside(name) | AbstractValue::Builtin(name), _) => {
                (Some(name.clone()), false)
            }
            (_, Expr::Call(call)) => match self.callee_outside(call) {
                Some(name) => (Some(name), true),
                None => (None, true),
            },
            _ => (None, false),
        };
        if let Some(name) = name {
            let known = match &value {
                AbstractValue::Outside(name) if takes_classes(name) => self.is_own_class(&made),
                AbstractValue::Builtin(name) => matches!(builtin_kind(name), BuiltinKind::Plain),
                _ => is_plain_call(&name),
            };
            if !known && !is_called {
                self.doubt(
                    decorator,
                    format!("nobody knows what `{name}` does with what it stands on"),
                );
            }
            let kept = name.ends_with("njit") || name.ends_with("jit");
            return match &made {
                AbstractValue::Function(..) if kept => AbstractValue::Code { own: true },
                _ => made,
            };
        }
        match value {
            // What a known function of the tree gives is called.
            AbstractValue::Function(..)
            | AbstractValue::Method { .. }
            | AbstractValue::Class(..) => {
                let given = Given::only(AbstractValue::Code { own: true });
                self.invoke(&value, &given, decorator)
            }
            AbstractValue::Code { .. } if is_called && self.makes_decorators(expression) => {
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

/// Whether a file is opened to be read.
fn reads(call: &ast::ExprCall) -> bool {
    match call.arguments.find_argument_value("mode", 1) {
        None => true,
        Some(Expr::StringLiteral(mode)) => matches!(mode.value.to_str(), "r" | "rb" | "rt"),
        Some(_) => false,
    }
}

/// `super()`
fn is_super(expression: &Expr) -> bool {
    matches!(expression, Expr::Call(call)
        if matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "super"))
}

/// Whether a function that Python has itself goes through what it is given.
fn goes_through(name: &str) -> bool {
    matches!(
        name,
        "list"
            | "tuple"
            | "set"
            | "frozenset"
            | "sorted"
            | "dict"
            | "enumerate"
            | "zip"
            | "reversed"
            | "sum"
            | "any"
            | "all"
            | "iter"
    )
}

/// Whether it only does so when somebody goes through what it gives.
fn waits(name: &str) -> bool {
    matches!(
        name,
        "map" | "filter" | "zip" | "enumerate" | "reversed" | "iter"
    )
}

/// Whether nothing of what it is given runs what nobody knows.
fn is_examined(name: &str, value: &AbstractValue, positional: bool) -> bool {
    let elements_stay = waits(name) || matches!(name, "len" | "list" | "tuple" | "dict");
    let object = matches!(value, AbstractValue::Instance { .. });
    let known = object || value.is_plain() || (elements_stay && value.has_plain_length());
    let code = goes_through(name) && positional && matches!(value, AbstractValue::Code { .. });
    known && !code
}
