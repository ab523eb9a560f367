//! A module's own `__getattr__`: the tables that it looks names up in, and its branches.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::ByteSpan;
use ruff_python_ast::{
    self as ast, CmpOp, Expr, InterpolatedStringElement, Operator, Stmt,
    visitor::{self, Visitor},
};

use super::{
    Functions, LazyForm, LazyImport, Piece, Prefix, Search, leaf, pieces, prefix, statement, tables,
};
use crate::{
    analysis::{
        predicates::{is_name, last_name},
        run_time::ImportingCode,
    },
    facts::{FromPart, ImportStatement, Spanned},
};

/// Longer chains of names that hold a text are not followed.
const MAXIMUM_VALUES: usize = 8;

/// What a function and those that it calls do, as far as imports depend on it.
#[derive(Default)]
struct Body<'t> {
    code: ImportingCode<'t>,
    /// Values of local names.
    values: BTreeMap<&'t str, &'t Expr>,
}

impl<'t> Visitor<'t> for Body<'t> {
    fn visit_stmt(&mut self, statement: &'t Stmt) {
        if let Stmt::Assign(assign) = statement
            && let [Expr::Name(name)] = assign.targets.as_slice()
        {
            self.values.insert(name.id.as_str(), &assign.value);
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'t Expr) {
        self.code.note(expression);
        visitor::walk_expr(self, expression);
    }
}

impl<'t> Body<'t> {
    /// The parts of an argument, through one local name.
    fn pieces(&self, argument: &'t Expr) -> Vec<Piece> {
        let value = match argument {
            Expr::Name(name) => self.values.get(name.id.as_str()).copied(),
            _ => None,
        };
        pieces(value.unwrap_or(argument))
    }

    /// Whether a text is made of another one otherwise than by looking it up and by putting texts together: names that
    /// a table has are not the names of modules then.
    fn is_worked_out(&self, text: &'t Expr, depth: usize) -> bool {
        if depth > MAXIMUM_VALUES {
            return true;
        }
        let is_worked_out = |text| self.is_worked_out(text, depth + 1);
        match text {
            Expr::Name(name) => {
                let value = self.values.get(name.id.as_str());
                value.is_some_and(|value| is_worked_out(value))
            }
            Expr::FString(text) => self.is_formatted(text, depth + 1),
            Expr::BinOp(sum) => {
                sum.op != Operator::Add || is_worked_out(&sum.left) || is_worked_out(&sum.right)
            }
            Expr::If(either) => is_worked_out(&either.body) || is_worked_out(&either.orelse),
            Expr::Named(named) => is_worked_out(&named.value),
            Expr::Call(call) => match (last_name(&call.func), &*call.arguments.args) {
                (Some("get"), _) => false,
                (Some("str"), [text]) => is_worked_out(text),
                _ => true,
            },
            other => !is_plain(other),
        }
    }

    /// Whether a part of a text is formatted, or worked out.
    fn is_formatted(&self, text: &'t ast::ExprFString, depth: usize) -> bool {
        let mut elements = text.value.elements();
        elements.any(|element| match element {
            InterpolatedStringElement::Literal(_) => false,
            InterpolatedStringElement::Interpolation(part) => {
                part.format_spec.is_some() || self.is_worked_out(&part.expression, depth)
            }
        })
    }
}

/// Whether a text is written where it stands, or looked up.
fn is_plain(text: &Expr) -> bool {
    text.is_literal_expr() || text.is_attribute_expr() || text.is_subscript_expr()
}

impl<'t> Search<'t> {
    /// Reads a `__getattr__` among the statements of its module.
    pub(super) fn getattr(
        &mut self,
        function: &'t ast::StmtFunctionDef,
        functions: &Functions<'t>,
    ) {
        let body = reached(function, functions);
        let tables = self.tables_of(&body);
        for table in tables.iter().filter(|table| table.is_relative()) {
            self.add(table, &Prefix::None);
        }
        self.add_absolute(&body, &tables, self.span(function));
        let parameter = function.parameters.iter().next();
        if let Some(parameter) = parameter {
            self.branches(&function.body, parameter.name().as_str());
        }
    }

