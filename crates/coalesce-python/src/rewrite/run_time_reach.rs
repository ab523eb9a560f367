//! How far a module's `__getattr__` can reach that could not be read as a table: where each name that it imports by comes
//! from literals of another module, it can only come to what those spell.

mod handed_on;

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Change, Texts};
use ruff_python_ast::{
    self as ast, Expr, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;

use self::handed_on::handed_to_library;
use super::run_time_asked::{self, NamesReached};
use crate::{
    analysis::{
        predicates::{blocks, is_literal},
        run_time::ImportingCode,
    },
    facts::ImportStatement,
    graph::{Entity, PythonGraph},
    parser,
    requirements::standard::is_standard,
};

/// Whether the function at a place of a module may load what a change is about. Whatever is not followed counts as
/// reaching everything.
pub fn may_load(
    graph: &PythonGraph,
    module: usize,
    span: ByteSpan,
    change: &Change,
    texts: &dyn Texts,
) -> bool {
    if let Some(spelled) = handed_to_library(graph, module, span, texts) {
        return spelled.says(graph, module, change);
    }
    match sources(graph, module, span, texts) {
        Some(sources) => sources
            .iter()
            .any(|source| spells(graph, *source, &change.from, texts)),
        None => asked_reach(graph, module, span, texts)
            .is_none_or(|reach| reach.comes_to(graph, change)),
    }
}

/// What the `__getattr__` at a place comes to by the name that it is asked for, where that is known.
fn asked_reach(
    graph: &PythonGraph,
    module: usize,
    span: ByteSpan,
    texts: &dyn Texts,
) -> Option<NamesReached> {
    let text = texts.text(&graph.modules.get(module)?.path)?;
    let (parsed, start) = parser::parse_module(&text);
    let suite = parser::statements(&parsed);
    let mut functions = suite.iter().filter_map(Stmt::as_function_def_stmt);
    let function = functions.find(|function| {
        function.name.as_str() == "__getattr__"
            && function.range().start().to_u32() + start == span.start
    })?;
    run_time_asked::reach(graph, module, suite, function)
}

/// The modules of whose literals the function imports; `None` where it imports by something else, too.
fn sources(
    graph: &PythonGraph,
    module: usize,
    span: ByteSpan,
    texts: &dyn Texts,
) -> Option<BTreeSet<usize>> {
    let text = texts.text(&graph.modules.get(module)?.path)?;
    let (parsed, start) = parser::parse_module(&text);
    let suite = parser::statements(&parsed);
    if maker(suite, span.start.checked_sub(start)?)
        .is_some_and(|name| makes_no_imports(graph, (module, &text), name, texts))
    {
        return Some(BTreeSet::new());
    }
    let function = suite.iter().find_map(|statement| match statement {
        Stmt::FunctionDef(function) if function.range().start().to_u32() + start == span.start => {
            Some(function)
        }
        _ => None,
    })?;
    let mut loader = Loader::default();
    loader.visit_body(&function.body);
    let mut seen = BTreeSet::from([function.name.as_str()]);
    loop {
        let next = suite.iter().find_map(|statement| match statement {
            Stmt::FunctionDef(other)
                if loader.code.names.contains(other.name.as_str())
                    && !seen.contains(other.name.as_str()) =>
            {
                Some(other)
            }
            _ => None,
        });
        let Some(next) = next else { break };
        seen.insert(next.name.as_str());
        loader.visit_body(&next.body);
    }
    if loader.code.imported.is_empty() {
        return None;
    }
    loader
        .code
        .imported
        .iter()
        .map(|argument| {
            loader
                .table(argument, 0)
                .and_then(|table| of_other(graph, module, table))
        })
        .collect()
}

/// The name of the function whose call at a place makes the module's `__getattr__`.
fn maker(suite: &[Stmt], at: u32) -> Option<&str> {
    Some(maker_call(suite, at)?.func.as_name_expr()?.id.as_str())
}

/// The call at a place that makes the module's `__getattr__`.
pub(super) fn maker_call(suite: &[Stmt], at: u32) -> Option<&ast::ExprCall> {
    suite.iter().find_map(|statement| {
        let Stmt::Assign(assign) = statement else {
            return blocks(statement)
                .into_iter()
                .find_map(|suite| maker_call(suite, at));
        };
        let call = assign.value.as_call_expr()?;
        let [Expr::Name(target)] = assign.targets.as_slice() else {
            return None;
        };
        let is_it = call.range().start().to_u32() == at && target.id.as_str() == "__getattr__";
        is_it.then_some(call)
    })
}

/// What a text has that imports by names that it is given, or runs texts.
const IMPORTING: [&str; 9] = [
    "__import__",
    "__loader__",
    "__spec__",
    "eval(",
    "exec(",
    "import_module",
    "importlib",
    "pkgutil",
    "sys.modules",
];

/// Whether a function that a module imports from another one of the tree imports nothing, and gives nothing that does: its
/// file and that of the module have no words for it, and its file imports from the standard library alone.
fn makes_no_imports(
    graph: &PythonGraph,
    (module, own): (usize, &str),
    name: &str,
    texts: &dyn Texts,
) -> bool {
    let quiet = |text: &str| !IMPORTING.iter().any(|word| text.contains(word));
    let facts = graph.facts.get(module);
    let mut bringing = facts
        .into_iter()
        .flat_map(|facts| &facts.imports)
        .filter(|import| {
            let mut leaves = import.leaves.iter();
            leaves.any(|leaf| leaf.bound() == name)
        });
    let (Some(import), None) = (bringing.next(), bringing.next()) else {
        return false;
    };
    let Some(home) = graph.base_module(module, import) else {
        return false;
    };
    let text = graph
        .modules
        .get(home)
        .and_then(|home| texts.text(&home.path));
    let imports = graph.facts.get(home).map(|facts| facts.imports.as_slice());
    let defined = import.leaves.iter().any(|leaf| {
        let entity = graph.member(home, &leaf.name.text);
        leaf.bound() == name && matches!(entity, Entity::Item(found, _) if found == home)
    });
    let standard = imports.is_some_and(|imports| imports.iter().all(is_of_standard_library));
    defined && standard && quiet(own) && text.is_some_and(|text| quiet(&text))
}

fn is_of_standard_library(import: &ImportStatement) -> bool {
    let top = |name: &str| is_standard(name.split('.').next().unwrap_or(name));
    match &import.from {
        Some(from) => from.level == 0 && top(&from.module),
        None => import.leaves.iter().all(|leaf| top(&leaf.name.text)),
    }
}

/// The module of the tree that a name is imported from, where it is a literal table that nothing changes.
fn of_other(graph: &PythonGraph, module: usize, table: &str) -> Option<usize> {
    let facts = graph.facts.get(module)?;
    let mut found = facts
        .imports
        .iter()
        .filter(|import| import.top_level && !import.conditional);
    let import = found.find(|import| import.leaves.iter().any(|leaf| leaf.bound() == table))?;
    let leaf = import.leaves.iter().find(|leaf| leaf.bound() == table)?;
    let source = graph.base_module(module, import)?;
    graph.binds(source, &leaf.name.text).then_some(source)
}

/// Whether a module may spell what loads a thing of this name: as the end of a text that is no full name, which
/// follows as such, or in a way that is no literal at all.
fn spells(graph: &PythonGraph, source: usize, name: &str, texts: &dyn Texts) -> bool {
    let module = graph.modules.get(source);
    let Some(text) = module.and_then(|module| texts.text(&module.path)) else {
        return true;
    };
    let (parsed, _) = parser::parse_module(&text);
    let mut literals = Literals {
        name,
        last: name.rsplit('.').next().unwrap_or(name),
        found: false,
    };
    for statement in parser::statements(&parsed) {
        literals.found |= may_spell_otherwise(statement);
        literals.visit_stmt(statement);
    }
    literals.found
}

/// Whether a statement may give texts in another way than by literals.
fn may_spell_otherwise(statement: &Stmt) -> bool {
    match statement {
        Stmt::Assign(assign) => !is_literal(&assign.value),
        Stmt::AnnAssign(assign) => {
            let value = assign.value.as_deref();
            value.is_some_and(|value| !is_literal(value))
        }
        Stmt::Expr(expression) => !expression.value.is_string_literal_expr(),
        Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_) => false,
        _ => true,
    }
}

