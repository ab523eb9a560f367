//! Which calls are known to do nothing but give a value: of what this library knows, and of functions of the tree
//! whose own calls are.

use std::cell::OnceCell;

use ruff_python_ast::{
    self as ast, ExceptHandler, Expr, Stmt,
    visitor::{self, Visitor},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    at_import::AtImport,
    effects::{is_constant, is_plain_call, takes_classes},
    recursive::{MAXIMUM_DEPTH, RecursiveVerdicts},
};
use crate::{
    analysis::predicates::chain,
    facts::{ImportStatement, Leaf},
    graph::Entity,
};

/// Libraries whose functions and classes do nothing but give a value.
const LIBRARIES: [&str; 52] = [
    "abc",
    "argparse",
    "array",
    "ast",
    "attr",
    "attrs",
    "base64",
    "binascii",
    "bisect",
    "cmath",
    "collections",
    "colorsys",
    "contextlib",
    "contextvars",
    "copy",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "errno",
    "fnmatch",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "html",
    "inspect",
    "itertools",
    "keyword",
    "math",
    "numbers",
    "operator",
    "packaging",
    "pathlib",
    "platform",
    "pprint",
    "pydantic",
    "queue",
    "re",
    "shlex",
    "statistics",
    "string",
    "struct",
    "textwrap",
    "threading",
    "time",
    "traceback",
    "types",
    "typing",
    "typing_extensions",
    "weakref",
];

/// Functions of other libraries that do nothing but give a value.
const FUNCTIONS: [&str; 35] = [
    "ctypes.CFUNCTYPE",
    "ctypes.POINTER",
    "ctypes.Structure",
    "ctypes.Union",
    "ctypes.byref",
    "ctypes.cast",
    "ctypes.sizeof",
    "importlib.util.find_spec",
    "json.dumps",
    "json.loads",
    "lazy_loader.attach",
    "lazy_loader.attach_stub",
    "lazy_loader.load",
    "logging.Formatter",
    "logging.Logger",
    "logging.NullHandler",
    "logging.getLevelName",
    "logging.getLogger",
    "numba.njit",
    "numba.jit",
    "numba.vectorize",
    "os.cpu_count",
    "os.environ.get",
    "os.fspath",
    "os.getcwd",
    "os.getenv",
    "random.Random",
    "rich.repr.auto",
    "rich.repr.rich_repr",
    "sys.getsizeof",
    "sys.intern",
    "uuid.UUID",
    "uuid.uuid1",
    "uuid.uuid4",
    "numba.generated_jit",
];

/// What of NumPy does more than that.
const NUMPY: [&str; 12] = [
    "load",
    "save",
    "fromfile",
    "memmap",
    "genfromtxt",
    "set",
    "random",
    "ctypeslib",
    "testing",
    "DataSource",
    "get_include",
    "f2py",
];

/// Built-in functions that do more than give a value.
const BUILTINS: [&str; 8] = [
    "__import__",
    "breakpoint",
    "compile",
    "eval",
    "exec",
    "input",
    "open",
    "print",
];

/// Methods that change or read nothing but what they belong to, whatever that is.
const METHODS: [&str; 72] = [
    "absolute",
    "add",
    "addFilter",
    "addHandler",
    "add_argument",
    "add_argument_group",
    "add_parser",
    "add_subparsers",
    "append",
    "as_posix",
    "astype",
    "copy",
    "count",
    "decode",
    "difference",
    "discard",
    "encode",
    "endswith",
    "expanduser",
    "extend",
    "find",
    "format",
    "fromkeys",
    "get",
    "getLogger",
    "index",
    "insert",
    "intersection",
    "is_absolute",
    "isdigit",
    "isidentifier",
    "isupper",
    "items",
    "join",
    "joinpath",
    "keys",
    "lower",
    "lstrip",
    "map",
    "match",
    "maketrans",
    "most_common",
    "partition",
    "pop",
    "ravel",
    "relative_to",
    "remove",
    "removeprefix",
    "removesuffix",
    "replace",
    "reshape",
    "resolve",
    "reverse",
    "rpartition",
    "rsplit",
    "rstrip",
    "search",
    "setLevel",
    "set_defaults",
    "setdefault",
    "sort",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "title",
    "tobytes",
    "tolist",
    "translate",
    "union",
    "update",
    "upper",
];

