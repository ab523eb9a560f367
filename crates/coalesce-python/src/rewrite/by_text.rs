//! Modules that code gets by a text, and what is read of them: `import_module("pkg").device.count()`,
//! `sys.modules["pkg"].device`, `getattr(pkg, "device")`, `vars(pkg)["device"]`, `eval("pkg.device.count()")`.
//!
//! No such chain is rewritten. Where it leads to an item that goes elsewhere, to the module that one leaves, or through the
//! old name of a module, that is told; where the old names go on working without a warning, nothing is.

use coalesce_model::{ByteSpan, Subject, UnprovenKind};
use ruff_python_ast::{
    Expr, ExprCall, Stmt,
    visitor::{self, Visitor},
};
use ruff_python_parser::Mode;
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use super::file::{File, FileEdits};
use crate::{
    analysis::{Piece, Use, pieces_with, predicates::last_name, shift},
    facts::FromPart,
    graph::Entity,
    names::occurrences_of_word,
    parser::{self, parse_module, statements},
};

/// Words without which a text gets no module by a text.
const WORDS: [&str; 9] = [
    "import_module",
    "__import__",
    "importorskip",
    "modules",
    "reload",
    "getattr",
    "vars",
    "__dict__",
    "attrgetter",
];

/// Functions that run code, or read a name, of a text.
const EVALUATING: [&str; 2] = ["eval", "exec"];

/// Tells where a file gets what changes by a text.
pub fn doubt(file: &File<'_>, found: &mut FileEdits) {
    let all = || WORDS.iter().chain(&EVALUATING);
    if file.module.is_none() || !all().any(|word| occurrences_of_word(file.text, word)) {
        return;
    }
    let (parsed, start) = parse_module(file.text);
    let body = statements(&parsed);
    let mut search = Search::new(file, start, body);
    search.visit_body(body);
    for (span, name) in search.found {
        let doubted = found.told.unproven.iter().filter_map(|one| one.span);
        // A literal that follows is right.
        let followed = found.told.rewrites.iter().map(|one| one.span);
        if !doubted.chain(followed).any(|one| span.contains(one)) {
            let why = match is_shimmed(file, &name) {
                true => {
                    "it is read through the shim by a text that does not follow, and warns then"
                }
                false => "it is reached through a text; what is read so does not follow",
            };
            found
                .told
                .doubt(span, UnprovenKind::DynamicImport, &name, why);
        }
    }
}

/// Whether an item goes elsewhere and has a shim where it was.
fn is_shimmed(file: &File<'_>, name: &str) -> bool {
    let mut items = file.mapping.items.list.iter();
    items.any(|moved| moved.change.from == name && moved.change.shim.is_some())
}

/// What a function does with the text that it is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    /// The module of that name.
    Module,
    /// The first package of that name.
    First,
    /// The module that it is given.
    Given,
}

fn gives(function: &str) -> Option<Gives> {
    match function {
        "import_module" | "importorskip" => Some(Gives::Module),
        "__import__" => Some(Gives::First),
        "reload" => Some(Gives::Given),
        _ => None,
    }
}

/// What an expression leads to.
struct NamedValue {
    entity: Entity,
    /// Whether a text is part of the way.
    by_text: bool,
    /// The full name of a module on the way that has another one afterwards, and nothing binds the old one.
    renamed: Option<String>,
}

impl NamedValue {
    const fn of(entity: Entity, by_text: bool) -> Self {
        Self {
            entity,
            by_text,
            renamed: None,
        }
    }
}

struct Search<'f> {
    file: &'f File<'f>,
    /// What offsets of the parser are counted from.
    start: u32,
    /// The uses of the file by where they begin.
    uses: FxHashMap<u32, &'f Use>,
    /// Texts that names of the module have, once and for all.
    constants: FxHashMap<&'f str, String>,
    /// Other names of functions that give modules.
    functions: FxHashMap<&'f str, Gives>,
    /// Modules that names were given so.
    held: FxHashMap<&'f str, usize>,
    found: Vec<(ByteSpan, String)>,
}

