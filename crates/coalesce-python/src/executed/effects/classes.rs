//! Classes of the tree: what making one runs, what making an object runs, and what their attributes are.

use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

use super::{
    super::{at_import::Source, harmless::is_named},
    CallOutcome, Execution, ImportEffects,
    filled::declares,
    libraries::{changes_itself, is_plain_base, is_plain_call},
    names::definitions,
    values::AbstractValue,
};

/// Deeper chains of base classes are not followed.
const MAXIMUM_BASES: usize = 12;

/// What functions and methods have beside what was set on them.
const OF_CODE: [&str; 5] = [
    "__code__",
    "__doc__",
    "__module__",
    "__name__",
    "__qualname__",
];
/// What a class has under a name.
pub(super) enum ClassMember {
    /// A method as it stands, with the class that has it.
    Method(usize, String),
    /// A property, with the class that has it.
    Property(usize, String),
    Held(AbstractValue),
    /// None of the classes above has it, and these are known.
    None,
    /// Nobody knows.
    Unknown,
}

/// A class of the tree and its text.
pub(super) struct ClassText {
    source: Rc<Source>,
    name: String,
}

impl ClassText {
    /// The class, where there is one of that name alone.
    pub(super) fn class(&self) -> Option<&ast::StmtClassDef> {
        match self.classes()?.as_slice() {
            [class] => Some(class),
            _ => None,
        }
    }

    /// All classes of that name, of which a condition chooses one; none where something else has it, too.
    pub(super) fn classes(&self) -> Option<Vec<&ast::StmtClassDef>> {
        let mut found = Vec::new();
        definitions(self.source.statements(), &self.name, &mut found);
        let classes = found.into_iter().map(|statement| match statement {
            Stmt::ClassDef(class) => Some(class),
            _ => None,
        });
        let classes: Vec<_> = classes.collect::<Option<_>>()?;
        (!classes.is_empty()).then_some(classes)
    }
}

impl ImportEffects<'_, '_> {
    pub(super) fn class_text(&self, home: usize, class: &str) -> Option<ClassText> {
        Some(ClassText {
            source: self.reader.source(home)?,
            name: class.to_owned(),
        })
    }

    /// The same for a class that so many classes are below of, while the chain is followed.
    pub(super) fn class_within(&self, home: usize, class: &str, depth: usize) -> Option<ClassText> {
        self.class_text(home, class)
            .filter(|_| depth < MAXIMUM_BASES)
    }
    /// What the classes directly above a class are.
    pub(super) fn bases(&self, home: usize, class: &ast::StmtClassDef) -> Vec<AbstractValue> {
        let mut execution = Execution::new(self, home, Some(home));
        class
            .bases()
            .iter()
            .map(|base| execution.effects_free_value(base))
            .collect()
    }

    /// The metaclasses that a class and those above it name.
    pub(super) fn metaclasses(&self, home: usize, class: &str, depth: usize) -> Vec<AbstractValue> {
        let text = self.class_within(home, class, depth);
        let Some(classes) = text.as_ref().and_then(ClassText::classes) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for class in classes {
            let mut arguments = class.arguments.iter();
            let named = arguments.find_map(|all| all.find_keyword("metaclass"));
            found.extend(named.map(|named| self.value_in(home, &named.value)));
            let above = self.bases(home, class).into_iter();
            for (home, base) in above.filter_map(AbstractValue::into_class) {
                found.extend(self.metaclasses(home, &base, depth + 1));
            }
        }
        found
    }

    /// What a class has under a name, itself or from one above it.
    pub(super) fn member_of_class(
        &self,
        home: usize,
        class: &str,
        name: &str,
        depth: usize,
    ) -> ClassMember {
        let Some(text) = self.class_within(home, class, depth) else {
            return ClassMember::Unknown;
        };
        match text.classes().as_deref() {
            Some([only]) => self.member_of(home, only, name, depth),
            // Whichever a condition chooses.
            Some(several) => {
                let none = |class: &&ast::StmtClassDef| {
                    matches!(self.member_of(home, class, name, depth), ClassMember::None)
                };
                match several.iter().all(none) {
                    true => ClassMember::None,
                    false => ClassMember::Unknown,
                }
            }
            None => ClassMember::Unknown,
        }
    }

