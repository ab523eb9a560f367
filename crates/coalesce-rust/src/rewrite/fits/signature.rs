//! What users of a definition rely on, as types: parameters and results, fields, variants, members.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Texts};
use syn::spanned::Spanned as _;

use super::{
    lifetimes::Lifetimes,
    names::Names,
    types::{Fits, Reader, Type},
};
use crate::{
    facts::ItemKind,
    resolve::{FileId, ItemId, ModuleId, World},
    syntax,
};

/// How a method takes its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiver {
    None,
    Shared,
    Mutable,
    Whole,
    /// `self: Rc<Self>` and its like.
    Other,
}

/// A function as its callers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    receiver: Receiver,
    parameters: Vec<Type>,
    result: Type,
    /// Bounds on its parameters, by what their names mean.
    bounds: Vec<String>,
    is_unsafe: bool,
    is_async: bool,
    is_const: bool,
    is_must_use: bool,
    lifetimes: Lifetimes,
    /// From its parameters to its body.
    pub text: String,
}

/// What a name of a definition gives to its users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    Function(Signature),
    /// A constant, a static, a field: a value of this type.
    Value {
        kind: Type,
        text: String,
        /// Whether it is a static: no pattern and no length of an array can name one.
        is_static: bool,
    },
    /// The fields of a variant.
    Fields {
        kinds: Vec<(String, Type)>,
        text: String,
    },
}

/// A definition: itself, and what can be named of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Definition {
    pub own: Option<Gives>,
    pub fields: BTreeMap<String, Gives>,
    /// Functions and constants of its `impl`s.
    pub members: BTreeMap<String, Gives>,
    pub variants: BTreeMap<String, Gives>,
}

impl Definition {
    /// What both definitions give under a name: fields and functions are apart, unless each has it in another way alone.
    pub fn shared<'d>(&'d self, other: &'d Self, name: &str) -> Vec<(&'d Gives, &'d Gives)> {
        let of = |one: &'d Self| [one.fields.get(name), one.members.get(name)];
        let (own, there) = (of(self), of(other));
        let shared = own.into_iter().zip(there);
        let mut found: Vec<_> = shared.filter_map(|(own, there)| own.zip(there)).collect();
        if found.is_empty() {
            let first = |all: [Option<&'d Gives>; 2]| all.into_iter().flatten().next();
            let variants = || self.variants.get(name).zip(other.variants.get(name));
            found.extend(first(own).zip(first(there)).or_else(variants));
        }
        found
    }
}

/// Reads definitions.
pub(super) struct Signatures<'s, 'n> {
    pub names: &'s Names<'n>,
    pub pairs: &'s BTreeMap<ItemId, ItemId>,
}

impl Signatures<'_, '_> {
    /// What is known of an item: of several definitions, by condition, what a function is called by under each of them.
    pub fn of(&self, item: ItemId) -> Definition {
        let mut made = Definition::default();
        let node = &self.names.world[item];
        let Some((file, fact)) = self.names.definition(item) else {
            made.own = self.of_alternatives(item);
            return made;
        };
        self.read((file, fact.span, node.module), item, &mut made);
        // What types make of a trait is theirs: users of the trait have its own signatures.
        let is_trait = self.names.world[item].kind == ItemKind::Trait;
        let impls = (!is_trait).then(|| self.names.impls(item));
        for piece in impls.into_iter().flatten() {
            self.read(piece, item, &mut made);
        }
        made
    }

    /// The signature of a function that is defined under several conditions, where each of them has the same.
    fn of_alternatives(&self, item: ItemId) -> Option<Gives> {
        let node = &self.names.world[item];
        let all = node.definitions.iter().map(|(file, at)| {
            let span = self.names.world.facts(*file).item(*at).span;
            let mut made = Definition::default();
            self.read((*file, span, node.module), item, &mut made);
            made.own
        });
        let mut all = all.collect::<Option<Vec<Gives>>>()?.into_iter();
        let first = all.next().filter(|one| matches!(one, Gives::Function(_)))?;
        all.all(|other| other == first).then_some(first)
    }

