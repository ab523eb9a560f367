//! Whether what uses something is used itself: what dead code alone names is dead, too.

use std::{cell::OnceCell, collections::BTreeSet, sync::Arc};

use coalesce_model::ByteSpan;
use rustc_hash::FxHashMap;

use super::{ConditionedUses, DEAD_CODE, Named, PlaceOfUse, is_open};
use crate::{
    facts::{ItemKind, ScopeKind, SourceFacts},
    lexer::{self, Token, TokenKind},
    lints,
    resolve::{FileId, ItemId, Res, World},
    rewrite::method_names,
    words::NAMED_ALONE,
};

/// What the code at a place belongs to.
#[derive(Clone, Copy)]
pub(super) struct CodeOwner {
    /// `None` of what nobody has to name.
    pub item: Option<ItemId>,
    /// Whether it stands in the part that others see who see the owner: a signature, a public field.
    pub is_shown: bool,
    /// The function of an `impl` or a trait that it stands in, where nobody may come to call that: by the byte where
    /// its name starts.
    pub function: Option<u32>,
}

/// Items by their definitions.
pub(super) type ItemsByPlace = FxHashMap<(FileId, u32), ItemId>;

/// The owners of the code of a file: items and `impl`s that are in no other.
pub(super) struct Owners {
    text: Arc<str>,
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
    /// Whether others may call all of its functions: it is a trait that they know, or an `impl` of one.
    is_open: bool,
    /// Its functions; read when something in them is asked about.
    functions: OnceCell<Vec<PartFunction>>,
    /// Where what others see of it begins and ends, as far as that is one piece.
    head: ByteSpan,
    /// What of fields and functions is seen; read when something in them is asked about.
    seen: OnceCell<Vec<SeenBehind>>,
}

/// A function of an `impl` or a trait.
struct PartFunction {
    /// Where its name starts.
    at: u32,
    is_public: bool,
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

/// The items of a file, each with what others see of it.
fn parts_of_items(world: &World, file: FileId, items: &ItemsByPlace) -> Vec<OwnedPart> {
    let all = (0_u32..).zip(&world.facts(file).items);
    let parts = all.map(|(at, fact)| {
        let item = items.get(&(file, at)).copied();
        OwnedPart {
            span: fact.span,
            item,
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
            is_open: fact.kind != ItemKind::Trait || item.is_none_or(|own| is_open(world, own)),
            functions: OnceCell::new(),
            seen: OnceCell::new(),
        }
    });
    parts.collect()
}

/// The `impl`s of a file, each with its type.
fn parts_of_impls(world: &World, file: FileId, blocks: &[(Res, ByteSpan)]) -> Vec<OwnedPart> {
    let own = world.impls().iter().filter(|one| one.file == file);
    let traits: FxHashMap<ByteSpan, ItemId> =
        own.filter_map(|one| Some((one.span, one.by?))).collect();
    let parts = world.facts(file).impls.iter().map(|fact| {
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
            is_open: fact.trait_path.is_some()
                && traits.get(&fact.span).is_none_or(|by| is_open(world, *by)),
            functions: OnceCell::new(),
            seen: OnceCell::new(),
        }
    });
    parts.collect()
}

impl Owners {
    pub fn of(
        (world, file): (&World, FileId),
        text: Arc<str>,
        (items, blocks): (&ItemsByPlace, &[(Res, ByteSpan)]),
    ) -> Self {
        let mut all = parts_of_items(world, file, items);
        all.extend(parts_of_impls(world, file, blocks));
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
                function: None,
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
            function: self.function_at(part, at),
        }
    }

    /// The function around a place that nobody may come to call.
    fn function_at(&self, part: &OwnedPart, at: u32) -> Option<u32> {
        let has_functions = matches!(part.kind, PartKind::Inherent | PartKind::Trait);
        if !has_functions || part.is_open {
            return None;
        }
        let read = || functions_of(&self.text, part.span);
        let functions = part.functions.get_or_init(read);
        let before = functions.partition_point(|one| one.at <= at);
        let own = functions.get(before.checked_sub(1)?)?;
        // Of what is plainly `pub`, the members of its type tell.
        (!own.is_public || part.kind == PartKind::Trait).then_some(own.at)
    }

    /// Whether others see a place among the fields or functions of a part; attributes in front of it are in neither.
    fn is_seen(&self, part: &OwnedPart, at: u32, needs_public: bool) -> bool {
        if at < part.head.start {
            return false;
        }
        let read = || seen_behind((&self.text, part.head), needs_public);
        let seen = part.seen.get_or_init(read);
        let before = seen.partition_point(|one| one.start <= at);
        let last = before.checked_sub(1).and_then(|last| seen.get(last));
        last.map_or(!needs_public, |last| last.is_seen)
    }
}

