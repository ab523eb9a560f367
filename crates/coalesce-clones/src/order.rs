//! The order of a page: what acting on a class is worth, how much comes first, and which classes stand inside
//! of larger ones.

use std::collections::BTreeSet;

use coalesce_model::{LanguageKind, TreePath, envelope::DuplicateKind};
use rustc_hash::FxHashMap;

use crate::{
    chapters::Chapter,
    common, opposites,
    report::{Duplicate, Member},
    source,
};

/// What acting on a class is worth, for the order of a page: of what the program does how likely it is welcome, as odds, and less for
/// functions that differ in their operation alone; of all others lines and likelihood. Half as much again where a GPU is called.
#[must_use]
pub fn worth(class: &Duplicate) -> f32 {
    let sought = if class.gpu { 1.5 } else { 1.0 };
    let odds = |likely: f32| likely / (1.0 - likely);
    if let (Some(acting), false) = (class.acting(), class.kind == DuplicateKind::Idiom) {
        let own = if are_operations(class) {
            OPERATIONS
        } else {
            1.0
        };
        return odds(acting.min(SURE)) * own * sought;
    }
    let likely = match class.kind {
        // What an idiom has in common is a question, not a text.
        DuplicateKind::Idiom => EVEN,
        _ => class.likelihood.unwrap_or(EVEN),
    };
    (class.removable_lines as f32).sqrt() * odds(likely.min(LIKELY)) * sought
}

/// Operations that are written alike, one function each, are merged by who is at them anyway.
const OPERATIONS: f32 = 0.6;
/// The most that a likelihood counts as.
const LIKELY: f32 = 0.95;
const SURE: f32 = 0.995;
/// The likelihood of what nobody has measured.
const EVEN: f32 = 0.5;

/// Classes that a page begins with at most.
const FIRST: usize = 10;

/// Leaves in the first chapter of a ranked list what is worth most: a list of a hundred is none of what to do
/// first. What stands inside of a larger class goes with it.
pub fn put_first(classes: &mut [Duplicate]) {
    let is_asked = |class: &&mut Duplicate| {
        class.chapter == Chapter::Product && class.kind != DuplicateKind::Idiom
    };
    let (mut shown, mut later) = (0, BTreeSet::new());
    let outer = classes.iter_mut().filter(|class| class.inside.is_none());
    for class in outer.filter(is_asked) {
        if shown < FIRST {
            shown += 1;
        } else {
            class.chapter = Chapter::Next;
            later.insert(class.id.clone());
        }
    }
    for class in classes.iter_mut().filter(is_asked) {
        if class.inside.as_ref().is_some_and(|id| later.contains(id)) {
            class.chapter = Chapter::Next;
        }
    }
    classes.sort_by_key(|class| class.chapter);
}

/// Lines that a passage may stand out of another one that is told before it.
const EDGE: u32 = 2;

/// A member of a class, in its file.
struct PlaceOfClass {
    class: usize,
    member: usize,
    lines: (u32, u32),
}

impl PlaceOfClass {
    /// Whether it holds these lines and more, `edge` lines at both ends aside.
    fn holds(&self, inner: (u32, u32), edge: u32) -> bool {
        let (first, last) = self.lines;
        self.lines != inner && first <= inner.0 + edge && inner.1 <= last + edge
    }
}

/// The members of classes by file; without those of idioms: what one has in common is a question, not a text.
struct ByPath<'d> {
    classes: &'d [Duplicate],
    places: FxHashMap<&'d TreePath, Vec<PlaceOfClass>>,
}

/// Names for what is left of a family the class that comes first of it: one that shares a place with it, overlaps it
/// in all of its places, stands in all of its own, has functions of its own name in other files, or stands in the very
/// same files, if these are several: whoever merges one of them sees to the others. What is plainly one text itself goes with no class that is a
/// relative of a relative.
pub fn name_families(classes: &mut [Duplicate]) {
    let heads = heads_of_families(classes);
    let id = |head: Option<usize>| Some(classes.get(head?)?.id.clone());
    let heads: Vec<Option<String>> = heads.into_iter().map(id).collect();
    for (class, head) in classes.iter_mut().zip(heads) {
        class.inside = head.or(class.inside.take());
    }
}

