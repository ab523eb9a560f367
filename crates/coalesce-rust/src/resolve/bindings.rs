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
}

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

    /// The bindings of each name, in no order.
    pub fn values(&self) -> impl Iterator<Item = &[Binding]> {
        self.slots.values().map(|slot| self.bindings(slot))
    }

    /// Adds a binding, or widens the one that is the same but for namespaces and reach; whether that
    /// is news.
    pub fn bind(&mut self, name: Sym, binding: Binding) -> bool {
        let mut entry = match self.slots.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(Slot::One(binding));
                return true;
            }
            Entry::Occupied(entry) => entry,
        };
        let known = match entry.get_mut() {
            Slot::One(known) => std::slice::from_mut(known),
            Slot::Several(at) => list(&mut self.several, *at),
        };
        if let Some(same) = known.iter_mut().find(|known| is_same(known, &binding)) {
            return widen(same, &binding);
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
        true
    }

    fn bindings<'n>(&'n self, slot: &'n Slot) -> &'n [Binding] {
        match slot {
            Slot::One(binding) => std::slice::from_ref(binding),
            Slot::Several(at) => self
                .several
                .get(*at as usize)
                .expect("invariant: a slot points to a list"),
        }
    }
}

fn list(several: &mut [Vec<Binding>], at: u32) -> &mut Vec<Binding> {
    several
        .get_mut(at as usize)
        .expect("invariant: a slot points to a list")
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
}
