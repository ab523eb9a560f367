//! What the classes above run when a class is made, and what the methods run that Python calls by itself.

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

use super::{
    CallOutcome, Execution,
    calls::Given,
    classes::{ClassMember, is_plain_class},
    libraries::{changes_itself, is_plain_base},
    values::AbstractValue,
};
use crate::graph::Entity;

impl Execution<'_, '_, '_> {
    /// Runs a method that a class has for such an occasion, where it has one.
    pub(super) fn run_hook(
        &mut self,
        (home, class, own): (usize, &str, bool),
        hook: &str,
        at: &impl Ranged,
    ) {
        self.run_hook_with((home, class, own), (hook, &AbstractValue::Unknown), at);
    }

    /// Runs each of some such methods.
    pub(super) fn run_hooks(
        &mut self,
        (home, class, own): (usize, &str, bool),
        hooks: &[&str],
        at: &impl Ranged,
    ) {
        for hook in hooks {
            self.run_hook((home, class, own), hook, at);
        }
    }
    /// The same where it is known what the method is given.
    fn run_hook_with(
        &mut self,
        (home, class, own): (usize, &str, bool),
        (hook, given): (&str, &AbstractValue),
        at: &impl Ranged,
    ) {
        let object = AbstractValue::instance(home, class, own);
        match self.effects.member_of_class(home, class, hook, 0) {
            ClassMember::None => {}
            ClassMember::Method(home, of) => {
                let outcome =
                    self.effects
                        .call_method(self.imported, (home, &of, hook), object, given);
                match outcome {
                    Some(CallOutcome { effect: None, .. }) => {}
                    _ => drop(self.doubt(at, format!("`{hook}` of `{of}` is run there"))),
                }
            }
            _ => drop(self.doubt(at, format!("nobody knows whether `{class}` has `{hook}`"))),
        }
    }

    /// `super().name(…)`
    pub(super) fn call_above(
        &mut self,
        name: &str,
        given: &Given,
        at: &impl Ranged,
    ) -> AbstractValue {
        let Some((home, class)) = self.class_below(at) else {
            return AbstractValue::Unknown;
        };
        let Some(text) = self.effects.class_text(home, &class) else {
            return AbstractValue::Unknown;
        };
        let bases = text.class().map(|found| self.effects.bases(home, found));
        for base in bases.unwrap_or_default() {
            match self.member_of_base(base, name) {
                ClassMember::Method(home, class) => {
                    let method = AbstractValue::method(home, class, name, true);
                    return self.invoke(&method, given, at);
                }
                ClassMember::None => {}
                _ => return self.doubt(at, "nobody knows what this call does"),
            }
        }
        self.call_of_builtins(name, (home, &class), at)
    }

    /// The class whose bases `super()` looks through; a doubt where the text does not say which comes next.
    fn class_below(&mut self, at: &impl Ranged) -> Option<(usize, String)> {
        let what = match self.class.clone() {
            None => "nobody knows what this call does",
            Some((_, class)) if self.effects.verdicts.is_mixed(&class) => {
                "which class comes next is for the class to say that is made"
            }
            known => return known,
        };
        self.doubt(at, what);
        None
    }

    /// What a class above another one has under a name, itself or from one above it.
    fn member_of_base(&self, base: AbstractValue, name: &str) -> ClassMember {
        match base {
            AbstractValue::Class(home, class) => {
                self.effects.member_of_class(home, &class, name, 0)
            }
            base if is_plain_class(&base) => ClassMember::None,
            _ => ClassMember::Unknown,
        }
    }

    /// `super().name(…)` where no class of the tree has the method.
    fn call_of_builtins(
        &mut self,
        name: &str,
        (home, class): (usize, &str),
        at: &impl Ranged,
    ) -> AbstractValue {
        let changes =
            changes_itself(name) || name.starts_with("__set") || name.starts_with("__del");
        if changes && name != "__set_name__" && !self.named("self").is_own() {
            self.doubt(at, "it changes what others have, too");
        }
        match name {
            "__new__" => AbstractValue::instance(home, class, true),
            "__setattr__" | "__init__" | "__init_subclass__" | "__post_init__" | "__set_name__" => {
                AbstractValue::Constant
            }
            _ => AbstractValue::Code { own: false },
        }
    }

    /// Calls what makes the default of a field.
    pub(super) fn run_factory(&mut self, factory: &Expr) {
        match self.effects_free_value(factory) {
            AbstractValue::Builtin(_) | AbstractValue::Constant => {}
            AbstractValue::Code { .. } if factory.is_lambda_expr() => {
                if let Expr::Lambda(lambda) = factory {
                    self.value(&lambda.body);
                }
            }
            made => drop(self.invoke(&made, &Given::only(AbstractValue::Constant), factory)),
        }
    }

    /// Runs what the metaclass of a class has for such an occasion, where the tree has the metaclass.
    pub(super) fn run_metaclass(
        &mut self,
        value: &AbstractValue,
        hooks: &[&str],
        at: &impl Ranged,
    ) {
        let AbstractValue::Class(home, class) = value else {
            return;
        };
        for meta in self.effects.metaclasses(*home, class, 0) {
            match meta {
                AbstractValue::Class(home, class) => {
                    self.run_hooks((home, &class, false), hooks, at);
                }
                AbstractValue::Outside(name) if is_plain_base(&name) => {}
                AbstractValue::Builtin(_) => {}
                _ => drop(self.doubt(at, "nobody knows what the metaclass does there")),
            }
        }
    }

    /// A name that `__getattr__` of a module gives.
    pub(super) fn asked_of_module(&mut self, module: usize, name: &str, at: &impl Ranged) {
        let graph = self.effects.reader.graph;
        let given = matches!(graph.member(module, name), Entity::Missing | Entity::Opaque);
        let special = name.starts_with("__");
        if given && !special && module != self.home && graph.binds(module, "__getattr__") {
            let function = AbstractValue::Function(module, "__getattr__".to_owned());
            self.invoke(&function, &Given::only(AbstractValue::Constant), at);
        }
    }

    /// Making the members of an enumeration runs what the classes above it have for them.
    pub(super) fn members_of_enumeration(&mut self, class: &ast::StmtClassDef) {
        let bases: Vec<AbstractValue> = class
            .bases()
            .iter()
            .map(|base| self.effects_free_value(base))
            .collect();
        if !bases.iter().any(|base| self.is_enum_value(base, 0)) {
            return;
        }
        let members = class.body.iter().filter_map(Stmt::as_assign_stmt);
        let values: Vec<AbstractValue> = members
            .map(|assign| self.effects_free_value(&assign.value))
            .collect();
        let given = values
            .into_iter()
            .fold(AbstractValue::Constant, AbstractValue::or);
        for (home, base) in bases.into_iter().filter_map(AbstractValue::into_class) {
            for hook in ["__new__", "__init__", "_generate_next_value_"] {
                self.run_hook_with((home, &base, true), (hook, &given), class);
            }
        }
    }

    /// A class above one that is made.
    pub(super) fn base(&mut self, base: &Expr) {
        let value = self.value(base);
        // One of several by a condition: each of them is a base in some process.
        let name = base.as_name_expr().map(|name| name.id.as_str());
        let alternatives = name.map(|name| self.alternatives(name)).unwrap_or_default();
        match alternatives.len() {
            0 | 1 => self.made_of(value, base),
            _ => alternatives
                .into_iter()
                .for_each(|one| self.made_of(one, base)),
        }
    }

    /// A class is made of another one.
    pub(super) fn made_of(&mut self, value: AbstractValue, base: &impl Ranged) {
        match value {
            AbstractValue::Class(home, class) => {
                self.doubt_if_walked(&class, base);
                self.run_hook((home, &class, false), "__init_subclass__", base);
                self.above(home, &class, base, 0);
            }
            AbstractValue::Outside(name) => {
                let last = name.rsplit('.').next().unwrap_or(&name);
                if !self.doubt_if_walked(last, base) && !is_plain_base(&name) {
                    let what = format!("nobody knows what `{name}` does with a subclass");
                    self.doubt(base, what);
                }
            }
            AbstractValue::Builtin(_)
            | AbstractValue::Constant
            | AbstractValue::Own
            | AbstractValue::Shared => {}
            _ => drop(self.doubt(base, "nobody knows what this base does with a subclass")),
        }
    }

    /// Whether somebody asks for the subclasses of a class, which is a doubt where one is made.
    fn doubt_if_walked(&mut self, class: &str, at: &impl Ranged) -> bool {
        let walked = self.effects.told.walked().contains(class);
        if walked {
            self.doubt(at, format!("somebody asks for the subclasses of `{class}`"));
        }
        walked
    }

    /// The classes above a base, and their metaclasses.
    fn above(&mut self, home: usize, class: &str, at: &impl Ranged, depth: usize) {
        let Some(text) = self.effects.class_within(home, class, depth) else {
            return;
        };
        let Some(classes) = text.classes() else {
            self.doubt(at, "nobody knows what this base does with a subclass");
            return;
        };
        for found in classes {
            let mut arguments = found.arguments.iter();
            if let Some(meta) = arguments.find_map(|all| all.find_keyword("metaclass")) {
                let meta = self.effects.value_in(home, &meta.value);
                self.metaclass(&meta, at);
            }
            for base in self.effects.bases(home, found) {
                self.one_above(base, at, depth + 1);
            }
        }
    }

    fn one_above(&mut self, base: AbstractValue, at: &impl Ranged, depth: usize) {
        match base {
            AbstractValue::Class(home, class) => {
                self.doubt_if_walked(&class, at);
                self.above(home, &class, at, depth);
            }
            AbstractValue::Outside(name) if !is_plain_base(&name) => {
                let what = format!("nobody knows what `{name}` does with a subclass");
                self.doubt(at, what);
            }
            AbstractValue::Outside(_)
            | AbstractValue::Builtin(_)
            | AbstractValue::Constant
            | AbstractValue::Own
            | AbstractValue::Shared => {}
            _ => drop(self.doubt(at, "nobody knows what this base does with a subclass")),
        }
    }

    /// The metaclass of a class that is made.
    pub(super) fn metaclass(&mut self, meta: &AbstractValue, at: &impl Ranged) {
        match meta {
            AbstractValue::Outside(name) if is_plain_base(name) => {}
            AbstractValue::Builtin(_) => {}
            AbstractValue::Class(home, class) => {
                // Nobody else has the class that is made. What the hooks are given are its name, bases and names.
                let given = AbstractValue::container_of(AbstractValue::Unknown);
                for hook in ["__new__", "__init__", "__prepare__"] {
                    self.run_hook_with((*home, class, true), (hook, &given), at);
                }
            }
            _ => drop(self.doubt(at, "nobody knows what this metaclass does")),
        }
    }

    /// A value that the body of a class gives a name.
    pub(super) fn held_by_class(&mut self, value: &AbstractValue, at: &impl Ranged) {
        match value {
            AbstractValue::Instance { home, class, own } => {
                self.run_hook((*home, class, *own), "__set_name__", at);
            }
            AbstractValue::Unknown => {
                drop(self.doubt(
                    at,
                    "nobody knows whether what the class has there has `__set_name__`",
                ));
            }
            _ => {}
        }
    }

    /// An attribute of an object of the tree is set: whether no method or property is run for that.
    pub(super) fn set_on_object(
        &mut self,
        (home, class): (usize, &str),
        name: &str,
        at: &impl Ranged,
    ) {
        let setter = self.effects.member_of_class(home, class, "__setattr__", 0);
        let known = self.effects.member_of_class(home, class, name, 0);
        let plain = match known {
            ClassMember::None | ClassMember::Method(..) => true,
            ClassMember::Held(value) => value.is_plain(),
            ClassMember::Property(..) | ClassMember::Unknown => false,
        };
        if !plain || !matches!(setter, ClassMember::None) {
            self.doubt(at, format!("nobody knows what setting `{name}` runs"));
        }
    }
}
