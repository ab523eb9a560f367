//! Who reads the names of definitions when it runs, and of which definitions that may be: `type(x).__name__` gives names of
//! classes alone, `f.__name__` in a decorator those of what it stands on, `Circle.__name__` that of `Circle`.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Texts};
use rayon::prelude::*;
use ruff_python_ast::{
    Comprehension, Expr, ExprContext, Stmt, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;

use crate::{
    analysis::{
        Analysis, Called, DefinitionKind, Use,
        predicates::{blocks, last_name},
        shift,
    },
    graph::Entity,
    names::{Names, is_word},
    parser::{parse_module, statements},
    rewrite::{mapping::Mapping, words::Word},
};

/// The attributes that are the name of a definition.
const NAMES: [&str; 2] = ["__name__", "__qualname__"];

/// Whose names a tree reads.
#[derive(Debug, Default)]
pub(super) struct NameReaders {
    /// Something reads names, and nobody can tell whose.
    anything: bool,
    /// Something reads the name of the class of an object.
    classes: bool,
    /// Definitions of which somebody reads the name where they are named.
    named: BTreeSet<(usize, String)>,
    /// Functions that read the names of what they decorate.
    decorators: BTreeSet<String>,
}

impl NameReaders {
    pub(super) fn of_tree(mapping: &Mapping<'_>, texts: &dyn Texts) -> Self {
        let words = mapping.words(texts);
        let modules = mapping.graph.modules.par_iter().enumerate().zip(words);
        let readers = modules.filter(|(_, words)| words.has(Word::Name));
        let found: Vec<Reads> = readers
            .filter_map(|((module, found), _)| {
                let text = texts.text(&found.path)?;
                Some(Reads::of_file((mapping, texts), module, &text))
            })
            .collect();
        let mut all = Self::default();
        for reads in found {
            all.anything |= reads.anything;
            all.classes |= reads.classes;
            all.named.extend(reads.named);
            for decorator in reads.decorators {
                let only = decorator.only_decorates(mapping, texts);
                all.anything |= !only;
                all.decorators.extend(only.then_some(decorator.name));
            }
        }
        all
    }

    /// Whether the name of a definition may be read: of a class or a function, on which these decorators stand.
    pub(super) fn may_read<'d>(
        &self,
        (module, item): (usize, &str),
        is_class: bool,
        mut decorators: impl Iterator<Item = &'d str>,
    ) -> bool {
        self.anything
            || is_class && self.classes
            || self.named.contains(&(module, item.to_owned()))
            || decorators.any(|name| self.decorators.contains(name))
    }
}

/// How a function comes by the definition whose name it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Handed {
    /// As its own first argument: `@register`.
    Itself,
    /// As that of a function that it returns: `@register("key")`.
    ToWhatItReturns,
    /// As its own, which it hands to such a function, or as that of the function: `@register`, `@register(name="key")`.
    Either,
}

/// A function at module level that reads the name of what it is handed.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Decorator {
    module: usize,
    name: String,
    handed: Handed,
}

impl Decorator {
    /// Whether the tree uses it as a decorator and in no other way.
    fn only_decorates(&self, mapping: &Mapping<'_>, texts: &dyn Texts) -> bool {
        let graph = mapping.graph;
        let modules = graph.modules.par_iter().enumerate();
        !modules.any(|(index, module)| {
            let text = texts.text(&module.path).unwrap_or_default();
            if !text.contains(&self.name) {
                return false;
            }
            let analysis = Analysis::new(&text);
            let names = Names::new(graph, Some(index), &analysis);
            let mut uses = analysis.uses.iter();
            uses.any(|used| self.is_meant(&names, used) && !self.decorates(&text, used))
        })
    }

    fn is_meant(&self, names: &Names<'_>, used: &Use) -> bool {
        let meanings = names.meanings(used);
        let mut entities = meanings
            .iter()
            .filter_map(|meaning| meaning.entity.as_ref());
        entities.any(|entity| {
            matches!(entity, Entity::Item(home, item) if *home == self.module && *item == self.name)
        })
    }

    /// Whether a use of it stands over a definition, and hands that over as it is read.
    fn decorates(&self, text: &str, used: &Use) -> bool {
        let (Some(first), Some(last)) = (used.chain.first(), used.chain.last()) else {
            return false;
        };
        let before = text.get(..first.span.start as usize).unwrap_or_default();
        let after = text.get(last.span.end as usize..).unwrap_or_default();
        let stands_over = used.called == Called::Callee && before.trim_end().ends_with('@');
        let arguments = after.trim_start_matches([' ', '\t']).strip_prefix('(');
        stands_over
            && last.text == self.name
            && match (self.handed, arguments) {
                (Handed::Itself, Some(arguments)) => is_by_name(arguments),
                (Handed::Either, _)
                | (Handed::Itself, None)
                | (Handed::ToWhatItReturns, Some(_)) => true,
                (Handed::ToWhatItReturns, None) => false,
            }
    }
}

