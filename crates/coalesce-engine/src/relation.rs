//! How two copies stand to each other, as far as a proposal needs it: what the one has that the other
//! lacks, and what differs.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_clones::{
    SourceFile,
    coverage::{
        Coverage, Difference, Entry, Note, PartKind, Place, Relation as Standing, Side, coverage,
    },
};
use coalesce_model::{LanguageKind, Module, TreePath};
use coalesce_plan::{
    impls,
    propose::{Copy, Decision, Relation},
};

use crate::Session;

/// Differences of one definition that are shown.
const DIFFERENCES: usize = 8;

/// The files of the copies, each read once, and the modules they are.
pub struct Relations<'s> {
    session: &'s Session,
    files: RefCell<BTreeMap<TreePath, Option<Rc<SourceFile>>>>,
    /// For two modules, the names that both define and that are not the same there.
    unlike: RefCell<BTreeMap<ModulePair, Rc<BTreeSet<String>>>>,
}

/// Two modules of a language: indices into its graph.
type ModulePair = (usize, usize, LanguageKind);

impl<'s> Relations<'s> {
    /// Nothing read yet.
    #[must_use]
    pub const fn new(session: &'s Session) -> Self {
        Self {
            session,
            files: RefCell::new(BTreeMap::new()),
            unlike: RefCell::new(BTreeMap::new()),
        }
    }

    /// How `from` stands to `into`; `None` where they cannot be compared.
    #[must_use]
    pub fn of(&self, from: &Copy, into: &Copy) -> Option<Relation> {
        let (left, right) = (self.file(&from.path)?, self.file(&into.path)?);
        let sides = (self.side(from, &left)?, self.side(into, &right)?);
        let coverage = coverage(&sides.0, &sides.1).ok()?;
        let mut relation = relation(&coverage, (&left, &right), from.item.is_none());
        if relation.decisions.is_empty() {
            relation
                .decisions
                .extend(self.other_meaning(from, into, &left));
        }
        // A flag is told by its name, not by the block that sets it.
        if let (Some(item), [decision]) = (&from.item, relation.decisions.as_mut_slice()) {
            decision.name.clone_from(item);
        }
        Some(relation)
    }

    /// What an item names that its module defines, where the module of the other one defines something
    /// else by that name: equal text, and another meaning.
    fn other_meaning(&self, from: &Copy, into: &Copy, file: &SourceFile) -> Option<Decision> {
        let item = from.item.as_ref()?;
        let unlike = self.unlike(from, into)?;
        let side = self.side(from, file)?;
        let named = words_of(&side, item);
        let found: Vec<String> = unlike
            .iter()
            .filter(|name| *name != item && named.contains(name.as_str()))
            .map(|name| format!("`{name}` is another one in each of the two modules"))
            .collect();
        (!found.is_empty()).then(|| Decision {
            name: item.clone(),
            diff: found.join("\n"),
        })
    }

    /// The names that both modules define and that are not the same, or name what is not.
    fn unlike(&self, from: &Copy, into: &Copy) -> Option<Rc<BTreeSet<String>>> {
        let (left, right) = (self.file(&from.path)?, self.file(&into.path)?);
        let key = (from.module, into.module, left.language);
        if let Some(known) = self.unlike.borrow().get(&key) {
            return Some(Rc::clone(known));
        }
        let whole = |copy: &Copy| Copy {
            item: None,
            ..copy.clone()
        };
        let sides = (
            self.side(&whole(from), &left)?,
            self.side(&whole(into), &right)?,
        );
        let coverage = coverage(&sides.0, &sides.1).ok()?;
        let unlike = Rc::new(unlike_names(&coverage, &left));
        self.unlike.borrow_mut().insert(key, Rc::clone(&unlike));
        Some(unlike)
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
        self.session.part(language).graph().modules()
    }
}

/// Definitions of the same name that differ, and, until nothing is added, those that name them.
fn unlike_names(coverage: &Coverage, left: &SourceFile) -> BTreeSet<String> {
    let both: Vec<(&Entry, &Place)> = coverage
        .entries
        .iter()
        .filter_map(|entry| Some((entry, entry.left.as_ref()?)))
        .collect();
    let named = |place: &Place| -> BTreeSet<&str> {
        place.span.of(&left.text).map(words).unwrap_or_default()
    };
    let mut unlike: BTreeSet<String> = both
        .iter()
        .filter(|(entry, place)| {
            let same = matches!(entry.relation, Standing::Same | Standing::Reworded);
            let right = entry.right.as_ref();
            !same && right.is_some_and(|right| right.name == place.name)
        })
        .map(|(_, place)| place.name.clone())
        .collect();
    loop {
        let more: Vec<String> = both
            .iter()
            .filter(|(_, place)| !unlike.contains(&place.name))
            .filter(|(_, place)| named(place).iter().any(|word| unlike.contains(*word)))
            .map(|(_, place)| place.name.clone())
            .collect();
        if more.is_empty() {
            return unlike;
        }
        unlike.extend(more);
    }
}

/// The words of a text that could be names.
fn words(text: &str) -> BTreeSet<&str> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !part(c))
        .filter(|word| !word.is_empty())
        .collect()
}

/// The words of the definitions of an item.
fn words_of<'f>(side: &Side<'f>, item: &str) -> BTreeSet<&'f str> {
    let text: &'f str = &side.file.text;
    let units = side.file.units.iter();
    let own = units.filter(|unit| unit.name_span.of(text) == Some(item));
    own.flat_map(|unit| {
        let (first, last) = (unit.lines.0 as usize, unit.lines.1 as usize);
        let lines = text.lines().take(last).skip(first.saturating_sub(1));
        lines.flat_map(|line| words(line).into_iter())
    })
    .collect()
}

