//! What a module's `__getattr__` can come to for a name that it is asked for, where no table says it: the modules that it
//! imports by that name, held against literals before, and those of which it reads the name.
//!
//! `if name in {"a", "b"}: return import_module(f"pkg.{name}")` imports two modules and no other one;
//! `getattr(sys.modules["pkg.all"], name)` gives what `pkg.all` has. Whatever is done with the name besides may load anything.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Change};
use ruff_python_ast::{
    self as ast, CmpOp, Expr, InterpolatedStringElement, Operator, Stmt,
    visitor::{self, Visitor},
};

use crate::{
    analysis::predicates::{chain, last_name, literal_text},
    facts::FromPart,
    graph::{Entity, PythonGraph},
};

/// Functions that load nothing by a name that they are given.
const LOADING_NOTHING: [&str; 17] = [
    "AttributeError",
    "ImportError",
    "KeyError",
    "__getattribute__",
    "endswith",
    "format",
    "get",
    "hasattr",
    "isinstance",
    "join",
    "len",
    "lower",
    "print",
    "repr",
    "startswith",
    "str",
    "type",
];

/// Functions that load, or run, whatever a text says.
const LOADING_ANYTHING: [&str; 10] = [
    "__import__",
    "compile",
    "eval",
    "exec",
    "find_spec",
    "import_string",
    "load_module",
    "run_module",
    "walk_packages",
    "vars",
];

/// The modules of the tree that the function can come to.
#[derive(Default)]
pub(super) struct NamesReached {
    /// Full names of modules that it imports by the name.
    imported: Vec<String>,
    /// Modules of which it reads the name.
    read: Vec<usize>,
}

impl NamesReached {
    /// Whether the function may load, or give, what a change is about, or find it no more.
    pub fn comes_to(&self, graph: &PythonGraph, change: &Change) -> bool {
        let from = change.from.as_str();
        let is_below = |name: &str| {
            let rest = name.strip_prefix(from);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let (parent, last) = from.rsplit_once('.').unwrap_or(("", from));
        let renamed = change.to.rsplit('.').next() != Some(last);
        let is_read = |module: &usize| {
            let name = graph.modules.get(*module).map(|found| found.name.as_str());
            let offered = || graph.full_name(&graph.member(*module, last));
            name.is_none_or(|name| is_below(name) || name == parent)
                || (offered().as_deref() == Some(from) && (renamed || !graph.binds(*module, last)))
        };
        self.imported.iter().any(|name| is_below(name)) || self.read.iter().any(is_read)
    }
}

/// What a `__getattr__` among the statements of a module can come to; nothing where that is not known.
pub(super) fn reach(
    graph: &PythonGraph,
    module: usize,
    suite: &[Stmt],
    function: &ast::StmtFunctionDef,
) -> Option<NamesReached> {
    let parameter = function.parameters.iter().next()?.name().as_str();
    let mut search = Search::new(graph, module, suite);
    search.function(function, parameter);
    let mut done = vec![function.name.as_str()];
    while let Some(next) = search.named_function(&done) {
        done.push(next.name.as_str());
        search.function(next, "");
    }
    let found = search.reach;
    let nothing = found.imported.is_empty() && found.read.is_empty();
    (!search.unknown && !nothing).then_some(found)
}

/// A part of the name of a module: a text, or the name that is asked for.
enum NamePart {
    Text(String),
    Asked,
}

struct Search<'t> {
    graph: &'t PythonGraph,
    module: usize,
    suite: &'t [Stmt],
    parameter: &'t str,
    /// Names that functions use.
    names: Vec<&'t str>,
    /// What local names are given; nothing where that is more than one thing.
    values: BTreeMap<&'t str, Option<&'t Expr>>,
    /// Full names that imports inside of functions bind.
    imports: BTreeMap<String, String>,
    /// What the name is one of, by the conditions around.
    held_against: Vec<Vec<&'t str>>,
    reach: NamesReached,
    unknown: bool,
}

impl<'t> Search<'t> {
    fn new(graph: &'t PythonGraph, module: usize, suite: &'t [Stmt]) -> Self {
        Self {
            graph,
            module,
            suite,
            parameter: "",
            names: Vec::new(),
            values: BTreeMap::new(),
            imports: BTreeMap::new(),
            held_against: Vec::new(),
            reach: NamesReached::default(),
            unknown: false,
        }
    }