/// For each class the one that comes first of its family, where another one does.
fn heads_of_families(classes: &[Duplicate]) -> Vec<Option<usize>> {
    let by_path = ByPath::new(classes);
    let names = ByName::new(classes);
    let files = ByFiles::new(classes);
    let mut heads: Vec<Option<usize>> = Vec::with_capacity(classes.len());
    for (at, class) in classes.iter().enumerate() {
        let is_plain = matches!(class.chapter, Chapter::Product | Chapter::Next);
        let before = by_path.relatives(at, class).into_iter();
        let before = before.chain(names.relatives(at, class));
        let before = before.chain(files.relatives(at, class));
        let head = before.filter_map(|other| match heads.get(other)? {
            Some(head) => (!is_plain).then_some(*head),
            None => Some(other),
        });
        let head = head.min().filter(|_| is_head(class));
        heads.push(head);
    }
    heads
}

/// A name that more functions have is everybody's.
const OWN_NAME: u32 = 4;

/// Classes of functions that have one name which is their own, by that name.
struct ByName(FxHashMap<(LanguageKind, String), Vec<usize>>);

impl ByName {
    fn new(classes: &[Duplicate]) -> Self {
        let mut names: FxHashMap<(LanguageKind, String), Vec<usize>> = FxHashMap::default();
        for (at, class) in classes.iter().enumerate() {
            if let Some(name) = own_name(class).filter(|_| is_head(class)) {
                let key = (class.language, name.to_owned());
                names.entry(key).or_default().push(at);
            }
        }
        Self(names)
    }

    /// Those before a class that have its name.
    fn relatives(&self, at: usize, class: &Duplicate) -> impl Iterator<Item = usize> {
        let key = own_name(class).map(|name| (class.language, name.to_owned()));
        let same = key.and_then(|key| self.0.get(&key));
        let same = same.into_iter().flatten().copied();
        same.filter(move |other| *other < at)
    }
}

/// Classes of several files, by these files.
struct ByFiles<'d>(FxHashMap<BTreeSet<&'d TreePath>, Vec<usize>>);

impl<'d> ByFiles<'d> {
    fn new(classes: &'d [Duplicate]) -> Self {
        let mut files: FxHashMap<BTreeSet<&TreePath>, Vec<usize>> = FxHashMap::default();
        for (at, class) in classes.iter().enumerate() {
            let own = files_of(class);
            if own.len() > 1 && is_head(class) {
                files.entry(own).or_default().push(at);
            }
        }
        Self(files)
    }

    /// Those before a class that stand in its files, and in no others.
    fn relatives(&self, at: usize, class: &Duplicate) -> Vec<usize> {
        let same = self.0.get(&files_of(class));
        let same = same.map_or(&[][..], Vec::as_slice).iter().copied();
        same.take_while(|other| *other < at).collect()
    }
}

fn files_of(class: &Duplicate) -> BTreeSet<&TreePath> {
    class.members.iter().map(|member| &member.path).collect()
}

/// The names of the members of a class, without what they stand in.
fn last_names(class: &Duplicate) -> impl Iterator<Item = &str> {
    let separator = class.language.separator();
    let last = move |item: &str| item.rfind(separator).map_or(0, |at| at + separator.len());
    let names = class.members.iter().map(|member| member.item.as_str());
    names.map(move |item| item.get(last(item)..).unwrap_or(""))
}

/// Whether the names of functions differ, and only in which operation they are.
fn are_operations(class: &Duplicate) -> bool {
    let names: BTreeSet<&str> = last_names(class).collect();
    let mut names = names.into_iter();
    let first = names.next().unwrap_or("");
    let mut others = names.peekable();
    class.kind == DuplicateKind::Function
        && others.peek().is_some()
        && others.all(|other| opposites::are_operators(first, other))
}

/// The one name of the functions of a class, where few functions have it.
fn own_name(class: &Duplicate) -> Option<&str> {
    let mut names = last_names(class);
    let first = names.next()?;
    let is_own = || common::namesakes(class.language, source::id_of(first.as_bytes())) <= OWN_NAME;
    let is_function = class.kind == DuplicateKind::Function && !first.is_empty();
    (is_function && names.all(|name| name == first) && is_own()).then_some(first)
}

/// Whether a class may come first of a family.
fn is_head(class: &Duplicate) -> bool {
    class.inside.is_none() && class.chapter.is_of_program() && class.kind != DuplicateKind::Idiom
}