    /// The tables that a body looks names up in. A list of some of the names says what else is done with them.
    fn tables_of(&self, body: &Body<'t>) -> Vec<tables::Table> {
        let names = body.code.names.iter();
        let tables: Vec<&tables::Table> =
            names.filter_map(|name| self.tables.named(name)).collect();
        let whole = tables
            .iter()
            .filter(|table| !tables.iter().any(|other| table.is_part_of(other)));
        whole.map(|table| (*table).clone()).collect()
    }

    /// Adds what the tables stand for whose texts the body puts something before.
    fn add_absolute(&mut self, body: &Body<'t>, tables: &[tables::Table], at: ByteSpan) {
        let imported = body.code.imported.iter();
        let prefixes: Vec<Prefix> = imported
            .filter_map(|argument| prefix(&body.pieces(argument)))
            .collect();
        let others: Vec<&tables::Table> =
            tables.iter().filter(|table| !table.is_relative()).collect();
        let worked_out = |argument: &&Expr| body.is_worked_out(argument, 0);
        match prefixes.as_slice() {
            // `f"._{snake_case(name)}"`: no table says what that comes to.
            _ if body.code.imported.iter().any(worked_out) => self.found.unknown.push(at),
            [] if others.is_empty() => {}
            [] => self.found.perhaps.push(at),
            [first, rest @ ..] if rest.iter().all(|other| other == first) => {
                others.iter().for_each(|table| self.add(table, first));
                if tables.is_empty() || tables.iter().any(|table| !table.whole) {
                    self.found.unknown.push(at);
                }
            }
            _ if others.is_empty() && !tables.is_empty() => {}
            _ => self.found.unknown.push(at),
        }
    }

    /// `if name == "x": …` and `match name: case "x": …`.
    fn branches(&mut self, body: &'t [Stmt], parameter: &str) {
        for statement in body {
            match statement {
                Stmt::If(block) => self.branches_of_if(block, parameter),
                Stmt::Match(block) if is_name(&block.subject, parameter) => self.cases(block),
                Stmt::Try(block) => self.branches(&block.body, parameter),
                _ => {}
            }
        }
    }

    fn branches_of_if(&mut self, block: &'t ast::StmtIf, parameter: &str) {
        self.branch(&asked(&block.test, parameter), &block.body);
        self.branches(&block.body, parameter);
        for clause in &block.elif_else_clauses {
            let asked = clause.test.as_ref().map(|test| asked(test, parameter));
            self.branch(&asked.unwrap_or_default(), &clause.body);
            self.branches(&clause.body, parameter);
        }
    }

    fn cases(&mut self, block: &'t ast::StmtMatch) {
        for case in &block.cases {
            let asked = match &case.pattern {
                ast::Pattern::MatchValue(value) => literals(&value.value),
                _ => Vec::new(),
            };
            self.branch(&asked, &case.body);
        }
    }

