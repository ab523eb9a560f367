//! Which names and expressions of a file may hold objects of two classes, and where such objects are compared.
//!
//! What is read of a file is names alone: a name that is given such an object anywhere in a function may hold it in all
//! of that function, an attribute in all of the file.

use std::collections::BTreeMap;

use ruff_python_ast::{
    CmpOp, Comprehension, Expr, ExprBinOp, ExprCall, ExprCompare, Operator, ParameterWithDefault,
    Stmt, StmtAnnAssign, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use super::{equal_objects::Told, read_early::CHANGING};
use crate::analysis::predicates::{is_literal, last_name};

/// Objects of which of two classes something may hold, as bits.
pub(super) type Sides = u8;

/// Objects of both.
pub(super) const BOTH: Sides = 3;

/// Calls that give no object of a class of the tree.
const PLAIN: [&str; 14] = [
    "bool",
    "dir",
    "float",
    "format",
    "hasattr",
    "hash",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "len",
    "repr",
    "str",
    "type",
];

/// Methods and functions that look for what is equal to what they are given.
const LOOKING: [&str; 22] = [
    "Counter",
    "__eq__",
    "__ne__",
    "add",
    "count",
    "dict",
    "difference",
    "discard",
    "eq",
    "frozenset",
    "fromkeys",
    "get",
    "groupby",
    "index",
    "intersection",
    "ne",
    "pop",
    "remove",
    "set",
    "setdefault",
    "union",
    "unique",
];

/// Calls that put what they are given in an order.
const ORDERING: [&str; 6] = ["heappush", "insort", "max", "min", "sort", "sorted"];

/// Which argument of a call something is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Argument {
    Position(usize),
    Keyword(String),
    /// Any: the function is handed on, with what it is called with.
    Any,
}

/// What functions of a module are called with, by their names.
pub(super) type Handed = FxHashMap<(String, Argument), Sides>;

/// A function that is called: one of the tree, or any method of a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum CalledFunction {
    Item(usize, String),
    Method(String),
}

/// What a file is looked through for.
pub(super) struct FlowInput<'a> {
    pub told: &'a Told,
    /// What holds such objects of what the file uses of the tree, by the ends of the names.
    pub held: &'a FxHashMap<u32, Sides>,
    /// What the file uses of the tree, by the ends of the names.
    pub items: &'a FxHashMap<u32, (usize, String)>,
    pub handed: &'a Handed,
    /// What offsets of the parser are counted from.
    pub start: u32,
}

/// What is followed through one file alone, from expressions that give it.
pub(super) struct Seeds {
    told: Told,
    ends: FxHashMap<u32, Sides>,
    items: FxHashMap<u32, (usize, String)>,
    handed: Handed,
    start: u32,
}

impl Seeds {
    /// Looks for what gives it; `plain` are attributes of it that do not.
    pub(super) fn new(
        (body, start): (&[Stmt], u32),
        plain: &[&str],
        is_seed: impl Fn(&Expr) -> bool,
    ) -> Self {
        let mut found = FoundSeeds {
            is_seed,
            ends: Vec::new(),
        };
        found.visit_body(body);
        let ends = found.ends.into_iter().map(|end| (end + start, 1));
        Self {
            told: Told {
                plain: plain.iter().map(|name| (*name).to_owned()).collect(),
                ..Told::default()
            },
            ends: ends.collect(),
            items: FxHashMap::default(),
            handed: Handed::default(),
            start,
        }
    }

    /// Follows it through the file.
    pub(super) fn flow(&self, body: &[Stmt]) -> ValueFlow<'_> {
        let asked = FlowInput {
            told: &self.told,
            held: &self.ends,
            items: &self.items,
            handed: &self.handed,
            start: self.start,
        };
        ValueFlow::new(asked, body)
    }
}

struct FoundSeeds<F> {
    is_seed: F,
    ends: Vec<u32>,
}

impl<F: Fn(&Expr) -> bool> Visitor<'_> for FoundSeeds<F> {
    fn visit_expr(&mut self, expression: &Expr) {
        if (self.is_seed)(expression) {
            self.ends.push(expression.end().to_u32());
        }
        visitor::walk_expr(self, expression);
    }
}

