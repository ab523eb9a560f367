//! Which traits of an old parent the methods of moved code may need.
//!
//! A method call names no trait, so this goes by names: a trait counts as needed where one of its
//! methods is named behind a dot or a `::`. Traits of this tree and of the standard library are
//! known by their methods. Of other crates nothing is known; there a name counts as a trait where
//! the old parent uses it as a bound or does not name it at all.

use std::{collections::BTreeSet, sync::Arc};

use coalesce_model::{ByteSpan, Texts};
use rustc_hash::FxHashMap;
use syn::visit::Visit;

use crate::{
    facts::{ItemKind, PathFact},
    lexer::{self, Token, TokenKind},
    resolve::{Binding, ItemId, ModuleId, Res, World},
    rewrite::{
        macro_methods::called_names,
        method_calls::{
            self,
            calls::{Called, CalledOn},
            homes,
        },
    },
    syntax,
    words::{
        self, INHERENT_METHODS, KNOWN_TRAITS, NUMBER_METHODS, ORDINARY_METHODS, STANDARD_TRAITS,
    },
};

/// A name without `r#`.
pub(super) fn unraw(word: &str) -> &str {
    word.strip_prefix("r#").unwrap_or(word)
}

/// Names that code says itself where a method may be named; `macro_methods` knows what the macros say that it calls.
pub(crate) fn method_names(text: &str, span: ByteSpan) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut before = (false, false);
    for token in lexer::tokens(text, span) {
        if token.is_ident() {
            let word = token.span.of(text).unwrap_or_default();
            let word = unraw(word);
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
pub(crate) enum Demand {
    No,
    /// It calls a method of that name, which types have by themselves as well, or nobody knows the
    /// methods of the trait.
    Perhaps,
    Yes,
}

/// A tree with its texts, and how a module uses names that it has from elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub world: &'a World,
    pub texts: &'a dyn Texts,
    /// Whether a name from elsewhere is used as traits are.
    pub looks: &'a dyn Fn(&str) -> bool,
}

/// How much speaks for it that code of a module calls methods of a trait of the tree.
pub(crate) fn demand_of_trait(
    world: &World,
    trait_item: ItemId,
    (home, text): (ModuleId, &str),
    texts: &dyn Texts,
) -> Demand {
    let whole = ByteSpan::from_range(0..text.len());
    let demand = |called: &Called| demand_of_called(world, Res::Item(trait_item), called, texts);
    // Names are read quickly, receivers are not.
    match demand(&Called::on_unknown(called_names(world, texts, text, whole))) {
        Demand::No => Demand::No,
        _ => demand(&method_calls::called(world, home, (text, whole), texts)),
    }
}

/// How much speaks for it that methods which code calls are of the trait that something is.
pub(crate) fn demand_of_called(
    world: &World,
    of: Res,
    called: &Called,
    texts: &dyn Texts,
) -> Demand {
    let asked = Asked {
        world,
        texts,
        looks: &|_| false,
    };
    asked.demand(("", of), called)
}

/// Whether code of a module may call a method of one of some things, by names that they have; of what is not read, where
/// that is among them, any that nobody knows.
pub(crate) fn may_call(
    world: &World,
    (things, is_opaque): (&[(String, Res)], bool),
    (home, text): (ModuleId, &str),
    texts: &dyn Texts,
) -> bool {
    let whole = ByteSpan::from_range(0..text.len());
    let called = method_calls::called(world, home, (text, whole), texts);
    let asked = Asked {
        world,
        texts,
        looks: &|name| name == "_" || name.starts_with(char::is_uppercase),
    };
    (is_opaque && calls_unknown(called.names()))
        || things
            .iter()
            .any(|(name, res)| asked.is_needed((name, *res), &called))
}

impl Asked<'_> {
    /// Whether methods that are called may be of the trait that `res` is, if it is one.
    pub fn is_needed(&self, trait_of: (&str, Res), called: &Called) -> bool {
        self.demand(trait_of, called) != Demand::No
    }

    /// How much speaks for it that methods that are called are of the trait that `res` is.
    pub fn demand(&self, (name, res): (&str, Res), called: &Called) -> Demand {
        let world = self.world;
        match res {
            Res::Item(item) => {
                if world[item].kind != ItemKind::Trait {
                    return Demand::No;
                }
                known_methods(world, item, self.texts).map_or(Demand::Perhaps, |own| {
                    self.by_methods(own.iter().map(String::as_str), Some(item), called)
                })
            }
            Res::External(full) => {
                let full = world.names.text(full).to_string();
                let mut parts = full.split("::");
                let first = parts.next().unwrap_or_default();
                let last = parts.last().unwrap_or_default();
                if matches!(first, "std" | "core" | "alloc") {
                    self.standard((&full, last), called)
                } else if let Some(own) = words::words_of(KNOWN_TRAITS, &full) {
                    self.by_methods(own, None, called)
                } else if (calls_unknown(called.names()) && (self.looks)(name))
                    // `Zero::zero`: a trait is often called like its one method.
                    || called.contains(&snake(last))
                {
                    Demand::Perhaps
                } else {
                    Demand::No
                }
            }
            _ => Demand::No,
        }
    }

    fn standard(&self, (full, name): (&str, &str), called: &Called) -> Demand {
        if name == "Write" {
            return self.write(full.ends_with("::fmt::Write"), called);
        }
        // Extension traits of systems: `MetadataExt`, `OsStrExt`.
        if name.ends_with("Ext") {
            return Demand::Perhaps;
        }
        words::words_of(STANDARD_TRAITS, name)
            .map_or(Demand::No, |own| self.by_methods(own, None, called))
    }

    /// The same of the two traits that are called `Write`: text is written to by one, bytes by the other.
    fn write(&self, is_of_text: bool, called: &Called) -> Demand {
        let own: &[&str] = match is_of_text {
            true => &["write_fmt", "write_str", "write_char"],
            false => &[
                "write",
                "write_vectored",
                "write_all",
                "write_fmt",
                "flush",
                "by_ref",
            ],
        };
        let calls = own
            .iter()
            .flat_map(|name| called.on(name).map(move |on| (*name, on)));
        let demands = calls.map(|(name, on)| match on {
            CalledOn::Text(_) if !is_of_text => Demand::No,
            CalledOn::Bytes(_) if is_of_text => Demand::No,
            CalledOn::Text(_) | CalledOn::Bytes(_) => self.by_call_of_tree(name, on),
            _ => self.by_call((name, None), on),
        });
        demands.max().unwrap_or(Demand::No)
    }

    /// Of a method that a type of the standard library has by a trait of that alone: a trait of the tree may have it, too.
    fn by_call_of_tree(&self, name: &str, on: CalledOn) -> Demand {
        let homes = homes::homes(self.world, self.texts);
        match homes.may_be_others(self.world, (name, None), on) {
            true => Demand::Perhaps,
            false => Demand::Yes,
        }
    }

    /// The same by the names of a trait's methods.
    fn by_methods<'m>(
        &self,
        own: impl IntoIterator<Item = &'m str>,
        of: Option<ItemId>,
        called: &Called,
    ) -> Demand {
        let mut demand = Demand::No;
        for name in own {
            for on in called.on(name) {
                demand = demand.max(self.by_call((name, of), on));
            }
        }
        demand
    }

    fn by_call(&self, (name, of): (&str, Option<ItemId>), on: CalledOn) -> Demand {
        let (world, texts) = (self.world, self.texts);
        let homes = || homes::homes(world, texts);
        if let CalledOn::Type(item, home) = on {
            if of.is_some_and(|of| homes::implements(world, item, of)) {
                return Demand::Yes;
            }
            // Two that are in scope and have it would leave it open which of them is called.
            if homes().has_by_another(world, (name, of), (item, home)) {
                return Demand::No;
            }
        }
        let outside = match on {
            CalledOn::Type(..) => false,
            CalledOn::Number(_) => NUMBER_METHODS.contains(name),
            _ => INHERENT_METHODS.contains(name),
        };
        match outside || homes().may_be_others(world, (name, of), on) {
            true => Demand::Perhaps,
            false => Demand::Yes,
        }
    }
}