    fn member_of(
        &self,
        home: usize,
        class: &ast::StmtClassDef,
        name: &str,
        depth: usize,
    ) -> ClassMember {
        match self.own_member(home, class, name) {
            ClassMember::None => self.member_above(home, class, name, depth),
            other => other,
        }
    }

    /// What the classes above a class have under a name.
    fn member_above(
        &self,
        home: usize,
        class: &ast::StmtClassDef,
        name: &str,
        depth: usize,
    ) -> ClassMember {
        let mut found = ClassMember::None;
        for base in self.bases(home, class) {
            let AbstractValue::Class(base_home, class) = base else {
                if !is_plain_class(&base) {
                    found = ClassMember::Unknown;
                }
                continue;
            };
            match self.member_of_class(base_home, &class, name, depth + 1) {
                ClassMember::None => {}
                ClassMember::Held(value) if base_home != home => {
                    return ClassMember::Held(value.for_others());
                }
                other => return other,
            }
        }
        found
    }

    /// What the body of a class gives a name.
    fn own_member(&self, home: usize, class: &ast::StmtClassDef, name: &str) -> ClassMember {
        let mut found = ClassMember::None;
        for statement in &class.body {
            let member = match statement {
                Stmt::FunctionDef(function) if function.name.as_str() == name => {
                    Some(method_member(home, class, function))
                }
                other => self.member_held(home, other, name),
            };
            found = member.unwrap_or(found);
        }
        found
    }

    /// What a statement in the body of a class, which is no method, gives a name.
    fn member_held(&self, home: usize, statement: &Stmt, name: &str) -> Option<ClassMember> {
        let held = match statement {
            Stmt::Assign(assign) if assign.targets.iter().any(|one| is_named(one, name)) => {
                self.own_value_in(home, &assign.value)
            }
            Stmt::AnnAssign(assign) if is_named(&assign.target, name) => {
                self.own_value_in(home, assign.value.as_ref()?)
            }
            Stmt::ClassDef(inner) if inner.name.as_str() == name => {
                AbstractValue::Code { own: false }
            }
            Stmt::If(_) | Stmt::Try(_) | Stmt::For(_) | Stmt::With(_) => {
                let bound = declares(std::slice::from_ref(statement), name);
                return bound.then_some(ClassMember::Unknown);
            }
            _ => return None,
        };
        Some(ClassMember::Held(held))
    }

    /// What `__init__` of a class, or of one above it, sets an attribute to: what it is given counts as unknown.
    fn set_when_made(
        &self,
        home: usize,
        class: &str,
        name: &str,
        depth: usize,
    ) -> Option<AbstractValue> {
        let text = self.class_within(home, class, depth)?;
        let found = text.class()?;
        let value = match method_of(found, "__init__") {
            Some(function) => self.set_by_method(home, function, name)?,
            None => None,
        };
        value.or_else(|| {
            let above = self.bases(home, found).into_iter();
            let mut classes = above.filter_map(AbstractValue::into_class);
            classes.find_map(|(home, class)| self.set_when_made(home, &class, name, depth + 1))
        })
    }

    /// What a method sets an attribute of its object to, where it does; nothing where it has no object.
    fn set_by_method(
        &self,
        home: usize,
        function: &ast::StmtFunctionDef,
        name: &str,
    ) -> Option<Option<AbstractValue>> {
        let object = function.parameters.iter().next()?.name().to_string();
        let mut set = Vec::new();
        values_set(&function.body, &object, name, &mut set);
        if self.sets_of(home, name) > set.len() {
            return Some(Some(AbstractValue::Unknown));
        }
        let given = function.parameters.iter();
        let scope = given.map(|one| (one.name().to_string(), AbstractValue::Unknown));
        let mut execution = Execution::new(self, home, Some(home));
        execution.called = true;
        execution.scopes.push(scope.collect());
        let set = set.into_iter();
        let values = set.map(|one| execution.effects_free_value(one));
        Some(values.reduce(AbstractValue::or))
    }