    fn function(&mut self, function: &'t ast::StmtFunctionDef, parameter: &'t str) {
        self.parameter = parameter;
        self.held_against.clear();
        self.values.clear();
        self.visit_body(&function.body);
    }

    /// A function of the module that is used and was not looked at.
    fn named_function(&self, done: &[&str]) -> Option<&'t ast::StmtFunctionDef> {
        let mut functions = self.suite.iter().filter_map(Stmt::as_function_def_stmt);
        functions.find(|function| {
            let name = function.name.as_str();
            self.names.contains(&name) && !done.contains(&name)
        })
    }

    fn is_asked(&self, expression: &Expr) -> bool {
        let name = expression.as_name_expr().map(|name| name.id.as_str());
        !self.parameter.is_empty() && name == Some(self.parameter)
    }

    /// The texts that the name is held against: `name in NAMES`, `name == "a"`.
    fn held(&self, test: &'t Expr, operators: [CmpOp; 2]) -> Option<Vec<&'t str>> {
        let compare = test.as_compare_expr()?;
        let ([operator], [right]) = (&*compare.ops, &*compare.comparators) else {
            return None;
        };
        if !operators.contains(operator) || !self.is_asked(&compare.left) {
            return None;
        }
        literal_text(right)
            .map(|text| vec![text])
            .or_else(|| self.texts(right, 0))
    }

    /// The texts of a literal, or of a name that is given one once.
    fn texts(&self, value: &'t Expr, depth: usize) -> Option<Vec<&'t str>> {
        match value {
            Expr::Set(ast::ExprSet { elts, .. })
            | Expr::List(ast::ExprList { elts, .. })
            | Expr::Tuple(ast::ExprTuple { elts, .. }) => elts.iter().map(literal_text).collect(),
            Expr::Call(call) => match (last_name(&call.func), &*call.arguments.args) {
                (Some("set" | "frozenset" | "tuple" | "list"), [inner]) => self.texts(inner, depth),
                _ => None,
            },
            Expr::Name(name) if depth < 4 => {
                let local = self.values.get(name.id.as_str()).copied();
                let value = local.unwrap_or_else(|| self.constant(name.id.as_str()))?;
                self.texts(value, depth + 1)
            }
            _ => None,
        }
    }

    /// What the module gives a name, once.
    fn constant(&self, name: &str) -> Option<&'t Expr> {
        let mut values = self.suite.iter().filter_map(|statement| {
            let (target, value) = match statement {
                Stmt::Assign(assign) => (assign.targets.first()?, Some(&*assign.value)),
                Stmt::AnnAssign(assign) => (&*assign.target, assign.value.as_deref()),
                Stmt::AugAssign(assign) => (&*assign.target, None),
                _ => return None,
            };
            let is_it = target
                .as_name_expr()
                .is_some_and(|found| found.id.as_str() == name);
            is_it.then_some(value)
        });
        match (values.next(), values.next()) {
            (Some(value), None) => value,
            _ => None,
        }
    }

    /// The parts of a text that names a module.
    fn parts(&self, text: &'t Expr, depth: usize) -> Option<Vec<NamePart>> {
        match text {
            asked if self.is_asked(asked) => Some(vec![NamePart::Asked]),
            Expr::StringLiteral(text) => Some(vec![NamePart::Text(text.value.to_str().to_owned())]),
            Expr::BinOp(sum) if sum.op == Operator::Add => {
                let mut parts = self.parts(&sum.left, depth)?;
                parts.extend(self.parts(&sum.right, depth)?);
                Some(parts)
            }
            Expr::FString(text) => {
                let parts = text.value.elements().map(|element| match element {
                    InterpolatedStringElement::Literal(text) => {
                        Some(vec![NamePart::Text(text.to_string())])
                    }
                    InterpolatedStringElement::Interpolation(part) => {
                        let plain = part.format_spec.is_none();
                        plain.then(|| self.parts(&part.expression, depth))?
                    }
                });
                let parts: Option<Vec<Vec<NamePart>>> = parts.collect();
                parts.map(|parts| parts.into_iter().flatten().collect())
            }
            Expr::Name(name) if matches!(name.id.as_str(), "__name__" | "__package__") => {
                let package = self.graph.package_of(self.module);
                Some(vec![NamePart::Text(package.to_owned())])
            }
            Expr::Name(name) if depth < 4 => {
                let value = self.values.get(name.id.as_str()).copied()??;
                self.parts(value, depth + 1)
            }
            _ => None,
        }
    }

    /// Notes what a call of `import_module` can import.
    fn imports(&mut self, call: &'t ast::ExprCall) {
        let parts = call.arguments.args.first();
        let Some(parts) = parts.and_then(|argument| self.parts(argument, 0)) else {
            self.unknown = true;
            return;
        };
        let asked = parts.iter().any(|part| matches!(part, NamePart::Asked));
        match self.held_against.last().filter(|_| asked) {
            Some(names) => {
                let names: Vec<String> = names.iter().map(|name| spelled(&parts, name)).collect();
                let package = self.graph.package_of(self.module);
                let full = names.iter().filter_map(|name| absolute(name, package));
                self.reach.imported.extend(full);
            }
            // What a literal names follows, or is told where it stands.
            None => self.unknown |= asked,
        }
    }

    /// Notes the module of which a name is read that is no literal.
    fn reads(&mut self, of: &'t Expr) {
        match self.module_read(of, 0) {
            Some(Some(module)) => self.reach.read.push(module),
            Some(None) => {}
            None => self.unknown = true,
        }
    }

    /// The module that an expression gives: none of the tree, or not known.
    fn module_read(&self, of: &'t Expr, depth: usize) -> Option<Option<usize>> {
        match of {
            Expr::Subscript(place) if last_name(&place.value) == Some("modules") => {
                match literal_text(&place.slice) {
                    Some(name) => self.module_named(name),
                    None => {
                        let own = place.slice.as_name_expr().map(|name| name.id.as_str());
                        (own == Some("__name__")).then_some(Some(self.module))
                    }
                }
            }
            Expr::Call(call) if last_name(&call.func) == Some("import_module") => {
                let name = call.arguments.args.first().and_then(literal_text)?;
                let package = self.graph.package_of(self.module);
                self.module_named(&absolute(name, package)?)
            }
            Expr::Name(name) if depth < 4 => {
                let name = name.id.as_str();
                if let Some(value) = self.values.get(name) {
                    return self.module_read((*value)?, depth + 1);
                }
                match self.imports.get(name) {
                    Some(full) => self.module_named(full),
                    None => self.entity_read(self.graph.member(self.module, name)),
                }
            }
            Expr::Attribute(_) => {
                let chain = chain(of)?;
                let found = self.graph.find(Some(self.module), &chain.join("."));
                found.map(Some)
            }
            _ => None,
        }
    }

    fn entity_read(&self, entity: Entity) -> Option<Option<usize>> {
        match entity {
            Entity::Module(module) => Some(Some(module)),
            Entity::External => Some(None),
            _ => None,
        }
    }

    /// The module of a name; none of the tree where it begins as no module of it does.
    fn module_named(&self, name: &str) -> Option<Option<usize>> {
        if let Some(found) = self.graph.find(None, name) {
            return Some(Some(found));
        }
        let top = name.split('.').next().unwrap_or(name);
        let own = self.graph.find(None, top).is_some() || self.graph.is_namespace(top);
        (!own).then_some(None)
    }

    fn call(&mut self, call: &'t ast::ExprCall) {
        let arguments = &call.arguments;
        let function = last_name(&call.func).unwrap_or_default();
        match (function, &*arguments.args) {
            ("import_module", _) => self.imports(call),
            ("getattr" | "getattr_static", [of, name, ..]) => {
                if literal_text(name).is_none() {
                    self.reads(of);
                }
            }
            // What was found is kept in the module itself.
            ("setattr", [of, name, _]) if self.is_asked(name) => {
                self.unknown |= self.module_read(of, 0) != Some(Some(self.module));
            }
            (function, _) if LOADING_ANYTHING.contains(&function) => self.unknown = true,
            (function, _) if LOADING_NOTHING.contains(&function) => {}
            _ => {
                let keywords = arguments.keywords.iter().map(|each| &each.value);
                let mut given = arguments.args.iter().chain(keywords);
                self.unknown |= given.any(|given| self.hands_on(given));
            }
        }
    }

    /// Whether an argument may be the name, or that of a module made of it: a sentence is none.
    fn hands_on(&self, given: &'t Expr) -> bool {
        let Some(parts) = self.parts(given, 0) else {
            return given.is_starred_expr();
        };
        let sentence = parts
            .iter()
            .any(|part| matches!(part, NamePart::Text(text) if text.contains(' ')));
        !sentence && parts.iter().any(|part| matches!(part, NamePart::Asked))
    }

    fn bind(&mut self, target: &'t Expr, value: Option<&'t Expr>) {
        match target {
            Expr::Name(name) => {
                let name = name.id.as_str();
                self.unknown |= name == self.parameter;
                let known = self.values.contains_key(name);
                self.values.insert(name, value.filter(|_| !known));
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().for_each(|one| self.bind(one, None));
            }
            _ => {}
        }
    }

    fn import_names(&mut self, statement: &'t Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let full = alias.name.as_str();
                    let (bound, full) = match &alias.asname {
                        Some(bound) => (bound.as_str(), full),
                        None => {
                            let top = full.split('.').next().unwrap_or(full);
                            (top, top)
                        }
                    };
                    self.imports.insert(bound.to_owned(), full.to_owned());
                }
            }
            Stmt::ImportFrom(import) => {
                let from = FromPart {
                    level: import.level,
                    module: import.module.as_deref().unwrap_or_default().to_owned(),
                    span: ByteSpan::empty(0),
                };
                let Some(base) = from.absolute(self.graph.package_of(self.module)) else {
                    return;
                };
                for alias in &import.names {
                    let bound = alias.asname.as_ref().unwrap_or(&alias.name);
                    let full = format!("{base}.{}", alias.name);
                    self.imports.insert(bound.to_string(), full);
                }
            }
            _ => {}
        }
    }

    fn condition(&mut self, block: &'t ast::StmtIf) {
        let clauses = block.elif_else_clauses.iter();
        let clauses = clauses.map(|clause| (clause.test.as_ref(), &clause.body));
        let branches = [(Some(&*block.test), &block.body)]
            .into_iter()
            .chain(clauses);
        for (test, body) in branches {
            let held = test.and_then(|test| {
                self.visit_expr(test);
                self.held(test, [CmpOp::In, CmpOp::Eq])
            });
            let depth = self.held_against.len();
            self.held_against.extend(held);
            self.visit_body(body);
            self.held_against.truncate(depth);
        }
        // `if name not in NAMES: raise …` holds for all that follows.
        let raises = matches!(block.body.last(), Some(Stmt::Raise(_)));
        if raises && block.elif_else_clauses.is_empty() {
            let held = self.held(&block.test, [CmpOp::NotIn, CmpOp::NotEq]);
            self.held_against.extend(held);
        }
    }
}