/// Whether no argument is given, or the first by its name.
fn is_by_name(arguments: &str) -> bool {
    let arguments = arguments.trim_start();
    let rest = arguments.trim_start_matches(is_word).trim_start();
    let named = rest.len() < arguments.len() && rest.starts_with('=') && !rest.starts_with("==");
    named || arguments.starts_with(')')
}

/// What one file reads.
#[derive(Debug, Default)]
struct Reads {
    anything: bool,
    classes: bool,
    named: BTreeSet<(usize, String)>,
    decorators: BTreeSet<Decorator>,
}

impl Reads {
    fn of_file(tree: (&Mapping<'_>, &dyn Texts), module: usize, text: &str) -> Self {
        let analysis = Analysis::new(text);
        let names = Names::new(tree.0.graph, Some(module), &analysis);
        let (parsed, start) = parse_module(text);
        let mut search = Search {
            tree,
            names,
            module,
            start,
            functions: Vec::new(),
            classes: 0,
            gone_through: Vec::new(),
            found: Self::default(),
        };
        search.visit_body(statements(&parsed));
        search.found
    }
}

/// A function around a place.
struct SurroundingFunction<'t> {
    function: &'t StmtFunctionDef,
    /// It stands in the body of a class.
    is_method: bool,
}

impl SurroundingFunction<'_> {
    fn has_parameter(&self, name: &str) -> bool {
        let mut parameters = self.function.parameters.iter();
        parameters.any(|each| each.name().as_str() == name)
    }

    fn is_first(&self, name: &str) -> bool {
        let first = self.function.parameters.iter_non_variadic_params().next();
        first.is_some_and(|first| first.name().as_str() == name)
    }

    fn returns(&self, name: &str) -> bool {
        returns(&self.function.body, name)
    }

    /// Whether it calls a function for what it is handed, and for nothing else: `return deco(f) if f else deco`.
    fn hands_on_to(&self, name: &str) -> bool {
        let mut calls = Calls {
            name,
            arguments: Vec::new(),
        };
        calls.visit_body(&self.function.body);
        let is_own = |argument: &Option<&str>| {
            argument.is_some_and(|own| self.is_first(own) && !self.gives(own))
        };
        !calls.arguments.is_empty() && calls.arguments.iter().all(is_own)
    }

    /// Whether a name is given anything else than the argument.
    fn gives(&self, name: &str) -> bool {
        let mut given = GivenAgain { name, found: false };
        given.visit_body(&self.function.body);
        given.found
    }
}

/// Whether the statements of a function return a name.
fn returns(body: &[Stmt], name: &str) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::Return(found) => {
            let value = found.value.as_deref().and_then(Expr::as_name_expr);
            value.is_some_and(|value| value.id.as_str() == name)
        }
        other => blocks(other).into_iter().any(|block| returns(block, name)),
    })
}

/// The calls of a function: the name that is all that it is given.
struct Calls<'a> {
    name: &'a str,
    arguments: Vec<Option<&'a str>>,
}

impl<'a> Visitor<'a> for Calls<'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression
            && last_name(&call.func) == Some(self.name)
        {
            let only = match (&*call.arguments.args, &*call.arguments.keywords) {
                ([Expr::Name(only)], []) => Some(only.id.as_str()),
                _ => None,
            };
            self.arguments.push(only);
        }
        visitor::walk_expr(self, expression);
    }
}

struct GivenAgain<'a> {
    name: &'a str,
    found: bool,
}

impl Visitor<'_> for GivenAgain<'_> {
    fn visit_expr(&mut self, expression: &Expr) {
        self.found |= matches!(expression, Expr::Name(name) if name.ctx != ExprContext::Load && name.id.as_str() == self.name);
        visitor::walk_expr(self, expression);
    }
}

struct Search<'a, 't> {
    tree: (&'a Mapping<'a>, &'a dyn Texts),
    names: Names<'a>,
    module: usize,
    start: u32,
    functions: Vec<SurroundingFunction<'t>>,
    /// How many classes stand around.
    classes: usize,
    /// Names that stand for one after the other of what is written down: `for f in (a, b)`.
    gone_through: Vec<(&'t str, &'t [Expr])>,
    found: Reads,
}

impl<'t> Search<'_, 't> {
    /// Notes that the name of what an expression gives is read.
    fn read_of(&mut self, owner: &'t Expr) {
        let is_type = match owner {
            Expr::Call(call) => last_name(&call.func) == Some("type") && call.arguments.len() == 1,
            Expr::Attribute(attribute) => attribute.attr.as_str() == "__class__",
            _ => false,
        };
        if is_type {
            self.found.classes = true;
            return;
        }
        let Expr::Name(name) = owner else {
            return self.read_of_named(owner);
        };
        let name = name.id.as_str();
        let mut listed = self.gone_through.iter().rev();
        match listed.find(|(target, _)| *target == name) {
            Some((_, elements)) => {
                let elements: &'t [Expr] = elements;
                elements.iter().for_each(|each| self.read_of_named(each));
            }
            None => self.read_of_name(owner, name),
        }
    }