/// Names for each class the one that it stands inside of: each of its members in a member of it, and not all
/// in one. What stands in a later chapter surrounds nothing: it would take along what comes first.
pub fn name_surrounding(classes: &mut [Duplicate]) {
    let by_path = ByPath::new(classes);
    let around = (0..).zip(&*classes).map(|(at, class)| {
        let outer = classes.get(by_path.around(at, class)?)?;
        Some(outer.id.clone())
    });
    let around: Vec<Option<String>> = around.collect();
    for (class, around) in classes.iter_mut().zip(around) {
        class.inside = around;
    }
}

impl<'d> ByPath<'d> {
    fn new(classes: &'d [Duplicate]) -> Self {
        let mut places: FxHashMap<&TreePath, Vec<PlaceOfClass>> = FxHashMap::default();
        let texts = (0..).zip(classes);
        let texts = texts.filter(|(_, class)| class.kind != DuplicateKind::Idiom);
        let members =
            texts.flat_map(|(at, class)| (0..).zip(&class.members).map(move |one| (at, one)));
        for (class, (member, place)) in members {
            places.entry(&place.path).or_default().push(PlaceOfClass {
                class,
                member,
                lines: place.lines,
            });
        }
        Self { classes, places }
    }

    fn of(&self, member: &Member) -> &[PlaceOfClass] {
        self.places.get(&member.path).map_or(&[][..], Vec::as_slice)
    }

    /// The first class that a class stands inside of.
    fn around(&self, at: usize, class: &Duplicate) -> Option<usize> {
        let first = class.members.first()?;
        let edge = |outer: usize| Self::edge(at, class, outer);
        let is_told = |outer: usize| {
            let outer = self.classes.get(outer);
            outer.is_some_and(|outer| outer.chapter <= class.chapter)
        };
        let places = self.of(first).iter().filter(|place| {
            let holds = place.holds(first.lines, edge(place.class));
            place.class != at && holds && is_told(place.class)
        });
        let mut outer: Vec<usize> = places.map(|place| place.class).collect();
        outer.dedup();
        let mut outer = outer.into_iter();
        outer.find(|outer| self.hold(*outer, class, edge(*outer)))
    }

    /// Classes before one, of its kind, that share a place with it; of passages also those where each place of one
    /// overlaps a place of the other.
    fn relatives(&self, at: usize, class: &Duplicate) -> Vec<usize> {
        let are_passages = class.kind == DuplicateKind::Block && class.members.len() <= OVERLAPPED;
        let is_near = |member: &Member, place: &PlaceOfClass| {
            place.lines == member.lines || (are_passages && overlap(member.lines, place.lines))
        };
        let near = class.members.iter().flat_map(|member| {
            let near = self.of(member).iter();
            near.filter(move |place| place.class < at && is_near(member, place))
                .map(move |place| (place.class, place.lines == member.lines))
        });
        let mut near: Vec<(usize, bool)> = near.collect();
        // What shares a place comes before what only overlaps.
        near.sort_unstable_by_key(|(other, shares)| (*other, !shares));
        near.dedup_by_key(|(other, _)| *other);
        near.retain(|(other, shares)| {
            let other = self.classes.get(*other);
            let other = other.filter(|other| is_head(other) && other.kind == class.kind);
            other.is_some_and(|other| *shares || overlap_throughout(class, other))
        });
        let mut near: Vec<usize> = near.into_iter().map(|(other, _)| other).collect();
        near.extend(self.within(at, class));
        near
    }

    /// Classes before one that have a place in each of its places: it is the same work once more, with what is around it.
    fn within(&self, at: usize, class: &Duplicate) -> Vec<usize> {
        let inner = |member: &Member| -> BTreeSet<usize> {
            let places = self.of(member).iter().filter(|place| {
                let is_inside = member.lines.0 <= place.lines.0 && place.lines.1 <= member.lines.1;
                place.class < at && is_inside
            });
            places.map(|place| place.class).collect()
        };
        let each = class.members.iter().map(inner);
        let both = each.reduce(|all, own| &all & &own).unwrap_or_default();
        let is_told = |at: &usize| self.classes.get(*at).is_some_and(is_head);
        both.into_iter().filter(is_told).collect()
    }

