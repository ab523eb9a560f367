//! The order of a page: what acting on a class is worth, how much comes first, and which classes stand inside
//! of larger ones.

use std::collections::BTreeSet;

use coalesce_model::{TreePath, envelope::DuplicateKind};
use rustc_hash::FxHashMap;

use crate::{
    chapters::Chapter,
    merging::Measure,
    report::{Duplicate, Member},
    twins,
};

/// What acting on a class is worth, for the order of a page. Of what is plainly one text: the tokens that
/// would go, as their root, for nobody merges a thousand lines a hundred times as gladly as ten, and less
/// for each place where the texts part. Of all others how likely somebody wants it gone counts most, as
/// odds. Half as much again where a GPU is called.
#[must_use]
pub fn worth(class: &Duplicate) -> f32 {
    let sought = if class.gpu { 1.5 } else { 1.0 };
    if let (Chapter::Product | Chapter::Next, Some(measure)) = (class.chapter, class.measure) {
        let plain = measure.share * measure.share / (1.0 + measure.breaks / FEW_BREAKS);
        let decides = if measure.decisions < 1.0 { WIRING } else { 1.0 };
        let near = twins::are_in_one_package(&class.members);
        let near = if near { 1.0 } else { ACROSS_PACKAGES };
        return measure.gain(class.members.len()).sqrt() * plain * decides * near * sought;
    }
    let likely = match class.kind {
        // What an idiom has in common is a question, not a text.
        DuplicateKind::Idiom => EVEN,
        _ => class.merging().or(class.likelihood).unwrap_or(EVEN),
    };
    let likely = likely.min(SURE);
    (class.removable_lines as f32).sqrt() * likely / (1.0 - likely) * sought
}

/// With so many places where texts part, to merge them is worth half.
const FEW_BREAKS: f32 = 8.0;
/// What is in several packages needs one that all depend on.
const ACROSS_PACKAGES: f32 = 0.6;
/// What only hands things on is merged less gladly than what decides something.
const WIRING: f32 = 0.7;
/// The most that a likelihood counts as.
const SURE: f32 = 0.95;
/// The likelihood of what nobody has measured.
const EVEN: f32 = 0.5;

/// Classes that a page begins with at most, and from how many on only those by which much would go.
const FIRST: usize = 15;
const FIRST_FEW: usize = 5;
/// Tokens that are much: some fifteen lines.
const MUCH: f32 = 120.0;

/// Leaves in the first chapter of a ranked list what is worth most: a list of a hundred is none of what to do
/// first. What stands inside of a larger class goes with it.
pub fn put_first(classes: &mut [Duplicate]) {
    let is_asked = |class: &&mut Duplicate| {
        class.chapter == Chapter::Product && class.kind != DuplicateKind::Idiom
    };
    let (mut shown, mut later) = (0, BTreeSet::new());
    let outer = classes.iter_mut().filter(|class| class.inside.is_none());
    for class in outer.filter(is_asked) {
        if shown < FIRST_FEW || (shown < FIRST && is_much(class)) {
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

/// Whether much would go where one copy stays.
fn is_much(class: &Duplicate) -> bool {
    let gain = |measure: Measure| measure.gain(class.members.len());
    class.measure.is_some_and(|measure| gain(measure) >= MUCH)
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

#[cfg(test)]
mod tests {
    use super::*;
    use coalesce_model::LanguageKind;

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
            (large(40), 15),
            (small(3), 3),
            (small(40), 5),
        ] {
            let count = classes.len();
            assert_eq!(first(&mut classes), expected, "of {count}");
            assert_eq!(classes.len(), count);
        }
    }

    #[test]
    fn what_stands_inside_of_a_larger_class_takes_no_place_and_goes_with_it() {
        let mut classes: Vec<Duplicate> = (0..16).map(|id| class(id, 900.0, None)).collect();
        classes.insert(0, class(20, 800.0, Some(0)));
        classes.insert(0, class(21, 800.0, Some(15)));
        assert_eq!(first(&mut classes), 16);
        let later: Vec<&str> = classes.iter().skip(16).map(|class| &*class.id).collect();
        assert_eq!(later, ["21", "15"]);
    }
}
