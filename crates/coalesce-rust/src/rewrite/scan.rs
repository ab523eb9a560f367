//! One pass over every site that what changes may concern, modules and items alike: which paths are spelled
//! anew, what the new places have to import, what the old ones go on naming.

mod pass;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, TreePath};
use rayon::prelude::*;

pub(super) use self::pass::Pass;
use super::{
    draft::{FileWork, Told},
    exported_macros,
    follow::Following,
    items::{
        bodies::{Inner, Said},
        moving::Set,
    },
    mentions, packages,
    place::Place,
    structure::Structure,
    traits::Demand,
    walk::Source,
};
use crate::{
    facts::{Namespaces, Origin, SourceFacts},
    resolve::{BodyId, FileId, ItemId, ModuleId, Res, UseSite},
};

/// A name that moved text says and its new module may not have.
#[derive(Clone)]
pub(super) struct Borrow {
    pub name: String,
    pub source: Source,
    pub to: Place,
    /// What the name leads to.
    pub results: Vec<(Res, Namespaces)>,
    /// The site of it.
    pub file: FileId,
    pub site: UseSite,
    pub span: ByteSpan,
    pub origin: Origin,
    /// The conditions of the text that says it.
    pub cfg: BTreeSet<String>,
    /// How much speaks for it that the name is needed: of a trait, methods may be somebody else's.
    pub demand: Demand,
    /// Whether a macro that stays says it, whose call moves: it is not spelled anew for one of its calls.
    pub lent: bool,
}

/// A plain name in the old module of what left it.
pub(super) struct Left {
    pub moving: usize,
    pub file: FileId,
    pub site: UseSite,
    pub span: ByteSpan,
    pub origin: Origin,
    pub body: BodyId,
    pub here: Place,
}

/// Everything that a pass finds.
#[derive(Default)]
pub(super) struct Scan {
    /// The files whose sites were visited.
    pub read: BTreeSet<FileId>,
    pub files: BTreeMap<FileId, FileWork>,
    pub borrows: Vec<Borrow>,
    pub left: Vec<Left>,
    /// Globs that brought what left, with the place of those who used them.
    pub globs: BTreeSet<((FileId, u32), usize)>,
    /// Who names what moves, after.
    pub users: BTreeMap<usize, BTreeSet<Place>>,
    /// Imports that text which stays uses.
    pub used_imports: BTreeSet<(FileId, u32)>,
    /// Imports that links in documents of text which stays go through: the compiler does not count those.
    pub doc_imports: BTreeSet<(FileId, u32)>,
    /// Globs that bring something which stays to text which stays.
    pub used_globs: BTreeSet<(FileId, u32)>,
    /// Imports that text which leaves uses.
    pub freed_imports: BTreeSet<(FileId, u32)>,
    /// Names that globs of a module bring to text which stays.
    pub used_names: BTreeSet<(ModuleId, String)>,
    /// Names that globs inside moved text bring to it.
    pub used_inner: BTreeSet<((FileId, u32), String)>,
    /// Macros seen by where they stand, and where they have to be seen.
    pub macros: BTreeMap<(ItemId, Place), (FileId, ByteSpan)>,
    /// Names that lead nowhere known, in moved text.
    pub loose: BTreeMap<(Place, String, UseSite), (FileId, ByteSpan, Origin)>,
    /// Texts with derives or attributes of macros from elsewhere, which write what nobody sees.
    pub derives: BTreeSet<(FileId, ByteSpan)>,
    /// Imports of traits that method calls in moved text need, or may need.
    pub for_methods: BTreeMap<(FileId, u32), Demand>,
    /// Imports on both sides of which method calls alone do not tell who needs them.
    pub guessed: BTreeSet<(FileId, u32)>,
    /// Traits that are imported where methods are called which others may have, with the code that calls them.
    pub guessed_calls: BTreeSet<(FileId, ByteSpan, String)>,
    pub told: Told,
    /// Macros that are named by path, or through an import, and from where.
    pub by_path: BTreeMap<usize, BTreeSet<Place>>,
    /// A macro, and what moves along with it and is named in its body.
    pub spoken: BTreeSet<(usize, usize)>,
    /// Macros that go along and name each other.
    pub inner: Vec<Inner>,
    /// Plain names in the bodies of macros that move.
    pub said: Vec<Said>,
}

impl Scan {
    /// Adds what another file has.
    fn add(&mut self, other: Self) {
        self.read.extend(other.read);
        self.files.extend(other.files);
        self.borrows.extend(other.borrows);
        self.left.extend(other.left);
        self.globs.extend(other.globs);
        add_places(&mut self.users, other.users);
        self.used_imports.extend(other.used_imports);
        self.doc_imports.extend(other.doc_imports);
        self.used_globs.extend(other.used_globs);
        self.freed_imports.extend(other.freed_imports);
        self.used_names.extend(other.used_names);
        self.used_inner.extend(other.used_inner);
        for (named, place) in other.macros {
            self.macros.entry(named).or_insert(place);
        }
        for (named, place) in other.loose {
            self.loose.entry(named).or_insert(place);
        }
        self.derives.extend(other.derives);
        self.told.add(other.told);
        add_places(&mut self.by_path, other.by_path);
        self.spoken.extend(other.spoken);
        self.inner.extend(other.inner);
        self.said.extend(other.said);
    }

