//! Macro calls and definitions: arguments that read as code are read as code, the rest by tokens.
//!
//! Nothing is expanded.

use coalesce_model::ByteSpan;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{
    Token,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
    visit::Visit,
};

use super::{
    IncludeKind, Item, ItemKind, MacroCall, MacroReading, Namespaces, Origin, ScopeKind,
    extract::Extractor, source::index, tokens,
};
use crate::{
    lexer::{self, Token},
    words,
};

/// Macros whose arguments are code of another place, where somebody reads it.
pub(crate) const QUOTES: [&str; 4] = [
    "quote",
    "quote_spanned",
    "parse_quote",
    "parse_quote_spanned",
];

/// Calls in so many calls are read as code; each is parsed anew, so what is in deeper ones counts as
/// tokens.
const DEEPEST_CALL: u32 = 16;

/// The macro of the standard library that is given items and makes these alone.
const DECLARES_STATICS: &str = "thread_local";

impl Extractor<'_, '_> {
    /// A macro call.
    pub fn macro_call(&mut self, mac: &syn::Macro, item_position: bool) {
        let Some(path) = self.emit(&mac.path, usize::MAX, Namespaces::MACRO) else {
            return;
        };
        let name = mac
            .path
            .segments
            .last()
            .map(|segment| {
                self.builder
                    .slice(self.places.ident(&segment.ident))
                    .to_owned()
            })
            .unwrap_or_default();
        let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
        let reading = self.read_call(mac, &name, item_position);
        let body = self.places.between(mac.delimiter.span());
        tokens::format_names(self.builder, &name, body);
        let scope = self.builder.scope;
        self.builder.facts.macro_calls.push(MacroCall {
            scope,
            path,
            body,
            item_position,
            reading,
        });
    }

    /// Reads the arguments of a call of the macro `name`, as far as they can be trusted.
    fn read_call(&mut self, mac: &syn::Macro, name: &str, item_position: bool) -> MacroReading {
        let outer = self.builder.origin;
        let origin = if words::EXPRESSION_MACROS.contains(name) {
            Origin::KnownMacro
        } else {
            Origin::MacroArguments
        };
        self.builder.origin = worse(outer, origin);
        self.macros += 1;
        let reading = self.arguments_of(mac, name, item_position);
        self.macros -= 1;
        self.builder.origin = outer;
        reading
    }

    fn arguments_of(&mut self, mac: &syn::Macro, name: &str, item_position: bool) -> MacroReading {
        let body = self.places.between(mac.delimiter.span());
        if mac.tokens.is_empty() {
            if item_position {
                self.builder.mark_opaque();
            }
            return MacroReading::Empty;
        }
        if self.macros > DEEPEST_CALL {
            return self.unparsed(body, item_position);
        }
        if let Some(reading) = self.known_arguments(mac, name, item_position) {
            return reading;
        }
        let read = if item_position || name == DECLARES_STATICS {
            self.read_items(&mac.tokens, name)
        } else {
            self.read_code(&mac.tokens, words::FORMAT_MACROS.contains(name))
        };
        read.unwrap_or_else(|| self.unparsed(body, item_position))
    }

    /// The reading of macros that read their arguments in a way of their own; the files that others include are
    /// noted.
    fn known_arguments(
        &mut self,
        mac: &syn::Macro,
        name: &str,
        item_position: bool,
    ) -> Option<MacroReading> {
        match name {
            // What is shown as it is written names nothing.
            "stringify" => return Some(MacroReading::Code),
            "include" => self.include(mac, IncludeKind::Code),
            "include_str" => self.include(mac, IncludeKind::Text),
            "include_bytes" => self.include(mac, IncludeKind::Bytes),
            "cfg_if" => return Some(self.cfg_if(&mac.tokens, item_position)),
            // What is quoted names nothing from here.
            _ if QUOTES.contains(&name) && !item_position => {
                tokens::quoted(self.builder, self.places.between(mac.delimiter.span()));
                return Some(MacroReading::Tokens);
            }
            "matches" | "assert_matches" if self.read_matches(&mac.tokens) => {
                return Some(MacroReading::Code);
            }
            _ => {}
        }
        None
    }

