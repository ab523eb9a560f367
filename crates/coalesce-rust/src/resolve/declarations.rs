//! Where modules are declared: read once for all of them.

use coalesce_model::ByteSpan;
use rustc_hash::FxHashMap;

use super::{
    names::sym,
    world::{Body, BodyId, FileId, ModuleId, SourceFile, Sym, World},
};
use crate::facts::ScopeId;

impl World {
    /// The code of a body, without the braces around it.
    pub(crate) fn code_of(&self, body: &Body) -> ByteSpan {
        let span = self.facts(body.file).scope(body.scope).span;
        match body.scope.0 {
            0 => span,
            _ => ByteSpan::new(
                span.start + 1,
                span.end.saturating_sub(1).max(span.start + 1),
            ),
        }
    }

    /// The innermost body of a module around a byte of a file.
    pub(crate) fn body_around(&self, file: FileId, at: u32) -> Option<BodyId> {
        let facts = self.facts(file);
        let span = |body: &BodyId| facts.scope(self[*body].scope).span;
        let bodies = self[file].bodies.iter().copied();
        let around = bodies.filter(|body| span(body).start <= at && at < span(body).end);
        around.min_by_key(|body| span(body).len())
    }

    /// The `mod` declarations of each body by their names, those of its blocks included.
    fn read_declarations(&self) -> FxHashMap<(BodyId, Sym), Vec<u32>> {
        let mut found: FxHashMap<(BodyId, Sym), Vec<u32>> = FxHashMap::default();
        for (file, source) in self.sources() {
            self.note_declarations(file, source, &mut found);
        }
        found
    }

    /// Notes the declarations of one file.
    fn note_declarations(
        &self,
        file: FileId,
        source: &SourceFile,
        found: &mut FxHashMap<(BodyId, Sym), Vec<u32>>,
    ) {
        let facts = self.facts(file);
        let mut bodies: FxHashMap<ScopeId, Vec<BodyId>> = FxHashMap::default();
        for body in &source.bodies {
            bodies.entry(self[body].scope).or_default().push(*body);
        }
        for (at, declaration) in (0..).zip(&facts.modules) {
            let Some(name) = sym(self, file, declaration.name.name.0) else {
                continue;
            };
            let own = bodies.get(&facts.module_scope(declaration.scope));
            for body in own.into_iter().flatten() {
                found.entry((*body, name)).or_default().push(at);
            }
        }
    }

    /// Every `mod` declaration of a module: file and index into the file's `modules`. All `cfg`
    /// variants are there, also those that share a file.
    #[must_use]
    pub fn declarations(&self, module: ModuleId) -> Vec<(FileId, u32)> {
        let node = &self[module];
        let Some(parent) = node.parent.map(|parent| &self[parent]) else {
            return Vec::new();
        };
        let Some(name) = self.names.get(&node.name) else {
            return Vec::new();
        };
        let declared = self.declared.get_or_init(|| self.read_declarations());
        let bodies = parent.bodies.iter();
        let own = bodies.flat_map(|body| {
            let found = declared.get(&(*body, name)).into_iter().flatten();
            found.map(move |at| (self[body].file, *at))
        });
        let mut found: Vec<(FileId, u32)> = own.filter(|at| self.declares(*at, module)).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Whether a declaration of that name declares the module, and not one of a block.
    fn declares(&self, (file, at): (FileId, u32), module: ModuleId) -> bool {
        let loads = &self[file].loads;
        let local = loads
            .iter()
            .find_map(|load| self.local_modules.get(&(*load as usize, at)));
        match local {
            Some(local) => *local == module,
            None => !self[module].local,
        }
    }
}
