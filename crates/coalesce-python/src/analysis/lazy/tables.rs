//! Literal tables of module-level code: what is written into them, wherever that stands.

use std::collections::BTreeMap;

use coalesce_model::ByteSpan;
use ruff_python_ast::{self as ast, Expr, Operator, Stmt};
use ruff_text_size::Ranged;

use super::Written;
use crate::{
    analysis::{predicates::blocks, shift},
    facts::Spanned,
};

/// A table of texts.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub entries: Vec<Entry>,
    /// All that is written into it was read.
    pub whole: bool,
}

/// One entry.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: Spanned,
    pub value: Value,
    pub span: ByteSpan,
    pub written: Written,
}

/// What stands at a key.
#[derive(Clone, Debug)]
pub enum Value {
    /// It is an element of a list.
    Nothing,
    /// A text.
    Text(Spanned),
    /// Several.
    Texts(Vec<Spanned>),
}

impl Entry {
    pub fn has_names(&self) -> bool {
        matches!(self.value, Value::Texts(_))
    }
}

impl Table {
    /// Whether it lists nothing but names that another table says the modules of.
    pub fn is_part_of(&self, names: &Self) -> bool {
        let listed = |entry: &Entry| matches!(entry.value, Value::Nothing);
        let known = |entry: &Entry| {
            names
                .entries
                .iter()
                .any(|each| each.key.text == entry.key.text)
        };
        let is_list = self.whole && self.entries.iter().all(listed);
        is_list && names.is_by_name() && self.entries.iter().all(known)
    }

    /// Whether every module in it says by dots what it counts from.
    pub fn is_relative(&self) -> bool {
        let dots = |entry: &Entry| match &entry.value {
            Value::Text(text) => text.text.starts_with('.'),
            Value::Texts(texts) => texts.first().is_some_and(|text| text.text.starts_with('.')),
            // Among names, the key is a module of the package.
            Value::Nothing => true,
        };
        self.is_by_name() && self.entries.iter().all(dots)
    }

    /// Whether the keys are names and the values say where those are: `"name": "module"`,
    /// `"name": ("module", "name")`.
    pub fn is_by_name(&self) -> bool {
        let dotted = |entry: &Entry| match &entry.value {
            Value::Texts(texts) => {
                matches!(texts.as_slice(), [module, _] if module.text.contains('.'))
            }
            _ => false,
        };
        let text = |entry: &Entry| matches!(entry.value, Value::Text(_));
        let mut named = self.entries.iter().filter(|entry| entry.has_names());
        self.entries.iter().any(text)
            || (self.entries.iter().any(Entry::has_names) && named.all(dotted))
    }
}

/// The tables of a module by their names.
pub struct Tables<'t> {
    start: u32,
    tables: BTreeMap<&'t str, Table>,
    /// Tables that are made of others: `{name: module for module, names in table.items() …}`.
    derived: BTreeMap<&'t str, &'t str>,
}

impl<'t> Tables<'t> {
    pub fn new(start: u32) -> Self {
        Self {
            start,
            tables: BTreeMap::new(),
            derived: BTreeMap::new(),
        }
    }

