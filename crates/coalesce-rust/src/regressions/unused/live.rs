//! Whether what uses something is used itself: what dead code alone names is dead, too.

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_model::ByteSpan;
use rustc_hash::FxHashMap;

use super::{ConditionedUses, Named, PlaceOfUse, is_open};
use crate::{
    facts::{ItemKind, ScopeKind, SourceFacts},
    lexer::{self, Token, TokenKind},
    resolve::{FileId, ItemId, Res, World},
    words::NAMED_ALONE,
};

/// What the code at a place belongs to.
#[derive(Clone, Copy)]
pub(super) struct CodeOwner {
    /// `None` of what nobody has to name.
    pub item: Option<ItemId>,
    /// Whether it stands in the part that others see who see the owner: a signature, a public field.
    pub is_shown: bool,
}

/// Items by their definitions.
pub(super) type ItemsByPlace = FxHashMap<(FileId, u32), ItemId>;

/// The owners of the code of a file: items and `impl`s that are in no other.
pub(super) struct Owners<'t> {
    text: &'t str,
    /// By their starts.
    parts: Vec<OwnedPart>,
}

/// Whether others see what stands behind the start of a token.
struct SeenBehind {
    start: u32,
    is_seen: bool,
}

struct OwnedPart {
    span: ByteSpan,
    item: Option<ItemId>,
    kind: PartKind,
    /// Where what others see of it begins and ends, as far as that is one piece.
    head: ByteSpan,
    /// What of fields and functions is seen; read when something in them is asked about.
    seen: OnceCell<Vec<SeenBehind>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PartKind {
    /// Its head is seen, and nothing else.
    Headed,
    /// All of it is seen.
    Open,
    /// The fields that are plainly `pub`.
    Fields,
    /// The heads of functions that are plainly `pub`.
    Inherent,
    /// The heads of all functions.
    Trait,
}

impl<'t> Owners<'t> {
    pub fn of(
        (world, file): (&World, FileId),
        text: &'t str,
        (items, blocks): (&ItemsByPlace, &[(Res, ByteSpan)]),
    ) -> Self {
        let facts = world.facts(file);
        let of_items = (0_u32..).zip(&facts.items).map(|(at, fact)| OwnedPart {
            span: fact.span,
            item: items.get(&(file, at)).copied(),
            kind: match fact.kind {
                ItemKind::Enum => PartKind::Open,
                ItemKind::Struct | ItemKind::Union => PartKind::Fields,
                ItemKind::Trait => PartKind::Trait,
                _ => PartKind::Headed,
            },
            head: match fact.kind {
                ItemKind::Struct | ItemKind::Union | ItemKind::Trait => {
                    ByteSpan::new(fact.name.span.end, fact.span.end)
                }
                _ => fact.signature,
            },
            seen: OnceCell::new(),
        });
        let of_impls = facts.impls.iter().map(|fact| {
            let mut own = blocks.iter().filter(|(_, block)| *block == fact.span);
            OwnedPart {
                span: fact.span,
                item: own.find_map(|(of, _)| match of {
                    Res::Item(item) => Some(*item),
                    _ => None,
                }),
                kind: match fact.trait_path {
                    Some(_) => PartKind::Trait,
                    None => PartKind::Inherent,
                },
                head: fact.span,
                seen: OnceCell::new(),
            }
        });
        let mut all: Vec<OwnedPart> = of_items.chain(of_impls).collect();
        all.sort_by_key(|part| (part.span.start, std::cmp::Reverse(part.span.end)));
        let mut parts: Vec<OwnedPart> = Vec::new();
        for part in all {
            if parts
                .last()
                .is_none_or(|last| last.span.end <= part.span.start)
            {
                parts.push(part);
            }
        }
        Self { text, parts }
    }

    pub fn at(&self, at: u32) -> CodeOwner {
        let before = self.parts.partition_point(|part| part.span.start <= at);
        let part = before.checked_sub(1).and_then(|last| self.parts.get(last));
        let Some(part) = part.filter(|part| at < part.span.end) else {
            return CodeOwner {
                item: None,
                is_shown: false,
            };
        };
        let head = part.head;
        let is_shown = match part.kind {
            PartKind::Headed => head.start <= at && at < head.end,
            PartKind::Open => true,
            PartKind::Fields | PartKind::Inherent => self.is_seen(part, at, true),
            PartKind::Trait => self.is_seen(part, at, false),
        };
        CodeOwner {
            item: part.item,
            is_shown,
        }
    }

    /// Whether others see a place among the fields or functions of a part; attributes in front of it are in neither.
    fn is_seen(&self, part: &OwnedPart, at: u32, needs_public: bool) -> bool {
        if at < part.head.start {
            return false;
        }
        let read = || seen_behind((self.text, part.head), needs_public);
        let seen = part.seen.get_or_init(read);
        let before = seen.partition_point(|one| one.start <= at);
        let last = before.checked_sub(1).and_then(|last| seen.get(last));
        last.map_or(!needs_public, |last| last.is_seen)
    }
}

/// From where on, behind the start of each token, others see what stands among fields or functions: in a field, or in the
/// head of a function, where these are plainly `pub` if that is asked for.
fn seen_behind((text, span): (&str, ByteSpan), needs_public: bool) -> Vec<SeenBehind> {
    let tokens = lexer::tokens(text, span);
    let (mut depth, mut braces, mut is_public) = (0_usize, 0_usize, false);
    let mut found = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open(kind) => {
                depth += 1;
                braces += usize::from(kind == b'{');
            }
            TokenKind::Close(kind) => {
                depth = depth.saturating_sub(1);
                braces = braces.saturating_sub(usize::from(kind == b'}'));
                is_public &= depth > 1 || kind != b'}';
            }
            TokenKind::Punct(b';' | b',') if depth == 1 => is_public = false,
            _ if depth == 1 && token.span.of(text) == Some("pub") => {
                let next = tokens.get(index + 1).map(|next| next.kind);
                is_public = next != Some(TokenKind::Open(b'('));
            }
            _ => {}
        }
        found.push(SeenBehind {
            start: token.span.start,
            // Bodies of functions are braces in braces.
            is_seen: braces <= 1 && (is_public || !needs_public),
        });
    }
    found
}

