//! A walk along a path: which steps of it hold in the tree after.

use super::{
    mapping::Mapping,
    place::Place,
    sight::{Because, Need, Purpose, Subject},
    spell::{Speller, module_in},
};
use crate::{
    facts::{ItemKind, SourceFacts},
    resolve::{CrateId, FileId, Found, ItemId, ModuleId, Reach, Res, Site, UseSite},
};

/// Where a path is to lead.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    Module(ModuleId),
    /// What an import that is out of sight leads to, in full, as that crate says it.
    Path(CrateId, Vec<String>),
}

/// A walk along a path.
#[derive(Default)]
pub(super) struct Walk {
    /// The last step that does not hold, and where it is to lead.
    pub broken: Option<(usize, Goal)>,
    /// A step whose name is another one after.
    pub renamed: Option<(usize, String)>,
    /// Why the path cannot be kept working.
    pub refused: Option<String>,
}

impl Speller<'_> {
    /// Holds each step of a path against the tree after.
    pub(super) fn walk(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        needs: &mut Vec<Need>,
        depth: usize,
    ) -> Walk {
        let mut walk = Walk::default();
        let mut before: Option<ModuleId> = None;
        for (at, step) in site.trace.steps.iter().enumerate() {
            let Some(segment) = site.segments.get(at) else {
                break;
            };
            let stepping = Stepping {
                speller: self,
                site,
                name: facts.name(segment.name),
                step,
                at,
                depth,
            };
            let module = module_in(step);
            match (module, before) {
                (Some(module), None) => stepping.first_module(module, &mut walk, needs),
                (Some(module), Some(outer)) => {
                    stepping.module(module, outer, &mut walk, needs);
                }
                (None, Some(outer)) => stepping.item(outer, &mut walk, needs),
                (None, None) => stepping.external(needs),
            }
            if let Some(module) = module {
                stepping.is_there(module, &mut walk);
            }
            match module {
                Some(module) => before = Some(module),
                None => break,
            }
        }
        walk
    }
}

/// One step of a walk.
struct Stepping<'s, 'a> {
    speller: &'s Speller<'a>,
    site: &'s Site<'s>,
    name: &'s str,
    step: &'s Found,
    at: usize,
    depth: usize,
}

