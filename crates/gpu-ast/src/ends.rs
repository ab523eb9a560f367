//! Where the nodes of syn's trees begin and end, by the tokens that are theirs and no child's: a node has the bytes of
//! its children anyway.
//!
//! syn tells the place of a node by writing all of its tokens anew, so that a tree would take time for each
//! token as often as it is deep; and each place that it is asked for is searched among the lines. So nothing is asked
//! that a child is asked as well.

use proc_macro2::Span;
use syn::{
    BinOp, Fields, Lit, MacroDelimiter, PathArguments, RangeLimits, ReceiverKind, ReturnType,
    Safety, UnOp, Visibility, punctuated::Punctuated, spanned::Spanned,
};

/// Who is told of tokens of a node.
pub trait Told {
    /// Begins here, or with a child before.
    fn first(&mut self, span: Span);
    /// Ends here, or with a child behind.
    fn last(&mut self, span: Span);
    /// A word, whatever its length.
    fn word(&mut self, span: Span);
    /// This token, of so many bytes.
    fn token(&mut self, span: Span, bytes: u32);

    /// All of its tokens.
    fn all(&mut self, node: &impl Spanned) {
        let span = node.span();
        self.first(span);
        self.last(span);
    }
}

/// A node that knows which tokens at its ends are its own.
pub trait Ends {
    fn tell(&self, to: &mut impl Told);
}

fn public(vis: &Visibility, to: &mut impl Told) {
    if let Visibility::Public(token) = vis {
        to.first(token.span);
    }
}

/// The angle bracket before the type in `<T as Trait>::NAME`.
fn qualified(qself: Option<&syn::QSelf>, to: &mut impl Told) {
    if let Some(qself) = qself {
        to.first(qself.lt_token.spans[0]);
    }
}

/// What such a list ends with, where that is no part of it.
fn trailing<T, P: Spanned>(list: &Punctuated<T, P>, to: &mut impl Told) {
    let last = list.pairs().next_back();
    if let Some(punct) = last.and_then(|pair| pair.into_tuple().1) {
        to.last(punct.span());
    }
}

/// What stands between brackets.
macro_rules! within {
    ($brackets:expr, $to:ident) => {{
        $to.first($brackets.span.open());
        $to.last($brackets.span.close());
    }};
}

/// The first of these that is there.
macro_rules! first_of {
    ($to:ident: $($token:expr),* => $otherwise:expr) => {
        $to.first(None.$(or($token.map(|token| token.span)).)*unwrap_or($otherwise))
    };
}

macro_rules! ends {
    ($($node:ty: |$n:ident, $to:ident| $tell:expr;)*) => {
        $(impl Ends for $node {
            fn tell(&self, $to: &mut impl Told) {
                let $n = self;
                $tell;
            }
        })*
    };
}

/// Nodes that begin and end with children.
macro_rules! nothing_of_their_own {
    ($($node:ty,)*) => {
        $(impl Ends for $node {
            fn tell(&self, _: &mut impl Told) {}
        })*
    };
}

nothing_of_their_own! {
    syn::AssocConst,
    syn::AssocType,
    syn::ExprAssign,
    syn::ExprBinary,
    syn::ExprBlock,
    syn::ExprCast,
    syn::ExprField,
    syn::ExprGroup,
    syn::ExprMacro,
    syn::ExprRange,
    syn::ExprUnary,
    syn::FieldPat,
    syn::FieldValue,
    syn::MetaNameValue,
    syn::PatType,
    syn::TypeGroup,
    syn::TypeMacro,
    syn::UseName,
    syn::UsePath,
    syn::UseRename,
    syn::Variant,
}

fn close(delimiter: &MacroDelimiter) -> Span {
    match delimiter {
        MacroDelimiter::Paren(token) => token.span.close(),
        MacroDelimiter::Brace(token) => token.span.close(),
        MacroDelimiter::Bracket(token) => token.span.close(),
    }
}

/// The closing bracket of arguments that no type follows.
fn returns(output: &ReturnType, close: Span, to: &mut impl Told) {
    if matches!(output, ReturnType::Default) {
        to.last(close);
    }
}

fn semicolon(token: Option<syn::Token![;]>, to: &mut impl Told) {
    if let Some(token) = token {
        to.last(token.spans[0]);
    }
}

