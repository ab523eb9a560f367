//! Tables that load modules at run time, read as the imports that they stand for.
//!
//! `_import_structure` of a lazy module, the arguments of `lazy_loader.attach`, a literal table that a
//! module's `__getattr__` looks names up in, and the branches of one: each entry is what an import
//! statement would say. What is made by a call or put together from unknown parts is told as a table of
//! an unknown kind, never guessed.

mod closed;
mod getattr;
mod pieces;
mod tables;

use coalesce_model::{ByteSpan, Guard};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use super::{
    predicates::{blocks, last_name},
    shift,
};
use crate::{
    extract::is_identifier,
    facts::{FromPart, ImportStatement, Leaf, Spanned},
};

pub use pieces::{Piece, Prefix, pieces, pieces_with, prefix};
use tables::{Entry, Table, Tables, Value};

/// An import that a table stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LazyImport {
    /// The statement that says the same; its spans are those of the texts between the quotes.
    pub import: ImportStatement,
    /// How the table says it.
    pub form: LazyForm,
    /// The whole entry.
    pub entry: ByteSpan,
    /// Entries of one table have one number.
    pub table: usize,
}

/// How a table says what is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LazyForm {
    /// `"module": ["name", …]`: the names of a module.
    Names(Written),
    /// An element of a list of modules.
    Submodule,
    /// `"name": "module"`, and what stands before the text when it is imported.
    Module(Prefix),
    /// A branch of `__getattr__`, whose own import is rewritten where it stands.
    Branch,
}

/// Where an entry of names stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// In the braces of a table.
    Literal,
    /// In a statement of its own: `table["module"] = ["name"]`.
    Statement,
}

/// What a file imports by tables.
#[derive(Debug, Default)]
pub struct LazyTables {
    /// What the tables stand for.
    pub imports: Vec<LazyImport>,
    /// Tables of unknown kinds.
    pub unknown: Vec<ByteSpan>,
    /// Functions that look names up in tables of which nobody knows whether they load modules.
    pub perhaps: Vec<ByteSpan>,
    /// Names come from the file of types beside this one: `attach_stub`.
    pub stub: bool,
    /// Names may be there that no text shows.
    pub dynamic: bool,
    /// Those are the names of a table of `lazy_loader`, or of the file of types beside this one, and no others.
    pub tabled: bool,
}

/// Reads the tables of a module.
pub fn find(body: &[Stmt], text: &str, start: u32) -> LazyTables {
    let has = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    if !(has("__getattr__") || has("modules[") || has("attach")) {
        return LazyTables::default();
    }
    let mut tables = Tables::new(start);
    tables.suite(body);
    let mut search = Search {
        start,
        tables,
        asked: body.iter().find_map(|statement| match statement {
            Stmt::FunctionDef(function) if function.name.as_str() == "__getattr__" => {
                Some(function)
            }
            _ => None,
        }),
        found: LazyTables::default(),
    };
    search.suite(body);
    search.found.tabled = closed::is_closed(body, text);
    search.found
}

/// Functions of a suite by their names.
type Functions<'t> = FxHashMap<&'t str, Vec<&'t ast::StmtFunctionDef>>;

fn functions_of(body: &[Stmt]) -> Functions<'_> {
    let mut functions = Functions::default();
    for function in body.iter().filter_map(Stmt::as_function_def_stmt) {
        functions
            .entry(function.name.as_str())
            .or_default()
            .push(function);
    }
    functions
}

struct Search<'t> {
    start: u32,
    tables: Tables<'t>,
    /// The module's own `__getattr__`.
    asked: Option<&'t ast::StmtFunctionDef>,
    found: LazyTables,
}

impl<'t> Search<'t> {
    fn span(&self, node: impl Ranged) -> ByteSpan {
        shift(node.range(), self.start)
    }

