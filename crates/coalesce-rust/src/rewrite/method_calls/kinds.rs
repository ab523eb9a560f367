//! What is known of the type of a receiver, as far as signatures and definitions of the tree say it.
//!
//! No inference: a type is known by what declares it, by what the function that gives it says, and by
//! the field that holds it. Everything else is unknown.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_model::Texts;

use crate::{
    facts::ItemKind,
    resolve::{ItemId, ModuleId, Res, World},
    rewrite::traits,
    syntax,
};

/// How many traits above traits are followed.
const DEEPEST: usize = 8;

/// Types that hand method calls on to what they hold.
const POINTERS: [&str; 3] = ["Arc", "Box", "Rc"];

/// Functions of traits of other crates that give the type that they are of.
const GIVE_THEMSELVES: [&str; 6] = ["clone", "default", "from", "into_owned", "one", "zero"];

/// A trait as a bound says it: the module that has the name, and the name.
pub(super) type Bound = (ModuleId, String);

/// What is known of a type.
#[derive(Clone, Debug)]
pub(super) enum ReceiverKind {
    /// It has what these traits give: a type parameter, `impl` and `dyn`, `Self` of a trait.
    Bounded(Vec<Bound>),
    /// A type of the tree, with its type arguments as far as they are known.
    Type(ItemId, Vec<Option<ReceiverKind>>),
    /// What writes a `Debug` or `Display`: `fmt::Formatter`.
    Formatter,
    /// What a formatter makes for lists, structs and the like.
    DebugBuilder,
}

/// The methods that a formatter has by itself and a trait by the same name.
const OF_FORMATTERS: [&str; 2] = ["write_fmt", "write_str"];

/// The functions of a type, with what they give and the module that says it.
type Results = BTreeMap<String, Option<(ModuleId, syn::Type)>>;

/// What names of types stand for at a place: type parameters and `Self`.
pub(super) type Scope = BTreeMap<String, ReceiverKind>;

/// What a trait of the tree says of itself.
#[derive(Default)]
struct TraitShape {
    members: BTreeSet<String>,
    results: BTreeMap<String, syn::Type>,
    above: Vec<Bound>,
}

/// Traits and types of a tree, read once each.
pub(super) struct Given<'g> {
    world: &'g World,
    texts: &'g dyn Texts,
    shapes: BTreeMap<Bound, Rc<TraitShape>>,
    own: BTreeMap<ItemId, Rc<Results>>,
}

impl<'g> Given<'g> {
    pub fn new(world: &'g World, texts: &'g dyn Texts) -> Self {
        let (shapes, own) = (BTreeMap::new(), BTreeMap::new());
        Self {
            world,
            texts,
            shapes,
            own,
        }
    }