ends! {
    proc_macro2::Ident: |n, to| to.word(n.span());
    syn::Abi: |n, to| to.token(n.extern_token.span, 6);
    syn::Arm: |n, to| if let Some(comma) = n.comma { to.last(comma.spans[0]) };
    syn::Attribute: |n, to| {
        to.first(n.pound_token.spans[0]);
        to.last(n.bracket_token.span.close());
    };
    syn::Block: |n, to| within!(n.brace_token, to);
    syn::BoundLifetimes: |n, to| {
        to.first(n.for_token.span);
        to.last(n.gt_token.spans[0]);
    };
    syn::ConstParam: |n, to| to.first(n.const_token.span);
    syn::Field: |n, to| public(&n.vis, to);
    syn::FieldsNamed: |n, to| within!(n.brace_token, to);
    syn::FieldsUnnamed: |n, to| within!(n.paren_token, to);
    syn::ForeignItemFn: |n, to| {
        public(&n.vis, to);
        if let Some(token) = n.modifiers.defaultness { to.first(token.span) }
        to.last(n.semi_token.spans[0]);
    };
    syn::Index: |n, to| {
        to.first(n.span);
        to.last(n.span);
    };
    syn::Label: |n, to| to.last(n.colon_token.spans[0]);
    syn::Lifetime: |n, to| to.first(n.apostrophe);
    syn::LitBool: |n, to| to.word(n.span);
    syn::LifetimeParam: |n, to| if n.colon_token.is_some() { to.all(n) };
    syn::Local: |n, to| {
        to.first(n.let_token.span);
        to.last(n.semi_token.spans[0]);
    };
    syn::Macro: |n, to| to.last(close(&n.delimiter));
    syn::MetaList: |n, to| to.last(close(&n.delimiter));
    syn::Path: |n, to| if let Some(colon) = n.leading_colon { to.first(colon.spans[0]) };
    syn::PathSegment: |n, to| match &n.arguments {
        PathArguments::None => (),
        PathArguments::AngleBracketed(arguments) => to.last(arguments.gt_token.spans[0]),
        PathArguments::Parenthesized(arguments) => {
            returns(&arguments.output, arguments.paren_token.span.close(), to);
        }
    };
    syn::PredicateLifetime: |n, to| {
        to.last(n.colon_token.spans[0]);
        trailing(&n.bounds, to);
    };
    syn::PredicateType: |n, to| {
        if n.bounds.is_empty() { to.last(n.colon_token.spans[0]) }
        trailing(&n.bounds, to);
    };
    RangeLimits: |n, to| match n {
        Self::HalfOpen(token) => to.token(token.spans[0], 2),
        Self::Closed(token) => to.token(token.spans[0], 3),
    };
    syn::Receiver: |n, to| {
        let reference = match &n.kind {
            ReceiverKind::Reference(and, ..) => Some(and.spans[0]),
            _ => n.mutability.map(|token| token.span),
        };
        if let Some(first) = reference { to.first(first) }
        to.token(n.self_token.span, 4);
    };
    syn::Signature: |n, to| {
        let safety = match &n.safety {
            Safety::Safe(token) => Some(token.span),
            Safety::Unsafe(token) => Some(token.span),
            _ => None,
        };
        let first = n.constness.map(|token| token.span);
        let first = first.or(n.asyncness.map(|token| token.span)).or(safety);
        to.first(first.unwrap_or(n.fn_token.span));
        returns(&n.output, n.paren_token.span.close(), to);
    };
    syn::StmtMacro: |n, to| semicolon(n.semi_token, to);
    syn::TraitBound: |n, to| {
        if let Some(paren) = n.paren_token { within!(paren, to) }
        if let Some(maybe) = n.maybe { to.first(maybe.spans[0]) }
    };
    syn::TypeParam: |n, to| {
        if let (Some(colon), true) = (n.colon_token, n.bounds.is_empty()) { to.last(colon.spans[0]) }
        trailing(&n.bounds, to);
    };
    syn::UseGlob: |n, to| to.token(n.star_token.spans[0], 1);
    syn::UseGroup: |n, to| within!(n.brace_token, to);
    syn::VisRestricted: |n, to| {
        to.first(n.pub_token.span);
        to.last(n.paren_token.span.close());
    };
    // To syn there is none without a condition.
    syn::WhereClause: |n, to| if !n.predicates.is_empty() {
        to.token(n.where_token.span, 5);
        trailing(&n.predicates, to);
    };
}

