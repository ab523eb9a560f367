//! One walk over the syntax tree of a file: imports, scopes, bindings and uses of names.
//!
//! The parser recovers from errors, so that a broken file still gives its imports. Nothing here
//! knows other files; what a name means across files is `graph`'s business.

mod annotations;
mod assignments;
mod beside_names;
pub(crate) mod by_name;
pub(crate) mod calls;
mod detail;
mod effects;
mod imports;
mod lazy;
mod parts;
mod path_redirects;
pub(crate) mod predicates;
pub(crate) mod run_time;
mod statements;
mod use_index;
mod visit;

use std::{borrow::Cow, sync::OnceLock};

use coalesce_model::{ByteSpan, Guard, texts::start_of_text};
use ruff_python_ast::{self as ast, Expr, Stmt, visitor::Visitor};
use ruff_python_parser::Mode;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

use self::detail::Detail;
use crate::{
    facts::{Content, Effect, FromPart, ImportStatement, PathRedirect, Spanned},
    parser,
};

pub use beside_names::BesideName;
pub use lazy::{LazyForm, LazyImport, LazyTables, Prefix, Written};
pub(crate) use lazy::{Piece, pieces_with};
pub use parts::{
    Binding, Called, Definition, DefinitionKind, Evaluated, Scope, StringLiteral, Use,
};
use predicates::{is_name, stronger};
pub use run_time::RunTimeImport;

/// What the walk found.
#[derive(Debug, Default)]
pub struct Analysis {
    /// Import statements in source order, each with the scope it stands in.
    pub imports: Vec<(ImportStatement, usize)>,
    /// Scopes; the first one is the module's.
    pub scopes: Vec<Scope>,
    /// Uses of names, with the attributes that follow.
    pub uses: Vec<Use>,
    use_index: OnceLock<use_index::UseIndex>,
    /// What `case a.b:` compares with: a name without a dot would be bound there instead.
    pub patterns: Vec<ByteSpan>,
    /// Texts that are held against the name of a module.
    pub beside_names: Vec<BesideName>,
    /// What `f"{a.b=}"` prints as it stands.
    pub printed: Vec<ByteSpan>,
    /// String literals: contents as they stand in the file, and whether they document something.
    pub strings: Vec<StringLiteral>,
    /// `__all__`, when it is literal.
    pub all: Option<Vec<Spanned>>,
    /// Names may appear that the text does not show.
    pub dynamic: bool,
    /// All names of that kind are those of tables that are read whole.
    pub tabled: bool,
    /// What the module consists of.
    pub content: Content,
    /// Where and why the file does not parse.
    pub syntax_error: Option<(ByteSpan, String)>,
    /// `importlib.import_module("…")` and its kin: what is imported, and what stands around it.
    pub run_time: Vec<(RunTimeImport, Guard, bool)>,
    /// Calls that import a module of which only the beginning of the name is known.
    pub open: Vec<FromPart>,
    /// Tables that load modules at run time.
    pub lazy: LazyTables,
    /// Modules in `sys.modules` that look for their submodules where another package does.
    pub path_redirects: Vec<PathRedirect>,
    /// What module-level code defines: functions, classes and names that get a value.
    pub definitions: Vec<Definition>,
    /// What executing the module may do to others.
    pub effects: Vec<Effect>,
    /// The first warning that the module gives where it is executed.
    pub warning: Option<ByteSpan>,
    /// Functions that put something into what lasts.
    pub storing_functions: Vec<String>,
}

