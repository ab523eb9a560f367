//! Files and declarations: what moves, what goes, which modules come into being on the way.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, ChangeKind, Edit, Finding, Texts, TreePath, finding::codes};

use super::{
    conditions::is_conditioned,
    implicit::without_macro_use,
    items::{arrive, moving::Set},
    layout,
    mapping::{Mapping, refusal},
    needs::Needs,
    packages,
    place::Place,
};
use crate::{
    facts::{ModuleDeclaration, Origin},
    resolve::{Body, BodyId, FileId, ModuleId},
};

/// A declaration that leaves its place.
pub(super) struct Leaving {
    pub module: ModuleId,
    pub file: FileId,
    /// Index into the file's `modules`.
    pub declaration: u32,
}

/// A module that did not exist and is on the way to one that moves.
#[derive(Debug)]
pub(super) struct Made {
    pub file: TreePath,
    /// The change that needs it, for the reason and the visibility.
    pub change: usize,
}

/// A module that has no declaration yet: the root of a library that comes as a whole.
#[derive(Debug)]
pub(super) struct Arrival {
    pub module: ModuleId,
    /// Attributes of its declaration, a line each.
    pub head: String,
}

/// The files and declarations of a set of changes.
#[derive(Default)]
pub(super) struct Structure {
    pub files: BTreeMap<TreePath, TreePath>,
    pub deletes: BTreeSet<TreePath>,
    pub leaving: Vec<Leaving>,
    /// Modules whose macros what follows them sees by where they stand (`#[macro_use]`), and that leave that place.
    pub giving: Vec<ModuleId>,
    pub arrivals: Vec<Arrival>,
    pub made: BTreeMap<Place, Made>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
}

impl Structure {
    /// Gives what arrives the heads that are said where it is declared.
    pub fn put_heads(&mut self, heads: &BTreeMap<ModuleId, String>) {
        for arrival in &mut self.arrivals {
            let head = heads.get(&arrival.module);
            arrival.head = head.cloned().unwrap_or_default();
        }
    }

    pub fn new(set: &Set<'_>) -> Self {
        let mapping = set.mapping;
        let mut structure = Self::default();
        let mut order: Vec<usize> = (0..mapping.changes.len()).collect();
        // Outer modules first: what is below them is then overwritten by its own change.
        order.sort_by_key(|change| {
            let root = mapping.roots.get(*change).and_then(Option::as_ref);
            root.map_or((0, 0), |(module, place)| {
                let depth = mapping.world[*module].canonical.matches("::").count();
                (place.path.len(), depth)
            })
        });
        for change in order {
            let Some((module, place)) = mapping.roots.get(change).and_then(Option::as_ref) else {
                continue;
            };
            structure.change(mapping, change, *module, place);
        }
        structure.outside_users(mapping);
        structure.items(set);
        structure
    }

    /// The modules that items come to: those that have to be made, and why nothing can be put into others.
    fn items(&mut self, set: &Set<'_>) {
        let arriving = || set.moving.iter().filter(|moving| !moving.gives_way());
        for moving in arriving() {
            let mut changes = set.mapping.changes.iter();
            let change = changes.position(|change| std::ptr::eq(change, moving.change));
            let place = moving.to.child(&moving.name);
            self.ways(set.mapping, change.unwrap_or(0), &place);
        }
        let closed = arriving().filter_map(|moving| arrive::closed(set, self, &moving.to));
        let closed: Vec<Finding> = closed.collect();
        self.refusals.extend(closed);
    }

    fn change(&mut self, mapping: &Mapping<'_>, change: usize, module: ModuleId, place: &Place) {
        let Some(kind) = mapping.changes.get(change).map(|change| &change.kind) else {
            return;
        };
        let library = mapping.libraries.iter();
        if let Some(library) = library.into_iter().find(|library| library.change == change) {
            packages::arrange(self, mapping, library, place);
            return;
        }
        let moves = matches!(kind, ChangeKind::Move);
        if let Err(message) = self.may_leave(mapping, module, moves) {
            let path = mapping.file_of(module);
            self.refusals.push(refusal(path, message));
            return;
        }
        match kind {
            ChangeKind::Move | ChangeKind::Supersede => {
                self.ways(mapping, change, place);
                self.move_files(mapping, module, place);
            }
            ChangeKind::Replace { .. } | ChangeKind::Remove => self.replace_files(mapping, module),
        }
    }

