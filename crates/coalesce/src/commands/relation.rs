//! How two copies stand to each other, as far as a proposal needs it: what the one has that the other
//! lacks, and what differs.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use coalesce_clones::{
    SourceFile,
    coverage::{
        Coverage, Difference, Entry, Note, PartKind, Place, Relation as Standing, Side, coverage,
    },
};
use coalesce_model::{LanguageGraph as _, LanguageKind, Module, TreePath};
use coalesce_plan::{
    impls,
    propose::{Copy, Decision, Relation},
};

use crate::session::Session;

/// Differences of one definition that are shown.
const DIFFERENCES: usize = 8;

/// The files of the copies, each read once, and the modules they are.
pub struct Relations<'s> {
    session: &'s Session,
    files: RefCell<BTreeMap<TreePath, Option<Rc<SourceFile>>>>,
}

impl<'s> Relations<'s> {
    /// Nothing read yet.
    #[must_use]
    pub const fn new(session: &'s Session) -> Self {
        Self {
            session,
            files: RefCell::new(BTreeMap::new()),
        }
    }

    /// How `from` stands to `into`; `None` where they cannot be compared.
    #[must_use]
    pub fn of(&self, from: &Copy, into: &Copy) -> Option<Relation> {
        let (left, right) = (self.file(&from.path)?, self.file(&into.path)?);
        let sides = (self.side(from, &left)?, self.side(into, &right)?);
        let coverage = coverage(&sides.0, &sides.1).ok()?;
        let mut relation = relation(&coverage, (&left, &right), from.item.is_none());
        // A flag is told by its name, not by the block that sets it.
        if let (Some(item), [decision]) = (&from.item, relation.decisions.as_mut_slice()) {
            decision.name.clone_from(item);
        }
        Some(relation)
    }

    fn file(&self, path: &TreePath) -> Option<Rc<SourceFile>> {
        let mut files = self.files.borrow_mut();
        let read = || self.session.source_file(path).map(Rc::new);
        files.entry(path.clone()).or_insert_with(read).clone()
    }

    fn side<'f>(&self, copy: &Copy, file: &'f SourceFile) -> Option<Side<'f>> {
        let module = self.modules(file.language).get(copy.module)?;
        let separator = file.language.separator();
        let segments = |name: &str| name.split(separator).map(str::to_owned).collect();
        Some(Side {
            file,
            module: segments(&module.name),
            is_package: module.package,
            item: copy.item.as_deref().map(segments).unwrap_or_default(),
        })
    }

    fn modules(&self, language: LanguageKind) -> &'s [Module] {
        match language {
            LanguageKind::Python => self.session.python.graph.modules(),
            LanguageKind::Rust => self.session.rust.graph.modules(),
        }
    }
}

fn relation(coverage: &Coverage, files: (&SourceFile, &SourceFile), is_module: bool) -> Relation {
    let separator = files.0.language.separator();
    let mut relation = Relation::default();
    let (mut all, mut covered) = (0_u32, 0_u32);
    for entry in &coverage.entries {
        let Some(left) = &entry.left else { continue };
        if left.kind == PartKind::Import || entry.note == Some(Note::LeftImports) {
            continue;
        }
        let lines = left.lines.1.saturating_sub(left.lines.0) + 1;
        all += lines;
        match entry.relation {
            Standing::Same | Standing::Reworded => {
                covered += lines;
                relation.same += 1;
                if let (true, Some(right)) = (entry.is_renamed(), &entry.right)
                    && !left.name.contains(separator)
                {
                    let pair = (left.name.clone(), right.name.clone());
                    relation.rename.push(pair);
                }
            }
            Standing::OnlyLeft => relation.unique.push(left.name.clone()),
            // What a module offers follows from what becomes of the rest.
            _ if left.name == "__all__" => {}
            changed if left.kind == PartKind::Impl => {
                if changed.is_covered() {
                    covered += lines;
                }
                // What of it only one side has goes along, or is there: nothing to decide.
                if impls::differs(entry) {
                    let name = owner(coverage, entry).unwrap_or(&left.name).to_owned();
                    decide(&mut relation, name, difference(entry, files));
                }
            }
            // Alike, and called otherwise: nobody takes the one for the other.
            _ if is_module && entry.is_renamed() => relation.unique.push(left.name.clone()),
            changed => {
                if changed.is_covered() {
                    covered += lines;
                }
                let diff = difference(entry, files);
                decide(&mut relation, left.name.clone(), diff);
            }
        }
    }
    relation.share = share(covered, all);
    relation
}

/// The type or trait that an `impl` is decided on with.
fn owner<'c>(coverage: &'c Coverage, entry: &Entry) -> Option<&'c str> {
    let places = coverage.entries.iter().filter_map(|one| one.left.as_ref());
    let is_of = |place: &&Place| {
        let mut all = impls::of(&coverage.entries, place).into_iter();
        all.any(|one| std::ptr::eq(one, entry))
    };
    let mut owners = places.filter(is_of);
    owners.next().map(|place| place.name.as_str())
}

/// One decision for each name, with all that differs of it.
fn decide(relation: &mut Relation, name: String, diff: String) {
    let mut known = relation.decisions.iter_mut();
    if let Some(known) = known.find(|known| known.name == name) {
        known.diff.push('\n');
        known.diff.push_str(&diff);
    } else {
        relation.decisions.push(Decision { name, diff });
    }
}

#[expect(clippy::cast_precision_loss, reason = "lines of a file")]
fn share(part: u32, whole: u32) -> f32 {
    part as f32 / whole.max(1) as f32
}

/// What differs, what hurts most first; of statements, which are not taken apart, both as they are.
fn difference(entry: &Entry, files: (&SourceFile, &SourceFile)) -> String {
    let mut all = Vec::new();
    gather(entry, &mut all);
    let mut lines: Vec<String> = all
        .iter()
        .take(DIFFERENCES)
        .flat_map(|difference| shown(difference))
        .collect();
    if all.len() > DIFFERENCES {
        lines.push(format!("and {} more differences", all.len() - DIFFERENCES));
    }
    if all.is_empty() {
        lines.extend(whole('-', entry.left.as_ref(), files.0));
        lines.extend(whole('+', entry.right.as_ref(), files.1));
    }
    lines.join("\n")
}

/// The first lines of a place.
fn whole<'f>(
    mark: char,
    place: Option<&'f Place>,
    file: &'f SourceFile,
) -> impl Iterator<Item = String> {
    let text = place.and_then(|place| Some((place.lines.0, place.span.of(&file.text)?)));
    let lines = text
        .into_iter()
        .flat_map(|(first, text)| (first..).zip(text.lines()));
    lines
        .take(DIFFERENCES)
        .map(move |(number, line)| format!("{mark} {number}: {line}"))
}

fn gather<'e>(entry: &'e Entry, all: &mut Vec<&'e Difference>) {
    all.extend(&entry.differences);
    for member in &entry.members {
        gather(member, all);
    }
}

fn shown(difference: &Difference) -> Vec<String> {
    let side = |mark: char, text: &Option<coalesce_clones::coverage::Text>| {
        text.as_ref()
            .map(|text| format!("{mark} {}: {}", text.line, text.text))
    };
    side('-', &difference.left)
        .into_iter()
        .chain(side('+', &difference.right))
        .collect()
}