/// The function that a name stands in, by its place.
type Owner = Option<u32>;

/// What a file does with the objects.
pub(super) struct ValueFlow<'a> {
    asked: FlowInput<'a>,
    names: FxHashMap<(Owner, String), Sides>,
    attributes: FxHashMap<String, Sides>,
    /// What is called with such objects.
    pub calls: BTreeMap<(CalledFunction, Argument), Sides>,
    /// Objects of both are compared.
    pub compared: bool,
    owner: Owner,
    class: Option<String>,
    function: Option<String>,
    changed: bool,
}

impl<'a> ValueFlow<'a> {
    /// Goes through a file until nothing more comes of it.
    pub(super) fn new(asked: FlowInput<'a>, statements: &[Stmt]) -> Self {
        let mut held = Self {
            asked,
            names: FxHashMap::default(),
            attributes: FxHashMap::default(),
            calls: BTreeMap::new(),
            compared: false,
            owner: None,
            class: None,
            function: None,
            changed: true,
        };
        while std::mem::take(&mut held.changed) && !held.compared {
            held.visit_body(statements);
        }
        held
    }

    /// What the names of the module itself hold.
    pub(super) fn of_module(&self) -> impl Iterator<Item = (&str, Sides)> {
        let own = self.names.iter().filter(|((owner, _), _)| owner.is_none());
        own.map(|((_, name), sides)| (name.as_str(), *sides))
    }

    /// Whether an expression may hold something in any function of the file.
    pub(super) fn may_hold(&self, expression: &Expr) -> bool {
        let named = |name: &str| {
            let mut names = self.names.keys();
            names.any(|(_, known)| known == name)
        };
        let here = self.of(expression) != 0;
        here || expression
            .as_name_expr()
            .is_some_and(|name| named(name.id.as_str()))
    }

    /// What an expression may give.
    fn of(&self, expression: &Expr) -> Sides {
        let mut sum = Sum {
            held: self,
            sides: 0,
        };
        sum.visit_expr(expression);
        sum.sides
    }