/// The functions directly in the braces of an `impl` or a trait.
fn functions_of(text: &str, span: ByteSpan) -> Vec<PartFunction> {
    let tokens = lexer::tokens(text, span);
    let (mut braces, mut is_public) = (0_usize, false);
    let mut found = Vec::new();
    for pair in tokens.windows(2) {
        let [token, next] = pair else { continue };
        match (token.kind, token.span.of(text)) {
            (TokenKind::Open(b'{'), _) => braces += 1,
            (TokenKind::Close(b'}'), _) => {
                braces = braces.saturating_sub(1);
                is_public = false;
            }
            (TokenKind::Punct(b';'), _) => is_public = false,
            (TokenKind::Ident, Some("pub")) if braces == 1 => {
                is_public = next.kind != TokenKind::Open(b'(');
            }
            (TokenKind::Ident, Some("fn")) if braces == 1 => found.push(PartFunction {
                at: next.span.start,
                is_public,
            }),
            _ => {}
        }
    }
    found
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
            let is_called = place
                .owner
                .function
                .is_none_or(|at| self.is_called(place.file, at));
            let is_live = |named: &mut Self| {
                let owner = place.owner.item;
                owner.is_none_or(|owner| named.is_live_code(owner))
            };
            if !place.is_of_impl && is_called && is_live(self) {
                uses.0.insert(place.conditions);
            }
        }
        uses
    }

    /// Whether code somewhere names a function of an `impl` or a trait, or its name says that it need not.
    fn is_called(&self, file: FileId, at: u32) -> bool {
        let world = self.tree.world;
        let text = self.tree.texts.text(&world[file].path);
        let end = |text: &str| lexer::ident_end(text, at);
        let Some(name) =
            text.and_then(|text| Some(ByteSpan::new(at, end(&text)).of(&text)?.to_owned()))
        else {
            return true;
        };
        let all = self.called.get_or_init(|| {
            let mut found = BTreeSet::new();
            for (_, source) in world.sources() {
                if let Some(text) = self.tree.texts.text(&source.path) {
                    found.extend(method_names(&text, ByteSpan::from_range(0..text.len())));
                }
            }
            found
        });
        name.starts_with('_') || all.contains(&name)
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
            || node
                .definitions
                .iter()
                .any(|(file, at)| self.is_live_where_defined(node.kind, *file, *at))
    }

    /// The same of a definition of an item, by where it stands and what attributes say of it.
    fn is_live_where_defined(&self, kind: ItemKind, file: FileId, at: u32) -> bool {
        let world = self.tree.world;
        let facts = world.facts(file);
        let start = facts.item(at).name.span.start;
        // What is allowed to be unused makes use of what it names; of a type, that is not its `impl`s.
        let kinds = [ItemKind::Function, ItemKind::Const, ItemKind::Static];
        let (names, texts) = (DEAD_CODE.lints, self.tree.texts);
        if kinds.contains(&kind) && lints::is_off(world, (file, start), names, texts) {
            return true;
        }
        let scope = facts.scope(facts.item(at).scope).kind;
        let text = texts.text(&world[file].path);
        !matches!(scope, ScopeKind::File | ScopeKind::Module(_))
            || text.is_none_or(|text| is_told_otherwise(facts, (&text, at)))
    }

    /// Whether a signature that others can see says a type or trait: they have its public members.
    pub(super) fn is_shown(&mut self, item: ItemId) -> bool {
        let world = self.tree.world;
        let (mut seen, mut left) = (BTreeSet::from([item]), vec![item]);
        while let Some(at) = left.pop() {
            let places = self.places_of(at).into_iter();
            let owners =
                places.filter_map(|place| place.owner.item.filter(|_| place.owner.is_shown));
            let owners: Vec<ItemId> = owners.collect();
            if owners
                .iter()
                .any(|owner| *owner != at && is_open(world, *owner))
            {
                return true;
            }
            left.extend(owners.into_iter().filter(|owner| seen.insert(*owner)));
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
