//! Types as what their names lead to, and whether what fits one fits another one.

use std::collections::BTreeMap;

use coalesce_model::ByteSpan;
use syn::spanned::Spanned as _;

use super::names::{FileNames, Names};
use crate::{
    facts::ItemKind,
    lexer,
    resolve::{ItemId, ModuleId, Res},
    syntax,
};

/// Aliases of aliases that are followed.
const DEEPEST: usize = 8;

/// What the prelude brings, each with its one meaning.
const PRELUDE: [(&str, &str); 5] = [
    ("Box", "std::boxed::Box"),
    ("Option", "std::option::Option"),
    ("Result", "std::result::Result"),
    ("String", "std::string::String"),
    ("Vec", "std::vec::Vec"),
];

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// A type of the tree.
    Item(ItemId, Vec<Self>),
    /// A type from elsewhere, by its full name.
    Outside(String, Vec<Self>),
    /// A parameter of the definition, by its place among those.
    Parameter(usize),
    /// `&T` and `&mut T`
    Reference { is_mut: bool, to: Box<Self> },
    /// `*const T` and `*mut T`
    Pointer { is_mut: bool, to: Box<Self> },
    /// `[T]`
    Slice(Box<Self>),
    /// `[T; N]`
    Array(Box<Self>, String),
    /// `(A, B)`
    Tuple(Vec<Self>),
    /// `!`
    Never,
    /// Anything else, as it is written: `impl Trait`, `dyn Trait`, a type of a trait, a macro.
    Other(String),
}

/// Whether what fits one type fits another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fits {
    /// It does.
    Yes,
    /// That cannot be told from the names alone.
    Unknown,
    /// It does not.
    No,
}

/// Whether there are types that two of these both are, for some arguments of their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Meeting {
    Never,
    /// Bounds of a parameter, or an alias that is not followed, may forbid it.
    Perhaps,
    Always,
}

impl Fits {
    pub const fn of(same: bool) -> Self {
        if same { Self::Yes } else { Self::No }
    }
}

/// Reads the types of one definition.
pub(super) struct Reader<'r, 'n> {
    pub names: &'r Names<'n>,
    pub file: &'r FileNames,
    pub module: ModuleId,
    /// Where the parsed text starts in the file.
    pub start: u32,
    /// What `Self` is.
    pub own: Option<ItemId>,
    /// The parameters of the definition and of what is around it.
    pub parameters: Vec<String>,
    /// Items that give way, each with the one in its place.
    pub pairs: &'r BTreeMap<ItemId, ItemId>,
    pub depth: usize,
}

impl Reader<'_, '_> {
    pub fn read(&self, kind: &syn::Type) -> Type {
        match kind {
            syn::Type::Path(path) if path.qself.is_none() => self.path(&path.path),
            syn::Type::Reference(reference) => Type::Reference {
                is_mut: reference.mutability.is_some(),
                to: Box::new(self.read(&reference.elem)),
            },
            syn::Type::Slice(slice) => Type::Slice(Box::new(self.read(&slice.elem))),
            syn::Type::Array(array) => Type::Array(
                Box::new(self.read(&array.elem)),
                self.written(array.len.span()),
            ),
            syn::Type::Tuple(tuple) => {
                Type::Tuple(tuple.elems.iter().map(|part| self.read(part)).collect())
            }
            syn::Type::Never(_) => Type::Never,
            syn::Type::Paren(inner) => self.read(&inner.elem),
            syn::Type::Group(inner) => self.read(&inner.elem),
            syn::Type::Ptr(pointer) => {
                let written = self.written(pointer.span());
                Type::Pointer {
                    is_mut: written.starts_with("* mut") || written.starts_with("*mut"),
                    to: Box::new(self.read(&pointer.elem)),
                }
            }
            other => Type::Other(self.meant(other.span())),
        }
    }