/// Whether code calls methods that types of the standard library do not have anyway.
pub(super) fn calls_unknown<'m>(mut methods: impl Iterator<Item = &'m str>) -> bool {
    methods.any(|name| !ORDINARY_METHODS.contains(name))
}

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

/// The names of the functions and constants of a trait; `None` where its text does not tell.
fn known_methods(world: &World, item: ItemId, texts: &dyn Texts) -> Option<Arc<[String]>> {
    // Methods of traits above come with the traits' own names in scope.
    let read = || read(world, item, texts).map(|(methods, _)| methods);
    world.trait_members.of(item, read)
}

/// What a module names that may be a trait, found by the methods that code calls: of thousands of traits
/// few have one of these.
pub(super) struct TraitsByMethod<'w> {
    /// By the names of the world.
    bindings: Vec<(String, &'w Binding)>,
    /// Those of this tree whose methods are known.
    by_method: FxHashMap<String, Vec<usize>>,
    /// All others.
    others: Vec<usize>,
}

impl<'w> TraitsByMethod<'w> {
    /// Reads the names of a module.
    pub fn of(world: &'w World, module: ModuleId, texts: &dyn Texts) -> Self {
        let mut found = Self {
            bindings: Vec::new(),
            by_method: FxHashMap::default(),
            others: Vec::new(),
        };
        let mut names: Vec<_> = world.space(module).names.iter().collect();
        names.sort_by_key(|(sym, _)| **sym);
        for (sym, bindings) in names {
            for binding in bindings.iter().filter(|one| may_be_trait(world, one.res)) {
                let at = found.bindings.len();
                let name = world.names.text(*sym).to_string();
                found.bindings.push((name, binding));
                let known = match binding.res {
                    Res::Item(item) => known_methods(world, item, texts),
                    _ => None,
                };
                match known {
                    None => found.others.push(at),
                    Some(methods) => {
                        for method in &*methods {
                            let have = found.by_method.entry(method.clone());
                            have.or_default().push(at);
                        }
                    }
                }
            }
        }
        found
    }