    fn unparsed(&mut self, body: ByteSpan, item_position: bool) -> MacroReading {
        self.read_tokens(body, item_position);
        MacroReading::Tokens
    }

    fn read_tokens(&mut self, body: ByteSpan, item_position: bool) {
        let outer = self.builder.origin;
        self.builder.origin = worse(outer, Origin::MacroTokens);
        if item_position {
            self.builder.mark_opaque();
        }
        let tokens = lexer::tokens(self.builder.text, body);
        if item_position {
            for word in tokens.iter().filter(|token| token.is_ident()) {
                let name = self.builder.slice(word.span);
                let name = self.builder.intern(name);
                self.builder.facts.module_words.push(name);
            }
        }
        self.includes_among(&tokens);
        tokens::macro_arguments(self.builder, &tokens, item_position);
        self.builder.origin = outer;
    }

    /// Files that are included in the arguments of a macro which are no code: whatever comes of them, the path goes by
    /// the file that says it.
    fn includes_among(&mut self, tokens: &[Token]) {
        for (at, token) in tokens.iter().enumerate() {
            let kind = match self.builder.slice(token.span) {
                "include_str" => IncludeKind::Text,
                "include_bytes" => IncludeKind::Bytes,
                _ => continue,
            };
            let is_call = tokens.get(at + 1).is_some_and(|next| next.is(b'!'));
            let arguments = lexer::closing(tokens, at + 2)
                .filter(|_| is_call)
                .and_then(|close| tokens.get(at + 3..close));
            if let Some(arguments) = arguments {
                self.include_of(arguments, kind);
            }
        }
    }

    /// Items; a macro may still add others, if it is not known what it makes.
    fn read_items(&mut self, tokens: &TokenStream, name: &str) -> Option<MacroReading> {
        let items = parse_items.parse2(tokens.clone()).ok()?;
        let verbatim = items
            .iter()
            .any(|item| matches!(item, syn::Item::Verbatim(_)));
        if verbatim {
            return None;
        }
        if name != DECLARES_STATICS {
            self.builder.mark_opaque();
        }
        for item in &items {
            self.visit_item(item);
        }
        Some(MacroReading::Items)
    }

    /// Arguments that are code; of one that `names_values` the name says nothing of the tree.
    fn read_code(&mut self, tokens: &TokenStream, names_values: bool) -> Option<MacroReading> {
        if let Ok(expressions) = parse_arguments.parse2(tokens.clone()) {
            let mark = self.builder.mark();
            for expression in &expressions {
                match expression {
                    syn::Expr::Assign(named) if names_values => self.visit_expr(&named.right),
                    _ => self.visit_expr(expression),
                }
            }
            self.builder.leave(mark);
            return Some(MacroReading::Code);
        }
        let statements = syn::Block::parse_within.parse2(tokens.clone()).ok()?;
        if statements
            .iter()
            .any(|statement| matches!(statement, syn::Stmt::Item(syn::Item::Verbatim(_))))
        {
            return None;
        }
        let mark = self.builder.mark();
        self.statements(&statements);
        self.builder.leave(mark);
        Some(MacroReading::Code)
    }

    fn read_matches(&mut self, tokens: &TokenStream) -> bool {
        let Ok((value, pattern, guard)) = parse_matches.parse2(tokens.clone()) else {
            return false;
        };
        self.visit_expr(&value);
        let mark = self.builder.mark();
        self.visit_pat(&pattern);
        if let Some(guard) = &guard {
            self.visit_expr(guard);
        }
        self.builder.leave(mark);
        true
    }

