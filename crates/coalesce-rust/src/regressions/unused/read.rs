//! Files as their tokens say them, with what is known of names in them: read once each.

use std::{collections::BTreeSet, rc::Rc, sync::Arc};

use coalesce_model::ByteSpan;
use rustc_hash::FxHashMap;

use super::{Named, live::Owners};
use crate::{
    facts::{ItemKind, Origin},
    lexer::{self, Token, TokenKind},
    resolve::{FileId, Found, ItemId, Res, Site, World},
    rewrite::receivers,
};

/// What stands before a name.
pub(super) enum Before<'t> {
    /// `self.name`
    Dot(&'t str),
    /// `Type::name`
    Path(&'t str),
    /// `fn name`
    Definition,
    Other,
}

/// A file with what is known of its names.
pub(super) struct ReadFile {
    pub text: Arc<str>,
    pub tokens: Vec<Token>,
    /// The tokens that say a name or the number of a field.
    by_word: FxHashMap<String, Vec<usize>>,
    /// The items that names of paths lead to, by where they start.
    items: FxHashMap<u32, ItemId>,
    /// The items that names of paths are members or variants of, by where they start; `None` where it is nothing of the
    /// tree.
    holders: FxHashMap<u32, Option<ItemId>>,
    /// The same of names behind dots.
    receivers: FxHashMap<u32, Option<ItemId>>,
    /// Arguments of macros that may take patterns.
    patterns: Vec<ByteSpan>,
    owners: Owners,
}

/// What names of paths in a file lead to.
#[derive(Default)]
struct NamesInFile {
    items: FxHashMap<u32, ItemId>,
    holders: FxHashMap<u32, Option<ItemId>>,
}

impl NamesInFile {
    fn note(&mut self, world: &World, site: &Site<'_>) {
        let outer = std::iter::once(None).chain(site.trace.steps.iter().map(Some));
        let steps = outer.zip(&site.trace.steps).zip(site.segments);
        for ((outer, step), segment) in steps {
            let at = segment.span.start;
            self.note_step(at, step);
            match outer.and_then(|outer| outer.all().next()) {
                Some((Res::Item(of), _)) if world[of].kind != ItemKind::TypeAlias => {
                    self.holders.entry(at).or_insert(Some(of));
                }
                Some((Res::External(_), _)) => _ = self.holders.entry(at).or_insert(None),
                _ => {}
            }
        }
    }

    fn note_step(&mut self, at: u32, step: &Found) {
        for (res, _) in step.all() {
            match res {
                Res::Item(item) => _ = self.items.insert(at, item),
                Res::Variant(of, _) | Res::Member(of, _) => _ = self.holders.insert(at, Some(of)),
                Res::Module(_) | Res::External(_) => {}
            }
        }
    }
}

impl Named<'_> {
    /// A file with what is known of its names; `None` where it has no text.
    pub(super) fn read_file(&mut self, file: FileId) -> Option<Rc<ReadFile>> {
        if let Some(known) = self.read_files.get(&file) {
            return Some(Rc::clone(known));
        }
        let read = Rc::new(self.read_anew(file)?);
        self.read_files.insert(file, Rc::clone(&read));
        Some(read)
    }

    fn read_anew(&self, file: FileId) -> Option<ReadFile> {
        let world = self.tree.world;
        let text = self.tree.texts.text(&world[file].path)?;
        let whole = ByteSpan::from_range(0..text.len());
        let (mut names, mut sites) = (NamesInFile::default(), Vec::new());
        world.visit_file(&world[file], &mut |_, site| {
            names.note(world, &site);
            sites.push(site);
        });
        let blocks = super::blocks_of_types(world.facts(file), &sites);
        let tokens = lexer::tokens(&text, whole);
        let types = (self.items_by_place(), blocks.as_slice());
        let owners = Owners::of((world, file), Arc::clone(&text), types);
        Some(ReadFile {
            by_word: by_word(&text, &tokens),
            tokens,
            items: names.items,
            holders: names.holders,
            receivers: FxHashMap::from_iter(receivers(world, file, self.tree.texts)),
            patterns: self.given_to_patterns(file),
            owners,
            text,
        })
    }

    /// What a file gives to macros of the tree that take patterns, or whatever they are given.
    fn given_to_patterns(&self, file: FileId) -> Vec<ByteSpan> {
        let facts = self.tree.world.facts(file);
        let macros = self
            .pattern_macros
            .get_or_init(|| self.read_pattern_macros());
        let calls = facts.macro_calls.iter().filter(|call| {
            let last = facts.segments(facts.path(call.path).segments).last();
            last.is_some_and(|last| macros.contains(facts.name(last.name)))
        });
        calls.map(|call| call.body).collect()
    }

    fn read_pattern_macros(&self) -> BTreeSet<String> {
        let world = self.tree.world;
        let macros = world.items.iter().filter(|one| one.kind == ItemKind::Macro);
        let takes_patterns = macros.filter(|one| {
            one.definitions.iter().any(|(file, at)| {
                let text = self.tree.texts.text(&world[*file].path);
                let span = world.facts(*file).item(*at).span;
                text.is_none_or(|text| {
                    let mut tokens = lexer::tokens(&text, span).into_iter();
                    tokens.any(|one| matches!(one.span.of(&text), Some("pat" | "pat_param" | "tt")))
                })
            })
        });
        takes_patterns.map(|one| one.name.clone()).collect()
    }

    /// Whether code that is used says a place, by the item that the place belongs to.
    pub(super) fn is_said_by_live(&mut self, read: &ReadFile, at: u32, holder: ItemId) -> bool {
        match read.owners.at(at).item {
            Some(owner) if owner != holder => self.is_live_code(owner),
            _ => true,
        }
    }

    /// Whether code of an item is used; that of a macro by who calls it.
    pub(super) fn is_live_code(&mut self, owner: ItemId) -> bool {
        let world = self.tree.world;
        if world[owner].kind != ItemKind::Macro {
            return self.is_live(owner);
        }
        let calls = world.expansions().calls_of(owner);
        let calls: Vec<(FileId, u32)> = calls.map(|call| (call.file, call.at)).collect();
        calls.into_iter().any(|(file, at)| {
            let Some(read) = self.read_file(file) else {
                return true;
            };
            let owner = read.owners.at(at).item;
            owner.is_none_or(|owner| world[owner].kind == ItemKind::Macro || self.is_live(owner))
        })
    }
}

