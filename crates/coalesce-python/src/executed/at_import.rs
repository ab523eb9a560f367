//! What a text does when its module is imported, as far as that may fail or reach outside where it was not run
//! before: names that a condition leaves unbound or `None`, a `raise` below a condition, calls of which nobody
//! knows that they do nothing (`harmless`).

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_model::{ByteSpan, Memo, Texts, UnprovenKind};
use ruff_python_ast::{
    self as ast, ExceptHandler, Expr, Mod, Stmt,
    visitor::{self, Visitor},
};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextRange};

use super::harmless::{Locals, Verdicts};
use crate::{
    analysis::{
        by_name::StatementsByName,
        predicates::{blocks, is_run_as_program, is_type_checking},
    },
    facts::{ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
    parser,
    rewrite::bound_for_certain,
};

/// Longer chains of re-exports are not followed.
const MAXIMUM_CHAIN: usize = 12;

/// How closely a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strictness {
    /// Others import it anyway: names that need not be there, and what is raised.
    Names,
    /// Nobody imports it: calls besides.
    Value,
    /// It was under a condition: what definitions are made with besides.
    Condition,
}

/// What may be otherwise where a text comes to be executed.
pub(super) struct Problem {
    pub span: ByteSpan,
    /// That it may fail, or may reach outside.
    pub kind: UnprovenKind,
    pub what: String,
}

/// One parsed module.
pub(super) struct Source {
    parsed: Parsed<Mod>,
    start: u32,
    /// Names that it has whatever its conditions come to.
    certain: BTreeSet<String>,
    /// Names that may be `None`, and something else elsewhere.
    perhaps_none: BTreeSet<String>,
    /// The statements that bind each name; worked out when one asks.
    binding: OnceCell<StatementsByName>,
}

impl Source {
    /// A problem at its place in the file.
    fn problem(&self, (range, what): (TextRange, String), kind: UnprovenKind) -> Problem {
        let (start, end) = (range.start().to_u32(), range.end().to_u32());
        Problem {
            span: ByteSpan::new(start + self.start, end + self.start),
            kind,
            what,
        }
    }

    pub fn statements(&self) -> &[Stmt] {
        parser::statements(&self.parsed)
    }

    /// Where its first statement's text begins.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// The statements that bind a name, also in their blocks, in their order.
    pub fn statements_binding(&self, name: &str) -> impl Iterator<Item = &Stmt> {
        let statements = self.statements();
        let binding = self
            .binding
            .get_or_init(|| StatementsByName::new(statements, bound_by));
        binding.of(name, statements)
    }
}

/// Reads texts of a graph, each parsed once.
pub(super) struct AtImport<'g> {
    pub graph: &'g PythonGraph,
    texts: &'g dyn Texts,
    sources: Memo<usize, Source>,
}

impl<'g> AtImport<'g> {
    pub fn new(graph: &'g PythonGraph, texts: &'g dyn Texts) -> Self {
        Self {
            graph,
            texts,
            sources: Memo::default(),
        }
    }

