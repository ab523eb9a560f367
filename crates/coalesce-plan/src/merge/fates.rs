//! What becomes of each definition and statement of a module that gives way.

use std::collections::BTreeSet;

use coalesce_clones::{
    SourceFile,
    coverage::{Entry, Note, PartKind, Place, Relation},
};
use coalesce_model::{Module, TokenClass, language::SameValue, manifest::Choice};

use super::{Compared, Merge, Pair, impls, rust_tests, visibility};

/// What becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The module that stays has it; `changed` when not the same.
    Covered { changed: bool },
    /// The module that stays has it under this name.
    Renamed(String),
    /// It moves, under this name if it is another one.
    Move(Option<String>),
    /// It takes the place of the other one.
    Supersede,
    /// A macro call, which goes along with what it is given, or is refused: that is the language's to tell, and nobody's
    /// to decide.
    Along,
    /// Nothing that stays needs it.
    Goes,
    /// Nobody has said what shall become of it.
    Undecided,
    /// Only known once it is known what moves: it is private and nobody else's. `unique`: the
    /// module that stays has none of this name.
    Pending { unique: bool },
}

/// A definition or statement of the module that gives way.
#[derive(Debug)]
pub struct Part<'e> {
    pub entry: &'e Entry,
    pub place: &'e Place,
    /// The names that it binds, without those around it.
    pub names: Vec<String>,
    /// What a decision can call it.
    pub keys: Vec<String>,
    pub fate: Fate,
    /// The `impl`s of the module for the type, or of the trait, that it is.
    pub impls: Vec<&'e Entry>,
}

impl Part<'_> {
    /// Whether its users call it, or use members of it.
    pub fn is_callable(&self) -> bool {
        matches!(self.place.kind, PartKind::Function | PartKind::Class)
    }

    /// Whether it makes a type of its own.
    fn is_type(&self) -> bool {
        matches!(
            self.place.kind,
            PartKind::Class | PartKind::Struct | PartKind::Enum | PartKind::Union | PartKind::Trait
        )
    }

    /// Whether it is an item that has a name and moves by it.
    pub fn is_definition(&self) -> bool {
        !matches!(
            self.place.kind,
            PartKind::Module
                | PartKind::Impl
                | PartKind::Import
                | PartKind::Macro
                | PartKind::Statement
        )
    }

    /// How it stands to the other one, its `impl`s included.
    fn relation(&self) -> Relation {
        let relation = match self.entry.relation {
            relation @ (Relation::Same | Relation::Reworded) => relation,
            _ if visibility::is_same(self.entry) => Relation::Reworded,
            relation => relation,
        };
        let same = matches!(relation, Relation::Same | Relation::Reworded);
        if same && self.impls.iter().any(|one| impls::differs(one)) {
            Relation::ChangedBody
        } else {
            relation
        }
    }

    fn stays_as_text(&self) -> bool {
        matches!(self.fate, Fate::Move(_) | Fate::Supersede | Fate::Along)
    }
}

/// The parts of a module and what becomes of each.
pub fn of<'e>(merge: &Merge<'_>, pair: &Pair<'_>, compared: &'e Compared) -> Vec<Part<'e>> {
    let all = &compared.coverage.entries;
    let entries = all.iter();
    // What only a program binds is no name of the module.
    let is_program = |place: &Place| {
        let text = place.span.of(&compared.from.text);
        text.is_some_and(|text| text.starts_with("if __name__"))
    };
    let marks_tests = !merge.lexicon().test_attributes.is_empty();
    let is_test = |place: &Place| {
        let text = place.span.of(&compared.from.text).filter(|_| marks_tests);
        text.is_some_and(rust_tests::is_test)
    };
    let mut parts: Vec<Part<'e>> = entries
        .filter_map(|entry| part(merge, pair, (entry, all), &is_program))
        .collect();
    for part in parts.iter_mut().filter(|part| is_test(part.place)) {
        part.fate = rust_tests::fate(merge, part, all);
    }
    settle(&compared.from, &mut parts);
    parts
}

pub(super) fn last(name: &str) -> &str {
    name.rsplit(['.', ':']).next().unwrap_or(name)
}

