//! Items that are read by their names off modules whose names are put together when the program runs:
//! `getattr(import_module(f"pkg.{name}"), "LIMITS")`.

use coalesce_model::{ByteSpan, LanguagePlan, Memo, Texts, Unproven, UnprovenKind};
use ruff_python_ast::{
    Expr, ExprCall, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use super::{
    Moved,
    patches::sources,
    value_flow::{Seeds, ValueFlow},
};
use crate::{
    analysis::{
        Piece, pieces_with,
        predicates::{last_name, literal_text},
        shift,
    },
    names::LISTING_NAMES,
    parser::{parse_module, statements},
    rewrite::{mapping::Mapping, words::Word},
};

/// Calls that give a module, or what is in it as a table.
const IMPORTING: [&str; 4] = ["__import__", "import_module", "run_module", "run_path"];

/// Calls that lead to something by all of its name, or by code that imports it.
const NAMING: [&str; 7] = [
    "eval",
    "exec",
    "import_string",
    "load_object",
    "locate",
    "resolve_name",
    "run_module",
];

/// Words in the names of what is given modules.
const OF_MODULES: [&str; 5] = ["mod", "module", "package", "pkg", "plugin"];

/// Whether an expression gives a module: a call that imports, the table of those that are loaded, a name that says so.
fn gives_module(expression: &Expr) -> bool {
    let name = last_name(expression).unwrap_or_default();
    let mut words = name.split('_');
    let told = expression.is_name_expr() && words.any(|word| OF_MODULES.contains(&word));
    IMPORTING.contains(&name) || name == "modules" || told
}

/// A text that leads to something and begins with what is known: its place, what it begins with, and how it ends where
/// that is known.
struct Opened {
    span: ByteSpan,
    begins: String,
    ends: Option<String>,
}

/// What a file reads by names that are texts.
#[derive(Default)]
struct ReadByName {
    names: FxHashSet<String>,
    /// It reads by a name that is known when the program runs.
    any: bool,
    opened: Vec<Opened>,
}

struct Reading<'h> {
    modules: &'h ValueFlow<'h>,
    start: u32,
    found: ReadByName,
}

impl Reading<'_> {
    fn note(&mut self, name: Option<&Expr>) {
        match name {
            Some(Expr::StringLiteral(text)) => {
                let parts = text.value.to_str().split('.');
                self.found.names.extend(parts.map(str::to_owned));
            }
            Some(Expr::List(several)) => several.elts.iter().for_each(|each| self.note(Some(each))),
            Some(_) => self.found.any = true,
            None => {}
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let arguments = &call.arguments.args;
        let first = arguments.first();
        let of_module = first.is_some_and(|owner| self.modules.may_hold(owner));
        let name = last_name(&call.func).unwrap_or_default();
        match name {
            "getattr" | "hasattr" => {
                // Of what is no module, a text that says the name is one all the same.
                let read = arguments.get(1);
                self.note(read.filter(|read| of_module || literal_text(read).is_some()));
            }
            "attrgetter" => self.note(first),
            "__import__" => {
                let named = call.arguments.find_argument_value("fromlist", 3);
                self.note(named);
            }
            _ => {
                self.found.any |= of_module && {
                    let mut listing = LISTING_NAMES.iter();
                    listing.any(|call| call.strip_suffix('(') == Some(name))
                }
            }
        }
        if NAMING.contains(&name) {
            self.open(first);
        }
    }

    /// A text that is put together and leads to something.
    fn open(&mut self, argument: Option<&Expr>) {
        let Some(argument) = argument else { return };
        let pieces = pieces_with(argument, &|_| None);
        let (Some(Piece::Text(begins, _)), true) =
            (pieces.first(), pieces.contains(&Piece::Unknown))
        else {
            return;
        };
        let code = ["from ", "import "]
            .iter()
            .find_map(|word| begins.strip_prefix(word));
        let ends = match pieces.last() {
            Some(Piece::Text(text, _)) => Some(text.clone()),
            _ => None,
        };
        self.found.opened.push(Opened {
            span: shift(argument.range(), self.start),
            begins: code.unwrap_or(begins).trim_start().to_owned(),
            ends,
        });
    }

    /// An attribute of what a call imports: `import_module(name).X`.
    fn attribute(&mut self, owner: &Expr, name: &str) {
        let imported = match owner {
            Expr::Call(call) => last_name(&call.func),
            Expr::Subscript(table) => last_name(&table.value).filter(|name| *name == "modules"),
            _ => None,
        };
        if imported.is_some_and(|name| IMPORTING.contains(&name) || name == "modules") {
            self.found.names.insert(name.to_owned());
        }
    }
}

