//! Macros that code has from the root of its crate without importing them: `#[macro_use] extern crate`.
//!
//! In another crate it has them no more. Each use of one is written with the library's name, which
//! works everywhere; where two libraries may have it, the plan is refused, and where a glob may have
//! brought it as well, it is not proven.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, Finding, Texts, TreePath, Unproven, UnprovenKind};

use super::{
    mapping::refusal,
    needs::Need,
    place::Place,
    relocation::{Piece, Relocation},
};
use crate::{
    facts::{LeafKind, Namespaces, Origin, SourceFacts},
    resolve::{CrateId, Res, Site, UseSite, World},
    words::PRELUDE,
};

/// What code takes along of what it had without a word.
#[derive(Default)]
pub(super) struct Implicit {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub needs: Vec<Need>,
    pub refusals: Vec<Finding>,
    pub unproven: Vec<Unproven>,
    /// Crates whose code says less from now on.
    left: BTreeSet<CrateId>,
}

/// Looks at all code that goes to another crate; a library that goes as a whole takes its root along.
pub(super) fn macros(relocation: &Relocation<'_>) -> Implicit {
    let mut found = Implicit::default();
    let mapping = relocation.mapping;
    let crossing = relocation.pieces.iter().filter(|piece| {
        let from = mapping.krate(piece.from);
        from != piece.to.krate && mapping.library_of(from).is_none()
    });
    let mut given: BTreeMap<CrateId, BTreeSet<String>> = BTreeMap::new();
    for piece in crossing {
        let mut of = |krate: CrateId| {
            let own = given.entry(krate);
            own.or_insert_with(|| giving(mapping.world, krate)).clone()
        };
        let (mut own, there) = (of(mapping.krate(piece.from)), of(piece.to.krate));
        own.retain(|name| !there.contains(name));
        if !own.is_empty() {
            found.piece(relocation, piece, &own);
        }
    }
    let left: BTreeSet<CrateId> = std::mem::take(&mut found.left);
    for krate in left {
        if !is_used(relocation, krate) {
            found.spent(mapping.world, krate, mapping.texts);
        }
    }
    found
}

/// A name that several libraries may have brought.
fn may_be_of_several(path: &TreePath, name: &str, libraries: &BTreeSet<String>) -> Finding {
    let all: Vec<String> = libraries.iter().map(|name| format!("`{name}`")).collect();
    let message = format!(
        "`{name}` comes from the `#[macro_use] extern crate` of its old root, and {} may \
         have it",
        all.join(" or ")
    );
    let help = format!(
        "import it first: `use {}::{name};`",
        all.join("/").replace('`', "")
    );
    refusal(path.clone(), message).with_help(help)
}

/// Whether code that stays in a crate may still use a macro that its root gives it.
fn is_used(relocation: &Relocation<'_>, krate: CrateId) -> bool {
    let mapping = relocation.mapping;
    let world = mapping.world;
    let mut used = false;
    for (file, source) in world.sources() {
        let Some(text) = mapping.texts.text(&source.path) else {
            continue;
        };
        world.visit_file(source, &mut |facts, site| {
            let [only] = site.segments else { return };
            let start = only.span.start;
            let mut pieces = relocation.pieces.iter();
            let leaves = pieces.any(|piece| {
                piece.file == file && piece.span.start <= start && start < piece.span.end
            });
            used |= !leaves
                && mapping.krate(world.module_of(site.space)) == krate
                && !PRELUDE.contains(facts.name(only.name))
                && is_macro(facts, &site, &text)
                && is_from_nowhere(&site);
        });
    }
    used
}

/// The libraries whose macros the root of a crate gives to all of its modules.
fn giving(world: &World, krate: CrateId) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for body in world[krate]
        .root
        .into_iter()
        .flat_map(|root| world.bodies_of(root))
    {
        let facts = world.facts(body.file);
        let own = facts.extern_crates.iter();
        let own = own.filter(|one| one.macro_use && one.scope == body.scope);
        found.extend(own.map(|one| facts.name(one.name.name).to_owned()));
    }
    // Of those, what everybody has anyway says nothing.
    found.retain(|name| !matches!(name.as_str(), "std" | "core" | "alloc" | "self"));
    found
}

impl Implicit {
    fn piece(&mut self, relocation: &Relocation<'_>, piece: &Piece, given: &BTreeSet<String>) {
        let world = relocation.mapping.world;
        let source = &world[piece.file];
        let Some(text) = relocation.mapping.texts.text(&source.path) else {
            return;
        };
        world.visit_file(source, &mut |facts, site| {
            let inside = site.segments.first().is_some_and(|first| {
                piece.span.start <= first.span.start && first.span.end <= piece.span.end
            });
            if inside && is_macro(facts, &site, &text) && is_from_nowhere(&site) {
                self.one(relocation, (piece, &source.path), (facts, &site), given);
            }
        });
    }

