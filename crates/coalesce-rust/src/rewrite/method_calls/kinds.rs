//! What is known of the type of a receiver, as far as signatures and definitions of the tree say it.
//!
//! No inference: a type is known by what declares it, by what the function that gives it says, and by
//! the field that holds it. Everything else is unknown.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_model::Texts;
use syn::visit::Visit;

use super::{
    calls::CalledOn,
    homes::hands_on,
    members::{Functions, TraitShape},
    outside::{self, POINTERS, outside},
};
use crate::{
    facts::ItemKind,
    resolve::{Binding, ItemId, ModuleId, Res, World},
    rewrite::traits,
    syntax,
    words::{PRELUDE, PRIMITIVES},
};

/// Types of the standard library that bytes are written to, and no text.
const TAKE_BYTES: [&str; 11] = [
    "BufWriter",
    "ChildStdin",
    "File",
    "LineWriter",
    "Sink",
    "Stderr",
    "StderrLock",
    "Stdout",
    "StdoutLock",
    "TcpStream",
    "Vec",
];

/// How many traits above traits are followed.
const DEEPEST: usize = 8;

/// The libraries that come with the language.
const STANDARD: [&str; 3] = ["alloc", "core", "std"];

/// Functions of traits of other crates that give the type that they are of.
const GIVE_THEMSELVES: [&str; 6] = ["clone", "default", "from", "into_owned", "one", "zero"];

/// A number as it is written.
pub(super) const NUMBER: &str = "number";

/// The name of what `*const` and `*mut` make.
const POINTER: &str = "*";

/// A trait as a bound says it: the module that has the name, and the name.
pub(super) type Bound = (ModuleId, String);

/// The bounds of a type.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownBounds {
    pub traits: Vec<Bound>,
    /// Whether they say what an associated type is: `Iterator<Item = u8>`.
    pub assigned: bool,
}

/// What is known of a type.
#[derive(Clone, Debug)]
pub(super) enum ReceiverKind {
    /// It has what these traits give: a type parameter, `impl` and `dyn`, `Self` of a trait.
    Bounded(KnownBounds),
    /// A type of the tree, with its type arguments as far as they are known.
    Type(ItemId, Vec<Option<ReceiverKind>>),
    /// A type of another library, by its name, with its type arguments as far as they are known.
    Outside(String, Vec<Option<ReceiverKind>>),
    /// What a parameter's trait, or a function, hides: its bounds give nothing to who has not imported them.
    Opaque,
    /// A type parameter that stands for what nobody said.
    Hidden,
    /// What writes a `Debug` or `Display`: `fmt::Formatter`.
    Formatter,
    /// What a formatter makes for lists, structs and the like.
    DebugBuilder,
}

/// The methods that a formatter has by itself and a trait by the same name.
const OF_FORMATTERS: [&str; 2] = ["write_fmt", "write_str"];

/// What names of types stand for at a place: type parameters and `Self`.
pub(super) type Scope = BTreeMap<String, ReceiverKind>;

/// What methods give, by their names, with the modules that say so.
type ResultsByTraits = BTreeMap<String, (ModuleId, syn::Type)>;

/// Traits and types of a tree, read once each.
pub(super) struct Given<'g> {
    pub(super) world: &'g World,
    pub(super) texts: &'g dyn Texts,
    pub(super) shapes: BTreeMap<Bound, Rc<TraitShape>>,
    pub(super) own: BTreeMap<ItemId, Rc<Functions>>,
    by_traits: BTreeMap<ItemId, Rc<ResultsByTraits>>,
    /// How many aliases of types are being followed.
    aliases: Cell<usize>,
}

impl<'g> Given<'g> {
    pub fn new(world: &'g World, texts: &'g dyn Texts) -> Self {
        let (shapes, own) = (BTreeMap::new(), BTreeMap::new());
        Self {
            world,
            texts,
            shapes,
            own,
            by_traits: BTreeMap::new(),
            aliases: Cell::new(0),
        }
    }