/// Methods more of the same.
const MORE_METHODS: [&str; 10] = [
    "values",
    "with_name",
    "with_suffix",
    "zfill",
    "transpose",
    "sum",
    "min",
    "max",
    "mean",
    "hexdigest",
];

/// The names of a function, by whether they are its parameters.
#[derive(Clone, Default)]
pub(super) struct Locals {
    names: FxHashSet<String>,
    /// The class whose method it is, and where.
    class: Option<(usize, String)>,
}

/// What is known of calls.
pub(super) struct Verdicts<'r, 'g> {
    reader: &'r AtImport<'g>,
    /// Whether a `raise` in what is called counts.
    raises: bool,
    known: RecursiveVerdicts,
    /// Names of classes that some class has beside others, and of those above them.
    mixed: OnceCell<FxHashSet<String>>,
}

impl<'r, 'g> Verdicts<'r, 'g> {
    pub fn new(reader: &'r AtImport<'g>, raises: bool) -> Self {
        Self {
            reader,
            raises,
            known: RecursiveVerdicts::default(),
            mixed: OnceCell::new(),
        }
    }

    /// Whether a call is known to do nothing else.
    pub fn is_harmless(&self, module: usize, call: &ast::ExprCall, locals: &Locals) -> bool {
        self.takes_own_class(module, call) || self.called(module, &call.func, locals)
    }

    /// `PathLike.register(Path)` of a class of the module, of which nobody has an object yet.
    fn takes_own_class(&self, module: usize, call: &ast::ExprCall) -> bool {
        let [Expr::Name(class)] = &*call.arguments.args else {
            return false;
        };
        let found = chain(&call.func).map(|chain| self.root(module, &chain));
        matches!(found, Some(ChainRoot::Outside(name)) if takes_classes(&name))
            && self.defines_class(module, &class.id)
    }

    /// Whether a name of a module is that of a class that it defines, and of nothing else.
    fn defines_class(&self, module: usize, name: &str) -> bool {
        let own = self.reader.graph.member(module, name);
        let is_own = matches!(own, Entity::Item(home, item) if home == module && item == name);
        let Some(source) = self.reader.source(module).filter(|_| is_own) else {
            return false;
        };
        let mut found = Vec::new();
        collect(source.statements(), name, &mut found);
        !found.is_empty() && found.iter().all(|one| matches!(one, Stmt::ClassDef(_)))
    }

    /// Whether a decorator is: made by a call, or not.
    pub fn decorates_harmlessly(&self, module: usize, decorator: &Expr) -> bool {
        let called = match decorator {
            Expr::Call(call) => &call.func,
            other => other,
        };
        // `@name.setter`
        if let Expr::Attribute(attribute) = called
            && matches!(attribute.attr.as_str(), "setter" | "getter" | "deleter")
        {
            return true;
        }
        self.called(module, called, &Locals::default())
    }

    /// Whether a place belongs to something that the module has not made.
    pub fn is_of_others(&self, module: usize, place: &Expr) -> bool {
        let Some(chain) = chain(place) else {
            return false;
        };
        matches!(
            self.root(module, &chain),
            ChainRoot::Outside(_) | ChainRoot::Module
        )
    }

    /// Whether it is the table of the environment.
    pub fn is_environment(&self, module: usize, place: &Expr) -> bool {
        let outside = chain(place).map(|chain| self.root(module, &chain));
        matches!(outside, Some(ChainRoot::Outside(name)) if name == "os.environ")
    }