    /// How often the text of a module sets an attribute of that name.
    pub(super) fn sets_of(&self, home: usize, name: &str) -> usize {
        let path = self
            .reader
            .graph
            .modules
            .get(home)
            .map(|module| &module.path);
        let text = path.and_then(|path| self.reader.texts().text(path));
        let text = text.as_deref().unwrap_or_default();
        let word = format!(".{name}");
        let places = text.match_indices(&word);
        let set = places.filter(|(at, found)| {
            let after = text
                .get(at + found.len()..)
                .unwrap_or_default()
                .trim_start();
            let sign = after.trim_start_matches(['+', '-', '*', '/', '|', '&', '^', '%', '@']);
            after.starts_with(':') || (sign.starts_with('=') && !sign.starts_with("=="))
        });
        set.count()
    }

    pub(super) fn value_in(&self, home: usize, expression: &Expr) -> AbstractValue {
        self.own_value_in(home, expression).for_others()
    }

    /// What an expression gives to the module that has it.
    fn own_value_in(&self, home: usize, expression: &Expr) -> AbstractValue {
        let mut execution = Execution::new(self, home, Some(home));
        execution.effects_free_value(expression)
    }

    /// Runs a method of a class, or of one above it.
    pub(super) fn call_method(
        &self,
        imported: Option<usize>,
        (home, class, name): (usize, &str, &str),
        object: AbstractValue,
        given: &AbstractValue,
    ) -> Option<CallOutcome> {
        let own = object.is_own();
        let key = format!("{class}.{name}{}", if own { "" } else { "@" });
        self.remembered((imported, home, key, given.clone()), || {
            let text = self.class_text(home, class)?;
            let function = method_of(text.class()?, name)?;
            let whole = Some((home, class.to_owned()));
            let object = receiver(function, (home, class), object);
            Some(self.run((imported, home), function, (object, whole), given))
        })
    }

    /// Makes an object of a class.
    pub(super) fn make(
        &self,
        imported: Option<usize>,
        (home, class): (usize, &str),
        given: &AbstractValue,
    ) -> Option<CallOutcome> {
        let key = (imported, home, format!("{class}()"), given.clone());
        self.remembered(key, || {
            let effect = self.making(imported, (home, class), given, 0)?;
            Some(CallOutcome {
                effect,
                value: AbstractValue::instance(home, class, true),
            })
        })
    }

    /// What making an object does: the first effect; nothing where nobody knows.
    fn making(
        &self,
        imported: Option<usize>,
        (home, class): (usize, &str),
        given: &AbstractValue,
        depth: usize,
    ) -> Option<Option<String>> {
        let text = self.class_within(home, class, depth)?;
        let found = text.class()?;
        if method_of(found, "__del__").is_some() {
            return None;
        }
        let mut effect = self.run_factories(imported, home, found)?;
        if depth == 0 {
            effect = effect.or(self.run_call_of_metaclass(imported, (home, class), found));
        }
        for name in ["__new__", "__init__", "__post_init__"] {
            if method_of(found, name).is_some() {
                let object = AbstractValue::instance(home, class, true);
                let outcome = self.call_method(imported, (home, class, name), object, given)?;
                effect = effect.or(outcome.effect);
            }
        }
        Some(effect.or(self.making_above(imported, (home, found), given, depth)?))
    }

    /// What the metaclass of a class does when the class is called.
    fn run_call_of_metaclass(
        &self,
        imported: Option<usize>,
        (home, class): (usize, &str),
        at: &ast::StmtClassDef,
    ) -> Option<String> {
        let mut execution = Execution::new(self, home, imported);
        let whole = AbstractValue::Class(home, class.to_owned());
        execution.run_metaclass(&whole, &["__call__"], at);
        execution.reaches.map(|(_, what)| what)
    }

    /// What making an object does by what the classes above its class have for that.
    fn making_above(
        &self,
        imported: Option<usize>,
        (home, class): (usize, &ast::StmtClassDef),
        given: &AbstractValue,
        depth: usize,
    ) -> Option<Option<String>> {
        let has_own = method_of(class, "__init__").is_some();
        let mut effect: Option<String> = None;
        for base in self.bases(home, class) {
            match base {
                AbstractValue::Class(home, class) if has_own => {
                    self.making_is_known(home, &class, depth + 1)?
                }
                AbstractValue::Class(home, class) => {
                    effect = effect.or(self.making(imported, (home, &class), given, depth + 1)?);
                }
                base if is_plainly_made(&base) => {}
                _ => return None,
            }
        }
        Some(effect)
    }