fn relation(coverage: &Coverage, files: (&SourceFile, &SourceFile), is_module: bool) -> Relation {
    let mut reading = Reading {
        coverage,
        files,
        is_module,
        relation: Relation::default(),
        lines: (0, 0),
    };
    for entry in &coverage.entries {
        reading.entry(entry);
    }
    let (covered, all) = reading.lines;
    Relation {
        share: share(covered, all),
        ..reading.relation
    }
}

/// A comparison, told entry by entry.
struct Reading<'c> {
    coverage: &'c Coverage,
    files: (&'c SourceFile, &'c SourceFile),
    is_module: bool,
    relation: Relation,
    /// Lines that the other one has, of all.
    lines: (u32, u32),
}

impl Reading<'_> {
    fn entry(&mut self, entry: &Entry) {
        let Some(left) = &entry.left else { return };
        if left.kind == PartKind::Import || entry.note == Some(Note::LeftImports) {
            return;
        }
        // Tests written alike say nothing on what is tested.
        let lines = match (left.kind, left.name.as_str()) {
            (PartKind::Module, "tests" | "test") => 0,
            _ => left.lines.1.saturating_sub(left.lines.0) + 1,
        };
        self.lines.1 += lines;
        let same = matches!(entry.relation, Standing::Same | Standing::Reworded);
        let is_other = self.is_other(entry, left);
        if entry.relation.is_covered() && !is_other && (same || left.name != "__all__") {
            self.lines.0 += lines;
        }
        match entry.relation {
            // It goes with its type, which is another one.
            _ if is_other && owner(self.coverage, entry).is_some() => {}
            _ if is_other => self.relation.unique.push(left.name.clone()),
            Standing::Same | Standing::Reworded => self.same(entry, left),
            Standing::OnlyLeft => self.relation.unique.push(left.name.clone()),
            // What a module offers follows from what becomes of the rest.
            _ if left.name == "__all__" => {}
            _ if left.kind == PartKind::Impl => self.differing_impl(entry, left),
            // A module inside is merged as well: what differs in it is decided by its own name.
            _ if self.is_module && left.kind == PartKind::Module => {
                for member in &entry.members {
                    self.inside(&left.name, member);
                }
            }
            _ => self.decide(left.name.clone(), entry),
        }
    }

    /// Alike, and called otherwise: nobody takes the one for the other. Of two types of one shape,
    /// that is so where an `impl` differs; an `impl` of a type from elsewhere is not the type's own.
    fn is_other(&self, entry: &Entry, left: &Place) -> bool {
        let entries = &self.coverage.entries;
        let same = matches!(entry.relation, Standing::Same | Standing::Reworded);
        self.is_module
            && entry.is_renamed()
            && match (left.kind, same) {
                (PartKind::Impl, _) => owner(self.coverage, entry).map_or(!same, |owner| {
                    let place = owner.left.as_ref();
                    place.is_some_and(|place| self.is_other(owner, place))
                }),
                (_, true) => impls::of(entries, left).into_iter().any(impls::differs),
                (_, false) => true,
            }
    }

    fn same(&mut self, entry: &Entry, left: &Place) {
        self.relation.same += 1;
        let separator = self.files.0.language.separator();
        if let (true, Some(right)) = (entry.is_renamed(), &entry.right)
            && !left.name.contains(separator)
        {
            let pair = (left.name.clone(), right.name.clone());
            self.relation.rename.push(pair);
        }
    }

    /// What of an `impl` only one side has goes along, or is there: nothing to decide.
    fn differing_impl(&mut self, entry: &Entry, left: &Place) {
        if !impls::differs(entry) {
            return;
        }
        let Some(owner) = owner(self.coverage, entry) else {
            return self.decide(left.name.clone(), entry);
        };
        if let Some(place) = &owner.left {
            self.decide(place.name.clone(), entry);
        }
    }

    /// An entry of the module of this name, inside the compared one.
    fn inside(&mut self, module: &str, entry: &Entry) {
        let Some(left) = &entry.left else { return };
        let separator = self.files.0.language.separator();
        let name = match left.name.starts_with(&format!("{module}{separator}")) {
            true => left.name.clone(),
            false => format!("{module}{separator}{}", left.name),
        };
        match entry.relation {
            _ if matches!(left.kind, PartKind::Import | PartKind::Impl) => {}
            Standing::Same | Standing::Reworded => {}
            Standing::OnlyLeft => self.relation.unique.push(name),
            _ if entry.is_renamed() => self.relation.unique.push(name),
            _ if left.kind == PartKind::Module => {
                for member in &entry.members {
                    self.inside(&name, member);
                }
            }
            _ => self.decide(name, entry),
        }
    }

    /// One decision for each name, with all that differs of it.
    fn decide(&mut self, name: String, entry: &Entry) {
        let diff = difference(entry, self.files);
        let mut known = self.relation.decisions.iter_mut();
        if let Some(known) = known.find(|known| known.name == name) {
            known.diff.push('\n');
            known.diff.push_str(&diff);
        } else {
            self.relation.decisions.push(Decision { name, diff });
        }
    }
}

/// The type or trait that an `impl` is decided on with.
fn owner<'c>(coverage: &'c Coverage, entry: &Entry) -> Option<&'c Entry> {
    let is_of = |place: &Place| {
        let mut all = impls::of(&coverage.entries, place).into_iter();
        all.any(|one| std::ptr::eq(one, entry))
    };
    let mut entries = coverage.entries.iter();
    entries.find(|one| one.left.as_ref().is_some_and(is_of))
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