    fn of_all<'e>(&self, expressions: impl IntoIterator<Item = &'e Expr>) -> Sides {
        let all = expressions.into_iter();
        all.fold(0, |sides, each| sides | self.of(each))
    }

    fn of_name(&self, name: &str) -> Sides {
        let of = |owner: Owner| self.names.get(&(owner, name.to_owned())).copied();
        of(self.owner).unwrap_or_default() | of(None).unwrap_or_default()
    }

    fn end(&self, expression: &Expr) -> u32 {
        expression.end().to_u32() + self.asked.start
    }

    fn name(&mut self, owner: Owner, name: &str, sides: Sides) {
        if sides == 0 {
            return;
        }
        let known = self.names.entry((owner, name.to_owned())).or_default();
        self.changed |= *known | sides != *known;
        *known |= sides;
    }

    fn attribute(&mut self, name: &str, sides: Sides) {
        if sides == 0 {
            return;
        }
        let known = self.attributes.entry(name.to_owned()).or_default();
        self.changed |= *known | sides != *known;
        *known |= sides;
    }

    /// Gives what an expression holds to what it is assigned to.
    fn bind(&mut self, target: &Expr, sides: Sides) {
        let sides = match target {
            // What is a key is held, too.
            Expr::Subscript(place) => sides | self.of(&place.slice),
            _ => sides,
        };
        if sides == 0 {
            return;
        }
        match target {
            Expr::Name(name) => self.name(self.owner, name.id.as_str(), sides),
            Expr::Attribute(place) => {
                self.attribute(place.attr.as_str(), sides);
                self.class_holds(sides);
            }
            Expr::Subscript(place) => self.bind(&place.value, sides),
            Expr::Starred(each) => self.bind(&each.value, sides),
            Expr::Tuple(several) => several.elts.iter().for_each(|each| self.bind(each, sides)),
            Expr::List(several) => several.elts.iter().for_each(|each| self.bind(each, sides)),
            _ => {}
        }
    }

    fn class_holds(&mut self, sides: Sides) {
        if let Some(class) = self.class.clone() {
            self.name(None, &class, sides);
        }
    }

    /// What a function gives to those who call it.
    fn gives(&mut self, sides: Sides) {
        let Some(function) = self.function.clone().filter(|_| sides != 0) else {
            return;
        };
        match self.class {
            Some(_) => {
                self.attribute(&function, sides);
                self.class_holds(sides);
            }
            None => self.name(None, &function, sides),
        }
    }

    /// What a function may be called with.
    fn parameters(&mut self, function: &StmtFunctionDef) {
        let decorators = function.decorator_list.iter();
        let decorated = self.of_all(decorators.map(|each| &each.expression));
        let called = match (&self.class, function.name.as_str()) {
            (Some(class), "__init__") => class.clone(),
            (_, name) => name.to_owned(),
        };
        let bound = usize::from(self.class.is_some() && !is_static(function));
        let own = self.owner;
        let all: Vec<&ParameterWithDefault> =
            function.parameters.iter_non_variadic_params().collect();
        let mut sides = decorated;
        for (at, parameter) in all.into_iter().enumerate().skip(bound) {
            let position = Argument::Position(at - bound);
            let given = self.parameter(&called, position, parameter) | decorated;
            sides |= given;
            self.name(own, parameter.name().as_str(), given);
        }
        let rest = [&function.parameters.vararg, &function.parameters.kwarg];
        let given = self
            .asked
            .handed
            .iter()
            .filter(|((name, _), _)| *name == called);
        let given = given.fold(0, |all, (_, sides)| all | sides);
        for parameter in rest.into_iter().flatten() {
            self.name(own, parameter.name.as_str(), given);
        }
        self.compared |= self.asked.told.equality && sides == BOTH && is_cached(function);
    }

    fn parameter(
        &self,
        called: &str,
        position: Argument,
        parameter: &ParameterWithDefault,
    ) -> Sides {
        let name = parameter.name().to_string();
        let ways = [position, Argument::Keyword(name.clone()), Argument::Any];
        let handed = ways
            .into_iter()
            .filter_map(|way| self.asked.handed.get(&(called.to_owned(), way)).copied());
        let annotation = parameter.annotation().map_or(0, |of| self.of(of));
        let default = parameter.default().map_or(0, |of| self.of(of));
        // A fixture is asked for by its name.
        handed.fold(annotation | default | self.of_name(&name), |all, each| {
            all | each
        })
    }

    fn compare(&mut self, compare: &ExprCompare) {
        let sides = || std::iter::once(&*compare.left).chain(&compare.comparators);
        let told = self.asked.told;
        let tells = compare.ops.iter().any(|op| match op {
            CmpOp::Is | CmpOp::IsNot => told.identity,
            CmpOp::Eq | CmpOp::NotEq | CmpOp::In | CmpOp::NotIn => told.equality,
            _ => told.order,
        });
        self.compared |= tells && !sides().any(is_literal) && self.of_all(sides()) == BOTH;
    }

    /// An operator: one of the class, or of sets of its objects.
    fn operation(&mut self, operation: &ExprBinOp) {
        let told = self.asked.told;
        let mut methods = told.methods.iter();
        let own = methods.any(|method| method.starts_with("__"));
        let of_sets = matches!(
            operation.op,
            Operator::BitAnd | Operator::BitOr | Operator::BitXor | Operator::Sub
        );
        let tells = own || of_sets && told.equality;
        self.compared |= tells && self.of_all([&*operation.left, &*operation.right]) == BOTH;
    }

    fn call(&mut self, call: &ExprCall) {
        let arguments = || {
            let named = call.arguments.keywords.iter().map(|each| &each.value);
            call.arguments.args.iter().chain(named)
        };
        let given = self.of_all(arguments());
        let name = last_name(&call.func).unwrap_or_default();
        let receiver = call.func.as_attribute_expr().map(|method| &*method.value);
        let all = given | receiver.map_or(0, |receiver| self.of(receiver));
        if given == 0 && !ORDERING.contains(&name) {
            return;
        }
        let told = self.asked.told;
        let looks = LOOKING.contains(&name) || name.starts_with("assert");
        let compares = looks && told.equality
            || name.starts_with("assertIs") && told.identity
            || ORDERING.contains(&name) && told.order
            || told.methods.iter().any(|method| method == name);
        self.compared |= compares && all == BOTH;
        if let Some(receiver) = receiver.filter(|_| CHANGING.contains(&name)) {
            self.bind(receiver, given);
        }
        for lambda in arguments().filter_map(Expr::as_lambda_expr) {
            for parameter in lambda.parameters.iter().flat_map(|all| all.iter()) {
                self.name(self.owner, parameter.name().as_str(), given);
            }
        }
        self.hand_on(call, given);
    }

    /// Notes what a call gives to the function that it calls, and to one that it is given.
    fn hand_on(&mut self, call: &ExprCall, given: Sides) {
        for handed in &call.arguments.args {
            if let Some((home, item)) = self.asked.items.get(&self.end(handed)) {
                let callee = CalledFunction::Item(*home, item.clone());
                self.calls_with(callee, Argument::Any, given);
            }
        }
        let callee = match (
            self.asked.items.get(&self.end(&call.func)),
            last_name(&call.func),
        ) {
            (Some((home, item)), _) => CalledFunction::Item(*home, item.clone()),
            (None, Some(name)) => CalledFunction::Method(name.to_owned()),
            (None, None) => return,
        };
        for (at, argument) in call.arguments.args.iter().enumerate() {
            let position = match argument.is_starred_expr() {
                true => Argument::Any,
                false => Argument::Position(at),
            };
            self.calls_with(callee.clone(), position, self.of(argument));
        }
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref();
            let named = name.map_or(Argument::Any, |name| Argument::Keyword(name.to_string()));
            self.calls_with(callee.clone(), named, self.of(&keyword.value));
        }
    }

    fn calls_with(&mut self, callee: CalledFunction, argument: Argument, sides: Sides) {
        if sides != 0 {
            *self.calls.entry((callee, argument)).or_default() |= sides;
        }
    }

    /// Whether objects of both are keys or members of what is written down.
    fn displayed(&self, expression: &Expr) -> bool {
        let keys = match expression {
            Expr::Set(set) => self.of_all(&set.elts),
            Expr::SetComp(set) => self.of(&set.elt),
            Expr::DictComp(dict) => self.of_all(dict.key.as_deref()),
            Expr::Dict(dict) => self.of_all(
                dict.items
                    .iter()
                    .map(|item| item.key.as_ref().unwrap_or(&item.value)),
            ),
            Expr::Subscript(place) => match self.of(&place.slice) {
                0 => 0,
                keys => match self.of(&place.value) {
                    0 => 0,
                    table => keys | table,
                },
            },
            _ => 0,
        };
        keys == BOTH
    }
}

