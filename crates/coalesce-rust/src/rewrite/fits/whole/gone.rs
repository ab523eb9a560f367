//! The texts that a migration takes away: what they use asks for nothing any more.

use std::collections::BTreeMap;

use coalesce_model::ByteSpan;

use super::Pairs;
use crate::{
    resolve::{FileId, ModuleId},
    rewrite::{fits::names::Names, mapping::Mapping},
};

/// The texts that go.
pub(super) struct Gone<'g, 'm> {
    mapping: &'g Mapping<'m>,
    spans: BTreeMap<FileId, Vec<ByteSpan>>,
}

impl<'g, 'm> Gone<'g, 'm> {
    pub(super) fn new(mapping: &'g Mapping<'m>, names: &Names<'_>, found: &Pairs) -> Self {
        let mut spans: BTreeMap<FileId, Vec<ByteSpan>> = BTreeMap::new();
        for old in found.all.keys() {
            let own = names.definition(*old).map(|(file, fact)| (file, fact.span));
            let impls = names.impls(*old).into_iter();
            for (file, span) in own
                .into_iter()
                .chain(impls.map(|(file, span, _)| (file, span)))
            {
                spans.entry(file).or_default().push(span);
            }
        }
        Self { mapping, spans }
    }

    pub(super) fn has(&self, file: FileId, module: ModuleId, at: u32) -> bool {
        self.mapping.is_replaced(module) || self.has_text(file, at)
    }

    /// Whether a byte is of a definition that gives way.
    pub(super) fn has_text(&self, file: FileId, at: u32) -> bool {
        let inside = |span: &ByteSpan| span.start <= at && at < span.end;
        let spans = self.spans.get(&file);
        spans.is_some_and(|spans| spans.iter().any(inside))
    }

    /// Whether a byte of a file goes, whatever module it is of.
    pub(super) fn has_byte(&self, file: FileId, at: u32) -> bool {
        let world = self.mapping.world;
        let bodies = world[file].bodies.iter().map(|body| &world[*body]);
        let mut around: Vec<(u32, ModuleId)> = Vec::new();
        for body in bodies {
            let facts = world.facts(file);
            let scope = Some(facts.scope(body.scope));
            let span = scope.map(|scope| scope.span);
            if let Some(span) = span.filter(|span| span.start <= at && at < span.end) {
                around.push((span.len(), body.module));
            }
        }
        let inner = around.into_iter().min();
        inner.is_some_and(|(_, module)| self.has(file, module, at))
    }
}
