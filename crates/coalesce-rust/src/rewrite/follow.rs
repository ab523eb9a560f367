//! Uses of an imported name that has another name from now on: `use new::select` in place of
//! `use new::select as pick` takes a file in which `pick` can be called `select` throughout.
//!
//! The old name stays, as an alias, where the import is public or others may read it, where the new name
//! stands for something else, and where the file says the old one in a way that is not known to lead to
//! the import: in tokens of macros, in strings, as a field.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, ChangeKind, Edit, Uses};

use super::{mapping::Mapping, spell::written, use_tree::LeafChange};
use crate::{
    facts::{LeafKind, Origin, ScopeId, SourceFacts, UseLeaf, VisibilityKind},
    lexer::{self, Token, TokenKind},
    resolve::{FileId, Found, UseSite, World, is_within},
};

/// A file whose imports may give up their aliases.
pub(super) struct Following<'f> {
    pub mapping: &'f Mapping<'f>,
    pub file: FileId,
    pub text: &'f str,
    /// Whether the text at a byte leaves the file.
    pub leaves: &'f dyn Fn(u32) -> bool,
}

impl Following<'_> {
    fn facts(&self) -> &SourceFacts {
        self.mapping.world.facts(self.file)
    }

    /// Takes aliases that imports got to keep their old names away again, where the uses can take the new
    /// ones.
    pub fn follow(&self, leaves: &mut BTreeMap<u32, LeafChange>, edits: &mut Vec<Edit>) {
        let includes_code = |value: &str| value.ends_with(".rs");
        let facts = self.facts();
        let mut includes = facts.includes.iter();
        if facts.problem.is_some() || includes.any(|one| includes_code(&one.value)) {
            return;
        }
        for (leaf, new) in self.candidates(leaves) {
            let fact = facts.leaf(leaf);
            let Some(old) = facts.segments(fact.segments).last() else {
                continue;
            };
            let old = facts.name(old.name).to_owned();
            let renamed = self.renamed((leaf, fact), (&old, &new), OthersOfName::Forbid);
            let Some(spans) = renamed.filter(|spans| !are_touched(edits, spans)) else {
                continue;
            };
            if let Some(LeafChange::Path { alias, .. }) = leaves.get_mut(&leaf) {
                *alias = None;
            }
            let new = written(&new);
            let spans = spans.into_iter();
            edits.extend(spans.map(|span| Edit::replace(span, new.as_str())));
        }
    }

    /// The imports that keep their name by an alias which was not there, with the name that they would have.
    fn candidates(&self, leaves: &BTreeMap<u32, LeafChange>) -> Vec<(u32, String)> {
        let mut named: BTreeMap<(ScopeId, &String), usize> = BTreeMap::new();
        for (leaf, change) in leaves {
            if let LeafChange::Path { path, .. } = change
                && let Some(name) = path.last()
            {
                *named.entry((self.scope(*leaf), name)).or_default() += 1;
            }
        }
        let found = leaves.iter().filter_map(|(leaf, change)| {
            let LeafChange::Path { path, alias } = change else {
                return None;
            };
            let (alias, new) = (alias.as_ref()?, path.last()?);
            let once = named.get(&(self.scope(*leaf), new)) == Some(&1);
            (once && self.may_lose(*leaf, alias, new)).then(|| (*leaf, new.clone()))
        });
        found.collect()
    }

    fn scope(&self, leaf: u32) -> ScopeId {
        let facts = self.facts();
        facts.declaration_of(leaf).scope
    }

    /// Whether an import got an alias that nobody asked for, and that no other file can know.
    fn may_lose(&self, leaf: u32, alias: &str, new: &str) -> bool {
        let facts = self.facts();
        let fact = facts.leaf(leaf);
        let word = matches!(new, "crate" | "self" | "super" | "Self");
        let plain = fact.alias.is_none() && fact.kind != LeafKind::Glob;
        let private = facts.declaration_of(leaf).visibility.kind == VisibilityKind::Private;
        new != alias && private && plain && !word && !self.keeps_alias(alias, new)
    }

    /// Where a file says what a glob brings by its old name, and can say the new one; `None` where it cannot. Where
    /// the new one means something else, a path says it if uses are spelled so.
    pub fn by_glob(
        &self,
        leaf: u32,
        names: (&str, &str),
        by_path: bool,
    ) -> Option<BTreeSet<ByteSpan>> {
        let facts = self.facts();
        let known = facts.problem.is_none() && !self.keeps_alias(names.0, names.1);
        let others = match by_path {
            true => OthersOfName::Hide,
            false => OthersOfName::Forbid,
        };
        known.then(|| self.renamed((leaf, facts.leaf(leaf)), names, others))?
    }

    /// Whether the manifest wants the old name kept where it becomes the new one.
    fn keeps_alias(&self, old: &str, new: &str) -> bool {
        let last = |name: &str| name.rsplit("::").next().map(str::to_owned);
        let changes = self.mapping.changes.iter();
        let mut aliased = changes.filter(|change| change.uses == Uses::Alias);
        aliased.any(|change| {
            let own = last(&change.from).as_deref() == Some(old)
                && last(&change.to).as_deref() == Some(new);
            let item = match &change.kind {
                ChangeKind::Replace { rename } => rename
                    .iter()
                    .any(|(from, to)| from == old && last(to).as_deref() == Some(new)),
                _ => false,
            };
            own || item
        })
    }

    /// Where the file says what a leaf imports; `None` where some of it cannot be said otherwise.
    fn renamed(
        &self,
        (leaf, fact): (u32, &UseLeaf),
        (old, new): (&str, &str),
        others_of_new: OthersOfName,
    ) -> Option<BTreeSet<ByteSpan>> {
        if self.is_said_by_macros(old, new) || self.is_read_below(leaf, (old, new)) {
            return None;
        }
        let Said { spans, others } = self.uses_of(leaf, old)?;
        let facts = self.facts();
        let scope = facts.scope(facts.declaration(fact.declaration).scope);
        let tokens = lexer::tokens(self.text, scope.span);
        let own = |span: ByteSpan| {
            let mut segments = facts.segments(fact.segments).iter();
            fact.span.contains(span) || segments.any(|segment| segment.span == span)
        };
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Open(bracket) => open.push(bracket),
                TokenKind::Close(_) => _ = open.pop(),
                _ => {}
            }
            let word = token.span.of(self.text).unwrap_or_default();
            let captures = spans.iter().any(|span| token.span.contains(*span));
            if matches!(token.kind, TokenKind::Text { .. }) && !captures && is_in_format(word, old)
            {
                return None;
            }
            let word = word.strip_prefix("r#").unwrap_or(word);
            if !token.is_ident() || (word != old && word != new) {
                continue;
            }
            let place = UseAround::of(&tokens, at);
            let fits = if word == new {
                others_of_new == OthersOfName::Hide
                    || place.member
                    || (place.below && (place.leads_on || !self.is_imported(token.span)))
            } else if spans.contains(&token.span) {
                others_of_new == OthersOfName::Hide || !(place.alone && open.last() == Some(&b'{'))
            } else {
                own(token.span) || others.contains(&token.span) || place.member || place.below
            };
            if !fits {
                return None;
            }
        }
        Some(spans)
    }

    /// Whether a name stands in a `use` declaration.
    fn is_imported(&self, span: ByteSpan) -> bool {
        let mut uses = self.facts().uses.iter();
        uses.any(|declaration| declaration.keyword.contains(span))
    }

    /// The first names of the paths that go through a leaf; `None` where one does so in another way.
    fn uses_of(&self, leaf: u32, old: &str) -> Option<Said> {
        let (world, facts) = (self.mapping.world, self.facts());
        let import = Some((self.file, leaf));
        let (mut said, mut known) = (Said::default(), true);
        world.visit_file(&world[self.file], &mut |_, site| {
            let Some(first) = site.segments.first() else {
                return;
            };
            let mut steps = site.trace.steps.iter().zip(site.segments).enumerate();
            let through = steps.find(|(_, (step, segment))| {
                step.import == import && facts.name(segment.name) == old
            });
            let is_path = matches!(site.site, UseSite::Path(_));
            let plain = matches!(
                site.origin,
                Origin::Code | Origin::KnownMacro | Origin::DocLink | Origin::FormatString
            );
            match through {
                _ if matches!(site.site, UseSite::Leaf(own) if own == leaf) => {}
                Some((0, _)) if is_path && plain && !(self.leaves)(first.span.start) => {
                    said.spans.insert(first.span);
                }
                Some(_) => known = false,
                None if is_path => {
                    let step = site.trace.steps.first();
                    let named = step.is_some_and(|step| step.import.is_some() && !step.glob);
                    said.others.extend((named && plain).then_some(first.span));
                }
                None => {
                    let segments = site.segments.iter();
                    said.others.extend(segments.map(|segment| segment.span));
                }
            }
        });
        known.then_some(said)
    }

    /// Whether modules below those of this file, in files of their own, see the import: by a path through it, or by a
    /// glob where one of them says a name.
    fn is_read_below(&self, leaf: u32, (old, new): (&str, &str)) -> bool {
        let world = self.mapping.world;
        let own = world[self.file].bodies.iter();
        let own: Vec<_> = own.map(|body| world[body].module).collect();
        let below = world.sources().filter(|(file, source)| {
            let mut modules = source.bodies.iter().map(|body| world[body].module);
            *file != self.file
                && modules.any(|module| own.iter().any(|own| is_within(world, module, *own)))
        });
        let (mut said, mut globs, mut through) = (false, false, false);
        for (file, source) in below {
            let facts = world.facts(file);
            let mut names = facts.names.iter();
            said |= names.any(|name| **name == *old || **name == *new);
            world.visit_file(source, &mut |facts, site| {
                let mut steps = site.trace.steps.iter();
                through |= steps.any(|step| step.import == Some((self.file, leaf)));
                let is_glob = matches!(site.site, UseSite::Leaf(other) if facts.leaf(other).kind == LeafKind::Glob);
                let target = site.trace.steps.last().and_then(Found::module);
                globs |= is_glob && target.is_some_and(|target| own.contains(&target));
            });
        }
        through || (said && globs)
    }

    /// Whether the body of a macro says one of the names by itself: it means what the caller's file has.
    fn is_said_by_macros(&self, old: &str, new: &str) -> bool {
        let words = self.mapping.macro_words();
        words.contains(old) || words.contains(new)
    }
}