    fn read(
        &self,
        (file, span, module): (FileId, ByteSpan, ModuleId),
        own: ItemId,
        made: &mut Definition,
    ) {
        let _trees = syntax::Trees::begin();
        let Some(names) = self.names.file(file) else {
            return;
        };
        let code = span.of(&names.text).unwrap_or_default();
        let Ok(parsed) = syntax::parse::<syn::Item>(code) else {
            return;
        };
        let reader = |generics: &syn::Generics| Reader {
            names: self.names,
            file: &names,
            module,
            start: span.start,
            own: Some(own),
            parameters: parameters(generics),
            pairs: self.pairs,
            depth: 0,
        };
        match &parsed {
            syn::Item::Fn(item) => {
                let reader = reader(&item.sig.generics);
                made.own = Some(Gives::Function(signature(&reader, &item.sig, &item.attrs)));
            }
            syn::Item::Const(item) => made.own = Some(value(&reader(&item.generics), &item.ty)),
            syn::Item::Static(item) => {
                let reader = reader(&syn::Generics::default());
                made.own = Some(Gives::Value {
                    kind: reader.read(&item.ty),
                    text: format!("static {}", written(&reader, item.ty.span())),
                    is_static: true,
                });
            }
            syn::Item::Struct(item) => members_of_struct(&reader(&item.generics), item, made),
            syn::Item::Enum(item) => variants_of_enum(&reader(&item.generics), item, made),
            syn::Item::Trait(item) => members_of_trait(&reader(&item.generics), item, made),
            syn::Item::Impl(item) => members_of_impl(&reader(&item.generics), item, made),
            _ => {}
        }
    }
}

/// Whether who calls one of two functions can call the other as well, either way round: aliases are what they stand for.
pub(crate) fn is_called_alike(
    world: &World,
    (old, new): (ItemId, ItemId),
    texts: &dyn Texts,
) -> bool {
    let (names, pairs) = (Names::new(world, texts), BTreeMap::new());
    let signatures = Signatures {
        names: &names,
        pairs: &pairs,
    };
    let (old, new) = (signatures.of(old).own, signatures.of(new).own);
    old.zip(new).is_some_and(|(old, new)| {
        let fits = |one: &Gives, other: &Gives| one.fits(other, true, &names) == Fits::Yes;
        fits(&old, &new) && fits(&new, &old)
    })
}

fn members_of_struct(reader: &Reader<'_, '_>, item: &syn::ItemStruct, made: &mut Definition) {
    let all = fields(reader, &item.fields).into_iter();
    for ((name, kind), field) in all.zip(&item.fields) {
        let gives = Gives::Value {
            kind,
            text: written(reader, field.ty.span()),
            is_static: false,
        };
        made.fields.insert(name, gives);
    }
}

fn variants_of_enum(reader: &Reader<'_, '_>, item: &syn::ItemEnum, made: &mut Definition) {
    for variant in &item.variants {
        let gives = Gives::Fields {
            kinds: fields(reader, &variant.fields),
            text: written(reader, variant.fields.span()),
        };
        made.variants.insert(variant.ident.to_string(), gives);
    }
}

fn members_of_trait(reader: &Reader<'_, '_>, item: &syn::ItemTrait, made: &mut Definition) {
    for member in &item.items {
        if let syn::TraitItem::Fn(function) = member {
            let gives = Gives::Function(member_signature(reader, &function.sig, &function.attrs));
            made.members.insert(function.sig.ident.to_string(), gives);
        }
    }
}

fn members_of_impl(reader: &Reader<'_, '_>, item: &syn::ItemImpl, made: &mut Definition) {
    for member in &item.items {
        match member {
            syn::ImplItem::Fn(function) => {
                let gives =
                    Gives::Function(member_signature(reader, &function.sig, &function.attrs));
                made.members.insert(function.sig.ident.to_string(), gives);
            }
            syn::ImplItem::Const(constant) => {
                let gives = value(reader, &constant.ty);
                made.members.insert(constant.ident.to_string(), gives);
            }
            _ => {}
        }
    }
}

fn member_signature(
    reader: &Reader<'_, '_>,
    parsed: &syn::Signature,
    attributes: &[syn::Attribute],
) -> Signature {
    let mut all = reader.parameters.clone();
    all.extend(parameters(&parsed.generics));
    let inner = Reader {
        names: reader.names,
        file: reader.file,
        parameters: all,
        pairs: reader.pairs,
        ..*reader
    };
    signature(&inner, parsed, attributes)
}

fn value(reader: &Reader<'_, '_>, kind: &syn::Type) -> Gives {
    Gives::Value {
        kind: reader.read(kind),
        text: written(reader, kind.span()),
        is_static: false,
    }
}

