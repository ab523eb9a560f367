//! What names of modules are: the statements that bind them say so, whichever of them was executed last.

use ruff_python_ast::{
    self as ast, Expr, Stmt,
    visitor::{self, Visitor},
};

use super::{
    super::harmless::{collect, is_named},
    Execution, ImportEffects,
    libraries::{changes_itself, puts_elements},
    values::AbstractValue,
};
use crate::{analysis::predicates::is_literal, graph::Entity, rewrite::is_builtin};

/// Names that every module has.
const OF_MODULES: [&str; 8] = [
    "__all__",
    "__builtins__",
    "__doc__",
    "__file__",
    "__name__",
    "__package__",
    "__path__",
    "__spec__",
];

impl ImportEffects<'_, '_> {
    /// What a name of a module is, as the module itself has it.
    pub(super) fn global(&self, module: usize, name: &str) -> AbstractValue {
        let key = (module, name.to_owned());
        if let Some(known) = self.names.borrow().get(&key) {
            // What is made of itself is no worse for that.
            return known.clone().unwrap_or(AbstractValue::Constant);
        }
        self.names.borrow_mut().insert(key.clone(), None);
        let value = self.depth.deeper(|| self.find_global(module, name));
        let value = value.unwrap_or(AbstractValue::Unknown);
        self.names.borrow_mut().insert(key, Some(value.clone()));
        value
    }

    fn find_global(&self, module: usize, name: &str) -> AbstractValue {
        let graph = self.reader.graph;
        if !graph.binds(module, name) {
            if OF_MODULES.contains(&name) {
                return AbstractValue::Constant;
            }
            if is_builtin(name) && graph.submodule(module, name).is_none() {
                return AbstractValue::Builtin(name.to_owned());
            }
        }
        match graph.member(module, name) {
            Entity::Module(found) => AbstractValue::Module(found),
            Entity::Item(home, found) if home == module && found == name => {
                self.assigned(module, name)
            }
            Entity::Item(home, found) => self.global(home, &found).for_others(),
            Entity::External => self.library_global(module, name),
            Entity::Missing | Entity::Opaque => self.unread_global(module, name),
        }
    }

    /// What a name is that leads to nothing that is read. Of a module whose text is not there an attribute is read like a name
    /// that `from module import name` takes.
    fn unread_global(&self, module: usize, name: &str) -> AbstractValue {
        let facts = self.reader.graph.facts.get(module);
        let imports = facts.into_iter().flat_map(|facts| &facts.imports);
        let mut binding = imports.flat_map(|import| {
            let leaves = import.leaves.iter().filter(|leaf| leaf.bound() == name);
            leaves.map(move |leaf| import.from.is_none() && leaf.alias.is_some())
        });
        let is_module = binding.next() == Some(true) && binding.next().is_none();
        match is_module && self.values_of(module, name).is_empty() {
            true => AbstractValue::Code { own: false },
            false => AbstractValue::Unknown,
        }
    }

    /// What a name is that an import of another library binds.
    fn library_global(&self, module: usize, name: &str) -> AbstractValue {
        let Some(full) = self.verdicts.outside(module, name, 0) else {
            return AbstractValue::Unknown;
        };
        let values = self.values_of(module, name).into_iter();
        values.fold(AbstractValue::outside(full), AbstractValue::or)
    }

    /// What the statements of a module give a name, and what its imports bring under it.
    fn assigned(&self, module: usize, name: &str) -> AbstractValue {
        let found = self.values_of(module, name).into_iter();
        let all = found.chain(self.brought(module, name));
        let value = all
            .reduce(AbstractValue::or)
            .unwrap_or(AbstractValue::Unknown);
        match value {
            AbstractValue::Own
            | AbstractValue::Shared
            | AbstractValue::Stream { .. }
            | AbstractValue::Container { .. } => self.filled(module, name, value),
            value => value,
        }
    }

    /// What a container of a module is with what the module puts into it.
    fn filled(&self, module: usize, name: &str, value: AbstractValue) -> AbstractValue {
        let Some(held) = self.stored_in(module, name) else {
            return value;
        };
        match (held, value) {
            (AbstractValue::Constant | AbstractValue::Own, value) => value,
            (held, AbstractValue::Stream { own, element }) => AbstractValue::Stream {
                own,
                element: Box::new(element.or(held)),
            },
            (held, value) => value.or(AbstractValue::container_of(held)),
        }
    }

