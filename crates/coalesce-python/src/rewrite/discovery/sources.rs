//! What the calls of a file that list folders are given: which of its texts may come to them, by the names that lead there.
//!
//! Names are followed whatever their scope is, and so are attributes, so that more is found than comes there, and not less.
//! What other files hand over is not theirs to say.

use coalesce_model::ByteSpan;
use ruff_python_ast::{
    self as ast, Expr, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use crate::{
    analysis::{predicates::last_name, shift},
    parser::{parse_module, statements},
    rewrite::items::is_builtin,
};

/// Calls that list a folder, besides those whose names end with `glob`.
const LISTING: [&str; 7] = [
    "contents",
    "fwalk",
    "iterdir",
    "listdir",
    "listFiles",
    "scandir",
    "walk",
];

/// The parts of a file from which the folders may come that it lists; nothing where that is not known.
///
/// What a function of the tree does with what it is given is not read: it may list that, too.
pub(super) fn of_listings(text: &str, is_of_tree: &dyn Fn(&str) -> bool) -> Option<Vec<ByteSpan>> {
    let (parsed, start) = parse_module(text);
    let body = statements(&parsed);
    let mut file = FlowReader::new(is_of_tree);
    file.visit_body(body);
    // One that is handed on is called elsewhere.
    if file.hands_on || file.listings.is_empty() {
        return None;
    }
    let mut search = Search {
        file: &file,
        seen: FxHashSet::default(),
        open: Vec::new(),
        ranges: Vec::new(),
    };
    for listing in file.listings.iter().chain(&file.handed) {
        search.take(listing);
    }
    search.follow()?;
    let spans = search.ranges.iter().map(|range| shift(*range, start));
    Some(spans.collect())
}

/// A piece of code, with the names and attributes in it.
#[derive(Clone, Debug)]
struct FlowPiece<'s> {
    range: TextRange,
    words: Vec<(&'s str, bool)>,
}

impl<'s> FlowPiece<'s> {
    fn of_expression(expression: &'s Expr) -> Self {
        let mut words = WordCollector::default();
        words.visit_expr(expression);
        Self {
            range: expression.range(),
            words: words.0,
        }
    }

    fn of_statement(statement: &'s Stmt) -> Self {
        let mut words = WordCollector::default();
        words.visit_stmt(statement);
        Self {
            range: statement.range(),
            words: words.0,
        }
    }
}

/// The names and attributes of code, and whether each has to be given by somebody.
#[derive(Default)]
struct WordCollector<'s>(Vec<(&'s str, bool)>);

