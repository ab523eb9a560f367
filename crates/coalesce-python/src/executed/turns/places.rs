//! Where a call or a decorator puts something so that the order shows.

use std::cell::RefCell;

use coalesce_model::{Texts, change::Renames};
use ruff_python_ast::{
    Expr, Stmt, StmtFunctionDef,
    visitor::{self, Visitor},
};
use rustc_hash::FxHashMap;

use crate::{
    graph::{Entity, PythonGraph},
    names::{is_word, last_word},
    parser::{parse_module, statements},
};

/// Methods of a list that put something into it.
const APPENDING: [&str; 4] = ["append", "appendleft", "extend", "insert"];

/// Methods of a table that put something into it.
const KEYING: [&str; 2] = ["setdefault", "update"];

/// The functions of Python whose calls show their order.
const SHOWING: [&str; 2] = ["print", "atexit.register"];

/// What is called, by its full name after the changes, and the method of it, if there is one.
type Called = (String, String);

/// The places of a graph, each asked for once.
pub(super) struct FilledPlaces<'g> {
    graph: &'g PythonGraph,
    texts: &'g dyn Texts,
    renames: &'g Renames<'g>,
    known: FxHashMap<Called, Option<String>>,
    /// Whether somebody goes through a table.
    gone_through: RefCell<FxHashMap<String, bool>>,
}

impl<'g> FilledPlaces<'g> {
    pub fn new(graph: &'g PythonGraph, texts: &'g dyn Texts, renames: &'g Renames<'g>) -> Self {
        Self {
            graph,
            texts,
            renames,
            known: FxHashMap::default(),
            gone_through: RefCell::default(),
        }
    }

    /// The place, by its name after the changes, into which a chain puts something that leads to `reached`, with as many
    /// attributes behind it.
    pub fn of(
        &mut self,
        module: usize,
        chain: &[String],
        reached: (Entity, usize),
    ) -> Option<String> {
        let Entity::Item(home, item) = &reached.0 else {
            return shown(self.graph, module, chain);
        };
        let full = self.graph.full_name(&reached.0)?;
        let method = method_of(chain, reached.1)?;
        let key = (self.renames.name_after(&full), method);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let place = self.found(
            *home,
            item,
            Some(key.1.as_str()).filter(|method| !method.is_empty()),
        );
        let place = place.map(|place| self.renames.name_after(&place));
        self.known.insert(key, place.clone());
        place
    }

    /// The same in the graph of the changed tree, of what the old one has, too.
    pub fn known(
        &self,
        after: &PythonGraph,
        (module, chain): (usize, &[String]),
        (entity, rest): &(Entity, usize),
    ) -> Option<String> {
        if !matches!(entity, Entity::Item(..)) {
            return shown(after, module, chain);
        }
        let key = (after.full_name(entity)?, method_of(chain, *rest)?);
        self.known.get(&key).cloned().flatten()
    }

    fn found(&self, home: usize, item: &str, method: Option<&str>) -> Option<String> {
        let owner = self.graph.modules.get(home)?;
        let name = |place: &str| format!("{}.{place}", owner.name);
        if method.is_some_and(|method| APPENDING.contains(&method)) {
            return Some(name(item));
        }
        let text = self.texts.text(&owner.path)?;
        let called = method.unwrap_or(item);
        if !text.contains(called) {
            return None;
        }
        let (parsed, _) = parse_module(&text);
        let mut search = FunctionSearch {
            name: called,
            is_method: method.is_some(),
            found: None,
        };
        search.visit_body(statements(&parsed));
        let mut filling = Filling::default();
        filling.visit_body(&search.found?.body);
        if filling.prints {
            return Some("print".to_owned());
        }
        filling.found.iter().find_map(|filled| {
            let own = matches!(filled.root.as_str(), "self" | "cls");
            let shared = own || filled.root != "__all__" && self.graph.binds(home, &filled.root);
            let shows = shared && (filled.listed || self.is_gone_through(&filled.table));
            shows.then(|| name(if own { item } else { &filled.root }))
        })
    }

    /// Whether a text of the tree goes through a table in its order.
    fn is_gone_through(&self, table: &str) -> bool {
        if let Some(known) = self.gone_through.borrow().get(table) {
            return *known;
        }
        let python = self.texts.paths().iter();
        let mut texts = python
            .filter(|path| path.file_name().ends_with(".py"))
            .filter_map(|path| self.texts.text(path));
        let found = texts.any(|text| goes_through(&text, table));
        self.gone_through
            .borrow_mut()
            .insert(table.to_owned(), found);
        found
    }
}

/// A function of Python that a chain calls and whose calls show their order.
fn shown(graph: &PythonGraph, module: usize, chain: &[String]) -> Option<String> {
    let called = chain.join(".");
    let bound = chain.first().is_some_and(|root| graph.binds(module, root));
    let shows = SHOWING.contains(&called.as_str()) && bound == (called != "print");
    shows.then_some(called)
}

/// The method that a chain ends with, where it has no more than one attribute.
fn method_of(chain: &[String], attributes: usize) -> Option<String> {
    match attributes {
        0 => Some(String::new()),
        1 => chain.last().cloned(),
        _ => None,
    }
}