impl<'f> Search<'f> {
    fn new(file: &'f File<'f>, start: u32, body: &'f [Stmt]) -> Self {
        let uses = file.analysis().uses.iter();
        let first = uses.filter_map(|used| Some((used.chain.first()?.span.start, used)));
        let mut search = Self {
            file,
            start,
            uses: first.collect(),
            constants: FxHashMap::default(),
            functions: FxHashMap::default(),
            held: FxHashMap::default(),
            found: Vec::new(),
        };
        search.name_functions();
        for statement in body {
            search.name_value(statement);
        }
        search
    }

    /// `from importlib import import_module as load`.
    fn name_functions(&mut self) {
        let imports = self.file.analysis().imports.iter();
        for leaf in imports.flat_map(|(import, _)| &import.leaves) {
            if let Some(gives) = gives(&leaf.name.text) {
                self.functions.insert(leaf.bound(), gives);
            }
        }
    }

    /// `ROOT = "pkg"`, `load = importlib.import_module`.
    fn name_value(&mut self, statement: &'f Stmt) {
        let Stmt::Assign(assign) = statement else {
            return;
        };
        let [Expr::Name(target)] = &*assign.targets else {
            return;
        };
        let name = target.id.as_str();
        if let Some(gives) = last_name(&assign.value).and_then(gives)
            && !assign.value.is_call_expr()
        {
            self.functions.insert(name, gives);
        }
        let bound = self.file.analysis().bindings(0, name).len();
        if let Some(text) = self.text(&assign.value).filter(|_| bound == 1) {
            self.constants.insert(name, text);
        }
    }

    /// The text that an expression gives, names of texts in it included.
    fn text(&self, expression: &Expr) -> Option<String> {
        if let Expr::Name(name) = expression {
            return self.constants.get(name.id.as_str()).cloned();
        }
        let known = |name: &str| self.constants.get(name).cloned();
        let mut text = String::new();
        for piece in pieces_with(expression, &known) {
            match piece {
                Piece::Text(part, _) => text.push_str(&part),
                Piece::Package | Piece::Unknown => return None,
            }
        }
        Some(text)
    }

    /// What an expression leads to, if that is something of the tree.
    fn value(&self, expression: &Expr) -> Option<NamedValue> {
        match expression {
            Expr::Name(name) => match self.held.get(name.id.as_str()) {
                Some(module) => Some(NamedValue::of(Entity::Module(*module), true)),
                None => self.named(expression),
            },
            Expr::Attribute(attribute) => match self.value(&attribute.value) {
                Some(value) => self.member(value, &attribute.attr),
                None => self.named(expression),
            },
            Expr::Subscript(place) => self.looked_up(&place.value, &place.slice),
            Expr::Call(call) => self.called(call),
            _ => None,
        }
    }

    /// A name, or one with attributes.
    fn named(&self, expression: &Expr) -> Option<NamedValue> {
        let range = shift(expression.range(), self.start);
        let used = self.uses.get(&range.start)?;
        let meanings = self.file.names.meanings(used);
        let at = meanings
            .iter()
            .position(|meaning| meaning.segment.span.end == range.end)?;
        let held = || {
            let root = used.chain.first().filter(|_| at == 0)?;
            let module = self.file.names.held_module(used.scope, root)?;
            Some(Entity::Module(module))
        };
        match &meanings.get(at)?.entity {
            Some(Entity::Module(module)) => Some(NamedValue::of(Entity::Module(*module), false)),
            _ => Some(NamedValue::of(held()?, false)),
        }
    }

    /// An attribute of what an expression leads to.
    fn member(&self, value: NamedValue, name: &str) -> Option<NamedValue> {
        let Entity::Module(module) = value.entity else {
            return Some(value);
        };
        let (graph, mapping) = (self.file.graph(), self.file.mapping);
        if name == "__dict__" {
            return None;
        }
        let entity = graph.member(module, name);
        let renamed = match &entity {
            Entity::Module(sub) if !graph.binds(module, name) => mapping
                .new_name(*sub)
                .filter(|_| graph.submodule(module, name) == Some(*sub))
                .and_then(|_| graph.full_name(&entity))
                .filter(|old| !mapping.has_shim(old)),
            _ => None,
        };
        let known = matches!(entity, Entity::Module(_) | Entity::Item(..));
        known.then_some(NamedValue {
            entity,
            by_text: value.by_text,
            renamed: value.renamed.or(renamed),
        })
    }