impl ReadFile {
    pub fn at(&self, at: usize) -> &str {
        let token = self.tokens.get(at);
        token
            .and_then(|token| token.span.of(&self.text))
            .unwrap_or_default()
    }

    /// The tokens that say a name, or the number of a field.
    pub fn places_of(&self, word: &str) -> &[usize] {
        self.by_word.get(word).map_or(&[], Vec::as_slice)
    }

    /// The item that a name of a path leads to.
    pub fn item_at(&self, at: usize) -> Option<ItemId> {
        let token = self.tokens.get(at)?;
        self.items.get(&token.span.start).copied()
    }

    /// The item that a name is said to be of, by the path before it or the value before its dot, where one of these is
    /// known; within, `None` of what is nothing of the tree.
    pub fn holder_at(&self, at: usize) -> Option<Option<ItemId>> {
        let start = self.tokens.get(at)?.span.start;
        let known = self.holders.get(&start);
        known.or_else(|| self.receivers.get(&start)).copied()
    }

    pub fn before(&self, at: usize) -> Before<'_> {
        let back = |count: usize| at.checked_sub(count).map_or("", |at| self.at(at));
        match (back(1), back(2)) {
            (".", of) => Before::Dot(of),
            (":", ":") => Before::Path(back(3)),
            ("fn" | "const" | "struct" | "enum" | "mod" | "let" | "use", _) => Before::Definition,
            _ => Before::Other,
        }
    }

    /// Whether a field is said, and not a method of its name. The compiler (1.95) counts one that is only written as
    /// read.
    pub fn is_field(&self, at: usize) -> bool {
        self.at(at + 1) != "("
    }

    /// Whether a path of a variant may be a pattern, by what stands behind it and behind what is around it.
    pub fn is_pattern(&self, at: usize) -> bool {
        let start = self.tokens.get(at).map_or(0, |token| token.span.start);
        let given = ByteSpan::empty(start);
        if self.patterns.iter().any(|body| body.contains(given)) {
            return true;
        }
        let mut next = at + 1;
        loop {
            match self.tokens.get(next).map(|token| token.kind) {
                None => return false,
                Some(TokenKind::Open(_)) => {
                    let Some(close) = lexer::closing(&self.tokens, next) else {
                        return true;
                    };
                    next = close + 1;
                }
                Some(TokenKind::Close(_)) if self.is_in_matches(next) => return true,
                Some(TokenKind::Close(_)) => next += 1,
                Some(TokenKind::Punct(b'=')) => return self.at(next + 1) != "=",
                Some(TokenKind::Punct(b'|')) => return true,
                // Of a parameter.
                Some(TokenKind::Punct(b':')) => return self.at(next + 1) != ":",
                Some(TokenKind::Punct(b',')) => {
                    let Some(close) = self.end_of_group(next) else {
                        return false;
                    };
                    next = close;
                }
                Some(_) => return matches!(self.at(next), "if" | "in"),
            }
        }
    }

    /// The token that opens what is around a token, directly.
    pub fn opening(&self, at: usize) -> Option<usize> {
        lexer::opening(&self.tokens, at)
    }

    /// The token that closes what is around a token.
    fn end_of_group(&self, mut at: usize) -> Option<usize> {
        loop {
            match self.tokens.get(at)?.kind {
                TokenKind::Open(_) => at = lexer::closing(&self.tokens, at)? + 1,
                TokenKind::Close(_) => return Some(at),
                _ => at += 1,
            }
        }
    }

    /// Whether a token closes the arguments of `matches!` or its like.
    fn is_in_matches(&self, close: usize) -> bool {
        let back = |at: usize| at.checked_sub(1).map_or("", |at| self.at(at));
        let open = self.opening(close);
        open.is_some_and(|open| back(open) == "!" && back(open - 1).contains("matches"))
    }

    /// The parts between commas of what a token opens, each by its first token.
    pub fn parts(&self, open: usize) -> Vec<usize> {
        let Some(close) = lexer::closing(&self.tokens, open) else {
            return Vec::new();
        };
        let (mut found, mut at, mut starts) = (Vec::new(), open + 1, true);
        while at < close {
            if starts {
                found.push(at);
            }
            starts = self.at(at) == ",";
            let opens = matches!(
                self.tokens.get(at).map(|one| one.kind),
                Some(TokenKind::Open(_))
            );
            at = match lexer::closing(&self.tokens, at).filter(|_| opens) {
                Some(end) => end + 1,
                None => at + 1,
            };
        }
        found
    }
}