    /// What a branch returns for the names that it is asked for.
    fn branch(&mut self, asked: &[&'t ast::ExprStringLiteral], body: &'t [Stmt]) {
        let returned = body.iter().find_map(|statement| match statement {
            Stmt::Return(found) => found.value.as_deref(),
            _ => None,
        });
        let Some(returned) = returned else { return };
        for literal in asked {
            let span = self.span(*literal);
            let name = Spanned {
                text: literal.value.to_str().to_owned(),
                span,
            };
            if let Some(import) = self.returned(returned, body, &name) {
                let table = self.found.imports.len();
                self.found.imports.push(LazyImport {
                    import,
                    form: LazyForm::Branch,
                    entry: span,
                    table,
                });
            }
        }
    }

    fn returned(
        &self,
        value: &'t Expr,
        body: &'t [Stmt],
        bound: &Spanned,
    ) -> Option<ImportStatement> {
        match value {
            Expr::Name(name) => self.imported_as(name.id.as_str(), body, bound),
            Expr::Attribute(attribute) => self.attribute_returned(attribute, body, bound),
            Expr::Call(call) => self.call_returned(call, bound),
            _ => None,
        }
    }

    /// `return module.name`, where the branch imports the module.
    fn attribute_returned(
        &self,
        attribute: &'t ast::ExprAttribute,
        body: &'t [Stmt],
        bound: &Spanned,
    ) -> Option<ImportStatement> {
        let attr = self.spanned(attribute.attr.as_str(), attribute.attr.range);
        match &*attribute.value {
            Expr::Call(call) => {
                let from = self.run_time(call)?;
                Some(statement(from, vec![leaf(&attr, bound)]))
            }
            Expr::Name(module) => {
                let import = self.imported_as(module.id.as_str(), body, bound)?;
                let mut from = import.from?;
                let last = &import.leaves.first()?.name.text;
                let dot = if from.module.is_empty() { "" } else { "." };
                from.module = format!("{}{dot}{last}", from.module);
                Some(statement(from, vec![leaf(&attr, bound)]))
            }
            _ => None,
        }
    }

    /// `return import_module(".name", __package__)`
    fn call_returned(&self, call: &'t ast::ExprCall, bound: &Spanned) -> Option<ImportStatement> {
        let mut from = self.run_time(call)?;
        let (above, last) = match from.module.rsplit_once('.') {
            Some((above, last)) => (above.to_owned(), last.to_owned()),
            None if from.level > 0 => (String::new(), from.module.clone()),
            None => return None,
        };
        let name = Spanned {
            text: last,
            span: from.span,
        };
        from.module = above;
        Some(statement(from, vec![leaf(&name, bound)]))
    }

    /// The import of a body that binds a name.
    fn imported_as(
        &self,
        name: &str,
        body: &'t [Stmt],
        bound: &Spanned,
    ) -> Option<ImportStatement> {
        body.iter().find_map(|each| {
            let import = each.as_import_from_stmt()?;
            self.bound_by(import, name, bound)
        })
    }

    /// What one import statement binds a name to.
    fn bound_by(
        &self,
        import: &'t ast::StmtImportFrom,
        name: &str,
        bound: &Spanned,
    ) -> Option<ImportStatement> {
        let alias = import.names.iter().find(|alias| {
            let own = alias.asname.as_ref().unwrap_or(&alias.name);
            own.as_str() == name
        })?;
        let module = import.module.as_ref();
        let from = FromPart {
            level: import.level,
            module: module.map(ToString::to_string).unwrap_or_default(),
            span: self.span(import),
        };
        let found = self.spanned(alias.name.as_str(), alias.name.range);
        Some(statement(from, vec![leaf(&found, bound)]))
    }

    /// The module that a call of `import_module` with a known text imports.
    fn run_time(&self, call: &'t ast::ExprCall) -> Option<FromPart> {
        if !matches!(last_name(&call.func), Some("import_module")) {
            return None;
        }
        super::super::run_time::module(call, self.start).map(|found| found.from)
    }

    fn spanned(&self, text: &str, range: ruff_text_size::TextRange) -> Spanned {
        Spanned {
            text: text.to_owned(),
            span: self.span(range),
        }
    }
}

/// Whether a function names something.
pub(super) fn names(function: &ast::StmtFunctionDef, name: &str) -> bool {
    let mut body = Body::default();
    body.visit_body(&function.body);
    body.code.names.contains(name)
}

/// A function with those of its module that it names.
fn reached<'t>(function: &'t ast::StmtFunctionDef, functions: &Functions<'t>) -> Body<'t> {
    let mut body = Body::default();
    let mut open = vec![function];
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    while let Some(function) = open.pop() {
        if !seen.insert(function.name.as_str()) {
            continue;
        }
        body.visit_body(&function.body);
        let named = body.code.names.iter().filter(|name| !seen.contains(*name));
        let named = named.filter_map(|name| functions.get(name)).flatten();
        let mut named: Vec<_> = named.copied().collect();
        named.sort_unstable_by_key(|function| function.range.start());
        open.extend(named);
    }
    body
}

/// The literals of an expression that is one, or a list of some.
fn literals(expression: &Expr) -> Vec<&ast::ExprStringLiteral> {
    let elements = match expression {
        Expr::StringLiteral(literal) => return vec![literal],
        Expr::Tuple(tuple) => &tuple.elts,
        Expr::List(list) => &list.elts,
        Expr::Set(set) => &set.elts,
        _ => return Vec::new(),
    };
    elements
        .iter()
        .filter_map(Expr::as_string_literal_expr)
        .collect()
}

/// The names that a test asks for: `name == "x"`, `name in ("x", "y")`.
fn asked<'t>(test: &'t Expr, parameter: &str) -> Vec<&'t ast::ExprStringLiteral> {
    let Expr::Compare(compare) = test else {
        return Vec::new();
    };
    match (&*compare.ops, &*compare.comparators) {
        ([CmpOp::Eq | CmpOp::In], [right]) if is_name(&compare.left, parameter) => literals(right),
        _ => Vec::new(),
    }
}