impl Visitor<'_> for ValueFlow<'_> {
    fn visit_annotation(&mut self, _: &Expr) {}

    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                let sides = self.of(&assign.value);
                assign
                    .targets
                    .iter()
                    .for_each(|target| self.bind(target, sides));
            }
            Stmt::AnnAssign(assign) => self.annotated(assign),
            Stmt::AugAssign(assign) => self.bind(&assign.target, self.of(&assign.value)),
            Stmt::For(each) => self.bind(&each.target, self.of(&each.iter)),
            Stmt::With(with) => {
                for item in &with.items {
                    let target = item.optional_vars.as_deref();
                    let sides = self.of(&item.context_expr);
                    target
                        .into_iter()
                        .for_each(|target| self.bind(target, sides));
                }
            }
            Stmt::Return(given) => {
                let sides = given.value.as_deref().map_or(0, |value| self.of(value));
                self.gives(sides);
            }
            Stmt::Match(found) if self.asked.told.equality => {
                let mut values = Values(Vec::new());
                found
                    .cases
                    .iter()
                    .for_each(|case| values.visit_pattern(&case.pattern));
                let values = self.of_all(&values.0);
                self.compared |= values != 0 && values | self.of(&found.subject) == BOTH;
            }
            Stmt::FunctionDef(function) => return self.function(function),
            Stmt::ClassDef(class) => {
                let bases = self.of_all(class.bases());
                let outer = self.class.replace(class.name.to_string());
                self.class_holds(bases);
                visitor::walk_stmt(self, statement);
                self.class = outer;
                return;
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_comprehension(&mut self, comprehension: &Comprehension) {
        let sides = self.of(&comprehension.iter);
        self.bind(&comprehension.target, sides);
        visitor::walk_comprehension(self, comprehension);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Named(named) => self.bind(&named.target, self.of(&named.value)),
            Expr::Compare(compare) => self.compare(compare),
            Expr::Call(call) => self.call(call),
            Expr::Yield(given) => {
                let sides = given.value.as_deref().map_or(0, |value| self.of(value));
                self.gives(sides);
            }
            Expr::YieldFrom(given) => self.gives(self.of(&given.value)),
            Expr::BinOp(operation) => self.operation(operation),
            _ => {}
        }
        self.compared |= self.asked.told.equality && self.displayed(expression);
        visitor::walk_expr(self, expression);
    }
}