    /// Notes the declarations that leave.
    fn may_leave(
        &mut self,
        mapping: &Mapping<'_>,
        module: ModuleId,
        moves: bool,
    ) -> Result<(), String> {
        let world = mapping.world;
        let name = &world[module].canonical;
        let declarations = world.declarations(module);
        let bodies = world[module].bodies.len();
        if declarations.is_empty() || bodies == 0 {
            return Err(format!(
                "`{name}` is declared by a macro, which cannot be rewritten"
            ));
        }
        for (file, at) in declarations {
            let declaration = Some(world.facts(file).module(at));
            let Some(declaration) = declaration else {
                continue;
            };
            if declaration.origin != Origin::Code && !is_conditioned(mapping, file, at) {
                return Err(format!(
                    "`{name}` is declared inside a macro call, which may add to the declaration"
                ));
            }
            let gives = declaration.macro_use || world.gives_macros(module);
            if gives && !(moves && Self::is_in_place(mapping, module)) {
                if !moves
                    || world.gives_macros(module)
                    || !is_plainly_given(mapping, file, declaration)
                {
                    return Err(gives_macros(name));
                }
                self.giving.push(module);
            }
            self.leaving.push(Leaving {
                module,
                file,
                declaration: at,
            });
        }
        Ok(())
    }

    /// The modules on the way to `place` that do not exist.
    pub fn ways(&mut self, mapping: &Mapping<'_>, change: usize, place: &Place) {
        let Some(parent) = place.parent() else { return };
        if mapping.at(&parent).is_some() || self.made.contains_key(&parent) {
            return;
        }
        self.ways(mapping, change, &parent);
        let Some(directory) = parent
            .parent()
            .and_then(|above| self.directory_of(mapping, &above))
        else {
            return;
        };
        let mut above = parent.parent();
        let neighbours = std::iter::from_fn(|| {
            let here = above.clone()?;
            above = here.parent();
            Some(here)
        });
        let known = neighbours.into_iter().find_map(|place| mapping.at(&place));
        let by_mod_rs = known.is_some_and(|known| layout::prefers_mod_rs(mapping.world, known));
        let name = parent.name();
        let file = if by_mod_rs {
            directory.join(&format!("{name}/mod.rs"))
        } else {
            directory.join(&format!("{name}.rs"))
        };
        let Ok(file) = file else { return };
        self.notes.push(Finding::note(
            file.clone(),
            format!("a new module, made for `{}`", mapping.name_of(place)),
        ));
        self.made.insert(parent, Made { file, change });
    }

    /// Where the files of modules below a place are, after.
    pub fn directory_of(&self, mapping: &Mapping<'_>, place: &Place) -> Option<TreePath> {
        if let Some(made) = self.made.get(place) {
            let parent = made.file.parent()?;
            return if made.file.file_name() == "mod.rs" {
                Some(parent)
            } else {
                parent.join(made.file.file_stem()).ok()
            };
        }
        let module = mapping.at(place)?;
        let body = mapping.world[module].bodies.first()?;
        self.directory_after(mapping, *body)
    }

    fn directory_after(&self, mapping: &Mapping<'_>, body: BodyId) -> Option<TreePath> {
        let found = &mapping.world[body];
        if layout::is_inline(mapping.world, found) {
            let place = mapping.after(found.module);
            return self
                .directory_of(mapping, &place.parent()?)?
                .join(place.name())
                .ok();
        }
        layout::directory(mapping.world, body, &self.files)
    }

    fn move_files(&mut self, mapping: &Mapping<'_>, module: ModuleId, place: &Place) {
        let world = mapping.world;
        let Some(home) = place
            .parent()
            .and_then(|parent| self.directory_of(mapping, &parent))
        else {
            return;
        };
        let bodies = &world[module].bodies;
        let nothing = BTreeMap::new();
        for body in bodies {
            let found = &world[body];
            let Some((_, declaration)) = layout::declaration_of(world, found) else {
                continue;
            };
            let directory = layout::directory(world, *body, &nothing);
            let by_path = layout::by_path(world, found, declaration);
            if by_path {
                self.move_by_path(mapping, found, place);
                continue;
            }
            let Ok(new_directory) = home.join(place.name()) else {
                continue;
            };
            if !layout::is_inline(world, found)
                && let Some(file) = Some(&world[found.file])
            {
                let new = if file.path.file_name() == "mod.rs" {
                    new_directory.join("mod.rs")
                } else {
                    home.join(&format!("{}.rs", place.name()))
                };
                if let Ok(new) = new {
                    self.files.insert(file.path.clone(), new);
                }
            }
            if let Some(directory) = directory {
                self.move_directory(&directory, &new_directory, mapping.texts);
            }
        }
        self.files.retain(|from, to| from != to);
    }