    /// The edits of the files that were read, or that something else asks to be edited.
    pub fn edits(&mut self, set: &Set<'_>, structure: &Structure) -> BTreeMap<TreePath, Vec<Edit>> {
        let nothing = FileWork::default();
        let files: BTreeSet<FileId> = self.read.iter().chain(self.files.keys()).copied().collect();
        let files: Vec<FileId> = files.into_iter().collect();
        let edit = |file: FileId| {
            let work = self.files.get(&file).unwrap_or(&nothing);
            file_edits((set, structure), file, work)
        };
        let made: Vec<(TreePath, Vec<Edit>, Told)> =
            files.into_par_iter().filter_map(edit).collect();
        let mut edits = BTreeMap::new();
        for (path, own, told) in made {
            self.told.add(told);
            edits.insert(path, own);
        }
        edits
    }
}

fn file_edits(
    (set, structure): (&Set<'_>, &Structure),
    file: FileId,
    work: &FileWork,
) -> Option<(TreePath, Vec<Edit>, Told)> {
    let mapping = set.mapping;
    let (path, facts) = (&mapping.world[file].path, mapping.world.facts(file));
    let text = mapping.texts.text(path)?;
    // Imports that arrive would meet those that give up their aliases.
    let arrives = is_arrived_at(set, file);
    let following = Following {
        mapping,
        file,
        text: &text,
        leaves: &|at| arrives || set.chunk_at(file, at).is_some(),
    };
    let mut told = Told::default();
    let mut edits = work.finish((facts, path, &text), &following, &mut told);
    mentions::rewrite((set, structure), file, &mut edits, &mut told);
    Some((path.clone(), edits, told))
}

/// Whether an item comes to a module of a file.
fn is_arrived_at(set: &Set<'_>, file: FileId) -> bool {
    let world = set.world();
    let bodies = world[file].bodies.iter();
    let own: Vec<Place> = bodies
        .map(|body| set.mapping.after(world[*body].module))
        .collect();
    let mut moving = set.moving.iter();
    moving.any(|moving| !moving.gives_way() && !set.is_in_place(moving) && own.contains(&moving.to))
}

fn add_places(
    known: &mut BTreeMap<usize, BTreeSet<Place>>,
    more: BTreeMap<usize, BTreeSet<Place>>,
) {
    for (moving, places) in more {
        known.entry(moving).or_default().extend(places);
    }
}

/// Visits the files that may name what changes, or that hold it.
pub(super) fn scan(set: &Set<'_>, structure: &Structure) -> Scan {
    let world = set.world();
    let concern = Concern::new(set, structure);
    let sources: Vec<FileId> = world.sources().map(|(file, _)| file).collect();
    let read = |file: FileId| {
        let text = concern
            .reaches(file)
            .then(|| set.mapping.texts.text(&world[file].path));
        Some(pass::scan_file(set, file, &text.flatten()?))
    };
    let found: Vec<Scan> = sources.into_par_iter().filter_map(read).collect();
    let mut scan = Scan::default();
    for one in found {
        scan.add(one);
    }
    scan
}

/// What makes a file worth reading.
struct Concern<'c> {
    set: &'c Set<'c>,
    structure: &'c Structure,
    /// The names by which what changes may be said.
    names: BTreeSet<String>,
}

impl<'c> Concern<'c> {
    fn new(set: &'c Set<'_>, structure: &'c Structure) -> Self {
        let mut names = packages::names(set.mapping);
        names.extend(exported_macros::names(set.mapping));
        names.extend(set.old_names().cloned());
        Self {
            set,
            structure,
            names,
        }
    }

    /// Whether a file holds what changes, may name it, or sees what its old module keeps to itself.
    fn reaches(&self, file: FileId) -> bool {
        let (mapping, structure) = (self.set.mapping, self.structure);
        let source = &mapping.world[file];
        if structure.deletes.contains(&source.path) {
            return false;
        }
        let facts = mapping.world.facts(file);
        let mut modules = source.bodies.iter().map(|body| mapping.world[body].module);
        let mut declared = facts.modules.iter();
        modules.any(|module| mapping.is_changed(module) || self.set.leaves_around(module))
            || structure.files.contains_key(&source.path)
            || self.is_said_in(facts)
            || !structure.files.is_empty()
                && declared.any(|declared| !declared.path_attributes.is_empty())
    }

    /// Whether a file says one of the names, in code, in a string or as what it includes.
    fn is_said_in(&self, facts: &SourceFacts) -> bool {
        let strings = facts.strings.iter().chain(&facts.path_strings);
        let strings = strings.map(|string| &*string.value);
        let includes = facts.includes.iter().map(|include| &*include.value);
        let mut texts = strings.chain(includes);
        facts.names.iter().any(|name| self.names.contains(&**name))
            || texts.any(|text| self.names.iter().any(|name| text.contains(name.as_str())))
    }
}
