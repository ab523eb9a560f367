//! The names of a space and what they lead to.
//!
//! Most names lead to one thing, and a glob import copies thousands of them: one binding lies in the
//! table itself, only several have a list. Nothing is looked up here beyond the name.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::world::{Binding, Reach, Sym};

/// Bindings by name. A name that is there has at least one.
#[derive(Debug, Default)]
pub(crate) struct Names {
    slots: FxHashMap<Sym, Slot>,
    /// What the names with several bindings lead to, each list in the order of coming.
    several: Vec<Vec<Binding>>,
    /// What globs hand on, each thing once, in the order of coming: `None` until one asks.
    handed_on: Option<Vec<(Sym, Binding)>>,
}

/// So many globs that bring the same thing by the same name into a space are told apart: of a hundred
/// modules that all have globs of each other, each name would come by a hundred.
const MOST_GLOBS: usize = 8;

/// So many bindings of one name in a space are kept, by conditions there may be several, and as many
/// again of those that lead to something else. With so many, a look finds more than it can say, and
/// answers that it does not know.
const MOST_BINDINGS: usize = 256;

#[derive(Debug)]
enum Slot {
    One(Binding),
    /// Index into [`Names::several`].
    Several(u32),
}

impl Names {
    /// The bindings of a name; `None` when it has none.
    pub fn get(&self, name: &Sym) -> Option<&[Binding]> {
        Some(self.bindings(self.slots.get(name)?))
    }

    pub fn contains_key(&self, name: &Sym) -> bool {
        self.slots.contains_key(name)
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// All names with their bindings, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&Sym, &[Binding])> {
        let slots = self.slots.iter();
        slots.map(|(name, slot)| (name, self.bindings(slot)))
    }

    /// The names that have several bindings, with these, in no order.
    pub fn several(&self) -> impl Iterator<Item = (&Sym, &[Binding])> {
        self.iter().filter(|(_, bindings)| bindings.len() > 1)
    }

    /// The bindings of each name, in no order.
    pub fn values(&self) -> impl Iterator<Item = &[Binding]> {
        self.slots.values().map(|slot| self.bindings(slot))
    }

    /// Adds a binding, or widens the one that is the same but for namespaces and reach; whether that
    /// is news. A binding by a glob that adds nothing to many others is not kept.
    pub fn bind(&mut self, name: Sym, binding: Binding) -> bool {
        let (changed, is_news) = self.add(name, binding);
        if let Some(handed_on) = self.handed_on.as_mut().filter(|_| is_news) {
            handed_on.push((name, binding));
        }
        changed
    }

    /// What a glob brings that has taken the first `taken` of it before: all names, and then what
    /// came since a glob asked for the first time, in the order of coming.
    pub fn not_handed_on(&mut self, taken: usize) -> &[(Sym, Binding)] {
        if self.handed_on.is_none() {
            let named = self.iter().flat_map(|(name, bindings)| {
                let distinct = bindings.iter().enumerate().filter(|(at, one)| {
                    let mut before = bindings.iter().take(*at);
                    !before.any(|other| covers(other, one))
                });
                distinct.map(|(_, one)| (*name, *one))
            });
            let mut all: Vec<(Sym, Binding)> = named.collect();
            all.sort_by_key(|(name, _)| *name);
            self.handed_on = Some(all);
        }
        let all = self.handed_on.as_deref().unwrap_or_default();
        all.get(taken..).unwrap_or_default()
    }

    /// Ends the noting of what globs hand on.
    pub fn forget_handed_on(&mut self) {
        self.handed_on = None;
    }

    /// Whether something changed, and whether a glob of these names would pass on anything new.
    fn add(&mut self, name: Sym, binding: Binding) -> (bool, bool) {
        let mut entry = match self.slots.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(Slot::One(binding));
                return (true, true);
            }
            Entry::Occupied(entry) => entry,
        };
        let known = match entry.get_mut() {
            Slot::One(known) => std::slice::from_mut(known),
            Slot::Several(at) => list(&mut self.several, *at),
        };
        let is_news = !known.iter().any(|known| covers(known, &binding));
        if let Some(same) = known.iter_mut().find(|known| is_same(known, &binding)) {
            return (widen(same, &binding), is_news);
        }
        if binding.glob && !is_news && known.len() >= MOST_GLOBS {
            let of_globs = known
                .iter()
                .filter(|known| known.glob && known.res == binding.res);
            if of_globs.count() >= MOST_GLOBS {
                return (false, false);
            }
        }
        let most = if is_news {
            2 * MOST_BINDINGS
        } else {
            MOST_BINDINGS
        };
        if known.len() >= most {
            return (false, false);
        }
        match entry.get_mut() {
            Slot::One(known) => {
                let at = u32::try_from(self.several.len())
                    .expect("invariant: names are numbered by 32 bits");
                self.several.push(vec![*known, binding]);
                entry.insert(Slot::Several(at));
            }
            Slot::Several(at) => list(&mut self.several, *at).push(binding),
        }
        (true, is_news)
    }

    fn bindings<'n>(&'n self, slot: &'n Slot) -> &'n [Binding] {
        bindings(&self.several, slot)
    }
}

fn bindings<'n>(several: &'n [Vec<Binding>], slot: &'n Slot) -> &'n [Binding] {
    match slot {
        Slot::One(binding) => std::slice::from_ref(binding),
        Slot::Several(at) => several
            .get(*at as usize)
            .expect("invariant: a slot points to a list"),
    }
}

