//! The pool's lock. What must be dropped without it is dropped as it is let go of.

use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
};

use core_gpu_driver::Stream;

use crate::pool::central::Central;

/// What the lock guards. On cache lines of its own: who takes a lock writes it, and who reads what lies
/// beside it would wait.
#[repr(align(128))]
pub struct CentralLock(Mutex<Central>);

impl CentralLock {
    pub fn new(central: Central) -> CentralLock {
        CentralLock(Mutex::new(central))
    }

    /// Takes it. A thread that panicked with it left numbers that are still consistent: no code outside
    /// of this crate runs under it.
    #[inline]
    pub fn lock(&self) -> Locked<'_> {
        Locked {
            central: self.guard(),
            streams: Vec::new(),
        }
    }

    /// As [`CentralLock::lock`], for what every miss does: the way out is a comparison, and nothing of it
    /// is a call.
    #[inline(always)]
    pub fn with<R>(&self, work: impl FnOnce(&mut Central) -> R) -> R {
        let mut central = self.guard();
        let answer = work(&mut central);
        if !central.orders.to_drop.is_empty() {
            let_go_of_streams(central);
        }
        answer
    }

    #[inline(always)]
    fn guard(&self) -> MutexGuard<'_, Central> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops what must be dropped without the lock.
#[cold]
#[inline(never)]
fn let_go_of_streams(mut central: MutexGuard<'_, Central>) {
    let streams = std::mem::take(&mut central.orders.to_drop);
    drop(central);
    drop(streams);
}

/// The lock, held.
///
/// (Fields are dropped in their order.)
pub struct Locked<'p> {
    central: MutexGuard<'p, Central>,
    /// Streams of which the last handle may be here: their end takes the lock.
    streams: Vec<Stream>,
}

impl Deref for Locked<'_> {
    type Target = Central;

    #[inline]
    fn deref(&self) -> &Central {
        &self.central
    }
}

impl DerefMut for Locked<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Central {
        &mut self.central
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.central.orders.to_drop.is_empty() {
            self.streams = std::mem::take(&mut self.central.orders.to_drop);
        }
    }
}
