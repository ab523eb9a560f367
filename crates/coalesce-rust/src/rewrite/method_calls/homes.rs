//! Who has a method by its name: types by themselves, traits, and traits that objects are of.
//!
//! Read of all texts at once, when it is first asked for. By names alone: it says who could have a method
//! that is called on what nobody can follow.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Texts};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::CalledOn;
use crate::{
    facts::ItemKind,
    lexer::{self, TokenKind},
    resolve::{FileId, ItemId, MethodHomes, ModuleId, Res, World, id},
    rewrite::traits,
};

/// Traits whose types hand calls on to what they hold.
const HAND_ON: [&str; 2] = ["Deref", "DerefMut"];

/// What the texts say.
pub(crate) fn homes<'w>(world: &'w World, texts: &dyn Texts) -> &'w MethodHomes {
    world.method_homes.get_or_init(|| read(world, texts))
}

fn read(world: &World, texts: &dyn Texts) -> MethodHomes {
    let mut found = MethodHomes::default();
    let above = read_traits(world, texts, &mut found);
    read_shown(world, texts, &above, &mut found);
    let is_type = |of: ItemId| {
        let kind = world[of].kind;
        matches!(kind, ItemKind::Struct | ItemKind::Enum | ItemKind::Union)
    };
    for site in world.impls() {
        if !site.of.is_some_and(is_type) {
            found.open.extend(site.by);
        }
        let text = texts.text(&world[site.file].path);
        let Some(text) = text.filter(|_| site.is_inherent()) else {
            continue;
        };
        functions(&text, site.span, &mut found.inherent);
    }
    in_macros(world, texts, &mut found.inherent);
    find_scopes(world, &mut found);
    found
}

/// Reads who has a method of the traits of the tree; returns the names above each, by name.
fn read_traits(
    world: &World,
    texts: &dyn Texts,
    found: &mut MethodHomes,
) -> FxHashMap<String, Vec<String>> {
    let mut above: FxHashMap<String, Vec<String>> = FxHashMap::default();
    let traits = world.items.iter().enumerate();
    let traits = traits.filter(|(_, one)| one.kind == ItemKind::Trait);
    for item in traits.map(|(at, _)| ItemId(id(at))) {
        let Some((methods, names)) = traits::read(world, item, texts) else {
            continue;
        };
        for method in methods {
            found.traits.entry(method).or_default().push(item);
        }
        let known = above.entry(world[item].name.clone()).or_default();
        known.extend(names);
    }
    above
}

/// Reads the traits behind `dyn`, and those above them.
fn read_shown(
    world: &World,
    texts: &dyn Texts,
    above: &FxHashMap<String, Vec<String>>,
    found: &mut MethodHomes,
) {
    for (_, source) in world.sources() {
        if let Some(text) = texts.text(&source.path) {
            shown(&text, &mut found.shown);
        }
    }
    let mut left: Vec<String> = found.shown.iter().cloned().collect();
    while let Some(name) = left.pop() {
        let above = above.get(&name).into_iter().flatten();
        let new = above.filter(|one| found.shown.insert((*one).clone()));
        left.extend(new.cloned());
    }
}

/// Finds the modules that have each trait in scope.
fn find_scopes(world: &World, found: &mut MethodHomes) {
    let traits: FxHashSet<ItemId> = found.traits.values().flatten().copied().collect();
    for home in (0..id(world.modules.len())).map(ModuleId) {
        let bound = world.space(home).names.values().flatten();
        let items = bound.filter_map(|one| match one.res {
            Res::Item(item) => Some(item),
            _ => None,
        });
        let items = items.filter(|item| traits.contains(item));
        found.in_scope.extend(items.map(|item| (item, home)));
    }
}

/// The names of traits behind `dyn`.
fn shown(text: &str, found: &mut FxHashSet<String>) {
    for (at, word) in text.match_indices("dyn ") {
        let rest = text.get(at + word.len()..).unwrap_or_default().trim_start();
        let is_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':');
        let end = rest.find(|letter| !is_path(letter)).unwrap_or(rest.len());
        let path = rest.get(..end).unwrap_or_default();
        found.extend(path.rsplit("::").next().map(str::to_owned));
    }
}