impl Stepping<'_, '_> {
    fn mapping(&self) -> &Mapping<'_> {
        self.speller.mapping
    }

    fn here(&self) -> Place {
        self.mapping().after(self.speller.here(self.site))
    }

    /// Whether a module is still below the one around it, by the same name.
    fn is_in_place(&self, module: ModuleId) -> bool {
        let parent = self
            .speller
            .world()
            .module(module)
            .and_then(|node| node.parent);
        match parent {
            None => !self.mapping().is_changed(module),
            Some(parent) => {
                self.mapping().after(module) == self.mapping().after(parent).child(self.name)
            }
        }
    }

    fn first_module(&self, module: ModuleId, walk: &mut Walk, needs: &mut Vec<Need>) {
        let holds = match self.name {
            "self" => true,
            "crate" | "$crate" => self.mapping().after(module) == Place::root(self.here().krate),
            "super" => self.here().parent() == Some(self.mapping().after(module)),
            _ => match self.step.import.filter(|import| !self.is_itself(*import)) {
                Some(import) if self.step.glob => {
                    self.glob_holds(import, Res::Module(module))
                        || self.is_brought(import, Res::Module(module))
                }
                Some(_) => true,
                None if self.crosses() && self.is_crate(module) => self.names_crate(module, needs),
                None => self.is_in_place(module),
            },
        };
        if !holds {
            walk.broken = Some((self.at, Goal::Module(module)));
        } else if self.mapping().is_root(module) && self.step.import.is_none() {
            self.speller.see_module(module, &self.here(), needs);
        }
    }

    /// Whether an import is the very one that is looked at: `use name;` brings the crate by its name.
    fn is_itself(&self, (file, leaf): (FileId, u32)) -> bool {
        let load = self.speller.world().loads.get(self.site.load);
        self.site.site == UseSite::Leaf(leaf) && load.is_some_and(|load| load.file == file)
    }

    /// Whether the code goes to another crate.
    fn crosses(&self) -> bool {
        self.mapping().crosses(self.speller.here(self.site))
    }

    fn is_crate(&self, module: ModuleId) -> bool {
        let node = self.speller.world().module(module);
        node.is_some_and(|node| node.parent.is_none())
    }

    /// Whether the crate that the code goes to calls a library by the name that is written, or will.
    fn names_crate(&self, root: ModuleId, needs: &mut Vec<Need>) -> bool {
        let (here, krate) = (self.here(), self.mapping().krate(root));
        let gone = self.mapping().is_changed(root);
        if gone || here.krate == krate || self.speller.name_of_crate(here.krate, krate) != self.name
        {
            return false;
        }
        needs.push(Need {
            subject: Subject::Crate(krate, Purpose::Code),
            by: here,
            because: Some(Because::Names(self.mapping().name_of(&Place::root(krate)))),
        });
        true
    }

    /// A library from elsewhere that the code goes on naming in another crate.
    fn external(&self, needs: &mut Vec<Need>) {
        let outside = self
            .step
            .all()
            .any(|(res, _)| matches!(res, Res::External(_)));
        let import = self.step.import.filter(|import| !self.is_itself(*import));
        if !outside || self.at > 0 || import.is_some() || !self.crosses() {
            return;
        }
        let own = self.mapping().krate(self.speller.here(self.site));
        needs.extend(self.speller.outside(own, self.name, &self.here()));
    }

    /// Whether the module of a glob imports the name for itself: then it is imported besides.
    fn is_brought(&self, glob: (FileId, u32), res: Res) -> bool {
        let world = self.speller.world();
        let bindings = self.speller.glob_target(glob).and_then(|target| {
            let sym = world.names.get(self.name)?;
            world.space(target)?.names.get(&sym)
        });
        let mut all = bindings.into_iter().flatten();
        all.any(|binding| {
            binding.import.is_some() && binding.res == res && self.was_seen(binding.reach)
        })
    }

    fn glob_holds(&self, import: (FileId, u32), res: Res) -> bool {
        let sym = self.speller.world().names.get(self.name);
        sym.is_none_or(|sym| {
            self.speller
                .glob_gives(import, sym, res, &self.here(), self.depth)
        })
    }

    fn module(&self, module: ModuleId, outer: ModuleId, walk: &mut Walk, needs: &mut Vec<Need>) {
        match self.name {
            "self" => return,
            "super" => {
                let above = self.mapping().after(outer).parent();
                // Behind a name there is no `super`: a start that is spelled anew takes it in.
                let follows = walk
                    .broken
                    .as_ref()
                    .is_some_and(|(broken, _)| broken + 1 == self.at);
                if follows || above != Some(self.mapping().after(module)) {
                    walk.broken = Some((self.at, Goal::Module(module)));
                }
                return;
            }
            _ => {}
        }
        match self.step.import {
            Some(import) if self.step.glob => {
                if !self.glob_holds(import, Res::Module(module)) {
                    walk.broken = Some((self.at, Goal::Module(module)));
                }
            }
            Some(import) => self.imported(import, outer, Res::Module(module), walk),
            None if !self.is_in_place(module) => {
                walk.broken = Some((self.at, Goal::Module(module)));
            }
            None => self.speller.see_module(module, &self.here(), needs),
        }
    }

    /// A module that goes away needs one in its place where it is named.
    fn is_there(&self, module: ModuleId, walk: &mut Walk) {
        let gone = self.mapping().is_replaced(module);
        let place = self.mapping().after(module);
        let stays = !self.mapping().is_changed(self.speller.here(self.site));
        if !gone || !stays || self.mapping().at(&place).is_some() {
            return;
        }
        let offered = place
            .parent()
            .is_some_and(|home| self.speller.offers(&home, place.name()));
        if !offered {
            walk.refused = Some(format!(
                "there is no `{}`, which is used here",
                self.mapping().name_of(&place)
            ));
        }
    }

    /// A name that `outer` imports itself.
    fn imported(&self, import: (FileId, u32), outer: ModuleId, res: Res, walk: &mut Walk) {
        if self.is_seen(outer, res) {
            return;
        }
        match self.speller.absolute_below(import, self.depth + 1) {
            Some(mut path) => {
                if self.step.glob {
                    path.push(self.name.to_owned());
                }
                let krate = self.mapping().after(outer).krate;
                walk.broken = Some((self.at, Goal::Path(krate, path)));
            }
            None => {
                walk.refused = Some(format!(
                    "`{}` is a private import that cannot be seen from the new place",
                    self.name
                ));
            }
        }
    }

    /// Macros are seen by where they stand, which is looked at by itself.
    fn is_textual(&self, item: ItemId) -> bool {
        let node = self.speller.world().items.get(item.index());
        node.is_some_and(|node| node.kind == ItemKind::Macro)
    }

    /// Whether the name is seen from the site after: some binding of it is.
    fn is_seen(&self, outer: ModuleId, res: Res) -> bool {
        let world = self.speller.world();
        let bindings = world
            .names
            .get(self.name)
            .and_then(|sym| world.space(outer)?.names.get(&sym));
        let Some(bindings) = bindings else {
            return true;
        };
        let here = self.here();
        let same = bindings.iter().filter(|binding| same_res(binding.res, res));
        // What was out of sight before is no concern: another definition is meant.
        let mut known = same
            .filter(|binding| self.was_seen(binding.reach))
            .peekable();
        known.peek().is_none()
            || known.any(|binding| self.speller.sees(&here, binding.reach, outer))
    }

    /// Whether a name with this reach was seen from the site before.
    fn was_seen(&self, reach: Reach) -> bool {
        let world = self.speller.world();
        reach.is_seen_from(world, world.module_of(self.site.space))
    }

    fn item(&self, outer: ModuleId, walk: &mut Walk, needs: &mut Vec<Need>) {
        if self.mapping().is_replaced(outer) {
            self.item_of_replaced(outer, walk);
            return;
        }
        let Some((res, _)) = self.step.all().next() else {
            return;
        };
        match self.step.import {
            Some(import) if self.step.glob => {
                if !self.glob_holds(import, res) {
                    self.imported(import, outer, res, walk);
                }
            }
            Some(import) => self.imported(import, outer, res, walk),
            None => {
                let Res::Item(item) = res else { return };
                if !self.is_textual(item) && !self.is_seen(outer, res) {
                    needs.push(Need {
                        subject: Subject::Item(item),
                        by: self.here(),
                        because: None,
                    });
                }
            }
        }
    }

    /// What the module in the place of `outer` must have.
    fn item_of_replaced(&self, outer: ModuleId, walk: &mut Walk) {
        let new = self.mapping().item_after(outer, self.name);
        let place = self.mapping().after(outer);
        if !self.speller.offers(&place, new) {
            walk.refused = Some(format!(
                "`{}` has no `{new}`, which is used here",
                self.mapping().name_of(&place)
            ));
        } else if new != self.name {
            walk.renamed = Some((self.at, new.to_owned()));
        }
    }
}

/// Whether two results are the same thing, names outside compared as far as they are known.
fn same_res(a: Res, b: Res) -> bool {
    matches!((a, b), (Res::External(_), Res::External(_))) || a == b
}