    fn called(&self, module: usize, func: &Expr, locals: &Locals) -> bool {
        let Some(chain) = chain(func) else {
            return self.called_expression(module, func, locals);
        };
        let Some((first, rest)) = chain.split_first() else {
            return false;
        };
        if matches!(first.as_str(), "self" | "cls") || locals.names.contains(first) {
            return self.called_local(first, rest, locals);
        }
        match self.root(module, &chain) {
            ChainRoot::Builtin => match rest {
                [] => !BUILTINS.contains(&first.as_str()),
                [.., method] => is_quiet_method(method),
            },
            ChainRoot::Outside(name) => is_quiet(&name),
            ChainRoot::Defined(home, name) => self.definition(home, &name),
            ChainRoot::Member(home, class, method) => self
                .method(home, &class, &method)
                .unwrap_or_else(|| is_quiet_method(&method)),
            ChainRoot::Module | ChainRoot::Unknown => false,
        }
    }

    /// Whether calling what is no chain of names is harmless.
    fn called_expression(&self, module: usize, func: &Expr, locals: &Locals) -> bool {
        match func {
            Expr::Attribute(method) => match (&*method.value, &locals.class) {
                (Expr::Call(above), Some((home, class))) if is_super(above) => {
                    self.inherited(*home, class, &method.attr)
                }
                _ => is_quiet_method(&method.attr),
            },
            // A decorator that a call makes is what the call gives.
            Expr::Call(call) => self.called(module, &call.func, locals),
            _ => false,
        }
    }

    /// Whether calling a method of what a local name has is.
    fn called_local(&self, first: &str, rest: &[String], locals: &Locals) -> bool {
        let class = locals.class.as_ref();
        let own = class.filter(|_| matches!(first, "self" | "cls"));
        match (own, rest) {
            (Some((home, class)), [method]) => self
                .method(*home, class, method)
                .unwrap_or_else(|| is_quiet_method(method)),
            (None | Some(_), [.., method]) => is_quiet_method(method),
            _ => false,
        }
    }

    /// What a chain of names leads to.
    fn root(&self, module: usize, chain: &[String]) -> ChainRoot {
        let graph = self.reader.graph;
        let Some((first, mut rest)) = chain.split_first() else {
            return ChainRoot::Unknown;
        };
        if !graph.binds(module, first) && crate::rewrite::is_builtin(first) {
            return ChainRoot::Builtin;
        }
        let mut entity = graph.member(module, first);
        let mut outside = (module, first.as_str());
        while let (Entity::Module(target), Some((next, others))) = (&entity, rest.split_first()) {
            outside = (*target, next);
            entity = graph.member(*target, next);
            rest = others;
        }
        match entity {
            Entity::Item(home, name) => match rest {
                [] => ChainRoot::Defined(home, name),
                [.., method] => ChainRoot::Member(home, name, method.clone()),
            },
            Entity::External => self.outside_root(outside, rest),
            Entity::Module(_) => ChainRoot::Module,
            Entity::Missing | Entity::Opaque => ChainRoot::Unknown,
        }
    }

    /// What a chain of names is that goes on with `rest` below what an import of a library brings.
    fn outside_root(&self, (module, name): (usize, &str), rest: &[String]) -> ChainRoot {
        let Some(name) = self.outside(module, name, 0) else {
            return ChainRoot::Unknown;
        };
        let all = std::iter::once(name).chain(rest.iter().cloned());
        ChainRoot::Outside(all.collect::<Vec<_>>().join("."))
    }

    /// The full name of what an import brings from outside of the tree. Of several that bind the name by turns it is one that
    /// may do something, if any may.
    pub fn outside(&self, module: usize, name: &str, depth: usize) -> Option<String> {
        let facts = self.reader.graph.facts.get(module)?;
        let found = facts
            .imports
            .iter()
            .filter(|import| import.top_level)
            .filter_map(|import| {
                let leaf = import.leaves.iter().find(|leaf| leaf.bound() == name)?;
                Some((import, leaf))
            });
        let all = found.map(|(import, leaf)| self.brought((module, name), (import, leaf), depth));
        let all: Vec<Option<String>> = all.collect();
        let may_act = |full: &&Option<String>| !full.as_deref().is_some_and(is_plain_call);
        let several = all.iter().any(|full| Some(full) != all.first());
        let acting = all.iter().filter(|_| several).find(may_act);
        acting.or_else(|| all.first())?.clone()
    }