    /// The name of what a parameter is given, or of what is named.
    fn read_of_name(&mut self, owner: &Expr, name: &str) {
        let mut around = self.functions.iter().enumerate().rev();
        let Some((depth, function)) = around.find(|(_, one)| one.has_parameter(name)) else {
            return self.read_of_named(owner);
        };
        if function.is_method && function.is_first(name) && name == "cls" {
            self.found.classes = true;
            return;
        }
        let outer = self.functions.first().filter(|_| self.classes == 0);
        let plain = function.is_first(name) && !function.gives(name);
        let handed = match depth {
            0 => Some(Handed::Itself),
            1 if outer.is_some_and(|outer| outer.hands_on_to(&function.function.name)) => {
                Some(Handed::Either)
            }
            1 if outer.is_some_and(|outer| outer.returns(&function.function.name)) => {
                Some(Handed::ToWhatItReturns)
            }
            _ => None,
        };
        let decorator = outer.zip(handed.filter(|_| plain));
        match decorator.filter(|(outer, _)| !outer.is_method) {
            Some((outer, handed)) => {
                let decorator = Decorator {
                    module: self.module,
                    name: outer.function.name.to_string(),
                    handed,
                };
                self.found.decorators.insert(decorator);
            }
            None => self.found.anything = true,
        }
    }

    /// The name of what a chain of names leads to.
    fn read_of_named(&mut self, owner: &Expr) {
        let span = shift(owner.range(), self.start);
        match self.entity_at(span) {
            Some(Entity::Item(home, item)) if self.is_definition(home, &item) => {
                self.found.named.insert((home, item));
            }
            Some(Entity::Module(_) | Entity::External) => {}
            _ => self.found.anything = true,
        }
    }

    /// Whether an item is a function or a class itself, and no name that is given one.
    fn is_definition(&self, home: usize, item: &str) -> bool {
        let (mapping, texts) = self.tree;
        let file = mapping.read(texts, home);
        let Some(file) = file else { return false };
        let definitions = file.analysis.definitions.iter();
        let own = definitions.filter(|each| each.class.is_none() && each.name == item);
        let mut kinds = own.map(|each| each.kind).peekable();
        kinds.peek().is_some() && kinds.all(|kind| kind != DefinitionKind::Value)
    }

    /// What the chain leads to that ends where a span does.
    fn entity_at(&self, span: ByteSpan) -> Option<Entity> {
        self.names.analysis.uses.iter().find_map(|used| {
            let begins = used.chain.first()?.span.start == span.start;
            let mut chain = used.chain.iter();
            let at = chain.position(|link| begins && link.span.end == span.end)?;
            self.names.meanings(used).get(at)?.entity.clone()
        })
    }

    fn go_through(&mut self, target: &'t Expr, iterated: &'t Expr) -> bool {
        let elements = match iterated {
            Expr::Tuple(found) => &found.elts[..],
            Expr::List(found) => &found.elts[..],
            Expr::Set(found) => &found.elts[..],
            _ => return false,
        };
        let Expr::Name(name) = target else {
            return false;
        };
        self.gone_through.push((name.id.as_str(), elements));
        true
    }
}

impl<'t> Visitor<'t> for Search<'_, 't> {
    fn visit_stmt(&mut self, statement: &'t Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                let is_method = self.classes > 0 && self.functions.is_empty();
                self.functions.push(SurroundingFunction {
                    function,
                    is_method,
                });
                visitor::walk_stmt(self, statement);
                self.functions.pop();
            }
            Stmt::ClassDef(_) => {
                self.classes += 1;
                visitor::walk_stmt(self, statement);
                self.classes -= 1;
            }
            Stmt::For(looped) => {
                let held = self.go_through(&looped.target, &looped.iter);
                visitor::walk_stmt(self, statement);
                if held {
                    self.gone_through.pop();
                }
            }
            // What documents something is no code.
            Stmt::Expr(found) if found.value.is_string_literal_expr() => {}
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'t Expr) {
        let generators: &[Comprehension] = match expression {
            Expr::ListComp(found) => &found.generators,
            Expr::SetComp(found) => &found.generators,
            Expr::DictComp(found) => &found.generators,
            Expr::Generator(found) => &found.generators,
            _ => &[],
        };
        let known = self.gone_through.len();
        for generator in generators {
            self.go_through(&generator.target, &generator.iter);
        }
        match expression {
            Expr::Attribute(found)
                if NAMES.contains(&found.attr.as_str()) && found.ctx == ExprContext::Load =>
            {
                self.read_of(&found.value);
            }
            Expr::Call(call) if last_name(&call.func) == Some("getattr") => {
                if let [owner, Expr::StringLiteral(name), ..] = &*call.arguments.args
                    && NAMES.contains(&name.value.to_str())
                {
                    self.read_of(owner);
                    self.visit_expr(owner);
                    return;
                }
            }
            Expr::StringLiteral(text) => {
                let text = text.value.to_str();
                self.found.anything |= NAMES.iter().any(|name| text.contains(name));
            }
            Expr::Name(name) if name.id.as_str() == "__qualname__" => self.found.anything = true,
            _ => {}
        }
        visitor::walk_expr(self, expression);
        self.gone_through.truncate(known);
    }
}
