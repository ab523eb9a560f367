//! Definitions that read alike and are not the same, since a name in them leads elsewhere.
//!
//! Two texts are held against each other word by word, without comments, visibilities and attributes
//! that do not change what they do. A name may lead to two things on both sides as long as these read
//! alike and mean the same, in turn: private helpers are copied along with what uses them.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{ByteSpan, Memo, outline::brackets};

use super::{
    dependencies::OutsideNames,
    expanded::MacroText,
    made_impls,
    names::{FileNames, Names},
};
use crate::{
    facts::ItemKind,
    lexer::{self, Token},
    resolve::{CrateId, FileId, ItemId, ModuleId, Res, SpaceId},
};

/// How one definition stands to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// They read alike and mean the same.
    Same,
    /// They do not read alike: whoever puts one in the place of the other knows that.
    OtherText,
    /// They read alike, and this name leads to two things.
    OtherThing {
        name: String,
        /// What it is in the first one.
        old: String,
        /// What it is in the second one.
        new: String,
    },
    /// They read alike, and each has a static of its own that keeps what it is told: this one, and the
    /// other's.
    State { item: ItemId },
    /// They read alike, and what this name leads to is known of one alone, or of neither.
    Unknown { name: String, is_of_one: bool },
    /// They are macros that read alike, and name types of their own, which are two whatever they read like.
    OtherType {
        /// What it is in the first one.
        old: String,
        /// What it is in the second one.
        new: String,
    },
    /// They are macros that read alike, and this one, which the second one names, is deprecated.
    Deprecated { new: String },
    /// They read alike, and this is not followed.
    Unread { why: String },
}

/// Two definitions that are held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DefinitionPair {
    pub items: (ItemId, ItemId),
    /// Of macros, from where each is called.
    pub spaces: Option<(SpaceId, SpaceId)>,
}

/// Pairs that are being compared: they mean the same unless something else differs.
pub(super) type Assumed = BTreeSet<DefinitionPair>;

/// Attributes that change what a definition is.
const TELLING: [&str; 4] = ["cfg", "cfg_attr", "derive", "repr"];

/// Words of types whose statics can change.
const KEEPING: [&str; 7] = [
    "static mut",
    "Atomic",
    "Cell",
    "Lazy",
    "Mutex",
    "Once",
    "RwLock",
];

/// How many definitions are held against each other at once, each named by the one before.
const MOST_DEEP: usize = 100;

/// Compares definitions.
pub(super) struct Comparison<'c, 'n> {
    pub names: &'c Names<'n>,
    /// Items that give way, each with the one in its place.
    pub pairs: &'c BTreeMap<ItemId, ItemId>,
    /// What macros say, each read once.
    pub(super) bodies: Memo<ItemId, MacroText>,
    outside: OutsideNames,
    /// Why something that is named on the way is not followed; it is taken for the same until the end.
    pub(super) unread: RefCell<Option<String>>,
    depth: Cell<usize>,
}

/// A text of a definition: itself, or an `impl`.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub file: FileId,
    pub span: ByteSpan,
    pub module: ModuleId,
}

/// A word of a text, and where it stands.
pub(super) struct Word<'t> {
    pub text: &'t str,
    pub span: ByteSpan,
    pub is_name: bool,
    /// Whether it is a function or field of a receiver.
    pub is_behind_dot: bool,
}

impl<'c, 'n> Comparison<'c, 'n> {
    pub fn new(names: &'c Names<'n>, pairs: &'c BTreeMap<ItemId, ItemId>) -> Self {
        Self {
            names,
            pairs,
            bodies: Memo::default(),
            outside: OutsideNames::default(),
            unread: RefCell::default(),
            depth: Cell::default(),
        }
    }

    /// How a definition that gives way stands to the one in its place.
    pub fn of(&self, old: ItemId, new: ItemId) -> Meaning {
        let items = (old, new);
        let sides = DefinitionPair {
            items,
            spaces: None,
        };
        self.unread.take();
        let mut compared = Assumed::new();
        let told = self.items(sides, &mut compared);
        self.conclude(told, &compared)
    }

