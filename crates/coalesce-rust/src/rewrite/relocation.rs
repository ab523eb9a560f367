//! Code that gets another place, of modules and items alike: what it may not contain there, and what
//! has to be seen, said or widened for it.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, ChangeKind, Edit, Finding, Texts, TreePath, Unproven, finding::codes,
};

use super::{
    conditions::SetAround,
    fits, implicit,
    items::{
        moving::{Chunk, Set},
        replace,
    },
    made_members,
    mapping::{Mapping, refusal},
    needs::Need,
    older_syntax, own_place,
    place::Place,
    visibility, without_prelude,
};
use crate::{
    lexer::{self, Token},
    lints,
    resolve::{Body, CrateId, FileId, ItemId, ModuleId, World, is_within},
};

/// A piece of code that gets another place.
#[derive(Clone)]
pub(super) struct Piece {
    pub file: FileId,
    pub span: ByteSpan,
    /// The module that it stands in.
    pub from: ModuleId,
    /// The module that it stands in after.
    pub to: Place,
    /// Whether its members get a visibility here; else somebody else writes them.
    pub members: bool,
}

/// What goes where.
pub(super) struct Relocation<'a> {
    pub mapping: &'a Mapping<'a>,
    pub pieces: Vec<Piece>,
    /// Items that give way, with those that their users name from now on.
    pub replaced: BTreeMap<ItemId, ItemId>,
    /// Code of modules that goes away.
    pub gone: Vec<(ModuleId, FileId, ByteSpan)>,
}

impl<'a> Relocation<'a> {
    /// What modules and pieces of text take along, and what takes the place of items.
    pub fn new(set: &Set<'a>) -> Self {
        let mut relocation = Self {
            mapping: set.mapping,
            pieces: Vec::new(),
            replaced: fits::pairs(set.mapping),
            gone: Vec::new(),
        };
        for body in &set.world().bodies {
            relocation.body(body);
        }
        for chunk in &set.chunks {
            relocation.chunk(set, chunk);
        }
        for moving in set.moving.iter().filter(|moving| moving.gives_way()) {
            let primary = replace::primary(set, moving);
            let primary = primary.filter(|primary| *primary != moving.item);
            let pair = primary.map(|primary| (moving.item, primary));
            relocation.replaced.extend(pair);
        }
        relocation
    }

    /// Adds the text of a module that gets another place or goes.
    fn body(&mut self, body: &Body) {
        let mapping = self.mapping;
        let Some(change) = mapping.change_of(body.module) else {
            return;
        };
        let span = mapping.world.facts(body.file).scope(body.scope).span;
        if mapping.is_replaced(body.module) {
            self.gone.push((body.module, body.file, span));
        } else if change.kind == ChangeKind::Move {
            self.pieces.push(Piece {
                file: body.file,
                span,
                from: body.module,
                to: mapping.after(body.module),
                members: true,
            });
        }
    }

    /// Adds a piece of text that leaves its module.
    fn chunk(&mut self, set: &Set<'_>, chunk: &Chunk) {
        let moving = set.moving(chunk.moving);
        if set.is_dropped(chunk) {
            self.gone.push((moving.home, chunk.file, chunk.span));
            return;
        }
        self.pieces.push(Piece {
            file: chunk.file,
            span: chunk.span,
            from: moving.home,
            to: moving.to.clone(),
            members: !moving.gives_way(),
        });
    }
}

impl Relocation<'_> {
    pub fn is_gone(&self, module: ModuleId, file: FileId, at: u32) -> bool {
        let mut gone = self.gone.iter();
        gone.any(|(of, within, span)| {
            *of == module && *within == file && span.start <= at && at < span.end
        })
    }
}

/// What it takes that code stands elsewhere.
#[derive(Default)]
pub(super) struct Relocated {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub needs: Vec<Need>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
    pub unproven: Vec<Unproven>,
    /// Where members become `pub`.
    pub public: Vec<(FileId, u32)>,
}

impl Relocation<'_> {
    /// Holds the code against its new places. What it must not contain there is asked here.
    pub fn settle(&self) -> Relocated {
        let mut refusals = unsafe_code(self);
        let implicit = implicit::macros(self);
        let members = visibility::widen(self);
        refusals.extend(implicit.refusals);
        refusals.extend(members.refusals);
        let mut edits = implicit.edits;
        super::add(&mut edits, members.edits);
        let older = older_syntax::rewrite(self);
        super::add(&mut edits, older.edits);
        let mut needs = implicit.needs;
        needs.extend(members.needs);
        let mut unproven = implicit.unproven;
        unproven.extend(older.unproven);
        let own = own_place::places(self);
        unproven.extend(own.unproven);
        unproven.extend(made_members::out_of_sight(self));
        let prelude = without_prelude::missing(self);
        refusals.extend(prelude.refusals);
        unproven.extend(prelude.unproven);
        Relocated {
            edits,
            needs,
            notes: members.notes.into_iter().chain(own.notes).collect(),
            refusals,
            unproven,
            public: members.public,
        }
    }
}

/// Unsafe code that goes where a module or a package allows none.
fn unsafe_code(relocation: &Relocation<'_>) -> Vec<Finding> {
    let mapping = relocation.mapping;
    let world = mapping.world;
    let mut found = BTreeSet::new();
    let mut forbidden = SetAround::new(mapping, ("unsafe_code", &["deny", "forbid"]));
    for piece in &relocation.pieces {
        let source = &world[piece.file];
        let Some(text) = mapping.texts.text(&source.path) else {
            continue;
        };
        let tokens = lexer::tokens(&text, piece.span);
        let said = |token: &&Token| token.is_ident() && token.span.of(&text) == Some("unsafe");
        let Some(word) = tokens.iter().find(said) else {
            continue;
        };
        let module = forbidden
            .of(&piece.to)
            .filter(|module| !is_within(world, piece.from, *module))
            .map(|module| mapping.name_of(&mapping.after(module)));
        let package = || {
            let (from, to) = (mapping.krate(piece.from), piece.to.krate);
            (package_forbids_unsafe(world, to, relocation.mapping.texts)
                && !package_forbids_unsafe(world, from, relocation.mapping.texts))
            .then(|| mapping.name_of(&Place::root(to)))
        };
        if let Some(name) = module.or_else(package) {
            found.insert(
                refusal(
                    source.path.clone(),
                    format!("`{name}` allows no unsafe code"),
                )
                .coded(codes::FORBIDDEN_IN_TARGET)
                .at(word.span),
            );
        }
    }
    found.into_iter().collect()
}

/// Whether the lints of a package deny unsafe code.
fn package_forbids_unsafe(world: &World, krate: CrateId, texts: &dyn Texts) -> bool {
    let levels = lints::package_levels(world, krate, texts);
    levels
        .iter()
        .any(|(lint, level)| lint == "unsafe_code" && matches!(level.as_str(), "deny" | "forbid"))
}