    /// The words of a span, each that leads to one thing by the full name of that, parameters by their places, and no
    /// modules before them: `dyn Trait` of two traits is two types, `impl fmt::Display` and `impl Display` may be one.
    pub fn meant(&self, span: proc_macro2::Span) -> String {
        let text = &self.file.text;
        let tokens = lexer::tokens(text, self.place(span));
        let mut words: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let next = tokens.get(at + 3).filter(|next| {
                let colons = tokens.get(at + 1..at + 3).unwrap_or_default();
                colons.iter().all(|one| one.is(b':')) && token.is_ident() && next.is_ident()
            });
            let place = (self.file, self.module);
            if next.is_some_and(|next| self.names.is_way_to(place, token.span, next.span)) {
                at += 3;
                continue;
            }
            words.push(self.meant_by(token));
            at += 1;
        }
        words.join(" ")
    }

    /// What one word means.
    fn meant_by(&self, token: &lexer::Token) -> String {
        let word = token.span.of(&self.file.text).unwrap_or_default();
        let own = || word.to_owned();
        if !token.is_ident() {
            return own();
        }
        if let Some(at) = self.parameters.iter().position(|known| known == word) {
            return format!("#{at}");
        }
        let led = self.names.leads_to(self.file, self.module, token.span);
        let mut led = led
            .into_iter()
            .filter(|res| matches!(res, Res::Item(_) | Res::External(_)));
        match (led.next(), led.next()) {
            (Some(Res::Item(item)), None) => self.names.name_of(Res::Item(self.after(item))),
            (Some(res), None) => outside(&self.names.name_of(res)),
            _ => own(),
        }
    }

    /// The text of a span, its words parted by single spaces.
    fn written(&self, span: proc_macro2::Span) -> String {
        let text = self.place(span).of(&self.file.text).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn place(&self, span: proc_macro2::Span) -> ByteSpan {
        let range = span.byte_range();
        let start = self.start as usize;
        ByteSpan::from_range(start + range.start..start + range.end)
    }

    pub fn path(&self, path: &syn::Path) -> Type {
        let Some(last) = path.segments.last() else {
            return Type::Other(String::new());
        };
        let name = last.ident.to_string();
        let single = path.segments.len() == 1;
        if single && let Some(at) = self.parameters.iter().position(|known| *known == name) {
            return Type::Parameter(at);
        }
        if single && name == "Self" {
            return match self.own {
                Some(own) => Type::Item(self.after(own), Vec::new()),
                None => Type::Other(name),
            };
        }
        let arguments = match &last.arguments {
            syn::PathArguments::None => Vec::new(),
            syn::PathArguments::AngleBracketed(list) => self.arguments(list),
            syn::PathArguments::Parenthesized(_) => {
                return Type::Other(self.meant(path.span()));
            }
        };
        let found = self
            .names
            .leads_to(self.file, self.module, self.place(last.ident.span()));
        let mut found = found
            .into_iter()
            .filter(|res| !matches!(res, Res::Module(_)));
        match (found.next(), found.next()) {
            (Some(Res::Item(item)), None) => self.item(item, arguments),
            (Some(Res::External(_)), None) => {
                let full = self.outside_name(path).unwrap_or(name);
                Type::Outside(outside(&full), arguments)
            }
            // A name of the language or its prelude.
            (None, _) if single => Type::Outside(outside(&name), arguments),
            _ => Type::Other(self.meant(path.span())),
        }
    }

    /// The full name of a path that leads out of the tree: below the step that does, nothing is read.
    fn outside_name(&self, path: &syn::Path) -> Option<String> {
        let mut rest = path.segments.iter();
        let root = rest.find_map(|step| {
            let place = self.place(step.ident.span());
            let led = self.names.leads_to(self.file, self.module, place);
            let out = |res: Res| matches!(res, Res::External(_)).then(|| self.names.name_of(res));
            led.into_iter().find_map(out)
        })?;
        Some(rest.fold(root, |name, step| format!("{name}::{}", step.ident)))
    }

    /// Types and constants; lifetimes are left to the compiler.
    fn arguments(&self, list: &syn::AngleBracketedGenericArguments) -> Vec<Type> {
        let one = |argument: &syn::GenericArgument| match argument {
            syn::GenericArgument::Lifetime(_) => None,
            syn::GenericArgument::Type(kind) => Some(self.read(kind)),
            other => Some(Type::Other(self.written(other.span()))),
        };
        list.args.iter().filter_map(one).collect()
    }

    fn after(&self, item: ItemId) -> ItemId {
        self.pairs.get(&item).copied().unwrap_or(item)
    }

    /// A type of the tree; an alias is what it stands for, as far as that can be put together with what it is given.
    fn item(&self, item: ItemId, arguments: Vec<Type>) -> Type {
        let item = self.after(item);
        let is_alias = self.names.world[item].kind == ItemKind::TypeAlias;
        let meant = (is_alias && self.depth < DEEPEST).then(|| self.aliased(item, &arguments));
        meant.flatten().unwrap_or(Type::Item(item, arguments))
    }

    /// What an alias stands for with these arguments. Lifetimes and constants are not followed.
    fn aliased(&self, item: ItemId, arguments: &[Type]) -> Option<Type> {
        let _trees = syntax::Trees::begin();
        let (file, fact) = self.names.definition(item)?;
        let names = self.names.file(file)?;
        let code = fact.span.of(&names.text)?;
        let syn::Item::Type(parsed) = syntax::parse(code).ok()? else {
            return None;
        };
        let types: Vec<&syn::TypeParam> = parsed.generics.type_params().collect();
        if types.len() != parsed.generics.params.len() || arguments.len() > types.len() {
            return None;
        }
        let parameters: Vec<String> = types.iter().map(|one| one.ident.to_string()).collect();
        let reader = Reader {
            names: self.names,
            file: &names,
            module: self.names.world[item].module,
            start: fact.span.start,
            own: None,
            parameters: parameters.clone(),
            pairs: self.pairs,
            depth: self.depth + 1,
        };
        let mut given = arguments.to_vec();
        for parameter in types.iter().skip(arguments.len()) {
            let (_, default) = parameter.default.as_ref()?;
            let default = reader.read(default).with(&parameters, &given)?;
            given.push(default);
        }
        reader.read(&parsed.ty).with(&parameters, &given)
    }
}