    /// Reads the statements that executing the module comes to.
    pub fn suite(&mut self, body: &'t [Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'t Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.assign(target, &assign.value, self.span(statement));
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assign(&assign.target, value, self.span(statement));
                }
            }
            Stmt::AugAssign(assign) if assign.op == Operator::Add => {
                self.extend(&assign.target, &assign.value, self.span(statement));
            }
            Stmt::Expr(expression) => {
                if let Expr::Call(call) = &*expression.value {
                    self.call(call, self.span(statement));
                }
            }
            other => blocks(other)
                .into_iter()
                .for_each(|suite| self.suite(suite)),
        }
    }

    /// The table that an expression is or names.
    pub fn of(&self, value: &Expr) -> Option<Table> {
        match value {
            Expr::Name(name) => self.named(name.id.as_str()).cloned(),
            other => self.literal(other),
        }
    }

    /// The table of a name, through those that are made of it.
    pub fn named(&self, name: &str) -> Option<&Table> {
        let name = self.derived.get(name).copied().unwrap_or(name);
        self.tables.get(name)
    }

    fn span(&self, node: impl Ranged) -> ByteSpan {
        shift(node.range(), self.start)
    }

    fn assign(&mut self, target: &'t Expr, value: &'t Expr, span: ByteSpan) {
        match target {
            Expr::Name(name) => {
                let name = name.id.as_str();
                if let Some(of) = comprehended(value) {
                    self.derived.insert(name, of);
                } else if let Some(table) = self.literal(value) {
                    self.tables.insert(name, table);
                } else if let Some(table) = self.tables.get_mut(name) {
                    table.whole = false;
                }
            }
            Expr::Subscript(_) => self.extend(target, value, span),
            _ => {}
        }
    }

    /// `table["module"] = ["name"]`, `table["module"] += ["name"]`.
    fn extend(&mut self, target: &'t Expr, value: &Expr, span: ByteSpan) {
        let Expr::Subscript(subscript) = target else {
            if let (Expr::Name(name), Some(more)) = (target, self.literal(value)) {
                self.join(name.id.as_str(), more);
            }
            return;
        };
        let Expr::Name(name) = &*subscript.value else {
            return;
        };
        let key = self.text(&subscript.slice);
        let value = self.value(value);
        self.put(name.id.as_str(), key, value, span);
    }

    /// `table["module"].append("name")`, `table.update({…})`.
    fn call(&mut self, call: &'t ast::ExprCall, span: ByteSpan) {
        let (Expr::Attribute(method), [argument]) = (&*call.func, &*call.arguments.args) else {
            return;
        };
        match (&*method.value, method.attr.as_str()) {
            (Expr::Subscript(subscript), "append" | "extend" | "add" | "update") => {
                let Expr::Name(name) = &*subscript.value else {
                    return;
                };
                let value = match self.text(argument) {
                    Some(one) => Some(Value::Texts(vec![one])),
                    None => self.value(argument),
                };
                self.put(name.id.as_str(), self.text(&subscript.slice), value, span);
            }
            (Expr::Name(name), "update" | "extend") => match self.literal(argument) {
                Some(more) => self.join(name.id.as_str(), more),
                None => self.open(name.id.as_str()),
            },
            _ => {}
        }
    }

    fn put(&mut self, table: &str, key: Option<Spanned>, value: Option<Value>, span: ByteSpan) {
        let Some(table) = self.tables.get_mut(table) else {
            return;
        };
        match (key, value) {
            (Some(key), Some(value)) => table.entries.push(Entry {
                key,
                value,
                span,
                written: Written::Statement,
            }),
            _ => table.whole = false,
        }
    }

    fn join(&mut self, table: &str, more: Table) {
        if let Some(table) = self.tables.get_mut(table) {
            table.whole &= more.whole;
            table.entries.extend(more.entries);
        }
    }

    fn open(&mut self, table: &str) {
        if let Some(table) = self.tables.get_mut(table) {
            table.whole = false;
        }
    }

    /// A table or a list that is written out, at least in part.
    fn literal(&self, value: &Expr) -> Option<Table> {
        match value {
            Expr::Dict(dict) => Some(self.dict(dict)),
            Expr::List(list) => self.list(&list.elts),
            Expr::Set(set) => self.list(&set.elts),
            Expr::Tuple(tuple) => self.list(&tuple.elts),
            Expr::Call(call) => match (&*call.func, &*call.arguments.args) {
                (Expr::Name(name), []) if name.id.as_str() == "dict" => None,
                (Expr::Name(name), [inner])
                    if matches!(
                        name.id.as_str(),
                        "set" | "frozenset" | "list" | "tuple" | "sorted" | "dict"
                    ) =>
                {
                    self.literal(inner)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn dict(&self, dict: &ast::ExprDict) -> Table {
        let mut table = Table {
            whole: true,
            entries: Vec::new(),
        };
        for item in &dict.items {
            let key = item.key.as_ref().and_then(|key| self.text(key));
            match (key, self.value(&item.value)) {
                (Some(key), Some(value)) => table.entries.push(Entry {
                    span: key.span.cover(self.span(&item.value)),
                    key,
                    value,
                    written: Written::Literal,
                }),
                _ => table.whole = false,
            }
        }
        table
    }

    fn list(&self, elements: &[Expr]) -> Option<Table> {
        let mut table = Table {
            whole: true,
            entries: Vec::new(),
        };
        for element in elements {
            match self.text(element) {
                Some(key) => table.entries.push(Entry {
                    span: key.span,
                    key,
                    value: Value::Nothing,
                    written: Written::Literal,
                }),
                None => table.whole = false,
            }
        }
        (table.whole || !table.entries.is_empty()).then_some(table)
    }

    fn value(&self, value: &Expr) -> Option<Value> {
        if let Expr::Tuple(tuple) = value
            && let [package, module] = tuple.elts.as_slice()
            && is_package(package)
        {
            return self.module_below(module);
        }
        let elements = match value {
            Expr::StringLiteral(_) => return self.text(value).map(Value::Text),
            Expr::List(list) => &list.elts,
            Expr::Set(set) => &set.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            // All names of a module, whatever they are.
            Expr::ListComp(found) if lists_names(&found.generators) => {
                return Some(Value::Texts(Vec::new()));
            }
            _ => return None,
        };
        let texts = elements.iter().map(|element| self.text(element));
        texts.collect::<Option<_>>().map(Value::Texts)
    }

    /// `(__spec__.parent, ".module")`: the package that the text counts from. Of some tables `"__module__"` says that the
    /// key is a module itself.
    fn module_below(&self, module: &Expr) -> Option<Value> {
        let module = self.text(module)?;
        match module.text.as_str() {
            "__module__" => Some(Value::Nothing),
            text => text.starts_with('.').then_some(Value::Text(module)),
        }
    }

    /// A literal of one part.
    fn text(&self, value: &Expr) -> Option<Spanned> {
        let Expr::StringLiteral(literal) = value else {
            return None;
        };
        let mut parts = literal.value.iter();
        let (Some(part), None) = (parts.next(), parts.next()) else {
            return None;
        };
        Some(Spanned {
            text: part.value.to_string(),
            span: shift(part.content_range(), self.start),
        })
    }
}

/// `__package__`, `__name__`, `__spec__.parent`.
fn is_package(value: &Expr) -> bool {
    match value {
        Expr::Name(name) => matches!(name.id.as_str(), "__package__" | "__name__"),
        Expr::Attribute(attribute) => {
            attribute.attr.as_str() == "parent"
                && matches!(&*attribute.value, Expr::Name(name) if name.id.as_str() == "__spec__")
        }
        _ => false,
    }
}

/// Whether a comprehension goes through `dir(module)`.
fn lists_names(generators: &[ast::Comprehension]) -> bool {
    let first = generators.first().map(|generator| &generator.iter);
    matches!(first, Some(Expr::Call(call)) if matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "dir"))
}

/// The table whose items a comprehension goes through.
fn comprehended(value: &Expr) -> Option<&str> {
    let generators = match value {
        Expr::DictComp(found) => &found.generators,
        Expr::SetComp(found) => &found.generators,
        Expr::ListComp(found) => &found.generators,
        _ => return None,
    };
    let of = match &generators.first()?.iter {
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) => &*method.value,
            _ => return None,
        },
        other => other,
    };
    match of {
        Expr::Name(name) => Some(name.id.as_str()),
        _ => None,
    }
}
