//! Where the nodes of syn's trees begin and end, by their first and last tokens.
//!
//! syn tells the place of a node by writing all of its tokens anew, so that a tree would take time for each
//! token as often as it is deep. Nodes that may have much in them are told by their ends instead.

use std::ops::Range;

use proc_macro2::Span;
use syn::{
    AttrStyle, Attribute, Expr, MacroDelimiter, Member, Safety, Signature, Visibility,
    spanned::Spanned as _,
};

/// Where a node begins and ends, in bytes of what was parsed.
pub trait Ends {
    fn start(&self) -> usize;
    fn end(&self) -> usize;

    fn bytes(&self) -> Range<usize> {
        self.start()..self.end()
    }
}

fn from(span: Span) -> usize {
    span.byte_range().start
}

fn to(span: Span) -> usize {
    span.byte_range().end
}

/// The first of the attributes before a node, or what follows them.
fn led(attrs: &[Attribute], otherwise: impl FnOnce() -> usize) -> usize {
    let mut outer = attrs
        .iter()
        .filter(|attr| matches!(attr.style, AttrStyle::Outer));
    match outer.next() {
        Some(attr) => from(attr.pound_token.spans[0]),
        None => otherwise(),
    }
}

fn visible(vis: &Visibility, otherwise: impl FnOnce() -> Span) -> usize {
    from(match vis {
        Visibility::Public(token) => token.span,
        Visibility::Restricted(restricted) => restricted.pub_token.span,
        Visibility::Inherited => otherwise(),
    })
}

fn signature(sig: &Signature) -> Span {
    let safety = match &sig.safety {
        Safety::Safe(token) => Some(token.span),
        Safety::Unsafe(token) => Some(token.span),
        _ => None,
    };
    let first = sig.constness.map(|token| token.span);
    first
        .or(sig.asyncness.map(|token| token.span))
        .or(safety)
        .or(sig.abi.as_ref().map(|abi| abi.extern_token.span))
        .unwrap_or(sig.fn_token.span)
}

fn path(path: &syn::Path) -> usize {
    let first = path.leading_colon.map(|colon| colon.spans[0]);
    let segment = path.segments.first().map(|segment| segment.ident.span());
    from(first.or(segment).unwrap_or_else(|| path.span()))
}

fn labelled(label: Option<&syn::Label>, otherwise: Span) -> usize {
    from(label.map_or(otherwise, |label| label.name.apostrophe))
}

macro_rules! ends {
    ($($node:ty: |$n:ident| $start:expr, $end:expr;)*) => {
        $(impl Ends for $node {
            fn start(&self) -> usize {
                let $n = self;
                $start
            }

            fn end(&self) -> usize {
                let $n = self;
                $end
            }
        })*
    };
}

ends! {
    syn::Block: |n| from(n.brace_token.span.open()), to(n.brace_token.span.close());
    syn::Macro: |n| path(&n.path), to(match &n.delimiter {
        MacroDelimiter::Paren(token) => token.span.close(),
        MacroDelimiter::Brace(token) => token.span.close(),
        MacroDelimiter::Bracket(token) => token.span.close(),
    });
    syn::StmtMacro: |n| led(&n.attrs, || n.mac.start()),
        n.semi_token.map_or_else(|| n.mac.end(), |semi| to(semi.spans[0]));
    syn::ItemMacro: |n| led(&n.attrs, || n.mac.start()),
        n.semi_token.map_or_else(|| n.mac.end(), |semi| to(semi.spans[0]));
    syn::Arm: |n| led(&n.attrs, || from(n.pat.span())),
        n.comma.map_or_else(|| n.body.end(), |comma| to(comma.spans[0]));
    syn::Local: |n| led(&n.attrs, || from(n.let_token.span)), to(n.semi_token.spans[0]);
    syn::FieldsNamed: |n| from(n.brace_token.span.open()), to(n.brace_token.span.close());
    syn::ItemFn: |n| led(&n.attrs, || visible(&n.vis, || signature(&n.sig))), n.block.end();
    syn::ImplItemFn: |n| led(&n.attrs, || visible(&n.vis, || {
            let default = n.modifiers.defaultness.map(|token| token.span);
            default.unwrap_or_else(|| signature(&n.sig))
        })), n.block.end();
    syn::TraitItemFn: |n| led(&n.attrs, || from(signature(&n.sig))),
        n.default.as_ref().map_or_else(|| to(n.span()), Ends::end);
    syn::ItemMod: |n| led(&n.attrs, || visible(&n.vis, || {
            n.unsafety.map_or(n.mod_token.span, |token| token.span)
        })),
        match (&n.content, &n.semi) {
            (Some((brace, _)), _) => to(brace.span.close()),
            (None, Some(semi)) => to(semi.spans[0]),
            (None, None) => to(n.span()),
        };
    syn::ItemImpl: |n| led(&n.attrs, || {
            let default = n.modifiers.defaultness.map(|token| token.span);
            let unsafety = n.unsafety.map(|token| token.span);
            from(default.or(unsafety).unwrap_or(n.impl_token.span))
        }), to(n.brace_token.span.close());
    syn::ItemTrait: |n| led(&n.attrs, || visible(&n.vis, || {
            let unsafety = n.unsafety.map(|token| token.span);
            let auto = n.modifiers.auto_token.map(|token| token.span);
            unsafety.or(auto).unwrap_or(n.trait_token.span)
        })), to(n.brace_token.span.close());
    syn::ItemEnum: |n| led(&n.attrs, || visible(&n.vis, || n.enum_token.span)),
        to(n.brace_token.span.close());
}

