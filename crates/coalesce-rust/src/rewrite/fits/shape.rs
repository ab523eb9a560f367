//! What can be said of an item: its parameters, generics, fields, variants, and what its `impl`s
//! add.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Texts};

use crate::rewrite::merge::derived;
use crate::{
    facts::ItemKind,
    resolve::{FileId, Found, ItemId, UseSite, World},
    syntax,
};

/// The fields of a struct or a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fields {
    /// None.
    Unit,
    /// This many, without names.
    Tuple(usize),
    /// With names.
    Named(BTreeSet<String>),
}

/// What a function says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// How many parameters it has.
    pub parameters: usize,
    pub is_unsafe: bool,
    pub is_async: bool,
}

/// What an item is.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// Whether its definition could be read, and is no alias.
    pub is_known: bool,
    pub is_function: bool,
    pub function: Option<Function>,
    /// How many types and constants it takes at least and at most.
    pub generics: Option<(usize, usize)>,
    pub fields: Option<Fields>,
    pub variants: BTreeMap<String, Fields>,
    /// Functions, with their parameters, and constants of its `impl`s.
    pub members: BTreeMap<String, Option<usize>>,
    /// Fields, and functions of a trait or of `impl`s: what can stand behind a dot.
    pub names: BTreeSet<String>,
    /// Whether `names` are all that there are.
    pub has_names: bool,
    /// Whether it lends the names of another type.
    pub is_pointer: bool,
    /// The traits that it derives.
    pub derives: BTreeSet<String>,
}

/// The shapes of some items.
pub(super) fn shapes(
    world: &World,
    wanted: &BTreeSet<ItemId>,
    texts: &dyn Texts,
) -> BTreeMap<ItemId, Shape> {
    let mut shapes: BTreeMap<ItemId, Shape> = BTreeMap::new();
    for item in wanted {
        shapes.insert(*item, shape_of(world, *item, texts));
    }
    impls(world, texts, &mut shapes);
    shapes
}

/// The shape of an item by its definition. Several definitions, by condition: what one of them is does not hold for
/// all.
fn shape_of(world: &World, item: ItemId, texts: &dyn Texts) -> Shape {
    let mut shape = Shape {
        is_function: world[item].kind == ItemKind::Function,
        ..Shape::default()
    };
    if let [(file, at)] = world[item].definitions.as_slice()
        && let Some(text) = texts.text(&world[file].path)
    {
        let span = world.facts(*file).item(*at).span;
        shape.read(span.of(&text).unwrap_or_default());
    }
    shape
}

/// Adds what `impl` blocks say.
fn impls(world: &World, texts: &dyn Texts, shapes: &mut BTreeMap<ItemId, Shape>) {
    for (at, source) in world.files.iter().enumerate() {
        let file = FileId(u32::try_from(at).unwrap_or(u32::MAX));
        if world.facts(file).impls.is_empty() {
            continue;
        }
        let own = impls_of_types(world, file, &|item| shapes.contains_key(&item));
        let Some(text) = texts.text(&source.path).filter(|_| !own.is_empty()) else {
            continue;
        };
        for (span, item) in own {
            let Some(shape) = shapes.get_mut(&item) else {
                continue;
            };
            shape.add(span.of(&text).unwrap_or_default());
        }
    }
}

/// The `impl`s of a file, each with the type that it is of, where that is asked for.
fn impls_of_types(
    world: &World,
    file: FileId,
    is_asked: &dyn Fn(ItemId) -> bool,
) -> BTreeSet<(ByteSpan, ItemId)> {
    let impls = world.facts(file).impls.iter();
    let paths = impls.filter_map(|found| Some((found.self_path?, found.span)));
    let paths: BTreeMap<u32, ByteSpan> = paths.collect();
    let mut own: BTreeSet<(ByteSpan, ItemId)> = BTreeSet::new();
    world.visit_file(&world[file], &mut |_, site| {
        let UseSite::Path(path) = site.site else {
            return;
        };
        let Some(span) = paths.get(&path) else { return };
        let last = site.trace.steps.last().into_iter();
        let items = last.flat_map(Found::items);
        own.extend(
            items
                .filter(|item| is_asked(*item))
                .map(|item| (*span, item)),
        );
    });
    own
}