fn part<'e>(
    merge: &Merge<'_>,
    pair: &Pair<'_>,
    (entry, all): (&'e Entry, &'e [Entry]),
    is_program: &dyn Fn(&Place) -> bool,
) -> Option<Part<'e>> {
    let place = entry.left.as_ref()?;
    // Imports come along with what uses them; modules are pairs of their own; what becomes of
    // `impl`s is told by their types.
    if matches!(
        place.kind,
        PartKind::Import | PartKind::Impl | PartKind::Module
    ) {
        return None;
    }
    let names: Vec<String> = if is_program(place) {
        Vec::new()
    } else if !place.binds.is_empty() {
        place.binds.clone()
    } else if place.kind == PartKind::Statement {
        Vec::new()
    } else {
        vec![last(&place.name).to_owned()]
    };
    let separator = merge.separator();
    let full = |name: &String| format!("{}{separator}{name}", pair.from.name);
    let named_type = type_by_rename(merge, pair, entry);
    let renamed = |name: &String| {
        let mut renames = merge.renames_of(pair).iter();
        named_type.is_none() && renames.any(|(old, _)| old == name)
    };
    let list = merge.lexicon().export_list;
    let exported = list.is_some_and(|list| names == [list]);
    if exported
        || names
            .iter()
            .any(|name| merge.has_entry(&full(name)) || renamed(name))
    {
        return None;
    }
    let mut keys = names.clone();
    if keys.is_empty() {
        keys.push(place.name.clone());
    }
    let mut part = Part {
        fate: Fate::Undecided,
        impls: impls::of(all, place),
        entry,
        place,
        names,
        keys,
    };
    part.fate = match named_type {
        Some(new) => fate_of_type(&part, new, merge.decision(pair, &part.keys)),
        None => fate(merge, pair, &part),
    };
    Some(part)
}

/// What becomes of a type that the entry renames to one of the module that stays: as of two of one name, what both have
/// has to be the same, or is decided on.
fn fate_of_type(part: &Part<'_>, new: String, decision: Option<&Choice>) -> Fate {
    match (part.relation(), decision) {
        (Relation::Same | Relation::Reworded, _) | (_, Some(Choice::KeepInto)) => {
            Fate::Renamed(new)
        }
        _ => Fate::Undecided,
    }
}

/// The name in the module that stays of a type which the entry renames to it: what only the old one has goes along, as
/// with one name.
fn type_by_rename(merge: &Merge<'_>, pair: &Pair<'_>, entry: &Entry) -> Option<String> {
    let (left, right) = (entry.left.as_ref()?, entry.right.as_ref()?);
    let is_type = |place: &Place| {
        matches!(
            place.kind,
            PartKind::Struct | PartKind::Enum | PartKind::Union
        )
    };
    let mut renames = merge.renames_of(pair).iter();
    let said = renames.find(|(old, new)| left.name == *old && right.name == *new);
    let both = is_type(left) && is_type(right);
    said.filter(|_| both).map(|(_, new)| new.clone())
}

fn fate(merge: &Merge<'_>, pair: &Pair<'_>, part: &Part<'_>) -> Fate {
    let entry = part.entry;
    let decision = merge.decision(pair, &part.keys);
    match entry.note {
        Some(Note::LeftImports) => return Fate::Covered { changed: false },
        Some(Note::RightImports) => return Fate::Move(None),
        None => {}
    }
    let is_same = matches!(entry.relation, Relation::Same | Relation::Reworded);
    if part.names.is_empty() && !is_same && merge.calls_macro(&part.place.name) {
        return Fate::Along;
    }
    let other = entry.right.as_ref().map(|place| last(&place.name));
    let other = other.filter(|_| entry.is_renamed() && part.names.len() == 1);
    let new_name = |name: &String| (!part.names.contains(name)).then(|| name.clone());
    match (part.relation(), decision) {
        // Under another name nothing else is the same: by what its users get of it, it is theirs to say.
        (relation, None) if other.is_some() && !is_interchangeable(part, relation) => {
            unique(merge, pair, part)
        }
        (Relation::Same | Relation::Reworded, None | Some(Choice::KeepInto)) => match other {
            Some(other) => Fate::Renamed(other.to_owned()),
            None => Fate::Covered { changed: false },
        },
        // Texts alike may mean two things, and who gives one of them a name says that both stay.
        (Relation::Same | Relation::Reworded, Some(Choice::Rename(name)))
            if other.is_none() && part.names.len() == 1 && !part.names.contains(name) =>
        {
            Fate::Move(Some(name.clone()))
        }
        (Relation::Same | Relation::Reworded, _) if other.is_none() => {
            Fate::Covered { changed: false }
        }
        (Relation::OnlyLeft, Some(Choice::KeepInto)) => Fate::Goes,
        (Relation::OnlyLeft, Some(Choice::KeepFrom)) if !part.names.is_empty() => Fate::Move(None),
        (_, Some(Choice::Rename(name))) if part.names.len() == 1 => Fate::Move(new_name(name)),
        (Relation::OnlyLeft, None) => unique(merge, pair, part),
        (_, Some(Choice::KeepInto)) => match other {
            Some(other) => Fate::Renamed(other.to_owned()),
            None => Fate::Covered { changed: true },
        },
        (_, Some(Choice::KeepFrom)) if other.is_some() => Fate::Move(None),
        (_, Some(Choice::KeepFrom)) if !part.names.is_empty() => Fate::Supersede,
        (_, Some(_)) => Fate::Undecided,
        (_, None) if is_own(merge, pair, part) => Fate::Pending { unique: false },
        (_, None) => of_one_value(merge, pair, part).unwrap_or(Fate::Undecided),
    }
}