    /// Runs what makes the fields of a data class: `field(default_factory=made)`.
    fn run_factories(
        &self,
        imported: Option<usize>,
        home: usize,
        class: &ast::StmtClassDef,
    ) -> Option<Option<String>> {
        let mut execution = Execution::new(self, home, imported);
        let fields = class.body.iter().filter_map(|statement| match statement {
            Stmt::AnnAssign(field) => field.value.as_deref(),
            Stmt::Assign(field) => Some(&*field.value),
            _ => None,
        });
        for field in fields {
            let Expr::Call(call) = field else { continue };
            let mut keywords = call.arguments.keywords.iter();
            let factory = keywords.find(|keyword| {
                let name = keyword.arg.as_ref().map(ast::Identifier::as_str);
                matches!(name, Some("default_factory" | "factory"))
            });
            if let Some(factory) = factory {
                execution.run_factory(&factory.value);
            }
        }
        Some(execution.reaches.map(|(_, what)| what))
    }

    /// Whether the classes above a class are known, whose `__init__` its own one calls or leaves.
    fn making_is_known(&self, home: usize, class: &str, depth: usize) -> Option<()> {
        let text = self.class_within(home, class, depth)?;
        let found = text.class()?;
        if method_of(found, "__new__").is_some() {
            return None;
        }
        for base in self.bases(home, found) {
            match base {
                AbstractValue::Class(home, class) => {
                    self.making_is_known(home, &class, depth + 1)?
                }
                base if is_plainly_made(&base) => {}
                _ => return None,
            }
        }
        Some(())
    }
}

