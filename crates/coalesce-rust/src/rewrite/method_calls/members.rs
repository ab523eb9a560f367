//! What traits and types of the tree say of themselves: their functions, and what these give.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use super::kinds::{Bound, Given, ReceiverKind, Scope, name_of};
use crate::{
    resolve::{ItemId, ModuleId},
    rewrite::traits,
    syntax,
};

/// A function that a type has by itself.
#[derive(Clone)]
pub(super) struct OwnFunction {
    /// What it gives, and the module that says it.
    pub result: Option<(ModuleId, syn::Type)>,
    /// The parameters that stand for the arguments of the type.
    pub parameters: Vec<Option<String>>,
    /// Whether all types of that name have it, under all conditions.
    pub general: bool,
}

/// The functions of a type.
pub(super) type Functions = BTreeMap<String, OwnFunction>;

/// What a trait of the tree says of itself.
#[derive(Default)]
pub(super) struct TraitShape {
    pub members: BTreeSet<String>,
    pub results: BTreeMap<String, syn::Type>,
    pub above: Vec<Bound>,
    /// Whether it says what an associated type of a trait above it is.
    pub assigned: bool,
}

impl TraitShape {
    /// Adds a member, and what it gives.
    fn add(&mut self, member: &syn::TraitItem) {
        match member {
            syn::TraitItem::Fn(function) => {
                let name = function.sig.ident.to_string();
                if let syn::ReturnType::Type(_, result) = &function.sig.output {
                    self.results.insert(name.clone(), (**result).clone());
                }
                self.members.insert(name);
            }
            syn::TraitItem::Const(constant) => {
                self.members.insert(constant.ident.to_string());
            }
            _ => {}
        }
    }
}

impl Given<'_> {
    /// The trait of the tree that a bound names.
    pub(super) fn trait_of(&self, bound: &Bound) -> Option<ItemId> {
        let bindings = self.world.bindings(bound.0, &bound.1).iter();
        let mut traits = bindings.filter_map(|binding| self.world.as_trait(binding.res));
        traits.next()
    }

    pub(super) fn shape(&mut self, bound: &Bound) -> Rc<TraitShape> {
        if let Some(known) = self.shapes.get(bound) {
            return Rc::clone(known);
        }
        let read = Rc::new(self.read(bound).unwrap_or_default());
        self.shapes.insert(bound.clone(), Rc::clone(&read));
        read
    }

    fn read(&self, bound: &Bound) -> Option<TraitShape> {
        let _trees = syntax::Trees::begin();
        let item = self.trait_of(bound)?;
        let home = self.world[item].module;
        let parsed = self.text_of(item);
        let parsed = parsed.and_then(|(_, text)| syntax::parse::<syn::ItemTrait>(&text).ok());
        let mut shape = TraitShape::default();
        let Some(parsed) = parsed else {
            let (members, above) = traits::read(self.world, item, self.texts)?;
            shape.members.extend(members);
            shape
                .above
                .extend(above.into_iter().map(|name| (home, name)));
            return Some(shape);
        };
        let own = self.bounds(home, &parsed.supertraits);
        let mut scope = Scope::from([("Self".to_owned(), ReceiverKind::Bounded(own))]);
        self.generics(home, &parsed.generics, &mut scope);
        if let Some(ReceiverKind::Bounded(own)) = scope.remove("Self") {
            shape.above = own.traits;
            shape.assigned = own.assigned;
        }
        for member in &parsed.items {
            shape.add(member);
        }
        Some(shape)
    }

    /// The functions of a type's own `impl`s, with what they give.
    pub(super) fn own(&mut self, item: ItemId) -> Rc<Functions> {
        let _trees = syntax::Trees::begin();
        if let Some(known) = self.own.get(&item) {
            return Rc::clone(known);
        }
        let mut found = Functions::new();
        let world = self.world;
        for site in world.impls_of(item).filter(|one| one.is_inherent()) {
            let text = self.texts.text(&world[site.file].path);
            let text = text.as_deref().and_then(|text| site.span.of(text));
            if let Some(parsed) = text.and_then(|text| syntax::parse::<syn::ItemImpl>(text).ok()) {
                own_of(&parsed, site.module, &mut found);
            }
        }
        let found = Rc::new(found);
        self.own.insert(item, Rc::clone(&found));
        found
    }
}

/// The functions of one of a type's own `impl`s.
fn own_of(parsed: &syn::ItemImpl, module: ModuleId, found: &mut Functions) {
    let parameters = parameters_of(parsed);
    let distinct: BTreeSet<&String> = parameters.iter().flatten().collect();
    let everywhere = distinct.len() == parameters.len() && !is_conditional(&parsed.attrs);
    for member in &parsed.items {
        let Some((name, result, attributes)) = function_of(member) else {
            continue;
        };
        let result = result.map(|result| (module, result.clone()));
        let general = everywhere && !is_conditional(attributes);
        let function = OwnFunction {
            result,
            parameters: parameters.clone(),
            general,
        };
        match found.get_mut(&name) {
            // Several have it, each for other arguments or conditions.
            Some(known) => {
                known.result = None;
                known.general |= general;
            }
            None => _ = found.insert(name, function),
        }
    }
}

/// The name of a member of an `impl`, what it gives, and its attributes.
fn function_of(member: &syn::ImplItem) -> Option<(String, Option<&syn::Type>, &[syn::Attribute])> {
    match member {
        syn::ImplItem::Fn(function) => {
            let has_types = function.sig.generics.type_params().next().is_some();
            let result = match &function.sig.output {
                // What its own parameters stand for, the caller decides.
                syn::ReturnType::Type(_, result) if !has_types => Some(&**result),
                _ => None,
            };
            Some((
                function.sig.ident.to_string(),
                result,
                function.attrs.as_slice(),
            ))
        }
        syn::ImplItem::Const(constant) => {
            Some((constant.ident.to_string(), None, constant.attrs.as_slice()))
        }
        _ => None,
    }
}

/// The parameters that an `impl` has for the arguments of its type, `None` for each that is none.
fn parameters_of(parsed: &syn::ItemImpl) -> Vec<Option<String>> {
    let syn::Type::Path(path) = &*parsed.self_ty else {
        return Vec::new();
    };
    let last = path.path.segments.last();
    let arguments = last.map_or_else(Vec::new, |last| syntax::arguments_of(&last.arguments));
    let generics: BTreeSet<String> = parsed
        .generics
        .type_params()
        .map(|one| one.ident.to_string())
        .collect();
    let name = |ty: &&syn::Type| name_of(ty).filter(|name| generics.contains(name));
    arguments.iter().map(name).collect()
}

fn is_conditional(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|one| one.path().is_ident("cfg"))
}