    /// What is told in the end, with what was met on the way.
    pub(super) fn conclude(&self, told: Meaning, compared: &Assumed) -> Meaning {
        let unread = self.unread.take();
        let is_alike = matches!(told, Meaning::Same | Meaning::State { .. });
        match unread.filter(|_| is_alike) {
            Some(why) => Meaning::Unread { why },
            None if told == Meaning::Same => {
                let mut items = compared.iter().map(|sides| sides.items);
                // A static behind a function that both call is two as well.
                let kept = items.find(|(old, new)| old != new && self.keeps(*old));
                kept.map_or(told, |(item, _)| Meaning::State { item })
            }
            None => told,
        }
    }

    /// Keeps why something is not followed.
    fn leave_unread(&self, why: impl FnOnce() -> String) {
        self.unread.borrow_mut().get_or_insert_with(why);
    }

    /// Keeps that something of another package is named, which need not be the same one for both crates.
    pub(super) fn ask_outside(&self, known: &BTreeSet<Res>, crates: (CrateId, CrateId)) {
        for res in known.iter().filter(|res| matches!(res, Res::External(_))) {
            let full = self.names.name_of(*res);
            let name = full.split("::").next().unwrap_or_default();
            if !self.outside.is_one(self.names, crates, name) {
                self.leave_unread(|| {
                    format!(
                        "`{name}` is of another package, and the manifests of both crates do not say the \
                         same of it"
                    )
                });
            }
        }
    }

    pub(super) fn crate_at(&self, space: SpaceId) -> CrateId {
        let world = self.names.world;
        world[world.module_of(space)].krate
    }

    fn are_macros(&self, old: ItemId, new: ItemId) -> bool {
        let is_macro = |item: ItemId| self.names.world[item].kind == ItemKind::Macro;
        is_macro(old) && is_macro(new)
    }

    pub(super) fn items(&self, sides: DefinitionPair, assumed: &mut Assumed) -> Meaning {
        if self.is_one(sides) || !assumed.insert(sides) {
            return Meaning::Same;
        }
        let depth = self.depth.get();
        if depth == MOST_DEEP {
            let why = format!("it is followed {MOST_DEEP} definitions deep, and there are more");
            return Meaning::Unread { why };
        }
        self.depth.set(depth + 1);
        let (old, new) = sides.items;
        let told = if self.are_macros(old, new) {
            self.macros(sides, assumed)
        } else {
            self.definitions(sides, assumed)
        };
        self.depth.set(depth);
        told
    }

    /// Whether both are one thing. One macro is one for both only where it is called from one place.
    fn is_one(&self, sides: DefinitionPair) -> bool {
        let (old, new) = sides.items;
        let is_one_place = sides.spaces.is_none_or(|(here, there)| here == there);
        old == new && (is_one_place || !self.are_macros(old, new))
    }

    /// Whether what two words lead to is one thing, read from both places.
    pub(super) fn are_one(
        &self,
        (old, new): (&BTreeSet<Res>, &BTreeSet<Res>),
        sides: DefinitionPair,
    ) -> bool {
        old == new
            && old.iter().all(|res| match res {
                Res::Item(item) => self.is_one(DefinitionPair {
                    items: (*item, *item),
                    ..sides
                }),
                _ => true,
            })
    }

    fn definitions(&self, sides: DefinitionPair, assumed: &mut Assumed) -> Meaning {
        let (old, new) = sides.items;
        let (Some(mut left), Some(mut right)) = (self.pieces(old), self.pieces(new)) else {
            return Meaning::OtherText;
        };
        if left.len() != right.len() {
            return Meaning::OtherText;
        }
        self.ask_macros(old, new);
        let mut told = Meaning::Same;
        // The order of `impl`s has no meaning; the definition comes first.
        let (definition, impls) = (left.remove(0), right.remove(0));
        for (old, new) in [(definition, impls)]
            .into_iter()
            .chain(left.into_iter().zip(right))
        {
            match self.texts((old, new), sides.items, assumed) {
                Meaning::Same => {}
                Meaning::OtherText => return Meaning::OtherText,
                other if told == Meaning::Same => told = other,
                _ => {}
            }
        }
        told
    }

