//! Whether it may matter that modules are executed later than they were: an import that waits in functions runs what it
//! names when one of them is called, and others have set values, the environment or what a library keeps by then.
//!
//! Known to be the same are definitions, values that are made of what does not change, and classes of which no base is
//! told. All else is a reason.

use coalesce_model::Texts;
use ruff_python_ast::{
    self as ast, ExceptHandler, Expr, Stmt,
    visitor::{self, Visitor},
};
use rustc_hash::FxHashSet;

use super::{
    Effects, Imports, ModuleSet,
    at_import::{AtImport, bound_by},
    harmless::{CalledNames, ChainRoot, Verdicts, chain, collect, is_quiet, is_run_by_making},
    recursive::RecursiveVerdicts,
    timeless::{does_something, is_fixed, is_same_at_any_time, is_same_builtin, is_same_method},
};
use crate::{
    analysis::predicates::{is_run_as_program, is_type_checking},
    facts::{ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
    names::occurrences_of_word,
    requirements::standard::is_standard,
    rewrite::set_somewhere,
};

/// An import statement that waits: its module and its number there.
type Statement = (usize, u32);

/// Why it may matter that these imports wait, of the first module where it may.
pub fn matters_later(
    graph: &PythonGraph,
    texts: &dyn Texts,
    waiting: &[Statement],
) -> Option<(usize, String)> {
    let (with, without) = (Imports::new(graph), Imports::without(graph, waiting));
    let effects = Effects::new(graph, texts);
    let reader = AtImport::new(graph, texts);
    let own: FxHashSet<usize> = waiting.iter().map(|(module, _)| *module).collect();
    let mut own: Vec<usize> = own.into_iter().collect();
    own.sort_unstable();
    own.into_iter().find_map(|module| {
        let [mut ran, mut runs] = [(); 2].map(|()| ModuleSet::none(graph.modules.len()));
        with.run(module, &mut ran);
        without.run(module, &mut runs);
        let comparison = LaterExecution {
            graph,
            texts,
            effects: &effects,
            verdicts: Verdicts::new(&reader, true),
            reader: &reader,
            loaded: libraries(graph, &runs),
            known: RecursiveVerdicts::default(),
        };
        let mut later = ran.members().filter(|module| !runs.has(*module));
        later.find_map(|module| Some((module, comparison.reason(module)?)))
    })
}

/// The full names of what modules import from outside of the tree.
fn libraries(graph: &PythonGraph, modules: &ModuleSet) -> FxHashSet<String> {
    let facts = modules
        .members()
        .filter_map(|module| graph.facts.get(module));
    let imports = facts.flat_map(|facts| &facts.imports);
    let mut names = FxHashSet::default();
    for import in imports.filter(|import| is_executed(import)) {
        for leaf in &import.leaves {
            let full = match &import.from {
                None => leaf.name.text.clone(),
                Some(from) if from.level == 0 => {
                    names.insert(from.module.clone());
                    format!("{}.{}", from.module, leaf.name.text)
                }
                Some(_) => continue,
            };
            let ends = full.match_indices('.').map(|(at, _)| at);
            names.extend(ends.filter_map(|end| full.get(..end)).map(str::to_owned));
            names.insert(full);
        }
    }
    names
}

fn is_executed(import: &ImportStatement) -> bool {
    import.eager && import.guard != coalesce_model::Guard::TypeChecking && !import.lazy
}

/// What is executed later.
struct LaterExecution<'r, 'g> {
    graph: &'g PythonGraph,
    texts: &'g dyn Texts,
    effects: &'r Effects<'g>,
    verdicts: Verdicts<'r, 'g>,
    reader: &'r AtImport<'g>,
    /// What is imported from outside of the tree by then in any case.
    loaded: FxHashSet<String>,
    /// Definitions that are known to be the same at any time.
    known: RecursiveVerdicts,
}

impl LaterExecution<'_, '_> {
    /// Why it may matter when a module is executed.
    fn reason(&self, module: usize) -> Option<String> {
        let own = self.graph.modules.get(module)?;
        if own.path.extension() == Some("pyi") {
            return None;
        }
        let Some(source) = self.reader.source(module) else {
            return Some("it cannot be read".to_owned());
        };
        let mut walker = Walker::new(self, module);
        walker.suite(source.statements());
        walker.reason
    }

    /// Whether the definition of a name is the same whenever it is called.
    fn is_timeless(&self, home: usize, name: &str) -> bool {
        self.known
            .decide((home, name.to_owned()), || self.reads_nothing(home, name))
    }

    fn reads_nothing(&self, home: usize, name: &str) -> bool {
        let (Some(source), Some(facts)) = (self.reader.source(home), self.graph.facts.get(home))
        else {
            return false;
        };
        let mut found = Vec::new();
        collect(source.statements(), name, &mut found);
        let [found] = found.as_slice() else {
            return false;
        };
        !facts.storing_functions.iter().any(|one| one == name)
            && match found {
                Stmt::FunctionDef(function) => {
                    function.decorator_list.is_empty() && self.is_same_body(home, function)
                }
                Stmt::ClassDef(class) => self.is_same_class(home, class),
                _ => false,
            }
    }

    fn is_same_body(&self, home: usize, function: &ast::StmtFunctionDef) -> bool {
        let mut names = CalledNames::default();
        names.visit_body(&function.body);
        let parameters = function.parameters.iter();
        names
            .found
            .extend(parameters.map(|one| one.name().to_string()));
        let mut walker = Walker::new(self, home);
        walker.own = FxHashSet::default();
        walker.locals = names.found;
        walker.function = true;
        walker.suite(&function.body);
        walker.reason.is_none()
    }

    /// Whether making an object of a class is the same at any time.
    fn is_same_class(&self, home: usize, class: &ast::StmtClassDef) -> bool {
        let mut walker = Walker::new(self, home);
        walker.class_head(class);
        let is_plain = walker.reason.is_none()
            && class.bases().iter().all(|base| {
                match chain(base).map(|chain| self.verdicts.root(home, &chain)) {
                    Some(ChainRoot::Defined(module, name)) => self.is_timeless(module, &name),
                    _ => true,
                }
            });
        is_plain
            && class.body.iter().all(|statement| match statement {
                Stmt::FunctionDef(method)
                    if is_run_by_making(&method.name) || method.name.as_str() == "__set_name__" =>
                {
                    method.decorator_list.is_empty() && self.is_same_body(home, method)
                }
                _ => true,
            })
    }

    /// Whether a class is told of nothing, and nobody asks for it by those above it.
    fn is_untold(&self, home: usize, class: &str) -> bool {
        !self.effects.walked().contains(class)
            && !self.effects.hooks(home, class)
            && !self.effects.tells_a_base(home, class, 0)
            && self.has_known_bases(home, class)
    }

    /// Whether all classes above a class are of the tree, of Python, or of a library that keeps none.
    fn has_known_bases(&self, home: usize, class: &str) -> bool {
        let Some(source) = self.reader.source(home) else {
            return false;
        };
        let mut found = Vec::new();
        collect(source.statements(), class, &mut found);
        let [Stmt::ClassDef(class)] = found.as_slice() else {
            return false;
        };
        let read = || {
            let mut walker = Walker::new(self, home);
            walker.bases(class);
            walker.reason.is_none()
        };
        self.known.deeper(read).unwrap_or(false)
    }

    /// Whether a name of a module has one value that nobody sets anew; and, where what it holds is read, one that cannot be
    /// changed.
    fn is_constant(&self, home: usize, name: &str, read: bool) -> bool {
        let (Some(source), Some(own)) = (self.reader.source(home), self.graph.modules.get(home))
        else {
            return false;
        };
        let binding: Vec<&Stmt> = source.statements_binding(name).collect();
        let value = match binding.as_slice() {
            [Stmt::Assign(assign)] => &*assign.value,
            [Stmt::AnnAssign(assign)] => match &assign.value {
                Some(value) => &**value,
                None => return false,
            },
            _ => return false,
        };
        let text = self.texts.text(&own.path).unwrap_or_default();
        let declared = text
            .lines()
            .map(str::trim_start)
            .any(|line| line.starts_with("global ") && occurrences_of_word(line, name));
        let full = format!("{}.{name}", own.name);
        !declared && (!read || self.cannot_change(home, value)) && !set_somewhere(self.texts, &full)
    }

    /// Whether a value is a number, a text, or made of such.
    fn cannot_change(&self, home: usize, value: &Expr) -> bool {
        match value {
            Expr::Compare(_) => true,
            Expr::UnaryOp(one) => {
                one.op == ast::UnaryOp::Not || self.cannot_change(home, &one.operand)
            }
            Expr::BinOp(two) => {
                self.cannot_change(home, &two.left) && self.cannot_change(home, &two.right)
            }
            Expr::Tuple(all) => all.elts.iter().all(|one| self.cannot_change(home, one)),
            Expr::Call(call) => {
                let made = chain(&call.func).map(|chain| self.verdicts.root(home, &chain));
                match made {
                    Some(ChainRoot::Builtin) => matches!(
                        chain(&call.func).unwrap_or_default().as_slice(),
                        [name] if matches!(name.as_str(), "bool" | "float" | "frozenset" | "int" | "len" | "str")
                    ),
                    Some(ChainRoot::Outside(name)) => {
                        matches!(name.as_str(), "os.getenv" | "re.compile" | "typing.TypeVar")
                    }
                    _ => false,
                }
            }
            Expr::Attribute(_) | Expr::Name(_) => {
                let named = chain(value).map(|chain| self.verdicts.root(home, &chain));
                matches!(named, Some(ChainRoot::Outside(name)) if is_fixed(&name))
            }
            other => other.is_literal_expr() || matches!(other, Expr::FString(_)),
        }
    }

    /// Whether what is imported from outside of the tree is there by then, or changes nothing.
    fn is_loaded(&self, module: &str, leaf: Option<&str>) -> bool {
        let top = module.split('.').next().unwrap_or_default();
        if is_standard(top) {
            return !does_something(top);
        }
        let names_a_module = |leaf: &str| !leaf.contains(char::is_uppercase) && top != "numpy";
        self.loaded.contains(module)
            && leaf.is_none_or(|leaf| {
                !names_a_module(leaf) || self.loaded.contains(&format!("{module}.{leaf}"))
            })
    }
}

/// Goes through what is executed.
struct Walker<'l, 'r, 'g> {
    later: &'l LaterExecution<'r, 'g>,
    module: usize,
    /// Names that the module makes itself.
    own: FxHashSet<String>,
    /// Names of a function, a class or a comprehension.
    locals: FxHashSet<String>,
    /// Whether it is the body of a function.
    function: bool,
    reason: Option<String>,
}

