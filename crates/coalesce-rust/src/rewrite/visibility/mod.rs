//! Who has to see what after the changes, and the visibility that this asks for.
//!
//! The narrowest visibility that the known users prove sufficient is written; each widening is a
//! note of the plan. Modules and items are followed by their paths, here; fields and methods by their
//! names and the types in reach, in `widen`.

mod code;
mod members;
mod types;
mod widen;

pub(super) use widen::widen;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Edit, Finding, TreePath, finding::codes};

use super::{
    conditions::{self, Arrival, conditions_of},
    mapping::{Mapping, refusal},
    needs::{NeededThing, Needs, Width},
    place::Place,
    public::{
        is_declared_public, is_in_program, is_named_in_place, is_public, is_reachable_after,
        severity_of_widening,
    },
};
use crate::{
    facts::{ItemKind, Origin, Visibility, VisibilityKind},
    resolve::{FileId, ItemId, ModuleId, is_within},
};

impl Needs {
    /// What a module made around a moved one says before `mod`, a space behind it.
    pub fn seen_from(&self, module: ModuleId, home: &Place) -> String {
        match self.width(NeededThing::Module(module), home) {
            Width::Public => "pub ".to_owned(),
            Width::Within(reach) => reach.visibility(home),
        }
    }

    /// What the declaration of a module that moves says before `mod`, a space behind it; `None` to
    /// leave what it says.
    pub fn of_moved(
        &self,
        mapping: &Mapping<'_>,
        module: ModuleId,
        written: Visibility,
    ) -> Option<String> {
        let home = mapping.after(module).parent()?;
        let old = mapping.world[module].parent?;
        let width = self.width(NeededThing::Module(module), &home);
        if matches!(width, Width::Within(_)) && is_narrowed(mapping, module, written.kind) {
            return Some("pub(crate) ".to_owned());
        }
        let reach = match (written.kind, width) {
            (VisibilityKind::Public | VisibilityKind::Crate, Width::Within(_))
            | (VisibilityKind::Public, Width::Public) => return None,
            (_, Width::Public) => return Some("pub ".to_owned()),
            (VisibilityKind::Private | VisibilityKind::SelfModule, Width::Within(reach)) => reach,
            (VisibilityKind::Super | VisibilityKind::In(_), Width::Within(reach)) => {
                let above = mapping.world[old].parent;
                let above = mapping.after(above.unwrap_or(old));
                reach.common(&above).unwrap_or(reach)
            }
        };
        Some(reach.visibility(&home))
    }

    /// What would only be there under a condition that those who need it do not have.
    pub fn conditions(&self, mapping: &Mapping<'_>) -> Vec<Finding> {
        let moved = mapping.roots.iter().flatten().map(|(module, _)| *module);
        let moved = moved.filter(|module| !mapping.is_replaced(*module));
        moved
            .filter_map(|module| {
                let change = mapping.change_of(module);
                let users = self.by_subject.get(&NeededThing::Module(module));
                conditions::refused(
                    mapping,
                    &Arrival {
                        before: mapping.world[module].canonical.clone(),
                        after: mapping.name_of(&mapping.after(module)),
                        known: conditions_of(mapping, module),
                        from: mapping.krate(module),
                        to: mapping.after(module).parent()?,
                        has_shim: change.is_some_and(|change| change.shim.is_some())
                            && is_named_in_place(mapping, module),
                        has_impls: has_impls(mapping, module),
                        users: users.into_iter().flatten().collect(),
                    },
                )
                .map(|message| {
                    refusal(mapping.file_of(module), message).coded(codes::MISSING_CONDITION)
                })
            })
            .collect()
    }

    /// The edits that widen what stays where it is, with a note for each.
    pub fn widenings(&self, mapping: &Mapping<'_>) -> Widenings {
        let mut made = Widenings::default();
        let opened = self.shown(mapping);
        for (module, _) in mapping.roots.iter().flatten() {
            made.narrow(mapping, *module);
            made.show(mapping, *module);
            made.lose(mapping, *module, &opened);
        }
        for (subject, users) in &self.by_subject {
            match subject {
                NeededThing::Module(module) if mapping.is_root(*module) => {}
                NeededThing::Module(module) => {
                    self.widen_module(mapping, *module, users, &mut made)
                }
                NeededThing::Item(item) => self.widen_item(mapping, *item, users, &mut made),
                NeededThing::Crate(..) | NeededThing::External(..) => {}
            }
        }
        made
    }