    /// Those that may have one of these methods, in the order of their names.
    pub fn with_one_of<'m>(
        &self,
        methods: impl Iterator<Item = &'m str>,
    ) -> impl Iterator<Item = (&str, &'w Binding)> {
        let mut found: BTreeSet<usize> = self.others.iter().copied().collect();
        for method in methods {
            found.extend(self.by_method.get(method).into_iter().flatten());
        }
        let found = found.into_iter();
        found.filter_map(|at| {
            let (name, binding) = self.bindings.get(at)?;
            Some((name.as_str(), *binding))
        })
    }
}

/// Whether it is a trait of this tree, or something from elsewhere.
pub(crate) fn may_be_trait(world: &World, res: Res) -> bool {
    match res {
        Res::External(_) => true,
        other => world.as_trait(other).is_some(),
    }
}

/// The names of the functions and constants of a trait, and of the traits above it.
pub(super) fn read(
    world: &World,
    item: ItemId,
    texts: &dyn Texts,
) -> Option<(Vec<String>, Vec<String>)> {
    let _trees = syntax::Trees::begin();
    let (file, at) = *world[item].definitions.first()?;
    let facts = world.facts(file);
    let fact = facts.item(at);
    let text = texts.text(&world[file].path)?;
    let Ok(item) = syntax::parse::<syn::ItemTrait>(fact.span.of(&text)?) else {
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
        words::words_of(STANDARD_TRAITS, last)
    } else {
        words::words_of(KNOWN_TRAITS, &full)
    };
    own.into_iter().flatten().map(str::to_owned).collect()
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
        let _trees = syntax::Trees::begin();
        let mut found = Self {
            bounds: BTreeSet::new(),
            named: BTreeSet::new(),
        };
        for body in world.bodies_of(module) {
            let (facts, file) = (world.facts(body.file), &world[body.file]);
            let first = |path: &PathFact| {
                let first = facts.segments(path.segments).first();
                first.map(|first| facts.name(first.name).to_owned())
            };
            found.named.extend(facts.paths.iter().filter_map(first));
            let parsed = texts
                .text(&file.path)
                .and_then(|text| syntax::parse_file(&text).ok());
            if let Some(parsed) = parsed {
                Bounds(&mut found.bounds).visit_file(&parsed);
            }
        }
        found
    }

    /// Whether a name is that of a bound, or of a trait that is implemented.
    pub fn is_bound(&self, name: &str) -> bool {
        self.bounds.contains(name)
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
    fn methods_are_named_behind_dots_and_colons() {
        let text = "fn f() { a.to_string(); String::from_str(b); writeln!(c); let d: E; }";
        let span = ByteSpan::new(0, u32::try_from(text.len()).unwrap());
        let found = method_names(text, span);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, ["from_str", "to_string", "write_fmt"]);
    }
}
