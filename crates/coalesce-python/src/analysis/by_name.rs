//! Statements by the names that they bind, in whichever sense somebody asks for.

use ruff_python_ast::Stmt;
use rustc_hash::FxHashMap;

/// For each name the numbers of the statements that bind it.
#[derive(Default)]
pub(crate) struct StatementsByName(FxHashMap<String, Vec<usize>>);

impl StatementsByName {
    /// Lists statements; `names` adds the names of one.
    pub fn new<'s>(statements: &'s [Stmt], names: impl Fn(&'s Stmt, &mut Vec<&'s str>)) -> Self {
        let mut found = Self::default();
        for (at, statement) in statements.iter().enumerate() {
            let mut own = Vec::new();
            names(statement, &mut own);
            own.into_iter().for_each(|name| found.add(name, at));
        }
        found
    }

    /// Statements are added in their order.
    fn add(&mut self, name: &str, at: usize) {
        let known = self.0.entry(name.to_owned()).or_default();
        if known.last() != Some(&at) {
            known.push(at);
        }
    }

    /// Those of the statements that were listed which bind a name, in their order.
    pub fn of<'s>(&self, name: &str, statements: &'s [Stmt]) -> impl Iterator<Item = &'s Stmt> {
        let known = self.0.get(name).into_iter().flatten();
        known.filter_map(|at| statements.get(*at))
    }
}