    /// The module that has the last name of a path, and that name.
    pub fn bound(&self, home: ModuleId, path: &syn::Path) -> Option<Bound> {
        let world = self.world;
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|one| one.ident.to_string())
            .collect();
        let (last, outer) = names.split_last()?;
        let mut at = home;
        for (step, name) in outer.iter().enumerate() {
            let root = |module: ModuleId| {
                let mut above = std::iter::successors(Some(module), |one| world[*one].parent);
                above.by_ref().last().unwrap_or(module)
            };
            at = match name.as_str() {
                "crate" if step == 0 => root(home),
                "self" if step == 0 => home,
                "super" => world[at].parent?,
                _ => world
                    .bindings(at, name)
                    .iter()
                    .find_map(|one| match one.res {
                        Res::Module(module) => Some(module),
                        _ => None,
                    })?,
            };
        }
        Some((at, last.clone()))
    }

    /// The traits that bounds name.
    pub fn bounds<'b>(
        &self,
        home: ModuleId,
        bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>,
    ) -> Vec<Bound> {
        let bounds = bounds.into_iter().filter_map(|bound| match bound {
            syn::TypeParamBound::Trait(bound) => self.bound(home, &bound.path),
            _ => None,
        });
        bounds.collect()
    }

    /// Adds type parameters and the clauses behind them to what is in scope.
    pub fn generics(&self, home: ModuleId, generics: &syn::Generics, scope: &mut Scope) {
        for parameter in generics.type_params() {
            let own = self.bounds(home, &parameter.bounds);
            scope.insert(parameter.ident.to_string(), ReceiverKind::Bounded(own));
        }
        let clauses = generics.where_clause.iter();
        for predicate in clauses.flat_map(|clause| &clause.predicates) {
            // What a clause says of any other type gives it nothing.
            if let syn::WherePredicate::Type(predicate) = predicate
                && let Some(name) = name_of(&predicate.bounded_ty)
                && let Some(ReceiverKind::Bounded(known)) = scope.get_mut(&name)
            {
                known.extend(self.bounds(home, &predicate.bounds));
            }
        }
    }

    /// What is known of a type that is said in a module.
    pub fn kind(&self, home: ModuleId, scope: &Scope, ty: &syn::Type) -> Option<ReceiverKind> {
        match ty {
            syn::Type::Reference(reference) => self.kind(home, scope, &reference.elem),
            syn::Type::Paren(inner) => self.kind(home, scope, &inner.elem),
            syn::Type::Group(inner) => self.kind(home, scope, &inner.elem),
            syn::Type::TraitObject(shown) => {
                Some(ReceiverKind::Bounded(self.bounds(home, &shown.bounds)))
            }
            syn::Type::Path(path) => self.kind_of_path(home, scope, path),
            _ => None,
        }
    }

    /// The same of a parameter: `impl Trait` is a type parameter there, and elsewhere one has to have the trait in
    /// scope.
    pub fn parameter(&self, home: ModuleId, scope: &Scope, ty: &syn::Type) -> Option<ReceiverKind> {
        match ty {
            syn::Type::Reference(reference) => self.parameter(home, scope, &reference.elem),
            syn::Type::ImplTrait(shown) => {
                Some(ReceiverKind::Bounded(self.bounds(home, &shown.bounds)))
            }
            other => self.kind(home, scope, other),
        }
    }

    fn kind_of_path(
        &self,
        home: ModuleId,
        scope: &Scope,
        path: &syn::TypePath,
    ) -> Option<ReceiverKind> {
        // Bounds of an associated type give it nothing: its traits have to be in scope.
        if path.qself.is_some() {
            return None;
        }
        if let Some(name) = path.path.get_ident()
            && let Some(known) = scope.get(&name.to_string())
        {
            return Some(known.clone());
        }
        let last = path.path.segments.last()?;
        let arguments: Vec<&syn::Type> = match &last.arguments {
            syn::PathArguments::AngleBracketed(list) => {
                let types = list.args.iter().filter_map(|one| match one {
                    syn::GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                });
                types.collect()
            }
            _ => Vec::new(),
        };
        let name = last.ident.to_string();
        let bound = self.bound(home, &path.path);
        let bindings = bound.map_or(&[][..], |(module, name)| self.world.bindings(module, &name));
        let item = bindings.iter().find_map(|binding| match binding.res {
            Res::Item(item) => Some(item),
            _ => None,
        });
        let Some(item) = item else {
            // What leads out of the tree is nothing that a module has: `fmt::Formatter`.
            let said = path.path.segments.iter().rev().nth(1);
            let formats = said.is_some_and(|said| said.ident == "fmt")
                || bindings.iter().any(|one| match one.res {
                    Res::External(full) => self.world.names.text(full).ends_with("fmt::Formatter"),
                    _ => false,
                });
            if name == "Formatter" && formats {
                return Some(ReceiverKind::Formatter);
            }
            let pointed = arguments
                .first()
                .filter(|_| POINTERS.contains(&name.as_str()));
            return pointed.and_then(|ty| self.kind(home, scope, ty));
        };
        let kinds = [ItemKind::Struct, ItemKind::Enum, ItemKind::Union];
        if !kinds.contains(&self.world[item].kind) {
            return None;
        }
        let arguments = arguments.iter().map(|ty| self.kind(home, scope, ty));
        Some(ReceiverKind::Type(item, arguments.collect()))
    }

    /// Whether what is known of a type gives it a method without any import.
    pub fn gives(&mut self, kind: &ReceiverKind, method: &str) -> bool {
        match kind {
            ReceiverKind::Bounded(bounds) => self.by(bounds, method, 0),
            ReceiverKind::Type(item, _) => self.own(*item).contains_key(method),
            ReceiverKind::Formatter => OF_FORMATTERS.contains(&method),
            ReceiverKind::DebugBuilder => true,
        }
    }

    fn by(&mut self, bounds: &[Bound], method: &str, depth: usize) -> bool {
        bounds.iter().any(|bound| {
            let outside = self.world.bindings(bound.0, &bound.1).iter();
            let mut outside = outside.flat_map(|one| traits::outside_methods(self.world, one.res));
            if outside.any(|one| one == method) {
                return true;
            }
            let shape = self.shape(bound);
            shape.members.contains(method)
                || (depth < DEEPEST && self.by(&shape.above, method, depth + 1))
        })
    }

    /// What a method of a type gives, called on it or by its name.
    pub fn result(&mut self, kind: &ReceiverKind, method: &str) -> Option<ReceiverKind> {
        match kind {
            ReceiverKind::Bounded(bounds) => {
                let found = self.result_by(bounds, method, 0);
                let Some((home, result)) = found else {
                    let known = GIVE_THEMSELVES.contains(&method) && !bounds.is_empty();
                    return known.then(|| kind.clone());
                };
                let scope = Scope::from([("Self".to_owned(), kind.clone())]);
                self.kind(home, &scope, &result)
            }
            ReceiverKind::Type(item, _) => {
                let own = self.own(*item);
                let (home, result) = own.get(method)?.clone()?;
                let scope = Scope::from([("Self".to_owned(), kind.clone())]);
                self.kind(home, &scope, &result)
            }
            ReceiverKind::Formatter => method
                .starts_with("debug_")
                .then_some(ReceiverKind::DebugBuilder),
            ReceiverKind::DebugBuilder => {
                (!method.starts_with("finish")).then_some(ReceiverKind::DebugBuilder)
            }
        }
    }

    fn result_by(
        &mut self,
        bounds: &[Bound],
        method: &str,
        depth: usize,
    ) -> Option<(ModuleId, syn::Type)> {
        bounds.iter().find_map(|bound| {
            let shape = self.shape(bound);
            let home = self
                .trait_of(bound)
                .map_or(bound.0, |item| self.world[item].module);
            let own = shape.results.get(method).cloned();
            match own {
                Some(own) => Some((home, own)),
                None if depth < DEEPEST => self.result_by(&shape.above, method, depth + 1),
                None => None,
            }
        })
    }

    /// What a field of a type is.
    pub fn field(&self, kind: &ReceiverKind, member: &syn::Member) -> Option<ReceiverKind> {
        let ReceiverKind::Type(item, arguments) = kind else {
            return None;
        };
        let (home, text) = self.text_of(*item)?;
        let parsed: syn::ItemStruct = syntax::parse(&text).ok()?;
        let field = parsed
            .fields
            .iter()
            .enumerate()
            .find(|(at, field)| match member {
                syn::Member::Named(name) => field.ident.as_ref() == Some(name),
                syn::Member::Unnamed(index) => usize::try_from(index.index).ok() == Some(*at),
            });
        let mut scope = Scope::from([("Self".to_owned(), kind.clone())]);
        self.generics(home, &parsed.generics, &mut scope);
        for (parameter, argument) in parsed.generics.type_params().zip(arguments) {
            let name = parameter.ident.to_string();
            match argument {
                Some(argument) => drop(scope.insert(name, argument.clone())),
                None => drop(scope.remove(&name)),
            }
        }
        let (_, field) = field?;
        self.kind(home, &scope, &field.ty)
    }

    /// What a function of a module gives, or the type that a name makes by itself.
    pub fn called(&self, home: ModuleId, path: &syn::Path) -> Option<ReceiverKind> {
        let (module, name) = self.bound(home, path)?;
        let bindings = self.world.bindings(module, &name);
        let item = bindings.iter().find_map(|binding| match binding.res {
            Res::Item(item) => Some(item),
            _ => None,
        })?;
        match self.world[item].kind {
            ItemKind::Struct => Some(ReceiverKind::Type(item, Vec::new())),
            ItemKind::Function => {
                let (home, text) = self.text_of(item)?;
                let function: syn::ItemFn = syntax::parse(&text).ok()?;
                let mut scope = Scope::new();
                self.generics(home, &function.sig.generics, &mut scope);
                let result = match &function.sig.output {
                    syn::ReturnType::Type(_, result) => result,
                    syn::ReturnType::Default => return None,
                };
                let kind = self.kind(home, &scope, result)?;
                // Which types its parameters stand for, the caller decides.
                let generic = function.sig.generics.type_params().next().is_some();
                (!generic || !matches!(kind, ReceiverKind::Bounded(_))).then_some(kind)
            }
            _ => None,
        }
    }

    /// The module and the text of an item.
    fn text_of(&self, item: ItemId) -> Option<(ModuleId, String)> {
        let world = self.world;
        let node = &world[item];
        let [(file, at)] = node.definitions.as_slice() else {
            return None;
        };
        let text = self.texts.text(&world[*file].path)?;
        let span = world.facts(*file).item(*at).span;
        Some((node.module, span.of(&text)?.to_owned()))
    }

    /// The trait of the tree that a bound names.
    fn trait_of(&self, bound: &Bound) -> Option<ItemId> {
        let bindings = self.world.bindings(bound.0, &bound.1).iter();
        let mut items = bindings.filter_map(|binding| match binding.res {
            Res::Item(item) if self.world[item].kind == ItemKind::Trait => Some(item),
            _ => None,
        });
        items.next()
    }

    fn shape(&mut self, bound: &Bound) -> Rc<TraitShape> {
        if let Some(known) = self.shapes.get(bound) {
            return Rc::clone(known);
        }
        let read = Rc::new(self.read(bound).unwrap_or_default());
        self.shapes.insert(bound.clone(), Rc::clone(&read));
        read
    }

    fn read(&self, bound: &Bound) -> Option<TraitShape> {
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
        shape.above = self.bounds(home, &parsed.supertraits);
        let mut scope = Scope::from([("Self".to_owned(), ReceiverKind::Bounded(Vec::new()))]);
        self.generics(home, &parsed.generics, &mut scope);
        if let Some(ReceiverKind::Bounded(own)) = scope.remove("Self") {
            shape.above.extend(own);
        }
        for member in &parsed.items {
            match member {
                syn::TraitItem::Fn(function) => {
                    let name = function.sig.ident.to_string();
                    if let syn::ReturnType::Type(_, result) = &function.sig.output {
                        shape.results.insert(name.clone(), (**result).clone());
                    }
                    shape.members.insert(name);
                }
                syn::TraitItem::Const(constant) => {
                    shape.members.insert(constant.ident.to_string());
                }
                _ => {}
            }
        }
        Some(shape)
    }

    /// The functions of a type's own `impl`s, with what they give.
    fn own(&mut self, item: ItemId) -> Rc<Results> {
        if let Some(known) = self.own.get(&item) {
            return Rc::clone(known);
        }
        let mut found = Results::new();
        let world = self.world;
        let impls = world.impls().iter();
        for site in impls.filter(|one| one.of == Some(item) && one.is_inherent()) {
            let text = self.texts.text(&world[site.file].path);
            let text = text.as_deref().and_then(|text| site.span.of(text));
            let Some(parsed) = text.and_then(|text| syntax::parse::<syn::ItemImpl>(text).ok())
            else {
                continue;
            };
            for member in parsed.items {
                let (name, result) = match member {
                    syn::ImplItem::Fn(function) => {
                        let result = match function.sig.output {
                            syn::ReturnType::Type(_, result) => Some((site.module, *result)),
                            syn::ReturnType::Default => None,
                        };
                        (function.sig.ident.to_string(), result)
                    }
                    syn::ImplItem::Const(constant) => (constant.ident.to_string(), None),
                    _ => continue,
                };
                found.insert(name, result);
            }
        }
        let found = Rc::new(found);
        self.own.insert(item, Rc::clone(&found));
        found
    }
}

/// The one name that a type is, behind any `&`.
fn name_of(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Reference(reference) => name_of(&reference.elem),
        syn::Type::Paren(inner) => name_of(&inner.elem),
        syn::Type::Group(inner) => name_of(&inner.elem),
        syn::Type::Path(path) if path.qself.is_none() => {
            path.path.get_ident().map(ToString::to_string)
        }
        _ => None,
    }
}
