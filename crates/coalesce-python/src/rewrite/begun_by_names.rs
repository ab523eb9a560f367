//! Imports by texts that begin with what a name stands for: `import_module(f"{PLUGINS}.{name}")`,
//! `import_module(plugins.__name__ + "." + name)`, `import_module("." + name, PLUGINS)`.
//!
//! A name stands for each literal that its file gives it anywhere, or for the one of the module that it is taken from. What
//! begins with a literal is read with the facts (`tables`).

use std::cell::OnceCell;

use coalesce_model::{ByteSpan, LanguagePlan, Texts, Unproven, UnprovenKind};
use ruff_python_ast::{
    self as ast, Expr, InterpolatedStringElement, Operator, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;

use crate::{
    analysis::{
        Analysis, Piece, pieces_with,
        predicates::{chain, last_name, literal_text},
        shift,
    },
    graph::Entity,
    names::Names,
    parser::{parse_module, statements},
    rewrite::mapping::Mapping,
};

/// Tells the imports that may lead to a module which changes.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    if mapping.changes.is_empty() {
        return;
    }
    let facts = mapping.graph.facts.iter().enumerate();
    let readers = facts.filter(|(_, facts)| facts.imports_by_value);
    let told = readers.flat_map(|(reader, _)| told_in(mapping, reader, texts));
    plan.unproven.extend(told);
}

/// What is told of the imports of one module.
fn told_in(mapping: &Mapping<'_>, reader: usize, texts: &dyn Texts) -> Vec<Unproven> {
    let Some(module) = mapping.graph.modules.get(reader) else {
        return Vec::new();
    };
    let text = texts.text(&module.path).unwrap_or_default();
    let found = BeginningReader::new(mapping, reader, &text, texts).found();
    let told = found.into_iter().map(|(span, name)| Unproven {
        path: module.path.clone(),
        span: Some(span),
        kind: UnprovenKind::DynamicImport,
        name,
        why: "the rest of the name is worked out at run time; it may lead to what changes"
            .to_owned(),
    });
    told.collect()
}

/// Reads the imports of one file.
struct BeginningReader<'a> {
    mapping: &'a Mapping<'a>,
    module: usize,
    text: &'a str,
    texts: &'a dyn Texts,
    /// That of the file, once somebody asks.
    analysis: OnceCell<Analysis>,
}

impl<'a> BeginningReader<'a> {
    const fn new(
        mapping: &'a Mapping<'a>,
        module: usize,
        text: &'a str,
        texts: &'a dyn Texts,
    ) -> Self {
        Self {
            mapping,
            module,
            text,
            texts,
            analysis: OnceCell::new(),
        }
    }

    /// The places of the imports, each with what it may lead to.
    fn found(&self) -> Vec<(ByteSpan, String)> {
        let (parsed, start) = parse_module(self.text);
        let body = statements(&parsed);
        let mut calls = ImportingCalls::default();
        calls.visit_body(body);
        let found = calls.found.iter().filter_map(|call| {
            let argument = call.arguments.args.first()?;
            let name = self
                .beginnings(body, call, argument)
                .iter()
                .find_map(|text| {
                    let mut changes = self.mapping.changes.iter();
                    changes.find(|change| change.from.starts_with(text.as_str()))
                })?;
            Some((shift(argument.range(), start), name.from.clone()))
        });
        found.collect()
    }

    /// What the name of the module may begin with that a call imports; nothing where a literal says it, or nobody.
    fn beginnings(&self, body: &[Stmt], call: &ast::ExprCall, argument: &Expr) -> Vec<String> {
        let pieces = pieces_with(argument, &|_| None);
        let (named, ahead) = match pieces.first() {
            Some(Piece::Text(text, _)) if text.starts_with('.') && !text.starts_with("..") => {
                (call.arguments.find_argument_value("package", 1), 0)
            }
            Some(Piece::Unknown) => (first_part(argument), 1),
            _ => (None, 0),
        };
        let rest = pieces.get(ahead..).unwrap_or_default();
        let Some(named) = named.filter(|_| rest.contains(&Piece::Unknown)) else {
            return Vec::new();
        };
        let known = rest.iter().map_while(|piece| match piece {
            Piece::Text(text, _) => Some(text.as_str()),
            Piece::Package | Piece::Unknown => None,
        });
        let known: String = known.collect();
        let texts = self.texts_of(body, named).into_iter();
        texts
            .filter(|text| !text.is_empty())
            .map(|text| format!("{text}{known}"))
            .collect()
    }