/// What becomes of names that the module which stays has with the same values, in other words or by an import of them.
fn of_one_value(merge: &Merge<'_>, pair: &Pair<'_>, part: &Part<'_>) -> Option<Fate> {
    let separator = merge.separator();
    let known = part.names.iter().map(|name| {
        let [old, new] =
            [pair.from, pair.into].map(|module| format!("{}{separator}{name}", module.name));
        merge.graph.same_value(&old, &new, merge.texts)
    });
    let known: Vec<SameValue> = known.collect::<Option<_>>()?;
    let all = |value: SameValue| !known.is_empty() && known.iter().all(|one| *one == value);
    if all(SameValue::Imported) {
        return Some(Fate::Move(None));
    }
    all(SameValue::Given).then_some(Fate::Covered { changed: false })
}

/// Whether users of a thing get the same of one that reads like it and has another name. Two types are two, however alike.
fn is_interchangeable(part: &Part<'_>, relation: Relation) -> bool {
    matches!(relation, Relation::Same | Relation::Reworded) && !part.is_type()
}

/// What becomes of a thing that only the module which gives way has.
fn unique(merge: &Merge<'_>, pair: &Pair<'_>, part: &Part<'_>) -> Fate {
    let special = |name: &String| name.starts_with("__") && name.ends_with("__");
    let grammar = merge.graph.grammar();
    if part.names.is_empty() && grammar.sets_lints(&part.place.name) {
        // What moves says by itself which lints it was allowed.
        Fate::Goes
    } else if part.names.is_empty() || part.names.iter().any(special) {
        Fate::Undecided
    } else if is_own(merge, pair, part) {
        Fate::Pending { unique: true }
    } else {
        Fate::Move(None)
    }
}

/// Whether it is private, and no other file names it.
fn is_own(merge: &Merge<'_>, pair: &Pair<'_>, part: &Part<'_>) -> bool {
    let private = |name: &String| {
        let told = merge.graph.grammar().is_private_name(name);
        told.unwrap_or_else(|| !pair.from.exports.contains(name))
    };
    if part.names.is_empty() || !part.names.iter().all(private) {
        return false;
    }
    let separator = merge.separator();
    part.names.iter().all(|name| {
        let full = format!("{}{separator}{name}", pair.from.name);
        let references = merge.graph.references(&full, merge.texts);
        let mut elsewhere = references.iter();
        !elsewhere.any(|reference| reference.path != pair.from.path)
            && !pair.names_behind(merge).contains(name)
    })
}

/// Names that stand behind a module's own in other files, code or not: of entry points (`pkg.old:_Plugin`) and
/// configuration (`pkg.old._Plugin`).
pub(super) fn names_behind(merge: &Merge<'_>, from: &Module) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if !merge.lexicon().named_in_texts {
        return found;
    }
    let module = last(&from.name);
    let others = merge.texts.paths().iter();
    for path in others.filter(|path| **path != from.path) {
        let text = merge.texts.text(path).unwrap_or_default();
        let names: BTreeSet<&str> = names_behind_in(&text, module).collect();
        found.extend(names.into_iter().map(str::to_owned));
    }
    found
}

