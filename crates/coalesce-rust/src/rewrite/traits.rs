//! Which traits of an old parent the methods of moved code may need.
//!
//! A method call names no trait, so this goes by names: a trait counts as needed where one of its
//! methods is named behind a dot or a `::`. Traits of this tree and of the standard library are
//! known by their methods. Of other crates nothing is known; there a name counts as a trait where
//! the old parent uses it as a bound or does not name it at all.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Texts};
use syn::visit::Visit;

use crate::{
    facts::{ItemKind, PathFact},
    lexer::{self, Token, TokenKind},
    resolve::{ItemId, ModuleId, Res, World},
};

/// Traits of the standard library that no prelude of all editions has, with their methods.
const STANDARD: &[(&str, &str)] = &[
    ("Add", "add"),
    ("Any", "type_id"),
    ("AsFd", "as_fd"),
    ("AsHandle", "as_handle"),
    ("AsRawFd", "as_raw_fd"),
    ("AsRawHandle", "as_raw_handle"),
    ("AsRawSocket", "as_raw_socket"),
    ("AsSocket", "as_socket"),
    ("BitAnd", "bitand"),
    ("BitOr", "bitor"),
    ("BitXor", "bitxor"),
    ("Borrow", "borrow"),
    ("BorrowMut", "borrow_mut"),
    (
        "BufRead",
        "fill_buf consume read_until read_line lines split",
    ),
    ("BuildHasher", "build_hasher hash_one"),
    ("Debug", "fmt"),
    ("Deref", "deref"),
    ("DerefMut", "deref_mut"),
    ("Display", "fmt"),
    ("Div", "div"),
    ("Error", "source description cause"),
    ("FromIterator", "from_iter"),
    ("FromRawFd", "from_raw_fd"),
    ("FromRawHandle", "from_raw_handle"),
    ("FromRawSocket", "from_raw_socket"),
    ("FromStr", "from_str"),
    ("Future", "poll"),
    ("GlobalAlloc", "alloc dealloc alloc_zeroed realloc"),
    ("Hash", "hash hash_slice"),
    (
        "Hasher",
        "finish write write_u8 write_u16 write_u32 write_u64 write_u128 write_usize write_i8 \
         write_i16 write_i32 write_i64 write_i128 write_isize",
    ),
    ("Index", "index"),
    ("IndexMut", "index_mut"),
    ("IntoFuture", "into_future"),
    ("IntoRawFd", "into_raw_fd"),
    ("IntoRawHandle", "into_raw_handle"),
    ("IntoRawSocket", "into_raw_socket"),
    ("Mul", "mul"),
    ("Neg", "neg"),
    ("Not", "not"),
    ("RangeBounds", "start_bound end_bound contains"),
    (
        "Read",
        "read read_vectored read_to_end read_to_string read_exact by_ref bytes chain take",
    ),
    ("Rem", "rem"),
    ("Seek", "seek rewind stream_position seek_relative"),
    ("Shl", "shl"),
    ("Shr", "shr"),
    ("Sub", "sub"),
    ("ToOwned", "to_owned clone_into"),
    ("ToSocketAddrs", "to_socket_addrs"),
    ("ToString", "to_string"),
    ("TryFrom", "try_from"),
    ("TryInto", "try_into"),
    ("Wake", "wake wake_by_ref"),
    (
        "Write",
        "write write_vectored write_all write_fmt write_str write_char flush by_ref",
    ),
];

/// Traits of crates that many use, with their methods, as those crates document them.
const KNOWN: &[(&str, &str)] = &[
    ("anyhow::Context", "context with_context"),
    (
        "bytes::Buf",
        "advance chunk copy_to_slice get_u8 has_remaining remaining",
    ),
    ("bytes::BufMut", "put put_slice put_u8 remaining_mut"),
    ("num_traits::Bounded", "min_value max_value"),
    (
        "num_traits::FromPrimitive",
        "from_f32 from_f64 from_i16 from_i32 from_i64 from_i8 from_isize from_u16 from_u32 from_u64 \
         from_u8 from_usize",
    ),
    ("num_traits::NumCast", "from"),
    ("num_traits::One", "one is_one set_one"),
    (
        "num_traits::Signed",
        "abs abs_sub is_negative is_positive signum",
    ),
    (
        "num_traits::ToPrimitive",
        "to_f32 to_f64 to_i16 to_i32 to_i64 to_i8 to_isize to_u16 to_u32 to_u64 to_u8 to_usize",
    ),
    ("num_traits::Zero", "zero is_zero set_zero"),
    ("serde::Deserialize", "deserialize"),
    ("serde::Serialize", "serialize"),
    ("sha2::Digest", "chain_update digest finalize reset update"),
];

