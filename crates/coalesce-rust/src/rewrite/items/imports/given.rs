//! Names that a macro alone is given: it may put them behind a dot, as the names of fields, and nothing uses what is
//! imported for them then.

use coalesce_model::{Unproven, UnprovenKind};

use super::Settler;
use crate::{
    facts::{ItemKind, Origin},
    lexer,
    resolve::UseSite,
    rewrite::items::scan::Borrow,
};

impl Settler<'_, '_> {
    /// Tells of an import whose name nothing says but what macros are given that put names behind dots.
    pub(super) fn tell_given(&mut self, name: &str, borrows: &[Borrow]) {
        let Some(first) = borrows.first() else { return };
        let is_small = name.starts_with(|first: char| first.is_lowercase());
        if !is_small || !borrows.iter().all(|one| self.may_be_member(one)) {
            return;
        }
        self.scan.told.unproven.push(Unproven {
            path: self.set.path(first.file),
            span: Some(first.span),
            kind: UnprovenKind::MacroArgument,
            name: name.to_owned(),
            why: format!(
                "a macro is given `{name}` and may take it for the name of a field: nothing would use what is imported \
                 for it, and the compiler warns of that"
            ),
        });
    }

    /// Whether a macro of the tree is given a word, and puts words behind dots.
    fn may_be_member(&self, borrow: &Borrow) -> bool {
        let world = self.world();
        let facts = world.facts(borrow.file);
        let UseSite::Path(path) = borrow.site else {
            return false;
        };
        let is_given = matches!(borrow.origin, Origin::MacroArguments | Origin::MacroTokens);
        let is_word = is_given
            && facts
                .paths
                .get(path as usize)
                .is_some_and(|one| one.segments.len == 1);
        let calls = facts.macro_calls.iter();
        let around = calls.filter(|call| is_word && call.body.contains(borrow.span));
        let call = around.min_by_key(|call| call.body.len());
        let name = call.and_then(|call| facts.segments(facts.path(call.path).segments).last());
        name.is_some_and(|name| self.puts_behind_dots(facts.name(name.name)))
    }

    fn puts_behind_dots(&self, name: &str) -> bool {
        let world = self.world();
        let macros = world.items.iter();
        let mut own = macros.filter(|one| one.kind == ItemKind::Macro && one.name == name);
        own.any(|node| {
            node.definitions.iter().any(|(file, at)| {
                let text = self.set.mapping.texts.text(&self.set.path(*file));
                let span = world.facts(*file).item(*at).span;
                text.is_some_and(|text| {
                    let tokens = lexer::tokens(&text, span);
                    tokens.windows(2).any(|pair| match pair {
                        [dot, given] => dot.is(b'.') && given.is(b'$'),
                        _ => false,
                    })
                })
            })
        })
    }
}
