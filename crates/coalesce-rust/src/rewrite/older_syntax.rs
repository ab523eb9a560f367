//! What editions before 2021 write in a way that later ones do not take: ranges of patterns by three dots, and objects
//! of traits without `dyn`.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, TreePath, Unproven, UnprovenKind};
use syn::{
    spanned::Spanned as _,
    visit::{self, Visit},
};

use super::relocation::{Piece, Relocation};
use crate::{
    discover::Edition,
    lexer::{self, Token, TokenKind},
    resolve::{CrateId, Res},
    syntax,
    words::{STANDARD_TRAITS, words_of},
};

/// What it takes that later editions read the code.
#[derive(Default)]
pub(super) struct OlderSyntax {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub unproven: Vec<Unproven>,
}

/// Looks at all code that goes to a newer edition; a library that goes as a whole takes its own along.
pub(super) fn rewrite(relocation: &Relocation<'_>) -> OlderSyntax {
    let mut found = OlderSyntax::default();
    let mapping = relocation.mapping;
    let edition = |krate: CrateId| mapping.world[krate].edition;
    let crossing = relocation.pieces.iter().filter(|piece| {
        let from = mapping.krate(piece.from);
        edition(from) < Edition::E2021
            && edition(piece.to.krate) >= Edition::E2021
            && mapping.library_of(from).is_none()
    });
    for piece in crossing {
        found.piece(relocation, piece);
    }
    found
}

impl OlderSyntax {
    fn piece(&mut self, relocation: &Relocation<'_>, piece: &Piece) {
        let mapping = relocation.mapping;
        let path = &mapping.world[piece.file].path;
        let Some(text) = mapping.texts.text(path) else {
            return;
        };
        let dots = three_dots(&text, piece.span);
        let traits = traits_in(relocation, piece);
        let said = Said::read(&text, piece.span, traits);
        let edits = self.edits.entry(path.clone()).or_default();
        for at in &dots {
            let edit = Edit::replace(*at, "..=");
            if said.ranges.contains(&at.start) && !edits.contains(&edit) {
                edits.push(edit);
            }
        }
        let unread = dots.iter().filter(|at| !said.ranges.contains(&at.start));
        let unread = unread.map(|at| {
            let why = "a macro is given or says it: where it is a range of a pattern, edition 2021 takes `..=`";
            (*at, why)
        });
        let bare = said.objects.iter().map(|at| {
            let why = "from edition 2021 on, a trait is a type behind `dyn` alone";
            (*at, why)
        });
        let told = unread.chain(bare).map(|(span, why)| Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::Equivalence,
            name: span.of(&text).unwrap_or_default().to_owned(),
            why: why.to_owned(),
        });
        self.unproven.extend(told);
    }
}

/// Where three dots stand behind what may begin a range and before what may end it.
fn three_dots(text: &str, span: ByteSpan) -> Vec<ByteSpan> {
    let tokens = lexer::tokens(text, span);
    let begins = |token: &Token| {
        matches!(
            token.kind,
            TokenKind::Ident | TokenKind::Literal | TokenKind::Close(_)
        )
    };
    let ends = |token: &Token| !matches!(token.kind, TokenKind::Close(_)) && !token.is(b',');
    let found = tokens.windows(5).filter_map(|five| {
        let [before, one, two, three, after] = five else {
            return None;
        };
        let are_dots = [one, two, three].iter().all(|token| token.is(b'.'));
        let are_one = one.span.end == two.span.start && two.span.end == three.span.start;
        (are_dots && are_one && begins(before) && ends(after)).then(|| one.span.cover(three.span))
    });
    found.collect()
}

/// Where the paths of a piece say the last name of a trait.
fn traits_in(relocation: &Relocation<'_>, piece: &Piece) -> BTreeSet<u32> {
    let world = relocation.mapping.world;
    let mut found = BTreeSet::new();
    let is_standard = |full: &str| {
        let last = full.rsplit("::").next().unwrap_or_default();
        let first = full.split("::").next().unwrap_or_default();
        matches!(first, "std" | "core" | "alloc") && words_of(STANDARD_TRAITS, last).is_some()
    };
    world.visit_file(&world[piece.file], &mut |_, site| {
        let Some((last, step)) = site.segments.last().zip(site.trace.steps.last()) else {
            return;
        };
        let is_trait = step.all().any(|(res, _)| match res {
            Res::External(full) => is_standard(&world.names.text(full)),
            _ => world.as_trait(res).is_some(),
        });
        if is_trait && piece.span.contains(last.span) {
            found.insert(last.span.start);
        }
    });
    found
}

/// What a text says by the syntax of older editions, as a parser reads it.
struct Said {
    /// Where the text begins in its file.
    start: u32,
    /// Where traits are named.
    traits: BTreeSet<u32>,
    /// Where the limits of ranges begin.
    ranges: BTreeSet<u32>,
    /// Types that are traits without `dyn`.
    objects: Vec<ByteSpan>,
}

impl Said {
    fn read(text: &str, span: ByteSpan, traits: BTreeSet<u32>) -> Self {
        let _trees = syntax::Trees::begin();
        let mut said = Self {
            start: span.start,
            traits,
            ranges: BTreeSet::new(),
            objects: Vec::new(),
        };
        let own = span.of(text).unwrap_or_default();
        // Of a module between braces, these are part of its scope.
        let inner = own.strip_prefix('{').and_then(|own| own.strip_suffix('}'));
        said.start += u32::from(inner.is_some());
        if let Ok(parsed) = syntax::parse_file(inner.unwrap_or(own)) {
            said.visit_file(&parsed);
        }
        said
    }

    fn span_of(&self, range: std::ops::Range<usize>) -> ByteSpan {
        ByteSpan::from_range(range).shifted(self.start)
    }
}

impl<'ast> Visit<'ast> for Said {
    fn visit_range_limits(&mut self, limits: &'ast syn::RangeLimits) {
        let span = self.span_of(limits.span().byte_range());
        self.ranges.insert(span.start);
    }

    fn visit_type(&mut self, ty: &'ast syn::Type) {
        match ty {
            syn::Type::TraitObject(object) if object.dyn_token.is_none() => {
                let span = self.span_of(object.span().byte_range());
                self.objects.push(span);
            }
            syn::Type::Path(path) if path.qself.is_none() => {
                let last = path.path.segments.last();
                let is_called = last.is_some_and(|last| {
                    matches!(last.arguments, syn::PathArguments::Parenthesized(_))
                });
                let at = last.map(|last| self.span_of(last.ident.span().byte_range()));
                if at.is_some_and(|at| is_called || self.traits.contains(&at.start)) {
                    let span = self.span_of(path.span().byte_range());
                    self.objects.push(span);
                }
            }
            _ => {}
        }
        visit::visit_type(self, ty);
    }
}