    /// `sys.modules["pkg"]`, `vars(pkg)["device"]`, `pkg.__dict__["device"]`.
    fn looked_up(&self, table: &Expr, key: &Expr) -> Option<NamedValue> {
        let text = self.text(key)?;
        if last_name(table) == Some("modules") {
            return self.module(&text);
        }
        let owner = match table {
            Expr::Attribute(found) if found.attr.as_str() == "__dict__" => &*found.value,
            Expr::Call(call) if last_name(&call.func) == Some("vars") => {
                call.arguments.args.first()?
            }
            _ => return None,
        };
        self.member(self.value(owner)?, &text).map(by_text)
    }

    /// What a call gives.
    fn called(&self, call: &ExprCall) -> Option<NamedValue> {
        let arguments = &call.arguments.args;
        let first = arguments.first()?;
        // `attrgetter("device.count")(pkg)`.
        if let Expr::Call(getter) = &*call.func
            && last_name(&getter.func) == Some("attrgetter")
        {
            let names = self.text(getter.arguments.args.first()?)?;
            let mut links = names.split('.');
            return links
                .try_fold(self.value(first)?, |value, name| self.member(value, name))
                .map(by_text);
        }
        let function = last_name(&call.func)?;
        let own = match &*call.func {
            Expr::Name(name) => self.functions.get(name.id.as_str()).copied(),
            _ => None,
        };
        match own.or_else(|| gives(function)) {
            Some(Gives::Module) => self.module(&self.whole_name(self.text(first)?, call)?),
            Some(Gives::First) if has_from_list(call) => self.module(&self.text(first)?),
            Some(Gives::First) => {
                let text = self.text(first)?;
                self.module(text.split('.').next().unwrap_or(&text))
            }
            Some(Gives::Given) => self.value(first).map(by_text),
            None if function == "getattr" => {
                let name = self.text(arguments.get(1)?)?;
                self.member(self.value(first)?, &name).map(by_text)
            }
            None if EVALUATING.contains(&function) => self.chain(&self.text(first)?),
            None => None,
        }
    }

    /// The full name of a module, of which the dots count from the package that a call names: `(".device", __package__)`.
    fn whole_name(&self, name: String, call: &ExprCall) -> Option<String> {
        if !name.starts_with('.') {
            return Some(name);
        }
        let package = match call.arguments.find_argument_value("package", 1)? {
            Expr::Name(own) => self.own_name(own.id.as_str())?,
            other => self.text(other)?,
        };
        FromPart::of_text(&name, ByteSpan::empty(0)).absolute(&package)
    }

    /// What `__name__` and `__package__` say in the file, or another name for a text.
    fn own_name(&self, name: &str) -> Option<String> {
        let (graph, module) = (self.file.graph(), self.file.module?);
        match name {
            "__package__" => Some(graph.package_of(module).to_owned()),
            "__name__" => Some(graph.modules.get(module)?.name.clone()),
            other => self.constants.get(other).cloned(),
        }
    }

    /// The module of a full name.
    fn module(&self, name: &str) -> Option<NamedValue> {
        let module = self.file.graph().find(self.file.module, name)?;
        Some(NamedValue::of(Entity::Module(module), true))
    }

    /// What the text of an expression leads to, which stands at module level as far as names go.
    fn chain(&self, text: &str) -> Option<NamedValue> {
        let module = self.file.module?;
        let parsed = parser::parse(text.trim(), Mode::Expression);
        let root = text
            .trim()
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next()?;
        let Entity::Module(root) = self.file.graph().member(module, root) else {
            return None;
        };
        let names = chain_of(parsed.syntax().as_expression()?.body.as_ref())?;
        let mut links = names.into_iter().skip(1);
        let first = NamedValue::of(Entity::Module(root), true);
        links
            .try_fold(first, |value, name| self.member(value, &name))
            .map(by_text)
    }