impl Execution<'_, '_, '_> {
    /// An attribute of something.
    pub(super) fn attribute(
        &mut self,
        base: AbstractValue,
        name: &str,
        at: &impl Ranged,
    ) -> AbstractValue {
        match base {
            AbstractValue::Module(module) => {
                self.asked_of_module(module, name, at);
                self.member(module, name)
            }
            AbstractValue::Class(home, class) => self.attribute_of_class(home, &class, name, at),
            AbstractValue::Instance { home, class, own } => {
                self.attribute_of_object((home, &class, own), name, at)
            }
            AbstractValue::Unknown => {
                self.doubt(at, "nobody knows what reading this attribute does")
            }
            base => self.attribute_of_known(base, name),
        }
    }

    /// An attribute of what is known by its name, or made of builtins and libraries.
    fn attribute_of_known(&self, base: AbstractValue, name: &str) -> AbstractValue {
        match base {
            // A method that changes what others have.
            AbstractValue::Shared if changes_itself(name) => AbstractValue::Code { own: false },
            AbstractValue::Constant | AbstractValue::Own | AbstractValue::Shared => base,
            AbstractValue::Container { .. } | AbstractValue::Stream { .. } => {
                AbstractValue::Code { own: false }
            }
            // Functions that dispatch by types take more of them.
            AbstractValue::Function(home, _)
                if name == "register" && Some(home) == self.imported =>
            {
                AbstractValue::Outside("functools.singledispatch".to_owned())
            }
            AbstractValue::Outside(of) => AbstractValue::outside(format!("{of}.{name}")),
            AbstractValue::Builtin(of) => AbstractValue::Builtin(format!("{of}.{name}")),
            // Of functions and methods.
            _ if OF_CODE.contains(&name) => AbstractValue::Constant,
            _ => AbstractValue::Unknown,
        }
    }

    fn attribute_of_class(
        &mut self,
        home: usize,
        class: &str,
        name: &str,
        at: &impl Ranged,
    ) -> AbstractValue {
        if matches!(name, "__name__" | "__qualname__" | "__module__" | "__doc__") {
            return AbstractValue::Constant;
        }
        match self.effects.member_of_class(home, class, name, 0) {
            ClassMember::Method(home, class) => AbstractValue::method(home, class, name, false),
            ClassMember::Property(..) => AbstractValue::Code { own: false },
            ClassMember::Held(_) | ClassMember::None if self.is_enum(home, class, 0) => {
                AbstractValue::Constant
            }
            ClassMember::Held(value) => self.of_class(home, value),
            ClassMember::None => self.attribute_of_metaclass((home, class), name, at),
            ClassMember::Unknown if self.has_plain_metaclass(home, class, 0) => {
                AbstractValue::Unknown
            }
            ClassMember::Unknown => self.doubt(at, "nobody knows what reading this attribute does"),
        }
    }

    /// An attribute that no class above a class has.
    fn attribute_of_metaclass(
        &mut self,
        (home, class): (usize, &str),
        name: &str,
        at: &impl Ranged,
    ) -> AbstractValue {
        let whole = AbstractValue::Class(home, class.to_owned());
        self.run_metaclass(&whole, &["__getattr__", name], at);
        AbstractValue::Code {
            own: Some(home) == self.imported,
        }
    }

    /// What a class of a module has, for what is imported.
    fn of_class(&self, home: usize, value: AbstractValue) -> AbstractValue {
        match Some(home) == self.imported {
            true => value,
            false => value.for_others(),
        }
    }

    fn attribute_of_object(
        &mut self,
        (home, class, own): (usize, &str, bool),
        name: &str,
        at: &impl Ranged,
    ) -> AbstractValue {
        let any = self
            .effects
            .member_of_class(home, class, "__getattribute__", 0);
        if !matches!(any, ClassMember::None) {
            return self.doubt(at, "nobody knows what reading this attribute does");
        }
        match self.effects.member_of_class(home, class, name, 0) {
            ClassMember::Method(home, class) => AbstractValue::method(home, class, name, own),
            ClassMember::Property(home, class) => self.read_property((home, &class, own), name, at),
            ClassMember::Held(value) if value.is_plain() => self.of_class(home, value),
            ClassMember::None => self.attribute_set_when_made((home, class, own), name, at),
            ClassMember::Held(_) | ClassMember::Unknown => {
                self.doubt(at, "nobody knows what reading this attribute does")
            }
        }
    }

    /// A property of an object runs its method.
    fn read_property(
        &mut self,
        (home, class, own): (usize, &str, bool),
        name: &str,
        at: &impl Ranged,
    ) -> AbstractValue {
        let object = AbstractValue::instance(home, class, own);
        let nothing = AbstractValue::Constant;
        let method = (home, class, name);
        let outcome = self
            .effects
            .call_method(self.imported, method, object, &nothing);
        match outcome {
            Some(CallOutcome {
                effect: None,
                value,
            }) => value,
            _ => self.doubt(at, format!("nobody knows what the property `{name}` does")),
        }
    }

    /// An attribute that no class above an object has: what it was set to, unless `__getattr__` makes it.
    fn attribute_set_when_made(
        &mut self,
        (home, class, own): (usize, &str, bool),
        name: &str,
        at: &impl Ranged,
    ) -> AbstractValue {
        let missing = self.effects.member_of_class(home, class, "__getattr__", 0);
        if !matches!(missing, ClassMember::None) {
            return self.doubt(at, "nobody knows what reading this attribute does");
        }
        if self.effects.is_set_by_others(home, class, name) {
            self.may_fail(at, "it needs an attribute that others set first");
        }
        let value = match self.effects.set_when_made(home, class, name, 0) {
            // What was put into it since is not known.
            Some(AbstractValue::Own) => AbstractValue::container_of(AbstractValue::Unknown),
            value => value.unwrap_or(AbstractValue::Unknown),
        };
        match own {
            true => value,
            false => value.for_others(),
        }
    }

    /// Whether a class has a metaclass of Python or a known library.
    fn has_plain_metaclass(&self, home: usize, class: &str, depth: usize) -> bool {
        let Some(text) = self.effects.class_within(home, class, depth) else {
            return false;
        };
        let Some(found) = text.class() else {
            return false;
        };
        let mut keywords = found.arguments.iter().flat_map(|all| all.keywords.iter());
        keywords.all(|keyword| {
            keyword.arg.as_ref().is_none_or(|name| name.as_str() != "metaclass")
                || matches!(self.effects.value_in(home, &keyword.value), AbstractValue::Outside(name) if is_plain_base(&name))
        }) && self.effects.bases(home, found).iter().all(|base| match base {
            AbstractValue::Class(home, class) => self.has_plain_metaclass(*home, class, depth + 1),
            base => is_plain_class(base),
        })
    }

    /// Whether a class is an enumeration.
    pub(super) fn is_enum(&self, home: usize, class: &str, depth: usize) -> bool {
        let text = self.effects.class_within(home, class, depth);
        let found = text.as_ref().and_then(ClassText::class);
        found.is_some_and(|found| {
            let bases = self.effects.bases(home, found);
            bases.iter().any(|base| self.is_enum_value(base, depth + 1))
        })
    }

    /// Whether a value is an enumeration of the tree, or something of the library for them.
    pub(super) fn is_enum_value(&self, value: &AbstractValue, depth: usize) -> bool {
        match value {
            AbstractValue::Class(home, class) => self.is_enum(*home, class, depth),
            AbstractValue::Outside(name) => name.starts_with("enum."),
            _ => false,
        }
    }
}