    /// The full name of what one import brings.
    fn brought(
        &self,
        (module, name): (usize, &str),
        (import, leaf): (&ImportStatement, &Leaf),
        depth: usize,
    ) -> Option<String> {
        match &import.from {
            None if leaf.alias.is_some() => Some(leaf.name.text.clone()),
            None => Some(name.to_owned()),
            Some(from) => match self.reader.graph.base_module(module, import) {
                Some(next) if depth < MAXIMUM_DEPTH => {
                    self.outside(next, &leaf.name.text, depth + 1)
                }
                Some(_) => None,
                None if from.level == 0 => Some(format!("{}.{}", from.module, leaf.name.text)),
                None => None,
            },
        }
    }

    /// Whether calling a function or making an object of a class is.
    fn definition(&self, home: usize, name: &str) -> bool {
        self.known
            .decide((home, name.to_owned()), || self.read(home, name))
    }

    fn read(&self, home: usize, name: &str) -> bool {
        let Some(source) = self.reader.source(home) else {
            return false;
        };
        let mut found = Vec::new();
        collect(source.statements(), name, &mut found);
        !found.is_empty()
            && found.iter().all(|statement| match statement {
                Stmt::FunctionDef(function) => {
                    function
                        .decorator_list
                        .iter()
                        .all(|one| self.decorates_harmlessly(home, &one.expression))
                        && self.body(home, function, None)
                }
                Stmt::ClassDef(class) => self.class(home, class),
                _ => false,
            })
    }

    fn class(&self, home: usize, class: &ast::StmtClassDef) -> bool {
        let keywords = class.arguments.iter().flat_map(|all| all.keywords.iter());
        let mut made = class
            .bases()
            .iter()
            .chain(keywords.map(|keyword| &keyword.value));
        made.all(|base| self.is_quiet_base(home, base))
            && class
                .decorator_list
                .iter()
                .all(|one| self.decorates_harmlessly(home, &one.expression))
            && class.body.iter().all(|statement| match statement {
                Stmt::FunctionDef(method) if is_run_by_making(&method.name) => {
                    self.body(home, method, Some(&class.name))
                }
                _ => true,
            })
    }

    /// Whether nothing that a class is made of does anything with it.
    fn is_quiet_base(&self, home: usize, base: &Expr) -> bool {
        let base = without_parameters(base);
        match chain(base).map(|chain| self.root(home, &chain)) {
            Some(ChainRoot::Builtin) => true,
            Some(ChainRoot::Outside(name)) => is_quiet(&name),
            Some(ChainRoot::Defined(module, name)) => self.definition(module, &name),
            _ => base.is_literal_expr(),
        }
    }

    /// Whether a method of a class is; nothing where the class has none of that name itself.
    fn method(&self, home: usize, class: &str, method: &str) -> Option<bool> {
        let source = self.reader.source(home)?;
        let mut found = Vec::new();
        collect(source.statements(), class, &mut found);
        let Some(Stmt::ClassDef(found)) = found.into_iter().next() else {
            return None;
        };
        let mut methods = found.body.iter().filter_map(|statement| match statement {
            Stmt::FunctionDef(function) if function.name.as_str() == method => Some(function),
            _ => None,
        });
        let function = methods.next()?;
        let definition = (home, format!("{class}.{method}"));
        let read = || self.body(home, function, Some(class));
        Some(self.known.decide(definition, read))
    }

    /// Whether some class of the tree has this one beside others, itself or by one below it.
    pub fn is_mixed(&self, class: &str) -> bool {
        self.mixed().contains(class)
    }

