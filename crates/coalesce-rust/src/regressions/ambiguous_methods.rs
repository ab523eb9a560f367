//! Methods that two traits in scope have: where a type has both, the compiler knows no longer which is called.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Tree, is_changed};
use crate::{
    lexer,
    resolve::{Body, FileId, ImplSite, ItemId, ModuleId, World, id},
    rewrite::{CalledOn, called_names, method_calls, method_homes},
};

/// Traits that a module has in scope, with a method of one name.
struct Rivals {
    home: ModuleId,
    pairs: BTreeSet<(ItemId, ItemId)>,
}

/// Such traits by module and method.
type RivalsByMethod = BTreeMap<(String, String), Rivals>;

/// Calls that the tree before has not, or that only one trait in scope had a method for.
pub(crate) fn ambiguous_methods(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let now = open_calls(after, before.world);
    if now.is_empty() {
        return Vec::new();
    }
    let then = open_calls(before, after.world);
    let (are, were) = (total_by_method(&now), total_by_method(&then));
    let is_new = |(key, calls): &(&(String, String), &OpenCalls)| {
        let known = then.get(*key).map_or(0, |calls| calls.count);
        calls.count > known && are.get(&*key.1) > were.get(&*key.1)
    };
    let told = now.iter().filter(is_new).flat_map(|((_, method), calls)| {
        let told = calls.told.iter();
        told.map(|(at, pair)| told_of(after, *at, method, *pair))
    });
    told.collect()
}

/// Calls of a method in one module, of which two traits in scope there may both be asked.
#[derive(Default)]
struct OpenCalls {
    count: usize,
    /// Where one is said in each body, with the traits.
    told: Vec<((FileId, ByteSpan), (ItemId, ItemId))>,
}

/// Such calls by module and method.
type OpenCallsByMethod = BTreeMap<(String, String), OpenCalls>;

/// Those in files that the other tree has not, or not like this.
fn open_calls(tree: Tree<'_>, other: &World) -> OpenCallsByMethod {
    let world = tree.world;
    let mut found = OpenCallsByMethod::new();
    let mut types = TypesOfTraits::default();
    for (key, rivals) in rivals(tree) {
        let bodies = world.bodies_of(rivals.home);
        let bodies = bodies.filter(|body| is_changed(world, other, body.file));
        for body in bodies {
            let Some((count, at)) = calls_in(tree, body, &key.1) else {
                continue;
            };
            let pairs = types.open_pairs(tree, body, (&key.1, &rivals.pairs));
            if !pairs.is_empty() {
                let known = found.entry(key.clone()).or_default();
                known.count += count;
                let told = pairs.into_iter().map(|pair| ((body.file, at), pair));
                known.told.extend(told);
            }
        }
    }
    found
}

/// How many of them there are of each method.
fn total_by_method(calls: &OpenCallsByMethod) -> BTreeMap<&str, usize> {
    let mut found = BTreeMap::new();
    for ((_, method), calls) in calls {
        *found.entry(method.as_str()).or_default() += calls.count;
    }
    found
}

fn told_of(
    tree: Tree<'_>,
    (file, at): (FileId, ByteSpan),
    method: &str,
    (one, other): (ItemId, ItemId),
) -> Unproven {
    let world = tree.world;
    let (one, other) = (&world[one].name, &world[other].name);
    Unproven {
        path: world[file].path.clone(),
        span: Some(at),
        kind: UnprovenKind::UnknownType,
        name: method.to_owned(),
        why: format!(
            "`{one}` and `{other}` come to be in scope here together, both have this method, and which of them is \
             called may be open then"
        ),
    }
}