/// Names that code says where a method may be named.
pub(crate) fn method_names(text: &str, span: ByteSpan) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut before = (false, false);
    for token in lexer::tokens(text, span) {
        if token.is_ident() {
            let word = token.span.of(text).unwrap_or_default();
            let word = word.strip_prefix("r#").unwrap_or(word);
            // `write!` calls `write_fmt`.
            if matches!(word, "write" | "writeln") {
                found.insert("write_fmt".to_owned());
            }
            if before.0 {
                found.insert(word.to_owned());
            }
        }
        let colon = token.is(b':');
        before = (token.is(b'.') || (colon && before.1), colon);
    }
    found
}

/// Whether code needs a trait in scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Demand {
    No,
    /// It calls a method of that name, which types have by themselves as well, or nobody knows the
    /// methods of the trait.
    Perhaps,
    Yes,
}

impl Demand {
    fn of<'m>(own: impl IntoIterator<Item = &'m str>, methods: &BTreeSet<String>) -> Self {
        let called = own.into_iter().filter(|own| methods.contains(*own));
        let demand = called.map(|own| match INHERENT.binary_search(&own) {
            Ok(_) => Self::Perhaps,
            Err(_) => Self::Yes,
        });
        demand.max().unwrap_or(Self::No)
    }
}

/// Methods of traits that types of the standard library have by themselves, too.
const INHERENT: &[&str] = &[
    "abs",
    "add",
    "advance",
    "all",
    "alloc",
    "any",
    "append",
    "as_ptr",
    "as_ref",
    "as_slice",
    "as_str",
    "borrow",
    "borrow_mut",
    "by_ref",
    "bytes",
    "ceil",
    "chain",
    "clear",
    "cmp",
    "contains",
    "contains_key",
    "count",
    "default",
    "drain",
    "eq",
    "extend",
    "filter",
    "find",
    "first",
    "flatten",
    "floor",
    "flush",
    "fmt",
    "fold",
    "get",
    "get_mut",
    "hash",
    "index",
    "insert",
    "into_iter",
    "is_empty",
    "is_negative",
    "is_positive",
    "iter",
    "iter_mut",
    "join",
    "keys",
    "last",
    "len",
    "lines",
    "lock",
    "map",
    "max",
    "max_value",
    "min",
    "min_value",
    "mul_add",
    "neg",
    "new",
    "next",
    "not",
    "pop",
    "pow",
    "powf",
    "powi",
    "push",
    "read",
    "recv",
    "remove",
    "replace",
    "reset",
    "resize",
    "retain",
    "reverse",
    "round",
    "send",
    "set",
    "signum",
    "sort",
    "split",
    "sqrt",
    "starts_with",
    "sub",
    "swap",
    "take",
    "then",
    "to_owned",
    "to_string",
    "type_id",
    "unwrap",
    "update",
    "values",
    "with",
    "write",
    "write_fmt",
    "zip",
];

/// Whether methods with these names may be of the trait that `res` is, if it is one; `usage` says
/// whether a name from elsewhere is used as traits are.
pub(super) fn is_needed(
    world: &World,
    name: &str,
    res: Res,
    methods: &BTreeSet<String>,
    texts: &dyn Texts,
    usage: &dyn Fn(&str) -> bool,
) -> bool {
    demand(world, (name, res), methods, texts, usage) != Demand::No
}

/// How much speaks for it that methods with these names are of the trait that `res` is.
pub(super) fn demand(
    world: &World,
    (name, res): (&str, Res),
    methods: &BTreeSet<String>,
    texts: &dyn Texts,
    usage: &dyn Fn(&str) -> bool,
) -> Demand {
    match res {
        Res::Item(item) => {
            let kind = world.items.get(item.index()).map(|item| item.kind);
            if kind != Some(ItemKind::Trait) {
                return Demand::No;
            }
            let own = world
                .trait_members
                .of(item, || methods_of(world, item, texts));
            own.map_or(Demand::Perhaps, |own| {
                Demand::of(own.iter().map(String::as_str), methods)
            })
        }
        Res::External(full) => {
            let full = world.names.text(full).to_string();
            let mut parts = full.split("::");
            let first = parts.next().unwrap_or_default();
            let last = parts.last().unwrap_or_default();
            if matches!(first, "std" | "core" | "alloc") {
                standard_demand(last, methods)
            } else if let Some((_, own)) = KNOWN.iter().find(|(known, _)| *known == full) {
                Demand::of(own.split(' '), methods)
            } else if (calls_unknown(methods) && usage(name))
                // `Zero::zero`: a trait is often called like its one method.
                || methods.contains(&snake(last))
            {
                Demand::Perhaps
            } else {
                Demand::No
            }
        }
        _ => Demand::No,
    }
}

/// Whether code calls methods that types of the standard library do not have anyway.
fn calls_unknown(methods: &BTreeSet<String>) -> bool {
    let mut methods = methods.iter();
    methods.any(|name| ORDINARY.binary_search(&name.as_str()).is_err())
}

