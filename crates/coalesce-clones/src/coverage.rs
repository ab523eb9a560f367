//! Coverage: which definitions of one module, class or item another one has as well, and what each of
//! them does that the other does not.
//!
//! A pure function over two files. It says what there is and decides nothing: whether a changed body
//! may be replaced is for whoever reads it.
//!
//! The way of the data: a file's `parts` (definitions and statements, nothing left out) → pairs of
//! parts that stand for each other (`matching`) → statement by statement (`compare`) over words
//! as what they mean (`meaning`).

mod aspects;
mod compare;
mod heads;
mod in_order;
mod matching;
mod meaning;
mod parts;
mod renamed;
pub mod rows;
mod tell;

pub use coalesce_model::grammar::PartKind;
use coalesce_model::{ByteSpan, envelope::DifferenceAspect};
use thiserror::Error;

use crate::source::SourceFile;
use meaning::Meaning;
use parts::{Part, Reader};

/// One of the two things that are compared.
#[derive(Clone, Debug)]
pub struct Side<'f> {
    /// The file.
    pub file: &'f SourceFile,
    /// Full name of the file's module, segment by segment; in Rust the crate is the first. Empty
    /// where it has none: then relative imports stay as they are.
    pub module: Vec<String>,
    /// Whether the module is a package (`__init__.py`), from which relative imports count.
    pub is_package: bool,
    /// The item inside of the file, segment by segment; empty for all of the module.
    pub item: Vec<String>,
}

impl Side<'_> {
    /// A side whose item is a module, as that module.
    fn whole(&self) -> Self {
        Self {
            module: [self.module.as_slice(), &self.item].concat(),
            item: Vec::new(),
            ..self.clone()
        }
    }
}

/// How a definition of one side stands to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Equal up to comments, docstrings, layout, and names of imports that mean the same.
    Same,
    /// Equal but for messages, and for local names that are other ones everywhere.
    Reworded,
    /// The head differs: parameters, defaults, decorators, visibility, bases.
    ChangedSignature,
    /// What it does differs.
    ChangedBody,
    /// Both differ.
    ChangedSignatureAndBody,
    /// One name for two things: of another kind, or with hardly anything in common.
    Conflicting,
    /// Only the left side has it.
    OnlyLeft,
    /// Only the right side has it.
    OnlyRight,
}

impl Relation {
    /// Whether both sides have it, changed or not.
    #[must_use]
    pub const fn is_covered(self) -> bool {
        !matches!(self, Self::Conflicting | Self::OnlyLeft | Self::OnlyRight)
    }

    /// The same, seen from the other side.
    #[must_use]
    pub const fn turned(self) -> Self {
        match self {
            Self::OnlyLeft => Self::OnlyRight,
            Self::OnlyRight => Self::OnlyLeft,
            same => same,
        }
    }
}

/// What is to be known beside the relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Note {
    /// The left side only imports it from the right one.
    LeftImports,
    /// The right side only imports it from the left one.
    RightImports,
}

/// Where a definition is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// What it is.
    pub kind: PartKind,
    /// Its name, those of classes and modules around it included; of a statement without a name its
    /// text.
    pub name: String,
    /// Every name that it binds where it stands: several for a guarded import.
    pub binds: Vec<String>,
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// Where it is in the text, in bytes: from its first decorator or attribute to its end.
    pub span: ByteSpan,
}

/// A part of a statement as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text {
    /// Line, 1-based.
    pub line: u32,
    /// On one line, and cut where it is long.
    pub text: String,
}

/// Something that differs. One side at least is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// What it is about.
    pub aspect: DifferenceAspect,
    /// Whether both sides have it, in blocks that do not stand for each other; what follows it there
    /// has moved along.
    pub moved: bool,
    /// What the left side has.
    pub left: Option<Text>,
    /// What the right side has instead.
    pub right: Option<Text>,
}

/// A definition of one side or of both. One place at least is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How they stand to each other.
    pub relation: Relation,
    /// What is to be known beside that.
    pub note: Option<Note>,
    /// Where the left side has it.
    pub left: Option<Place>,
    /// Where the right side has it; of what conflicts, what stands in its way.
    pub right: Option<Place>,
    /// What differs, what hurts most first; of classes what differs in the head.
    pub differences: Vec<Difference>,
    /// Local names that are other ones on the right side, everywhere.
    pub renamed: Vec<(String, String)>,
    /// Members of classes, `impl` blocks and modules, in the order of the left side, then what only
    /// the right side has.
    pub members: Vec<Self>,
}

