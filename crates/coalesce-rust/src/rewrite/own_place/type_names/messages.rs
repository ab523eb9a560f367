//! Which texts of a file only people read: what `Debug` writes, what panics, logs and errors say.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, texts::start_of_text};
use syn::{
    spanned::Spanned as _,
    visit::{self, Visit},
};

use crate::{
    lexer::{self, Token, TokenKind},
    rewrite::merge::derived,
    syntax,
};

/// Methods whose arguments say what has gone wrong.
const SAYING_METHODS: [&str; 6] = [
    "context",
    "expect",
    "expect_err",
    "with_context",
    "wrap_err",
    "wrap_err_with",
];

/// What is known of a file.
pub(super) struct Messages<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    spans: Vec<ByteSpan>,
    variables: Vec<Variable>,
    fields: FieldsOfFile,
    is_in_macro: &'t dyn Fn(ByteSpan) -> bool,
}

/// The fields of a file.
#[derive(Default)]
struct FieldsOfFile {
    /// Those that nothing outside of the file reads, and that no derive but `Debug` shows.
    private: BTreeSet<Field>,
    /// What each gets in a literal.
    given: Vec<(Field, ByteSpan)>,
    /// Where they are declared, given or imported by a name of theirs: that reads none.
    labels: Vec<ByteSpan>,
    /// Whether the file has modules of other files, which see what is private.
    has_modules: bool,
}

/// A field by the name of its type and its own: another type's of the same name is another field.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Field {
    of: String,
    name: String,
}

/// A variable and what it is given.
struct Variable {
    name: String,
    given: ByteSpan,
    /// The block that it lives in.
    block: ByteSpan,
}

impl<'t> Messages<'t> {
    /// Reads a file: `errors` are the names of types that are errors, `is_in_macro` knows the arguments of macros that
    /// write for people.
    pub fn read(
        text: &'t str,
        errors: &BTreeSet<String>,
        is_in_macro: &'t dyn Fn(ByteSpan) -> bool,
    ) -> Self {
        let _trees = syntax::Trees::begin();
        let base = start_of_text(text);
        let parsed = text.get(base as usize..);
        let parsed = parsed.and_then(|code| syntax::parse_file(code).ok());
        let mut reader = MessageReader {
            errors,
            base,
            own: String::new(),
            spans: Vec::new(),
            variables: Vec::new(),
            fields: FieldsOfFile::default(),
        };
        if let Some(parsed) = &parsed {
            reader.visit_file(parsed);
        }
        Self {
            text,
            tokens: lexer::tokens(text, ByteSpan::from_range(0..text.len())),
            spans: reader.spans,
            variables: reader.variables,
            fields: reader.fields,
            is_in_macro,
        }
    }

    /// Whether only people read what an expression at a place gives.
    pub fn say(&self, place: ByteSpan) -> bool {
        self.is_said(place, &mut BTreeSet::new())
    }

    fn is_said(&self, place: ByteSpan, seen: &mut BTreeSet<u32>) -> bool {
        if self.spans.iter().any(|one| one.contains(place)) || (self.is_in_macro)(place) {
            return true;
        }
        let holding = self.variables.iter();
        let holding = holding.filter(|one| one.given.contains(place));
        let nearest = holding.min_by_key(|one| one.given.len());
        let fields = self.fields.given.iter();
        let fields = fields.filter(|(_, given)| given.contains(place));
        let field = fields.min_by_key(|(_, given)| given.len());
        match (nearest, field) {
            (Some(variable), Some((_, given))) if variable.given.len() < given.len() => {
                self.is_variable_said(variable, seen)
            }
            (_, Some((field, given))) => self.is_field_said(field, *given, seen),
            (variable, None) => variable.is_some_and(|one| self.is_variable_said(one, seen)),
        }
    }