/// Methods of numbers, texts, slices, options and results, which nobody gives them by a trait.
const ORDINARY: &[&str] = &[
    "abs_diff",
    "and_then",
    "as_bytes",
    "as_mut",
    "as_mut_slice",
    "as_ptr",
    "as_ref",
    "as_slice",
    "as_str",
    "checked_add",
    "checked_div",
    "checked_mul",
    "checked_sub",
    "clone",
    "cloned",
    "copied",
    "copy_from_slice",
    "count_ones",
    "div_ceil",
    "ends_with",
    "expect",
    "expect_err",
    "fetch_add",
    "fetch_sub",
    "fill",
    "fmt",
    "get",
    "get_mut",
    "insert",
    "into",
    "into_iter",
    "is_char_boundary",
    "is_empty",
    "is_err",
    "is_none",
    "is_ok",
    "is_power_of_two",
    "is_some",
    "iter",
    "iter_mut",
    "leading_zeros",
    "len",
    "map_err",
    "next_power_of_two",
    "ok",
    "ok_or",
    "ok_or_else",
    "overflowing_add",
    "pop",
    "pow",
    "push",
    "push_str",
    "rotate_left",
    "rotate_right",
    "saturating_add",
    "saturating_mul",
    "saturating_sub",
    "split_at",
    "split_at_mut",
    "split_first",
    "starts_with",
    "swap",
    "to_be_bytes",
    "to_bits",
    "to_le_bytes",
    "to_lowercase",
    "to_owned",
    "to_string",
    "to_uppercase",
    "to_vec",
    "trailing_zeros",
    "trim",
    "try_into",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
    "wrapping_add",
    "wrapping_mul",
    "wrapping_neg",
    "wrapping_sub",
];

/// The name of a type as a function would be called.
fn snake(name: &str) -> String {
    let mut found = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !found.is_empty() {
            found.push('_');
        }
        found.extend(letter.to_lowercase());
    }
    found
}

fn standard_demand(name: &str, methods: &BTreeSet<String>) -> Demand {
    // Extension traits of systems: `MetadataExt`, `OsStrExt`.
    if name.ends_with("Ext") {
        return Demand::Perhaps;
    }
    let known = STANDARD.binary_search_by_key(&name, |(name, _)| name);
    let known = known.ok().and_then(|at| STANDARD.get(at));
    known.map_or(Demand::No, |(_, own)| Demand::of(own.split(' '), methods))
}

/// The names of the functions of a trait; `None` where its text does not tell.
fn methods_of(world: &World, item: ItemId, texts: &dyn Texts) -> Option<Vec<String>> {
    // Methods of traits above come with the traits' own names in scope.
    read(world, item, texts).map(|(methods, _)| methods)
}

/// The names of the functions and constants of a trait, and of the traits above it.
pub(super) fn read(
    world: &World,
    item: ItemId,
    texts: &dyn Texts,
) -> Option<(Vec<String>, Vec<String>)> {
    let (file, at) = *world.items.get(item.index())?.definitions.first()?;
    let facts = world.facts(file)?;
    let fact = facts.items.get(at as usize)?;
    let text = texts.text(&world.files.get(file.index())?.path)?;
    let Ok(item) = syn::parse_str::<syn::ItemTrait>(fact.span.of(&text)?) else {
        return read_tokens(&text, fact.name.span);
    };
    let names = item.items.iter().filter_map(|item| match item {
        syn::TraitItem::Fn(function) => Some(function.sig.ident.to_string()),
        syn::TraitItem::Const(constant) => Some(constant.ident.to_string()),
        _ => None,
    });
    let above = item.supertraits.iter().filter_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => bound.path.segments.last(),
        _ => None,
    });
    let above = above.map(|last| last.ident.to_string());
    Some((names.collect(), above.collect()))
}

/// The same of a trait that stands in a macro call, which no parser reads; `None` where it has no
/// braces.
fn read_tokens(text: &str, name: ByteSpan) -> Option<(Vec<String>, Vec<String>)> {
    let rest = ByteSpan::new(name.end, ByteSpan::from_range(0..text.len()).end);
    let tokens = lexer::tokens(text, rest);
    let word = |token: &Token| token.span.of(text).unwrap_or_default().to_owned();
    let open = tokens
        .iter()
        .position(|token| matches!(token.kind, TokenKind::Open(b'{')) || token.is(b';'));
    let open = open.filter(|at| tokens.get(*at).is_some_and(|token| !token.is(b';')))?;
    let (head, body) = tokens.split_at(open);
    let bounds = head.iter().skip(1).map(word);
    let bounds = bounds.take_while(|word| word != "where");
    let bounded = head.first().is_some_and(|first| first.is(b':'));
    let above = bounds.filter(|word| bounded && word.starts_with(char::is_alphabetic));
    let mut depth = 0_usize;
    let inside = body.iter().take_while(|token| {
        match token.kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0
    });
    let inside: Vec<String> = inside.map(word).collect();
    let methods = inside.windows(2).filter_map(|pair| match pair {
        [keyword, name] if matches!(keyword.as_str(), "fn" | "const") => Some(name.clone()),
        _ => None,
    });
    Some((methods.collect(), above.collect()))
}

