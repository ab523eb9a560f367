//! Where the nodes of syn's trees begin and end, by their first and last tokens.
//!
//! syn tells the place of a node by writing all of its tokens anew, so that a tree would take time for each
//! token as often as it is deep. Nodes that may have much in them are told by their ends instead.

use proc_macro2::Span;
use syn::{
    AttrStyle, Attribute, Expr, Fields, MacroDelimiter, Member, PathArguments, ReturnType, Safety,
    Signature, Visibility, spanned::Spanned as _,
};

/// The first and the last token of a node.
pub trait Ends {
    fn start(&self) -> Span;
    fn end(&self) -> Span;

    fn ends(&self) -> (Span, Span) {
        (self.start(), self.end())
    }
}

/// The first of the attributes before a node, or what follows them.
fn led(attrs: &[Attribute], otherwise: impl FnOnce() -> Span) -> Span {
    let mut outer = attrs
        .iter()
        .filter(|attr| matches!(attr.style, AttrStyle::Outer));
    match outer.next() {
        Some(attr) => attr.pound_token.spans[0],
        None => otherwise(),
    }
}

fn visible(vis: &Visibility, otherwise: impl FnOnce() -> Span) -> Span {
    match vis {
        Visibility::Public(token) => token.span,
        Visibility::Restricted(restricted) => restricted.pub_token.span,
        Visibility::Inherited => otherwise(),
    }
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

/// A path's first token, or that of the type before it (`<T as Trait>::NAME`).
fn qualified(qself: Option<&syn::QSelf>, path: &syn::Path) -> Span {
    qself.map_or_else(|| path.start(), |qself| qself.lt_token.spans[0])
}

fn labelled(label: Option<&syn::Label>, otherwise: Span) -> Span {
    label.map_or(otherwise, |label| label.name.apostrophe)
}

macro_rules! ends {
    ($($node:ty: |$n:ident| $start:expr, $end:expr;)*) => {
        $(impl Ends for $node {
            fn start(&self) -> Span {
                let $n = self;
                $start
            }

            fn end(&self) -> Span {
                let $n = self;
                $end
            }
        })*
    };
}

ends! {
    Attribute: |n| n.pound_token.spans[0], n.bracket_token.span.close();
    syn::Path: |n| {
            let first = n.leading_colon.map(|colon| colon.spans[0]);
            let segment = n.segments.first().map(|segment| segment.ident.span());
            first.or(segment).unwrap_or_else(|| n.span())
        }, n.segments.last().map_or_else(|| n.span(), Ends::end);
    syn::PathSegment: |n| n.ident.span(), match &n.arguments {
        PathArguments::None => n.ident.span(),
        PathArguments::AngleBracketed(arguments) => arguments.gt_token.spans[0],
        PathArguments::Parenthesized(arguments) => match &arguments.output {
            ReturnType::Default => arguments.paren_token.span.close(),
            ReturnType::Type(_, ty) => ty.end(),
        },
    };
    syn::TypePath: |n| led(&n.attrs, || qualified(n.qself.as_ref(), &n.path)), n.path.end();
    syn::TypeReference: |n| led(&n.attrs, || n.and_token.spans[0]), n.elem.end();
    syn::PatIdent: |n| led(&n.attrs, || {
            let before = n.by_ref.map(|token| token.span);
            let before = before.or(n.mutability.map(|token| token.span));
            before.unwrap_or_else(|| n.ident.span())
        }), n.subpat.as_ref().map_or_else(|| n.ident.span(), |(_, within)| within.end());
    syn::PatTupleStruct: |n| led(&n.attrs, || qualified(n.qself.as_ref(), &n.path)),
        n.paren_token.span.close();
    syn::PatType: |n| led(&n.attrs, || n.pat.start()), n.ty.end();
    Signature: |n| signature(n), match (&n.generics.where_clause, &n.output) {
        (Some(_), _) => n.span(),
        (None, ReturnType::Default) => n.paren_token.span.close(),
        (None, ReturnType::Type(_, ty)) => ty.end(),
    };
    syn::ItemUse: |n| led(&n.attrs, || visible(&n.vis, || n.use_token.span)), n.semi_token.spans[0];
    syn::UsePath: |n| n.ident.span(), n.tree.end();
    syn::UseGroup: |n| n.brace_token.span.open(), n.brace_token.span.close();
    syn::ItemStruct: |n| led(&n.attrs, || visible(&n.vis, || n.struct_token.span)),
        match (n.semi_token, &n.fields) {
            (Some(semi), _) => semi.spans[0],
            (None, Fields::Named(fields)) => fields.end(),
            (None, _) => n.span(),
        };
    syn::Block: |n| n.brace_token.span.open(), n.brace_token.span.close();
    syn::Macro: |n| n.path.start(), match &n.delimiter {
        MacroDelimiter::Paren(token) => token.span.close(),
        MacroDelimiter::Brace(token) => token.span.close(),
        MacroDelimiter::Bracket(token) => token.span.close(),
    };
    syn::StmtMacro: |n| led(&n.attrs, || n.mac.start()),
        n.semi_token.map_or_else(|| n.mac.end(), |semi| semi.spans[0]);
    syn::ItemMacro: |n| led(&n.attrs, || n.mac.start()),
        n.semi_token.map_or_else(|| n.mac.end(), |semi| semi.spans[0]);
    syn::Arm: |n| led(&n.attrs, || n.pat.start()),
        n.comma.map_or_else(|| n.body.end(), |comma| comma.spans[0]);
    syn::Local: |n| led(&n.attrs, || n.let_token.span), n.semi_token.spans[0];
    syn::FieldsNamed: |n| n.brace_token.span.open(), n.brace_token.span.close();
    syn::ItemFn: |n| led(&n.attrs, || visible(&n.vis, || signature(&n.sig))), n.block.end();
    syn::ImplItemFn: |n| led(&n.attrs, || visible(&n.vis, || {
            let default = n.modifiers.defaultness.map(|token| token.span);
            default.unwrap_or_else(|| signature(&n.sig))
        })), n.block.end();
    syn::TraitItemFn: |n| led(&n.attrs, || signature(&n.sig)),
        n.default.as_ref().map_or_else(|| n.semi_token.map_or_else(|| n.span(), |semi| semi.spans[0]), Ends::end);
    syn::ItemMod: |n| led(&n.attrs, || visible(&n.vis, || {
            n.unsafety.map_or(n.mod_token.span, |token| token.span)
        })),
        match (&n.content, &n.semi) {
            (Some((brace, _)), _) => brace.span.close(),
            (None, Some(semi)) => semi.spans[0],
            (None, None) => n.span(),
        };
    syn::ItemImpl: |n| led(&n.attrs, || {
            let default = n.modifiers.defaultness.map(|token| token.span);
            let unsafety = n.unsafety.map(|token| token.span);
            default.or(unsafety).unwrap_or(n.impl_token.span)
        }), n.brace_token.span.close();
    syn::ItemTrait: |n| led(&n.attrs, || visible(&n.vis, || {
            let unsafety = n.unsafety.map(|token| token.span);
            let auto = n.modifiers.auto_token.map(|token| token.span);
            unsafety.or(auto).unwrap_or(n.trait_token.span)
        })), n.brace_token.span.close();
    syn::ItemEnum: |n| led(&n.attrs, || visible(&n.vis, || n.enum_token.span)),
        n.brace_token.span.close();
}

/// Expressions, by the names of their variants.
macro_rules! expressions {
    ($($variant:ident $node:ty: |$n:ident| $start:expr, $end:expr;)*) => {
        $(impl Ends for $node {
            fn start(&self) -> Span {
                let $n = self;
                led(&$n.attrs, || $start)
            }

            fn end(&self) -> Span {
                let $n = self;
                $end
            }
        })*

        impl Ends for Expr {
            fn start(&self) -> Span {
                match self {
                    $(Expr::$variant(node) => node.start(),)*
                    other => other.span(),
                }
            }

            fn end(&self) -> Span {
                match self {
                    $(Expr::$variant(node) => node.end(),)*
                    other => other.span(),
                }
            }
        }
    };
}

expressions! {
    Array syn::ExprArray: |n| n.bracket_token.span.open(), n.bracket_token.span.close();
    Assign syn::ExprAssign: |n| n.left.start(), n.right.end();
    Async syn::ExprAsync: |n| n.async_token.span, n.block.end();
    Await syn::ExprAwait: |n| n.base.start(), n.await_token.span;
    Binary syn::ExprBinary: |n| n.left.start(), n.right.end();
    Block syn::ExprBlock: |n| labelled(n.label.as_ref(), n.block.brace_token.span.open()), n.block.end();
    Call syn::ExprCall: |n| n.func.start(), n.paren_token.span.close();
    Cast syn::ExprCast: |n| n.expr.start(), n.ty.end();
    Closure syn::ExprClosure: |n| {
            let lifetimes = n.lifetimes.as_ref().map(|lifetimes| lifetimes.for_token.span);
            let first = lifetimes
                .or(n.constness.map(|token| token.span))
                .or(n.asyncness.map(|token| token.span))
                .or(n.capture.map(|token| token.span));
            first.unwrap_or(n.inputs_begin.spans[0])
        }, n.body.end();
    Field syn::ExprField: |n| n.base.start(), match &n.member {
            Member::Named(name) => name.span(),
            Member::Unnamed(index) => index.span,
        };
    ForLoop syn::ExprForLoop: |n| labelled(n.label.as_ref(), n.for_token.span), n.body.end();
    If syn::ExprIf: |n| n.if_token.span,
        n.else_branch.as_ref().map_or_else(|| n.then_branch.end(), |(_, other)| other.end());
    Index syn::ExprIndex: |n| n.expr.start(), n.bracket_token.span.close();
    Let syn::ExprLet: |n| n.let_token.span, n.expr.end();
    Loop syn::ExprLoop: |n| labelled(n.label.as_ref(), n.loop_token.span), n.body.end();
    Macro syn::ExprMacro: |n| n.mac.start(), n.mac.end();
    Match syn::ExprMatch: |n| n.match_token.span, n.brace_token.span.close();
    MethodCall syn::ExprMethodCall: |n| n.receiver.start(), n.paren_token.span.close();
    Path syn::ExprPath: |n| qualified(n.qself.as_ref(), &n.path), n.path.end();
    Paren syn::ExprParen: |n| n.paren_token.span.open(), n.paren_token.span.close();
    Reference syn::ExprReference: |n| n.and_token.spans[0], n.expr.end();
    Return syn::ExprReturn: |n| n.return_token.span,
        n.expr.as_ref().map_or_else(|| n.return_token.span, |expr| expr.end());
    Struct syn::ExprStruct: |n| qualified(n.qself.as_ref(), &n.path), n.brace_token.span.close();
    Try syn::ExprTry: |n| n.expr.start(), n.question_token.spans[0];
    Tuple syn::ExprTuple: |n| n.paren_token.span.open(), n.paren_token.span.close();
    Unary syn::ExprUnary: |n| n.op.span(), n.expr.end();
    Unsafe syn::ExprUnsafe: |n| n.unsafe_token.span, n.block.end();
    While syn::ExprWhile: |n| labelled(n.label.as_ref(), n.while_token.span), n.body.end();
}

impl Ends for syn::Type {
    fn start(&self) -> Span {
        match self {
            Self::Path(path) => path.start(),
            Self::Reference(reference) => reference.start(),
            other => other.span(),
        }
    }

    fn end(&self) -> Span {
        match self {
            Self::Path(path) => path.end(),
            Self::Reference(reference) => reference.end(),
            other => other.span(),
        }
    }
}

impl Ends for syn::Pat {
    fn start(&self) -> Span {
        match self {
            Self::Ident(ident) => ident.start(),
            Self::TupleStruct(pattern) => pattern.start(),
            Self::Type(typed) => typed.start(),
            other => other.span(),
        }
    }

    fn end(&self) -> Span {
        match self {
            Self::Ident(ident) => ident.end(),
            Self::TupleStruct(pattern) => pattern.end(),
            Self::Type(typed) => typed.end(),
            other => other.span(),
        }
    }
}

impl Ends for syn::UseTree {
    fn start(&self) -> Span {
        match self {
            Self::Path(path) => path.ident.span(),
            other => other.span(),
        }
    }

    fn end(&self) -> Span {
        match self {
            Self::Path(path) => path.end(),
            Self::Group(group) => group.end(),
            Self::Name(name) => name.ident.span(),
            other => other.span(),
        }
    }
}

impl Ends for syn::FieldValue {
    fn start(&self) -> Span {
        led(&self.attrs, || self.member.span())
    }

    fn end(&self) -> Span {
        match self.colon_token {
            Some(_) => self.expr.end(),
            None => self.member.span(),
        }
    }
}