struct Literals<'n> {
    name: &'n str,
    last: &'n str,
    found: bool,
}

impl<'a> Visitor<'a> for Literals<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::StringLiteral(literal) = expression {
            let text = literal.value.to_str();
            let ends = text.strip_suffix(self.last);
            let ends = ends.is_some_and(|before| before.is_empty() || before.ends_with(['.', ':']));
            self.found |= ends && text != self.name;
        }
        visitor::walk_expr(self, expression);
    }
}

/// What a function imports by.
#[derive(Default)]
struct Loader<'t> {
    code: ImportingCode<'t>,
    /// What local names are given, with `None` for what is no plain value.
    values: Vec<(&'t str, Option<&'t Expr>)>,
}

impl<'t> Loader<'t> {
    /// The table that an argument is looked up in.
    fn table(&self, argument: &'t Expr, depth: usize) -> Option<&'t str> {
        match argument {
            Expr::Subscript(subscript) => match &*subscript.value {
                Expr::Name(table) if !self.is_local(&table.id) => Some(table.id.as_str()),
                other => self.table(other, depth),
            },
            Expr::Call(call) => self.table_of_get(call),
            Expr::Name(name) if depth < 4 => {
                let values = self.values.iter();
                let mut values = values.filter(|(local, _)| *local == name.id.as_str());
                match (values.next(), values.next()) {
                    (Some((_, Some(value))), None) => self.table(value, depth + 1),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `TABLE.get(name)`.
    fn table_of_get(&self, call: &'t ast::ExprCall) -> Option<&'t str> {
        let get = call.func.as_attribute_expr()?;
        let is_get = get.attr.as_str() == "get" && call.arguments.args.len() == 1;
        let table = get.value.as_name_expr().filter(|_| is_get)?;
        (!self.is_local(&table.id)).then_some(table.id.as_str())
    }

    fn is_local(&self, name: &str) -> bool {
        self.values.iter().any(|(local, _)| *local == name)
    }

    fn bind(&mut self, target: &'t Expr, value: Option<&'t Expr>) {
        match target {
            Expr::Name(name) => self.values.push((name.id.as_str(), value)),
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                // Each of them is a part of what is looked up.
                let looked_up = value.filter(|value| value.is_subscript_expr());
                elts.iter().for_each(|one| self.bind(one, looked_up));
            }
            _ => {}
        }
    }
}

impl<'t> Visitor<'t> for Loader<'t> {
    fn visit_stmt(&mut self, statement: &'t Stmt) {
        for (target, value) in run_time_asked::given(statement) {
            self.bind(target, value);
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'t Expr) {
        self.code.note(expression);
        if let Expr::Named(named) = expression {
            self.bind(&named.target, Some(&named.value));
        }
        visitor::walk_expr(self, expression);
    }
}