/// How often a body of a module says a method that it calls, or a macro for it, and where last; by the macro alone
/// its start.
fn calls_in(tree: Tree<'_>, body: &Body, method: &str) -> Option<(usize, ByteSpan)> {
    let world = tree.world;
    let span = world.facts(body.file).scope(body.scope).span;
    let text = tree.texts.text(&world[body.file].path)?;
    let called = called_names(world, tree.texts, &text, span);
    called.contains(method).then(|| {
        let tokens = lexer::tokens(&text, span);
        let behind_dots = tokens.windows(2).filter_map(|pair| {
            let [dot, name] = pair else { return None };
            (dot.is(b'.') && name.span.of(&text) == Some(method)).then_some(name.span)
        });
        let said: Vec<ByteSpan> = behind_dots.collect();
        let last = said.last().copied();
        (
            said.len().max(1),
            last.unwrap_or(ByteSpan::empty(span.start)),
        )
    })
}

/// The pairs of traits of the tree that one type may have, by the modules with both in scope and the names of methods.
fn rivals(tree: Tree<'_>) -> RivalsByMethod {
    let world = tree.world;
    let homes = method_homes(world, tree.texts);
    let several = homes.traits.iter().filter(|(_, traits)| traits.len() > 1);
    let several: Vec<_> = several.collect();
    let asked = several.iter().flat_map(|(_, all)| all.iter().copied());
    let in_scope = modules_by_trait(world, &asked.collect());
    let mut types = TypesOfTraits::default();
    let mut found = RivalsByMethod::new();
    let pairs = several.into_iter().flat_map(|(method, traits)| {
        let pairs = pairs_of(traits).into_iter();
        pairs.map(move |pair| (method, pair))
    });
    for (method, (one, other)) in pairs {
        let (Some(own), Some(others)) = (in_scope.get(&one), in_scope.get(&other)) else {
            continue;
        };
        if !types.of(tree, one).meet(&types.of(tree, other)) {
            continue;
        }
        for module in own.intersection(others) {
            let key = (world[*module].canonical.clone(), method.clone());
            let known = found.entry(key).or_insert_with(|| Rivals {
                home: *module,
                pairs: BTreeSet::new(),
            });
            known.pairs.insert((one, other));
        }
    }
    found
}

/// The modules that have each of these traits in scope.
fn modules_by_trait(
    world: &World,
    asked: &BTreeSet<ItemId>,
) -> BTreeMap<ItemId, BTreeSet<ModuleId>> {
    let mut found: BTreeMap<ItemId, BTreeSet<ModuleId>> = BTreeMap::new();
    for module in (0..id(world.modules.len())).map(ModuleId) {
        let known = world.traits_in_scope(module);
        for item in known.filter(|item| asked.contains(item)) {
            found.entry(item).or_default().insert(module);
        }
    }
    found
}

/// Every two of some traits that are not the same.
fn pairs_of(traits: &[ItemId]) -> Vec<(ItemId, ItemId)> {
    let mut found = Vec::new();
    for (at, one) in traits.iter().enumerate() {
        let others = traits.iter().skip(at + 1).filter(|other| *other != one);
        found.extend(others.map(|other| (*one, *other)));
    }
    found
}

/// The types of traits, each read once.
#[derive(Default)]
struct TypesOfTraits(BTreeMap<ItemId, Rc<ImplementedTypes>>);

impl TypesOfTraits {
    fn of(&mut self, tree: Tree<'_>, item: ItemId) -> Rc<ImplementedTypes> {
        let read = || Rc::new(ImplementedTypes::of(tree, item));
        Rc::clone(self.0.entry(item).or_insert_with(read))
    }

    /// The pairs of which both may be those of what a body calls a method on, as far as that is known.
    fn open_pairs(
        &mut self,
        tree: Tree<'_>,
        body: &Body,
        (method, pairs): (&str, &BTreeSet<(ItemId, ItemId)>),
    ) -> BTreeSet<(ItemId, ItemId)> {
        let world = tree.world;
        let Some(text) = tree.texts.text(&world[body.file].path) else {
            return pairs.clone();
        };
        let code = (&*text, world.code_of(body));
        let called = method_calls(world, body.module, code, tree.texts);
        let mut pairs = pairs.clone();
        pairs.retain(|pair| called.on(method).any(|on| self.may_meet(tree, *pair, on)));
        pairs
    }

