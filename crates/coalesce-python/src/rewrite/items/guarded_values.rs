//! Names that have one of several values when their module has run, by whether imports succeed: `try: import cupy as cp`,
//! `HAS_CUPY = True`, `except ImportError: HAS_CUPY = False`.
//!
//! A function that is defined there and uses nothing of its module is such a value as well: `except ImportError: def njit(f): return f`.
//! What such a name is depends on what is tried, what is caught and what the name is given then. What else is given a constant
//! there, in which order, and what the imports are called says nothing of it.

use coalesce_model::{Texts, language::SameValue};
use ruff_python_ast::{
    ExceptHandler, Expr, Stmt, StmtFunctionDef, StmtTry,
    comparable::{ComparableExpr, ComparableStmt},
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;

use super::{
    builtins::is_builtin,
    equivalence::{Definition, Modules, ReadModule, adds_types_alone},
};
use crate::{
    analysis::shift,
    facts::{ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
    rewrite::{mapping::Mapping, uses::READ_NAMES},
};

/// What a name is once its module has run.
#[derive(Debug, PartialEq)]
struct GuardedValue {
    /// What is imported, in this order, and what it is in the tree.
    tried: Vec<(String, Entity)>,
    /// Where all of that succeeds.
    success: PossibleValue,
    /// What is caught, and what the name is then.
    failures: Vec<(String, PossibleValue)>,
}

#[derive(Clone, Debug, PartialEq)]
enum PossibleValue {
    /// There is no such name.
    Absent,
    /// A constant, or a function that uses nothing of its module, as it is compared.
    Constant(String),
    /// What one of the imports brings.
    Imported(usize),
}

/// How two names, by their full names, are known to have one value.
pub fn same_value(
    graph: &PythonGraph,
    (old, new): (&str, &str),
    texts: &dyn Texts,
) -> Option<SameValue> {
    let place = |full: &'_ str| {
        let (module, item) = full.rsplit_once('.')?;
        Some((graph.find(None, module)?, item.to_owned()))
    };
    let ((home, item), (other, name)) = (place(old)?, place(new)?);
    let imported = |entity: Entity| matches!(entity, Entity::Item(module, own) if module == home && own == item);
    if home != other && imported(graph.member(other, &name)) {
        return Some(SameValue::Imported);
    }
    let modules = Modules::new(texts);
    let both = ((home, item.as_str()), (other, name.as_str()));
    let given = are_one(graph, &modules, both) || {
        let mapping = Mapping::new(graph, &[], texts);
        let read = |(module, item)| Definition::new(&mapping, module, item, &modules);
        let definitions = read(both.0).zip(read(both.1));
        definitions.is_some_and(|pair| adds_types_alone(&mapping, &modules, pair))
    };
    given.then_some(SameValue::Given)
}

/// Whether two names have one value whatever can be imported.
pub(super) fn are_one(
    graph: &PythonGraph,
    modules: &Modules<'_>,
    (old, new): ((usize, &str), (usize, &str)),
) -> bool {
    let both = [old, new].map(|name| read(graph, modules, name));
    matches!(&both, [Some(was), Some(is)] if was == is)
}

/// What a name is, where constants and one guarded import alone say it.
fn read(
    graph: &PythonGraph,
    modules: &Modules<'_>,
    (module, item): (usize, &str),
) -> Option<GuardedValue> {
    let read = modules.read_of(graph, module)?;
    let mut preset = PossibleValue::Absent;
    let mut found: Option<GuardedValue> = None;
    let mut bindings = 0;
    for statement in &read.statements {
        match statement {
            Stmt::Try(guarded) if binds_in(guarded, item, &read) => {
                let reader = Reader {
                    graph,
                    module,
                    item,
                    read: &read,
                };
                let value = reader.of_try(guarded, &preset)?;
                bindings += reader.count_in(guarded);
                if found.replace(value).is_some() {
                    return None;
                }
            }
            other => {
                if let Some(value) = constant_of(other, item) {
                    bindings += 1;
                    preset = value.filter(|_| found.is_none())?;
                }
            }
        }
    }
    // Anything else that binds the name may give it anything.
    (read.analysis.bindings(0, item).len() == bindings).then_some(found)?
}

/// Whether a `try` has a place that binds a name.
fn binds_in(guarded: &StmtTry, item: &str, read: &ReadModule) -> bool {
    let span = shift(guarded.range(), read.start);
    let mut bindings = read.analysis.bindings(0, item).iter();
    bindings.any(|binding| span.contains(binding.span))
}

/// What a statement gives to a name, if that is what it does: none where it is no constant.
fn constant_of(statement: &Stmt, item: &str) -> Option<Option<PossibleValue>> {
    let (target, value) = match statement {
        Stmt::Assign(assign) => match &*assign.targets {
            [target] => (target, &*assign.value),
            _ => return None,
        },
        Stmt::AnnAssign(assign) => (&*assign.target, assign.value.as_deref()?),
        _ => return None,
    };
    let is_own = target
        .as_name_expr()
        .is_some_and(|name| name.id.as_str() == item);
    is_own.then(|| {
        let constant = format!("{:?}", ComparableExpr::from(value));
        value
            .is_literal_expr()
            .then_some(PossibleValue::Constant(constant))
    })
}

/// Whether a statement does nothing but give constants to names, or nothing at all.
fn is_constant(statement: &Stmt) -> bool {
    match statement {
        Stmt::Pass(_) => true,
        Stmt::Assign(assign) => {
            assign.targets.iter().all(Expr::is_name_expr) && assign.value.is_literal_expr()
        }
        Stmt::AnnAssign(assign) => {
            let value = assign.value.as_deref();
            assign.target.is_name_expr() && value.is_none_or(Expr::is_literal_expr)
        }
        Stmt::Expr(found) => found.value.is_string_literal_expr(),
        Stmt::FunctionDef(function) => runs_nothing(function),
        _ => false,
    }
}

/// Whether defining a function runs nothing: it has no decorator, and constants for defaults.
fn runs_nothing(function: &StmtFunctionDef) -> bool {
    let parameters = &function.parameters;
    let mut defaults = parameters
        .iter_non_variadic_params()
        .filter_map(|parameter| parameter.default.as_deref());
    let types = parameters.iter().all(|each| each.annotation().is_none());
    function.decorator_list.is_empty()
        && function.returns.is_none()
        && types
        && defaults.all(Expr::is_literal_expr)
}

struct Reader<'a> {
    graph: &'a PythonGraph,
    module: usize,
    item: &'a str,
    read: &'a ReadModule,
}