    /// The texts that an expression may stand for: a name, or `package.__name__`.
    fn texts_of(&self, body: &[Stmt], expression: &Expr) -> Vec<String> {
        let Some(chain) = chain(expression) else {
            return Vec::new();
        };
        if let [name] = chain.as_slice() {
            let own = GivenTexts::texts(body, name);
            if !own.is_empty() {
                return own;
            }
        }
        let analysis = self.analysis.get_or_init(|| Analysis::new(self.text));
        let names = Names::new(self.mapping.graph, Some(self.module), analysis);
        let used = analysis.uses.iter().find(|used| {
            let found = used.chain.iter().map(|link| link.text.as_str());
            found.eq(chain.iter().map(String::as_str))
        });
        let meanings = used.map(|used| names.meanings(used)).unwrap_or_default();
        let of_module = matches!(
            chain.last().map(String::as_str),
            Some("__name__" | "__package__")
        );
        let meaning = match of_module {
            true => chain.len().checked_sub(2).and_then(|at| meanings.get(at)),
            false => meanings.last().filter(|_| meanings.len() == chain.len()),
        };
        match meaning.and_then(|meaning| meaning.entity.as_ref()) {
            Some(Entity::Module(found)) if of_module => {
                let found = self.mapping.graph.modules.get(*found);
                found.map(|found| found.name.clone()).into_iter().collect()
            }
            Some(Entity::Item(home, name)) => self.texts_in(*home, name),
            _ => Vec::new(),
        }
    }

    /// The literals that a name of another module is given.
    fn texts_in(&self, home: usize, name: &str) -> Vec<String> {
        let module = self.mapping.graph.modules.get(home);
        let text = module.and_then(|module| self.texts.text(&module.path));
        let (parsed, _) = parse_module(&text.unwrap_or_default());
        GivenTexts::texts(statements(&parsed), name)
    }
}

/// What a text that is put together begins with.
fn first_part(expression: &Expr) -> Option<&Expr> {
    match expression {
        Expr::Name(_) | Expr::Attribute(_) => Some(expression),
        Expr::BinOp(sum) if sum.op == Operator::Add => first_part(&sum.left),
        Expr::BinOp(filled) if filled.op == Operator::Mod => match &*filled.right {
            Expr::Tuple(values) => values.elts.first(),
            value => Some(value),
        },
        Expr::FString(text) => match text.value.elements().next()? {
            InterpolatedStringElement::Interpolation(part) => Some(&part.expression),
            InterpolatedStringElement::Literal(_) => None,
        },
        Expr::Call(call) => match (last_name(&call.func)?, call.arguments.args.first()?) {
            ("format", first) => Some(first),
            ("join", Expr::List(parts)) => parts.elts.first(),
            ("join", Expr::Tuple(parts)) => parts.elts.first(),
            _ => None,
        },
        _ => None,
    }
}

/// Calls of `import_module` and its kin.
#[derive(Default)]
struct ImportingCalls<'s> {
    found: Vec<&'s ast::ExprCall>,
}

impl<'s> Visitor<'s> for ImportingCalls<'s> {
    fn visit_expr(&mut self, expression: &'s Expr) {
        if let Expr::Call(call) = expression
            && matches!(last_name(&call.func), Some("import_module" | "__import__"))
        {
            self.found.push(call);
        }
        visitor::walk_expr(self, expression);
    }
}

/// The literals that a name is given: by assignments, also in functions, and as the default of a parameter.
struct GivenTexts<'n> {
    name: &'n str,
    found: Vec<String>,
}

impl<'n> GivenTexts<'n> {
    fn texts(body: &[Stmt], name: &'n str) -> Vec<String> {
        let mut given = Self {
            name,
            found: Vec::new(),
        };
        given.visit_body(body);
        given.found
    }

    fn note(&mut self, value: Option<&Expr>) {
        let text = value.and_then(literal_text);
        self.found.extend(text.map(str::to_owned));
    }
}

impl Visitor<'_> for GivenTexts<'_> {
    fn visit_stmt(&mut self, statement: &Stmt) {
        let is_it =
            |target: &Expr| matches!(target, Expr::Name(name) if name.id.as_str() == self.name);
        match statement {
            Stmt::Assign(assign) if assign.targets.iter().any(is_it) => {
                self.note(Some(&assign.value));
            }
            Stmt::AnnAssign(assign) if is_it(&assign.target) => self.note(assign.value.as_deref()),
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_parameters(&mut self, parameters: &ast::Parameters) {
        for each in parameters.iter_non_variadic_params() {
            if each.name().as_str() == self.name {
                self.note(each.default());
            }
        }
        visitor::walk_parameters(self, parameters);
    }
}
