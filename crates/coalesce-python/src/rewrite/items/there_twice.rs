//! Modules that are there twice: a file that is run as a program and that something which it comes to imports by its name.
//! Each of the two has its own objects. What leaves such a file is there once from then on, and what comes into it reads
//! those of the one that it is called in.

use coalesce_model::LanguagePlan;
use coalesce_model::{ImportTarget, UnprovenKind};
use rustc_hash::FxHashSet;

use super::found_by_name::Traveller;
use crate::{
    analysis::{Analysis, DefinitionKind},
    graph::Entity,
};

impl Traveller<'_> {
    /// Tells an object that two modules of one file have each for itself, where it leaves them or is read by what arrives.
    pub(super) fn there_twice(&self, plan: &mut LanguagePlan) {
        let name = &self.moved.item;
        let left = self.source.tells_programs && self.is_one_of_a_kind(name);
        let why = if left && let Some(importer) = self.importer_of(self.moved.source) {
            format!(
                "there are two of it where its file is run as a program, which `{importer}` imports as well"
            )
        } else if let Some((object, importer)) = self.read_of_program() {
            format!(
                "it reads `{object}` of a file that is run as a program and that `{importer}` imports as well: of two of them it \
                 comes to read the other one"
            )
        } else {
            return;
        };
        self.doubt(self.own.span, UnprovenKind::OwnPlace, why, plan);
    }

    /// The first module that a module comes to and that imports it by its name.
    fn importer_of(&self, program: usize) -> Option<String> {
        let graph = self.mapping.graph;
        let mut seen = FxHashSet::default();
        let mut open = vec![program];
        while let Some(module) = open.pop() {
            for import in graph.imports.iter().filter(|one| one.importer == module) {
                let ImportTarget::Module(target) = import.target else {
                    continue;
                };
                if target == program && module != program {
                    return graph.modules.get(module).map(|one| one.name.clone());
                }
                if seen.insert(target) {
                    open.push(target);
                }
            }
        }
        None
    }

    /// The object of the program that the definition goes to which it reads, and who imports that program.
    fn read_of_program(&self) -> Option<(String, String)> {
        let graph = self.mapping.graph;
        // What goes with its module is called through that, as before.
        let target = self.moved.target.filter(|_| !self.moved.follows)?;
        let path = &graph.modules.get(target)?.path;
        let text = self.texts.text(path)?;
        if !text.contains("\"__main__\"") && !text.contains("'__main__'") {
            return None;
        }
        let analysis = Analysis::new(&text);
        let is_object = |item: &str| {
            let mut own = analysis.definitions.iter();
            own.any(|one| {
                one.name == item && one.class.is_none() && one.kind != DefinitionKind::Function
            })
        };
        let mut uses = self.source.analysis.uses_in(&[self.own.span]);
        let object = uses.find_map(|used| {
            let chain = used.chain.iter().map(|name| name.text.as_str());
            match graph.follow(self.moved.source, None, chain).end {
                Entity::Item(home, item) if home == target && is_object(&item) => Some(item),
                _ => None,
            }
        })?;
        Some((object, self.importer_of(target)?))
    }
}