    /// Whether both traits may be those of what a method is called on.
    fn may_meet(&mut self, tree: Tree<'_>, (one, other): (ItemId, ItemId), on: CalledOn) -> bool {
        let (own, others) = (self.of(tree, one), self.of(tree, other));
        let have = |name: &str| own.has(name) && others.has(name);
        match on {
            CalledOn::Type(item, _) => have(&tree.world[item].name),
            CalledOn::Text(_) => have("String") || have("str"),
            CalledOn::Number(_) => {
                own.is_open || others.is_open || NUMBERS.iter().any(|name| have(name))
            }
            _ => own.meet(&others),
        }
    }
}

/// The names of numbers.
const NUMBERS: [&str; 14] = [
    "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
    "usize",
];

/// The types that a trait is implemented for, as the heads of its `impl`s say them.
#[derive(Default)]
struct ImplementedTypes {
    /// Last names of types: `Vec` of `impl<T> Walk for std::vec::Vec<T>`.
    names: BTreeSet<String>,
    /// Whether some head says no name: a type parameter, a reference, or it is a macro that says it.
    is_open: bool,
}

impl ImplementedTypes {
    fn of(tree: Tree<'_>, of: ItemId) -> Self {
        let world = tree.world;
        let mut found = Self::default();
        let mut all = world
            .impls()
            .iter()
            .filter(|one| one.by == Some(of))
            .peekable();
        found.is_open = all.peek().is_none();
        for one in all {
            match name_of_type(world, one, tree) {
                Some(name) => _ = found.names.insert(name),
                None => found.is_open = true,
            }
        }
        found
    }

    /// Whether a type of a name may have the trait.
    fn has(&self, name: &str) -> bool {
        self.is_open || self.names.contains(name)
    }

    fn meet(&self, other: &Self) -> bool {
        self.is_open || other.is_open || !self.names.is_disjoint(&other.names)
    }
}

/// What the type of an `impl` is called, references aside: its last name, `[]` of a slice or an array, `()` of a tuple;
/// `None` of a parameter, and of what is none of these.
fn name_of_type(world: &World, one: &ImplSite, tree: Tree<'_>) -> Option<String> {
    let text = tree.texts.text(&world[one.file].path)?;
    let tokens = lexer::tokens(&text, one.span);
    let word = |at: usize| {
        tokens
            .get(at)
            .and_then(|token| token.span.of(&text))
            .unwrap_or_default()
    };
    let (keyword, own) = keywords_of(&word, tokens.len())?;
    let mut at = own + 1;
    while word(at) == "&" || word(at) == "mut" || word(at).starts_with('\'') {
        at += 1;
    }
    match word(at) {
        "[" => return Some("[]".to_owned()),
        "(" => return Some("()".to_owned()),
        "dyn" | "*" | "<" | "fn" | "!" => return None,
        _ => {}
    }
    let mut name = word(at);
    while word(at + 1) == ":" && word(at + 2) == ":" {
        at += 3;
        name = word(at);
    }
    let is_parameter = (keyword..own).any(|at| word(at) == name);
    (!is_parameter && !name.is_empty()).then(|| name.to_owned())
}

/// Where the head of an `impl` of a trait says `impl` and `for`.
fn keywords_of<'t>(word: &dyn Fn(usize) -> &'t str, count: usize) -> Option<(usize, usize)> {
    let keyword = (0..count).find(|at| word(*at) == "impl")?;
    let open = (keyword..count).find(|at| word(*at) == "{")?;
    // `for<'a>` is of a bound.
    let is_own = |at: &usize| word(*at) == "for" && word(*at + 1) != "<";
    let own = (keyword..open).rev().find(is_own)?;
    Some((keyword, own))
}