/// The full name of what comes from elsewhere, in one spelling.
fn outside(name: &str) -> String {
    let prelude = PRELUDE.iter().find(|(short, _)| *short == name);
    if let Some((_, full)) = prelude {
        return (*full).to_owned();
    }
    let rest = ["core::", "alloc::"]
        .iter()
        .find_map(|root| name.strip_prefix(root));
    rest.map_or_else(|| name.to_owned(), |rest| format!("std::{rest}"))
}

impl Type {
    /// A type of which the parameters are these types; `None` where one of them stands in what is kept as text.
    fn with(self, parameters: &[String], given: &[Self]) -> Option<Self> {
        let one = |kind: Box<Self>| kind.with(parameters, given).map(Box::new);
        let all = |kinds: Vec<Self>| -> Option<Vec<Self>> {
            let kinds = kinds.into_iter();
            kinds.map(|kind| kind.with(parameters, given)).collect()
        };
        let says_one = |text: &str| {
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
            let mut words = text.split(|letter| !is_part(letter));
            // A parameter among words of which the names are known stands there by its place.
            text.contains('#') || words.any(|word| parameters.iter().any(|known| known == word))
        };
        Some(match self {
            Self::Parameter(at) => given.get(at)?.clone(),
            Self::Item(item, kinds) => Self::Item(item, all(kinds)?),
            Self::Outside(name, kinds) => Self::Outside(name, all(kinds)?),
            Self::Reference { is_mut, to } => Self::Reference {
                is_mut,
                to: one(to)?,
            },
            Self::Pointer { is_mut, to } => Self::Pointer {
                is_mut,
                to: one(to)?,
            },
            Self::Slice(of) => Self::Slice(one(of)?),
            Self::Array(of, count) if !says_one(&count) => Self::Array(one(of)?, count),
            Self::Tuple(kinds) => Self::Tuple(all(kinds)?),
            Self::Never => Self::Never,
            Self::Other(text) if !says_one(&text) => Self::Other(text),
            Self::Array(..) | Self::Other(_) => return None,
        })
    }