    /// The module that has the last name of a path, and that name.
    pub fn bound(&self, home: ModuleId, path: &syn::Path) -> Option<Bound> {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|one| one.ident.to_string())
            .collect();
        let (last, outer) = names.split_last()?;
        let mut at = home;
        for (step, name) in outer.iter().enumerate() {
            at = self.module_behind((home, at), step, name)?;
        }
        Some((at, last.clone()))
    }

    /// The module that a step of a path which begins in `home` leads to from the one at `at`.
    fn module_behind(
        &self,
        (home, at): (ModuleId, ModuleId),
        step: usize,
        name: &str,
    ) -> Option<ModuleId> {
        let world = self.world;
        match name {
            "crate" if step == 0 => {
                let above = std::iter::successors(Some(home), |one| world[*one].parent);
                above.last()
            }
            "self" if step == 0 => Some(home),
            "super" => world[at].parent,
            _ => {
                let mut bindings = world.bindings(at, name).iter();
                let found = bindings.find_map(|one| match one.res {
                    Res::Module(module) => Some(module),
                    _ => None,
                });
                found.or_else(|| self.library(home, name).filter(|_| step == 0))
            }
        }
    }

    /// The root of a library of the tree, by the name that the crate of a module has for it.
    fn library(&self, home: ModuleId, name: &str) -> Option<ModuleId> {
        let world = self.world;
        let krate = &world[world[home].krate];
        let mut known = krate.externs.iter();
        let (_, library) = known.find(|(own, _)| own == name)?;
        world[(*library)?].root
    }

    /// The traits that bounds name.
    pub fn bounds<'b>(
        &self,
        home: ModuleId,
        bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>,
    ) -> KnownBounds {
        let mut found = KnownBounds::default();
        for bound in bounds {
            let syn::TypeParamBound::Trait(bound) = bound else {
                continue;
            };
            let names = bound.path.segments.iter();
            let names: Vec<String> = names.map(|one| one.ident.to_string()).collect();
            let first = names.first().map(String::as_str);
            let standard = first.is_some_and(|name| STANDARD.contains(&name));
            // A path that leads nowhere is a bound of which nothing is known.
            let elsewhere = || (!standard).then(|| (home, names.join("::")));
            let known = self.bound(home, &bound.path).or_else(elsewhere);
            found.traits.extend(known);
            let last = bound.path.segments.last();
            found.assigned |= last.is_some_and(|last| assigns(&last.arguments));
        }
        found
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
                let more = self.bounds(home, &predicate.bounds);
                known.traits.extend(more.traits);
                known.assigned |= more.assigned;
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
            syn::Type::Slice(slice) => {
                Some(outside("[]", vec![self.kind(home, scope, &slice.elem)]))
            }
            syn::Type::Array(array) => {
                Some(outside("[]", vec![self.kind(home, scope, &array.elem)]))
            }
            syn::Type::Ptr(pointer) => Some(outside(
                POINTER,
                vec![self.kind(home, scope, &pointer.elem)],
            )),
            syn::Type::Tuple(tuple) => {
                let all = tuple.elems.iter().map(|one| self.kind(home, scope, one));
                Some(outside("()", all.collect()))
            }
            syn::Type::ImplTrait(_) => Some(ReceiverKind::Opaque),
            syn::Type::FnPtr(_) => Some(outside("fn", Vec::new())),
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
            other => {
                // Inside of another type it is a parameter, too.
                let mut hidden = Hidden(false);
                hidden.visit_type(other);
                let kind = || self.kind(home, scope, other);
                (!hidden.0).then(kind).flatten()
            }
        }
    }

    fn kind_of_path(
        &self,
        home: ModuleId,
        scope: &Scope,
        path: &syn::TypePath,
    ) -> Option<ReceiverKind> {
        // KnownBounds of an associated type give it nothing: its traits have to be in scope.
        if path.qself.is_some() {
            return None;
        }
        if let Some(name) = path.path.get_ident()
            && let Some(known) = scope.get(&name.to_string())
        {
            return match known {
                ReceiverKind::Hidden => None,
                known => Some(known.clone()),
            };
        }
        let last = path.path.segments.last()?;
        if let Some(of) = associated(&path.path)
            && let Some(ReceiverKind::Bounded(bounds)) = scope.get(&of)
        {
            return (!bounds.assigned).then_some(ReceiverKind::Opaque);
        }
        let arguments = syntax::arguments_of(&last.arguments);
        let bound = self.bound(home, &path.path);
        let bindings = bound.map_or(&[][..], |(module, name)| self.world.bindings(module, &name));
        let item = bindings.iter().find_map(|binding| match binding.res {
            Res::Item(item) => Some(item),
            _ => None,
        });
        let Some(item) = item else {
            let kinds = arguments.iter().map(|ty| self.kind(home, scope, ty));
            return self.kind_outside(&path.path, bindings, kinds.collect());
        };
        match self.world[item].kind {
            ItemKind::Struct | ItemKind::Enum | ItemKind::Union => {
                let arguments = arguments.iter().map(|ty| self.kind(home, scope, ty));
                Some(ReceiverKind::Type(item, arguments.collect()))
            }
            ItemKind::TypeAlias => self.alias(item, (home, scope), &arguments),
            _ => None,
        }
    }

    /// The same of a path that leads out of the tree.
    fn kind_outside(
        &self,
        path: &syn::Path,
        bindings: &[Binding],
        arguments: Vec<Option<ReceiverKind>>,
    ) -> Option<ReceiverKind> {
        let mut names = path.segments.iter().map(|one| one.ident.to_string());
        let (first, name) = (names.next()?, path.segments.last()?.ident.to_string());
        let said = path.segments.iter().rev().nth(1);
        let formats = said.is_some_and(|said| said.ident == "fmt")
            || bindings.iter().any(|one| match one.res {
                Res::External(full) => self.world.names.text(full).ends_with("fmt::Formatter"),
                _ => false,
            });
        if name == "Formatter" && formats {
            return Some(ReceiverKind::Formatter);
        }
        let known = match bindings {
            [] if path.segments.len() == 1 => PRELUDE.contains(&name),
            [] => STANDARD.contains(&first.as_str()),
            all => all.iter().any(|one| self.is_standard(one.res)),
        };
        let external = |one: &Binding| matches!(one.res, Res::External(_));
        match known {
            // Behind what it holds may stand the type of an allocator.
            true if POINTERS.contains(&name.as_str()) => arguments.into_iter().next().flatten(),
            true => Some(outside(&name, arguments)),
            // Whatever it holds it may hand calls on to.
            false => (bindings.iter().any(external) && arguments.is_empty())
                .then(|| outside("value", Vec::new())),
        }
    }

    /// What an alias of a type stands for.
    fn alias(
        &self,
        item: ItemId,
        (home, scope): (ModuleId, &Scope),
        arguments: &[&syn::Type],
    ) -> Option<ReceiverKind> {
        let _trees = syntax::Trees::begin();
        let (own, text) = self.text_of(item)?;
        let alias: syn::ItemType = syntax::parse(&text).ok()?;
        // One that leads to itself is no program, and ends here.
        if self.aliases.get() > DEEPEST {
            return None;
        }
        self.aliases.set(self.aliases.get() + 1);
        let mut inner = Scope::new();
        for (at, parameter) in alias.generics.type_params().enumerate() {
            let argument = arguments.get(at).and_then(|ty| self.kind(home, scope, ty));
            let argument = argument.unwrap_or(ReceiverKind::Hidden);
            inner.insert(parameter.ident.to_string(), argument);
        }
        let found = self.kind(own, &inner, &alias.ty);
        self.aliases.set(self.aliases.get() - 1);
        found
    }

    fn is_standard(&self, res: Res) -> bool {
        let Res::External(full) = res else {
            return false;
        };
        let full = self.world.names.text(full).to_string();
        let first = full.split("::").next().unwrap_or_default();
        STANDARD.contains(&first)
    }

    /// What `*` gives of a value.
    pub fn pointed(&self, kind: ReceiverKind) -> Option<ReceiverKind> {
        match kind {
            ReceiverKind::Outside(name, mut of) if name == POINTER => of.pop().flatten(),
            ReceiverKind::Type(item, _) if hands_on(self.world, self.texts, item) => None,
            other => Some(other),
        }
    }

    /// What a method is called on; `None` where it is no call of a trait that has to be imported.
    pub fn receiver(
        &mut self,
        home: ModuleId,
        kind: &ReceiverKind,
        method: &str,
    ) -> Option<CalledOn> {
        if self.gives(kind, method) {
            return None;
        }
        let known = match kind {
            ReceiverKind::Type(item, _) => {
                let some = self.own(*item).contains_key(method);
                match some || hands_on(self.world, self.texts, *item) {
                    true => CalledOn::Unknown(Some(home)),
                    false => CalledOn::Type(*item, home),
                }
            }
            ReceiverKind::Bounded(bounds) if !self.are_known(&bounds.traits, 0) => {
                CalledOn::Bounded
            }
            ReceiverKind::Outside(name, _) if is_number(name) => CalledOn::Number(home),
            ReceiverKind::Outside(name, _) if name == "String" => CalledOn::Text(home),
            ReceiverKind::Outside(name, _) if TAKE_BYTES.contains(&name.as_str()) => {
                CalledOn::Bytes(home)
            }
            _ => CalledOn::Other(home),
        };
        Some(known)
    }

    /// Whether all methods of bounds are known.
    fn are_known(&mut self, bounds: &[Bound], depth: usize) -> bool {
        bounds.iter().all(|bound| {
            if self.trait_of(bound).is_some() {
                let above = self.shape(bound);
                return depth >= DEEPEST || self.are_known(&above.above, depth + 1);
            }
            let mut bindings = self.world.bindings(bound.0, &bound.1).iter();
            match bindings.len() {
                0 => PRELUDE.contains(&bound.1),
                _ => bindings.all(|one| {
                    let own = traits::outside_methods(self.world, one.res);
                    self.is_standard(one.res) || !own.is_empty()
                }),
            }
        })
    }

    /// Whether what is known of a type gives it a method without any import.
    pub fn gives(&mut self, kind: &ReceiverKind, method: &str) -> bool {
        match kind {
            ReceiverKind::Bounded(bounds) => self.by(&bounds.traits, method, 0),
            ReceiverKind::Type(item, _) => {
                let own = self.own(*item);
                own.get(method).is_some_and(|function| function.general)
            }
            ReceiverKind::Outside(..) | ReceiverKind::Opaque | ReceiverKind::Hidden => false,
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
                let found = self.result_by(&bounds.traits, method, 0);
                let Some((home, result)) = found else {
                    let known = GIVE_THEMSELVES.contains(&method) && !bounds.traits.is_empty();
                    return known.then(|| kind.clone());
                };
                let scope = Scope::from([("Self".to_owned(), kind.clone())]);
                self.kind(home, &scope, &result)
            }
            ReceiverKind::Type(item, arguments) => {
                self.result_of_type(kind, *item, arguments, method)
            }
            ReceiverKind::Outside(name, of) => outside::result((name, of), method),
            ReceiverKind::Opaque | ReceiverKind::Hidden => None,
            ReceiverKind::Formatter => method
                .starts_with("debug_")
                .then_some(ReceiverKind::DebugBuilder),
            ReceiverKind::DebugBuilder => {
                (!method.starts_with("finish")).then_some(ReceiverKind::DebugBuilder)
            }
        }
    }

    /// What a method of a type of the tree gives.
    fn result_of_type(
        &mut self,
        kind: &ReceiverKind,
        item: ItemId,
        arguments: &[Option<ReceiverKind>],
        method: &str,
    ) -> Option<ReceiverKind> {
        let own = self.own(item);
        let Some(function) = own.get(method) else {
            return self.result_of_traits(kind, item, method);
        };
        let (home, result) = function.result.clone()?;
        let mut scope = Scope::from([("Self".to_owned(), kind.clone())]);
        for (at, parameter) in function.parameters.iter().enumerate() {
            let argument = arguments.get(at).cloned().flatten();
            let argument = argument.unwrap_or(ReceiverKind::Hidden);
            scope.extend(parameter.clone().map(|name| (name, argument)));
        }
        self.kind(home, &scope, &result)
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
                // What is said of an associated type is not looked up.
                None if depth < DEEPEST && !shape.assigned => {
                    self.result_by(&shape.above, method, depth + 1)
                }
                None => None,
            }
        })
    }

    /// What a method gives that a type has by a trait of the tree, or by one of the language.
    fn result_of_traits(
        &mut self,
        kind: &ReceiverKind,
        item: ItemId,
        method: &str,
    ) -> Option<ReceiverKind> {
        if let Some((home, result)) = self.results_by_traits(item).get(method) {
            let scope = Scope::from([("Self".to_owned(), kind.clone())]);
            return self.kind(*home, &scope, result);
        }
        matches!(method, "clone" | "default").then(|| kind.clone())
    }

    /// What methods give that a type has by traits of the tree, with the modules of the traits; where two have one of
    /// a name, the first trait's.
    fn results_by_traits(&mut self, item: ItemId) -> Rc<ResultsByTraits> {
        if let Some(known) = self.by_traits.get(&item) {
            return Rc::clone(known);
        }
        let world = self.world;
        let mut found = ResultsByTraits::new();
        let traits: BTreeSet<ItemId> = world.impls_of(item).filter_map(|one| one.by).collect();
        for one in traits {
            let home = world[one].module;
            let shape = self.shape(&(home, world[one].name.clone()));
            for (method, result) in &shape.results {
                let known = found.entry(method.clone());
                known.or_insert_with(|| (home, result.clone()));
            }
        }
        let found = Rc::new(found);
        self.by_traits.insert(item, Rc::clone(&found));
        found
    }

    /// Whether an enum has a variant of that name.
    pub fn has_variant(&self, kind: &ReceiverKind, name: &str) -> bool {
        let ReceiverKind::Type(item, _) = kind else {
            return false;
        };
        let variants = self.world.variants.get(item).into_iter().flatten();
        let mut names = variants.map(|one| self.world.names.text(*one));
        names.any(|one| one.to_string() == name)
    }

    pub(super) fn kind_of_item(&self, item: ItemId) -> ItemKind {
        self.world[item].kind
    }

    /// The item that a path names.
    fn item(&self, home: ModuleId, path: &syn::Path) -> Option<ItemId> {
        let (module, name) = self.bound(home, path)?;
        let bindings = self.world.bindings(module, &name).iter();
        let mut items = bindings.filter_map(|binding| match binding.res {
            Res::Item(item) => Some(item),
            _ => None,
        });
        items.next()
    }

    /// The type of what a path names as a value: a constant, or a struct that is its name.
    pub fn constant(&self, home: ModuleId, path: &syn::Path) -> Option<ReceiverKind> {
        let _trees = syntax::Trees::begin();
        let item = self.item(home, path)?;
        let ty = match self.world[item].kind {
            ItemKind::Struct => return Some(ReceiverKind::Type(item, Vec::new())),
            ItemKind::Const => {
                let (_, text) = self.text_of(item)?;
                let parsed: syn::ItemConst = syntax::parse(&text).ok()?;
                parsed.ty
            }
            ItemKind::Static => {
                let (_, text) = self.text_of(item)?;
                let parsed: syn::ItemStatic = syntax::parse(&text).ok()?;
                parsed.ty
            }
            _ => return None,
        };
        self.kind(self.world[item].module, &Scope::new(), &ty)
    }

    /// What a function of a module gives.
    pub fn called(&self, home: ModuleId, path: &syn::Path) -> Option<ReceiverKind> {
        let _trees = syntax::Trees::begin();
        let item = self.item(home, path)?;
        if self.world[item].kind != ItemKind::Function {
            return None;
        }
        let (home, text) = self.text_of(item)?;
        let function: syn::ItemFn = syntax::parse(&text).ok()?;
        // Which types its parameters stand for, the caller decides.
        let parameters = function.sig.generics.type_params();
        let hidden = parameters.map(|one| (one.ident.to_string(), ReceiverKind::Hidden));
        let scope: Scope = hidden.collect();
        match &function.sig.output {
            syn::ReturnType::Type(_, result) => self.kind(home, &scope, result),
            syn::ReturnType::Default => None,
        }
    }

    /// The module and the text of an item.
    pub(super) fn text_of(&self, item: ItemId) -> Option<(ModuleId, String)> {
        let world = self.world;
        let node = &world[item];
        let [(file, at)] = node.definitions.as_slice() else {
            return None;
        };
        let text = self.texts.text(&world[*file].path)?;
        let span = world.facts(*file).item(*at).span;
        Some((node.module, span.of(&text)?.to_owned()))
    }
}

/// The name before that of an associated type: `Self::Item`.
fn associated(path: &syn::Path) -> Option<String> {
    let mut segments = path.segments.iter();
    match (segments.next(), segments.next(), segments.next()) {
        (Some(of), Some(_), None) => Some(of.ident.to_string()),
        _ => None,
    }
}

/// Whether a name is that of a number's type, or of numbers that are written.
fn is_number(name: &str) -> bool {
    PRIMITIVES.contains(name) && !matches!(name, "bool" | "char" | "str") || name == NUMBER
}

/// Whether a type has a parameter without a name in it.
struct Hidden(bool);

impl<'ast> Visit<'ast> for Hidden {
    fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {
        self.0 = true;
    }
}

/// The one name that a type is, behind any `&`.
pub(super) fn name_of(ty: &syn::Type) -> Option<String> {
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

/// Whether arguments of a path say what an associated type is.
fn assigns(arguments: &syn::PathArguments) -> bool {
    let syn::PathArguments::AngleBracketed(list) = arguments else {
        return false;
    };
    let mut all = list.args.iter();
    all.any(|one| matches!(one, syn::GenericArgument::AssocType(_)))
}
