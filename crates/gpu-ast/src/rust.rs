//! Rust's trees, by syn.

use proc_macro2::{LineColumn, Span, TokenStream};
#[cfg(test)]
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::{
    build::Builder,
    ends::{Ends as _, Told},
    error::{AstError, line_of},
    kinds::RUST,
    lexer::Tokens,
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
        let ends = code.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            code,
            is_ascii: code.is_ascii(),
            lines: std::iter::once(0).chain(ends).collect(),
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

    /// The end of the word that begins at a byte of the file, if one does that is all ASCII.
    fn end_of_word(&self, start: u32) -> Option<u32> {
        let bytes = self.code.as_bytes();
        let first = start as usize - self.base;
        let raw = 2 * usize::from(bytes.get(first..)?.starts_with(b"r#"));
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let letters = bytes.get(first + raw..)?.iter().take_while(is_part).count();
        let end = first + raw + letters;
        let is_whole = letters > 0 && bytes.get(end).is_none_or(u8::is_ascii);
        is_whole.then(|| u32::try_from(self.base + end).ok())?
    }
}

struct Walk<'t> {
    builder: Builder,
    places: Places<'t>,
}

impl Told for Walk<'_> {
    fn first(&mut self, span: Span) {
        if let Some(start) = self.places.byte(span.start()) {
            self.builder.cover(start, start);
        }
    }

    fn last(&mut self, span: Span) {
        if let Some(end) = self.places.byte(span.end()) {
            self.builder.cover(end, end);
        }
    }

    fn word(&mut self, span: Span) {
        if let Some(start) = self.places.byte(span.start()) {
            let end = self.places.end_of_word(start);
            let end = end.or_else(|| self.places.byte(span.end()));
            self.builder.cover(start, end.unwrap_or(start));
        }
    }

    fn token(&mut self, span: Span, bytes: u32) {
        if let Some(start) = self.places.byte(span.start()) {
            self.builder.cover(start, start.saturating_add(bytes));
        }
    }
}

impl Walk<'_> {
    fn enter(&mut self, kind: RustKind) {
        self.builder.enter_nowhere(FILE + 1 + kind as u32);
    }
}

/// Tells where a node stands.
macro_rules! tell {
    ($walk:ident $node:ident) => {
        $node.tell($walk)
    };
    ($walk:ident $node:ident all) => {
        $walk.all($node)
    };
    ($walk:ident $node:ident path) => {
        $node.tell($walk)
    };
}

/// Visits what is in a node. Of a macro the path alone: the rest is tokens.
macro_rules! visit_within {
    ($walk:ident $node:ident $method:ident path) => {
        $walk.visit_path(&$node.path)
    };
    ($walk:ident $node:ident $method:ident $($how:ident)?) => {
        visit::$method($walk, $node)
    };
}

macro_rules! nodes {
    ($($kind:ident $method:ident $node:ty $(=> $how:ident)?,)*) => {
        #[derive(Clone, Copy)]
        enum RustKind {
            $($kind,)*
        }

        /// Names, from the file's on.
        pub const RUST_KINDS: &[&str] = &["File", $(stringify!($kind),)*];

        impl<'ast> Visit<'ast> for Walk<'_> {
            $(fn $method(&mut self, node: &'ast $node) {
                self.enter(RustKind::$kind);
                tell!(self node $($how)?);
                visit_within!(self node $method $($how)?);
                self.builder.leave();
            })*

            /// What syn does not read: a node has its bytes all the same.
            fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
                let mut tokens = tokens.clone().into_iter();
                if let Some(first) = tokens.next() {
                    self.first(first.span());
                    self.last(tokens.last().unwrap_or(first).span());
                }
            }
        }

        #[cfg(test)]
        impl<'ast> Visit<'ast> for tests::Oracle<'_> {
            $(fn $method(&mut self, node: &'ast $node) {
                let is_node = self.enter(RustKind::$kind, node.span());
                visit::$method(self, node);
                self.leave(is_node);
            })*
        }
    };
}