impl<'s> Visitor<'s> for WordCollector<'s> {
    fn visit_expr(&mut self, expression: &'s Expr) {
        match expression {
            Expr::Name(name) => self.0.push((name.id.as_str(), true)),
            // What an object has of its own is given by somebody, in another file perhaps.
            Expr::Attribute(attribute) => {
                let own = matches!(last_name(&attribute.value), Some("self" | "cls"));
                self.0.push((attribute.attr.as_str(), own));
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

/// A function: what its parameters may be given without a call that names it, and all of it.
struct TakingFunction<'s> {
    /// How it is called; nothing where that is by no name.
    called: Option<Vec<&'s str>>,
    parameters: Vec<&'s str>,
    given: Vec<FlowPiece<'s>>,
}

/// How values go through a file.
struct FlowReader<'s> {
    /// Whether a module is one of the tree.
    is_of_tree: &'s dyn Fn(&str) -> bool,
    /// What is given to names and attributes.
    flows: Vec<(Vec<&'s str>, FlowPiece<'s>)>,
    /// What may change the values of names and attributes.
    changes: Vec<(Vec<&'s str>, FlowPiece<'s>)>,
    functions: Vec<TakingFunction<'s>>,
    /// Functions and classes, as a whole.
    definitions: Vec<(&'s str, FlowPiece<'s>)>,
    /// Statements without others inside.
    plain: Vec<FlowPiece<'s>>,
    /// Names that come from elsewhere.
    imported: FxHashSet<&'s str>,
    /// Of these, calls that list, and what is of the tree.
    listing: FxHashSet<&'s str>,
    of_tree: FxHashSet<&'s str>,
    /// The class around.
    class: Option<&'s str>,
    /// What classes are made of.
    bases: FxHashSet<&'s str>,
    listings: Vec<FlowPiece<'s>>,
    /// Calls of what is of the tree.
    handed: Vec<FlowPiece<'s>>,
    hands_on: bool,
}

impl<'s> FlowReader<'s> {
    fn new(is_of_tree: &'s dyn Fn(&str) -> bool) -> Self {
        Self {
            is_of_tree,
            flows: Vec::new(),
            changes: Vec::new(),
            functions: Vec::new(),
            definitions: Vec::new(),
            plain: Vec::new(),
            imported: FxHashSet::default(),
            listing: FxHashSet::default(),
            of_tree: FxHashSet::default(),
            class: None,
            bases: FxHashSet::default(),
            listings: Vec::new(),
            handed: Vec::new(),
            hands_on: false,
        }
    }

    fn flow(&mut self, targets: &[&'s Expr], value: &'s Expr) {
        let flow = (words_of(targets), FlowPiece::of_expression(value));
        self.flows.push(flow);
    }

    fn function(&mut self, function: &'s ast::StmtFunctionDef) {
        let parameters = || function.parameters.iter();
        let defaults = function.parameters.iter_non_variadic_params();
        let defaults = defaults.filter_map(ast::ParameterWithDefault::default);
        let decorators = function.decorator_list.iter();
        let given = decorators.map(|decorator| &decorator.expression);
        let name = function.name.as_str();
        let called = match (self.class, name) {
            (Some(class), "__init__" | "__new__" | "__post_init__") => Some(vec![class, "cls"]),
            _ if name.starts_with("__") => None,
            _ => Some(vec![name]),
        };
        self.functions.push(TakingFunction {
            called,
            parameters: parameters()
                .map(|parameter| parameter.name().as_str())
                .collect(),
            given: given
                .chain(defaults)
                .map(FlowPiece::of_expression)
                .collect(),
        });
    }

    /// Takes the names of an import: from the module `from`, or of modules.
    fn import(&mut self, aliases: &'s [ast::Alias], from: Option<&str>) {
        let of_module = from.is_some();
        for alias in aliases {
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            let top = name.split('.').next().unwrap_or(name);
            self.imported.insert(top);
            let module = from.unwrap_or(&alias.name);
            if module == RELATIVE || (self.is_of_tree)(module) {
                self.of_tree.insert(top);
            }
            if of_module && lists(&alias.name) {
                self.hands_on |= alias.asname.is_some();
                self.listing.insert(top);
            }
        }
    }

    fn call(&mut self, call: &'s ast::ExprCall) {
        let top = first_name(&call.func);
        let of_tree = top.is_some_and(|top| self.of_tree.contains(top));
        let lists = last_name(&call.func).is_some_and(lists);
        if of_tree || lists {
            let mut piece = FlowPiece::of_expression(&call.func);
            piece.range = call.range();
            for argument in call.arguments.args.iter() {
                piece.words.extend(FlowPiece::of_expression(argument).words);
            }
            for keyword in call.arguments.keywords.iter() {
                piece
                    .words
                    .extend(FlowPiece::of_expression(&keyword.value).words);
            }
            match lists {
                true => self.listings.push(piece),
                false => self.handed.push(piece),
            }
        }
    }
}

/// What stands for the module of a relative import.
const RELATIVE: &str = ".";

/// The module that an import names: what is imported relatively is of the tree, and called like none.
fn named_by(import: &ast::StmtImportFrom) -> &str {
    let module = import.module.as_ref().map_or("", ast::Identifier::as_str);
    if import.level > 0 { RELATIVE } else { module }
}

/// The name that a chain of attributes begins with.
fn first_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => first_name(&attribute.value),
        _ => None,
    }
}

/// The names and attributes of some expressions.
fn words_of<'s>(expressions: &[&'s Expr]) -> Vec<&'s str> {
    let mut words = WordCollector::default();
    for expression in expressions {
        words.visit_expr(expression);
    }
    words.0.into_iter().map(|(word, _)| word).collect()
}

/// What a call may change.
fn changed_by(call: &ast::ExprCall) -> Vec<&Expr> {
    let of = match &*call.func {
        Expr::Attribute(method) => Some(&*method.value),
        _ => None,
    };
    let keywords = call.arguments.keywords.iter();
    let given = call.arguments.args.iter();
    let given = given.chain(keywords.map(|keyword| &keyword.value));
    of.into_iter().chain(given).collect()
}