fn fields(reader: &Reader<'_, '_>, fields: &syn::Fields) -> Vec<(String, Type)> {
    let named = fields.iter().enumerate().map(|(at, field)| {
        let name = field.ident.as_ref().map(syn::Ident::to_string);
        (
            name.unwrap_or_else(|| at.to_string()),
            reader.read(&field.ty),
        )
    });
    named.collect()
}

pub(super) fn parameters(generics: &syn::Generics) -> Vec<String> {
    let names = generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            syn::GenericParam::Lifetime(_) => None,
            syn::GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
            syn::GenericParam::Const(parameter) => Some(parameter.ident.to_string()),
        });
    names.collect()
}

fn signature(
    reader: &Reader<'_, '_>,
    parsed: &syn::Signature,
    attributes: &[syn::Attribute],
) -> Signature {
    let mut attributes = attributes.iter();
    let is_must_use = attributes.any(|attribute| attribute.path().is_ident("must_use"));
    let mut made = Signature {
        receiver: Receiver::None,
        parameters: Vec::new(),
        result: Type::Tuple(Vec::new()),
        bounds: bounds(reader, &parsed.generics),
        is_unsafe: matches!(parsed.safety, syn::Safety::Unsafe(_)),
        is_async: parsed.asyncness.is_some(),
        is_const: parsed.constness.is_some(),
        is_must_use,
        lifetimes: Lifetimes::of(parsed),
        text: text(reader, parsed, is_must_use),
    };
    for input in &parsed.inputs {
        match input {
            syn::FnArg::Receiver(receiver) => {
                made.receiver = receiver_of(&written(reader, receiver.span()));
            }
            syn::FnArg::Typed(typed) => made.parameters.push(reader.read(&typed.ty)),
        }
    }
    if let syn::ReturnType::Type(_, kind) = &parsed.output {
        made.result = reader.read(kind);
    }
    made
}

/// What a receiver is, as it is written.
fn receiver_of(said: &str) -> Receiver {
    match said {
        said if said.contains(':') => Receiver::Other,
        said if said.starts_with('&') && said.contains("mut") => Receiver::Mutable,
        said if said.starts_with('&') => Receiver::Shared,
        _ => Receiver::Whole,
    }
}

/// A signature from its parameters to its body, on one line.
fn text(reader: &Reader<'_, '_>, parsed: &syn::Signature, is_must_use: bool) -> String {
    let (start, end) = (
        parsed.ident.span().byte_range().end,
        parsed.span().byte_range().end,
    );
    let from = reader.start as usize;
    let span = ByteSpan::from_range(from + start..from + end.max(start));
    let text = span.of(&reader.file.text).unwrap_or_default();
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let unsafety = matches!(parsed.safety, syn::Safety::Unsafe(_));
    let words = [
        ("#[must_use]", is_must_use),
        ("async", parsed.asyncness.is_some()),
        ("unsafe", unsafety),
    ];
    let said = words.iter().filter(|(_, is_said)| *is_said);
    let mut made: String = said.map(|(word, _)| format!("{word} ")).collect();
    made.push_str(&plain);
    made
}