/// The words that bodies of macros begin paths with.
pub(super) fn macro_words(world: &World) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for (file, _) in world.sources() {
        let facts = world.facts(file);
        let bodies = facts.paths.iter();
        for path in bodies.filter(|path| path.origin == Origin::MacroBody) {
            let first = facts.segments(path.segments).first();
            words.extend(first.map(|first| facts.name(first.name).to_owned()));
        }
    }
    words
}

/// What it means that a file says the new name already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OthersOfName {
    /// The old name stays: which of both a use would mean is not asked.
    Forbid,
    /// Uses that it would hide are said by a path.
    Hide,
}

/// What a file says by the old name.
#[derive(Default)]
struct Said {
    /// The first names of paths that go through an import.
    spans: BTreeSet<ByteSpan>,
    /// Words that lead through other imports, or are part of one.
    others: BTreeSet<ByteSpan>,
}

/// Whether a string may say a name as a format string, or whole, to what writes code.
fn is_in_format(literal: &str, name: &str) -> bool {
    let inside = format!("{{{name}");
    let mut found = literal.match_indices(&inside);
    let formats = found.any(|(at, _)| {
        let next = literal
            .get(at + inside.len()..)
            .and_then(|rest| rest.chars().next());
        next.is_none_or(|c| !(c.is_alphanumeric() || c == '_'))
    });
    formats || literal.trim_matches(['"', '#', 'r', 'b']) == name
}