/// The expressions of a statement that stand before the others inside of it, and may call something.
fn heads_of(statement: &Stmt) -> Vec<&Expr> {
    match statement {
        Stmt::FunctionDef(function) => {
            let all = function.decorator_list.iter();
            all.map(|decorator| &decorator.expression).collect()
        }
        Stmt::ClassDef(class) => {
            let all = class.decorator_list.iter();
            all.map(|decorator| &decorator.expression).collect()
        }
        Stmt::If(branches) => {
            let others = branches.elif_else_clauses.iter();
            let others = others.filter_map(|clause| clause.test.as_ref());
            std::iter::once(&*branches.test).chain(others).collect()
        }
        Stmt::For(each) => vec![&each.iter],
        Stmt::While(repeated) => vec![&repeated.test],
        Stmt::With(with) => {
            let items = with.items.iter();
            items.map(|item| &item.context_expr).collect()
        }
        Stmt::Match(chosen) => vec![&chosen.subject],
        _ => Vec::new(),
    }
}

fn lists(name: &str) -> bool {
    name.ends_with("glob") || LISTING.contains(&name)
}

impl<'s> Visitor<'s> for FlowReader<'s> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                let targets: Vec<&Expr> = assign.targets.iter().collect();
                self.flow(&targets, &assign.value);
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.flow(&[&*assign.target], value);
                }
            }
            Stmt::AugAssign(assign) => self.flow(&[&*assign.target], &assign.value),
            Stmt::For(each) => self.flow(&[&*each.target], &each.iter),
            Stmt::With(with) => {
                for item in &with.items {
                    if let Some(names) = &item.optional_vars {
                        self.flow(&[&**names], &item.context_expr);
                    }
                }
            }
            // A call may change what it is given, and what it is a method of.
            Stmt::Expr(found) => {
                let targets = match &*found.value {
                    Expr::Call(call) => changed_by(call),
                    other => vec![other],
                };
                let change = (words_of(&targets), FlowPiece::of_expression(&found.value));
                self.changes.push(change);
            }
            Stmt::FunctionDef(function) => {
                self.function(function);
                let piece = FlowPiece::of_statement(statement);
                self.definitions.push((function.name.as_str(), piece));
            }
            Stmt::ClassDef(class) => {
                let piece = FlowPiece::of_statement(statement);
                self.definitions.push((class.name.as_str(), piece));
                let bases = class.arguments.iter().flat_map(|all| &all.args);
                self.bases.extend(bases.filter_map(last_name));
                let outer = self.class.replace(class.name.as_str());
                visitor::walk_stmt(self, statement);
                self.class = outer;
                return;
            }
            Stmt::Import(import) => self.import(&import.names, None),
            Stmt::ImportFrom(import) => self.import(&import.names, Some(named_by(import))),
            _ => {}
        }
        let has_others = matches!(
            statement,
            Stmt::FunctionDef(_)
                | Stmt::ClassDef(_)
                | Stmt::If(_)
                | Stmt::For(_)
                | Stmt::While(_)
                | Stmt::With(_)
                | Stmt::Try(_)
                | Stmt::Match(_)
        );
        if has_others {
            let heads = heads_of(statement).into_iter();
            self.plain.extend(heads.map(FlowPiece::of_expression));
        } else {
            self.plain.push(FlowPiece::of_statement(statement));
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'s Expr) {
        match expression {
            Expr::Call(call) => {
                self.call(call);
                // What is called is no value.
                match &*call.func {
                    Expr::Attribute(method) => self.visit_expr(&method.value),
                    Expr::Name(_) => {}
                    other => self.visit_expr(other),
                }
                self.visit_arguments(&call.arguments);
                return;
            }
            Expr::Named(named) => self.flow(&[&*named.target], &named.value),
            Expr::Attribute(attribute) => self.hands_on |= lists(&attribute.attr),
            Expr::Name(name) => self.hands_on |= self.listing.contains(name.id.as_str()),
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_comprehension(&mut self, comprehension: &'s ast::Comprehension) {
        self.flow(&[&comprehension.target], &comprehension.iter);
        visitor::walk_comprehension(self, comprehension);
    }

    fn visit_except_handler(&mut self, handler: &'s ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(own) = handler;
        self.imported
            .extend(own.name.as_ref().map(ast::Identifier::as_str));
        visitor::walk_except_handler(self, handler);
    }
}

/// Follows names to where their values come from.
struct Search<'f, 's> {
    file: &'f FlowReader<'s>,
    seen: FxHashSet<(&'s str, bool)>,
    open: Vec<(&'s str, bool)>,
    ranges: Vec<TextRange>,
}

impl<'s> Search<'_, 's> {
    fn take(&mut self, piece: &FlowPiece<'s>) {
        self.ranges.push(piece.range);
        for word in &piece.words {
            if self.seen.insert(*word) {
                self.open.push(*word);
            }
        }
    }

    /// Follows all that is open; nothing where something has a name that nobody gives it.
    fn follow(&mut self) -> Option<()> {
        let file = self.file;
        while let Some((word, is_name)) = self.open.pop() {
            if matches!(word, "self" | "cls") {
                continue;
            }
            let mut known = !is_name || file.imported.contains(word) || is_builtin(word);
            for (targets, value) in &file.flows {
                if targets.contains(&word) {
                    known = true;
                    self.take(value);
                }
            }
            let changes = file.changes.iter();
            for (_, value) in changes.filter(|(targets, _)| targets.contains(&word)) {
                self.take(value);
            }
            for (name, whole) in &file.definitions {
                if *name == word {
                    known = true;
                    self.take(whole);
                }
            }
            let takers = file.functions.iter();
            for function in takers.filter(|function| function.parameters.contains(&word)) {
                known = true;
                function.given.iter().for_each(|piece| self.take(piece));
                let called = function.called.as_ref()?;
                // Who makes an object of a class below it gives it what that one passes on.
                let made_below = called.iter().any(|name| file.bases.contains(name));
                (!made_below).then_some(())?;
                let names = |piece: &&FlowPiece<'s>| {
                    piece.words.iter().any(|(name, _)| called.contains(name))
                };
                file.plain
                    .iter()
                    .filter(names)
                    .for_each(|piece| self.take(piece));
            }
            let own = ["__file__", "__name__", "__path__", "__doc__", "__package__"];
            (known || own.contains(&word)).then_some(())?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(code: &str) -> Option<String> {
        let spans = of_listings(code, &|module| module == "tree")?;
        let analysis = crate::analysis::Analysis::new(code);
        let strings = analysis.strings.iter();
        let found = strings.filter(|string| spans.iter().any(|span| span.contains(string.span)));
        let found: Vec<&str> = found.filter_map(|string| string.span.of(code)).collect();
        Some(found.join(" "))
    }

    #[test]
    fn texts_come_to_listings_by_names() {
        for (code, expected) in [
            ("import os\nos.listdir('a')\nf('b')\n", Some("a")),
            ("p = 'a'\nq = 'b'\nfor x in p.iterdir(): pass\n", Some("a")),
            (
                "def f():\n    return 'a'\ng('b')\np = f()\np.glob('*')\n",
                Some("a *"),
            ),
            (
                "def f(p):\n    return p.iterdir()\nf('a')\ng('b')\n",
                Some("a"),
            ),
            (
                "def f(p):\n    return p.iterdir()\nfor x in f('a'): pass\nif f('b'): pass\nwith f('c'): pass\n",
                Some("a b c"),
            ),
            ("def f(p='a'):\n    return p.iterdir()\n", Some("a")),
            ("@o('a')\ndef f(p):\n    return p.iterdir()\n", None),
            (
                "from x import o, g\n@o('a')\ndef f(p):\n    return p.iterdir()\ng('b')\n",
                Some("a"),
            ),
            (
                "class K:\n    def __init__(self):\n        self.p = 'a'\n        self.q = 'b'\n    \
                def f(self):\n        return self.p.iterdir()\n",
                Some("a"),
            ),
            (
                "p = []\np.append('a')\nq = []\nq.append('b')\nos = 1\nos.walk(p)\n",
                Some("a"),
            ),
            ("from os import listdir\nlistdir('a')\nf('b')\n", Some("a")),
            ("from os import listdir\nlist(map(listdir, ['a']))\n", None),
            ("from os import listdir as ls\nls('a')\np.iterdir()\n", None),
            (
                "class K(B):\n    def f(self):\n        return self.p.iterdir()\n",
                None,
            ),
            (
                "class K:\n    def __init__(self, p):\n        self.p = p\n    \
                def f(self):\n        return self.p.iterdir()\nx = K('a')\nf('b')\n",
                Some("a"),
            ),
            ("import os\nlist(map(os.listdir, ['a']))\n", None),
            ("from x import *\np.iterdir()\n", None),
            (
                "import os\nfrom tree import each\nos.listdir('a')\neach('b')\nf('c')\n",
                Some("a b"),
            ),
            (
                "import os\nfrom . import files\nos.listdir('a')\np = 'b'\nfiles.each(p)\n",
                Some("a b"),
            ),
            ("from tree import each\neach('a')\n", None),
            ("[q.glob('*.c') for q in ['a']]\n'b'\n", Some("a *.c")),
        ] {
            assert_eq!(texts(code).as_deref(), expected, "{code}");
        }
    }
}
