//! Modules that say `#![no_implicit_prelude]`: what comes to one of them from elsewhere has none of the names of the
//! standard library but by imports, nor methods of its traits.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Finding, Unproven, UnprovenKind, finding::codes};

use super::{
    mapping::refusal,
    place::Place,
    relocation::{Piece, Relocation},
};
use crate::{
    lexer::{self, Token, TokenKind},
    resolve::{FileId, ModuleId, World},
    words,
};

/// The attribute.
const ATTRIBUTE: &str = "no_implicit_prelude";

/// Libraries that are named without an import.
const LIBRARIES: [&str; 3] = ["std", "core", "alloc"];

/// What names of preludes that are not there come to.
#[derive(Default)]
pub(super) struct Missing {
    pub refusals: Vec<Finding>,
    pub unproven: Vec<Unproven>,
}

/// Looks for names of preludes in what comes to such modules.
pub(super) fn missing(relocation: &Relocation<'_>) -> Missing {
    let world = relocation.mapping.world;
    let bare = bare_modules(relocation);
    let mut found = Missing::default();
    for piece in relocation.pieces.iter().filter(|_| !bare.is_empty()) {
        let was_bare = around(world, piece.from).any(|module| bare.contains(&module));
        if was_bare || !is_below(relocation, &piece.to, &bare) {
            continue;
        }
        Reader { relocation, piece }.read(&mut found);
    }
    found
}

fn around(world: &World, module: ModuleId) -> impl Iterator<Item = ModuleId> {
    std::iter::successors(Some(module), |at| world[*at].parent)
}

/// Whether a place is in one of some modules, or below one.
fn is_below(relocation: &Relocation<'_>, place: &Place, bare: &BTreeSet<ModuleId>) -> bool {
    let mut places = std::iter::successors(Some(place.clone()), Place::parent);
    places.any(|place| {
        let module = relocation.mapping.at(&place);
        module.is_some_and(|module| bare.contains(&module))
    })
}

/// The modules of the tree that say the attribute themselves.
fn bare_modules(relocation: &Relocation<'_>) -> BTreeSet<ModuleId> {
    let (world, texts) = (relocation.mapping.world, relocation.mapping.texts);
    let mut found = BTreeSet::new();
    for (file, source) in world.sources() {
        let Some(text) = texts.text(&source.path) else {
            continue;
        };
        if memchr::memmem::find(text.as_bytes(), ATTRIBUTE.as_bytes()).is_some() {
            found.extend(modules_that_say(world, file, &text));
        }
    }
    found
}

/// The modules of a file whose attributes say it: in front of a declaration, or inside.
fn modules_that_say(world: &World, file: FileId, text: &str) -> Vec<ModuleId> {
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let word = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        token.and_then(|token| token.span.of(text))
    };
    let said = tokens.iter().enumerate().filter(|(at, token)| {
        token.span.of(text) == Some(ATTRIBUTE) && word(at.checked_sub(1)) == Some("[")
    });
    let modules = said.filter_map(|(at, token)| {
        let start = token.span.start;
        if word(at.checked_sub(2)) == Some("!") {
            return Some(world[world.body_around(file, start)?].module);
        }
        let declared = world.facts(file).modules.iter();
        let mut declared = declared.filter(|one| one.span.contains(token.span));
        let declared = declared.find(|one| start < one.name.span.start)?;
        let inner = declared.name.span.end;
        let body = world.body_around(file, inner)?;
        let name = world.facts(file).name(declared.name.name);
        let mut children = world[world[body].module].children.iter().copied();
        children.find(|child| world[*child].name == name)
    });
    modules.collect()
}

/// A piece of code that comes to such a module.
struct Reader<'r, 'a> {
    relocation: &'r Relocation<'a>,
    piece: &'r Piece,
}

impl Reader<'_, '_> {
    fn read(&self, found: &mut Missing) {
        let world = self.relocation.mapping.world;
        let path = &world[self.piece.file].path;
        let Some(text) = self.relocation.mapping.texts.text(path) else {
            return;
        };
        let tokens = lexer::tokens(&text, self.piece.span);
        let named = (0..tokens.len()).find_map(|at| self.name_at(&text, &tokens, at));
        if let Some((token, name)) = named {
            let place = self.relocation.mapping.name_of(&self.piece.to);
            let message =
                format!("`{name}` is a name of the prelude, and `{place}` is `#![{ATTRIBUTE}]`");
            let refused = refusal(path.clone(), message).coded(codes::UNRESOLVED_AFTER_CHANGE);
            let help = format!("import `{name}` by its path where it moves from first");
            found.refusals.push(refused.at(token.span).with_help(help));
            return;
        }
        let called = (0..tokens.len()).find_map(|at| method_at(&text, &tokens, at));
        found.unproven.extend(called.map(|(token, name)| Unproven {
            path: path.clone(),
            span: Some(token.span),
            kind: UnprovenKind::UnknownType,
            name: name.to_owned(),
            why: format!(
                "a trait of the prelude may give this method, and where it goes `#![{ATTRIBUTE}]` takes those away"
            ),
        }));
    }

    /// A name that nothing but a prelude brings.
    fn name_at<'t>(&self, text: &'t str, tokens: &[Token], at: usize) -> Option<(Token, &'t str)> {
        let token = *tokens.get(at).filter(|token| token.is_ident())?;
        let word = |at: usize| tokens.get(at).and_then(|token| token.span.of(text));
        let name = word(at)?;
        let is_prelude = words::PRELUDE.contains(name) && !words::PRIMITIVES.contains(name);
        let before = at.checked_sub(1).and_then(word);
        if !is_prelude || matches!(before, Some("." | ":")) {
            return None;
        }
        let next = word(at + 1);
        let is_meant = match name.starts_with(char::is_uppercase) {
            true => true,
            false if LIBRARIES.contains(&name) => next == Some(":") && word(at + 2) == Some(":"),
            false => next == Some("!"),
        };
        (is_meant && !self.is_bound(name)).then_some((token, name))
    }

    /// Whether the module that it comes from, or goes to, has the name for itself: then it is imported.
    fn is_bound(&self, name: &str) -> bool {
        let mapping = self.relocation.mapping;
        let homes = [Some(self.piece.from), mapping.at(&self.piece.to)];
        let mut homes = homes.into_iter().flatten();
        homes.any(|home| !mapping.world.bindings(home, name).is_empty())
    }
}

/// A method that is called.
fn method_at<'t>(text: &'t str, tokens: &[Token], at: usize) -> Option<(Token, &'t str)> {
    let token = *tokens.get(at).filter(|token| token.is_ident())?;
    let is_dotted = at.checked_sub(1).and_then(|at| tokens.get(at))?.is(b'.');
    let next = tokens.get(at + 1)?;
    let is_called = next.kind == TokenKind::Open(b'(') || next.is(b':');
    (is_dotted && is_called).then_some((token, token.span.of(text)?))
}