/// What stands around a word.
struct UseAround {
    /// It is behind a dot: a field or a method.
    member: bool,
    /// It is behind `::`.
    below: bool,
    /// `::` stands behind it.
    leads_on: bool,
    /// It stands between commas or braces: `S { name }` says a field, too.
    alone: bool,
}

impl UseAround {
    fn of(tokens: &[Token], at: usize) -> Self {
        let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
        let behind = |on: usize| tokens.get(at + on);
        let is = |token: Option<&Token>, punct: u8| token.is_some_and(|token| token.is(punct));
        let range = is(before(2), b'.');
        let opens = before(1).is_some_and(|token| token.kind == TokenKind::Open(b'{'));
        let closes = behind(1).is_some_and(|token| token.kind == TokenKind::Close(b'}'));
        Self {
            member: is(before(1), b'.') && !range,
            below: is(before(1), b':') && is(before(2), b':'),
            leads_on: is(behind(1), b':') && is(behind(2), b':'),
            alone: (opens || is(before(1), b',')) && (closes || is(behind(1), b',')),
        }
    }
}

fn are_touched(edits: &[Edit], spans: &BTreeSet<ByteSpan>) -> bool {
    edits.iter().any(|edit| {
        let mut spans = spans.iter();
        spans.any(|span| edit.span.start < span.end && span.start < edit.span.end)
    })
}