    fn one(
        &mut self,
        relocation: &Relocation<'_>,
        (piece, path): (&Piece, &TreePath),
        (facts, site): (&SourceFacts, &Site<'_>),
        given: &BTreeSet<String>,
    ) {
        let [segment] = site.segments else { return };
        let name = facts.name(segment.name);
        if PRELUDE.contains(name) {
            return;
        }
        let mut libraries = given.iter();
        let (Some(library), None) = (libraries.next(), libraries.next()) else {
            let refused = may_be_of_several(path, name, given);
            self.refusals.push(refused.at(segment.span));
            return;
        };
        if has_foreign_glob(relocation, piece, facts) {
            self.unproven.push(Unproven {
                path: path.clone(),
                span: Some(segment.span),
                kind: UnprovenKind::ProceduralMacro,
                name: name.to_owned(),
                why: format!(
                    "`{library}` may have brought it by `#[macro_use] extern crate`, or a glob"
                ),
            });
        }
        self.left.insert(relocation.mapping.krate(piece.from));
        let said = self.say(relocation, piece, library);
        self.add(path, Edit::insert(segment.span.start, format!("{said}::")));
    }

    /// Adds an edit, once.
    fn add(&mut self, path: &TreePath, edit: Edit) {
        let edits = self.edits.entry(path.clone()).or_default();
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }

    /// Takes `#[macro_use]` from the declarations of a root that nothing uses any more.
    fn spent(&mut self, world: &World, krate: CrateId, texts: &dyn Texts) {
        for body in world[krate]
            .root
            .into_iter()
            .flat_map(|root| world.bodies_of(root))
        {
            let (source, facts) = (&world[body.file], world.facts(body.file));
            let Some(text) = texts.text(&source.path) else {
                continue;
            };
            for one in facts.extern_crates.iter().filter(|one| one.macro_use) {
                let edit = without_macro_use(&text, one.span);
                let edits = self.edits.entry(source.path.clone()).or_default();
                edits.extend(edit);
            }
        }
    }

    /// The name of a library in the crate of a piece after, which depends on it from now on.
    fn say(&mut self, relocation: &Relocation<'_>, piece: &Piece, library: &str) -> String {
        let speller = relocation.mapping.speller();
        let from = relocation.mapping.krate(piece.from);
        let root = Place::root(piece.to.krate);
        let path = vec![library.to_owned()];
        let said = speller.said_in(path, from, &root, &mut self.needs);
        said.into_iter()
            .next()
            .unwrap_or_else(|| library.to_owned())
    }
}

/// Takes `#[macro_use]`, or `#[macro_use(…)]`, with the space behind it out of a declaration.
pub(super) fn without_macro_use(text: &str, declaration: ByteSpan) -> Option<Edit> {
    let own = declaration.of(text)?;
    let start = own.find("#[macro_use")?;
    let close = own.get(start..)?.find(']')? + start + 1;
    let rest = own.get(close..)?;
    let end = close + rest.len() - rest.trim_start().len();
    let span = ByteSpan::from_range(start..end).shifted(declaration.start);
    Some(Edit::delete(span))
}

/// Whether a file imports all that something outside of the tree has: nobody knows what that is.
fn has_foreign_glob(relocation: &Relocation<'_>, piece: &Piece, facts: &SourceFacts) -> bool {
    let speller = relocation.mapping.speller();
    let mut leaves = (0_u32..).zip(&facts.leaves);
    leaves.any(|(at, leaf)| {
        leaf.kind == LeafKind::Glob && speller.glob_target((piece.file, at)).is_none()
    })
}

/// Whether a site is the name of a macro that is called, or of a derive.
fn is_macro(facts: &SourceFacts, site: &Site<'_>, text: &str) -> bool {
    let UseSite::Path(path) = site.site else {
        return false;
    };
    if facts.macro_calls.iter().any(|call| call.path == path) {
        return matches!(
            site.origin,
            Origin::Code | Origin::KnownMacro | Origin::MacroArguments
        );
    }
    let fact = facts.path(path);
    let start = site.segments.first().map_or(0, |first| first.span.start);
    let head = text.get(..start as usize).unwrap_or_default();
    let attribute = head.rfind("#[").and_then(|at| head.get(at..));
    site.origin == Origin::Attribute
        && fact.namespaces.meets(Namespaces::MACRO)
        && attribute.is_some_and(|said| said.contains("derive(") && !said.contains(']'))
}

/// Whether nothing that can be seen gives a name.
fn is_from_nowhere(site: &Site<'_>) -> bool {
    let first = site.trace.steps.first();
    first.is_some_and(|step| {
        let known = |res| matches!(res, Res::Item(_) | Res::Module(_) | Res::External(_));
        !step.all().any(|(res, _)| known(res))
    })
}
