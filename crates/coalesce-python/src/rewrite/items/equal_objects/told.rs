//! How objects of a class are told from those of another class of equal text: by its decorators, its bases and its methods.

use ruff_python_ast::{
    Expr, Stmt, StmtClassDef, StmtFunctionDef,
    visitor::{self, Visitor},
};

use crate::{
    analysis::predicates::{chain, last_name},
    graph::{Entity, PythonGraph},
    rewrite::items::equivalence::{Modules, ReadModule},
};

/// Bases by whose values members are compared, whatever their class is.
const BY_VALUE: [&str; 6] = ["IntEnum", "IntFlag", "StrEnum", "bytes", "int", "str"];

const ENUMERATIONS: [&str; 6] = ["Enum", "Flag", "IntEnum", "IntFlag", "ReprEnum", "StrEnum"];

/// Decorators that make an `__eq__` which asks for the class.
const COMPARED: [&str; 6] = ["attrs", "dataclass", "define", "frozen", "mutable", "s"];

/// Bases of other libraries whose `__eq__` asks for the class.
const COMPARED_BASES: [&str; 3] = ["BaseModel", "Struct", "RootModel"];

/// Types of fields whose values are no objects of the tree.
const PLAIN_TYPES: [&str; 6] = ["bool", "bytes", "float", "int", "str", "complex"];

const ORDERS: [&str; 4] = ["__lt__", "__le__", "__gt__", "__ge__"];

/// Through so many bases, names and decorators a class is followed.
const MOST_STEPS: usize = 6;

/// What tells objects of a class from those of one of equal text.
#[derive(Default)]
pub(in crate::rewrite::items) struct Told {
    /// `==`, and all that goes by it.
    pub equality: bool,
    /// `is`: each member is there once.
    pub identity: bool,
    /// `<`, and all that goes by it.
    pub order: bool,
    /// Methods that ask what they are given for its class.
    pub methods: Vec<String>,
    /// Fields with values that are no objects of the tree.
    pub plain: Vec<String>,
}

/// A class, and where it stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    graph: &'a PythonGraph,
    modules: &'a Modules<'a>,
    module: usize,
}

impl Told {
    /// What is known of a class that a module has.
    pub(in crate::rewrite::items) fn of(
        graph: &PythonGraph,
        modules: &Modules<'_>,
        (module, item, statement): (usize, &str, &Stmt),
    ) -> Option<Self> {
        let Stmt::ClassDef(class) = statement else {
            return None;
        };
        let place = Place {
            graph,
            modules,
            module,
        };
        let mut told = Self::default();
        told.add(place, class, Some(item), 0);
        let any = told.equality || told.identity || told.order || !told.methods.is_empty();
        any.then_some(told)
    }

    /// Adds what a class does, `own` where it is the one asked for, by its name, and none that it is made of.
    fn add(&mut self, place: Place<'_>, class: &StmtClassDef, own: Option<&str>, depth: usize) {
        let Some(read) = place.modules.read_of(place.graph, place.module) else {
            return;
        };
        let names: Vec<&str> = class.bases().iter().map(|base| real(&read, base)).collect();
        if names
            .iter()
            .any(|name| ENUMERATIONS.contains(name) || name.ends_with("Enum"))
        {
            self.identity = true;
            self.equality |= !names.iter().any(|name| BY_VALUE.contains(name));
            self.plain.extend(["name", "value"].map(str::to_owned));
        }
        self.equality |= names.iter().any(|name| COMPARED_BASES.contains(name));
        for decorator in &class.decorator_list {
            self.decorated(place, &decorator.expression, depth);
        }
        for statement in &class.body {
            self.member(statement, own);
        }
        for base in class.bases() {
            self.base(place, base, depth);
        }
    }

    /// What a class of the tree brings that another one is made of.
    fn base(&mut self, place: Place<'_>, base: &Expr, depth: usize) {
        let Some((home, found)) = place.definition(base, depth) else {
            return;
        };
        if let [Stmt::ClassDef(class)] = found.as_slice() {
            let place = Place {
                module: home,
                ..place
            };
            self.add(place, class, None, depth + 1);
        }
    }

    /// `@dataclass` makes an `__eq__`, `@dataclass(eq=False)` does not.
    fn decorated(&mut self, place: Place<'_>, decorator: &Expr, depth: usize) {
        let Some(read) = place.modules.read_of(place.graph, place.module) else {
            return;
        };
        let called = decorator.as_call_expr();
        let makes = called.map_or(decorator, |call| &call.func);
        let is = |name: &str, value: bool| {
            called
                .and_then(|call| call.arguments.find_keyword(name))
                .is_some_and(
                    |found| matches!(&found.value, Expr::BooleanLiteral(is) if is.value == value),
                )
        };
        let name = real(&read, makes);
        if COMPARED.contains(&name) && (name != "s" || makes.is_attribute_expr()) {
            self.equality |= !is("eq", false);
            self.order |= is("order", true);
        } else if name == "total_ordering" {
            self.order = true;
        } else if let Some((home, found)) = place.definition(makes, depth) {
            let place = Place {
                module: home,
                ..place
            };
            let mut makers = Makers::default();
            makers.visit_body(&found);
            for maker in &makers.found {
                self.decorated(place, maker, depth + 1);
            }
        }
    }