impl<'t> Visitor<'t> for Search<'t> {
    fn visit_stmt(&mut self, statement: &'t Stmt) {
        if let Stmt::If(block) = statement {
            return self.condition(block);
        }
        self.import_names(statement);
        for (target, value) in given(statement) {
            self.bind(target, value);
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'t Expr) {
        match expression {
            Expr::Name(name) => self.names.push(name.id.as_str()),
            Expr::Call(call) => self.call(call),
            Expr::Named(named) => self.bind(&named.target, Some(&named.value)),
            Expr::Subscript(place) => {
                let asked = self.is_asked(&place.slice);
                self.unknown |= asked && last_name(&place.value) == Some("__dict__");
                self.unknown |= last_name(&place.value) == Some("modules")
                    && self.module_read(expression, 0).is_none();
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

/// A text with the name that is asked for in its place.
fn spelled(parts: &[NamePart], name: &str) -> String {
    let parts = parts.iter().map(|part| match part {
        NamePart::Text(text) => text.as_str(),
        NamePart::Asked => name,
    });
    parts.collect()
}

/// The full name that a text means in a package.
fn absolute(text: &str, package: &str) -> Option<String> {
    FromPart::of_text(text, ByteSpan::empty(0)).absolute(package)
}

/// What a statement gives a value, with nothing for what is no plain one.
pub(super) fn given(statement: &Stmt) -> Vec<(&Expr, Option<&Expr>)> {
    match statement {
        Stmt::Assign(assign) => {
            let targets = assign.targets.iter();
            targets
                .map(|target| (target, Some(&*assign.value)))
                .collect()
        }
        Stmt::AnnAssign(assign) => vec![(&*assign.target, assign.value.as_deref())],
        Stmt::AugAssign(assign) => vec![(&*assign.target, None)],
        Stmt::For(found) => vec![(&*found.target, None)],
        _ => Vec::new(),
    }
}
