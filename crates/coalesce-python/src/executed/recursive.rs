//! Verdicts about definitions that may name each other, and themselves.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

/// Deeper chains of definitions count as unknown.
pub const MAXIMUM_DEPTH: usize = 16;

/// A definition: its module, and its name there.
pub type Definition = (usize, String);

/// Which definitions are as somebody asks, each read once.
///
/// What names itself is no worse for that: a definition that is still being read counts as good. What leans on that is
/// good only if the other one turns out to be.
#[derive(Default)]
pub struct RecursiveVerdicts {
    known: RefCell<FxHashMap<Definition, Verdict>>,
    /// Those that are being read, outermost first.
    open: RefCell<Vec<Definition>>,
    /// Good ones that lean on an open one, in the order in which they were found.
    leaning: RefCell<Vec<Definition>>,
    /// The outermost of the open ones that was counted as good since the innermost was begun.
    leans_on: Cell<Option<usize>>,
    depth: DepthLimit,
}

/// How deep definitions are read that lead to each other.
#[derive(Default)]
pub struct DepthLimit(Cell<usize>);

impl DepthLimit {
    /// What `read` gives; nothing where too much is being read already.
    pub fn deeper<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let depth = self.0.get();
        if depth >= MAXIMUM_DEPTH {
            return None;
        }
        self.0.set(depth + 1);
        let found = read();
        self.0.set(depth);
        Some(found)
    }
}

#[derive(Clone, Copy)]
struct Verdict {
    good: bool,
    /// The outermost of the open ones that it counts as good.
    leans_on: Option<usize>,
}

impl RecursiveVerdicts {
    /// The verdict of `read`, or what is known.
    pub fn decide(&self, definition: Definition, read: impl FnOnce() -> bool) -> bool {
        if let Some(good) = self.known_good(&definition) {
            return good;
        }
        let outer = self.leans_on.take();
        let before = self.leaning.borrow().len();
        let own = self.open.borrow().len();
        self.open.borrow_mut().push(definition.clone());
        let good = self.deeper(read).unwrap_or(false);
        self.open.borrow_mut().pop();
        let leans_on = self.leans_on.replace(outer).filter(|on| good && *on < own);
        self.settle(before, good, leans_on);
        if leans_on.is_some() {
            self.lean_on(leans_on);
            self.leaning.borrow_mut().push(definition.clone());
        }
        let verdict = Verdict { good, leans_on };
        self.known.borrow_mut().insert(definition, verdict);
        good
    }

    /// What is known of a definition, or counts as known while it is being read.
    fn known_good(&self, definition: &Definition) -> Option<bool> {
        if let Some(known) = self.known.borrow().get(definition).copied() {
            self.lean_on(known.leans_on);
            return Some(known.good);
        }
        let open = self
            .open
            .borrow()
            .iter()
            .position(|one| one == definition)?;
        self.lean_on(Some(open));
        Some(true)
    }

    /// What `read` gives; nothing where too much is being read already.
    pub fn deeper<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        self.depth.deeper(read)
    }

    fn lean_on(&self, other: Option<usize>) {
        let both = self.leans_on.get().into_iter().chain(other);
        self.leans_on.set(both.min());
    }

    /// What was found on the way to a verdict and leans on it is as good as that.
    fn settle(&self, before: usize, good: bool, leans_on: Option<usize>) {
        if leans_on.is_some() {
            return;
        }
        let mut known = self.known.borrow_mut();
        for definition in self.leaning.borrow_mut().drain(before..) {
            if !good {
                known.remove(&definition);
            } else if let Some(verdict) = known.get_mut(&definition) {
                verdict.leans_on = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which definitions name which, and which are bad by themselves.
    struct Program {
        names: Vec<Vec<usize>>,
        bad: Vec<usize>,
    }

    impl Program {
        fn is_good(&self, verdicts: &RecursiveVerdicts, at: usize) -> bool {
            verdicts.decide((at, String::new()), || {
                let all = self.names.get(at).into_iter().flatten();
                let bad = all.filter(|other| !self.is_good(verdicts, **other));
                // All are asked, as a reader does that goes on to tell the first reason.
                bad.count() == 0 && !self.bad.contains(&at)
            })
        }
    }

    #[test]
    fn what_leans_on_a_bad_one_is_bad() {
        // 0 names 1, which names 0 again; 0 is bad by itself.
        let program = Program {
            names: vec![vec![1], vec![0]],
            bad: vec![0],
        };
        let verdicts = RecursiveVerdicts::default();
        assert!(!program.is_good(&verdicts, 0));
        assert!(!program.is_good(&verdicts, 1));
    }

    #[test]
    fn what_names_only_good_ones_is_good() {
        let program = Program {
            names: vec![vec![1], vec![2, 0], vec![1]],
            bad: vec![],
        };
        let verdicts = RecursiveVerdicts::default();
        assert!((0..3).all(|at| program.is_good(&verdicts, at)));
    }

    #[test]
    fn the_order_of_questions_decides_nothing() {
        // Every program of four definitions that each name two, with one bad one.
        for program in 0..4_usize.pow(8) {
            let other = |at: usize| program / 4_usize.pow(u32::try_from(at).unwrap_or(0)) % 4;
            let program = Program {
                names: (0..4)
                    .map(|at| vec![other(2 * at), other(2 * at + 1)])
                    .collect(),
                bad: vec![3],
            };
            let forwards = RecursiveVerdicts::default();
            let asked: Vec<bool> = (0..4).map(|at| program.is_good(&forwards, at)).collect();
            let alone = (0..4).map(|at| program.is_good(&RecursiveVerdicts::default(), at));
            assert_eq!(asked, alone.collect::<Vec<bool>>());
        }
    }
}