    /// Modules whose declarations stay and become public.
    pub fn shown(&self, mapping: &Mapping<'_>) -> Vec<ModuleId> {
        let subjects = self.by_subject.keys();
        let modules = subjects.filter_map(|subject| match subject {
            NeededThing::Module(module) if !mapping.is_root(*module) => Some(*module),
            _ => None,
        });
        let public = |module: &ModuleId| {
            let home = mapping.after(*module).parent();
            home.is_some_and(|home| {
                matches!(
                    self.width(NeededThing::Module(*module), &home),
                    Width::Public
                )
            })
        };
        modules.filter(public).collect()
    }

    fn widen_module(
        &self,
        mapping: &Mapping<'_>,
        module: ModuleId,
        users: &BTreeSet<Place>,
        made: &mut Widenings,
    ) {
        let Some(home) = mapping.after(module).parent() else {
            return;
        };
        let name = mapping.name_of(&mapping.after(module));
        let width = self.width(NeededThing::Module(module), &home);
        for (file, at) in mapping.world.declarations(module) {
            let declaration = mapping.world.facts(file).module(at);
            let plain = declaration.origin == Origin::Code;
            if !plain && is_seen_already(mapping, module, users) {
                continue;
            }
            let place = Written {
                file,
                visibility: declaration.visibility,
                plain,
            };
            made.widen(mapping, &place, &name, (&width, &home), users);
        }
    }

    fn widen_item(
        &self,
        mapping: &Mapping<'_>,
        item: ItemId,
        users: &BTreeSet<Place>,
        made: &mut Widenings,
    ) {
        let node = &mapping.world[item];
        let home = mapping.after(node.module);
        let name = format!("{}::{}", mapping.name_of(&home), node.name);
        let width = self.width(NeededThing::Item(item), &home);
        for (file, at) in &node.definitions {
            let definition = mapping.world.facts(*file).item(*at);
            let is_read = matches!(definition.origin, Origin::Code | Origin::KnownMacro);
            let place = Written {
                file: *file,
                visibility: definition.visibility,
                plain: is_read && definition.kind != ItemKind::Macro,
            };
            made.widen(mapping, &place, &name, (&width, &home), users);
        }
    }
}

/// A visibility that stands somewhere.
struct Written {
    file: FileId,
    visibility: Visibility,
    /// Whether it stands in plain code and can be written at all.
    plain: bool,
}

/// What widening takes.
#[derive(Debug, Default)]
pub(super) struct Widenings {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
}

impl Widenings {
    /// Says so where other crates can no longer name a module, though others are `opened`.
    fn lose(&mut self, mapping: &Mapping<'_>, module: ModuleId, opened: &[ModuleId]) {
        let after = mapping.after(module);
        let Some(home) = after.parent().filter(|_| !mapping.is_replaced(module)) else {
            return;
        };
        let known = mapping.at(&home).is_some();
        if known && is_public(mapping, module) && !is_reachable_after(mapping, &home, opened) {
            let message = format!(
                "other crates could name this module, and cannot name `{}`: `{}` is not public",
                mapping.name_of(&after),
                mapping.name_of(&home)
            );
            let help = "re-export it, or make the new parent `pub`";
            self.warn(mapping, module, message, Some(help));
        }
    }

    /// Says so where a module that was public in a program comes to be public in a library.
    fn show(&mut self, mapping: &Mapping<'_>, module: ModuleId) {
        let after = mapping.after(module);
        let home = after.parent().filter(|_| !mapping.is_replaced(module));
        let shown = home.is_some_and(|home| is_reachable_after(mapping, &home, &[]));
        if shown && is_in_program(mapping, module) && is_declared_public(mapping, module) {
            let message = format!(
                "`{}` is declared `pub`, and what it stood in was a program: other crates can \
                 name it now",
                mapping.name_of(&after)
            );
            self.warn(mapping, module, message, None);
        }
    }