ends! {
    syn::ItemConst: |n, to| {
        public(&n.vis, to);
        first_of!(to: n.modifiers.defaultness => n.const_token.span);
        to.last(n.semi_token.spans[0]);
    };
    syn::ItemEnum: |n, to| {
        public(&n.vis, to);
        to.first(n.enum_token.span);
        to.last(n.brace_token.span.close());
    };
    syn::ItemFn: |n, to| {
        public(&n.vis, to);
        if let Some(token) = n.modifiers.defaultness { to.first(token.span) }
    };
    syn::ItemForeignMod: |n, to| {
        if let Some(token) = n.unsafety { to.first(token.span) }
        to.last(n.brace_token.span.close());
    };
    syn::ItemImpl: |n, to| {
        first_of!(to: n.modifiers.defaultness, n.unsafety => n.impl_token.span);
        to.last(n.brace_token.span.close());
    };
    syn::ItemMacro: |n, to| semicolon(n.semi_token, to);
    syn::ItemMod: |n, to| {
        public(&n.vis, to);
        first_of!(to: n.unsafety => n.mod_token.span);
        if let Some((brace, _)) = &n.content { to.last(brace.span.close()) }
        semicolon(n.semi, to);
    };
    syn::ItemStatic: |n, to| {
        public(&n.vis, to);
        to.first(n.static_token.span);
        to.last(n.semi_token.spans[0]);
    };
    syn::ItemStruct: |n, to| {
        public(&n.vis, to);
        to.first(n.struct_token.span);
        if n.semi_token.is_none() && !matches!(n.fields, Fields::Named(_)) { to.all(n) }
        semicolon(n.semi_token, to);
    };
    syn::ItemTrait: |n, to| {
        public(&n.vis, to);
        first_of!(to: n.unsafety, n.modifiers.auto_token => n.trait_token.span);
        to.last(n.brace_token.span.close());
    };
    syn::ItemType: |n, to| {
        public(&n.vis, to);
        first_of!(to: n.modifiers.defaultness => n.type_token.span);
        to.last(n.semi_token.spans[0]);
    };
    syn::ItemUse: |n, to| {
        public(&n.vis, to);
        to.first(n.use_token.span);
        to.last(n.semi_token.spans[0]);
    };
    syn::ImplItemFn: |n, to| {
        public(&n.vis, to);
        if let Some(token) = n.modifiers.defaultness { to.first(token.span) }
    };
    syn::TraitItemFn: |n, to| {
        if let Some(token) = n.modifiers.defaultness { to.first(token.span) }
        semicolon(n.semi_token, to);
    };
}

ends! {
    syn::ExprArray: |n, to| within!(n.bracket_token, to);
    syn::ExprAsync: |n, to| to.first(n.async_token.span);
    syn::ExprAwait: |n, to| to.last(n.await_token.span);
    syn::ExprBreak: |n, to| to.token(n.break_token.span, 5);
    syn::ExprCall: |n, to| to.last(n.paren_token.span.close());
    syn::ExprClosure: |n, to| {
        first_of!(to: n.constness, n.asyncness, n.capture => n.inputs_begin.spans[0]);
    };
    syn::ExprConst: |n, to| to.first(n.const_token.span);
    syn::ExprContinue: |n, to| to.token(n.continue_token.span, 8);
    syn::ExprForLoop: |n, to| to.first(n.for_token.span);
    syn::ExprIf: |n, to| to.first(n.if_token.span);
    syn::ExprIndex: |n, to| to.last(n.bracket_token.span.close());
    syn::ExprInfer: |n, to| to.token(n.underscore_token.spans[0], 1);
    syn::ExprLet: |n, to| to.first(n.let_token.span);
    syn::ExprLit: |n, to| if matches!(n.lit, Lit::Verbatim(_)) { to.all(&n.lit) };
    syn::ExprLoop: |n, to| to.first(n.loop_token.span);
    syn::ExprMatch: |n, to| {
        to.first(n.match_token.span);
        to.last(n.brace_token.span.close());
    };
    syn::ExprMethodCall: |n, to| to.last(n.paren_token.span.close());
    syn::ExprParen: |n, to| within!(n.paren_token, to);
    syn::ExprPath: |n, to| qualified(n.qself.as_ref(), to);
    syn::ExprReference: |n, to| to.first(n.and_token.spans[0]);
    syn::ExprRepeat: |n, to| within!(n.bracket_token, to);
    syn::ExprReturn: |n, to| to.token(n.return_token.span, 6);
    syn::ExprStruct: |n, to| {
        qualified(n.qself.as_ref(), to);
        to.last(n.brace_token.span.close());
    };
    syn::ExprTry: |n, to| to.last(n.question_token.spans[0]);
    syn::ExprTuple: |n, to| within!(n.paren_token, to);
    syn::ExprUnsafe: |n, to| to.first(n.unsafe_token.span);
    syn::ExprWhile: |n, to| to.first(n.while_token.span);
    UnOp: |n, to| match n {
        Self::Deref(token) => to.token(token.spans[0], 1),
        Self::Not(token) => to.token(token.spans[0], 1),
        Self::Neg(token) => to.token(token.spans[0], 1),
        other => to.all(other),
    };
}