    /// What the text of a module puts into what a name of it has.
    fn stored_in(&self, module: usize, name: &str) -> Option<AbstractValue> {
        let source = self.reader.source(module)?;
        let mut finder = StoreFinder {
            name,
            in_function: 0,
            found: Vec::new(),
        };
        finder.visit_body(source.statements());
        let mut execution = Execution::new(self, module, Some(module));
        let mut held = AbstractValue::Constant;
        for stored in finder.found {
            let value = match stored.in_function && !is_literal(stored.value) {
                true => AbstractValue::Unknown,
                false => execution.effects_free_value(stored.value),
            };
            held = held.or(match stored.spread {
                true => value.element(),
                false => value,
            });
        }
        Some(held)
    }

    /// What the imports at module level bring under a name.
    fn brought(&self, module: usize, name: &str) -> Vec<AbstractValue> {
        let graph = self.reader.graph;
        let facts = graph.facts.get(module);
        let imports = facts.into_iter().flat_map(|facts| &facts.imports);
        let mut found = Vec::new();
        for import in imports.filter(|import| import.top_level) {
            for leaf in import.leaves.iter().filter(|leaf| leaf.bound() == name) {
                let entity = graph.leaf_entity(module, import, leaf);
                found.push(self.value_brought(module, name, entity));
            }
        }
        found
    }

    /// What an import brings under a name.
    fn value_brought(&self, module: usize, name: &str, entity: Entity) -> AbstractValue {
        match entity {
            Entity::Module(target) => AbstractValue::Module(target),
            Entity::Item(home, item) if home != module => self.global(home, &item).for_others(),
            Entity::External => {
                let full = self.verdicts.outside(module, name, 0);
                full.map_or(AbstractValue::Unknown, AbstractValue::outside)
            }
            _ => AbstractValue::Unknown,
        }
    }

    fn values_of(&self, module: usize, name: &str) -> Vec<AbstractValue> {
        let Some(source) = self.reader.source(module) else {
            return Vec::new();
        };
        let mut execution = Execution::new(self, module, Some(module));
        let mut found = Vec::new();
        for statement in source.statements_binding(name) {
            execution.values_bound(statement, name, &mut found);
        }
        found
    }
}

impl Execution<'_, '_, '_> {
    /// What a name is where it stands.
    pub(super) fn named(&mut self, name: &str) -> AbstractValue {
        let scopes = self.scopes.iter().rev();
        if let Some(found) = scopes.filter_map(|scope| scope.get(name)).next() {
            return found.clone();
        }
        self.member(self.home, name)
    }

    /// All that a name of the module may be which definitions and imports of it bind; nothing where it has another meaning.
    pub(super) fn alternatives(&self, name: &str) -> Vec<AbstractValue> {
        if self.scopes.iter().any(|scope| scope.contains_key(name)) {
            return Vec::new();
        }
        let defined = self.effects.values_of(self.home, name).into_iter();
        let graph = self.effects.reader.graph;
        let facts = graph.facts.get(self.home).into_iter();
        let leaves = facts.flat_map(|facts| facts.import_leaves());
        let own = leaves.filter(|(import, leaf)| import.top_level && leaf.bound() == name);
        let brought = own.map(|(import, leaf)| {
            let from = import.from.as_ref().filter(|from| from.level == 0);
            match (graph.leaf_entity(self.home, import, leaf), from) {
                (Entity::External, Some(from)) => {
                    AbstractValue::outside(format!("{}.{}", from.module, leaf.name.text))
                }
                (entity, _) => self.effects.value_brought(self.home, name, entity),
            }
        });
        defined.chain(brought).collect()
    }

    /// What a name of a module is for what is imported.
    pub(super) fn member(&self, module: usize, name: &str) -> AbstractValue {
        let value = self.effects.global(module, name);
        match Some(module) == self.imported {
            true => value,
            false => value.for_others(),
        }
    }

    /// What a statement of a module gives a name, also in its blocks.
    fn values_bound(&mut self, statement: &Stmt, name: &str, found: &mut Vec<AbstractValue>) {
        self.values_of_statement(statement, name, found);
        for suite in crate::analysis::predicates::blocks(statement) {
            suite
                .iter()
                .for_each(|one| self.values_bound(one, name, found));
        }
    }

    fn values_of_statement(
        &mut self,
        statement: &Stmt,
        name: &str,
        found: &mut Vec<AbstractValue>,
    ) {
        match statement {
            Stmt::FunctionDef(function) if function.name.as_str() == name => {
                found.push(self.value_of_function(function));
            }
            Stmt::ClassDef(class) if class.name.as_str() == name => {
                found.push(self.value_of_class(class));
            }
            Stmt::Assign(assign) => self.values_assigned(assign, name, found),
            Stmt::AnnAssign(assign) if is_named(&assign.target, name) => {
                found.extend(assign.value.as_ref().map(|value| self.value(value)));
            }
            Stmt::AugAssign(assign) if is_named(&assign.target, name) => {
                found.push(self.value_augmented(assign));
            }
            Stmt::For(each) => self.values_unpacked(&each.target, &each.iter, name, found),
            Stmt::With(with) => self.values_entered(with, name, found),
            _ => {}
        }
    }

    fn value_of_function(&mut self, function: &ast::StmtFunctionDef) -> AbstractValue {
        let made = AbstractValue::Function(self.home, function.name.to_string());
        self.decorated(&function.decorator_list, made)
    }

    /// What a class is below its decorators, of which the plain ones leave it.
    fn value_of_class(&mut self, class: &ast::StmtClassDef) -> AbstractValue {
        let made = AbstractValue::Class(self.home, class.name.to_string());
        let kept = self.decorated(&class.decorator_list, made.clone());
        match kept.is_plain() {
            true => made,
            false => kept,
        }
    }

    fn values_assigned(
        &mut self,
        assign: &ast::StmtAssign,
        name: &str,
        found: &mut Vec<AbstractValue>,
    ) {
        for target in &assign.targets {
            if is_named(target, name) {
                found.push(self.value(&assign.value));
            } else if let Expr::Tuple(_) | Expr::List(_) = target {
                self.values_unpacked(target, &assign.value, name, found);
            }
        }
    }

    /// What `name += value` makes of a name.
    fn value_augmented(&mut self, assign: &ast::StmtAugAssign) -> AbstractValue {
        let value = self.value(&assign.value);
        match value.is_known() {
            true => AbstractValue::Constant,
            false => value.in_general(),
        }
    }

    /// What `with … as name` gives a name.
    fn values_entered(&mut self, with: &ast::StmtWith, name: &str, found: &mut Vec<AbstractValue>) {
        for item in &with.items {
            let target = item.optional_vars.as_deref();
            if target.is_some_and(|target| is_named(target, name)) {
                found.push(self.value(&item.context_expr).in_general());
            }
        }
    }

    /// A name among several targets, or of a loop: it has an element of what is given.
    fn values_unpacked(
        &mut self,
        target: &Expr,
        value: &Expr,
        name: &str,
        found: &mut Vec<AbstractValue>,
    ) {
        let mut names = Vec::new();
        super::super::at_import::named(target, &mut names);
        if names.contains(&name) {
            let value = self.value(value);
            found.push(value.element());
        }
    }

    /// What a definition is below its decorators.
    pub(super) fn decorated(
        &mut self,
        decorators: &[ast::Decorator],
        made: AbstractValue,
    ) -> AbstractValue {
        let mut kept = made;
        for decorator in decorators.iter().rev() {
            kept = self.decorate(decorator, kept);
        }
        kept
    }
}