/// The methods of a trait of another crate that is known by heart.
pub(super) fn outside_methods(world: &World, res: Res) -> Vec<String> {
    let Res::External(full) = res else {
        return Vec::new();
    };
    let full = world.names.text(full).to_string();
    let standard = ["std::", "core::", "alloc::"];
    let last = full.rsplit("::").next().unwrap_or_default();
    let own = if standard.iter().any(|start| full.starts_with(start)) {
        STANDARD.iter().find(|(name, _)| *name == last)
    } else {
        KNOWN.iter().find(|(name, _)| *name == full)
    };
    let own = own.map_or("", |(_, own)| own).split(' ');
    own.map(str::to_owned).collect()
}

/// How a module uses the names that it imports from elsewhere. Read once for all of them.
pub(super) struct Usage {
    /// Names of bounds, and of traits before `for` in an `impl`.
    bounds: BTreeSet<String>,
    /// Names that paths start with.
    named: BTreeSet<String>,
}

impl Usage {
    /// Reads the files of a module.
    pub fn of(world: &World, module: ModuleId, texts: &dyn Texts) -> Self {
        let mut found = Self {
            bounds: BTreeSet::new(),
            named: BTreeSet::new(),
        };
        let bodies = world.module(module).map_or(&[][..], |node| &node.bodies);
        for body in bodies
            .iter()
            .filter_map(|body| world.bodies.get(body.index()))
        {
            let (Some(facts), Some(file)) =
                (world.facts(body.file), world.files.get(body.file.index()))
            else {
                continue;
            };
            let first = |path: &PathFact| {
                let first = facts.segments(path.segments).first();
                first.map(|first| facts.name(first.name).to_owned())
            };
            found.named.extend(facts.paths.iter().filter_map(first));
            let parsed = texts
                .text(&file.path)
                .and_then(|text| syn::parse_file(&text).ok());
            if let Some(parsed) = parsed {
                Bounds(&mut found.bounds).visit_file(&parsed);
            }
            proc_macro2::extra::invalidate_current_thread_spans();
        }
        found
    }

    /// Whether a name is used as traits are.
    pub fn looks_like_trait(&self, name: &str) -> bool {
        (name == "_" || name.starts_with(char::is_uppercase))
            && (self.bounds.contains(name) || !self.named.contains(name))
    }
}

/// Collects names of bounds, and of traits before `for` in an `impl`.
struct Bounds<'f>(&'f mut BTreeSet<String>);

impl<'ast> Visit<'ast> for Bounds<'_> {
    fn visit_trait_bound(&mut self, bound: &'ast syn::TraitBound) {
        self.0
            .extend(bound.path.get_ident().map(syn::Ident::to_string));
        syn::visit::visit_trait_bound(self, bound);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let last = item
            .trait_
            .as_ref()
            .and_then(|(path, _)| path.segments.last());
        self.0.extend(last.map(|last| last.ident.to_string()));
        syn::visit::visit_item_impl(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_in_macros_are_read_by_their_tokens() {
        for (text, expected) in [
            (
                "template! { pub trait A : B + c::C<D> where X: Y { fn one(self: &Self); fn two() { fn three() {} } } }",
                Some((vec!["one", "two", "three"], vec!["B", "c", "C", "D"])),
            ),
            (
                "template! { trait A { const N: u8; } fn after() {} }",
                Some((vec!["N"], vec![])),
            ),
            ("template! { trait A = B; }", None),
        ] {
            let at = text.find('A').unwrap();
            let found = read_tokens(text, ByteSpan::from_range(at..at + 1));
            let expected = expected.map(|(methods, above): (Vec<&str>, Vec<&str>)| {
                let owned =
                    |all: Vec<&str>| all.into_iter().map(str::to_owned).collect::<Vec<String>>();
                (owned(methods), owned(above))
            });
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(STANDARD.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(INHERENT.is_sorted());
        assert!(ORDINARY.is_sorted());
    }

    #[test]
    fn methods_are_named_behind_dots_and_colons() {
        let text = "fn f() { a.to_string(); String::from_str(b); writeln!(c); let d: E; }";
        let span = ByteSpan::new(0, u32::try_from(text.len()).unwrap());
        let found = method_names(text, span);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, ["from_str", "to_string", "write_fmt"]);
    }
}