impl ValueFlow<'_> {
    /// A field or variable with its type.
    fn annotated(&mut self, assign: &StmtAnnAssign) {
        let value = assign.value.as_deref().map_or(0, |value| self.of(value));
        let sides = value | self.of(&assign.annotation);
        self.bind(&assign.target, sides);
        if let (Some(class), Expr::Name(name)) = (self.class.clone(), &*assign.target) {
            let handed = self
                .asked
                .handed
                .iter()
                .filter(|((called, _), _)| *called == class);
            let handed = handed.fold(sides, |all, (_, each)| all | each);
            self.attribute(name.id.as_str(), handed);
        }
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        let outer = (self.owner, self.class.clone(), self.function.clone());
        let nested = self.function.is_some();
        if !nested {
            self.owner = Some(function.start().to_u32());
            self.function = Some(function.name.to_string());
        }
        self.parameters(function);
        visitor::walk_body(self, &function.body);
        if nested {
            // What is nested is called by the name that it has there.
            let sides = returned(function)
                .iter()
                .fold(0, |all, value| all | self.of(value));
            self.name(self.owner, function.name.as_str(), sides);
        }
        (self.owner, self.class, self.function) = outer;
    }
}

/// What an expression holds, all that it is made of together.
struct Sum<'h, 'a> {
    held: &'h ValueFlow<'a>,
    sides: Sides,
}

impl Visitor<'_> for Sum<'_, '_> {
    fn visit_expr(&mut self, expression: &Expr) {
        let held = self.held;
        let of_tree = || held.asked.held.get(&held.end(expression)).copied();
        match expression {
            Expr::Name(name) => {
                self.sides |= of_tree().unwrap_or_default() | held.of_name(name.id.as_str());
                return;
            }
            Expr::Attribute(place) => {
                let name = place.attr.as_str();
                if held.asked.told.plain.iter().any(|plain| plain == name) {
                    return;
                }
                let attribute = held.attributes.get(name).copied();
                self.sides |= of_tree().unwrap_or_default() | attribute.unwrap_or_default();
            }
            Expr::Call(call) if last_name(&call.func).is_some_and(|name| PLAIN.contains(&name)) => {
                return;
            }
            Expr::Compare(_) | Expr::FString(_) => return,
            Expr::If(choice) => {
                self.visit_expr(&choice.body);
                self.visit_expr(&choice.orelse);
                return;
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

/// The values that patterns go by.
struct Values(Vec<Expr>);

impl Visitor<'_> for Values {
    fn visit_expr(&mut self, expression: &Expr) {
        self.0.push(expression.clone());
    }
}

/// What a function gives back, by its own statements.
fn returned(function: &StmtFunctionDef) -> Vec<Expr> {
    let mut found = Returned(Vec::new());
    found.visit_body(&function.body);
    found.0
}

struct Returned(Vec<Expr>);

impl Visitor<'_> for Returned {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Return(given) => self.0.extend(given.value.as_deref().cloned()),
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            other => visitor::walk_stmt(self, other),
        }
    }
}

fn is_static(function: &StmtFunctionDef) -> bool {
    let mut decorators = function.decorator_list.iter();
    decorators.any(|each| last_name(&each.expression) == Some("staticmethod"))
}

/// Whether what a function gives is looked up by what it is called with.
fn is_cached(function: &StmtFunctionDef) -> bool {
    function.decorator_list.iter().any(|each| {
        let decorator = match &each.expression {
            Expr::Call(call) => &*call.func,
            plain => plain,
        };
        last_name(decorator).is_some_and(|name| name == "cache" || name.ends_with("lru_cache"))
    })
}