    /// What of a change concerns a value that is got by a text.
    fn concerned(&self, value: &NamedValue) -> Option<String> {
        let mapping = self.file.mapping;
        if let Some(renamed) = &value.renamed {
            return Some(renamed.clone());
        }
        match &value.entity {
            Entity::Item(home, item) => {
                let moved = mapping.items.get(*home, item)?;
                let stays = mapping.new_name(*home).is_none();
                let warns = moved.change.subject == Subject::Item && stays;
                (moved.change.shim.is_none() || warns).then(|| moved.change.from.clone())
            }
            Entity::Module(module) => {
                let leaving = mapping.items.list.iter();
                let mut leaving = leaving.filter(|moved| moved.source == *module);
                let named = leaving.find(|moved| {
                    moved.change.shim.is_none() && occurrences_of_word(self.file.text, &moved.item)
                });
                named.map(|moved| moved.change.from.clone())
            }
            _ => None,
        }
    }

    /// A text that is put together, and names a module that has another name afterwards: no literal of it is rewritten.
    fn put_together(&self, expression: &Expr) -> Option<String> {
        let Expr::Call(call) = expression else {
            return None;
        };
        let first = call.arguments.args.first()?;
        let function = last_name(&call.func)?;
        let own = self.functions.get(function).copied();
        if !matches!(
            own.or_else(|| gives(function))?,
            Gives::Module | Gives::First
        ) {
            return None;
        }
        let literal = |name: &str| self.constants.get(name).cloned();
        let parts = pieces_with(first, &literal);
        let plain = first.is_string_literal_expr() || parts.len() < 2 && !first.is_name_expr();
        let name = self.text(first).filter(|_| !plain)?;
        let new = self.file.absolute(&name)?;
        let changes = &self.file.mapping.all;
        let module = changes
            .iter()
            .any(|change| change.subject == Subject::Module);
        (module && new != name && !self.file.has_shim(&name)).then_some(name)
    }
}

fn by_text(value: NamedValue) -> NamedValue {
    NamedValue {
        by_text: true,
        ..value
    }
}

/// Whether `__import__` is asked for names of the module, and gives that one and not its first package.
fn has_from_list(call: &ExprCall) -> bool {
    match call.arguments.find_argument_value("fromlist", 3) {
        Some(Expr::List(names)) => !names.elts.is_empty(),
        Some(Expr::Tuple(names)) => !names.elts.is_empty(),
        Some(_) | None => false,
    }
}

/// The names of a chain, the called ones included: `pkg.device.count()`.
fn chain_of(expression: &Expr) -> Option<Vec<String>> {
    match expression {
        Expr::Name(name) => Some(vec![name.id.to_string()]),
        Expr::Attribute(attribute) => {
            let mut names = chain_of(&attribute.value)?;
            names.push(attribute.attr.to_string());
            Some(names)
        }
        Expr::Call(call) => chain_of(&call.func),
        _ => None,
    }
}

impl<'f> Visitor<'f> for Search<'f> {
    fn visit_stmt(&mut self, statement: &'f Stmt) {
        visitor::walk_stmt(self, statement);
        if let Stmt::Assign(assign) = statement
            && let [Expr::Name(target)] = &*assign.targets
            && let Some(NamedValue {
                entity: Entity::Module(module),
                by_text: true,
                ..
            }) = self.value(&assign.value)
        {
            let value = NamedValue::of(Entity::Module(module), true);
            // What was told where the name got it is not told again.
            if self.concerned(&value).is_none() {
                self.held.insert(target.id.as_str(), module);
            }
        }
    }

    fn visit_expr(&mut self, expression: &'f Expr) {
        // What a name was given has been judged there.
        let value = self
            .value(expression)
            .filter(|value| value.by_text && !expression.is_name_expr());
        let name = match &value {
            Some(value) => self.concerned(value),
            None => None,
        };
        let name = name.or_else(|| self.put_together(expression));
        if let Some(name) = name {
            self.found
                .push((shift(expression.range(), self.start), name));
        }
        match value {
            // What a chain begins with is judged with the chain.
            Some(_) => {}
            None => visitor::walk_expr(self, expression),
        }
    }
}