nodes! {
    Abi visit_abi syn::Abi,
    Arm visit_arm syn::Arm,
    AssocConst visit_assoc_const syn::AssocConst,
    AssocType visit_assoc_type syn::AssocType,
    Attribute visit_attribute syn::Attribute,
    BinOp visit_bin_op syn::BinOp,
    Block visit_block syn::Block,
    BoundLifetimes visit_bound_lifetimes syn::BoundLifetimes,
    ConstParam visit_const_param syn::ConstParam,
    Constraint visit_constraint syn::Constraint => all,
    ExprArray visit_expr_array syn::ExprArray,
    ExprAssign visit_expr_assign syn::ExprAssign,
    ExprAsync visit_expr_async syn::ExprAsync,
    ExprAwait visit_expr_await syn::ExprAwait,
    ExprBinary visit_expr_binary syn::ExprBinary,
    ExprBlock visit_expr_block syn::ExprBlock,
    ExprBreak visit_expr_break syn::ExprBreak,
    ExprCall visit_expr_call syn::ExprCall,
    ExprCast visit_expr_cast syn::ExprCast,
    ExprClosure visit_expr_closure syn::ExprClosure,
    ExprConst visit_expr_const syn::ExprConst,
    ExprContinue visit_expr_continue syn::ExprContinue,
    ExprField visit_expr_field syn::ExprField,
    ExprForLoop visit_expr_for_loop syn::ExprForLoop,
    ExprGroup visit_expr_group syn::ExprGroup,
    ExprIf visit_expr_if syn::ExprIf,
    ExprIndex visit_expr_index syn::ExprIndex,
    ExprInfer visit_expr_infer syn::ExprInfer,
    ExprLet visit_expr_let syn::ExprLet,
    ExprLit visit_expr_lit syn::ExprLit,
    ExprLoop visit_expr_loop syn::ExprLoop,
    ExprMacro visit_expr_macro syn::ExprMacro,
    ExprMatch visit_expr_match syn::ExprMatch,
    ExprMethodCall visit_expr_method_call syn::ExprMethodCall,
    ExprParen visit_expr_paren syn::ExprParen,
    ExprPath visit_expr_path syn::ExprPath,
    ExprRange visit_expr_range syn::ExprRange,
    ExprRawAddr visit_expr_raw_addr syn::ExprRawAddr => all,
    ExprReference visit_expr_reference syn::ExprReference,
    ExprRepeat visit_expr_repeat syn::ExprRepeat,
    ExprReturn visit_expr_return syn::ExprReturn,
    ExprStruct visit_expr_struct syn::ExprStruct,
    ExprTry visit_expr_try syn::ExprTry,
    ExprTryBlock visit_expr_try_block syn::ExprTryBlock => all,
    ExprTuple visit_expr_tuple syn::ExprTuple,
    ExprUnary visit_expr_unary syn::ExprUnary,
    ExprUnsafe visit_expr_unsafe syn::ExprUnsafe,
    ExprWhile visit_expr_while syn::ExprWhile,
    ExprYield visit_expr_yield syn::ExprYield => all,
    Field visit_field syn::Field,
    FieldPat visit_field_pat syn::FieldPat,
    FieldValue visit_field_value syn::FieldValue,
    FieldsNamed visit_fields_named syn::FieldsNamed,
    FieldsUnnamed visit_fields_unnamed syn::FieldsUnnamed,
    FnPtrVariadic visit_fn_ptr_variadic syn::FnPtrVariadic => all,
    ForeignItemFn visit_foreign_item_fn syn::ForeignItemFn,
    ForeignItemMacro visit_foreign_item_macro syn::ForeignItemMacro => all,
    ForeignItemType visit_foreign_item_type syn::ForeignItemType => all,
    Ident visit_ident proc_macro2::Ident,
    ImplItemConst visit_impl_item_const syn::ImplItemConst => all,
    ImplItemFn visit_impl_item_fn syn::ImplItemFn,
    ImplItemMacro visit_impl_item_macro syn::ImplItemMacro => all,
    ImplItemType visit_impl_item_type syn::ImplItemType => all,
    Index visit_index syn::Index,
    ItemConst visit_item_const syn::ItemConst,
    ItemEnum visit_item_enum syn::ItemEnum,
    ItemExternCrate visit_item_extern_crate syn::ItemExternCrate => all,
    ItemFn visit_item_fn syn::ItemFn,
    ItemForeignMod visit_item_foreign_mod syn::ItemForeignMod,
    ItemImpl visit_item_impl syn::ItemImpl,
    ItemMacro visit_item_macro syn::ItemMacro,
    ItemMod visit_item_mod syn::ItemMod,
    ItemStatic visit_item_static syn::ItemStatic,
    ItemStruct visit_item_struct syn::ItemStruct,
    ItemTrait visit_item_trait syn::ItemTrait,
    ItemTraitAlias visit_item_trait_alias syn::ItemTraitAlias => all,
    ItemType visit_item_type syn::ItemType,
    ItemUnion visit_item_union syn::ItemUnion => all,
    ItemUse visit_item_use syn::ItemUse,
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
    Local visit_local syn::Local,
    Macro visit_macro syn::Macro => path,
    MetaList visit_meta_list syn::MetaList => path,
    MetaNameValue visit_meta_name_value syn::MetaNameValue,
    NamedArg visit_named_arg syn::NamedArg => all,
    PatIdent visit_pat_ident syn::PatIdent,
    PatOr visit_pat_or syn::PatOr,
    PatParen visit_pat_paren syn::PatParen,
    PatReference visit_pat_reference syn::PatReference,
    PatRest visit_pat_rest syn::PatRest,
    PatSlice visit_pat_slice syn::PatSlice,
    PatStruct visit_pat_struct syn::PatStruct,
    PatTuple visit_pat_tuple syn::PatTuple,
    PatTupleStruct visit_pat_tuple_struct syn::PatTupleStruct,
    PatType visit_pat_type syn::PatType,
    PatWild visit_pat_wild syn::PatWild,
    Path visit_path syn::Path,
    PathSegment visit_path_segment syn::PathSegment,
    PreciseCapture visit_precise_capture syn::PreciseCapture => all,
    PredicateLifetime visit_predicate_lifetime syn::PredicateLifetime,
    PredicateType visit_predicate_type syn::PredicateType,
    RangeLimits visit_range_limits syn::RangeLimits,
    Receiver visit_receiver syn::Receiver,
    Signature visit_signature syn::Signature,
    StmtMacro visit_stmt_macro syn::StmtMacro,
    TraitBound visit_trait_bound syn::TraitBound,
    TraitItemConst visit_trait_item_const syn::TraitItemConst => all,
    TraitItemFn visit_trait_item_fn syn::TraitItemFn,
    TraitItemMacro visit_trait_item_macro syn::TraitItemMacro => all,
    TraitItemType visit_trait_item_type syn::TraitItemType => all,
    TypeArray visit_type_array syn::TypeArray,
    TypeFnPtr visit_type_fn_ptr syn::TypeFnPtr,
    TypeGroup visit_type_group syn::TypeGroup,
    TypeImplTrait visit_type_impl_trait syn::TypeImplTrait,
    TypeInfer visit_type_infer syn::TypeInfer,
    TypeMacro visit_type_macro syn::TypeMacro,
    TypeNever visit_type_never syn::TypeNever,
    TypeParam visit_type_param syn::TypeParam,
    TypeParen visit_type_paren syn::TypeParen,
    TypePath visit_type_path syn::TypePath,
    TypePtr visit_type_ptr syn::TypePtr,
    TypeReference visit_type_reference syn::TypeReference,
    TypeSlice visit_type_slice syn::TypeSlice,
    TypeTraitObject visit_type_trait_object syn::TypeTraitObject,
    TypeTuple visit_type_tuple syn::TypeTuple,
    UnOp visit_un_op syn::UnOp,
    UseGlob visit_use_glob syn::UseGlob,
    UseGroup visit_use_group syn::UseGroup,
    UseName visit_use_name syn::UseName,
    UsePath visit_use_path syn::UsePath,
    UseRename visit_use_rename syn::UseRename,
    Variadic visit_variadic syn::Variadic => all,
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
        syn::parse2(stream).map_err(|error| syntax(error.span(), error.to_string()))?;
    let mut walk = Walk {
        // About as many as most texts have.
        builder: Builder::with_capacity(text.len() / 4),
        places,
    };
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    walk.builder.enter(FILE, 0, end);
    visit::visit_file(&mut walk, &file);
    walk.builder.leave();
    let mut tensors = walk.builder.finish(text, Tokens::new(text, base));
    tensors.root_is_file(text);
    Ok(tensors)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use proc_macro2::TokenTree;

    use super::*;
    use crate::build::Token;

    /// The same nodes, each where all of its tokens together say that it is.
    pub(super) struct Oracle<'t> {
        builder: Builder,
        places: Places<'t>,
    }

    impl Oracle<'_> {
        fn place(&self, span: Span) -> Option<Token> {
            let start = self.places.byte(span.start())?;
            let end = self.places.byte(span.end())?;
            let told = span.byte_range();
            let base = self.places.base;
            assert_eq!(
                told.start + base..told.end + base,
                start as usize..end as usize
            );
            (start < end).then_some(Token { start, end })
        }

        pub(super) fn enter(&mut self, kind: RustKind, span: Span) -> bool {
            let place = self.place(span);
            if let Some(Token { start, end }) = place {
                self.builder.enter(FILE + 1 + kind as u32, start, end);
            }
            place.is_some()
        }

        pub(super) fn leave(&mut self, is_node: bool) {
            if is_node {
                self.builder.leave();
            }
        }

        /// The parser's own tokens in order, brackets among them. A comment of documentation is several in one place.
        fn flatten(&self, stream: TokenStream, to: &mut Vec<Token>) {
            let add = |span: Span, to: &mut Vec<Token>| {
                let after = to.last().map_or(0, |last: &Token| last.end);
                to.extend(self.place(span).filter(|place| place.start >= after));
            };
            for tree in stream {
                match tree {
                    TokenTree::Group(group) => {
                        add(group.span_open(), to);
                        self.flatten(group.stream(), to);
                        add(group.span_close(), to);
                    }
                    tree => add(tree.span(), to),
                }
            }
        }
    }

    /// Judges a text's arrays. False for one that the parser does not take.
    fn is_as_all_tokens_say(text: &str, name: &str) -> bool {
        let Ok(tensors) = parse(text) else {
            return false;
        };
        let base = preamble(text);
        let places = Places::new(text, base);
        let stream: TokenStream = places.code.parse().unwrap();
        let file: syn::File = syn::parse2(stream.clone()).unwrap();
        let mut oracle = Oracle {
            builder: Builder::with_capacity(0),
            places,
        };
        oracle
            .builder
            .enter(FILE, 0, u32::try_from(text.len()).unwrap());
        oracle.visit_file(&file);
        oracle.builder.leave();
        let mut tokens = Vec::new();
        oracle.flatten(stream, &mut tokens);
        for (ours, theirs) in Tokens::new(text, base).zip(&tokens) {
            let of = |token: &Token| &text[token.start as usize..token.end as usize];
            assert_eq!(&ours, theirs, "{name}: {:?} {:?}", of(&ours), of(theirs));
        }
        assert_eq!(Tokens::new(text, base).count(), tokens.len(), "{name}");
        let mut wanted = oracle.builder.finish(text, tokens);
        wanted.root_is_file(text);
        for node in 0..wanted.len().min(tensors.len()) {
            let told = |of: &AstTensors| {
                let kind = of.kinds[node];
                (
                    crate::kind_name(kind),
                    of.range(node).and_then(|range| text.get(range)),
                )
            };
            assert_eq!(told(&tensors), told(&wanted), "{name}: node {node}");
        }
        assert!(tensors == wanted, "{name}");
        proc_macro2::extra::invalidate_current_thread_spans();
        true
    }

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

    fn sources(folder: &Path, to: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, to);
            } else if path.extension().is_some_and(|end| end == "rs") {
                to.push(path);
            }
        }
    }

    /// `COALESCE_AST_TREES` names a folder to judge instead: a registry's sources, for example.
    #[test]
    fn nodes_and_tokens_are_where_all_tokens_say() {
        assert!(is_as_all_tokens_say(ODD, "odd"));
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut files = Vec::new();
        match std::env::var_os("COALESCE_AST_TREES") {
            Some(folder) => sources(Path::new(&folder), &mut files),
            None => [
                "gpu-ast/src",
                "core-gpu-memory/src/pool",
                "core-gpu/src/workers",
            ]
            .iter()
            .for_each(|folder| sources(&crates.join(folder), &mut files)),
        }
        let judged = files.iter().filter(|path| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let depth = crate::depth::check(&text);
            depth.is_ok_and(|depth| depth < 1_000)
                && is_as_all_tokens_say(&text, &path.display().to_string())
        });
        let judged = judged.count();
        println!("{judged} of {} files judged", files.len());
        assert!(judged > 20);
    }
}