    /// Statements that executing the module comes to.
    fn suite(&mut self, body: &'t [Stmt]) {
        let is_asked = |statement: &Stmt| matches!(statement, Stmt::FunctionDef(function) if function.name.as_str() == "__getattr__");
        let functions = match body.iter().any(is_asked) {
            true => functions_of(body),
            false => Functions::default(),
        };
        for statement in body {
            match statement {
                Stmt::FunctionDef(function) if function.name.as_str() == "__getattr__" => {
                    self.found.dynamic = true;
                    self.getattr(function, &functions);
                }
                Stmt::Assign(assign) => self.assign(assign),
                other => blocks(other)
                    .into_iter()
                    .for_each(|suite| self.suite(suite)),
            }
        }
    }

    fn assign(&mut self, assign: &'t ast::StmtAssign) {
        for target in &assign.targets {
            let takes_over = is_own_module(target);
            if takes_over || binds_getattr(target) || self.is_fallback(target, &assign.value) {
                self.found.dynamic = true;
                self.made(&assign.value, takes_over);
            }
        }
    }

    /// `original, … = attach_stub(…)`, which the module's own `__getattr__` calls in the end.
    fn is_fallback(&self, target: &'t Expr, value: &'t Expr) -> bool {
        let Expr::Call(call) = value else {
            return false;
        };
        let Expr::Tuple(names) = target else {
            return false;
        };
        let first = names.elts.first().and_then(Expr::as_name_expr);
        matches!(last_name(&call.func), Some("attach" | "attach_stub"))
            && first
                .zip(self.asked)
                .is_some_and(|(name, function)| getattr::names(function, name.id.as_str()))
    }

    /// What takes the place of the module, or looks its names up, is made by a call.
    fn made(&mut self, value: &'t Expr, takes_over: bool) {
        let Expr::Call(call) = value else {
            return;
        };
        match last_name(&call.func) {
            Some("attach_stub") => self.found.stub = true,
            Some("attach") if !takes_over => self.attach(call),
            _ => self.structure(call),
        }
    }

    /// `attach(__name__, submodules, submod_attrs)`.
    fn attach(&mut self, call: &'t ast::ExprCall) {
        let argument = |at: usize, name: &str| call.arguments.find_argument_value(name, at);
        let own = argument(0, "package_name").is_some_and(|value| {
            matches!(value, Expr::Name(name) if matches!(name.id.as_str(), "__name__" | "__package__"))
        });
        let (modules, names) = (argument(1, "submodules"), argument(2, "submod_attrs"));
        for value in modules.into_iter().chain(names) {
            match self.tables.of(value).filter(|table| own && table.whole) {
                Some(table) => self.add(&table, &Prefix::Package),
                None if matches!(value, Expr::NoneLiteral(_)) => {}
                None => self.found.unknown.push(self.span(call)),
            }
        }
    }

    /// A lazy module that is made with a table of the names of each module.
    fn structure(&mut self, call: &'t ast::ExprCall) {
        let keywords = call.arguments.keywords.iter();
        let values = call
            .arguments
            .args
            .iter()
            .chain(keywords.map(|each| &each.value));
        let mut known = false;
        for value in values {
            let table = self.tables.of(value);
            let table = table.filter(|table| table.entries.iter().any(Entry::has_names));
            let Some(table) = table else { continue };
            known = true;
            if !table.whole {
                self.found.unknown.push(self.span(value));
            }
            self.add(&table, &Prefix::Package);
        }
        if !known {
            self.found.unknown.push(self.span(call));
        }
    }

    /// Adds what a table stands for.
    fn add(&mut self, table: &Table, prefix: &Prefix) {
        let number = self.found.imports.len();
        let by_name = table.is_by_name();
        for entry in &table.entries {
            let found = import_of(entry, prefix, by_name);
            let Some(import) = found.filter(is_named) else {
                continue;
            };
            let form = form_of(entry, prefix, by_name);
            let same = |other: &LazyImport| other.entry == entry.span;
            if !self.found.imports.iter().any(same) {
                self.found.imports.push(LazyImport {
                    import,
                    form,
                    entry: entry.span,
                    table: number,
                });
            }
        }
    }
}

