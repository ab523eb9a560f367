//! Rust's trees, by syn.

use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use syn::{
    spanned::Spanned as _,
    visit::{self, Visit},
};

use crate::{
    build::{Builder, Token},
    ends::Ends as _,
    error::{AstError, line_of},
    kinds::RUST,
    tensors::AstTensors,
};

/// The file itself; the others follow.
const FILE: u32 = RUST;

/// From lines and columns to bytes. proc_macro2 tells bytes, too, but keeps each that it is asked for in a tree.
struct Places<'t> {
    code: &'t str,
    is_ascii: bool,
    /// The first byte of each line.
    lines: Vec<usize>,
    /// Bytes of the file before the code.
    base: usize,
}

impl<'t> Places<'t> {
    fn new(text: &'t str, base: usize) -> Self {
        let code = text.get(base..).unwrap_or_default();
        let ends = code.bytes().zip(1..).filter(|(byte, _)| *byte == b'\n');
        Self {
            code,
            is_ascii: code.is_ascii(),
            lines: std::iter::once(0)
                .chain(ends.map(|(_, next)| next))
                .collect(),
            base,
        }
    }

    fn byte(&self, at: LineColumn) -> Option<u32> {
        let line = *self.lines.get(at.line.checked_sub(1)?)?;
        let column = match self.is_ascii {
            true => at.column,
            false => {
                let letters = self.code.get(line..)?.chars().take(at.column);
                letters.map(char::len_utf8).sum()
            }
        };
        u32::try_from(self.base + line + column).ok()
    }

    /// Bytes of the file; none for what stands nowhere.
    fn place(&self, (first, last): (Span, Span)) -> Option<Token> {
        let (start, end) = (self.byte(first.start())?, self.byte(last.end())?);
        (start < end).then_some(Token { start, end })
    }
}

struct Walk<'t> {
    builder: Builder,
    places: Places<'t>,
}

impl Walk<'_> {
    /// A node around what `within` visits. One that stands nowhere is none.
    fn node(&mut self, kind: RustKind, ends: (Span, Span), within: impl FnOnce(&mut Self)) {
        let Some(place) = self.places.place(ends) else {
            return within(self);
        };
        let kind = FILE + 1 + kind as u32;
        self.builder.enter(kind, place.start, place.end);
        within(self);
        self.builder.leave();
    }
}

/// Where a node stands: by its ends where it may have much in it.
macro_rules! ends_of {
    ($walk:ident $node:ident) => {{
        let span = $node.span();
        (span, span)
    }};
    ($walk:ident $node:ident ends) => {{
        let ends = $node.ends();
        #[cfg(test)]
        {
            let place = $walk.places.place(ends).map(|place| place.start..place.end);
            let all = $node.span();
            assert_eq!(
                place,
                $walk
                    .places
                    .place((all, all))
                    .map(|place| place.start..place.end)
            );
            let base = $walk.places.base;
            let told = all.byte_range().start + base..all.byte_range().end + base;
            assert_eq!(
                place.map(|place| place.start as usize..place.end as usize),
                Some(told)
            );
        }
        ends
    }};
}

macro_rules! nodes {
    ($($kind:ident $method:ident $node:ty $(=> $ends:ident)?,)*) => {
        #[derive(Clone, Copy)]
        enum RustKind {
            $($kind,)*
        }

        /// Names, from the file's on.
        pub const RUST_KINDS: &[&str] = &["File", $(stringify!($kind),)*];

        impl<'ast> Visit<'ast> for Walk<'_> {
            $(fn $method(&mut self, node: &'ast $node) {
                let ends = ends_of!(self node $($ends)?);
                self.node(RustKind::$kind, ends, |walk| visit::$method(walk, node));
            })*
        }
    };
}