impl Analysis {
    /// Walks `text`. A byte-order mark at its start is passed over.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::walk(text, Detail::Annotations)
    }

    /// The same without the uses that stand in quoted annotations, for those who need no uses.
    #[must_use]
    pub fn without_annotations(text: &str) -> Self {
        Self::walk(text, Detail::Uses)
    }

    /// What the file imports, defines and names in strings, and nothing of how its names are used: bodies of functions
    /// that change none of it are not looked into, whatever is wrong there.
    #[must_use]
    pub fn structure(text: &str) -> Self {
        Self::walk(text, Detail::Structure)
    }

    fn walk(text: &str, detail: Detail) -> Self {
        let start = start_of_text(text);
        let source = text.get(start as usize..).unwrap_or_default();
        let (parsed, unread) = match detail {
            Detail::Structure => parser::parse_outside_bodies(source),
            Detail::Uses | Detail::Annotations => parser::parse_or_say(source, Mode::Module),
        };
        let first = parsed.errors().first();
        let unread = unread.map(|(span, why)| (ByteSpan::empty(span.start + start), why));
        let dynamic = unread.is_some();
        let problem =
            unread.or(first.map(|error| (shift(error.location, start), error.error.to_string())));
        let mut walker = Walker::new(text, start, detail);
        walker.found.scopes.push(Scope::default());
        walker.found.syntax_error = problem;
        walker.found.dynamic = dynamic;
        if let ast::Mod::Module(module) = parsed.syntax() {
            walker.module(&module.body);
        }
        walker.type_comments(parsed.tokens());
        walker.found
    }

    /// Whether `case` compares with a use.
    #[must_use]
    pub fn is_pattern(&self, used: &Use) -> bool {
        let root = used.chain.first();
        root.is_some_and(|root| self.patterns.iter().any(|one| one.contains(root.span)))
    }

    /// The scope that binds `name` as seen from `scope`; `None` when no scope of the file does.
    #[must_use]
    pub fn binding_scope(&self, scope: usize, name: &str) -> Option<usize> {
        let mut at = Some(scope);
        let mut first = true;
        while let Some(current) = at {
            let found = self.scopes.get(current)?;
            if found.globals.contains(name) {
                return Some(0);
            }
            if (first || !found.class)
                && found.bindings.contains_key(name)
                && !found.nonlocals.contains(name)
            {
                return Some(current);
            }
            first = false;
            at = found.parent;
        }
        None
    }

    /// The bindings of `name` as seen from `scope`.
    #[must_use]
    pub fn bindings(&self, scope: usize, name: &str) -> &[Binding] {
        let scope = self
            .binding_scope(scope, name)
            .and_then(|scope| self.scopes.get(scope));
        scope
            .and_then(|scope| scope.bindings.get(name))
            .map_or(&[], Vec::as_slice)
    }

    /// Names that importing the module binds by something else than an import, in source order.
    #[must_use]
    pub fn defines(&self) -> Vec<String> {
        self.bound_in(false)
    }

    /// Names that the file binds only when it runs as a program, in source order.
    #[must_use]
    pub fn program_names(&self) -> Vec<String> {
        let defined = self.defines();
        let mut names = self.bound_in(true);
        names.retain(|name| !defined.contains(name));
        names
    }

    /// Names that module-level code binds by something else than an import, when the file runs as a
    /// program or when it is imported.
    fn bound_in(&self, program: bool) -> Vec<String> {
        let Some(module) = self.scopes.first() else {
            return Vec::new();
        };
        let own = module.bindings.iter().filter_map(|(name, bindings)| {
            let mut own = bindings.iter().filter(|binding| binding.program == program);
            let first = own.find(|binding| binding.import.is_none())?;
            Some((first.span, name.clone()))
        });
        let mut own: Vec<_> = own.collect();
        own.sort();
        own.into_iter().map(|(_, name)| name).collect()
    }
}

pub(crate) fn shift(range: TextRange, start: u32) -> ByteSpan {
    ByteSpan::new(range.start().to_u32() + start, range.end().to_u32() + start)
}

struct Walker<'t> {
    text: &'t str,
    /// Bytes before what was parsed.
    start: u32,
    found: Analysis,
    scope: usize,
    /// Functions and lambdas around.
    depth: usize,
    guard: Guard,
    /// What is walked is a type.
    annotation: bool,
    detail: Detail,
    /// Branches of `if` statements around.
    branches: usize,
    /// Below `if __name__ == "__main__"`: nothing of it happens when the file is imported.
    program: bool,
    augments: bool,
    /// What the call around does with what is walked.
    called: Called,
    /// Whether what is walked is evaluated.
    evaluated: Evaluated,
    /// Where the statement ends that binds what is walked.
    through: u32,
    /// The class around.
    class: Option<String>,
    /// Names that were given a text which is put together.
    texts: FxHashMap<&'t str, &'t Expr>,
}