/// The import that an entry of a table stands for, if it is known.
fn import_of(entry: &Entry, prefix: &Prefix, by_name: bool) -> Option<ImportStatement> {
    match &entry.value {
        Value::Nothing if by_name => submodule(&entry.key, &Prefix::Package),
        Value::Nothing => submodule(&entry.key, prefix),
        Value::Text(module) => Some(one(prefix, module, &entry.key, &entry.key)),
        Value::Texts(texts) => match texts.as_slice() {
            [module, name] if by_name => Some(one(prefix, module, name, &entry.key)),
            _ if by_name => None,
            [] => submodule(&entry.key, prefix),
            names => Some(several(prefix, &entry.key, names)),
        },
    }
}

fn form_of(entry: &Entry, prefix: &Prefix, by_name: bool) -> LazyForm {
    match &entry.value {
        Value::Nothing => LazyForm::Submodule,
        Value::Text(_) => LazyForm::Module(prefix.clone()),
        Value::Texts(texts) if by_name || texts.is_empty() => LazyForm::Module(prefix.clone()),
        Value::Texts(_) => LazyForm::Names(entry.written),
    }
}

/// Whether a statement that was made of texts could stand in a file.
fn is_named(import: &ImportStatement) -> bool {
    let from = import.from.iter().map(|from| from.module.as_str());
    let modules = from.filter(|module| !module.is_empty());
    let names = import.leaves.iter().map(|leaf| leaf.name.text.as_str());
    modules
        .flat_map(|module| module.split('.'))
        .chain(names)
        .all(is_identifier)
}

/// `sys.modules[__name__]`.
fn is_own_module(target: &Expr) -> bool {
    let Expr::Subscript(subscript) = target else {
        return false;
    };
    let own = matches!(&*subscript.slice, Expr::Name(name) if name.id.as_str() == "__name__");
    own && last_name(&subscript.value) == Some("modules")
}

fn binds_getattr(target: &Expr) -> bool {
    match target {
        Expr::Name(name) => name.id.as_str() == "__getattr__",
        Expr::Tuple(tuple) => tuple.elts.iter().any(binds_getattr),
        _ => false,
    }
}

/// The module that a text names when it is imported with this prefix.
fn module_part(prefix: &Prefix, text: &Spanned) -> FromPart {
    let whole = match prefix {
        Prefix::None => text.text.clone(),
        Prefix::Package => format!(".{}", text.text),
        Prefix::Text(before) => format!("{before}{}", text.text),
    };
    FromPart::of_text(&whole, text.span)
}

pub(super) fn statement(from: FromPart, leaves: Vec<Leaf>) -> ImportStatement {
    ImportStatement {
        span: from.span,
        from: Some(from),
        leaves,
        eager: false,
        top_level: true,
        guard: Guard::None,
        conditional: false,
        lazy: true,
    }
}

pub(super) fn leaf(name: &Spanned, bound: &Spanned) -> Leaf {
    Leaf {
        name: name.clone(),
        alias: (name.text != bound.text).then(|| bound.clone()),
        span: name.span,
        line: 0,
    }
}

/// `"name": "module"`: the name of the module, or the module itself where the text ends with the name.
fn one(prefix: &Prefix, module: &Spanned, name: &Spanned, bound: &Spanned) -> ImportStatement {
    let mut from = module_part(prefix, module);
    if name == bound {
        let above = match from.module.rsplit_once('.') {
            Some((above, last)) => (last == name.text).then_some(above),
            None => (from.level > 0 && from.module == name.text).then_some(""),
        };
        if let Some(above) = above.map(str::to_owned) {
            from.module = above;
        }
    }
    statement(from, vec![leaf(name, bound)])
}

fn several(prefix: &Prefix, module: &Spanned, names: &[Spanned]) -> ImportStatement {
    let leaves = names.iter().map(|name| leaf(name, name)).collect();
    statement(module_part(prefix, module), leaves)
}

/// A module by its name below the package; none when its name says more.
fn submodule(key: &Spanned, prefix: &Prefix) -> Option<ImportStatement> {
    let mut from = module_part(prefix, key);
    let (above, last) = from.module.rsplit_once('.').unwrap_or(("", &from.module));
    let name = Spanned {
        text: last.to_owned(),
        span: key.span,
    };
    if above.is_empty() && from.level == 0 {
        return None;
    }
    from.module = above.to_owned();
    Some(statement(from, vec![leaf(&name, &name)]))
}
