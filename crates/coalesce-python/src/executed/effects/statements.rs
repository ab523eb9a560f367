//! Statements: what they run, in the order of the text.

use coalesce_model::ImportTarget;
use ruff_python_ast::{self as ast, ExceptHandler, Expr, Stmt};
use ruff_text_size::{Ranged, TextSize};
use rustc_hash::FxHashMap;

use super::{Execution, calls::Given, values::AbstractValue};
use crate::{
    analysis::predicates::{is_own_entry, is_run_as_program, is_type_checking},
    facts::ImportStatement,
};

impl<'g> Execution<'_, '_, 'g> {
    pub(super) fn suite(&mut self, suite: &[Stmt]) {
        for statement in suite {
            if self.reaches.is_some() && self.fails.is_some() {
                return;
            }
            self.statement(statement);
        }
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Expr(found) => drop(self.value(&found.value)),
            Stmt::Return(found) => self.returns(found),
            Stmt::Assign(assign) => {
                let value = self.value(&assign.value);
                for target in &assign.targets {
                    self.assign(target, &value);
                }
            }
            Stmt::AnnAssign(assign) => self.annotated(assign),
            Stmt::AugAssign(assign) => self.augmented(assign),
            Stmt::Delete(delete) => delete.targets.iter().for_each(|target| self.delete(target)),
            Stmt::If(found) => self.branches(found),
            Stmt::Try(found) => self.tried(found),
            Stmt::With(found) => self.with(found),
            Stmt::For(found) => self.for_loop(found),
            Stmt::While(found) => self.while_loop(found),
            other => self.simple_statement(other),
        }
    }

    fn returns(&mut self, found: &ast::StmtReturn) {
        let value = found.value.as_ref().map(|value| self.value(value));
        let value = value.unwrap_or(AbstractValue::Constant);
        self.returned = self.returned.clone().or(value);
    }

    fn for_loop(&mut self, found: &ast::StmtFor) {
        let iterated = self.value(&found.iter);
        let element = self.iterated(&iterated, &*found.iter);
        self.assign(&found.target, &element);
        self.suite(&found.body);
        self.suite(&found.orelse);
    }
    fn while_loop(&mut self, found: &ast::StmtWhile) {
        let test = self.value(&found.test);
        self.asked(&test, &*found.test);
        self.suite(&found.body);
        self.suite(&found.orelse);
    }

    fn asserted(&mut self, found: &ast::StmtAssert) {
        let test = self.value(&found.test);
        self.asked(&test, &*found.test);
        if self.reads_state(&found.test) {
            self.may_fail(found, "it holds in some processes only");
        }
    }

    fn simple_statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Match(found) => self.matched(found),
            Stmt::Assert(found) => self.asserted(found),
            Stmt::Raise(found) => {
                let parts = [&found.exc, &found.cause];
                parts
                    .into_iter()
                    .flatten()
                    .for_each(|part| self.raised(part));
            }
            Stmt::Global(found) => self
                .globals
                .extend(found.names.iter().map(ToString::to_string)),
            Stmt::Nonlocal(found) => self.forget_inner(&found.names),
            Stmt::Import(_) | Stmt::ImportFrom(_) if self.called => self.import(statement),
            Stmt::ImportFrom(_) => self.asked_of_modules(statement),
            Stmt::IpyEscapeCommand(_) => drop(self.doubt(statement, "nobody knows what it does")),
            _ => {}
        }
    }

    /// What is raised: a class makes an object of itself.
    fn raised(&mut self, part: &Expr) {
        let value = self.value(part);
        if let AbstractValue::Class(..) = value {
            let nothing = Given::only(AbstractValue::Constant);
            self.invoke(&value, &nothing, part);
        }
    }

    /// `from .base import name`, where `__getattr__` of the module gives the name.
    fn asked_of_modules(&mut self, statement: &Stmt) {
        let Some(import) = self.import_of(statement) else {
            return;
        };
        let graph = self.effects.reader.graph;
        let Some(module) = graph.base_module(self.home, import) else {
            return;
        };
        for leaf in &import.leaves {
            self.asked_of_module(module, &leaf.name.text, statement);
        }
    }

    /// An import when a function is called.
    fn import(&mut self, statement: &Stmt) {
        let imports_tree = self.imports_tree(statement);
        if imports_tree {
            self.doubt(
                statement,
                "it imports a module of the tree when it is called",
            );
        }
        let found = self.import_of(statement);
        for leaf in found.into_iter().flat_map(|import| &import.leaves) {
            let name = match found.and_then(|import| import.from.as_ref()) {
                Some(from) => format!("{}.{}", from.module, leaf.name.text),
                None if leaf.alias.is_some() => leaf.name.text.clone(),
                None => leaf.bound().to_owned(),
            };
            let value = match imports_tree {
                true => AbstractValue::Unknown,
                false => AbstractValue::outside(name),
            };
            self.bind(leaf.bound(), value);
        }
    }

    /// Where the text starts that the places of statements count from.
    fn text_start(&self) -> u32 {
        let source = self.effects.reader.source(self.home);
        source.map_or(0, |source| source.start())
    }

    /// What is known of a statement that imports.
    fn import_of(&self, statement: &Stmt) -> Option<&'g ImportStatement> {
        let at = statement.range().start().to_u32() + self.text_start();
        let facts = self.effects.reader.graph.facts.get(self.home)?;
        facts.imports.iter().find(|import| import.span.start == at)
    }

    /// Whether a statement imports a module of the tree.
    fn imports_tree(&self, statement: &Stmt) -> bool {
        let text_start = self.text_start();
        let mut of_tree = self.effects.reader.graph.imports.iter();
        of_tree.any(|import| {
            let start = import.span.start.saturating_sub(text_start);
            import.importer == self.home
                && statement.range().contains(TextSize::from(start))
                && matches!(import.target, ImportTarget::Module(_))
        })
    }

    fn function(&mut self, function: &ast::StmtFunctionDef) {
        self.defaults(&function.parameters);
        if !self.future {
            let parameters = function.parameters.iter();
            let annotations: Vec<&Expr> = parameters.filter_map(|one| one.annotation()).collect();
            annotations.into_iter().for_each(|one| self.annotation(one));
            function.returns.iter().for_each(|one| self.annotation(one));
        }
        let made = match self.scopes.is_empty() {
            true => AbstractValue::Function(self.home, function.name.to_string()),
            false => AbstractValue::Code { own: true },
        };
        self.define_inner(function);
        let value = self.decorated(&function.decorator_list, made);
        if self.class.is_some() && !self.called {
            self.held_by_class(&value, function);
        }
        self.bind(&function.name, value);
    }

    /// The defaults of parameters.
    pub(super) fn defaults(&mut self, parameters: &ast::Parameters) {
        let defaults = parameters.iter_non_variadic_params();
        let defaults: Vec<&Expr> = defaults.filter_map(|one| one.default.as_deref()).collect();
        defaults.into_iter().for_each(|one| drop(self.value(one)));
    }

    fn class(&mut self, class: &ast::StmtClassDef) {
        class.bases().iter().for_each(|base| self.base(base));
        self.members_of_enumeration(class);
        self.keywords_of_class(class);
        let outer = self.class.replace((self.home, class.name.to_string()));
        let called = std::mem::replace(&mut self.called, false);
        self.scopes.push(FxHashMap::default());
        self.suite(&class.body);
        self.scopes.pop();
        self.class = outer;
        self.called = called;
        let made = match self.scopes.is_empty() {
            true => AbstractValue::Class(self.home, class.name.to_string()),
            false => AbstractValue::Code { own: true },
        };
        let value = self.decorated(&class.decorator_list, made);
        if self.class.is_some() && !self.called {
            self.held_by_class(&value, class);
        }
        self.bind(&class.name, value);
    }

    /// What a class is given beside its bases: its metaclass, and what that takes.
    fn keywords_of_class(&mut self, class: &ast::StmtClassDef) {
        let keywords = class.arguments.iter().flat_map(|all| all.keywords.iter());
        for keyword in keywords {
            let value = self.value(&keyword.value);
            if keyword
                .arg
                .as_ref()
                .is_some_and(|name| name.as_str() == "metaclass")
            {
                self.metaclass(&value, keyword);
            }
        }
    }

    fn annotated(&mut self, assign: &ast::StmtAnnAssign) {
        if !self.future && !self.called {
            self.annotation(&assign.annotation);
        }
        if let Some(value) = &assign.value {
            let value = self.value(value);
            self.assign(&assign.target, &value);
        }
    }

    fn augmented(&mut self, assign: &ast::StmtAugAssign) {
        let value = self.value(&assign.value);
        let operand = self.operand(value, &*assign.value);
        match &*assign.target {
            Expr::Name(name) => {
                let known = self.named(&name.id);
                match known {
                    AbstractValue::Constant
                    | AbstractValue::Own
                    | AbstractValue::Container { own: true, .. } => {}
                    AbstractValue::Outside(name)
                        if super::libraries::has_plain_operators(&name) => {}
                    _ => drop(self.doubt(
                        assign,
                        "it changes what others have, too, or nobody knows what it does",
                    )),
                }
                self.set_name(&name.id, assign);
                self.bind(&name.id, operand);
            }
            target => self.assign(target, &operand),
        }
    }

    /// Gives a target a value.
    pub(super) fn assign(&mut self, target: &Expr, value: &AbstractValue) {
        match target {
            Expr::Name(name) => {
                if self.class.is_some() && !self.called {
                    self.held_by_class(value, target);
                }
                self.set_name(&name.id, target);
                self.bind(&name.id, value.clone());
            }
            Expr::Tuple(all) => self.unpack(&all.elts, value, target),
            Expr::List(all) => self.unpack(&all.elts, value, target),
            Expr::Starred(starred) => {
                let all = AbstractValue::container_of(value.clone());
                self.assign(&starred.value, &all);
            }
            Expr::Attribute(attribute) => self.assign_attribute(attribute, target),
            Expr::Subscript(subscript) => self.assign_element(subscript, value, target),
            _ => drop(self.doubt(target, "nobody knows what this sets")),
        }
    }

    fn assign_attribute(&mut self, attribute: &ast::ExprAttribute, target: &Expr) {
        let base = self.value(&attribute.value);
        match &base {
            AbstractValue::Instance {
                home,
                class,
                own: true,
            } => {
                self.set_on_object((*home, class), &attribute.attr, target);
            }
            _ => self.changed(&base, target),
        }
    }

    fn assign_element(
        &mut self,
        subscript: &ast::ExprSubscript,
        value: &AbstractValue,
        target: &Expr,
    ) {
        if self.imported == Some(self.home) && is_own_entry(subscript) {
            return;
        }
        let base = self.value(&subscript.value);
        self.compared(&subscript.slice);
        match base {
            AbstractValue::Instance { .. } => {
                self.set_in_object(&base, &subscript.slice, (value, target));
            }
            base => {
                self.store(&subscript.value, value);
                self.changed(&base, target);
            }
        }
    }

    /// Something is put into what a local name has.
    pub(super) fn store(&mut self, place: &Expr, value: &AbstractValue) {
        if let Expr::Name(name) = place
            && !matches!(value, AbstractValue::Constant | AbstractValue::Own)
            && self
                .scopes
                .iter()
                .any(|scope| scope.contains_key(name.id.as_str()))
        {
            self.bind(&name.id, AbstractValue::container_of(value.clone()));
        }
    }

    /// A function that sets a name of its module.
    fn set_name(&mut self, name: &str, at: &impl Ranged) {
        if self.globals.contains(name) && Some(self.home) != self.imported {
            self.doubt(at, format!("it sets `{name}` of its module"));
        }
    }

    fn unpack(&mut self, all: &[Expr], value: &AbstractValue, at: &Expr) {
        let element = self.iterated(value, at);
        all.iter().for_each(|one| self.assign(one, &element));
    }

    /// Something is changed.
    pub(super) fn changed(&mut self, base: &AbstractValue, at: &impl Ranged) {
        let own = match base {
            AbstractValue::Function(home, _)
            | AbstractValue::Class(home, _)
            | AbstractValue::Module(home) => Some(*home) == self.imported,
            AbstractValue::Method { home, .. } => Some(*home) == self.imported,
            AbstractValue::Instance { .. } => false,
            other => other.is_own(),
        };
        if !own {
            self.doubt(at, "it sets what is not its own");
        }
    }

    fn delete(&mut self, target: &Expr) {
        match target {
            Expr::Name(_) => {}
            Expr::Attribute(attribute) => {
                let base = self.value(&attribute.value);
                self.changed(&base, target);
            }
            Expr::Subscript(subscript) => {
                let base = self.value(&subscript.value);
                self.changed(&base, target);
            }
            Expr::Tuple(all) => all.elts.iter().for_each(|one| self.delete(one)),
            Expr::List(all) => all.elts.iter().for_each(|one| self.delete(one)),
            _ => drop(self.doubt(target, "nobody knows what this deletes")),
        }
    }

    fn branches(&mut self, found: &ast::StmtIf) {
        if is_type_checking(&found.test) || is_run_as_program(&found.test) {
            let others = found.elif_else_clauses.iter();
            others.for_each(|clause| self.suite(&clause.body));
            return;
        }
        let test = self.value(&found.test);
        self.asked(&test, &*found.test);
        self.suite(&found.body);
        for clause in &found.elif_else_clauses {
            if let Some(test) = &clause.test {
                let value = self.value(test);
                self.asked(&value, test);
            }
            self.suite(&clause.body);
        }
    }

    fn tried(&mut self, found: &ast::StmtTry) {
        // What fails there is caught.
        let fails = self.fails.clone();
        self.suite(&found.body);
        if !found.handlers.is_empty() {
            self.fails = fails;
        }
        for ExceptHandler::ExceptHandler(handler) in &found.handlers {
            handler.type_.iter().for_each(|kind| drop(self.value(kind)));
            if let Some(name) = &handler.name {
                self.bind(name, AbstractValue::Own);
            }
            self.suite(&handler.body);
        }
        self.suite(&found.orelse);
        self.suite(&found.finalbody);
    }

    fn with(&mut self, found: &ast::StmtWith) {
        for item in &found.items {
            let value = self.value(&item.context_expr);
            self.enter_manager(&value, &item.context_expr);
            if let Some(target) = &item.optional_vars {
                self.assign(target, &entered(value));
            }
        }
        self.suite(&found.body);
    }

    /// Enters a context manager, and leaves it.
    fn enter_manager(&mut self, manager: &AbstractValue, at: &Expr) {
        match manager {
            AbstractValue::Instance { home, class, own } => {
                self.run_hooks((*home, class, *own), &["__enter__", "__exit__"], at);
            }
            AbstractValue::Constant
            | AbstractValue::Own
            | AbstractValue::Stream { own: true, .. }
            | AbstractValue::Code { own: true } => {}
            AbstractValue::Unknown if self.is_manager(at) => {}
            _ => drop(self.doubt(at, "nobody knows what entering this does")),
        }
    }

    /// Whether an expression calls a function of the tree that a generator makes a context manager; its body was read.
    fn is_manager(&mut self, expression: &Expr) -> bool {
        let Expr::Call(call) = expression else {
            return false;
        };
        matches!(
            self.effects_free_value(&call.func),
            AbstractValue::Function(..)
        )
    }

    fn matched(&mut self, found: &ast::StmtMatch) {
        self.compared(&found.subject);
        for case in &found.cases {
            if let Some(guard) = &case.guard {
                let value = self.value(guard);
                self.asked(&value, &**guard);
            }
            self.pattern(&case.pattern);
            self.suite(&case.body);
        }
    }

    fn pattern(&mut self, pattern: &ast::Pattern) {
        match pattern {
            ast::Pattern::MatchValue(found) => self.compared(&found.value),
            ast::Pattern::MatchSingleton(_) => {}
            ast::Pattern::MatchOr(found) => {
                found.patterns.iter().for_each(|one| self.pattern(one));
            }
            ast::Pattern::MatchAs(one) if one.pattern.is_none() => {}
            other => drop(self.doubt(other, "nobody knows what this pattern runs")),
        }
    }
}

/// What entering a context manager gives.
fn entered(manager: AbstractValue) -> AbstractValue {
    match manager {
        AbstractValue::Own | AbstractValue::Stream { own: true, .. } => manager,
        _ => AbstractValue::Unknown,
    }
}