    /// Whether a value of this type can stand where one of `wanted` is asked for.
    pub fn fits(&self, wanted: &Self, names: &Names<'_>) -> Fits {
        match (self, wanted) {
            (Self::Other(old), Self::Other(new)) if old == new => Fits::Yes,
            (Self::Other(_), _) | (_, Self::Other(_)) => Fits::Unknown,
            (Self::Parameter(a), Self::Parameter(b)) => Fits::of(a == b),
            // What is asked for is more general; whether the type has what its bounds ask is another
            // question.
            (_, Self::Parameter(_)) => Fits::Unknown,
            (Self::Never, _) => Fits::Yes,
            (
                Self::Reference { is_mut, to },
                Self::Reference {
                    is_mut: other,
                    to: wanted,
                },
            ) => {
                let by_deref = to.fits(wanted, names);
                if *other && !is_mut {
                    Fits::No
                } else if by_deref == Fits::No && to.lends(wanted, names) {
                    Fits::Unknown
                } else {
                    by_deref
                }
            }
            (
                Self::Pointer { is_mut, to },
                Self::Pointer {
                    is_mut: other,
                    to: wanted,
                },
            ) => {
                let same = if is_mut == other { Fits::Yes } else { Fits::No };
                same.max(to.fits(wanted, names))
            }
            (Self::Slice(old), Self::Slice(new)) => old.fits(new, names),
            (Self::Array(old, count), Self::Array(new, wanted)) => {
                let same = if count == wanted {
                    Fits::Yes
                } else {
                    Fits::Unknown
                };
                same.max(old.fits(new, names))
            }
            (Self::Tuple(old), Self::Tuple(new)) => all(old, new, names),
            (Self::Item(old, a), Self::Item(new, b)) if old == new => all(a, b, names),
            (Self::Outside(old, a), Self::Outside(new, b)) if old == new => all(a, b, names),
            _ if self.may_be_alias_of(wanted, names) => Fits::Unknown,
            _ => Fits::No,
        }
    }

    /// Whether an `impl` for one may be for the other as well.
    pub fn meets(&self, other: &Self, names: &Names<'_>) -> Meeting {
        let to = |one: &Self, other: &Self| one.meets(other, names);
        match (self, other) {
            _ if self == other => Meeting::Always,
            (Self::Parameter(_), Self::Parameter(_)) => Meeting::Always,
            (Self::Parameter(_) | Self::Other(_), _) | (_, Self::Parameter(_) | Self::Other(_)) => {
                Meeting::Perhaps
            }
            (
                Self::Reference { is_mut: a, to: one },
                Self::Reference {
                    is_mut: b,
                    to: other,
                },
            )
            | (
                Self::Pointer { is_mut: a, to: one },
                Self::Pointer {
                    is_mut: b,
                    to: other,
                },
            ) if a == b => to(one, other),
            (Self::Slice(one), Self::Slice(other)) => to(one, other),
            (Self::Array(one, _), Self::Array(other, _)) => to(one, other).min(Meeting::Perhaps),
            (Self::Tuple(one), Self::Tuple(other)) if one.len() != other.len() => Meeting::Never,
            (Self::Tuple(one), Self::Tuple(other)) => all_meet(one, other, names),
            (Self::Item(a, one), Self::Item(b, other)) if a == b => all_meet(one, other, names),
            (Self::Outside(a, one), Self::Outside(b, other)) if a == b => {
                all_meet(one, other, names)
            }
            _ if self.may_be_alias_of(other, names) => Meeting::Perhaps,
            _ => Meeting::Never,
        }
    }