fn written(reader: &Reader<'_, '_>, span: proc_macro2::Span) -> String {
    let range = span.byte_range();
    let from = reader.start as usize;
    let span = ByteSpan::from_range(from + range.start..from + range.end);
    let text = span.of(&reader.file.text).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The bounds on parameters, each with the place of its parameter and by what its names mean.
fn bounds(reader: &Reader<'_, '_>, generics: &syn::Generics) -> Vec<String> {
    let place = |name: &str| {
        let at = reader.parameters.iter().position(|known| known == name);
        at.map_or_else(|| name.to_owned(), |at| at.to_string())
    };
    let parameters = generics.type_params().map(|parameter| {
        let name = parameter.ident.to_string();
        (name, &parameter.bounds)
    });
    let clause = generics.where_clause.iter();
    let predicates = clause.flat_map(|clause| &clause.predicates);
    let typed = predicates.filter_map(|predicate| match predicate {
        syn::WherePredicate::Type(typed) => {
            let name = written(reader, typed.bounded_ty.span());
            Some((name, &typed.bounds))
        }
        _ => None,
    });
    let mut found = Vec::new();
    for (name, bounds) in parameters.chain(typed) {
        let name = place(&name);
        let all = bounds.iter().map(|bound| reader.meant(bound.span()));
        found.extend(all.map(|bound| format!("{name}: {bound}")));
    }
    found.sort();
    found
}

impl Gives {
    /// Whether who uses `self` can use `new` in its place; `is_consumed` tells whether what a call gives is known to be used.
    pub fn fits(&self, new: &Self, is_consumed: bool, names: &Names<'_>) -> Fits {
        match (self, new) {
            (Self::Function(old), Self::Function(new)) => old.fits(new, is_consumed, names),
            // Of a value it is not known whether it is read or written.
            (
                Self::Value {
                    kind: old,
                    is_static: was_static,
                    ..
                },
                Self::Value {
                    kind: new,
                    is_static,
                    ..
                },
            ) => {
                let same = match is_static == was_static {
                    true => Fits::Yes,
                    false => Fits::Unknown,
                };
                same.max(new.fits(old, names)).max(old.fits(new, names))
            }
            (Self::Fields { kinds: old, .. }, Self::Fields { kinds: new, .. }) => {
                let same = old.len() == new.len();
                let pairs = old.iter().zip(new);
                let fits = pairs.map(|((name, old), (other, new))| {
                    Fits::of(name == other)
                        .max(new.fits(old, names))
                        .max(old.fits(new, names))
                });
                Fits::of(same).max(fits.max().unwrap_or(Fits::Yes))
            }
            _ => Fits::No,
        }
    }

    /// Two types of the tree that read alike in both, and are not the same.
    pub fn apart(&self, other: &Self) -> Option<(ItemId, ItemId)> {
        match (self, other) {
            (Self::Function(old), Self::Function(new)) => {
                let parameters = old.parameters.iter().zip(&new.parameters);
                let result = std::iter::once((&old.result, &new.result));
                let mut all = parameters.chain(result);
                all.find_map(|(old, new)| old.apart(new))
            }
            (Self::Value { kind: old, .. }, Self::Value { kind: new, .. }) => old.apart(new),
            (Self::Fields { kinds: old, .. }, Self::Fields { kinds: new, .. }) => {
                let mut all = old.iter().zip(new);
                all.find_map(|((_, old), (_, new))| old.apart(new))
            }
            _ => None,
        }
    }

    /// What it says of itself.
    pub fn text(&self) -> &str {
        match self {
            Self::Function(signature) => &signature.text,
            Self::Value { text, .. } | Self::Fields { text, .. } => text,
        }
    }
}

impl Signature {
    /// Whether calls of `self` are calls of `new`.
    fn fits(&self, new: &Self, is_consumed: bool, names: &Names<'_>) -> Fits {
        if self.parameters.len() != new.parameters.len()
            || (new.is_unsafe && !self.is_unsafe)
            || new.is_async != self.is_async
        {
            return Fits::No;
        }
        let parameters = self.parameters.iter().zip(&new.parameters);
        let given = parameters.map(|(old, new)| old.fits(new, names));
        let given = given.max().unwrap_or(Fits::Yes);
        let result = new.result.fits(&self.result, names);
        let more = new.bounds.iter().all(|bound| self.bounds.contains(bound));
        let bounds = if more { Fits::Yes } else { Fits::Unknown };
        // Who ignores a result, or calls it in `unsafe`, is warned of that then.
        let is_ignored = new.is_must_use && !self.is_must_use && !is_consumed;
        let warns = is_ignored || (self.is_unsafe && !new.is_unsafe);
        let asks_more = (self.is_const && !new.is_const) || !new.lifetimes.allow(&self.lifetimes);
        let besides = if asks_more || warns {
            Fits::Unknown
        } else {
            Fits::Yes
        };
        given
            // What is done with a result may take another type: `?`, a format, an inferred variable.
            .max(result.min(Fits::Unknown))
            .max(bounds)
            .max(besides)
            .max(receivers(self.receiver, new.receiver))
    }
}

/// Whether calls that take one receiver can take another one.
fn receivers(old: Receiver, new: Receiver) -> Fits {
    match (old, new) {
        (old, new) if old == new => Fits::Yes,
        (Receiver::Mutable | Receiver::Whole, Receiver::Shared) => Fits::Yes,
        (Receiver::Other, _) | (_, Receiver::Other) | (Receiver::Whole, Receiver::Mutable) => {
            Fits::Unknown
        }
        _ => Fits::No,
    }
}
