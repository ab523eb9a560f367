//! The documentation at the head of a module that is made: what arrives there.
//!
//! It links what a link leads to from there, whatever is switched on, without a warning of rustdoc: a macro is in
//! no module by its name, what is private is in no public documentation, and two things of one name are ambiguous.

use std::collections::BTreeMap;

use super::items::moving::{Moving, Set};
use crate::facts::{ItemKind, VisibilityKind};

/// What a made module has, by name, and whether it is linked.
#[derive(Default)]
pub(super) struct ModuleHead(BTreeMap<String, bool>);

impl ModuleHead {
    pub fn add(&mut self, name: &str, is_linked: bool) {
        let known = self.0.get(name).copied();
        self.0.insert(name.to_owned(), is_linked && known.is_none());
    }

    /// Adds an item that arrives in a module; `is_shown` says whether that may be in public documentation.
    pub fn add_item(&mut self, set: &Set<'_>, at: usize, is_shown: bool) {
        let moving = set.moving(at);
        match moving.kind {
            ItemKind::Macro => self.add(&format!("{}!", moving.name), false),
            _ => self.add(&moving.name, is_linked(set, (at, moving), is_shown)),
        }
    }

    /// The documentation.
    pub fn text(&self) -> String {
        let names = self.0.iter().map(|(name, is_linked)| match is_linked {
            true => format!("[`{name}`]"),
            false => format!("`{name}`"),
        });
        let names: Vec<String> = names.collect();
        format!("//! {}.", names.join(", "))
    }
}

/// Whether documentation of its module can link an item.
fn is_linked(set: &Set<'_>, (at, moving): (usize, &Moving<'_>), is_shown: bool) -> bool {
    let world = set.world();
    let [(file, definition)] = world[moving.item].definitions.as_slice() else {
        return false;
    };
    let fact = world.facts(*file).item(*definition);
    let mut chunks = set.chunks.iter().filter(|chunk| chunk.moving == at);
    let mut chunks = chunks.by_ref().filter(|chunk| chunk.definition.is_some());
    let is_public = fact.visibility.kind == VisibilityKind::Public;
    (is_public || !is_shown) && chunks.all(|chunk| chunk.cfg.is_empty() && !chunk.is_call)
}