nodes! {
    Abi visit_abi syn::Abi,
    Arm visit_arm syn::Arm => ends,
    AssocConst visit_assoc_const syn::AssocConst,
    AssocType visit_assoc_type syn::AssocType,
    Attribute visit_attribute syn::Attribute => ends,
    BinOp visit_bin_op syn::BinOp,
    Block visit_block syn::Block => ends,
    BoundLifetimes visit_bound_lifetimes syn::BoundLifetimes,
    ConstParam visit_const_param syn::ConstParam,
    Constraint visit_constraint syn::Constraint,
    ExprArray visit_expr_array syn::ExprArray => ends,
    ExprAssign visit_expr_assign syn::ExprAssign => ends,
    ExprAsync visit_expr_async syn::ExprAsync => ends,
    ExprAwait visit_expr_await syn::ExprAwait => ends,
    ExprBinary visit_expr_binary syn::ExprBinary => ends,
    ExprBlock visit_expr_block syn::ExprBlock => ends,
    ExprBreak visit_expr_break syn::ExprBreak,
    ExprCall visit_expr_call syn::ExprCall => ends,
    ExprCast visit_expr_cast syn::ExprCast => ends,
    ExprClosure visit_expr_closure syn::ExprClosure => ends,
    ExprConst visit_expr_const syn::ExprConst,
    ExprContinue visit_expr_continue syn::ExprContinue,
    ExprField visit_expr_field syn::ExprField => ends,
    ExprForLoop visit_expr_for_loop syn::ExprForLoop => ends,
    ExprGroup visit_expr_group syn::ExprGroup,
    ExprIf visit_expr_if syn::ExprIf => ends,
    ExprIndex visit_expr_index syn::ExprIndex => ends,
    ExprInfer visit_expr_infer syn::ExprInfer,
    ExprLet visit_expr_let syn::ExprLet => ends,
    ExprLit visit_expr_lit syn::ExprLit,
    ExprLoop visit_expr_loop syn::ExprLoop => ends,
    ExprMacro visit_expr_macro syn::ExprMacro => ends,
    ExprMatch visit_expr_match syn::ExprMatch => ends,
    ExprMethodCall visit_expr_method_call syn::ExprMethodCall => ends,
    ExprParen visit_expr_paren syn::ExprParen => ends,
    ExprPath visit_expr_path syn::ExprPath => ends,
    ExprRange visit_expr_range syn::ExprRange,
    ExprRawAddr visit_expr_raw_addr syn::ExprRawAddr,
    ExprReference visit_expr_reference syn::ExprReference => ends,
    ExprRepeat visit_expr_repeat syn::ExprRepeat,
    ExprReturn visit_expr_return syn::ExprReturn => ends,
    ExprStruct visit_expr_struct syn::ExprStruct => ends,
    ExprTry visit_expr_try syn::ExprTry => ends,
    ExprTryBlock visit_expr_try_block syn::ExprTryBlock,
    ExprTuple visit_expr_tuple syn::ExprTuple => ends,
    ExprUnary visit_expr_unary syn::ExprUnary => ends,
    ExprUnsafe visit_expr_unsafe syn::ExprUnsafe => ends,
    ExprWhile visit_expr_while syn::ExprWhile => ends,
    ExprYield visit_expr_yield syn::ExprYield,
    Field visit_field syn::Field,
    FieldPat visit_field_pat syn::FieldPat,
    FieldValue visit_field_value syn::FieldValue => ends,
    FieldsNamed visit_fields_named syn::FieldsNamed => ends,
    FieldsUnnamed visit_fields_unnamed syn::FieldsUnnamed,
    FnPtrVariadic visit_fn_ptr_variadic syn::FnPtrVariadic,
    ForeignItemFn visit_foreign_item_fn syn::ForeignItemFn,
    ForeignItemMacro visit_foreign_item_macro syn::ForeignItemMacro,
    ForeignItemType visit_foreign_item_type syn::ForeignItemType,
    Ident visit_ident proc_macro2::Ident,
    ImplItemConst visit_impl_item_const syn::ImplItemConst,
    ImplItemFn visit_impl_item_fn syn::ImplItemFn => ends,
    ImplItemMacro visit_impl_item_macro syn::ImplItemMacro,
    ImplItemType visit_impl_item_type syn::ImplItemType,
    Index visit_index syn::Index,
    ItemConst visit_item_const syn::ItemConst,
    ItemEnum visit_item_enum syn::ItemEnum => ends,
    ItemExternCrate visit_item_extern_crate syn::ItemExternCrate,
    ItemFn visit_item_fn syn::ItemFn => ends,
    ItemForeignMod visit_item_foreign_mod syn::ItemForeignMod,
    ItemImpl visit_item_impl syn::ItemImpl => ends,
    ItemMacro visit_item_macro syn::ItemMacro => ends,
    ItemMod visit_item_mod syn::ItemMod => ends,
    ItemStatic visit_item_static syn::ItemStatic,
    ItemStruct visit_item_struct syn::ItemStruct => ends,
    ItemTrait visit_item_trait syn::ItemTrait => ends,
    ItemTraitAlias visit_item_trait_alias syn::ItemTraitAlias,
    ItemType visit_item_type syn::ItemType,
    ItemUnion visit_item_union syn::ItemUnion,
    ItemUse visit_item_use syn::ItemUse => ends,
    Label visit_label syn::Label,
    Lifetime visit_lifetime syn::Lifetime,
    LifetimeParam visit_lifetime_param syn::LifetimeParam,
    LitBool visit_lit_bool syn::LitBool,
    LitByte visit_lit_byte syn::LitByte,
    LitByteStr visit_lit_byte_str syn::LitByteStr,
    LitCstr visit_lit_cstr syn::LitCStr,
    LitChar visit_lit_char syn::LitChar,
    LitFloat visit_lit_float syn::LitFloat,
    LitInt visit_lit_int syn::LitInt,
    LitStr visit_lit_str syn::LitStr,
    Local visit_local syn::Local => ends,
    Macro visit_macro syn::Macro => ends,
    MetaList visit_meta_list syn::MetaList,
    MetaNameValue visit_meta_name_value syn::MetaNameValue,
    NamedArg visit_named_arg syn::NamedArg,
    PatIdent visit_pat_ident syn::PatIdent => ends,
    PatOr visit_pat_or syn::PatOr,
    PatParen visit_pat_paren syn::PatParen,
    PatReference visit_pat_reference syn::PatReference,
    PatRest visit_pat_rest syn::PatRest,
    PatSlice visit_pat_slice syn::PatSlice,
    PatStruct visit_pat_struct syn::PatStruct,
    PatTuple visit_pat_tuple syn::PatTuple,
    PatTupleStruct visit_pat_tuple_struct syn::PatTupleStruct => ends,
    PatType visit_pat_type syn::PatType => ends,
    PatWild visit_pat_wild syn::PatWild,
    Path visit_path syn::Path => ends,
    PathSegment visit_path_segment syn::PathSegment => ends,
    PreciseCapture visit_precise_capture syn::PreciseCapture,
    PredicateLifetime visit_predicate_lifetime syn::PredicateLifetime,
    PredicateType visit_predicate_type syn::PredicateType,
    RangeLimits visit_range_limits syn::RangeLimits,
    Receiver visit_receiver syn::Receiver,
    Signature visit_signature syn::Signature => ends,
    StmtMacro visit_stmt_macro syn::StmtMacro => ends,
    TraitBound visit_trait_bound syn::TraitBound,
    TraitItemConst visit_trait_item_const syn::TraitItemConst,
    TraitItemFn visit_trait_item_fn syn::TraitItemFn => ends,
    TraitItemMacro visit_trait_item_macro syn::TraitItemMacro,
    TraitItemType visit_trait_item_type syn::TraitItemType,
    TypeArray visit_type_array syn::TypeArray,
    TypeFnPtr visit_type_fn_ptr syn::TypeFnPtr,
    TypeGroup visit_type_group syn::TypeGroup,
    TypeImplTrait visit_type_impl_trait syn::TypeImplTrait,
    TypeInfer visit_type_infer syn::TypeInfer,
    TypeMacro visit_type_macro syn::TypeMacro,
    TypeNever visit_type_never syn::TypeNever,
    TypeParam visit_type_param syn::TypeParam,
    TypeParen visit_type_paren syn::TypeParen,
    TypePath visit_type_path syn::TypePath => ends,
    TypePtr visit_type_ptr syn::TypePtr,
    TypeReference visit_type_reference syn::TypeReference => ends,
    TypeSlice visit_type_slice syn::TypeSlice,
    TypeTraitObject visit_type_trait_object syn::TypeTraitObject,
    TypeTuple visit_type_tuple syn::TypeTuple,
    UnOp visit_un_op syn::UnOp,
    UseGlob visit_use_glob syn::UseGlob,
    UseGroup visit_use_group syn::UseGroup => ends,
    UseName visit_use_name syn::UseName,
    UsePath visit_use_path syn::UsePath => ends,
    UseRename visit_use_rename syn::UseRename,
    Variadic visit_variadic syn::Variadic,
    Variant visit_variant syn::Variant,
    VisRestricted visit_vis_restricted syn::VisRestricted,
    WhereClause visit_where_clause syn::WhereClause,
}