    pub fn texts(&self) -> &'g dyn Texts {
        self.texts
    }

    pub fn source(&self, module: usize) -> Option<Rc<Source>> {
        self.sources.get(module, || self.parse(module))
    }

    fn parse(&self, module: usize) -> Option<Source> {
        let text = self.texts.text(&self.graph.modules.get(module)?.path)?;
        let (parsed, start) = parser::parse_module(&text);
        let body = parser::statements(&parsed);
        Some(Source {
            certain: bound_for_certain(body).unwrap_or_default(),
            perhaps_none: perhaps_none(body),
            binding: OnceCell::new(),
            parsed,
            start,
        })
    }

    /// The first thing that may fail, and the first that may reach outside, when a module, or an item of it, is
    /// executed.
    pub fn problems(
        &self,
        module: usize,
        item: Option<&str>,
        strictness: Strictness,
    ) -> Vec<Problem> {
        let Some(source) = self.source(module) else {
            return Vec::new();
        };
        let verdicts = Verdicts::new(self, strictness == Strictness::Condition);
        let mut walker = Walker::new(self, verdicts, module, strictness);
        match item {
            None => walker.suite(source.statements()),
            Some(item) => source
                .statements_binding(item)
                .for_each(|one| walker.statement(one)),
        }
        let Walker { fails, reaches, .. } = walker;
        let fails = fails.map(|found| source.problem(found, UnprovenKind::FailingImport));
        let reaches = reaches.map(|found| source.problem(found, UnprovenKind::NewlyExecuted));
        fails.into_iter().chain(reaches).collect()
    }

    /// Whether a name of a module may be `None`.
    fn may_be_none(&self, module: usize, name: &str, depth: usize) -> bool {
        let Some(source) = self.source(module) else {
            return false;
        };
        if source.perhaps_none.contains(name) {
            return true;
        }
        let next = self.brought(module, name).filter(|_| depth < MAXIMUM_CHAIN);
        next.is_some_and(|(from, name)| self.may_be_none(from, &name, depth + 1))
    }

    /// Whether a module may come to have no such name: only a condition binds it.
    pub fn may_be_absent(&self, module: usize, name: &str, depth: usize) -> bool {
        let (Some(source), Some(facts)) = (self.source(module), self.graph.facts.get(module))
        else {
            return false;
        };
        if source.certain.contains(name) {
            let next = self.brought(module, name).filter(|_| depth < MAXIMUM_CHAIN);
            return next.is_some_and(|(from, name)| self.may_be_absent(from, &name, depth + 1));
        }
        !facts.dynamic && self.graph.binds(module, name) && !loops_bind(source.statements(), name)
    }

    /// Where an import that always happens brings a name from: the module of the tree, and the name there.
    fn brought(&self, module: usize, name: &str) -> Option<(usize, String)> {
        let facts = self.graph.facts.get(module)?;
        let plain = |import: &&ImportStatement| {
            import.top_level && import.eager && !import.guard.hides_failure()
        };
        let (import, leaf): (&ImportStatement, &Leaf) =
            facts.imports.iter().filter(plain).find_map(|import| {
                Some((
                    import,
                    import.leaves.iter().find(|leaf| leaf.bound() == name)?,
                ))
            })?;
        let from = self.graph.base_module(module, import)?;
        let is_module = self.graph.submodule(from, &leaf.name.text).is_some()
            && !self.graph.binds(from, &leaf.name.text);
        (from != module && !is_module).then(|| (from, leaf.name.text.clone()))
    }
}

/// Whether a loop or a `match` binds a name, of which `certain` says nothing.
fn loops_bind(suite: &[Stmt], name: &str) -> bool {
    suite.iter().any(|statement| {
        matches!(
            statement,
            Stmt::For(_) | Stmt::While(_) | Stmt::With(_) | Stmt::Match(_)
        ) && binds(statement, name)
    })
}

/// Whether a statement of a module binds a name, also in its blocks.
fn binds(statement: &Stmt, name: &str) -> bool {
    let mut names = Vec::new();
    bound_by(statement, &mut names);
    names.contains(&name)
}

/// The names that a statement of a module binds, also in its blocks.
pub(super) fn bound_by<'s>(statement: &'s Stmt, names: &mut Vec<&'s str>) {
    match statement {
        Stmt::FunctionDef(found) => names.push(found.name.as_str()),
        Stmt::ClassDef(found) => names.push(found.name.as_str()),
        Stmt::Assign(found) => found.targets.iter().for_each(|target| named(target, names)),
        Stmt::AnnAssign(found) => named(&found.target, names),
        Stmt::AugAssign(found) => named(&found.target, names),
        Stmt::With(found) => {
            let targets = found.items.iter();
            let targets = targets.filter_map(|item| item.optional_vars.as_deref());
            targets.for_each(|target| named(target, names));
        }
        Stmt::For(found) => named(&found.target, names),
        Stmt::Import(found) => names.extend(found.names.iter().map(bound_by_import)),
        Stmt::ImportFrom(found) => names.extend(found.names.iter().map(|alias| {
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            bound.as_str()
        })),
        _ => {}
    }
    for suite in blocks(statement) {
        suite.iter().for_each(|one| bound_by(one, names));
    }
}

/// The name that `import a.b` or `import a.b as c` binds.
fn bound_by_import(alias: &ast::Alias) -> &str {
    let first = alias.name.split('.').next().unwrap_or_default();
    alias.asname.as_ref().map_or(first, |bound| bound.as_str())
}