    /// Keeps that a macro may implement something for one of both, which is not read.
    fn ask_macros(&self, old: ItemId, new: ItemId) {
        let made = |item: ItemId| made_impls::implementing(self.names, item);
        if made(old) != made(new) {
            let name = self.names.name_of(Res::Item(old));
            self.leave_unread(|| {
                format!("a macro may implement something for `{name}`, or for its stand-in")
            });
        }
    }

    /// Whether definitions of which there are several, each under a condition, read alike one by one.
    pub fn are_alike_by_conditions(&self, old: ItemId, new: ItemId) -> bool {
        let texts = |item: ItemId| {
            let pieces = self.all_pieces(item).into_iter();
            let mut texts: Vec<String> = pieces.filter_map(|piece| self.spelled(piece)).collect();
            texts.sort();
            texts
        };
        let are_several = |item: ItemId| self.names.definition(item).is_none();
        are_several(old) && are_several(new) && texts(old) == texts(new)
    }

    /// A text in one spelling.
    fn spelled(&self, piece: Piece) -> Option<String> {
        let names = self.names.file(piece.file)?;
        let words = words(&names, piece.span);
        let words: Vec<&str> = words.iter().map(|word| word.text).collect();
        Some(words.join(" "))
    }

    /// All definitions of an item, each under a condition where there are several, and its `impl`s.
    pub(super) fn all_pieces(&self, item: ItemId) -> Vec<Piece> {
        let node = &self.names.world[item];
        let definitions = node.definitions.iter().map(|(file, at)| Piece {
            file: *file,
            span: self.names.world.facts(*file).item(*at).span,
            module: node.module,
        });
        let impls = self.names.impls(item).into_iter();
        let impls = impls.map(|(file, span, module)| Piece { file, span, module });
        definitions.chain(impls).collect()
    }

    /// The definition of an item and its `impl`s, by their heads.
    pub(super) fn pieces(&self, item: ItemId) -> Option<Vec<Piece>> {
        let (file, fact) = self.names.definition(item)?;
        let module = self.names.world[item].module;
        let mut impls: Vec<(String, Piece)> = Vec::new();
        for (file, span, module) in self.names.impls(item) {
            let piece = Piece { file, span, module };
            impls.push((self.spelled(piece)?, piece));
        }
        impls.sort_by(|a, b| a.0.cmp(&b.0));
        let own = Piece {
            file,
            span: fact.span,
            module,
        };
        let impls = impls.into_iter().map(|(_, piece)| piece);
        Some(std::iter::once(own).chain(impls).collect())
    }

    fn texts(
        &self,
        (old, new): (Piece, Piece),
        items: (ItemId, ItemId),
        assumed: &mut Assumed,
    ) -> Meaning {
        let space = |module| self.names.world.space_of(module);
        let spaces = Some((space(old.module), space(new.module)));
        let sides = DefinitionPair { items, spaces };
        let krate = |module: ModuleId| self.names.world[module].krate;
        let crates = (krate(old.module), krate(new.module));
        let (Some(left), Some(right)) = (self.names.file(old.file), self.names.file(new.file))
        else {
            return Meaning::OtherText;
        };
        let (a, b) = (words(&left, old.span), words(&right, new.span));
        let a = self.without_modules(&left, old.module, a);
        let b = self.without_modules(&right, new.module, b);
        if a.len() != b.len() {
            return Meaning::OtherText;
        }
        let mut told = Meaning::Same;
        let own = |item: ItemId| self.names.definition(item).map(|(_, fact)| fact.name.span);
        let own = (own(items.0), own(items.1));
        for (x, y) in a.iter().zip(&b) {
            if (Some(x.span), Some(y.span)) == own {
                continue;
            }
            let (known, other) = (
                self.leads_to(&left, old.module, x),
                self.leads_to(&right, new.module, y),
            );
            let same = self.results(&known, &other, sides, assumed);
            let is_known = !known.is_empty() && same == Some(true);
            if is_known {
                self.ask_outside(&known, crates);
            }
            if x.text != y.text && !is_known {
                return Meaning::OtherText;
            }
            let leads = x.is_name || x.is_behind_dot;
            if let Some(item) = self.state(&known, &other).filter(|_| told == Meaning::Same) {
                told = Meaning::State { item };
            }
            if same != Some(true) && leads && told == Meaning::Same {
                told = self.other(x.text, (&known, &other), same);
            }
        }
        told
    }