/// What comes before the first token and is none of Rust's: a byte-order mark, a shebang line.
fn preamble(text: &str) -> usize {
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let rest = &text[mark..];
    let is_shebang = rest
        .strip_prefix("#!")
        .is_some_and(|rest| !rest.trim_start().starts_with('['));
    match is_shebang {
        true => mark + rest.find('\n').unwrap_or(rest.len()),
        false => mark,
    }
}

/// The arrays of a file's tree.
///
/// For threads that keep no spans: those that were there before are invalid afterwards.
pub fn parse(text: &str) -> Result<AstTensors, AstError> {
    let tensors = parse_spans(text);
    // Each text that was parsed would stay in memory otherwise, and be searched for each place.
    proc_macro2::extra::invalidate_current_thread_spans();
    tensors
}

fn parse_spans(text: &str) -> Result<AstTensors, AstError> {
    let base = preamble(text);
    let places = Places::new(text, base);
    let syntax = |span: Span, message: String| AstError::Syntax {
        line: line_of(text, base + span.byte_range().start),
        message,
    };
    let stream: TokenStream = places
        .code
        .parse()
        .map_err(|error: proc_macro2::LexError| syntax(error.span(), error.to_string()))?;
    let file: syn::File =
        syn::parse2(stream.clone()).map_err(|error| syntax(error.span(), error.to_string()))?;
    let mut walk = Walk {
        builder: Builder::default(),
        places,
    };
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    walk.builder.enter(FILE, 0, end);
    visit::visit_file(&mut walk, &file);
    walk.builder.leave();
    let mut tokens = Vec::new();
    flatten(stream, &walk.places, &mut tokens);
    let mut tensors = walk.builder.finish(text, &tokens);
    tensors.root_is_file(text);
    Ok(tensors)
}