pub(super) fn named<'e>(target: &'e Expr, names: &mut Vec<&'e str>) {
    match target {
        Expr::Name(name) => names.push(name.id.as_str()),
        Expr::Tuple(all) => all.elts.iter().for_each(|one| named(one, names)),
        Expr::List(all) => all.elts.iter().for_each(|one| named(one, names)),
        Expr::Starred(one) => named(&one.value, names),
        _ => {}
    }
}

/// Names that one way through a module leaves at `None`, and another one does not.
fn perhaps_none(suite: &[Stmt]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    nothing_bound(suite, &mut names);
    if names.is_empty() {
        return names;
    }
    // The last statement of the module that binds a name decides.
    let mut by_block: BTreeMap<&str, bool> = BTreeMap::new();
    let mut bound = Vec::new();
    for statement in suite {
        let is_block = matches!(
            statement,
            Stmt::If(_) | Stmt::Try(_) | Stmt::With(_) | Stmt::For(_) | Stmt::While(_)
        );
        bound_by(statement, &mut bound);
        by_block.extend(bound.drain(..).map(|name| (name, is_block)));
    }
    names.retain(|name| by_block.get(name.as_str()).copied().unwrap_or(true));
    names
}

/// Names that are set to `None` or `False`.
fn nothing_bound(suite: &[Stmt], names: &mut BTreeSet<String>) {
    for statement in suite {
        match statement {
            Stmt::Assign(assign) if is_nothing(&assign.value) => {
                let targets = assign.targets.iter();
                targets.for_each(|target| add_named(target, names));
            }
            Stmt::AnnAssign(assign) if assign.value.as_deref().is_some_and(is_nothing) => {
                add_named(&assign.target, names);
            }
            _ => nothing_bound_in_blocks(statement, names),
        }
    }
}

/// `None` or `False`
fn is_nothing(value: &Expr) -> bool {
    match value {
        Expr::NoneLiteral(_) => true,
        Expr::BooleanLiteral(literal) => !literal.value,
        _ => false,
    }
}

fn add_named(target: &Expr, names: &mut BTreeSet<String>) {
    let mut found = Vec::new();
    named(target, &mut found);
    names.extend(found.into_iter().map(str::to_owned));
}

/// The same in the blocks of a statement that are executed with the module.
fn nothing_bound_in_blocks(statement: &Stmt, names: &mut BTreeSet<String>) {
    match statement {
        Stmt::If(found) => {
            nothing_bound(&found.body, names);
            for clause in &found.elif_else_clauses {
                nothing_bound(&clause.body, names);
            }
        }
        Stmt::Try(found) => {
            nothing_bound(&found.body, names);
            nothing_bound(&found.orelse, names);
            for ExceptHandler::ExceptHandler(handler) in &found.handlers {
                nothing_bound(&handler.body, names);
            }
        }
        Stmt::With(found) => nothing_bound(&found.body, names),
        _ => {}
    }
}

/// Goes through what is executed at import.
struct Walker<'r, 'g> {
    reader: &'r AtImport<'g>,
    verdicts: Verdicts<'r, 'g>,
    module: usize,
    strictness: Strictness,
    /// How many conditions and handlers it stands under.
    guarded: u32,
    /// The first thing that may fail.
    fails: Option<(TextRange, String)>,
    /// The first that may do something to others.
    reaches: Option<(TextRange, String)>,
}

impl<'r, 'g> Walker<'r, 'g> {
    fn new(
        reader: &'r AtImport<'g>,
        verdicts: Verdicts<'r, 'g>,
        module: usize,
        strictness: Strictness,
    ) -> Self {
        Self {
            reader,
            verdicts,
            module,
            strictness,
            guarded: 0,
            fails: None,
            reaches: None,
        }
    }
}

impl Walker<'_, '_> {
    fn may_fail(&mut self, range: TextRange, what: String) {
        self.fails.get_or_insert((range, what));
    }

    fn may_reach(&mut self, range: TextRange, what: &str) {
        self.reaches.get_or_insert_with(|| (range, what.to_owned()));
    }

    /// Whether there is nothing left to be found.
    fn is_done(&self) -> bool {
        self.fails.is_some() && (self.reaches.is_some() || self.strictness == Strictness::Names)
    }

    fn suite(&mut self, suite: &[Stmt]) {
        suite.iter().for_each(|statement| self.statement(statement));
    }