/// Whether a class above another one is of Python or of a library that does nothing with classes below.
pub(super) fn is_plain_class(value: &AbstractValue) -> bool {
    match value {
        AbstractValue::Outside(name) => is_plain_base(name),
        AbstractValue::Builtin(_) | AbstractValue::Own | AbstractValue::Shared => true,
        _ => false,
    }
}

/// Whether making an object of it, or of a class below it, does nothing besides.
fn is_plainly_made(base: &AbstractValue) -> bool {
    is_plain_class(base) || matches!(base, AbstractValue::Outside(name) if is_plain_call(name))
}

/// What a method of a class is given first, if anything.
fn receiver(
    function: &ast::StmtFunctionDef,
    (home, class): (usize, &str),
    object: AbstractValue,
) -> Option<AbstractValue> {
    let name = function.name.as_str();
    let of_class = decorated_by(function, "classmethod") || name == "__new__";
    if decorated_by(function, "staticmethod") {
        return None;
    }
    Some(match name {
        // The class that is made.
        "__init_subclass__" => AbstractValue::Code { own: true },
        _ if of_class => AbstractValue::Class(home, class.to_owned()),
        _ => object,
    })
}

fn method_member(
    home: usize,
    class: &ast::StmtClassDef,
    function: &ast::StmtFunctionDef,
) -> ClassMember {
    let class = class.name.to_string();
    match method_kind(function) {
        MethodKind::Plain => ClassMember::Method(home, class),
        MethodKind::Property => ClassMember::Property(home, class),
        MethodKind::Unknown => ClassMember::Unknown,
    }
}

/// The values that statements set an attribute of a name to.
fn values_set<'s>(suite: &'s [Stmt], object: &str, name: &str, found: &mut Vec<&'s Expr>) {
    let is_it = |target: &Expr| {
        matches!(target, Expr::Attribute(attribute)
            if attribute.attr.as_str() == name && is_named(&attribute.value, object))
    };
    crate::analysis::predicates::collect_assigned_values(suite, &is_it, found);
}

/// How a function in the body of a class is read.
enum MethodKind {
    Plain,
    Property,
    Unknown,
}

fn method_kind(function: &ast::StmtFunctionDef) -> MethodKind {
    use crate::analysis::predicates::last_name;
    let mut kind = MethodKind::Plain;
    for decorator in &function.decorator_list {
        let called = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        match last_name(called) {
            Some(
                "staticmethod" | "classmethod" | "abstractmethod" | "override" | "overload"
                | "final" | "wraps" | "lru_cache" | "cache",
            ) => {}
            Some(
                "property" | "cached_property" | "setter" | "getter" | "deleter"
                | "abstractproperty",
            ) => {
                kind = MethodKind::Property;
            }
            _ => return MethodKind::Unknown,
        }
    }
    kind
}

fn decorated_by(function: &ast::StmtFunctionDef, name: &str) -> bool {
    let mut decorators = function.decorator_list.iter();
    decorators.any(|one| crate::analysis::predicates::last_name(&one.expression) == Some(name))
}

/// The method of a class; the first of a property is what reads it.
pub(super) fn method_of<'c>(
    class: &'c ast::StmtClassDef,
    name: &str,
) -> Option<&'c ast::StmtFunctionDef> {
    class.body.iter().find_map(|statement| match statement {
        Stmt::FunctionDef(function) if function.name.as_str() == name => Some(function),
        _ => None,
    })
}
