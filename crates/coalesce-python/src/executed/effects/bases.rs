//! What the classes above run when a class is made, and what the methods run that Python calls by itself.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::{
    CallOutcome, Execution,
    calls::Given,
    classes::{ClassMember, MAXIMUM_BASES},
    libraries::{changes_itself, is_plain_base},
    values::AbstractValue,
};

impl Execution<'_, '_, '_> {
    /// Runs a method that a class has for such an occasion, where it has one.
    pub(super) fn run_hook(
        &mut self,
        (home, class, own): (usize, &str, bool),
        hook: &str,
        at: &impl Ranged,
    ) {
        let object = AbstractValue::Instance {
            home,
            class: class.to_owned(),
            own,
        };
        match self.effects.member_of_class(home, class, hook, 0) {
            ClassMember::None => {}
            ClassMember::Method(home, of) => {
                let outcome = self.effects.call_method(
                    self.imported,
                    (home, &of, hook),
                    object,
                    &AbstractValue::Unknown,
                );
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
        let Some((home, class)) = self.class.clone() else {
            return self.doubt(at, "nobody knows what this call does");
        };
        if self.effects.verdicts.is_mixed(&class) {
            return self.doubt(
                at,
                "which class comes next is for the class to say that is made",
            );
        }
        let Some(text) = self.effects.class_text(home, &class) else {
            return AbstractValue::Unknown;
        };
        let bases = text.class().map(|found| self.effects.bases(home, found));
        for base in bases.unwrap_or_default() {
            match base {
                AbstractValue::Class(home, class) => {
                    match self.effects.member_of_class(home, &class, name, 0) {
                        ClassMember::Method(home, class) => {
                            let method = AbstractValue::Method {
                                home,
                                class,
                                name: name.to_owned(),
                                own: true,
                            };
                            return self.invoke(&method, given, at);
                        }
                        ClassMember::None => {}
                        _ => return self.doubt(at, "nobody knows what this call does"),
                    }
                }
                AbstractValue::Outside(of) if is_plain_base(&of) => {}
                AbstractValue::Builtin(_) | AbstractValue::Own | AbstractValue::Shared => {}
                _ => return self.doubt(at, "nobody knows what this call does"),
            }
        }
        let changes =
            changes_itself(name) || name.starts_with("__set") || name.starts_with("__del");
        if changes && name != "__set_name__" && !self.named("self").is_own() {
            self.doubt(at, "it changes what others have, too");
        }
        match name {
            "__new__" => AbstractValue::Instance {
                home,
                class,
                own: true,
            },
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

    /// A class above one that is made.
    pub(super) fn base(&mut self, base: &Expr) {
        match self.value(base) {
            AbstractValue::Class(home, class) => {
                if self.effects.told.walked().contains(&class) {
                    self.doubt(
                        base,
                        format!("somebody asks for the subclasses of `{class}`"),
                    );
                }
                self.run_hook((home, &class, false), "__init_subclass__", base);
                self.above(home, &class, base, 0);
            }
            AbstractValue::Outside(name) => {
                let last = name.rsplit('.').next().unwrap_or(&name);
                if self.effects.told.walked().contains(last) {
                    self.doubt(
                        base,
                        format!("somebody asks for the subclasses of `{last}`"),
                    );
                } else if !is_plain_base(&name) {
                    self.doubt(
                        base,
                        format!("nobody knows what `{name}` does with a subclass"),
                    );
                }
            }
            AbstractValue::Builtin(_)
            | AbstractValue::Constant
            | AbstractValue::Own
            | AbstractValue::Shared => {}
            _ => drop(self.doubt(base, "nobody knows what this base does with a subclass")),
        }
    }

    /// The classes above a base, and their metaclasses.
    fn above(&mut self, home: usize, class: &str, at: &Expr, depth: usize) {
        let Some(text) = self
            .effects
            .class_text(home, class)
            .filter(|_| depth < MAXIMUM_BASES)
        else {
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

    fn one_above(&mut self, base: AbstractValue, at: &Expr, depth: usize) {
        match base {
            AbstractValue::Class(home, class) => {
                if self.effects.told.walked().contains(&class) {
                    self.doubt(at, format!("somebody asks for the subclasses of `{class}`"));
                }
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
                for hook in ["__new__", "__init__", "__prepare__"] {
                    self.run_hook((*home, class, false), hook, at);
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