/// Expressions, by the names of their variants.
macro_rules! expressions {
    ($($variant:ident $node:ty: |$n:ident| $start:expr, $end:expr;)*) => {
        $(impl Ends for $node {
            fn start(&self) -> usize {
                let $n = self;
                led(&$n.attrs, || $start)
            }

            fn end(&self) -> usize {
                let $n = self;
                $end
            }
        })*

        impl Ends for Expr {
            fn start(&self) -> usize {
                match self {
                    $(Expr::$variant(node) => node.start(),)*
                    other => from(other.span()),
                }
            }

            fn end(&self) -> usize {
                match self {
                    $(Expr::$variant(node) => node.end(),)*
                    other => to(other.span()),
                }
            }
        }
    };
}

expressions! {
    Array syn::ExprArray: |n| from(n.bracket_token.span.open()), to(n.bracket_token.span.close());
    Assign syn::ExprAssign: |n| n.left.start(), n.right.end();
    Async syn::ExprAsync: |n| from(n.async_token.span), n.block.end();
    Await syn::ExprAwait: |n| n.base.start(), to(n.await_token.span);
    Binary syn::ExprBinary: |n| n.left.start(), n.right.end();
    Block syn::ExprBlock: |n| labelled(n.label.as_ref(), n.block.brace_token.span.open()), n.block.end();
    Call syn::ExprCall: |n| n.func.start(), to(n.paren_token.span.close());
    Cast syn::ExprCast: |n| n.expr.start(), to(n.ty.span());
    Closure syn::ExprClosure: |n| {
            let lifetimes = n.lifetimes.as_ref().map(|lifetimes| lifetimes.for_token.span);
            let first = lifetimes
                .or(n.constness.map(|token| token.span))
                .or(n.asyncness.map(|token| token.span))
                .or(n.capture.map(|token| token.span));
            from(first.unwrap_or(n.inputs_begin.spans[0]))
        }, n.body.end();
    Field syn::ExprField: |n| n.base.start(), to(match &n.member {
            Member::Named(name) => name.span(),
            Member::Unnamed(index) => index.span,
        });
    ForLoop syn::ExprForLoop: |n| labelled(n.label.as_ref(), n.for_token.span), n.body.end();
    If syn::ExprIf: |n| from(n.if_token.span),
        n.else_branch.as_ref().map_or_else(|| n.then_branch.end(), |(_, other)| other.end());
    Index syn::ExprIndex: |n| n.expr.start(), to(n.bracket_token.span.close());
    Let syn::ExprLet: |n| from(n.let_token.span), n.expr.end();
    Loop syn::ExprLoop: |n| labelled(n.label.as_ref(), n.loop_token.span), n.body.end();
    Macro syn::ExprMacro: |n| n.mac.start(), n.mac.end();
    Match syn::ExprMatch: |n| from(n.match_token.span), to(n.brace_token.span.close());
    MethodCall syn::ExprMethodCall: |n| n.receiver.start(), to(n.paren_token.span.close());
    Paren syn::ExprParen: |n| from(n.paren_token.span.open()), to(n.paren_token.span.close());
    Reference syn::ExprReference: |n| from(n.and_token.spans[0]), n.expr.end();
    Return syn::ExprReturn: |n| from(n.return_token.span),
        n.expr.as_ref().map_or_else(|| to(n.return_token.span), |expr| expr.end());
    Struct syn::ExprStruct: |n| match &n.qself {
            Some(qself) => from(qself.lt_token.spans[0]),
            None => path(&n.path),
        }, to(n.brace_token.span.close());
    Try syn::ExprTry: |n| n.expr.start(), to(n.question_token.spans[0]);
    Tuple syn::ExprTuple: |n| from(n.paren_token.span.open()), to(n.paren_token.span.close());
    Unary syn::ExprUnary: |n| from(n.op.span()), n.expr.end();
    Unsafe syn::ExprUnsafe: |n| from(n.unsafe_token.span), n.block.end();
    While syn::ExprWhile: |n| labelled(n.label.as_ref(), n.while_token.span), n.body.end();
}

impl Ends for syn::FieldValue {
    fn start(&self) -> usize {
        led(&self.attrs, || from(self.member.span()))
    }

    fn end(&self) -> usize {
        match self.colon_token {
            Some(_) => self.expr.end(),
            None => to(self.member.span()),
        }
    }
}