    /// Names of classes that some class of the tree has beside others, and of those above them: which class follows one
    /// of these is for the class to say that is made. By names, since more are only more doubt.
    fn mixed(&self) -> &FxHashSet<String> {
        self.mixed.get_or_init(|| {
            let all: Vec<(String, Vec<String>)> = self
                .reader
                .graph
                .facts
                .iter()
                .flat_map(|facts| facts.flow.bases())
                .collect();
            let beside_others = all.iter().filter(|(_, bases)| bases.len() > 1);
            let mut open: Vec<&String> = beside_others.flat_map(|(_, bases)| bases).collect();
            let mut above: FxHashMap<&str, Vec<&String>> = FxHashMap::default();
            for (class, bases) in &all {
                above.entry(class).or_default().extend(bases);
            }
            let mut mixed = FxHashSet::default();
            while let Some(class) = open.pop() {
                if mixed.insert(class.clone()) {
                    open.extend(above.get(class.as_str()).into_iter().flatten());
                }
            }
            mixed
        })
    }

    /// Whether a method that a class has from those above it is: of the first that has it, else of Python itself.
    fn inherited(&self, home: usize, class: &str, method: &str) -> bool {
        if self.mixed().contains(class) {
            return false;
        }
        let Some(source) = self.reader.source(home) else {
            return false;
        };
        let mut found = Vec::new();
        collect(source.statements(), class, &mut found);
        let [Stmt::ClassDef(class)] = found.as_slice() else {
            return false;
        };
        // Which of several comes first is for all of them to say: each has to be.
        let mut bases = class.bases().iter();
        let all = || bases.all(|base| self.has_harmless(home, base, method));
        self.known.deeper(all).unwrap_or(false)
    }

    /// Whether a method that a base has is harmless.
    fn has_harmless(&self, home: usize, base: &Expr, method: &str) -> bool {
        let base = without_parameters(base);
        match chain(base).map(|chain| self.root(home, &chain)) {
            Some(ChainRoot::Builtin) => true,
            Some(ChainRoot::Outside(name)) => is_quiet(&name),
            Some(ChainRoot::Defined(module, name)) => self
                .method(module, &name, method)
                .unwrap_or_else(|| self.inherited(module, &name, method)),
            _ => false,
        }
    }

    fn body(&self, home: usize, function: &ast::StmtFunctionDef, class: Option<&str>) -> bool {
        let mut names = CalledNames::default();
        names.visit_body(&function.body);
        let parameters = function.parameters.iter();
        names
            .found
            .extend(parameters.map(|one| one.name().to_string()));
        let mut body = Body {
            verdicts: self,
            home,
            locals: Locals {
                names: names.found,
                class: class.map(|class| (home, class.to_owned())),
            },
            harmless: true,
        };
        body.visit_body(&function.body);
        body.harmless
    }
}

/// What a chain of names leads to.
enum ChainRoot {
    Builtin,
    /// By its full name.
    Outside(String),
    Defined(usize, String),
    /// An attribute of something that is defined.
    Member(usize, String, String),
    Module,
    Unknown,
}

/// Methods that making an object runs.
fn is_run_by_making(name: &str) -> bool {
    matches!(
        name,
        "__init__"
            | "__new__"
            | "__post_init__"
            | "__init_subclass__"
            | "__call__"
            | "__enter__"
            | "__exit__"
    )
}

/// `super()`, which is the class above the one whose method this is.
fn is_super(call: &ast::ExprCall) -> bool {
    call.arguments.is_empty()
        && matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "super")
}

pub(super) fn is_quiet_method(name: &str) -> bool {
    METHODS.contains(&name) || MORE_METHODS.contains(&name)
}

/// Whether a function or class outside of the tree does nothing but give a value.
pub(super) fn is_quiet(name: &str) -> bool {
    let (library, rest) = name.split_once('.').unwrap_or((name, ""));
    let last = name.rsplit('.').next().unwrap_or(name);
    if let Some((object, method)) = name.rsplit_once('.')
        && is_constant(object)
    {
        return is_quiet_method(method);
    }
    match library {
        "numpy" => !NUMPY.iter().any(|start| rest.starts_with(start)),
        "os" if rest.starts_with("path.") => true,
        "ctypes" if last.starts_with("c_") => true,
        "argparse" => last != "parse_args",
        "time" => last != "sleep",
        "pathlib" => rest.split('.').count() == 1 || is_quiet_method(last),
        _ => LIBRARIES.contains(&library) || FUNCTIONS.contains(&name),
    }
}