impl<'l, 'r, 'g> Walker<'l, 'r, 'g> {
    fn new(later: &'l LaterExecution<'r, 'g>, module: usize) -> Self {
        let facts = later.graph.facts.get(module);
        let imported = facts.into_iter().flat_map(|facts| &facts.imports);
        let imported: FxHashSet<&str> = imported
            .filter(|import| import.top_level)
            .flat_map(|import| import.leaves.iter().map(Leaf::bound))
            .collect();
        let defined = later.graph.modules.get(module);
        let defined = defined.into_iter().flat_map(|own| &own.defines);
        Self {
            later,
            module,
            own: defined
                .filter(|name| !imported.contains(name.as_str()))
                .cloned()
                .collect(),
            locals: FxHashSet::default(),
            function: false,
            reason: None,
        }
    }

    fn tell(&mut self, reason: String) {
        self.reason.get_or_insert(reason);
    }

    fn suite(&mut self, suite: &[Stmt]) {
        suite.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.function_head(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Import(_) | Stmt::ImportFrom(_) if self.function => {
                self.tell("what it calls imports something".to_owned());
            }
            Stmt::Import(found) => {
                for alias in &found.names {
                    self.library(&alias.name, None);
                }
            }
            Stmt::ImportFrom(found) => self.brings(found),
            Stmt::Assign(assign) => {
                self.visit_expr(&assign.value);
                assign.targets.iter().for_each(|target| self.set(target));
            }
            Stmt::AugAssign(assign) => {
                self.visit_expr(&assign.value);
                self.set(&assign.target);
            }
            Stmt::AnnAssign(assign) => {
                assign.value.iter().for_each(|value| self.visit_expr(value));
                self.set(&assign.target);
            }
            Stmt::Delete(found) => found.targets.iter().for_each(|target| self.set(target)),
            Stmt::If(found) => self.branches(found),
            Stmt::Try(found) => {
                self.suite(&found.body);
                for ExceptHandler::ExceptHandler(handler) in &found.handlers {
                    self.suite(&handler.body);
                }
                self.suite(&found.orelse);
                self.suite(&found.finalbody);
            }
            Stmt::Raise(_) if self.function => visitor::walk_stmt(self, statement),
            Stmt::Raise(_) => self.tell("it may raise".to_owned()),
            Stmt::Global(_) | Stmt::Match(_) | Stmt::Nonlocal(_) => {
                self.tell("it sets or asks for what cannot be followed".to_owned());
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn branches(&mut self, found: &ast::StmtIf) {
        let skipped = is_type_checking(&found.test) || is_run_as_program(&found.test);
        if !skipped {
            self.visit_expr(&found.test);
            self.suite(&found.body);
        }
        for clause in &found.elif_else_clauses {
            clause.test.iter().for_each(|test| self.visit_expr(test));
            self.suite(&clause.body);
        }
    }

    fn function_head(&mut self, function: &ast::StmtFunctionDef) {
        for decorator in &function.decorator_list {
            self.decorator(&decorator.expression);
        }
        let defaults = function.parameters.iter_non_variadic_params();
        defaults
            .filter_map(|one| one.default.as_deref())
            .for_each(|one| self.visit_expr(one));
    }

    fn class(&mut self, class: &ast::StmtClassDef) {
        self.class_head(class);
        let mut names = Vec::new();
        class.body.iter().for_each(|one| bound_by(one, &mut names));
        let outer = self.locals.clone();
        self.locals.extend(names.into_iter().map(str::to_owned));
        self.suite(&class.body);
        self.locals = outer;
    }

    fn class_head(&mut self, class: &ast::StmtClassDef) {
        for decorator in &class.decorator_list {
            self.decorator(&decorator.expression);
        }
        self.bases(class);
    }

    /// Nobody is told of a class but for what is above it.
    fn bases(&mut self, class: &ast::StmtClassDef) {
        let keywords = class.arguments.iter().flat_map(|all| all.keywords.iter());
        let keywords = keywords.map(|keyword| &keyword.value);
        for base in class.bases().iter().chain(keywords) {
            let base = match base {
                Expr::Subscript(generic) => &generic.value,
                other => other,
            };
            let chain = chain(base);
            let root = chain
                .as_ref()
                .map(|chain| self.later.verdicts.root(self.module, chain));
            let untold = match root {
                Some(ChainRoot::Builtin) => true,
                Some(ChainRoot::Outside(name)) => is_quiet(&name),
                Some(ChainRoot::Defined(home, name)) => self.later.is_untold(home, &name),
                _ => base.is_literal_expr(),
            };
            if !untold {
                let named = chain.unwrap_or_default().join(".");
                self.tell(format!(
                    "it makes `{}` of `{named}`, which may keep it",
                    class.name
                ));
            }
        }
    }

    /// What stands on a definition.
    fn decorator(&mut self, decorator: &Expr) {
        // `@name.setter`
        if let Expr::Attribute(attribute) = decorator
            && matches!(attribute.attr.as_str(), "setter" | "getter" | "deleter")
        {
            return;
        }
        match decorator {
            Expr::Call(call) => {
                self.arguments(&call.arguments);
                self.called(&call.func);
            }
            other => self.called(other),
        }
    }

    fn arguments(&mut self, arguments: &ast::Arguments) {
        arguments.args.iter().for_each(|one| self.visit_expr(one));
        let keywords = arguments.keywords.iter();
        keywords.for_each(|one| self.visit_expr(&one.value));
    }

    /// `import library`, `from library import leaf`
    fn library(&mut self, module: &str, leaf: Option<&str>) {
        let top = module.split('.').next().unwrap_or_default();
        let own = self.later.graph.find(None, top).is_some();
        if !own && !self.later.is_loaded(module, leaf) {
            self.tell(format!(
                "it imports the library `{module}`, which need not be imported before"
            ));
        }
    }

    /// Names that an import brings: of the tree those that nobody sets anew.
    fn brings(&mut self, found: &ast::StmtImportFrom) {
        let graph = self.later.graph;
        let (Some(facts), Some(source)) = (
            graph.facts.get(self.module),
            self.later.reader.source(self.module),
        ) else {
            return;
        };
        let at = source.place(found);
        let Some(import) = facts.imports.iter().find(|import| import.span.start == at) else {
            return self.tell("it imports what cannot be followed".to_owned());
        };
        let base = graph.base_module(self.module, import);
        for leaf in &import.leaves {
            match (base, graph.leaf_entity(self.module, import, leaf)) {
                (_, Entity::Item(home, name)) => self.holds(home, &name, &leaf.name.text),
                (Some(base), Entity::Module(_)) if leaf.name.text == "*" => {
                    let exports = graph.modules.get(base).map(|base| &base.exports);
                    for name in exports.into_iter().flatten() {
                        if let Entity::Item(home, item) = graph.member(base, name) {
                            self.holds(home, &item, name);
                        }
                    }
                }
                (_, Entity::Module(_)) => {}
                (None, _) if found.level == 0 => {
                    let module = found.module.as_ref().map_or("", |module| module.as_str());
                    self.library(module, Some(&leaf.name.text));
                }
                _ => self.tell(format!(
                    "whether `{}` is the same cannot be read",
                    leaf.name.text
                )),
            }
        }
    }

    fn holds(&mut self, home: usize, item: &str, name: &str) {
        if !self.later.is_defined(home, item) && !self.later.is_constant(home, item, false) {
            self.tell(format!(
                "it takes `{name}`, which somebody may have set by then"
            ));
        }
    }

    /// `name = …` is its own affair, `other.name = …` is not.
    fn set(&mut self, target: &Expr) {
        match target {
            Expr::Name(_) => {}
            Expr::Tuple(all) => all.elts.iter().for_each(|one| self.set(one)),
            Expr::List(all) => all.elts.iter().for_each(|one| self.set(one)),
            Expr::Starred(one) => self.set(&one.value),
            other => {
                let place = match other {
                    Expr::Subscript(subscript) => &subscript.value,
                    Expr::Attribute(attribute) => &attribute.value,
                    _ => other,
                };
                let root = chain(place).and_then(|chain| chain.into_iter().next());
                if !root.is_some_and(|root| self.is_own(&root)) {
                    self.tell("it sets what is not its own".to_owned());
                }
            }
        }
    }

    fn is_own(&self, name: &str) -> bool {
        self.locals.contains(name) || self.own.contains(name)
    }

    /// A name is read, with its attributes.
    fn read(&mut self, chain: &[String]) {
        let Some(first) = chain.first() else { return };
        let dunder = first.starts_with("__") && first.ends_with("__");
        if self.is_own(first) || dunder {
            return;
        }
        let same = match self.later.verdicts.root(self.module, chain) {
            ChainRoot::Builtin | ChainRoot::Module => true,
            ChainRoot::Outside(name) => is_fixed(&name) || self.is_whole_library(chain),
            ChainRoot::Defined(home, name) => {
                self.later.is_defined(home, &name) || self.later.is_constant(home, &name, true)
            }
            ChainRoot::Member(home, class, _) => self.later.is_enumeration(home, &class),
            ChainRoot::Unknown => false,
        };
        if !same {
            self.tell(format!(
                "it reads `{}`, which may be something else by then",
                chain.join(".")
            ));
        }
    }

    /// Whether a name is that of a library as a whole.
    fn is_whole_library(&self, chain: &[String]) -> bool {
        let [name] = chain else { return false };
        let facts = self.later.graph.facts.get(self.module);
        let mut imports = facts.into_iter().flat_map(|facts| &facts.imports);
        imports.any(|import| {
            import.from.is_none() && import.leaves.iter().any(|leaf| leaf.bound() == name)
        })
    }

    /// Something is called, or stands on a definition.
    fn called(&mut self, func: &Expr) {
        let Some(chain) = chain(func) else {
            match func {
                Expr::Attribute(method) if is_same_method(&method.attr) => {
                    return self.visit_expr(&method.value);
                }
                _ => return self.tell("it calls what a call gives".to_owned()),
            }
        };
        let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
            return;
        };
        let method = chain.len() > 1;
        let same = if self.locals.contains(first) || (method && self.own.contains(first)) {
            method && is_same_method(last)
        } else {
            match self.later.verdicts.root(self.module, &chain) {
                ChainRoot::Builtin if method => is_same_method(last),
                ChainRoot::Builtin => is_same_builtin(first),
                ChainRoot::Outside(name) => is_same_at_any_time(&name),
                ChainRoot::Defined(home, name) => self.later.is_timeless(home, &name),
                ChainRoot::Member(..) | ChainRoot::Module | ChainRoot::Unknown => false,
            }
        };
        if !same {
            self.tell(format!(
                "it calls `{}`, which may do or give something else by then",
                chain.join(".")
            ));
        }
    }
}

impl LaterExecution<'_, '_> {
    /// Whether what a class has stays as it is: the members of an enumeration.
    fn is_enumeration(&self, home: usize, class: &str) -> bool {
        let Some(source) = self.reader.source(home) else {
            return false;
        };
        let mut found = Vec::new();
        collect(source.statements(), class, &mut found);
        let is_enumeration = |base: &Expr| {
            let named = chain(base).map(|chain| self.verdicts.root(home, &chain));
            matches!(named, Some(ChainRoot::Outside(name)) if name.starts_with("enum."))
        };
        matches!(found.as_slice(), [Stmt::ClassDef(class)] if class.bases().iter().any(is_enumeration))
            && self.is_defined(home, class)
    }

    /// Whether a name is that of a function or class, and of nothing else.
    fn is_defined(&self, home: usize, name: &str) -> bool {
        let Some(source) = self.reader.source(home) else {
            return false;
        };
        let mut binding = source.statements_binding(name).peekable();
        let full = (self.graph.modules.get(home)).map(|own| format!("{}.{name}", own.name));
        binding.peek().is_some()
            && binding.all(|one| matches!(one, Stmt::FunctionDef(_) | Stmt::ClassDef(_)))
            && full.is_some_and(|full| !set_somewhere(self.texts, &full))
    }
}

impl<'a> Visitor<'a> for Walker<'_, '_, '_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.statement(statement);
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Lambda(lambda) => {
                let parameters = lambda.parameters.iter();
                let defaults = parameters.flat_map(|all| all.iter_non_variadic_params());
                let defaults = defaults.filter_map(|one| one.default.as_deref());
                defaults.for_each(|one| self.visit_expr(one));
            }
            Expr::Name(name) if !name.ctx.is_load() => {
                self.locals.insert(name.id.to_string());
            }
            Expr::Name(_) | Expr::Attribute(_) => match chain(expression) {
                Some(chain) => self.read(&chain),
                None => visitor::walk_expr(self, expression),
            },
            Expr::Call(call) => {
                self.called(&call.func);
                self.arguments(&call.arguments);
            }
            Expr::ListComp(found) => self.comprehension(&found.generators, &[&found.elt]),
            Expr::SetComp(found) => self.comprehension(&found.generators, &[&found.elt]),
            Expr::Generator(found) => self.comprehension(&found.generators, &[&found.elt]),
            Expr::DictComp(found) => {
                let key = found.key.as_deref();
                let given: Vec<&Expr> = key.into_iter().chain([&*found.value]).collect();
                self.comprehension(&found.generators, &given);
            }
            Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.tell("it waits for something".to_owned());
            }
            _ => visitor::walk_expr(self, expression),
        }
    }
}

impl Walker<'_, '_, '_> {
    /// The names of a comprehension are bound before what it gives is read.
    fn comprehension(&mut self, generators: &[ast::Comprehension], given: &[&Expr]) {
        let outer = self.locals.clone();
        for generator in generators {
            self.visit_expr(&generator.iter);
            self.visit_expr(&generator.target);
            generator.ifs.iter().for_each(|test| self.visit_expr(test));
        }
        given.iter().for_each(|one| self.visit_expr(one));
        self.locals = outer;
    }
}
