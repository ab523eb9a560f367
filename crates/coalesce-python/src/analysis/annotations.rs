//! Types that stand in quotes and comments: `x: "Name"`, `cast("Name", x)`, `# type: Name`.
//!
//! Such a text is code that nobody evaluates with the module. Only literals of one part without
//! escapes are walked, as their bytes are the code.

use coalesce_model::ByteSpan;
use ruff_python_ast::{
    self as ast, Expr,
    token::{TokenKind, Tokens},
    visitor::Visitor,
};
use ruff_python_parser::Mode;
use rustc_hash::FxHashMap;

use super::{
    Analysis, Called, Detail, Evaluated, Scope, Use, Walker, predicates::last_name, shift,
};

/// Names whose subscripts are types wherever they stand.
const CONSTRUCTORS: [&str; 34] = [
    "Optional",
    "Union",
    "List",
    "Dict",
    "Set",
    "FrozenSet",
    "Tuple",
    "Type",
    "Callable",
    "Iterable",
    "Iterator",
    "AsyncIterable",
    "AsyncIterator",
    "Awaitable",
    "Coroutine",
    "Generator",
    "AsyncGenerator",
    "Collection",
    "Container",
    "Sequence",
    "MutableSequence",
    "Mapping",
    "MutableMapping",
    "DefaultDict",
    "OrderedDict",
    "Deque",
    "ContextManager",
    "ClassVar",
    "Final",
    "Generic",
    "Protocol",
    "list",
    "dict",
    "tuple",
];

impl<'t> Walker<'t> {
    /// Walks a literal that stands where a type is expected.
    pub(super) fn quoted_type(&mut self, literal: &ast::ExprStringLiteral) {
        let mut parts = literal.value.iter();
        let (Some(part), None) = (parts.next(), parts.next()) else {
            return;
        };
        let span = shift(part.content_range(), self.start);
        let code = span.of(self.text).unwrap_or_default();
        if self.detail != Detail::Annotations || !self.annotation || code.contains('\\') {
            return;
        }
        self.code(span);
    }

    /// Walks a part of the text that is a type.
    fn code(&mut self, span: ByteSpan) {
        let code = span.of(self.text).unwrap_or_default();
        let parsed = crate::parser::parse(code, Mode::ParenthesizedExpression);
        let (ast::Mod::Expression(expression), []) = (parsed.syntax(), parsed.errors()) else {
            return;
        };
        let mut inner = self.below(span.start);
        inner.visit_expr(&expression.body);
        let own = inner.found.uses.into_iter().filter(|used| used.scope == 0);
        self.found.uses.extend(own.map(|used| Use {
            scope: self.scope,
            stands_in: self.scope,
            eager: false,
            evaluated: Evaluated::Never,
            ..used
        }));
    }

    /// A walk of its own for a type that stands in the text.
    fn below(&self, start: u32) -> Walker<'t> {
        let mut inner = Walker {
            start,
            found: Analysis::default(),
            scope: 0,
            depth: self.depth + 1,
            annotation: true,
            class: None,
            texts: FxHashMap::default(),
            ..*self
        };
        inner.found.scopes.push(Scope::default());
        inner
    }

    /// Walks `# type: Name` comments, as of module level: a comment has no scope of its own.
    pub(super) fn type_comments(&mut self, tokens: &Tokens) {
        if self.detail != Detail::Annotations
            || memchr::memmem::find(self.text.as_bytes(), b"# type:").is_none()
        {
            return;
        }
        for token in tokens {
            if token.kind() == TokenKind::Comment {
                self.type_comment(self.span(token));
            }
        }
    }

    fn type_comment(&mut self, comment: ByteSpan) {
        let text = comment.of(self.text).unwrap_or_default();
        let Some(code) = text.strip_prefix("# type:") else {
            return;
        };
        let code = code.split('#').next().unwrap_or_default().trim();
        if code.is_empty() || code.starts_with("ignore") {
            return;
        }
        // A signature has two parts: `(int, str) -> bool`.
        for part in code.split("->").map(str::trim) {
            let start = text.find(part).unwrap_or_default();
            let start = comment.start as usize + start;
            self.code(ByteSpan::from_range(start..start + part.len()));
        }
    }

    pub(super) fn subscript(&mut self, subscript: &'t ast::ExprSubscript) {
        self.visit_expr(&subscript.value);
        match last_name(&subscript.value) {
            Some("Literal") => self.within_type(false, &subscript.slice),
            Some("Annotated") => self.annotated_type(&subscript.slice),
            Some(name) if CONSTRUCTORS.contains(&name) => {
                self.within_type(true, &subscript.slice);
            }
            _ => self.visit_expr(&subscript.slice),
        }
    }

    /// `Annotated[type, …]`, of which the first is a type.
    fn annotated_type(&mut self, slice: &'t Expr) {
        let Expr::Tuple(parts) = slice else {
            return self.within_type(true, slice);
        };
        for (at, part) in parts.elts.iter().enumerate() {
            self.within_type(at == 0, part);
        }
    }

    /// The callee and the arguments of a call: some of `typing` take types.
    pub(super) fn arguments(&mut self, call: &'t ast::ExprCall) {
        let outer = std::mem::replace(&mut self.called, Called::Callee);
        self.visit_expr(&call.func);
        self.called = outer.max(Called::Passed);
        self.passed(call);
        self.called = outer;
    }

    fn passed(&mut self, call: &'t ast::ExprCall) {
        let callee = last_name(&call.func).unwrap_or_default();
        for (at, argument) in call.arguments.args.iter().enumerate() {
            let is_type = match callee {
                "cast" => at == 0,
                "TypeVar" | "NewType" => at > 0,
                _ => false,
            };
            self.within_type(is_type, argument);
        }
        for keyword in &call.arguments.keywords {
            let bound = keyword.arg.as_ref().is_some_and(|name| name == "bound");
            self.within_type(callee == "TypeVar" && bound, &keyword.value);
        }
    }

    fn within_type(&mut self, annotation: bool, expression: &'t Expr) {
        let outer = std::mem::replace(&mut self.annotation, annotation);
        self.visit_expr(expression);
        self.annotation = outer;
    }
}