    /// Words without the modules that paths lead through to what is known: `fmt::Display` is `Display` where both lead to
    /// the same, and that is asked.
    fn without_modules<'t>(
        &self,
        file: &FileNames,
        module: ModuleId,
        words: Vec<Word<'t>>,
    ) -> Vec<Word<'t>> {
        let is_colon = |at: usize| words.get(at).is_some_and(|word| word.text == ":");
        let mut skipped: BTreeSet<usize> = BTreeSet::new();
        for (at, word) in words.iter().enumerate() {
            let next = words
                .get(at + 3)
                .filter(|next| word.is_name && next.is_name);
            let next = next.filter(|_| is_colon(at + 1) && is_colon(at + 2));
            let is_way =
                |next: &Word<'_>| self.names.is_way_to((file, module), word.span, next.span);
            if next.is_some_and(is_way) {
                skipped.extend([at, at + 1, at + 2]);
            }
        }
        let words = words.into_iter().enumerate();
        let kept = words.filter(|(at, _)| !skipped.contains(at));
        kept.map(|(_, word)| word).collect()
    }

    /// A static that keeps what it is told, where the other text means another one.
    pub(super) fn state(&self, known: &BTreeSet<Res>, other: &BTreeSet<Res>) -> Option<ItemId> {
        let statics = |all: &BTreeSet<Res>| -> Vec<ItemId> {
            let all = all.iter();
            all.filter_map(|res| match res {
                Res::Item(item) if self.names.world[item].kind == ItemKind::Static => Some(*item),
                _ => None,
            })
            .collect()
        };
        let others = statics(other);
        statics(known).into_iter().find(|item| {
            let apart = others
                .iter()
                .any(|other| other != item && self.pairs.get(item) != Some(other));
            apart && self.keeps(*item)
        })
    }

    /// Whether an item is a static that can change, by the words of its type.
    pub fn keeps(&self, item: ItemId) -> bool {
        if self.names.world[item].kind != ItemKind::Static {
            return false;
        }
        let Some((file, fact)) = self.names.definition(item) else {
            return false;
        };
        let Some(names) = self.names.file(file) else {
            return false;
        };
        let text = fact.span.of(&names.text).unwrap_or_default();
        KEEPING.iter().any(|word| text.contains(word))
    }

    pub(super) fn leads_to(
        &self,
        file: &FileNames,
        module: ModuleId,
        word: &Word<'_>,
    ) -> BTreeSet<Res> {
        if word.is_behind_dot {
            return self.names.traits_with(module, word.text);
        }
        if !word.is_name {
            return BTreeSet::new();
        }
        let found = self.names.leads_to(file, module, word.span);
        let telling = |res: &Res| !matches!(res, Res::Module(_));
        found.into_iter().filter(telling).collect()
    }

    pub(super) fn other(
        &self,
        name: &str,
        (known, other): (&BTreeSet<Res>, &BTreeSet<Res>),
        same: Option<bool>,
    ) -> Meaning {
        let name = name.to_owned();
        match (same, known.first(), other.first()) {
            (Some(false), Some(old), Some(new)) => Meaning::OtherThing {
                name,
                old: self.names.name_of(*old),
                new: self.names.name_of(*new),
            },
            _ => Meaning::Unknown {
                name,
                is_of_one: true,
            },
        }
    }

    /// Whether two words lead to the same; `None` where that is known of one alone.
    pub(super) fn results(
        &self,
        old: &BTreeSet<Res>,
        new: &BTreeSet<Res>,
        sides: DefinitionPair,
        assumed: &mut Assumed,
    ) -> Option<bool> {
        if self.are_one((old, new), sides) {
            return Some(true);
        }
        if old.is_empty() || new.is_empty() {
            return None;
        }
        let mut all = old.iter();
        Some(all.all(|one| {
            let mut others = new.iter();
            others.any(|other| self.result(*one, *other, sides, assumed))
        }))
    }

    fn result(&self, old: Res, new: Res, sides: DefinitionPair, assumed: &mut Assumed) -> bool {
        match (old, new) {
            (Res::Item(old), Res::Item(new)) => self.is_same((old, new), sides, assumed),
            (Res::Variant(old, a), Res::Variant(new, b))
            | (Res::Member(old, a), Res::Member(new, b)) => {
                a == b && self.is_same((old, new), sides, assumed)
            }
            (Res::External(old), Res::External(new)) => self.names.are_one_outside(old, new),
            (old, new) => old == new,
        }
    }

    fn is_same(
        &self,
        items: (ItemId, ItemId),
        sides: DefinitionPair,
        assumed: &mut Assumed,
    ) -> bool {
        let (old, new) = items;
        let spaces = sides.spaces.filter(|_| self.are_macros(old, new));
        if items == sides.items || self.pairs.get(&old) == Some(&new) {
            return true;
        }
        match self.items(DefinitionPair { items, spaces }, assumed) {
            Meaning::Same | Meaning::State { .. } => true,
            Meaning::Unread { why } => {
                self.leave_unread(|| why);
                true
            }
            _ if old == new => {
                let name = &self.names.world[old].name;
                let why = "is called from both, and what its body names is not the same from there";
                self.leave_unread(|| format!("`{name}!` {why}"));
                true
            }
            _ => false,
        }
    }
}