impl Entry {
    /// Whether both sides have it, under two names.
    #[must_use]
    pub fn is_renamed(&self) -> bool {
        match (&self.left, &self.right) {
            (Some(left), Some(right)) => self.relation.is_covered() && left.name != right.name,
            _ => false,
        }
    }

    fn turned(self) -> Self {
        let turn = |difference: Difference| Difference {
            aspect: difference.aspect,
            moved: difference.moved,
            left: difference.right,
            right: difference.left,
        };
        let mut differences: Vec<Difference> = self.differences.into_iter().map(turn).collect();
        compare::sort(&mut differences);
        let mut renamed: Vec<(String, String)> =
            self.renamed.into_iter().map(|(a, b)| (b, a)).collect();
        renamed.sort();
        Self {
            relation: self.relation.turned(),
            note: self.note.map(|note| match note {
                Note::LeftImports => Note::RightImports,
                Note::RightImports => Note::LeftImports,
            }),
            left: self.right,
            right: self.left,
            differences,
            renamed,
            members: self.members.into_iter().map(Self::turned).collect(),
        }
    }
}

/// What two modules, classes or items have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// What stands in the compared modules; of compared items, these themselves. In the order of the
    /// left side, then what only the right side has.
    pub entries: Vec<Entry>,
}

impl Coverage {
    /// The same seen from the other side, in the order of what is then the left one.
    #[must_use]
    pub fn turned(self) -> Self {
        let mut entries: Vec<Entry> = self.entries.into_iter().map(Entry::turned).collect();
        tell::sort(&mut entries);
        Self { entries }
    }

    /// How many entries have each relation, in the order of [`Relation`]; members count instead of
    /// what they are members of.
    #[must_use]
    pub fn counts(&self) -> Vec<(Relation, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        let mut open: Vec<&Entry> = self.entries.iter().collect();
        while let Some(entry) = open.pop() {
            if entry.members.is_empty() || entry.relation == Relation::Conflicting {
                *counts.entry(entry.relation).or_default() += 1;
            } else {
                open.extend(&entry.members);
            }
        }
        counts.into_iter().collect()
    }
}

/// Why there is no coverage.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CoverageError {
    /// The file has no such item.
    #[error("`{item}` is not in {path}")]
    NoSuchItem {
        /// What was asked for.
        item: String,
        /// The file.
        path: String,
        /// The items that there are, with their classes.
        known: Vec<String>,
    },
    /// They are in two languages.
    #[error("{left} and {right} are in two languages")]
    Languages {
        /// The left file.
        left: String,
        /// The right file.
        right: String,
    },
}

impl CoverageError {
    fn no_such_item(side: &Side<'_>) -> Self {
        Self::NoSuchItem {
            item: side.item.join(side.file.language.separator()),
            path: side.file.path.to_string(),
            known: items(side.file),
        }
    }
}

/// Refuses two languages.
fn of_one_language(left: &Side<'_>, right: &Side<'_>) -> Result<(), CoverageError> {
    if left.file.language == right.file.language {
        return Ok(());
    }
    Err(CoverageError::Languages {
        left: left.file.path.to_string(),
        right: right.file.path.to_string(),
    })
}

/// Says for each definition of the one whether the other has it. `coverage(a, b)` is `coverage(b, a)`
/// with its sides turned, and in the order of the other side.
///
/// # Errors
/// When an item is not in its file, or the files are in two languages.
pub fn coverage(left: &Side<'_>, right: &Side<'_>) -> Result<Coverage, CoverageError> {
    compared(left, right, &Read::new)
}

/// The same of what two modules consist of, wherever they stand: of a module between braces, which is the item of its
/// side, the names and imports are its own, as those of a file are. Names mean what is known of them.
///
/// # Errors
/// As [`coverage`].
pub fn coverage_of_modules<'f>(
    left: &Side<'f>,
    right: &Side<'f>,
    known: KnownNames<'f>,
) -> Result<Coverage, CoverageError> {
    compared(left, right, &|side, other| {
        let mut read = Read::of_module(side, other, known.follow)?;
        if std::ptr::eq(side, left) {
            read.meaning.call(known.renames.iter().cloned().collect());
        }
        Ok(read)
    })
}