/// Whether a text goes through a table in its order: not what is sorted, nor a question for one key.
fn goes_through(text: &str, table: &str) -> bool {
    text.match_indices(table).any(|(at, _)| {
        let line = text.get(..at).and_then(|before| before.rsplit('\n').next());
        let before = line.unwrap_or_default();
        let after = text.get(at + table.len()..).unwrap_or_default();
        if before.ends_with(is_word) || after.starts_with(is_word) || before.contains("sorted(") {
            return false;
        }
        let owner = before.trim_end_matches(|c: char| is_word(c) || c == '.');
        let call = owner.strip_suffix('(').map(last_word);
        let shown = [
            "dict",
            "enumerate",
            "iter",
            "join",
            "list",
            "next",
            "print",
            "repr",
            "str",
            "tuple",
        ];
        let looped = owner.contains("for ") && owner.trim_end().ends_with(" in");
        let views = [".items()", ".keys()", ".values()"];
        looped
            || after.starts_with([')', ',']) && call.is_some_and(|call| shown.contains(&call))
            || views.iter().any(|view| after.starts_with(view))
    })
}

/// Looks for a function of the module, or of a class in it.
struct FunctionSearch<'n, 'a> {
    name: &'n str,
    is_method: bool,
    found: Option<&'a StmtFunctionDef>,
}

impl<'a> Visitor<'a> for FunctionSearch<'_, 'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) if function.name.as_str() == self.name => {
                self.found = self.found.or(Some(function));
            }
            Stmt::ClassDef(_) if !self.is_method => {}
            Stmt::FunctionDef(_) => {}
            _ => visitor::walk_stmt(self, statement),
        }
    }
}

/// A place that a function fills.
struct Filled {
    /// The name that leads there, and the last one.
    root: String,
    table: String,
    /// Whether things are put behind each other, and not under a key.
    listed: bool,
}

/// What a function puts somewhere when it is called, or when what it gives is called with a function.
#[derive(Default)]
struct Filling {
    found: Vec<Filled>,
    prints: bool,
}

impl Filling {
    fn put(&mut self, place: &Expr, listed: bool) {
        if let Some((root, table)) = ends_of(place) {
            self.found.push(Filled {
                root: root.to_owned(),
                table: table.to_owned(),
                listed,
            });
        }
    }
}

/// The first and the last name of a place: `self.tables[key]`, `TABLE.setdefault(key, [])`.
fn ends_of(place: &Expr) -> Option<(&str, &str)> {
    match place {
        Expr::Name(name) => Some((name.id.as_str(), name.id.as_str())),
        Expr::Attribute(attribute) => {
            let (root, _) = ends_of(&attribute.value)?;
            Some((root, attribute.attr.as_str()))
        }
        Expr::Subscript(subscript) => ends_of(&subscript.value),
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) => ends_of(&method.value),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a function inside of another one gives back what it is given, or one that it makes: a decorator does.
fn hands_back(function: &StmtFunctionDef) -> bool {
    let Some(Stmt::Return(last)) = function.body.last() else {
        return false;
    };
    let Some(Expr::Name(given)) = last.value.as_deref() else {
        return false;
    };
    let made = |statement: &Stmt| matches!(statement, Stmt::FunctionDef(inner) if inner.name.as_str() == given.id.as_str());
    let parameters = &function.parameters;
    parameters
        .iter()
        .any(|one| one.name().as_str() == given.id.as_str())
        || function.body.iter().any(made)
}

impl<'a> Visitor<'a> for Filling {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) if !hands_back(function) => return,
            Stmt::Assign(assign) => {
                let targets = assign.targets.iter();
                for place in targets.filter_map(Expr::as_subscript_expr) {
                    self.put(&place.value, false);
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Lambda(_) => return,
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) => self.prints |= name.id.as_str() == "print",
                Expr::Attribute(method) => {
                    let listed = APPENDING.contains(&method.attr.as_str());
                    if listed || KEYING.contains(&method.attr.as_str()) {
                        self.put(&method.value, listed);
                    }
                }
                _ => {}
            },
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use ruff_python_ast::visitor::Visitor;

    use super::{Filling, goes_through};
    use crate::parser::{parse_module, statements};

    #[test]
    fn what_a_wrapper_does_later_is_not_done_when_it_is_made() {
        for (text, filled) in [
            ("TABLE.append(f)\nreturn f\n", vec!["TABLE"]),
            (
                "def put(f):\n    self.tables[name] = f\n    return f\n",
                vec!["tables"],
            ),
            (
                "def put(*args):\n    TABLE.append(args)\n    return f(*args)\n",
                vec![],
            ),
        ] {
            let (parsed, _) = parse_module(text);
            let mut filling = Filling::default();
            filling.visit_body(statements(&parsed));
            let tables: Vec<&str> = filling.found.iter().map(|one| one.table.as_str()).collect();
            assert_eq!(tables, filled, "{text}");
        }
    }

    #[test]
    fn tables_are_gone_through_in_their_order() {
        for (text, through) in [
            ("for name in TABLE:\n", true),
            ("print(list(t.TABLE))\n", true),
            ("names = [one for one in TABLE.values()]\n", true),
            ("print(sorted(TABLE))\n", false),
            ("if name in TABLE:\n    TABLE[name]()\n", false),
            ("for name in sorted(TABLE.items()):\n", false),
            ("TABLES.items()\n", false),
        ] {
            assert_eq!(goes_through(text, "TABLE"), through, "{text}");
        }
    }
}