    /// How many lines may stand out: of passages a line or two where a longer list of places comes first.
    fn edge(at: usize, class: &Duplicate, outer: usize) -> u32 {
        if class.kind == DuplicateKind::Block && outer < at {
            EDGE
        } else {
            0
        }
    }

    /// Whether each member of a class stands in a member of this one, and not all in one.
    fn hold(&self, outer: usize, class: &Duplicate, edge: u32) -> bool {
        let place = |inner: &Member| {
            let mut places = self.of(inner).iter();
            let found =
                places.find(|place| place.class == outer && place.holds(inner.lines, edge))?;
            Some(found.member)
        };
        let members: Option<BTreeSet<usize>> = class.members.iter().map(place).collect();
        members.is_some_and(|members| members.len() > 1)
    }
}

/// Places of passages that are held against each other one by one.
const OVERLAPPED: usize = 64;

/// Whether each place of one of two classes overlaps a place of the other.
fn overlap_throughout(one: &Duplicate, other: &Duplicate) -> bool {
    let is_in = |few: &Duplicate, many: &Duplicate| {
        few.members.iter().all(|member| {
            let mut around = many.members.iter();
            around.any(|around| around.path == member.path && overlap(member.lines, around.lines))
        })
    };
    other.members.len() <= OVERLAPPED && (is_in(one, other) || is_in(other, one))
}