    /// Whether a field is read where only people read it.
    fn is_field_said(&self, field: &Field, given: ByteSpan, seen: &mut BTreeSet<u32>) -> bool {
        let fields = &self.fields;
        if fields.has_modules || !fields.private.contains(field) {
            return false;
        }
        if !seen.insert(given.start) {
            return true;
        }
        let word = |at: usize| self.tokens.get(at).and_then(|one| one.span.of(self.text));
        let named = self.tokens.iter().enumerate();
        let mut named = named.filter(|(_, one)| self.names(one, &field.name));
        named.all(|(at, one)| {
            let is_label = fields.labels.iter().any(|label| label.contains(one.span));
            let is_path = word(at + 1) == Some(":") && word(at + 2) == Some(":");
            let is_read = at.checked_sub(1).and_then(word) == Some(".");
            is_label || is_path || (is_read && self.is_said(one.span, seen))
        })
    }

    /// Whether a variable is named where only people read it.
    fn is_variable_said(&self, variable: &Variable, seen: &mut BTreeSet<u32>) -> bool {
        // One that is being asked about says nothing against itself.
        if !seen.insert(variable.given.start) {
            return true;
        }
        let behind = ByteSpan::new(
            variable.given.end,
            variable.block.end.max(variable.given.end),
        );
        let inside = self.tokens.iter().filter(|one| behind.contains(one.span));
        let mut naming = inside
            .filter(|one| self.names(one, &variable.name))
            .peekable();
        naming.peek().is_some()
            && naming.all(|one| self.is_said(one.span, seen) || self.is_bound(one))
    }

    /// Whether a token is a name, or a text that may say it in braces.
    fn names(&self, token: &Token, name: &str) -> bool {
        match token.kind {
            TokenKind::Text { content } => {
                let said = content.of(self.text).unwrap_or_default();
                let mut braces = said.match_indices('{');
                braces.any(|(at, _)| {
                    said.get(at + 1..)
                        .is_some_and(|rest| rest.starts_with(name))
                })
            }
            _ => token.is_ident() && token.span.of(self.text) == Some(name),
        }
    }

    /// Whether a name stands behind `let`: another variable of that name begins.
    fn is_bound(&self, token: &Token) -> bool {
        let at = self
            .tokens
            .partition_point(|one| one.span.start < token.span.start);
        let before = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(|one| matches!(one.span.of(self.text), Some("let" | "mut")))
    }
}

struct MessageReader<'e> {
    errors: &'e BTreeSet<String>,
    base: u32,
    /// The type of the `impl` around.
    own: String,
    spans: Vec<ByteSpan>,
    variables: Vec<Variable>,
    fields: FieldsOfFile,
}

/// Derives that show nothing of a field, or for people alone.
const DERIVES_THAT_SHOW_NOTHING: [&str; 4] = ["Clone", "Copy", "Debug", "Default"];

impl MessageReader<'_> {
    fn place(&self, span: proc_macro2::Span) -> ByteSpan {
        let range = span.byte_range();
        let base = self.base as usize;
        ByteSpan::from_range(base + range.start..base + range.end)
    }

    fn keep(&mut self, span: proc_macro2::Span) {
        self.spans.push(self.place(span));
    }

    /// What a visitor of serde says that it expects, into a formatter, stands in errors alone.
    fn expectations(&mut self, item: &syn::ItemImpl) {
        for member in &item.items {
            if let syn::ImplItem::Fn(function) = member
                && function.sig.ident == "expecting"
                && function.sig.inputs.iter().any(is_formatter)
            {
                self.keep(function.span());
            }
        }
    }

    /// Whether a path names an error, one of its variants or what makes one.
    fn is_error(&self, path: &syn::Path) -> bool {
        let mut last = path.segments.iter().rev().take(2);
        last.any(|segment| self.errors.contains(&self.said_by(segment)))
    }

    /// The last name of the path of a literal.
    fn type_of(&self, path: &syn::Path) -> String {
        let last = path.segments.last();
        last.map(|segment| self.said_by(segment))
            .unwrap_or_default()
    }

    /// The name of a segment, and of `Self` that of the type.
    fn said_by(&self, segment: &syn::PathSegment) -> String {
        let name = segment.ident.to_string();
        if name == "Self" {
            self.own.clone()
        } else {
            name
        }
    }
}