impl<'t> Walker<'t> {
    fn new(text: &'t str, start: u32, detail: Detail) -> Self {
        Self {
            text,
            start,
            found: Analysis::default(),
            scope: 0,
            depth: 0,
            guard: Guard::None,
            annotation: false,
            detail,
            branches: 0,
            program: false,
            augments: false,
            called: Called::No,
            evaluated: Evaluated::Always,
            through: 0,
            class: None,
            texts: FxHashMap::default(),
        }
    }

    fn span(&self, node: impl Ranged) -> ByteSpan {
        shift(node.range(), self.start)
    }

    /// Whether importing the module executes what is walked.
    fn executed(&self) -> bool {
        self.depth == 0 && !self.program
    }

    fn module(&mut self, body: &'t [Stmt]) {
        self.documentation(body);
        for statement in body {
            self.content(statement);
            self.visit_stmt(statement);
        }
        self.found.lazy = lazy::find(body, self.text, self.start);
        self.found.tabled = self.found.lazy.tabled && !self.found.dynamic;
        self.found.dynamic |= self.found.lazy.dynamic;
        let module = self.found.scopes.first();
        self.found.path_redirects = path_redirects::find(body, self.text, module);
        if self.detail == Detail::Structure {
            return;
        }
        let module = self.found.scopes.first();
        let (effects, storing_functions) = module.map_or_else(Default::default, |module| {
            (
                effects::find(body, self.start, module, &self.found.definitions),
                effects::storing_functions(body, module),
            )
        });
        self.found.effects = effects;
        self.found.warning = effects::first_warning(body, self.start);
        self.found.storing_functions = storing_functions;
    }

    /// Marks the docstring of a body.
    fn documentation(&mut self, body: &[Stmt]) {
        let Some(Stmt::Expr(statement)) = body.first() else {
            return;
        };
        if let Expr::StringLiteral(literal) = &*statement.value {
            for part in &literal.value {
                let span = shift(part.content_range(), self.start);
                self.found.strings.push(StringLiteral {
                    span,
                    documentation: true,
                    annotation: false,
                });
            }
        }
    }

