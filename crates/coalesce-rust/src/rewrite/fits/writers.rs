//! Packages that write code: procedural macros, build scripts, and the libraries of both. What they write is
//! compiled elsewhere, so that of two functions of one signature one may not stand for the other.

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_model::Texts;

use crate::{
    discover::{DependencyKind, TargetKind},
    facts::ItemKind,
    resolve::{ItemId, World},
    rewrite::cargo::{is_macro_package, package_at},
};

/// The packages, worked out when one asks.
pub(super) struct Writers<'w> {
    pub world: &'w World,
    pub texts: &'w dyn Texts,
    packages: OnceCell<BTreeSet<usize>>,
}

impl<'w> Writers<'w> {
    pub fn new(world: &'w World, texts: &'w dyn Texts) -> Self {
        Self {
            world,
            texts,
            packages: OnceCell::new(),
        }
    }

    /// Whether an item is a function, a constant or a static of what writes code.
    pub fn has(&self, item: ItemId) -> bool {
        let world = self.world;
        let node = &world[item];
        let krate = &world[world[node.module].krate];
        let values = [ItemKind::Function, ItemKind::Const, ItemKind::Static];
        let packages = || self.packages.get_or_init(|| self.read());
        values.contains(&node.kind)
            && (krate.kind == TargetKind::BuildScript || packages().contains(&krate.package))
    }

    fn read(&self) -> BTreeSet<usize> {
        let world = self.world;
        let mut found: BTreeSet<usize> = (0..world.packages.len())
            .filter(|package| is_macro_package(world, self.texts, *package))
            .collect();
        let needed = |at: usize, kind: DependencyKind| {
            let package = world.packages.get(at);
            let dependencies = package.into_iter().flat_map(|one| &one.dependencies);
            dependencies
                .filter(move |one| one.kind == kind)
                .filter_map(|one| package_at(world, one.directory.as_ref()))
        };
        for at in 0..world.packages.len() {
            found.extend(needed(at, DependencyKind::Build));
        }
        let mut open: Vec<usize> = found.iter().copied().collect();
        while let Some(at) = open.pop() {
            let new = needed(at, DependencyKind::Normal);
            open.extend(new.filter(|of| found.insert(*of)));
        }
        found
    }
}