    /// `cfg_if! { if #[cfg(…)] { … } else { … } }`: what stands in the braces, all of it.
    fn cfg_if(&mut self, tokens: &TokenStream, item_position: bool) -> MacroReading {
        for tree in tokens.clone() {
            match tree {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    self.cfg_if_branch(&group.stream(), item_position);
                }
                _ => {}
            }
        }
        if item_position {
            MacroReading::Items
        } else {
            MacroReading::Code
        }
    }

    fn cfg_if_branch(&mut self, tokens: &TokenStream, item_position: bool) {
        if item_position && let Ok(items) = parse_items.parse2(tokens.clone()) {
            for item in &items {
                self.visit_item(item);
            }
        } else if let Ok(statements) = syn::Block::parse_within.parse2(tokens.clone()) {
            self.statements(&statements);
        } else if let Some(span) = self.places.tokens(tokens) {
            self.read_tokens(span, item_position);
        }
    }

    /// `macro_rules! name { … }`
    pub fn macro_definition(&mut self, item: &syn::ItemMacro, name: &syn::Ident) {
        let start = self.start_of_path(&item.mac.path);
        let outer = self.read_outer(&item.attrs, start);
        let body = self.places.between(item.mac.delimiter.span());
        let close = self.places.past(item.mac.delimiter.span().close());
        let end = item
            .semi_token
            .map_or(close, |token| self.places.past(token.span));
        let name = self.segment(name);
        self.builder.facts.items.push(Item {
            scope: self.builder.scope,
            name,
            kind: ItemKind::Macro,
            namespaces: Namespaces::MACRO,
            visibility: super::source::private(outer.code),
            span: ByteSpan::new(outer.start, end),
            signature: ByteSpan::new(outer.code, body.start),
            conditional: !outer.cfg.is_empty(),
            exported: outer.exported,
            variants: Vec::new(),
            origin: self.builder.origin,
        });
        let tokens = lexer::tokens(self.builder.text, body);
        self.macro_body(&tokens, body);
    }

    fn start_of_path(&self, path: &syn::Path) -> u32 {
        let first = path.segments.first();
        first.map_or(0, |first| self.places.ident(&first.ident).start)
    }

    fn macro_body(&mut self, tokens: &[Token], body: ByteSpan) {
        let scope = self
            .builder
            .open_scope(ScopeKind::MacroBody, body, body.start);
        let origin = std::mem::replace(&mut self.builder.origin, Origin::MacroBody);
        let mark = self.builder.enter_item();
        tokens::macro_body(self.builder, tokens);
        self.builder.leave(mark);
        self.builder.origin = origin;
        self.builder.scope = scope;
    }

    /// What the parser passed on as it stands.
    pub fn verbatim(&mut self, tokens: &TokenStream, item_position: bool) {
        if let Some(span) = self.places.tokens(tokens) {
            self.read_tokens(
                ByteSpan::new(span.start, span.end.min(index(self.builder.text.len()))),
                item_position,
            );
        }
    }
}

/// The less certain of two origins: what is nested in a macro's tokens stays there.
fn worse(outer: Origin, inner: Origin) -> Origin {
    match (outer, inner) {
        (Origin::Code | Origin::KnownMacro, inner) => inner,
        (Origin::MacroArguments, Origin::MacroTokens) => inner,
        (outer, _) => outer,
    }
}

fn parse_items(input: ParseStream<'_>) -> syn::Result<Vec<syn::Item>> {
    input.call(syn::Attribute::parse_inner)?;
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(input.parse()?);
    }
    Ok(items)
}

/// Expressions parted by commas, or `value; count`.
fn parse_arguments(input: ParseStream<'_>) -> syn::Result<Vec<syn::Expr>> {
    let mut expressions = Vec::new();
    while !input.is_empty() {
        expressions.push(input.parse()?);
        if input.is_empty() {
            break;
        }
        parse_separator(input, expressions.len() == 1)?;
    }
    Ok(expressions)
}

/// A comma; behind the first expression also a `;` that something follows.
fn parse_separator(input: ParseStream<'_>, is_first: bool) -> syn::Result<()> {
    if !is_first || !input.peek(Token![;]) {
        input.parse::<Token![,]>()?;
        return Ok(());
    }
    input.parse::<Token![;]>()?;
    if input.is_empty() {
        return Err(input.error("a statement"));
    }
    Ok(())
}

type Matches = (syn::Expr, syn::Pat, Option<syn::Expr>);

fn parse_matches(input: ParseStream<'_>) -> syn::Result<Matches> {
    let value = input.parse()?;
    input.parse::<Token![,]>()?;
    let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
    let guard = if input.peek(Token![if]) {
        input.parse::<Token![if]>()?;
        Some(input.parse()?)
    } else {
        None
    };
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
        Punctuated::<syn::Expr, Token![,]>::parse_terminated(input)?;
    }
    Ok((value, pattern, guard))
}