    /// Whether two types of different names may be one.
    fn may_be_alias_of(&self, other: &Self, names: &Names<'_>) -> bool {
        match (self, other) {
            (Self::Item(old, _), Self::Item(new, _)) => [old, new].into_iter().any(|item| {
                let kind = names.world[item].kind;
                let is_type = matches!(kind, ItemKind::Struct | ItemKind::Enum | ItemKind::Union);
                !is_type || names.gone.contains(item)
            }),
            (Self::Outside(old, _), Self::Outside(new, _)) => {
                // One thing may have several paths in a library that is not read, and a type of C is another type's name.
                let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_owned();
                let (old, new) = (last(old), last(new));
                old == new || old.starts_with("c_") || new.starts_with("c_")
            }
            (Self::Item(item, _), _) | (_, Self::Item(item, _)) => {
                let is_alias = names.world[item].kind == ItemKind::TypeAlias;
                is_alias || names.gone.contains(item)
            }
            // A name from elsewhere may be an alias of anything, but for those of the language.
            (Self::Outside(name, _), _) | (_, Self::Outside(name, _)) => {
                name.contains("::") && !name.starts_with("std::")
            }
            _ => false,
        }
    }

    /// The first two types of the tree at one place of both that are not the same.
    pub fn apart(&self, other: &Self) -> Option<(ItemId, ItemId)> {
        let of_lists = |old: &[Self], new: &[Self]| {
            let mut pairs = old.iter().zip(new);
            pairs.find_map(|(old, new)| old.apart(new))
        };
        match (self, other) {
            (Self::Item(old, _), Self::Item(new, _)) if old != new => Some((*old, *new)),
            (Self::Item(_, old), Self::Item(_, new))
            | (Self::Outside(_, old), Self::Outside(_, new))
            | (Self::Tuple(old), Self::Tuple(new)) => of_lists(old, new),
            (Self::Reference { to: old, .. }, Self::Reference { to: new, .. })
            | (Self::Pointer { to: old, .. }, Self::Pointer { to: new, .. })
            | (Self::Slice(old), Self::Slice(new))
            | (Self::Array(old, _), Self::Array(new, _)) => old.apart(new),
            _ => None,
        }
    }

    /// Whether a reference to this lends one to `wanted`: `&Vec<T>` where `&[T]` is asked for.
    fn lends(&self, wanted: &Self, names: &Names<'_>) -> bool {
        let name = match self {
            Self::Item(item, _) => return names.is_pointer(*item),
            Self::Array(..) => return matches!(wanted, Self::Slice(_)),
            Self::Outside(name, _) => name,
            _ => return false,
        };
        match wanted {
            Self::Slice(_) => name == "std::vec::Vec",
            Self::Outside(wanted, _) => {
                let pairs = [
                    ("std::string::String", "str"),
                    ("std::path::PathBuf", "std::path::Path"),
                    ("std::ffi::OsString", "std::ffi::OsStr"),
                ];
                pairs.contains(&(name.as_str(), wanted.as_str())) || is_pointer(name)
            }
            _ => is_pointer(name),
        }
    }
}

/// Whether a type of the standard library lends what it holds.
fn is_pointer(name: &str) -> bool {
    ["std::boxed::Box", "std::rc::Rc", "std::sync::Arc"].contains(&name)
}

fn all(old: &[Type], new: &[Type], names: &Names<'_>) -> Fits {
    if old.len() != new.len() {
        // Parameters may have defaults.
        return Fits::Unknown;
    }
    let pairs = old.iter().zip(new);
    let fits = pairs.map(|(old, new)| old.fits(new, names));
    fits.max().unwrap_or(Fits::Yes)
}

fn all_meet(one: &[Type], other: &[Type], names: &Names<'_>) -> Meeting {
    if one.len() != other.len() {
        // Parameters may have defaults.
        return Meeting::Perhaps;
    }
    let pairs = one.iter().zip(other);
    let all = pairs.map(|(one, other)| one.meets(other, names));
    all.min().unwrap_or(Meeting::Always)
}
