//! How much is parsed at once. The tree of a text takes up to 300 times the length of a text that is all brackets; of many long files,
//! on many threads, that would be all of the memory. Files of the usual length never wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Texts of this many bytes together are parsed at once; of longer ones each by itself.
const AT_ONCE: usize = 2 << 20;

/// Texts that are being parsed.
#[derive(Default)]
pub(crate) struct Parsing {
    bytes: Mutex<usize>,
    freed: Condvar,
}

/// Room for one text, until it is dropped.
pub(crate) struct Room<'p> {
    parsing: &'p Parsing,
    bytes: usize,
}

impl Parsing {
    /// Waits until there is room for a text of so many bytes. Whoever has room must not wait for more
    /// of it.
    pub fn enter(&self, bytes: usize) -> Room<'_> {
        let full = |taken: &mut usize| *taken > 0 && taken.saturating_add(bytes) > AT_ONCE;
        let waited = self.freed.wait_while(self.bytes(), full);
        let mut taken = waited.unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_add(bytes);
        Room {
            parsing: self,
            bytes,
        }
    }

    fn bytes(&self) -> MutexGuard<'_, usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        let mut taken = self.parsing.bytes();
        *taken = taken.saturating_sub(self.bytes);
        drop(taken);
        self.parsing.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn long_texts_are_parsed_one_by_one_and_short_ones_together() {
        let (parsing, inside, most) =
            (Parsing::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..50 {
                        let room = parsing.enter(AT_ONCE + 1);
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(room);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
        let rooms: Vec<_> = (0..16).map(|_| parsing.enter(AT_ONCE / 16)).collect();
        assert_eq!(rooms.len(), 16);
        drop(rooms);
        assert_eq!(*parsing.bytes(), 0);
    }
}