/// The names that stand in a text behind that of a module and a colon or a dot.
fn names_behind_in<'t>(text: &'t str, module: &'t str) -> impl Iterator<Item = &'t str> {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(module).filter_map(move |(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + module.len()..)?.strip_prefix([':', '.'])?;
        let name = after.split(|c| !goes_on(c)).next()?;
        (!before.is_some_and(goes_on) && !name.is_empty()).then_some(name)
    })
}

/// What moved text needs moves as well; what is left of the private things goes. A private thing that
/// is not the same in both has to be decided where something uses it that is: the same text would
/// come to mean another thing.
fn settle(file: &SourceFile, parts: &mut [Part<'_>]) {
    let mut named = NamedWords::of_covered(file, parts);
    let mut read = vec![false; parts.len()];
    loop {
        let mut more = false;
        let unread = parts.iter().zip(&mut read);
        for (part, read) in unread.filter(|(part, read)| part.stays_as_text() && !**read) {
            named.need(file, part);
            *read = true;
            more = true;
        }
        for part in parts.iter_mut() {
            named.settle(part);
        }
        if !more {
            break;
        }
    }
    for part in parts {
        if matches!(part.fate, Fate::Pending { .. }) {
            part.fate = Fate::Goes;
        }
    }
}

/// Names that stand in the texts of a module that gives way.
#[derive(Default)]
struct NamedWords<'f> {
    /// In texts that go on as they are.
    needed: BTreeSet<&'f str>,
    /// In texts that an equal one takes the place of.
    relied: BTreeSet<&'f str>,
}

impl<'f> NamedWords<'f> {
    fn of_covered(file: &'f SourceFile, parts: &[Part<'_>]) -> Self {
        let mut named = Self::default();
        for part in parts {
            let (equal, covered) = match part.fate {
                Fate::Covered { changed } => (!changed, true),
                Fate::Renamed(_) => (true, true),
                _ => (false, false),
            };
            if equal {
                named.relied.extend(words(file, part.place));
            }
            let impls = impls::texts(&part.impls).into_iter();
            for (place, goes_along) in impls.filter(|_| covered) {
                let set = match goes_along {
                    true => &mut named.needed,
                    false => &mut named.relied,
                };
                set.extend(words(file, place));
            }
        }
        named
    }

    /// Notes what a text names that goes on as it is.
    fn need(&mut self, file: &'f SourceFile, part: &Part<'_>) {
        self.needed.extend(words(file, part.place));
        let impls = part.impls.iter().filter_map(|one| one.left.as_ref());
        let named = impls.flat_map(|place| words(file, place));
        self.needed.extend(named);
    }

    /// What becomes of a part that waits for whether something names it.
    fn settle(&self, part: &mut Part<'_>) {
        let Fate::Pending { unique } = part.fate else {
            return;
        };
        let is_in = |set: &BTreeSet<&str>| {
            let mut names = part.names.iter();
            names.any(|name| set.contains(name.as_str()))
        };
        if is_in(&self.needed) && unique {
            part.fate = Fate::Move(None);
        } else if !unique && (is_in(&self.needed) || is_in(&self.relied)) {
            part.fate = Fate::Undecided;
        }
    }
}

/// The names that stand in a text, and in what strings of it put between braces: `f"{_shown(n)}"`.
fn words<'f>(file: &'f SourceFile, place: &Place) -> impl Iterator<Item = &'f str> {
    let span = place.span;
    let tokens = file.tokens.iter();
    let tokens = tokens.filter(move |token| span.start <= token.start && token.start < span.end);
    tokens.flat_map(|token| {
        let text = token.span().of(&file.text).unwrap_or_default();
        let (word, parts) = match token.class {
            TokenClass::Word => (Some(text), None),
            TokenClass::Key | TokenClass::Prose => (None, Some(braced_words(text))),
            _ => (None, None),
        };
        word.into_iter().chain(parts.into_iter().flatten())
    })
}

/// The words of what stands between braces in a string.
fn braced_words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split('{').skip(1);
    let inside = parts.filter_map(|part| part.split('}').next());
    let apart = |c: char| !(c.is_alphanumeric() || c == '_');
    let words = inside.flat_map(move |part| part.split(apart));
    words.filter(|word| !word.is_empty())
}