    fn warn(
        &mut self,
        mapping: &Mapping<'_>,
        module: ModuleId,
        message: String,
        help: Option<&str>,
    ) {
        self.notes.push(
            Finding::warning(mapping.file_of(module), message).with_help(help.map(str::to_owned)),
        );
    }

    /// Says so where a module that moves is declared with less than before.
    fn narrow(&mut self, mapping: &Mapping<'_>, module: ModuleId) {
        for (file, at) in mapping.world.declarations(module) {
            let found = mapping.world.facts(file).module(at);
            let source = &mapping.world[file];
            if is_narrowed(mapping, module, found.visibility.kind) {
                self.notes.push(
                    Finding::note(
                        source.path.clone(),
                        format!(
                            "`{}` is declared pub(crate): other crates could not name it before",
                            mapping.name_of(&mapping.after(module))
                        ),
                    )
                    .at(found.name.span),
                );
            }
        }
    }

    fn widen(
        &mut self,
        mapping: &Mapping<'_>,
        written: &Written,
        name: &str,
        (width, home): (&Width, &Place),
        users: &BTreeSet<Place>,
    ) {
        let path = mapping.world[written.file].path.clone();
        let text = match width {
            Width::Public => "pub ".to_owned(),
            Width::Within(reach) => reach.visibility(home),
        };
        if written.visibility.kind == VisibilityKind::Public || text.is_empty() {
            return;
        }
        let by: Vec<String> = users.iter().map(|user| mapping.name_of(user)).collect();
        if !written.plain {
            let message = format!(
                "`{name}` would have to be seen from {}, and its visibility cannot be written",
                by.join(", ")
            );
            let refused = refusal(path, message).coded(codes::OUT_OF_REACH);
            self.refusals.push(refused);
            return;
        }
        let span = written.visibility.span;
        let edit = if span.is_empty() {
            Edit::insert(span.start, text.clone())
        } else {
            Edit::replace(span, text.trim_end())
        };
        self.edits.entry(path.clone()).or_default().push(edit);
        self.notes.push(Finding {
            code: codes::UNSAFE_CHANGE,
            severity: severity_of_widening(mapping, home, &text),
            path,
            span: Some(span),
            message: format!(
                "`{name}` becomes {}, because {} uses it",
                text.trim_end(),
                by.join(", ")
            ),
            help: None,
        });
    }
}

/// Whether a module that a macro declares is seen as widely as its users are from then on: somebody outside of the module
/// around it goes through it in the tree as it is, so that the macro says so.
fn is_seen_already(mapping: &Mapping<'_>, module: ModuleId, users: &BTreeSet<Place>) -> bool {
    let world = mapping.world;
    let mut reach = world[module].parent;
    for (_, source) in world.sources() {
        world.visit_file(source, &mut |_, site| {
            let named = site
                .trace
                .steps
                .iter()
                .any(|step| step.module() == Some(module));
            let is_code = matches!(site.origin, Origin::Code | Origin::KnownMacro);
            if named && is_code && !world.in_doc_code(site.space) {
                let here = world.module_of(site.space);
                let mut around = std::iter::successors(reach, |at| world[*at].parent);
                // None where another crate goes through it: it is `pub`.
                reach = around.find(|at| is_within(world, here, *at));
            }
        });
    }
    reach.is_none_or(|reach| {
        let reach = mapping.after(reach);
        users.iter().all(|user| user.is_within(&reach))
    })
}

/// Whether `pub` would show a module to other crates that did not see it before. What a program
/// declares `pub` all the way up stays so: with less, what nobody uses of it would be told as dead.
fn is_narrowed(mapping: &Mapping<'_>, module: ModuleId, written: VisibilityKind) -> bool {
    written == VisibilityKind::Public
        && mapping
            .after(module)
            .parent()
            .is_some_and(|home| is_reachable_after(mapping, &home, &[]))
        && !is_declared_public(mapping, module)
}

/// Whether a module that moves, or one inside it, says something about types, which holds without
/// being named.
fn has_impls(mapping: &Mapping<'_>, module: ModuleId) -> bool {
    let world = mapping.world;
    let owner = mapping.owner(module);
    world.bodies.iter().any(|body| {
        let facts = world.facts(body.file);
        mapping.owner(body.module) == owner
            && facts.impls.iter().any(|found| found.scope == body.scope)
    })
}