/// Whether an attribute makes something known to others than those who name it.
fn is_told_otherwise(facts: &SourceFacts, (text, at): (&str, u32)) -> bool {
    let fact = facts.item(at);
    let head = ByteSpan::new(fact.span.start, fact.signature.start);
    let tokens: Vec<Token> = lexer::tokens(text, head);
    let known = ["cfg", "cfg_attr", "derive"];
    tokens.windows(3).any(|three| match three {
        [hash, open, name] => {
            let name = name.span.of(text).unwrap_or_default();
            hash.is(b'#')
                && open.kind == TokenKind::Open(b'[')
                && !NAMED_ALONE.contains(name)
                && !known.contains(&name)
        }
        _ => false,
    })
}

impl Named<'_> {
    /// The uses of an item by code that is used itself. Who calls a macro, and whether anybody does, is not asked.
    pub(super) fn live_uses_of(&mut self, item: ItemId) -> ConditionedUses {
        let mut uses = ConditionedUses::default();
        for place in self.places_of(item) {
            let counts = !place.is_in_macro && !place.is_of_impl;
            if counts && place.owner.item.is_none_or(|owner| self.is_live(owner)) {
                uses.0.insert(place.conditions);
            }
        }
        uses
    }

    /// The places that use an item outside of its own definition.
    pub(super) fn places_of(&mut self, item: ItemId) -> Vec<PlaceOfUse> {
        let mut places = Vec::new();
        let world = self.tree.world;
        let definitions = &world[item].definitions;
        for file in self.files_with(&world[item].name).to_vec() {
            let facts = world.facts(file);
            let own = definitions.iter().filter(|(of, _)| *of == file);
            let own: Vec<ByteSpan> = own.map(|(_, at)| facts.item(*at).span).collect();
            if !self.uses.contains_key(&file) {
                let read = self.uses_in(file);
                self.uses.insert(file, read);
            }
            let known = self.uses.get(&file).and_then(|uses| uses.get(&item));
            let known = known.into_iter().flatten();
            let outside = known.filter(|used| !own.iter().any(|own| own.contains(used.at)));
            places.extend(outside.cloned());
        }
        places
    }

    /// Items by their definitions.
    pub(super) fn items_by_place(&self) -> &ItemsByPlace {
        self.items_by_place.get_or_init(|| {
            let all = (0..).map(ItemId).zip(&self.tree.world.items);
            let places = all
                .flat_map(|(item, node)| node.definitions.iter().map(move |place| (*place, item)));
            places.collect()
        })
    }

    /// Whether code that belongs to an item is used by somebody: others can name the item, or such code names it.
    pub(super) fn is_live(&mut self, item: ItemId) -> bool {
        if let Some(known) = self.live.get(&item) {
            return *known;
        }
        let (mut seen, mut left) = (BTreeSet::from([item]), vec![item]);
        while let Some(at) = left.pop() {
            let is_live = self.is_live_by_itself(at) || {
                let places = self.places_of(at).into_iter();
                let users = places.filter(|place| !place.is_of_impl);
                let users: Vec<Option<ItemId>> = users.map(|place| place.owner.item).collect();
                left.extend(users.iter().flatten().filter(|user| seen.insert(**user)));
                users.contains(&None)
            };
            if is_live {
                self.live.insert(item, true);
                return true;
            }
        }
        // Nothing that leads here is used, and neither is what leads to that.
        self.live.extend(seen.into_iter().map(|one| (one, false)));
        false
    }

    /// Whether nobody in the crate has to name an item.
    fn is_live_by_itself(&self, item: ItemId) -> bool {
        let world = self.tree.world;
        let node = &world[item];
        // Methods of traits are called without a name of these.
        let is_unread = matches!(
            node.kind,
            ItemKind::Trait | ItemKind::Macro | ItemKind::Unknown
        );
        is_unread
            || node.name == "main"
            || is_open(world, item)
            || node.definitions.iter().any(|(file, at)| {
                let facts = world.facts(*file);
                let scope = facts.scope(facts.item(*at).scope).kind;
                let text = self.tree.texts.text(&world[*file].path);
                !matches!(scope, ScopeKind::File | ScopeKind::Module(_))
                    || text.is_none_or(|text| is_told_otherwise(facts, (&text, *at)))
            })
    }

    /// Whether a signature that others can see says a type or trait: they have its public members.
    pub(super) fn is_shown(&mut self, item: ItemId) -> bool {
        let world = self.tree.world;
        let (mut seen, mut left) = (BTreeSet::from([item]), vec![item]);
        while let Some(at) = left.pop() {
            for place in self.places_of(at) {
                let Some(owner) = place.owner.item.filter(|_| place.owner.is_shown) else {
                    continue;
                };
                if owner != at && is_open(world, owner) {
                    return true;
                }
                if seen.insert(owner) {
                    left.push(owner);
                }
            }
        }
        false
    }

    /// Whether an attribute of an item tells others of it.
    pub(super) fn is_told_by_attributes(&self, item: ItemId) -> bool {
        let world = self.tree.world;
        world[item].definitions.iter().any(|(file, at)| {
            let text = self.tree.texts.text(&world[*file].path);
            text.is_some_and(|text| is_told_otherwise(world.facts(*file), (&text, *at)))
        })
    }
}