/// Whether a parameter is a formatter.
fn is_formatter(parameter: &syn::FnArg) -> bool {
    let syn::FnArg::Typed(typed) = parameter else {
        return false;
    };
    let syn::Type::Reference(to) = &*typed.ty else {
        return false;
    };
    let last = match &*to.elem {
        syn::Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    last.is_some_and(|last| last.ident == "Formatter")
}

impl<'ast> Visit<'ast> for MessageReader<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let own = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last(),
            _ => None,
        };
        let own = own.map(|own| own.ident.to_string()).unwrap_or_default();
        let by = item
            .trait_
            .as_ref()
            .and_then(|(path, _)| path.segments.last());
        let writes = by.is_some_and(|by| {
            by.ident == "Debug" || (by.ident == "Display" && self.errors.contains(&own))
        });
        if writes {
            self.keep(item.span());
        }
        if by.is_some_and(|by| by.ident == "Visitor") {
            self.expectations(item);
        }
        let outer = std::mem::replace(&mut self.own, own);
        visit::visit_item_impl(self, item);
        self.own = outer;
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let derives: Vec<String> = item.attrs.iter().flat_map(derived).collect();
        let shows = |name: &String| !DERIVES_THAT_SHOW_NOTHING.contains(&name.as_str());
        let is_shown = derives.iter().any(shows);
        for field in &item.fields {
            let Some(name) = &field.ident else { continue };
            let label = self.place(name.span());
            self.fields.labels.push(label);
            if matches!(field.vis, syn::Visibility::Inherited) && !is_shown {
                self.fields.private.insert(Field {
                    of: item.ident.to_string(),
                    name: name.to_string(),
                });
            }
        }
        visit::visit_item_struct(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.fields.has_modules |= item.content.is_none();
        visit::visit_item_mod(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let place = self.place(item.span());
        self.fields.labels.push(place);
    }

    fn visit_expr_struct(&mut self, value: &'ast syn::ExprStruct) {
        let of = self.type_of(&value.path);
        for field in &value.fields {
            if let syn::Member::Named(name) = &field.member {
                let given = self.place(field.expr.span());
                let label = self.place(name.span());
                if given != label {
                    self.fields.labels.push(label);
                    let field = Field {
                        of: of.clone(),
                        name: name.to_string(),
                    };
                    self.fields.given.push((field, given));
                }
            }
        }
        if self.is_error(&value.path) {
            self.keep(value.span());
        }
        visit::visit_expr_struct(self, value);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func
            && self.is_error(&function.path)
        {
            self.keep(call.span());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if SAYING_METHODS.contains(&call.method.to_string().as_str()) {
            call.args.iter().for_each(|one| self.keep(one.span()));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().map(|last| last.ident.to_string());
        let name = name.unwrap_or_default();
        if matches!(name.as_str(), "format" | "format_args") && says_a_sentence(call) {
            self.keep(call.span());
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        for statement in &block.stmts {
            let syn::Stmt::Local(local) = statement else {
                continue;
            };
            let pattern = match &local.pat {
                syn::Pat::Type(typed) => &*typed.pat,
                other => other,
            };
            if let (syn::Pat::Ident(bound), Some(given)) = (pattern, &local.init) {
                self.variables.push(Variable {
                    name: bound.ident.to_string(),
                    given: self.place(given.expr.span()),
                    block: self.place(block.span()),
                });
            }
        }
        visit::visit_block(self, block);
    }
}

/// Whether a format has words between what it shows: nothing is looked up by a sentence.
fn says_a_sentence(call: &syn::Macro) -> bool {
    let first = |input: syn::parse::ParseStream<'_>| {
        let text = input.parse::<syn::LitStr>()?;
        input.parse::<proc_macro2::TokenStream>()?;
        Ok(text)
    };
    let text = call.parse_body_with(first);
    text.is_ok_and(|text| text.value().contains(' '))
}