ends! {
    syn::PatIdent: |n, to| {
        let first = n.by_ref.map(|token| token.span).or(n.mutability.map(|token| token.span));
        if let Some(first) = first { to.first(first) }
    };
    syn::PatOr: |n, to| if let Some(token) = n.leading_vert { to.first(token.spans[0]) };
    syn::PatParen: |n, to| within!(n.paren_token, to);
    syn::PatReference: |n, to| to.first(n.and_token.spans[0]);
    syn::PatRest: |n, to| to.token(n.dot2_token.spans[0], 2);
    syn::PatSlice: |n, to| within!(n.bracket_token, to);
    syn::PatStruct: |n, to| {
        qualified(n.qself.as_ref(), to);
        to.last(n.brace_token.span.close());
    };
    syn::PatTuple: |n, to| within!(n.paren_token, to);
    syn::PatTupleStruct: |n, to| {
        qualified(n.qself.as_ref(), to);
        to.last(n.paren_token.span.close());
    };
    syn::PatWild: |n, to| to.token(n.underscore_token.spans[0], 1);
    syn::TypeArray: |n, to| within!(n.bracket_token, to);
    syn::TypeFnPtr: |n, to| {
        first_of!(to: n.unsafety => n.fn_token.span);
        returns(&n.output, n.paren_token.span.close(), to);
    };
    syn::TypeImplTrait: |n, to| {
        to.first(n.impl_token.span);
        trailing(&n.bounds, to);
    };
    syn::TypeInfer: |n, to| to.token(n.underscore_token.spans[0], 1);
    syn::TypeNever: |n, to| to.token(n.bang_token.spans[0], 1);
    syn::TypeParen: |n, to| within!(n.paren_token, to);
    syn::TypePath: |n, to| qualified(n.qself.as_ref(), to);
    syn::TypePtr: |n, to| to.first(n.star_token.spans[0]);
    syn::TypeReference: |n, to| to.first(n.and_token.spans[0]);
    syn::TypeSlice: |n, to| within!(n.bracket_token, to);
    syn::TypeTraitObject: |n, to| {
        if let Some(token) = n.dyn_token { to.first(token.span) }
        trailing(&n.bounds, to);
    };
    syn::TypeTuple: |n, to| within!(n.paren_token, to);
}

macro_rules! literals {
    ($($node:ty,)*) => {
        $(impl Ends for $node {
            fn tell(&self, to: &mut impl Told) {
                to.first(self.span());
                to.last(self.span());
            }
        })*
    };
}

literals! {
    syn::LitByte,
    syn::LitByteStr,
    syn::LitCStr,
    syn::LitChar,
    syn::LitFloat,
    syn::LitInt,
    syn::LitStr,
}

macro_rules! operators {
    ($($operator:ident $bytes:literal,)*) => {
        impl Ends for BinOp {
            fn tell(&self, to: &mut impl Told) {
                match self {
                    $(Self::$operator(token) => to.token(token.spans[0], $bytes),)*
                    other => to.all(other),
                }
            }
        }
    };
}

operators! {
    Add 1, Sub 1, Mul 1, Div 1, Rem 1, BitXor 1, BitAnd 1, BitOr 1, Lt 1, Gt 1,
    And 2, Or 2, Shl 2, Shr 2, Eq 2, Le 2, Ne 2, Ge 2,
    AddAssign 2, SubAssign 2, MulAssign 2, DivAssign 2, RemAssign 2,
    BitXorAssign 2, BitAndAssign 2, BitOrAssign 2, ShlAssign 3, ShrAssign 3,
}