fn by_word(text: &str, tokens: &[Token]) -> FxHashMap<String, Vec<usize>> {
    let mut found: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (at, token) in tokens.iter().enumerate() {
        if token.is_ident() || token.kind == TokenKind::Literal {
            let word = field_or_name(token.span.of(text).unwrap_or_default());
            found.entry(word.to_owned()).or_default().push(at);
        }
    }
    found
}

/// What a token names: `r#name` is one name, and `0.1` behind a dot two fields.
pub(super) fn field_or_name(word: &str) -> &str {
    let word = word.strip_prefix("r#").unwrap_or(word);
    word.split('.').next().unwrap_or(word)
}

/// Whether a macro of the tree that is called in a file may declare a member by a word that it is given.
pub(super) fn is_given_to_items(named: &Named<'_>, file: FileId, at: u32) -> bool {
    let facts = named.tree.world.facts(file);
    let place = ByteSpan::empty(at);
    let mut calls = facts.macro_calls.iter();
    let in_impl = |body: ByteSpan| facts.impls.iter().any(|one| one.span.contains(body));
    calls.any(|call| {
        let is_plain = facts.items.iter().any(|one| {
            let kinds = [ItemKind::Function, ItemKind::Const, ItemKind::Static];
            kinds.contains(&one.kind) && one.origin == Origin::Code && one.span.contains(call.body)
        });
        call.body.contains(place) && (call.item_position || (in_impl(call.body) && !is_plain))
    })
}