    /// Moves a file that a `#[path]` names, where its declaration goes between braces: paths start in a folder of the
    /// module around it then, and none leads out of a folder that is not there.
    fn move_by_path(&mut self, mapping: &Mapping<'_>, body: &Body, place: &Place) {
        let world = mapping.world;
        let Some(home) = place.parent().filter(|home| self.is_inline(mapping, home)) else {
            return;
        };
        let Some(directory) = self.directory_of(mapping, &home) else {
            return;
        };
        let is_inside = |path: &TreePath| path.strip_prefix(&directory).is_some();
        if mapping.texts.paths().iter().any(is_inside) {
            return;
        }
        let file = &world[body.file].path;
        let mut below = world[body.module].children.iter();
        let has_files = below.any(|child| {
            let mut bodies = world.bodies_of(*child);
            bodies.any(|body| !layout::is_inline(world, body))
        });
        if has_files {
            let message = format!(
                "`{}` has its file by `#[path]`, and modules beside that, and would go between braces",
                world[body.module].canonical
            );
            let help = format!("give `{}` a file of its own first", mapping.name_of(&home));
            let refused = refusal(file.clone(), message).coded(codes::TIED_TO_PLACE);
            self.refusals.push(refused.with_help(help));
        } else if let Ok(new) = directory.join(file.file_name()) {
            self.files.insert(file.clone(), new);
        }
    }

    /// Whether the module at a place stands between braces.
    fn is_inline(&self, mapping: &Mapping<'_>, place: &Place) -> bool {
        let world = mapping.world;
        let known = mapping.at(place).filter(|_| !self.made.contains_key(place));
        let body = known.and_then(|module| world.bodies_of(module).next());
        body.is_some_and(|body| layout::is_inline(world, body))
    }

    /// All files below a module's directory go with it, data files too.
    fn move_directory(&mut self, from: &TreePath, to: &TreePath, texts: &dyn Texts) {
        for path in texts.paths() {
            let Some(rest) = path.strip_prefix(from) else {
                continue;
            };
            if let Ok(new) = to.join(rest) {
                self.files.insert(path.clone(), new);
            }
        }
    }

    /// The files of a replaced module and of the modules below it.
    fn replace_files(&mut self, mapping: &Mapping<'_>, module: ModuleId) {
        let world = mapping.world;
        let mut open = vec![module];
        while let Some(at) = open.pop() {
            let node = &world[at];
            if !mapping.is_replaced(at) {
                continue;
            }
            open.extend(&node.children);
            let place = mapping.after(at);
            if mapping.at(&place).is_none() && at != module {
                let message = format!(
                    "`{}` goes away, and there is no `{}`",
                    node.canonical,
                    mapping.name_of(&place)
                );
                let path = mapping.file_of(at);
                let refused = refusal(path, message).coded(codes::LOST_DEFINITION);
                self.refusals.push(refused.with_help(format!(
                    "say what becomes of `{}` in an entry of its own",
                    node.canonical
                )));
            }
            for body in node.bodies.iter().map(|body| &world[body]) {
                if !layout::is_inline(world, body) {
                    self.deletes.insert(world[body.file].path.clone());
                }
            }
        }
    }

    /// A file that other modules are made of as well cannot leave them.
    fn outside_users(&mut self, mapping: &Mapping<'_>) {
        let world = mapping.world;
        for path in self.files.keys().chain(&self.deletes) {
            let Some(source) = world.file_at(path).map(|file| &world[file]) else {
                continue;
            };
            for body in source.bodies.iter().map(|body| &world[body]) {
                if mapping.is_changed(body.module) || packages::goes_along(mapping, body.module) {
                    continue;
                }
                let name = &world[body.module].canonical;
                let message = format!("`{name}` is made of this file, too, and stays");
                let refused = refusal(path.clone(), message).coded(codes::TIED_TO_PLACE);
                self.refusals.push(refused);
            }
        }
        self.refusals.sort();
        self.refusals.dedup();
    }