/// The words of a piece of code, without visibilities and without attributes that do not tell.
pub(super) fn words<'t>(file: &'t FileNames, span: ByteSpan) -> Vec<Word<'t>> {
    let tokens = lexer::tokens(&file.text, span);
    let text = |at: usize| {
        let token: Option<&Token> = tokens.get(at);
        token
            .and_then(|token| token.span.of(&file.text))
            .unwrap_or_default()
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some(behind) = behind_idle_words(&text, at, tokens.len()) {
            at = behind;
            continue;
        }
        let before = at.checked_sub(1).map(&text).unwrap_or_default();
        // Of what stands behind a dot, the receiver says what it is.
        let is_name = token.is_ident() && before != ".";
        let is_behind_dot = token.is_ident() && before == ".";
        // A comma that nothing follows has no meaning.
        let trailing = text(at) == "," && matches!(text(at + 1), ")" | "]" | "}" | ">");
        if !trailing {
            found.push(Word {
                text: text(at),
                span: token.span,
                is_name,
                is_behind_dot,
            });
        }
        at += 1;
    }
    found
}

/// Where to go on behind an attribute that does not tell, or a visibility, which starts at a word.
fn behind_idle_words<'t>(
    text: &impl Fn(usize) -> &'t str,
    at: usize,
    count: usize,
) -> Option<usize> {
    let is_idle_attribute =
        text(at) == "#" && text(at + 1) == "[" && !TELLING.contains(&text(at + 2));
    let is_restricted = text(at) == "pub" && text(at + 1) == "(";
    if is_idle_attribute || is_restricted {
        return Some(brackets::behind_closing(text, at + 1..count));
    }
    (text(at) == "pub").then_some(at + 1)
}