/// The names behind `fn`.
fn functions(text: &str, span: ByteSpan, found: &mut FxHashSet<String>) {
    let mut before = false;
    for token in lexer::tokens(text, span) {
        let word = token.span.of(text).unwrap_or_default();
        if before && token.is_ident() {
            found.insert(word.to_owned());
        }
        before = token.is_ident() && word == "fn";
    }
}

/// The same of what macros say: they may write an `impl` of any type.
fn in_macros(world: &World, texts: &dyn Texts, found: &mut FxHashSet<String>) {
    for (file, source) in world.sources() {
        let facts = world.facts(file);
        let calls = facts.macro_calls.iter().filter(|one| one.item_position);
        let rules = facts.items.iter().filter(|one| one.kind == ItemKind::Macro);
        let spans: BTreeSet<ByteSpan> = calls
            .map(|one| one.body)
            .chain(rules.map(|one| one.span))
            .collect();
        let Some(text) = texts.text(&source.path).filter(|_| !spans.is_empty()) else {
            continue;
        };
        for span in spans {
            functions(&text, span, found);
        }
    }
}

impl MethodHomes {
    /// Whether a call of a method may be of somebody else than a trait of the tree (`None`: of elsewhere).
    pub(crate) fn may_be_others(
        &self,
        world: &World,
        (name, of): (&str, Option<ItemId>),
        on: CalledOn,
    ) -> bool {
        match on {
            CalledOn::Bounded | CalledOn::Doubtful => true,
            CalledOn::Type(item, _) => {
                let mut given = self.traits.get(name).into_iter().flatten();
                given.any(|other| Some(*other) != of && implements(world, item, *other))
                    // By a derive, or a macro, or not at all.
                    || of.is_some_and(|of| !self.open.contains(&of))
            }
            CalledOn::Other(home)
            | CalledOn::Number(home)
            | CalledOn::Text(home)
            | CalledOn::Bytes(home) => self.has_another((name, of), home),
            CalledOn::Unknown(home) => {
                self.inherent.contains(name)
                    || of.is_some_and(|of| self.shown.contains(&world[of].name))
                    || home.is_some_and(|home| self.has_another((name, of), home))
            }
        }
    }

    /// Whether a type has a method by another trait, which a module has in scope.
    pub(crate) fn has_by_another(
        &self,
        world: &World,
        (name, of): (&str, Option<ItemId>),
        (item, home): (ItemId, ModuleId),
    ) -> bool {
        let others = self.traits.get(name).into_iter().flatten().copied();
        let mut others = others.filter(|other| Some(*other) != of);
        others.any(|other| implements(world, item, other) && self.in_scope.contains(&(other, home)))
    }

    /// Whether a module has another trait with a method of that name in scope.
    fn has_another(&self, (name, of): (&str, Option<ItemId>), home: ModuleId) -> bool {
        let others = self.traits.get(name).into_iter().flatten().copied();
        let mut others = others.filter(|other| Some(*other) != of);
        others.any(|other| self.in_scope.contains(&(other, home)))
    }
}

/// Whether the tree has an `impl` of a trait for a type.
pub(crate) fn implements(world: &World, ty: ItemId, of: ItemId) -> bool {
    world.impls_of(ty).any(|one| one.by == Some(of))
}

/// Whether a type hands calls on to what it holds, as far as its `impl`s and derives say.
pub(crate) fn hands_on(world: &World, texts: &dyn Texts, ty: ItemId) -> bool {
    let mut named = world.impls_of(ty).filter_map(|one| one.trait_name(world));
    if named.any(|name| HAND_ON.contains(&name)) {
        return true;
    }
    let derives = |(file, at): &(FileId, u32)| {
        let text = texts.text(&world[*file].path)?;
        let fact = world.facts(*file).item(*at);
        let tokens = lexer::tokens(&text, fact.span);
        // Attributes stand before the first brace of the item.
        let head = tokens
            .iter()
            .take_while(|token| token.kind != TokenKind::Open(b'{'));
        let mut words = head.filter_map(|token| token.span.of(&text));
        words.any(|word| HAND_ON.contains(&word)).then_some(())
    };
    let mut definitions = world[ty].definitions.iter();
    definitions.any(|one| derives(one).is_some())
}