/// What is put into a container.
struct Stored<'s> {
    value: &'s Expr,
    in_function: bool,
    /// Its elements are put there.
    spread: bool,
}

/// Finds what is put into what a name of a module has.
struct StoreFinder<'n, 's> {
    name: &'n str,
    in_function: u32,
    found: Vec<Stored<'s>>,
}

impl<'s> StoreFinder<'_, 's> {
    fn is_it(&self, place: &Expr) -> bool {
        matches!(place, Expr::Name(name) if name.id.as_str() == self.name)
    }

    fn put(&mut self, value: &'s Expr, spread: bool) {
        self.found.push(Stored {
            value,
            in_function: self.in_function > 0,
            spread,
        });
    }
}

impl<'s> Visitor<'s> for StoreFinder<'_, 's> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        match statement {
            Stmt::FunctionDef(_) => {
                self.in_function += 1;
                visitor::walk_stmt(self, statement);
                self.in_function -= 1;
                return;
            }
            Stmt::Assign(assign) => {
                let into = |target: &Expr| matches!(target, Expr::Subscript(one) if self.is_it(&one.value));
                if assign.targets.iter().any(into) {
                    self.put(&assign.value, false);
                }
            }
            Stmt::AugAssign(assign) if self.is_it(&assign.target) => self.put(&assign.value, true),
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'s Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Attribute(method) = &*call.func
            && self.is_it(&method.value)
            && changes_itself(&method.attr)
        {
            let keywords = call.arguments.keywords.iter();
            let keywords = keywords.map(|keyword| &keyword.value);
            let values: Vec<&Expr> = call.arguments.args.iter().chain(keywords).collect();
            let spread = puts_elements(&method.attr);
            values.into_iter().for_each(|value| self.put(value, spread));
        }
        visitor::walk_expr(self, expression);
    }
}

/// Definitions of a name in statements, also in blocks.
pub(super) fn definitions<'s>(suite: &'s [Stmt], name: &str, found: &mut Vec<&'s Stmt>) {
    collect(suite, name, found);
    found.retain(|statement| matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_)));
}