impl Reader<'_> {
    fn count_in(&self, guarded: &StmtTry) -> usize {
        let span = shift(guarded.range(), self.read.start);
        let bindings = self.read.analysis.bindings(0, self.item).iter();
        bindings.filter(|one| span.contains(one.span)).count()
    }

    fn of_try(&self, guarded: &StmtTry, preset: &PossibleValue) -> Option<GuardedValue> {
        if !guarded.finalbody.is_empty() || guarded.is_star {
            return None;
        }
        let mut tried = Vec::new();
        let mut given = None;
        for statement in &guarded.body {
            self.of_tried(statement, &mut tried, &mut given)?;
        }
        // What fails here is not caught.
        for statement in &guarded.orelse {
            is_constant(statement).then_some(())?;
            given = self.given(statement)?.or(given);
        }
        // What the name may be when an import has failed and the handler leaves it as it is.
        let left = match &given {
            None => Some(preset.clone()),
            Some(PossibleValue::Imported(_)) => (tried.len() == 1).then(|| preset.clone()),
            Some(_) => self.is_given_last(guarded).then(|| preset.clone()),
        };
        let failures = guarded.handlers.iter();
        let failures = failures.map(|handler| self.of_handler(handler, left.as_ref()));
        Some(GuardedValue {
            success: given.unwrap_or_else(|| preset.clone()),
            failures: failures.collect::<Option<_>>()?,
            tried,
        })
    }

    /// A statement of those that are tried: an import, or one that gives a constant.
    fn of_tried(
        &self,
        statement: &Stmt,
        tried: &mut Vec<(String, Entity)>,
        given: &mut Option<PossibleValue>,
    ) -> Option<()> {
        if !matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_)) {
            is_constant(statement).then_some(())?;
            *given = self.given(statement)?.or(given.take());
            return Some(());
        }
        for (import, leaf) in self.imports_in(statement) {
            let graph = self.graph;
            if leaf.bound() == self.item {
                *given = Some(PossibleValue::Imported(tried.len()));
            }
            let full = import.full_name(leaf, graph.package_of(self.module))?;
            // `import a.b` brings `a`, and `import a.b as c` the module.
            let bound = match import.from.is_none() && leaf.alias.is_none() {
                true if leaf.bound() == self.item => format!("{full} by its first name"),
                _ => full,
            };
            tried.push((bound, graph.leaf_entity(self.module, import, leaf)));
        }
        Some(())
    }

    fn imports_in(&self, statement: &Stmt) -> impl Iterator<Item = (&ImportStatement, &Leaf)> {
        let span = shift(statement.range(), self.read.start);
        let imports = self.read.analysis.imports.iter();
        let own = imports.filter(move |(import, _)| span.contains(import.span));
        own.flat_map(|(import, _)| import.leaves.iter().map(move |leaf| (import, leaf)))
    }

    /// What a statement gives the name; none at all where that is no constant.
    fn given(&self, statement: &Stmt) -> Option<Option<PossibleValue>> {
        if let Stmt::FunctionDef(function) = statement
            && function.name.as_str() == self.item
        {
            let text = format!("{:?}", ComparableStmt::from(statement));
            return self
                .uses_nothing(function)
                .then_some(Some(PossibleValue::Constant(text)));
        }
        match constant_of(statement, self.item) {
            Some(value) => value.map(Some),
            None => Some(None),
        }
    }

    /// Whether a function uses nothing but what is its own and what is built in.
    fn uses_nothing(&self, function: &StmtFunctionDef) -> bool {
        let analysis = &self.read.analysis;
        let span = shift(function.range(), self.read.start);
        let mut uses = analysis.uses_in(&[span]);
        let mut imports = analysis.imports.iter();
        // What is imported relative to a package is another thing in another one.
        let imports = imports.any(|(import, _)| span.contains(import.span));
        let mut globals = GlobalStatements::default();
        globals.visit_body(&function.body);
        !imports
            && !globals.are_any
            && uses.all(|used| {
                let Some(root) = used.chain.first() else {
                    return false;
                };
                match analysis.binding_scope(used.scope, &root.text) {
                    Some(scope) => scope != 0,
                    None => {
                        let member = self.graph.member(self.module, &root.text);
                        let own =
                            root.text.starts_with("__") || READ_NAMES.contains(&root.text.as_ref());
                        !own && is_builtin(&root.text) && member == Entity::Missing
                    }
                }
            })
    }

    /// Whether the name is given a constant behind all that may fail alone.
    fn is_given_last(&self, guarded: &StmtTry) -> bool {
        let gives = |statement: &Stmt| constant_of(statement, self.item).is_some();
        let fails = |statement: &Stmt| !is_constant(statement);
        let first = guarded.body.iter().position(gives);
        let last = guarded.body.iter().rposition(fails);
        first.is_none_or(|first| last.is_none_or(|last| last < first))
    }

    fn of_handler(
        &self,
        handler: &ExceptHandler,
        left: Option<&PossibleValue>,
    ) -> Option<(String, PossibleValue)> {
        let ExceptHandler::ExceptHandler(handler) = handler;
        let mut given = None;
        for statement in &handler.body {
            is_constant(statement).then_some(())?;
            given = self.given(statement)?.or(given);
        }
        let is_bound_otherwise = handler
            .name
            .as_ref()
            .is_some_and(|name| name.as_str() == self.item);
        let caught = handler.type_.as_deref();
        let caught = caught.map(|caught| format!("{:?}", ComparableExpr::from(caught)));
        let value = given.or_else(|| left.cloned())?;
        (!is_bound_otherwise).then(|| (caught.unwrap_or_default(), value))
    }
}

/// Whether code gives a name of its module something.
#[derive(Default)]
struct GlobalStatements {
    are_any: bool,
}

impl<'s> Visitor<'s> for GlobalStatements {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        self.are_any |= matches!(statement, Stmt::Global(_));
        visitor::walk_stmt(self, statement);
    }
}
