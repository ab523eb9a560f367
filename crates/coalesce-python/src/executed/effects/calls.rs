//! Calls: of builtins, of other libraries, and of what the tree defines.

mod decorators;

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use crate::names::is_or_below;

use super::{
    CallOutcome, Execution,
    classes::is_plain_class,
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

    /// The elements of what is given, functions and classes left aside.
    fn elements_beside_code(&self) -> AbstractValue {
        let others = self.values.iter().filter(|value| {
            !matches!(
                value,
                AbstractValue::Code { .. }
                    | AbstractValue::Function(..)
                    | AbstractValue::Class(..)
                    | AbstractValue::Builtin(_)
                    | AbstractValue::Outside(_)
            )
        });
        others.fold(AbstractValue::Constant, |all, value| {
            all.or(value.element())
        })
    }
}

impl Execution<'_, '_, '_> {
    pub(super) fn call(&mut self, call: &ast::ExprCall) -> AbstractValue {
        if let Some(function) = self.inner_function(&call.func) {
            let given = self.given(&call.arguments);
            let outcome = self.call_inner(&function, &given.all);
            return outcome.unwrap_or_else(|| self.doubt(call, "nobody knows what this call does"));
        }
        if let Expr::Name(name) = &*call.func
            && self
                .effects
                .told
                .only_forwards(self.home, &[name.id.to_string()])
        {
            return AbstractValue::Code { own: true };
        }
        if let Expr::Attribute(method) = &*call.func {
            return self.call_attribute(method, call);
        }
        let callee = self.value(&call.func);
        let given = self.given(&call.arguments);
        self.call_value(&callee, &given, call)
    }

    /// `base.name(…)`
    fn call_attribute(
        &mut self,
        method: &ast::ExprAttribute,
        call: &ast::ExprCall,
    ) -> AbstractValue {
        if is_super(&method.value) {
            let given = self.given(&call.arguments);
            return self.call_above(&method.attr, &given, call);
        }
        let base = self.value(&method.value);
        if let Some(made) = self.of_named_tuple(&base, &method.attr, &call.arguments) {
            return made;
        }
        if base.is_of_builtins() {
            let given = self.given(&call.arguments);
            self.used_up(&base, method);
            self.store_given(method, &given);
            return self.call_method(&base, method, &given, &call.arguments);
        }
        let callee = self.attribute(base, &method.attr, method);
        let given = self.given(&call.arguments);
        self.call_value(&callee, &given, call)
    }

    /// What a method puts into the container that it belongs to.
    fn store_given(&mut self, method: &ast::ExprAttribute, given: &Given) {
        if changes_itself(&method.attr) {
            let stored = match puts_elements(&method.attr) {
                true => given.all.element(),
                false => given.all.clone(),
            };
            self.store(&method.value, &stored);
        }
    }

    fn call_value(
        &mut self,
        callee: &AbstractValue,
        given: &Given,
        call: &ast::ExprCall,
    ) -> AbstractValue {
        match callee {
            AbstractValue::Builtin(name) => self.call_builtin(name, given, call),
            AbstractValue::Outside(name) => self.call_outside(name, given, call),
            callee => self.invoke(callee, given, call),
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
        let Some(outcome) = self.outcome_of(callee, given) else {
            return self.doubt(at, "nobody knows what this call does");
        };
        if let Some(effect) = outcome.effect {
            self.doubt(at, effect);
        }
        outcome.value
    }

    /// What a call comes to; nothing where nobody knows.
    fn outcome_of(&self, callee: &AbstractValue, given: &Given) -> Option<CallOutcome> {
        let value = match callee {
            // Classes and the like that known libraries make: named tuples.
            AbstractValue::Constant | AbstractValue::Own | AbstractValue::Shared
                if given.general.is_plain() =>
            {
                AbstractValue::container_of(given.general.clone())
            }
            AbstractValue::Builtin(name) if matches!(builtin_kind(name), BuiltinKind::Plain) => {
                AbstractValue::Own
            }
            AbstractValue::Outside(name) if is_plain_call(name) => {
                given.general.clone().or(AbstractValue::Own)
            }
            _ => return self.outcome_in_tree(callee, given),
        };
        Some(CallOutcome {
            effect: None,
            value,
        })
    }

    /// What a call of a definition of the tree comes to.
    fn outcome_in_tree(&self, callee: &AbstractValue, given: &Given) -> Option<CallOutcome> {
        match callee {
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
                let object = AbstractValue::instance(*home, class, *own);
                self.effects
                    .call_method(self.imported, (*home, class, name), object, &given.all)
            }
            AbstractValue::Class(home, class) => {
                self.effects.make(self.imported, (*home, class), &given.all)
            }
            _ => None,
        }
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
            return self.call_changing(base, method, given, arguments);
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
        made_by_method(base, name)
    }

    /// A method that changes what it belongs to.
    fn call_changing(
        &mut self,
        base: &AbstractValue,
        method: &ast::ExprAttribute,
        given: &Given,
        arguments: &ast::Arguments,
    ) -> AbstractValue {
        if !base.is_own() {
            self.doubt(method, "it changes what others have, too");
        }
        if method.attr.as_str() == "sort" {
            self.call_given(given, arguments);
        }
        base.element()
    }

    /// What calls its arguments, calls those.
    fn call_given(&mut self, given: &Given, arguments: &ast::Arguments) {
        let others = given.elements_beside_code();
        let keywords = arguments.keywords.iter().map(|keyword| &keyword.value);
        let expressions: Vec<&Expr> = arguments.args.iter().chain(keywords).collect();
        for (value, expression) in given.values.clone().into_iter().zip(expressions) {
            self.call_with_each(&value, expression, &others);
        }
    }

    /// One of the things that a call is given, which it may call with elements of the others.
    fn call_with_each(&mut self, value: &AbstractValue, at: &Expr, elements: &AbstractValue) {
        if let Expr::Lambda(lambda) = at {
            self.call_lambda(lambda, elements);
            return;
        }
        match value {
            AbstractValue::Function(..)
            | AbstractValue::Class(..)
            | AbstractValue::Method { .. }
            | AbstractValue::Outside(_) => {
                drop(self.invoke(value, &Given::only(elements.clone()), at));
            }
            AbstractValue::Builtin(name) => match builtin_kind(name) {
                BuiltinKind::Plain => {}
                BuiltinKind::Examining if elements.is_plain() => {}
                _ => drop(self.doubt(at, format!("`{name}` is called with each"))),
            },
            AbstractValue::Code { .. }
            | AbstractValue::Unknown
            | AbstractValue::Instance { .. } => {
                drop(self.doubt(at, "it is called, and nobody knows what it does"));
            }
            _ => {}
        }
    }

    pub(super) fn call_lambda(
        &mut self,
        lambda: &ast::ExprLambda,
        given: &AbstractValue,
    ) -> AbstractValue {
        let parameters = lambda.parameters.iter();
        let names = parameters.flat_map(|all| all.iter().map(|one| one.name().to_string()));
        let scope: FxHashMap<String, AbstractValue> =
            names.map(|name| (name, given.clone())).collect();
        self.scopes.push(scope);
        let value = self.value(&lambda.body);
        self.scopes.pop();
        value
    }

    fn call_builtin(&mut self, name: &str, given: &Given, call: &ast::ExprCall) -> AbstractValue {
        if let Some((_, method)) = name.split_once('.') {
            return self.call_method_of_builtin(name, method, given, call);
        }
        match builtin_kind(name) {
            BuiltinKind::Plain => self.call_plain_builtin(name, given, call),
            BuiltinKind::Examining => self.examine(name, given, call),
            BuiltinKind::Changing => {
                self.changed(&given.first(), call);
                AbstractValue::Constant
            }
            BuiltinKind::Names if given.values.is_empty() => AbstractValue::Own,
            BuiltinKind::Attribute => {
                let found = self.read_by_name(given, call);
                match name {
                    "hasattr" => AbstractValue::Constant,
                    _ => found,
                }
            }
            BuiltinKind::Opening if reads(call) => {
                AbstractValue::stream_of(AbstractValue::Own, &[])
            }
            _ => self.doubt(call, format!("`{name}` does more than give a value")),
        }
    }

    /// `str.upper(text)`: the function as its class has it.
    fn call_method_of_builtin(
        &mut self,
        name: &str,
        method: &str,
        given: &Given,
        call: &ast::ExprCall,
    ) -> AbstractValue {
        if method.starts_with("__set") || method.starts_with("__del") || changes_itself(method) {
            self.changed(&given.first(), call);
            return AbstractValue::Constant;
        }
        let known = is_plain_method(method)
            || matches!(method, "__new__" | "__init__" | "fromkeys" | "fromhex");
        match known && given.general.is_plain() {
            true => AbstractValue::Own,
            false => self.doubt(call, format!("nobody knows what `{name}` does")),
        }
    }

    fn call_plain_builtin(
        &mut self,
        name: &str,
        given: &Given,
        call: &ast::ExprCall,
    ) -> AbstractValue {
        match name {
            "type" if given.values.len() > 1 => self.made_class(given, call),
            "type" => AbstractValue::Code { own: false },
            "property" | "classmethod" | "staticmethod" => AbstractValue::Code { own: true },
            "isinstance" | "issubclass" => self.asked_of_class(name, given, call),
            _ => AbstractValue::Own,
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
        self.given_by_examining(name, given)
    }

    /// What a function gives that Python has itself and that goes through what it is given.
    fn given_by_examining(&self, name: &str, given: &Given) -> AbstractValue {
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
        if let Some(plain) = self.plain_class(&bases, call) {
            return plain;
        }
        match given.values.get(2) {
            Some(names) if names.is_plain() => AbstractValue::Code { own: true },
            _ => self.doubt(call, "nobody knows what the class has that is made there"),
        }
    }

    /// `ABCMeta("Base", (object,), {})`: a class that has nothing of its own is like what is above it.
    fn plain_class(&mut self, bases: &[Expr], call: &ast::ExprCall) -> Option<AbstractValue> {
        let nothing = match call.arguments.args.get(2)? {
            Expr::Dict(names) => names.items.is_empty(),
            _ => false,
        };
        let values = bases.iter().map(|base| self.effects_free_value(base));
        let values: Vec<AbstractValue> = values.collect();
        let plain = values.iter().all(is_plain_class);
        let metaclass = self.effects_free_value(&call.func);
        let above = values.into_iter().next();
        (nothing && plain).then(|| match metaclass {
            AbstractValue::Outside(_) => AbstractValue::Outside("abc.ABC".to_owned()),
            _ => above.unwrap_or_else(|| AbstractValue::Builtin("object".to_owned())),
        })
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
        self.given_by_library(name, given, call)
    }

    /// What a function of another library gives that does nothing besides.
    fn given_by_library(
        &mut self,
        name: &str,
        given: &Given,
        call: &ast::ExprCall,
    ) -> AbstractValue {
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
            _ => return self.call_class_maker(name, given, call),
        })
    }

    /// Functions that make classes, or do something with objects of data classes.
    fn call_class_maker(
        &mut self,
        name: &str,
        given: &Given,
        call: &ast::ExprCall,
    ) -> Option<AbstractValue> {
        match name {
            "abc.ABCMeta" if given.values.len() == 3 => Some(self.made_class(given, call)),
            "dataclasses.replace"
            | "dataclasses.asdict"
            | "dataclasses.astuple"
            | "dataclasses.fields" => Some(self.of_data_class(name, given, call)),
            "types.new_class" | "dataclasses.make_dataclass" => {
                let all = given.values.iter();
                let all = all.flat_map(|one| [one.element(), one.clone()]);
                let is_class = |one: &AbstractValue| matches!(one, AbstractValue::Class(..));
                let classes: Vec<AbstractValue> = all.filter(is_class).collect();
                classes.into_iter().for_each(|one| self.made_of(one, call));
                None
            }
            _ => None,
        }
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
            Expr::StringLiteral(text) => is_or_below(text.value.to_str(), own),
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
}

/// What a method of something that builtins or known libraries made gives.
fn made_by_method(base: &AbstractValue, name: &str) -> AbstractValue {
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