/// The tokens in order, brackets among them. A comment of documentation is several tokens in one place.
fn flatten(stream: TokenStream, places: &Places<'_>, to: &mut Vec<Token>) {
    let add = |span: Span, to: &mut Vec<Token>| {
        let place = places.place((span, span));
        let after = to.last().map_or(0, |last: &Token| last.end);
        to.extend(place.filter(|place| place.start >= after));
    };
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                add(group.span_open(), to);
                flatten(group.stream(), places, to);
                add(group.span_close(), to);
            }
            tree => add(tree.span(), to),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// What sources of this repository have not.
    const ODD: &str = r#"
#![allow(dead_code)]
#[a] pub(crate) const async unsafe extern "C" fn f<'a>() -> u8 { #![inner] 'l: loop { break 'l } }
default unsafe impl<T> Send for <T as A>::B {}
unsafe auto trait T: A + B { /** doc */ fn g(); unsafe fn h() {} }
impl X { pub default const fn d(&self) { (|| -> u8 { 1 })() } }
mod m { mod n; }
#[b] pub enum E { #[c] A { #[d] x: u8 }, B(u8) = 3 }
fn main() {
    let x = #[e] a.b.0.c()?.await[1..][..2] as u64 + -*&mut y as u8;
    let s = S { x, y: 1, ..z };
    let Some(y) = (if let A { x, .. } = s && c {} else if d { 1 } else { 2 }) else { return };
    match <A as B>::C { #[f] A | B if c => (), _ => { } }
    'a: for i in 0..=1 { 'b: while let Some(_) = z() { continue 'b } }
    let c = for<'a> move |a: &'a u8, _: u8| -> u8 { a };
    m! { a b }
    ::a::m![1, 2];
    #[g] n!("x") ;
    x = y = unsafe { const { 1 } };
    (1,); [(); 2]; { 1 }; return x.y().z(|q| { q });
}
"#;

    /// Each node is where all of its tokens say that it is; the comparison is where nodes are made.
    #[test]
    fn ends_are_those_of_all_tokens() {
        parse(ODD).unwrap();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for folder in [
            "gpu-ast/src",
            "core-gpu-memory/src/pool",
            "core-gpu/src/workers",
        ] {
            for entry in std::fs::read_dir(crates.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|end| end == "rs") {
                    parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
                }
            }
        }
    }
}