fn list(several: &mut [Vec<Binding>], at: u32) -> &mut Vec<Binding> {
    several
        .get_mut(at as usize)
        .expect("invariant: a slot points to a list")
}

/// Whether a glob that takes `known` brings all that it brings by `new`: which import it came by is
/// not passed on.
fn covers(known: &Binding, new: &Binding) -> bool {
    known.res == new.res
        && (known.reach == Reach::Public || known.reach == new.reach)
        && known.namespaces.or(new.namespaces) == known.namespaces
}

fn is_same(known: &Binding, new: &Binding) -> bool {
    known.res == new.res && known.glob == new.glob && known.import == new.import
}

fn widen(known: &mut Binding, new: &Binding) -> bool {
    let both = known.namespaces.or(new.namespaces);
    let wider = new.reach == Reach::Public && known.reach != Reach::Public;
    let changed = both != known.namespaces || wider;
    known.namespaces = both;
    if wider {
        known.reach = Reach::Public;
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        facts::Namespaces,
        resolve::{ItemId, Res},
    };

    fn binding(item: u32, namespaces: Namespaces, reach: Reach) -> Binding {
        Binding {
            res: Res::Item(ItemId(item)),
            namespaces,
            reach,
            import: None,
            glob: false,
        }
    }

    #[test]
    fn what_is_the_same_is_widened_and_what_is_not_is_added() {
        let private = Reach::Within(crate::resolve::ModuleId(0));
        let mut names = Names::default();
        // Item, namespaces, reach; whether it is news; how many bindings there are then.
        for (item, namespaces, reach, news, count) in [
            (1, Namespaces::TYPE, private, true, 1),
            (1, Namespaces::TYPE, private, false, 1),
            (1, Namespaces::VALUE, private, true, 1),
            (1, Namespaces::TYPE, Reach::Public, true, 1),
            (2, Namespaces::TYPE, private, true, 2),
            (2, Namespaces::TYPE, private, false, 2),
            (3, Namespaces::MACRO, private, true, 3),
            (1, Namespaces::TYPE, private, false, 3),
        ] {
            let new = binding(item, namespaces, reach);
            assert_eq!(names.bind(Sym(7), new), news, "{item}");
            assert_eq!(names.get(&Sym(7)).map(<[_]>::len), Some(count), "{item}");
        }
        assert!(names.get(&Sym(8)).is_none() && !names.contains_key(&Sym(8)));
        assert_eq!(names.values().flatten().count(), 3);
        let order: Vec<Res> = names
            .get(&Sym(7))
            .unwrap()
            .iter()
            .map(|one| one.res)
            .collect();
        assert_eq!(order, [1, 2, 3].map(|item| Res::Item(ItemId(item))));
    }

    fn of_glob(import: u32) -> Binding {
        Binding {
            import: Some((crate::resolve::FileId(0), import)),
            glob: true,
            ..binding(1, Namespaces::TYPE, Reach::Public)
        }
    }

    #[test]
    fn of_globs_that_bring_the_same_some_are_kept() {
        let mut names = Names::default();
        for import in 0..30 {
            let kept = import < u32::try_from(MOST_GLOBS).unwrap();
            assert_eq!(names.bind(Sym(7), of_glob(import)), kept, "{import}");
        }
        assert_eq!(names.get(&Sym(7)).map(<[_]>::len), Some(MOST_GLOBS));
        // What is news by any measure is kept all the same.
        let both = Namespaces::TYPE.or(Namespaces::VALUE);
        let wider = Binding {
            namespaces: both,
            ..of_glob(40)
        };
        assert!(names.bind(Sym(7), wider));
        let other = Binding {
            res: Res::Item(ItemId(2)),
            ..of_glob(41)
        };
        assert!(names.bind(Sym(7), other));
    }

    #[test]
    fn of_one_name_some_bindings_are_kept() {
        let mut names = Names::default();
        let of_import = |import: u32, item| Binding {
            import: Some((crate::resolve::FileId(0), import)),
            ..binding(item, Namespaces::TYPE, Reach::Public)
        };
        let most = u32::try_from(MOST_BINDINGS).unwrap();
        for import in 0..most + 20 {
            assert_eq!(names.bind(Sym(7), of_import(import, 1)), import < most);
        }
        for item in 2..most + 20 {
            let kept = item < most + 2;
            assert_eq!(names.bind(Sym(7), of_import(item, item)), kept, "{item}");
        }
    }

    #[test]
    fn globs_take_all_names_once_and_then_what_came() {
        let mut names = Names::default();
        for import in 0..3 {
            names.bind(Sym(7), of_glob(import));
        }
        names.bind(Sym(3), of_glob(0));
        let handed_on = |names: &mut Names, taken| {
            let all = names.not_handed_on(taken).iter();
            all.map(|(name, _)| name.0).collect::<Vec<_>>()
        };
        assert_eq!(handed_on(&mut names, 0), [3, 7], "the same thing once");
        names.bind(Sym(7), of_glob(5));
        assert!(
            handed_on(&mut names, 2).is_empty(),
            "nothing that a glob would pass on"
        );
        names.bind(Sym(9), of_glob(5));
        let private = binding(
            4,
            Namespaces::TYPE,
            Reach::Within(crate::resolve::ModuleId(0)),
        );
        names.bind(Sym(7), private);
        names.bind(
            Sym(7),
            Binding {
                reach: Reach::Public,
                ..private
            },
        );
        assert_eq!(
            handed_on(&mut names, 2),
            [9, 7, 7],
            "what is wider comes again"
        );
    }
}