    /// Whether a module's declaration simply gets another name where it is.
    pub fn is_in_place(mapping: &Mapping<'_>, module: ModuleId) -> bool {
        let parent = mapping.world[module].parent;
        let home = mapping.after(module).parent();
        // The text of a parent that gives way is no place to stay in.
        let stays = |parent| !mapping.is_replaced(parent) && home == Some(mapping.after(parent));
        !mapping.is_replaced(module) && parent.is_some_and(stays)
    }
}

/// Why a module whose macros others see by where it stands does not leave that place.
pub(super) fn gives_macros(name: &str) -> String {
    format!("`{name}` gives its macros to what follows it by #[macro_use]; order would change")
}

/// Whether the one declaration of a module says `#[macro_use]` in a way that can be taken out.
fn is_plainly_given(mapping: &Mapping<'_>, file: FileId, declaration: &ModuleDeclaration) -> bool {
    let text = mapping.texts.text(&mapping.world[file].path);
    text.is_some_and(|text| without_macro_use(&text, declaration.span).is_some())
}

/// The edits inside a declaration that leaves: its name, its visibility, its `#[path]`.
pub(super) fn own_edits(
    mapping: &Mapping<'_>,
    structure: &Structure,
    leaving: &Leaving,
    declaration: &ModuleDeclaration,
    needs: &Needs,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    let place = mapping.after(leaving.module);
    let old = &mapping.world[leaving.module].name;
    if place.name() != old {
        edits.push(Edit::replace(
            declaration.name.span,
            super::spell::written(place.name()),
        ));
    }
    let span = declaration.visibility.span;
    if let Some(text) = needs.of_moved(mapping, leaving.module, declaration.visibility) {
        if span.is_empty() {
            if !text.is_empty() {
                edits.push(Edit::insert(span.start, text));
            }
        } else if text.is_empty() {
            edits.push(Edit::delete(ByteSpan::new(span.start, span.end + 1)));
        } else {
            edits.push(Edit::replace(span, text.trim_end()));
        }
    }
    if structure.giving.contains(&leaving.module) {
        // Who used its macros has them by their paths.
        let text = mapping.texts.text(&mapping.world[leaving.file].path);
        edits.extend(text.and_then(|text| without_macro_use(&text, declaration.span)));
    }
    edits.extend(path_edits(mapping, structure, leaving, declaration));
    edits
}

/// A `#[path]` of a declaration that leaves names the same file from its new place.
fn path_edits(
    mapping: &Mapping<'_>,
    structure: &Structure,
    leaving: &Leaving,
    declaration: &ModuleDeclaration,
) -> Vec<Edit> {
    let world = mapping.world;
    let mut edits = Vec::new();
    let old_base = world[leaving.file].path.parent();
    let home = mapping.after(leaving.module).parent();
    let new_base = home.and_then(|home| {
        if structure.is_inline(mapping, &home) {
            return structure.directory_of(mapping, &home);
        }
        let file = match structure.made.get(&home) {
            Some(made) => Some(made.file.clone()),
            None => mapping.at(&home).map(|module| mapping.file_of(module)),
        };
        let file = file?;
        structure.files.get(&file).unwrap_or(&file).parent()
    });
    let (Some(old_base), Some(new_base)) = (old_base, new_base) else {
        return edits;
    };
    for attribute in &declaration.path_attributes {
        let Ok(file) = old_base.join(&attribute.value) else {
            continue;
        };
        // Inside of an inline module, the path starts in the directory of that.
        let own = world
            .bodies_of(leaving.module)
            .map(|body| &world[body.file].path);
        let mut own = own.filter(|path| path.as_str().ends_with(&*attribute.value));
        let file = own.next().cloned().unwrap_or(file);
        let file = structure.files.get(&file).unwrap_or(&file);
        let text = file.relative_to(&new_base);
        if text != *attribute.value {
            edits.push(Edit::replace(attribute.span, text));
        }
    }
    edits
}