/// Definitions of a name at module level, also in blocks.
pub(super) fn collect<'s>(suite: &'s [Stmt], name: &str, found: &mut Vec<&'s Stmt>) {
    for statement in suite {
        match statement {
            _ if binds_itself(statement, name) => found.push(statement),
            Stmt::If(block) => {
                collect(&block.body, name, found);
                block
                    .elif_else_clauses
                    .iter()
                    .for_each(|clause| collect(&clause.body, name, found));
            }
            Stmt::Try(block) => collect_tried(block, name, found),
            _ => {}
        }
    }
}

fn collect_tried<'s>(block: &'s ast::StmtTry, name: &str, found: &mut Vec<&'s Stmt>) {
    collect(&block.body, name, found);
    collect(&block.orelse, name, found);
    for ExceptHandler::ExceptHandler(handler) in &block.handlers {
        collect(&handler.body, name, found);
    }
}

/// Whether a statement, and none in its blocks, defines a name or gives it a value.
fn binds_itself(statement: &Stmt, name: &str) -> bool {
    match statement {
        Stmt::FunctionDef(function) => function.name.as_str() == name,
        Stmt::ClassDef(class) => class.name.as_str() == name,
        Stmt::Assign(assign) => assign.targets.iter().any(|one| is_named(one, name)),
        Stmt::AnnAssign(assign) => is_named(&assign.target, name),
        _ => false,
    }
}

/// `Base[int]` without what stands in brackets.
fn without_parameters(base: &Expr) -> &Expr {
    match base {
        Expr::Subscript(generic) => &generic.value,
        other => other,
    }
}

pub(super) fn is_named(target: &Expr, name: &str) -> bool {
    matches!(target, Expr::Name(found) if found.id.as_str() == name)
}

/// Names that a function binds.
#[derive(Default)]
pub(super) struct CalledNames {
    pub found: FxHashSet<String>,
}

impl<'a> Visitor<'a> for CalledNames {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => drop(self.found.insert(function.name.to_string())),
            Stmt::ClassDef(class) => drop(self.found.insert(class.name.to_string())),
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression
            && name.ctx.is_store()
        {
            self.found.insert(name.id.to_string());
        }
        visitor::walk_expr(self, expression);
    }
}

/// Whether what a function does when it is called is harmless.
struct Body<'v, 'r, 'g> {
    verdicts: &'v Verdicts<'r, 'g>,
    home: usize,
    locals: Locals,
    harmless: bool,
}

impl Body<'_, '_, '_> {
    /// Whether nothing of others is changed where a target is set.
    fn sets_harmlessly(&self, target: &Expr) -> bool {
        let place = match target {
            Expr::Subscript(subscript) => &subscript.value,
            Expr::Attribute(attribute) => &attribute.value,
            _ => return true,
        };
        let root = chain(place);
        let local = root
            .as_ref()
            .and_then(|chain| chain.first())
            .is_some_and(|first| self.locals.names.contains(first));
        local || !self.verdicts.is_of_others(self.home, place)
    }
}

impl<'a> Visitor<'a> for Body<'_, '_, '_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            // What is defined inside runs when it is called, which is a call of a local name.
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.harmless = false,
            Stmt::Raise(_) if self.verdicts.raises => self.harmless = false,
            Stmt::Assign(assign) => {
                let sets = assign.targets.iter().all(|one| self.sets_harmlessly(one));
                self.harmless &= sets;
                visitor::walk_stmt(self, statement);
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Lambda(_) => return,
            Expr::Call(call) => {
                self.harmless &= self.verdicts.is_harmless(self.home, call, &self.locals);
            }
            Expr::Subscript(subscript) => {
                self.harmless &= !self.verdicts.is_environment(self.home, &subscript.value);
            }
            _ => {}
        }
        if self.harmless {
            visitor::walk_expr(self, expression);
        }
    }
}