impl Shape {
    fn read(&mut self, text: &str) {
        let _trees = syntax::Trees::begin();
        let Ok(item) = syntax::parse::<syn::Item>(text) else {
            return;
        };
        self.is_known = true;
        self.name(&item);
        match &item {
            syn::Item::Fn(item) => {
                self.function = Some(Function {
                    parameters: item.sig.inputs.len(),
                    is_unsafe: matches!(item.sig.safety, syn::Safety::Unsafe(_)),
                    is_async: item.sig.asyncness.is_some(),
                });
                let implied = item.sig.inputs.iter().any(says_impl);
                self.generics = (!implied).then(|| generics(&item.sig.generics));
            }
            syn::Item::Struct(item) => {
                self.fields = Some(fields(&item.fields));
                self.generics = Some(generics(&item.generics));
            }
            syn::Item::Enum(item) => {
                self.generics = Some(generics(&item.generics));
                self.variants = item
                    .variants
                    .iter()
                    .map(|variant| (variant.ident.to_string(), fields(&variant.fields)))
                    .collect();
            }
            syn::Item::Union(item) => self.generics = Some(generics(&item.generics)),
            syn::Item::Trait(item) => {
                self.generics = Some(generics(&item.generics));
                self.is_known = false;
            }
            _ => self.is_known = false,
        }
    }

    /// What can stand behind a dot, and what is derived.
    fn name(&mut self, item: &syn::Item) {
        let (attributes, fields) = match item {
            syn::Item::Struct(item) => (&item.attrs, Some(&item.fields)),
            syn::Item::Enum(item) => (&item.attrs, None),
            syn::Item::Trait(item) => {
                // What a trait asks of its types, it has as well.
                self.has_names = item.supertraits.is_empty();
                let functions = item.items.iter().filter_map(|item| match item {
                    syn::TraitItem::Fn(item) => Some(item.sig.ident.to_string()),
                    _ => None,
                });
                self.names.extend(functions);
                return;
            }
            _ => return,
        };
        self.has_names = true;
        self.derives = attributes.iter().flat_map(derived).collect();
        let fields = fields.into_iter().flatten();
        let names = fields.filter_map(|field| Some(field.ident.as_ref()?.to_string()));
        self.names.extend(names);
    }

    fn add(&mut self, text: &str) {
        let _trees = syntax::Trees::begin();
        let Ok(item) = syntax::parse::<syn::ItemImpl>(text) else {
            return;
        };
        let of = item
            .trait_
            .as_ref()
            .and_then(|(path, _)| path.segments.last());
        self.is_pointer |= of.is_some_and(|of| of.ident == "Deref");
        for member in &item.items {
            let (name, parameters) = match member {
                syn::ImplItem::Fn(item) => (&item.sig.ident, Some(item.sig.inputs.len())),
                syn::ImplItem::Const(item) => (&item.ident, None),
                syn::ImplItem::Type(item) => (&item.ident, None),
                // A macro may add whatever it likes.
                _ => {
                    (self.is_known, self.has_names) = (false, false);
                    continue;
                }
            };
            if parameters.is_some() {
                self.names.insert(name.to_string());
            }
            self.members.insert(name.to_string(), parameters);
        }
    }
}

fn says_impl(input: &syn::FnArg) -> bool {
    matches!(input, syn::FnArg::Typed(typed) if matches!(*typed.ty, syn::Type::ImplTrait(_)))
}

fn generics(generics: &syn::Generics) -> (usize, usize) {
    let (mut least, mut most) = (0, 0);
    for parameter in &generics.params {
        let default = match parameter {
            syn::GenericParam::Lifetime(_) => continue,
            syn::GenericParam::Type(parameter) => parameter.default.is_some(),
            syn::GenericParam::Const(parameter) => parameter.default.is_some(),
        };
        most += 1;
        least += usize::from(!default);
    }
    (least, most)
}

fn fields(fields: &syn::Fields) -> Fields {
    match fields {
        syn::Fields::Unit => Fields::Unit,
        syn::Fields::Unnamed(fields) => Fields::Tuple(fields.unnamed.len()),
        syn::Fields::Named(fields) => Fields::Named(
            fields
                .named
                .iter()
                .filter_map(|field| Some(field.ident.as_ref()?.to_string()))
                .collect(),
        ),
    }
}
