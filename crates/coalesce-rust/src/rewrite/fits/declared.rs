//! What a type says of itself beside its fields, on which users rely unseen: the order of fields and variants, what it
//! takes, its layout, `#[must_use]`, `#[non_exhaustive]`, and what its `impl`s add.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::ByteSpan;
use syn::spanned::Spanned as _;

use super::{
    heads::{Home, Takes},
    names::Names,
};
use crate::{
    resolve::{FileId, ItemId, ModuleId},
    rewrite::merge::derived,
    syntax,
    words::STANDARD_DERIVES,
};

/// What a declaration says.
#[derive(Default)]
pub(super) struct TypeDeclaration {
    pub is_enum: bool,
    pub is_must_use: bool,
    /// Whether other crates may not list all of its fields or variants.
    pub is_open_ended: bool,
    /// Its variants of which that is said.
    pub open_variants: BTreeSet<String>,
    /// Its `#[repr]`s.
    pub layout: BTreeSet<String>,
    pub derives: BTreeSet<String>,
    /// Fields or variants, in their order.
    pub parts: Vec<String>,
    /// The variant that a derived `Default` gives.
    pub default_variant: Option<String>,
    /// Whether something is run where one goes: no field of it can be taken out.
    pub is_dropped: bool,
    /// Whether each variant is a number.
    pub is_number: bool,
    pub takes: Takes,
    /// Functions that it has by itself, and by traits.
    pub inherent: BTreeSet<String>,
    pub of_traits: BTreeSet<String>,
    /// The last names of traits that `impl`s are of, as they are written out.
    pub by_hand: BTreeSet<String>,
    /// Whether it has constants, which patterns can name.
    pub has_constants: bool,
    /// The types that its `impl`s of traits name, by the trait and their names there.
    pub associated: BTreeMap<(String, String), String>,
}

/// Reads a type; `None` of what is no type, or has several definitions.
pub(super) fn declared(
    names: &Names<'_>,
    pairs: &BTreeMap<ItemId, ItemId>,
    item: ItemId,
) -> Option<TypeDeclaration> {
    let _trees = syntax::Trees::begin();
    let (file, fact) = names.definition(item)?;
    let text = names.file(file)?;
    let parsed: syn::Item = syntax::parse(fact.span.of(&text.text)?).ok()?;
    let mut made = TypeDeclaration::default();
    let (attributes, generics) = match &parsed {
        syn::Item::Struct(item) => {
            let fields = item.fields.iter().filter_map(|field| field.ident.as_ref());
            made.parts = fields.map(syn::Ident::to_string).collect();
            (&item.attrs, &item.generics)
        }
        syn::Item::Enum(item) => {
            made.read_variants(item);
            (&item.attrs, &item.generics)
        }
        syn::Item::Union(item) => (&item.attrs, &item.generics),
        _ => return None,
    };
    let home = Home {
        names,
        pairs,
        file: &text,
        module: names.world[item].module,
        own: Some(item),
        start: fact.span.start,
    };
    made.is_must_use = has(attributes, "must_use");
    made.is_open_ended = has(attributes, "non_exhaustive");
    let layout = attributes.iter().filter(|one| one.path().is_ident("repr"));
    made.layout = layout.map(|one| home.meant(one.span(), &[])).collect();
    made.derives = attributes.iter().flat_map(derived).collect();
    made.takes = home.takes(generics, &[]);
    for piece in names.impls(item) {
        made.read_impl((names, pairs, item), piece);
    }
    Some(made)
}

fn has(attributes: &[syn::Attribute], name: &str) -> bool {
    attributes.iter().any(|one| one.path().is_ident(name))
}

impl TypeDeclaration {
    fn read_variants(&mut self, item: &syn::ItemEnum) {
        self.is_enum = true;
        let variants = item.variants.iter();
        self.is_number = variants.clone().all(|one| one.fields.is_empty());
        self.parts = variants.clone().map(|one| one.ident.to_string()).collect();
        let default = variants.clone().find(|one| has(&one.attrs, "default"));
        self.default_variant = default.map(|one| one.ident.to_string());
        let open = variants.filter(|one| has(&one.attrs, "non_exhaustive"));
        self.open_variants = open.map(|one| one.ident.to_string()).collect();
    }

    fn read_impl(
        &mut self,
        (names, pairs, own): (&Names<'_>, &BTreeMap<ItemId, ItemId>, ItemId),
        (file, span, module): (FileId, ByteSpan, ModuleId),
    ) {
        let Some(text) = names.file(file) else { return };
        let code = span.of(&text.text);
        let parsed = code.and_then(|code| syntax::parse::<syn::ItemImpl>(code).ok());
        let Some(parsed) = parsed else { return };
        let home = Home {
            names,
            pairs,
            file: &text,
            module,
            own: Some(own),
            start: span.start,
        };
        let parameters = super::signature::parameters(&parsed.generics);
        let of = parsed.trait_.as_ref();
        let of = of.map(|(path, _)| home.meant(path.span(), &parameters));
        self.is_dropped |= of.as_deref() == Some("Drop");
        let path = parsed.trait_.as_ref().map(|(path, _)| path);
        let last = path.and_then(|path| path.segments.last());
        self.by_hand.extend(last.map(|last| last.ident.to_string()));
        for member in &parsed.items {
            match (member, &of) {
                (syn::ImplItem::Fn(function), None) => {
                    self.inherent.insert(function.sig.ident.to_string());
                }
                (syn::ImplItem::Fn(function), Some(_)) => {
                    self.of_traits.insert(function.sig.ident.to_string());
                }
                (syn::ImplItem::Const(_), _) => self.has_constants = true,
                (syn::ImplItem::Type(kind), Some(of)) => {
                    let said = home.meant(kind.ty.span(), &parameters);
                    let key = (of.clone(), kind.ident.to_string());
                    self.associated.insert(key, said);
                }
                _ => {}
            }
        }
    }

    /// What follows the order of the parts, beside the language's own: `PartialOrd`, a derive of a library, the layout.
    pub fn follows_order(&self) -> Option<String> {
        let ordered = |name: &&String| matches!(name.as_str(), "PartialOrd" | "Ord");
        let outside = |name: &&String| !STANDARD_DERIVES.contains(name);
        let mut derives = self.derives.iter();
        let derive = derives.find(|name| ordered(name) || outside(name));
        let layout = (!self.layout.is_empty()).then(|| "its layout".to_owned());
        derive.map(|name| format!("`{name}`")).or(layout)
    }
}
