//! Answers that take long, each worked out once.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// What is known of each key so far, also that there is nothing.
#[derive(Debug)]
pub struct Memo<Key, Value>(RefCell<BTreeMap<Key, Option<Rc<Value>>>>);

impl<Key: Copy + Ord, Value> Memo<Key, Value> {
    /// The answer of a key; `work_out` is asked the first time, and may ask for those of others.
    pub fn get(&self, key: Key, work_out: impl FnOnce() -> Option<Value>) -> Option<Rc<Value>> {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let found = work_out().map(Rc::new);
        self.0.borrow_mut().insert(key, found.clone());
        found
    }
}

impl<Key, Value> Default for Memo<Key, Value> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_worked_out_once() {
        let memo = Memo::default();
        let half =
            |number: u32| memo.get(number, || number.is_multiple_of(2).then_some(number / 2));
        assert_eq!(half(6).as_deref(), Some(&3));
        assert_eq!(half(5), None);
        let never = || unreachable!("it is known");
        assert_eq!(memo.get(6, never).as_deref(), Some(&3));
        assert_eq!(memo.get(5, || unreachable!("it is known")), None);
    }
}
