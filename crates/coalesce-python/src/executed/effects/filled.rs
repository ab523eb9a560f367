//! What others have to put somewhere first: a table that its module leaves empty, an attribute that making an object does
//! not set.

use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::{super::at_import::Source, Execution, ImportEffects};
use crate::{analysis::predicates::chain, graph::Entity};

impl Execution<'_, '_, '_> {
    /// Whether something is looked up in a literal of another module that does not have it.
    pub(super) fn is_to_be_filled(&self, table: &Expr, key: &Expr) -> bool {
        let Some((source, item)) = self.item_of_another(table) else {
            return false;
        };
        let mut binding = source.statements_binding(&item);
        let (Some(statement), None) = (binding.next(), binding.next()) else {
            return false;
        };
        let value = match statement {
            Stmt::Assign(assign) => Some(&*assign.value),
            Stmt::AnnAssign(assign) => assign.value.as_deref(),
            _ => None,
        };
        value.is_some_and(|value| lacks(value, key))
    }

    /// The text and the name of what an expression reads of another module.
    fn item_of_another(&self, expression: &Expr) -> Option<(Rc<Source>, String)> {
        let names = chain(expression)?;
        let first = names.first().map_or("", AsRef::as_ref);
        if self.scopes.iter().any(|scope| scope.contains_key(first)) {
            return None;
        }
        let reader = self.effects.reader;
        let names = names.iter().map(AsRef::as_ref);
        let Entity::Item(home, item) = reader.graph.follow(self.home, None, names).end else {
            return None;
        };
        let source = reader.source(home).filter(|_| home != self.home)?;
        Some((source, item))
    }
}

/// Whether a literal has no such element.
fn lacks(literal: &Expr, key: &Expr) -> bool {
    match (literal, key) {
        (Expr::Dict(all), Expr::StringLiteral(key)) => {
            let is_it = |item: &ast::DictItem| match &item.key {
                Some(Expr::StringLiteral(own)) => own.value == key.value,
                Some(own) => !own.is_literal_expr(),
                None => true,
            };
            !all.items.iter().any(is_it)
        }
        (Expr::List(all), Expr::NumberLiteral(_)) => all.elts.is_empty(),
        _ => false,
    }
}

impl ImportEffects<'_, '_> {
    /// Whether making an object of a class sets no attribute of that name, though all of the class is known.
    pub(super) fn is_set_by_others(&self, home: usize, class: &str, name: &str) -> bool {
        let text = self.class_text(home, class);
        let Some(found) = text.as_ref().and_then(|text| text.class()) else {
            return false;
        };
        let plain = found.decorator_list.is_empty() && found.arguments.is_none();
        let path = &self.reader.graph.modules.get(home).map(|own| &own.path);
        let text = path.and_then(|path| self.reader.texts().text(path));
        let says = |text: &str| {
            let by_text = ["setattr", "__dict__", "__slots__", "vars("];
            by_text.iter().any(|word| text.contains(word))
        };
        plain
            && !declares(&found.body, name)
            && text.is_some_and(|text| !says(&text))
            && self.sets_of(home, name) == 0
    }
}

/// Whether the body of a class names something of that name.
pub(super) fn declares(body: &[Stmt], name: &str) -> bool {
    body.iter().any(|statement| {
        let mut names = Vec::new();
        super::super::at_import::bound_by(statement, &mut names);
        names.contains(&name)
    })
}