impl Visitor<'_> for Reading<'_> {
    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Call(call) => self.call(call),
            Expr::Attribute(place) => self.attribute(&place.value, place.attr.as_str()),
            Expr::Subscript(place) => {
                let table = match &*place.value {
                    Expr::Call(call) => last_name(&call.func),
                    table => last_name(table).filter(|name| *name == "__dict__"),
                };
                let of_module = ["__dict__", "run_module", "run_path", "vars"];
                let read = table.filter(|name| of_module.contains(name));
                self.note(read.and(Some(&*place.slice)));
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

impl Opened {
    /// Whether the text may lead to an item of a module.
    fn may_be(&self, module: &str, item: &str) -> bool {
        let of_module = module.starts_with(&self.begins) || self.begins.starts_with(module);
        let ends = self.ends.as_deref().map(str::trim_end);
        let of_item = ends.is_none_or(|end| end.ends_with(item) || end.ends_with('*'));
        self.begins.contains('.') && of_module && of_item
    }
}

/// Whether somebody may say the last part of a name of a module: anybody does, but for one of the tree alone, which
/// stands in a text then.
fn is_known_by(module: &str, texts: &dyn Texts) -> bool {
    let last = module.rsplit('.').next().unwrap_or(module);
    let private = last.starts_with('_');
    let ends = [format!("{last}\""), format!("{last}'")];
    let mut all = sources(texts);
    !private || all.any(|(_, text)| ends.iter().any(|end| text.contains(end.as_str())))
}

/// Tells where an item that leaves a module may be read off it so.
pub(super) fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let graph = mapping.graph;
    let known = Memo::default();
    let is_known = |home: usize, name: &str| {
        let found = known.get(home, || is_known_by(name, texts).then_some(()));
        found.is_some()
    };
    let words = mapping.words(texts);
    for (reader, (module, facts)) in graph.modules.iter().zip(&graph.facts).enumerate() {
        let names = words
            .get(reader)
            .is_some_and(|words| words.has(Word::Named));
        if mapping.items.list.is_empty() || facts.open_imports.is_empty() && !names {
            continue;
        }
        let text = texts.text(&module.path).unwrap_or_default();
        let (parsed, start) = parse_module(&text);
        let read = read_by_name(statements(&parsed), start);
        let package = graph.package_of(reader);
        let opened = facts.open_imports.iter();
        let opened = opened.filter_map(|open| {
            let own = open.module.is_empty() && open.level > 0;
            let begins = format!("{}{}", open.absolute(package)?, if own { "." } else { "" });
            Some((open.span, begins))
        });
        let opened: Vec<(ByteSpan, String)> = opened.collect();
        let may_be = |moved: &Moved, home: &str| {
            let reads = read.any || read.names.contains(moved.item.as_str());
            let mut named = read.opened.iter();
            let named = named.find(|open| open.may_be(home, &moved.item));
            let mut opened = opened.iter().filter(|_| reads);
            let opened = opened.find(|(_, begins)| home.starts_with(begins.as_str()));
            opened
                .map(|(span, _)| *span)
                .or(named.map(|open| open.span))
        };
        let mut told = FxHashSet::default();
        for moved in &mapping.items.list {
            let home = graph.modules.get(moved.source);
            let Some(home) = home.filter(|_| !mapping.goes_away(moved.source)) else {
                continue;
            };
            let place = may_be(moved, &home.name).filter(|_| moved.change.shim.is_none());
            let place =
                place.filter(|span| !told.contains(span) && is_known(moved.source, &home.name));
            let Some(span) = place else { continue };
            told.insert(span);
            plan.unproven.push(Unproven {
                path: module.path.clone(),
                span: Some(span),
                kind: UnprovenKind::DynamicImport,
                name: moved.change.from.clone(),
                why: format!(
                    "the rest of the name is worked out at run time; it may be `{}`, of which `{}` is read by its name",
                    home.name, moved.item
                ),
            });
        }
    }
}

/// What a file reads by names that are texts.
fn read_by_name(body: &[Stmt], start: u32) -> ReadByName {
    let seeds = Seeds::new((body, start), &[], gives_module);
    let mut reading = Reading {
        modules: &seeds.flow(body),
        start,
        found: ReadByName::default(),
    };
    reading.visit_body(body);
    reading.found
}