/// What is known of the names of two modules beside their texts.
#[derive(Clone, Copy)]
pub struct KnownNames<'w> {
    /// Where paths lead.
    pub follow: FollowPath<'w>,
    /// Definitions of the left one that are to be called otherwise: old name, name on the right side.
    pub renames: &'w [(String, String)],
}

/// The full name of what a path leads to that stands in a module, or that begins with a package where the module is empty;
/// `None` where that is not one thing of the tree.
pub type FollowPath<'w> = &'w dyn Fn(&[String], &[String]) -> Option<Vec<String>>;

/// Reads one side, which is compared with the other one.
type ReadSide<'r, 'f> = &'r dyn Fn(&Side<'f>, &Side<'f>) -> Result<Read<'f>, CoverageError>;

fn compared<'f>(
    left: &Side<'f>,
    right: &Side<'f>,
    read: ReadSide<'_, 'f>,
) -> Result<Coverage, CoverageError> {
    of_one_language(left, right)?;
    // One order for both directions, so that ties are broken the same way.
    let key = |side: &Side<'_>| (side.file.path.clone(), side.item.clone());
    let turns = key(left) > key(right);
    let (first, second) = if turns { (right, left) } else { (left, right) };
    let (mut a, b) = (read(first, second)?, read(second, first)?);
    let mut entries = matching::entries(&a, &b);
    let mut renamed = renamed::pairs(&a, &b, &entries);
    let aliases = renamed::aliases(&a, &b, &renamed);
    if !aliases.is_empty() {
        // Now that it is known which definition has another name, its users can be compared.
        a.meaning.call(aliases);
        entries = matching::entries(&a, &b);
        renamed = renamed::pairs(&a, &b, &entries);
    }
    if turns {
        let turn = |list: Vec<Entry>| list.into_iter().map(Entry::turned).collect();
        (entries, renamed) = (turn(entries), turn(renamed));
    }
    renamed::place(&mut entries, renamed);
    tell::sort(&mut entries);
    Ok(Coverage { entries })
}

/// The names of all definitions of a file, with those around them: what [`Side::item`] can be.
#[must_use]
pub fn items(file: &SourceFile) -> Vec<String> {
    let module = Reader::new(file).module();
    let mut names = Vec::new();
    tell::names(&module.parts, "", file.language.separator(), &mut names);
    names.sort();
    names.dedup();
    names
}

/// One side, read.
struct Read<'f> {
    file: &'f SourceFile,
    meaning: Meaning<'f>,
    /// What is compared: all parts of the module, or those that make up the item.
    parts: Vec<Part>,
    /// Names around the parts.
    around: String,
    /// Whether it is an item.
    is_item: bool,
}

impl<'f> Read<'f> {
    fn new(side: &Side<'f>, other: &Side<'_>) -> Result<Self, CoverageError> {
        let reader = Reader::new(side.file);
        let module = reader.module();
        let meaning = Meaning::new(side, other, reader, &module, None);
        let separator = side.file.language.separator();
        let parts = if side.item.is_empty() {
            module.parts
        } else {
            let found = tell::find(&module.parts, &side.item);
            if found.is_empty() {
                return Err(CoverageError::no_such_item(side));
            }
            found.into_iter().cloned().collect()
        };
        let around = side.item.split_last().map_or(String::new(), |(_, around)| {
            let around: Vec<String> = around
                .iter()
                .map(|name| format!("{name}{separator}"))
                .collect();
            around.concat()
        });
        Ok(Self {
            file: side.file,
            meaning,
            parts,
            around,
            is_item: !side.item.is_empty(),
        })
    }

    /// A module and what it consists of, between braces or not.
    fn of_module(
        side: &Side<'f>,
        other: &Side<'_>,
        follow: FollowPath<'f>,
    ) -> Result<Self, CoverageError> {
        let reader = Reader::new(side.file);
        let mut module = reader.module();
        for name in &side.item {
            let mut parts = module.parts.into_iter();
            let found = parts.find(|part| part.kind == PartKind::Module && part.name == *name);
            module = found.ok_or_else(|| CoverageError::no_such_item(side))?;
        }
        let meaning = Meaning::new(&side.whole(), &other.whole(), reader, &module, Some(follow));
        Ok(Self {
            file: side.file,
            meaning,
            parts: module.parts,
            around: String::new(),
            is_item: false,
        })
    }
}