    /// A member of the class; an `__eq__` that is inherited tells both apart only if it goes by the class itself.
    fn member(&mut self, statement: &Stmt, own: Option<&str>) {
        match statement {
            Stmt::FunctionDef(method) => self.method(method, own),
            Stmt::Assign(assign) => {
                let equal = assign
                    .targets
                    .iter()
                    .any(|each| last_name(each) == Some("__eq__"));
                let asks = asks_for_class(|asking| asking.visit_expr(&assign.value), own);
                let lambda = assign.value.is_lambda_expr();
                self.equality |= equal && (asks || own.is_some() && lambda);
            }
            Stmt::AnnAssign(field) => {
                let plain = last_name(&field.annotation);
                let name = field.target.as_name_expr();
                if let (Some(name), true) =
                    (name, plain.is_some_and(|of| PLAIN_TYPES.contains(&of)))
                {
                    self.plain.push(name.id.to_string());
                }
            }
            _ => {}
        }
    }

    fn method(&mut self, method: &StmtFunctionDef, own: Option<&str>) {
        let name = method.name.as_str();
        let asks = asks_for_class(|asking| asking.visit_body(&method.body), own);
        if name == "__eq__" {
            self.equality |= own.is_some() || asks;
        } else if ORDERS.contains(&name) {
            self.order |= asks;
        } else if asks {
            self.methods.push(name.to_owned());
        }
    }
}

impl Place<'_> {
    /// What defines a name that the module uses, and where that is.
    fn definition(&self, expression: &Expr, depth: usize) -> Option<(usize, Vec<Stmt>)> {
        let chain = chain(expression).filter(|_| depth < MOST_STEPS)?;
        let names = chain.iter().map(String::as_str);
        let Entity::Item(home, item) = self.graph.follow(self.module, None, names).end else {
            return None;
        };
        let read = self.modules.read_of(self.graph, home)?;
        let found = read.defining(&item);
        Some((home, found.cloned().collect()))
    }
}

/// The name that something has where it comes from: `dc` is `dataclass` after `import dataclass as dc`.
fn real<'r>(read: &'r ReadModule, expression: &'r Expr) -> &'r str {
    let name = match expression {
        Expr::Subscript(generic) => last_name(&generic.value),
        other => last_name(other),
    };
    let name = name.unwrap_or_default();
    let mut bindings = read.analysis.bindings(0, name).iter();
    let plain = expression.is_name_expr();
    let import = bindings.find_map(|binding| {
        let (statement, leaf) = binding.import.filter(|_| plain)?;
        let (import, _) = read.analysis.imports.get(statement)?;
        Some(import.leaves.get(leaf)?.name.text.as_str())
    });
    import.unwrap_or(name)
}

/// What a decorator of the tree is made of: all that it names.
#[derive(Default)]
struct Makers {
    found: Vec<Expr>,
}

impl Visitor<'_> for Makers {
    fn visit_expr(&mut self, expression: &Expr) {
        let name = |each: &Expr| last_name(each).is_some_and(|name| COMPARED.contains(&name));
        match expression {
            Expr::Call(call) => {
                let first = call.arguments.args.first();
                let handed = first.filter(|each| name(each) || each.is_name_expr());
                // `partial(dataclass, frozen=True)` has the settings that it hands on.
                let partial = last_name(&call.func) == Some("partial") && handed.is_some();
                if partial && let Some(maker) = handed {
                    let mut made = call.clone();
                    made.func = Box::new(maker.clone());
                    self.found.push(Expr::Call(made));
                    return;
                }
                self.found.push(expression.clone());
                visitor::walk_arguments(self, &call.arguments);
            }
            Expr::Name(name) if name.ctx.is_store() => {}
            Expr::Name(_) | Expr::Attribute(_) => self.found.push(expression.clone()),
            _ => visitor::walk_expr(self, expression),
        }
    }
}

/// Whether code of a class asks for a class: for its own by name, or for that of an object.
fn asks_for_class(visit: impl FnOnce(&mut AsksForClass<'_>), class: Option<&str>) -> bool {
    let mut asking = AsksForClass {
        class,
        found: false,
    };
    visit(&mut asking);
    asking.found
}

struct AsksForClass<'c> {
    class: Option<&'c str>,
    found: bool,
}

impl Visitor<'_> for AsksForClass<'_> {
    fn visit_expr(&mut self, expression: &Expr) {
        let named = |each: &Expr| last_name(each).is_some() && last_name(each) == self.class;
        let of_object = |each: &Expr| match each {
            Expr::Call(call) => last_name(&call.func) == Some("type"),
            other => last_name(other) == Some("__class__"),
        };
        self.found |= match expression {
            Expr::Call(call) if last_name(&call.func) == Some("isinstance") => {
                let asked = call.arguments.args.get(1);
                asked.is_some_and(|asked| match asked {
                    Expr::Tuple(several) => several
                        .elts
                        .iter()
                        .any(|each| named(each) || of_object(each)),
                    one => named(one) || of_object(one),
                })
            }
            Expr::Compare(compare) => {
                let mut sides = std::iter::once(&*compare.left).chain(&compare.comparators);
                sides.any(of_object)
            }
            _ => false,
        };
        visitor::walk_expr(self, expression);
    }
}