    fn below(&mut self, suite: &[Stmt]) {
        self.guarded += 1;
        self.suite(suite);
        self.guarded -= 1;
    }

    fn statement(&mut self, statement: &Stmt) {
        if self.is_done() {
            return;
        }
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::If(found) => self.branches(found),
            Stmt::Try(found) => self.tried(found),
            Stmt::Raise(raise) => self.may_fail(
                raise.range(),
                "it raises where a condition does not hold".to_owned(),
            ),
            Stmt::Import(_) => {}
            Stmt::ImportFrom(_) => self.brings(statement.range()),
            Stmt::AnnAssign(assign) => assign.value.iter().for_each(|value| self.visit_expr(value)),
            Stmt::Assign(assign) => self.assigned(assign),
            Stmt::With(found) => self.with(found),
            Stmt::For(found) => self.repeated(&found.iter, &found.body),
            Stmt::While(found) => self.repeated(&found.test, &found.body),
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn function(&mut self, function: &ast::StmtFunctionDef) {
        self.decorators(&function.decorator_list);
        let defaults = function.parameters.iter_non_variadic_params();
        defaults
            .filter_map(|one| one.default.as_deref())
            .for_each(|one| self.visit_expr(one));
    }

    fn class(&mut self, class: &ast::StmtClassDef) {
        self.decorators(&class.decorator_list);
        for base in class.bases() {
            self.used(base, "as a base");
            self.visit_expr(base);
        }
        self.suite(&class.body);
    }

    fn assigned(&mut self, assign: &ast::StmtAssign) {
        self.visit_expr(&assign.value);
        assign.targets.iter().for_each(|target| self.set(target));
    }

    fn with(&mut self, found: &ast::StmtWith) {
        found
            .items
            .iter()
            .for_each(|item| self.visit_expr(&item.context_expr));
        self.suite(&found.body);
    }

    /// A loop, whose body may not be executed at all.
    fn repeated(&mut self, head: &Expr, body: &[Stmt]) {
        self.visit_expr(head);
        self.below(body);
    }

    fn branches(&mut self, found: &ast::StmtIf) {
        if is_type_checking(&found.test) || is_run_as_program(&found.test) {
            found
                .elif_else_clauses
                .iter()
                .for_each(|clause| self.suite(&clause.body));
            return;
        }
        self.visit_expr(&found.test);
        self.below(&found.body);
        for clause in &found.elif_else_clauses {
            clause.test.iter().for_each(|test| self.visit_expr(test));
            self.below(&clause.body);
        }
    }

    fn tried(&mut self, found: &ast::StmtTry) {
        self.below(&found.body);
        for ExceptHandler::ExceptHandler(handler) in &found.handlers {
            self.below(&handler.body);
        }
        self.below(&found.orelse);
        self.suite(&found.finalbody);
    }

    fn decorators(&mut self, decorators: &[ast::Decorator]) {
        for decorator in decorators {
            let expression = &decorator.expression;
            let called = match expression {
                Expr::Call(call) => &call.func,
                other => other,
            };
            self.used(called, "as a decorator");
            match expression {
                _ if self.strictness == Strictness::Condition => self.question(decorator),
                Expr::Call(call) => self.arguments(&call.arguments),
                _ => {}
            }
        }
    }

    /// What a decorator does with what it stands on.
    fn question(&mut self, decorator: &ast::Decorator) {
        let verdicts = &self.verdicts;
        if !verdicts.decorates_harmlessly(self.module, &decorator.expression) {
            self.may_reach(
                decorator.range(),
                "nobody knows what this decorator does there",
            );
        }
    }

    fn arguments(&mut self, arguments: &ast::Arguments) {
        arguments.args.iter().for_each(|one| self.visit_expr(one));
        let keywords = arguments.keywords.iter();
        keywords.for_each(|one| self.visit_expr(&one.value));
    }

    fn lambda(&mut self, lambda: &ast::ExprLambda) {
        let parameters = lambda.parameters.iter();
        let defaults = parameters.flat_map(|all| all.iter_non_variadic_params());
        let defaults = defaults.filter_map(|one| one.default.as_deref());
        defaults.for_each(|one| self.visit_expr(one));
    }

    fn called(&mut self, call: &ast::ExprCall) {
        self.used(&call.func, "in a call");
        let counted = self.strictness >= Strictness::Value;
        let verdicts = &self.verdicts;
        if counted && !verdicts.is_harmless(self.module, call, &Locals::default()) {
            self.may_reach(
                call.range(),
                "nobody knows that this call does nothing else there",
            );
        }
    }

    fn subscript(&mut self, subscript: &ast::ExprSubscript) {
        let counted = self.strictness >= Strictness::Value;
        if counted && self.verdicts.is_environment(self.module, &subscript.value) {
            self.may_fail(
                subscript.range(),
                "it needs something of the environment".to_owned(),
            );
        }
    }

    /// A name that has to be there, and to be something.
    fn used(&mut self, expression: &Expr, how: &str) {
        let root = root_of(expression);
        if self.guarded > 0 || self.fails.is_some() {
            return;
        }
        if let Some(root) = root.filter(|root| self.reader.may_be_none(self.module, &root.id, 0)) {
            self.may_fail(
                expression.range(),
                format!("`{}` is used {how} and may be `None` there", root.id),
            );
        }
    }

    /// Names that an import at module level brings, from where only a condition binds them.
    fn brings(&mut self, range: TextRange) {
        if self.guarded > 0 {
            return;
        }
        let (Some(facts), Some(source)) = (
            self.reader.graph.facts.get(self.module),
            self.reader.source(self.module),
        ) else {
            return;
        };
        let at = range.start().to_u32() + source.start;
        let Some(import) = facts.imports.iter().find(|import| import.span.start == at) else {
            return;
        };
        let Some(from) = self.reader.graph.base_module(self.module, import) else {
            return;
        };
        self.question_leaves(range, import, from);
    }

    /// Whether each name that an import brings is there for certain.
    fn question_leaves(&mut self, range: TextRange, import: &ImportStatement, from: usize) {
        let absent = import.leaves.iter().find(|leaf| {
            let name = &leaf.name.text;
            // A module below is imported where the package has no such name.
            let below = self.reader.graph.submodule(from, name).is_some();
            let others = name != "*" && from != self.module && !below;
            others && self.reader.may_be_absent(from, name, 0)
        });
        if let Some(leaf) = absent {
            self.may_fail(
                range,
                format!("`{}` is there under a condition only", leaf.name.text),
            );
        } else if let Some(leaf) = self.unknown_leaf(import, from) {
            self.may_fail(
                range,
                format!(
                    "nobody imports this yet, and whether `{}` is there cannot be read",
                    leaf.name.text
                ),
            );
        }
    }

    /// Of a module that nobody imports, a name that another one of the tree may make at run time, or not.
    fn unknown_leaf<'i>(&self, import: &'i ImportStatement, from: usize) -> Option<&'i Leaf> {
        let graph = self.reader.graph;
        let mut leaves = import.leaves.iter();
        let is_unknown = |leaf: &&Leaf| {
            let name = leaf.name.text.as_str();
            name != "*"
                && !name.starts_with("__")
                && !graph.is_compiled(from, name)
                && graph.leaf_entity(self.module, import, leaf) == Entity::Opaque
        };
        let nobody = self.strictness >= Strictness::Value && from != self.module;
        leaves.find(is_unknown).filter(|_| nobody)
    }

    /// `other.name = …`
    fn set(&mut self, target: &Expr) {
        let place = match target {
            Expr::Subscript(subscript) => &subscript.value,
            Expr::Attribute(attribute) => &attribute.value,
            _ => return,
        };
        let counted = self.strictness >= Strictness::Value;
        if counted && self.verdicts.is_of_others(self.module, place) {
            self.may_reach(target.range(), "it sets what is not its own");
        }
    }
}

impl<'a> Visitor<'a> for Walker<'_, '_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.statement(statement);
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_expr(&mut self, expression: &'a Expr) {
        if self.is_done() {
            return;
        }
        match expression {
            Expr::Lambda(lambda) => return self.lambda(lambda),
            Expr::Call(call) => self.called(call),
            Expr::Attribute(attribute) => self.used(&attribute.value, "with an attribute"),
            Expr::Subscript(subscript) => self.subscript(subscript),
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

/// The name that a chain of attributes begins with.
fn root_of(expression: &Expr) -> Option<&ast::ExprName> {
    match expression {
        Expr::Name(name) => Some(name),
        Expr::Attribute(attribute) => root_of(&attribute.value),
        _ => None,
    }
}