/// Whether half of the shorter of two places, by their lines, is in the other.
fn overlap(one: (u32, u32), other: (u32, u32)) -> bool {
    let length = |lines: (u32, u32)| lines.1 - lines.0 + 1;
    let (first, last) = (one.0.max(other.0), one.1.min(other.1));
    last >= first && 2 * length((first, last)) >= length(one).min(length(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merging::Measure;

    /// A class of two places by which so many tokens would go.
    fn class(id: usize, common: f32, inside: Option<usize>) -> Duplicate {
        Duplicate {
            id: id.to_string(),
            kind: DuplicateKind::Function,
            language: LanguageKind::Python,
            members: vec![
                Member {
                    path: TreePath::new("a.py").expect("it is a path"),
                    item: String::new(),
                    lines: (1, 9),
                    start: 0,
                };
                2
            ],
            similarity: 1.0,
            likelihood: None,
            measure: Some(Measure {
                share: 1.0,
                common,
                ..Measure::default()
            }),
            removable_lines: 9,
            differences: Vec::new(),
            gpu: false,
            title: String::new(),
            chapter: Chapter::Product,
            inside: inside.map(|id| id.to_string()),
        }
    }

    fn first(classes: &mut [Duplicate]) -> usize {
        put_first(classes);
        let is_first = |class: &&Duplicate| class.chapter == Chapter::Product;
        classes.iter().take_while(is_first).count()
    }

    #[test]
    fn a_page_begins_with_what_is_worth_most() {
        let large =
            |count| -> Vec<Duplicate> { (0..count).map(|id| class(id, 900.0, None)).collect() };
        let small =
            |count| -> Vec<Duplicate> { (0..count).map(|id| class(id, 80.0, None)).collect() };
        for (mut classes, expected) in [
            (large(3), 3),
            (large(40), 10),
            (small(3), 3),
            (small(40), 10),
        ] {
            let count = classes.len();
            assert_eq!(first(&mut classes), expected, "of {count}");
            assert_eq!(classes.len(), count);
        }
    }

    /// A path and lines in it.
    type At = (&'static str, (u32, u32));

    /// A class of these places.
    fn placed(id: usize, kind: DuplicateKind, chapter: Chapter, places: &[At]) -> Duplicate {
        let member = |(path, lines): &At| Member {
            path: TreePath::new(path).expect("it is a path"),
            item: "T.run".to_owned(),
            lines: *lines,
            start: 0,
        };
        Duplicate {
            kind,
            chapter,
            members: places.iter().map(member).collect(),
            ..class(id, 900.0, None)
        }
    }

    /// For each class the one that it is told with.
    fn heads(mut classes: Vec<Duplicate>) -> Vec<Option<String>> {
        name_families(&mut classes);
        classes.into_iter().map(|class| class.inside).collect()
    }

    #[test]
    fn what_is_left_of_a_family_is_told_with_what_comes_first_of_it() {
        let [a, b, c, d] = [
            ("a.py", (1, 9)),
            ("b.py", (1, 9)),
            ("c.py", (1, 9)),
            ("d.py", (1, 9)),
        ];
        let function =
            |id, chapter, places: &[_]| placed(id, DuplicateKind::Function, chapter, places);
        let first = || function(0, Chapter::Product, &[a, b]);
        let told = |list: &[Option<&str>]| -> Vec<Option<String>> {
            list.iter().map(|head| head.map(str::to_owned)).collect()
        };
        assert_eq!(
            heads(vec![
                first(),
                function(1, Chapter::Alike, &[b, c]),
                function(2, Chapter::Alike, &[c, d]),
                function(3, Chapter::Tests, &[b, d]),
            ]),
            told(&[None, Some("0"), Some("0"), None])
        );
        // What is plainly one text itself is no relative's relative.
        assert_eq!(
            heads(vec![
                function(0, Chapter::Next, &[a, b]),
                function(1, Chapter::Next, &[b, c]),
                function(2, Chapter::Next, &[c, d]),
            ]),
            told(&[None, Some("0"), None])
        );
        // Nor is it told with what has its work in other files: in the very same ones it is.
        let others = [("a.py", (20, 29)), ("b.py", (20, 29))];
        assert_eq!(
            heads(vec![
                first(),
                function(1, Chapter::Product, &others),
                function(2, Chapter::Product, &[others[0], ("e.py", (1, 9))]),
                function(
                    3,
                    Chapter::Product,
                    &[("a.py", (30, 39)), ("a.py", (40, 49))]
                ),
            ]),
            told(&[None, Some("0"), None, None])
        );
        // What stands around a place of it in all of its own goes with it, whatever its kind.
        assert_eq!(
            heads(vec![
                function(0, Chapter::Product, &[a, b, c]),
                placed(
                    1,
                    DuplicateKind::Class,
                    Chapter::Product,
                    &[("a.py", (1, 20)), ("c.py", (1, 20))],
                ),
            ]),
            told(&[None, Some("0")])
        );
        // Another kind says another thing.
        assert_eq!(
            heads(vec![
                first(),
                placed(1, DuplicateKind::Class, Chapter::Alike, &[b, c]),
            ]),
            told(&[None, None])
        );
    }

    #[test]
    fn functions_that_differ_in_their_operation_are_told_later() {
        let named = |one: &str, other: &str| {
            let mut class = class(0, 900.0, None);
            for (member, name) in class.members.iter_mut().zip([one, other]) {
                member.item = name.to_owned();
            }
            class
        };
        let [operations, others] = [named("M.min", "M.max"), named("M.read", "M.fill")];
        assert!(worth(&operations) < worth(&others));
        assert!((worth(&named("M.min", "N.min")) - worth(&others)).abs() < f32::EPSILON);
    }

    #[test]
    fn passages_that_overlap_in_all_places_are_told_once() {
        let block = |id, places: &[At]| placed(id, DuplicateKind::Block, Chapter::Alike, places);
        let cases: [(&[At], Option<&str>); 4] = [
            (&[("a.py", (8, 20)), ("b.py", (48, 60))], Some("0")),
            (
                &[("a.py", (8, 20)), ("b.py", (48, 60)), ("c.py", (1, 13))],
                Some("0"),
            ),
            (
                &[("a.py", (19, 40)), ("b.py", (59, 80)), ("d.py", (1, 22))],
                None,
            ),
            (&[("a.py", (8, 20)), ("c.py", (48, 60))], None),
        ];
        for (places, expected) in cases {
            let first = block(0, &[("a.py", (1, 20)), ("b.py", (41, 60))]);
            let told = heads(vec![first, block(1, places)]);
            assert_eq!(
                told.last().cloned().flatten().as_deref(),
                expected,
                "{places:?}"
            );
        }
    }

    #[test]
    fn what_stands_inside_of_a_larger_class_takes_no_place_and_goes_with_it() {
        let mut classes: Vec<Duplicate> = (0..11).map(|id| class(id, 900.0, None)).collect();
        classes.insert(0, class(20, 800.0, Some(0)));
        classes.insert(0, class(21, 800.0, Some(10)));
        assert_eq!(first(&mut classes), 11);
        let later: Vec<&str> = classes.iter().skip(11).map(|class| &*class.id).collect();
        assert_eq!(later, ["21", "10"]);
    }
}