    /// A name as the compiler has it: `__x` within `class _K` is `_K__x` (Python's reference, *Private name
    /// mangling*).
    fn mangled<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let class = self.class.as_deref().unwrap_or_default();
        let class = class.trim_start_matches('_');
        if class.is_empty() || !name.starts_with("__") || name.ends_with("__") {
            return Cow::Borrowed(name);
        }
        Cow::Owned(format!("_{class}{name}"))
    }

    fn bind(&mut self, name: &str, span: ByteSpan, import: Option<(usize, usize)>) {
        let name = &*self.mangled(name);
        let Some(scope) = self.found.scopes.get(self.scope) else {
            return;
        };
        let scope = if scope.globals.contains(name) {
            0
        } else {
            self.scope
        };
        let (program, through) = (self.program, self.through.max(span.start));
        if let Some(scope) = self.found.scopes.get_mut(scope) {
            let known = scope.bindings.entry(name.to_owned()).or_default();
            known.push(Binding {
                span,
                import,
                value: None,
                program,
                through,
                augments: self.augments,
            });
        }
    }

    fn bind_identifier(&mut self, name: &ast::Identifier) {
        let span = self.span(name);
        self.bind(name.as_str(), span, None);
    }

    fn decorators(&mut self, decorators: &'t [ast::Decorator]) {
        let outer = std::mem::replace(&mut self.called, Called::Callee);
        for decorator in decorators {
            self.visit_decorator(decorator);
        }
        self.called = outer;
    }

    /// Notes what module-level code defines, and methods of classes there.
    fn define(&mut self, name: &str, span: ByteSpan, kind: DefinitionKind) {
        let method = self.method();
        if self.executed() && (self.scope == 0 || method) {
            self.found.definitions.push(Definition {
                name: name.to_owned(),
                class: self.class.clone().filter(|_| method),
                span,
                kind,
                hooks: false,
            });
        }
    }

    /// Whether what stands here is part of a class that module-level code defines.
    fn method(&self) -> bool {
        let scope = self.found.scopes.get(self.scope);
        scope.is_some_and(|scope| scope.class && scope.parent == Some(0))
    }

    fn within(&mut self, class: bool, function: bool, walk: impl FnOnce(&mut Self)) {
        self.found.scopes.push(Scope {
            parent: Some(self.scope),
            class,
            ..Scope::default()
        });
        let outer = std::mem::replace(&mut self.scope, self.found.scopes.len() - 1);
        let guard = self.guard;
        let through = std::mem::take(&mut self.through);
        let called = self.called;
        let evaluated = self.evaluated;
        if function {
            self.evaluated = Evaluated::Always;
            self.called = Called::No;
            self.depth += 1;
        }
        walk(self);
        self.depth -= usize::from(function);
        self.guard = guard;
        self.called = called;
        self.evaluated = evaluated;
        self.through = through;
        self.scope = outer;
    }

    /// What a comprehension goes through first is looked up outside of it; the rest has a scope of
    /// its own.
    fn comprehension(&mut self, generators: &'t [ast::Comprehension], results: &[&'t Expr]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.within(false, false, |walker| {
            if let Some(scope) = walker.found.scopes.get_mut(walker.scope) {
                scope.comprehension = true;
            }
            for (at, generator) in generators.iter().enumerate() {
                if at > 0 {
                    walker.visit_expr(&generator.iter);
                }
                walker.visit_expr(&generator.target);
                generator
                    .ifs
                    .iter()
                    .for_each(|test| walker.visit_expr(test));
            }
            results.iter().for_each(|result| walker.visit_expr(result));
        });
    }

    /// `name := value` binds around the comprehensions that it stands in.
    fn walrus(&mut self, named: &'t ast::ExprNamed) {
        self.visit_expr(&named.value);
        let mut around = self.scope;
        while let Some(scope) = self
            .found
            .scopes
            .get(around)
            .filter(|scope| scope.comprehension)
        {
            let Some(parent) = scope.parent else { break };
            around = parent;
        }
        let outer = std::mem::replace(&mut self.scope, around);
        self.visit_expr(&named.target);
        self.scope = outer;
    }

    fn guarded(&mut self, guard: Guard, body: &'t [Stmt]) {
        let outer = self.guard;
        self.guard = stronger(outer, guard);
        self.visit_body(body);
        self.guard = outer;
    }

    /// The chain `a.b.c` that ends at this attribute, when it starts at a name.
    fn chain(&self, attribute: &ast::ExprAttribute) -> Option<Vec<Spanned>> {
        let mut parts = vec![self.spanned(&attribute.attr, &attribute.attr)];
        let mut value = &*attribute.value;
        loop {
            match value {
                Expr::Attribute(inner) => {
                    parts.push(self.spanned(&inner.attr, &inner.attr));
                    value = &inner.value;
                }
                Expr::Name(name) => {
                    parts.push(self.spanned(&name.id, name));
                    parts.reverse();
                    return Some(parts);
                }
                _ => return None,
            }
        }
    }

    fn spanned(&self, text: &str, at: &impl Ranged) -> Spanned {
        Spanned {
            text: text.to_owned(),
            span: self.span(at),
        }
    }

    fn use_name(&mut self, mut chain: Vec<Spanned>, store: bool) {
        if self.detail == Detail::Structure {
            return;
        }
        if let Some(root) = chain.first_mut()
            && let Cow::Owned(name) = self.mangled(&root.text)
        {
            root.text = name;
        }
        let scope = match chain.first() {
            Some(root) if !store => self.seen_from(&root.text),
            _ => self.scope,
        };
        self.found.uses.push(Use {
            scope,
            stands_in: self.scope,
            chain,
            store,
            eager: self.executed() && self.guard != Guard::TypeChecking,
            annotation: self.annotation,
            assigned: false,
            called: self.called,
            evaluated: self.evaluated,
        });
    }

    /// The scope from which a name that is read here is looked up. A class body reads what it has
    /// bound so far, and else what lies around all classes: `Worker = Worker`.
    fn seen_from(&self, name: &str) -> usize {
        let mut at = self.scope;
        while let Some(scope) = self.found.scopes.get(at).filter(|scope| scope.class) {
            let bound = at == self.scope && scope.bindings.contains_key(name);
            let Some(parent) = scope.parent.filter(|_| !bound) else {
                break;
            };
            at = parent;
        }
        at
    }

    fn function(&mut self, function: &'t ast::StmtFunctionDef) {
        self.decorators(&function.decorator_list);
        self.define(
            &function.name,
            self.span(function),
            DefinitionKind::Function,
        );
        self.bind_identifier(&function.name);
        self.note_hook(&function.name);
        self.parameters_outside(&function.parameters);
        if let Some(returns) = &function.returns {
            self.visit_annotation(returns);
        }
        self.within(false, true, |walker| {
            if let Some(parameters) = &function.type_params {
                walker.visit_type_params(parameters);
            }
            walker.parameters_inside(&function.parameters);
            walker.documentation(&function.body);
            walker.visit_body(&function.body);
        });
    }

    /// A method that runs when a class is made of the one that has it marks that one.
    fn note_hook(&mut self, name: &str) {
        let hook = matches!(
            name,
            "__init_subclass__" | "__prepare__" | "__set_name__" | "__call__" | "__new__"
        );
        if hook && self.method() {
            let mut definitions = self.found.definitions.iter_mut().rev();
            let class = definitions.find(|each| Some(&each.name) == self.class.as_ref());
            if let Some(class) = class {
                class.hooks = true;
            }
        }
    }

    /// Defaults are evaluated where the function is defined; annotations too, or never.
    fn parameters_outside(&mut self, parameters: &'t ast::Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                self.visit_expr(default);
            }
        }
        for parameter in parameters.iter() {
            if let Some(annotation) = parameter.annotation() {
                self.visit_annotation(annotation);
            }
        }
    }

    fn parameters_inside(&mut self, parameters: &ast::Parameters) {
        for parameter in parameters.iter() {
            self.bind_identifier(parameter.name());
        }
    }

    fn class(&mut self, class: &'t ast::StmtClassDef) {
        self.decorators(&class.decorator_list);
        self.define(&class.name, self.span(class), DefinitionKind::Class);
        self.bind_identifier(&class.name);
        if let Some(arguments) = &class.arguments {
            let meta = arguments.args.iter().any(|base| is_name(base, "type"));
            if let Some(definition) = self.found.definitions.last_mut().filter(|_| meta) {
                definition.hooks = true;
            }
            let outer = std::mem::replace(&mut self.called, Called::Base);
            self.visit_arguments(arguments);
            self.called = outer;
        }
        let outer = self.class.replace(class.name.to_string());
        self.within(true, false, |walker| {
            walker.documentation(&class.body);
            walker.visit_body(&class.body);
        });
        self.class = outer;
    }

    fn call(&mut self, call: &ast::ExprCall) {
        let callee = match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => return,
        };
        if matches!(callee, "exec" | "globals" | "locals" | "setattr" | "vars") && self.depth == 0 {
            self.found.dynamic = true;
        }
        let guard = match callee {
            "import_module" | "__import__" => self.guard,
            "importorskip" | "find_spec" => Guard::Suppressed,
            "append" | "extend" | "insert" | "remove" => return self.extend_all(call, callee),
            _ => return,
        };
        if let Some(found) = run_time::module(call, self.start) {
            // `find_spec` looks for a module, and executes only the packages around it.
            let executed = callee != "find_spec" && self.executed();
            self.found.run_time.push((found, guard, executed));
        } else {
            self.open_import(call);
        }
    }

    /// A call that imports what only the beginning is known of.
    fn open_import(&mut self, call: &ast::ExprCall) {
        let held = match call.arguments.args.first() {
            Some(Expr::Name(name)) => self.texts.get(name.id.as_str()).copied(),
            _ => None,
        };
        let beginning = run_time::beginning(call, held, self.start);
        self.found.open.extend(beginning);
    }

    fn string(&mut self, literal: &ast::ExprStringLiteral) {
        for part in &literal.value {
            let span = shift(part.content_range(), self.start);
            let known = self.found.strings.iter().rev().take(4);
            if !known.into_iter().any(|string| string.span == span) {
                self.found.strings.push(StringLiteral {
                    span,
                    documentation: false,
                    annotation: self.annotation,
                });
            }
        }
        self.quoted_type(literal);
    }
}
