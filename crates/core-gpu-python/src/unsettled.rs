//! Memory of arrays that other libraries have used on streams of theirs: it goes back to its pool when
//! the device was waited for, and not before.
//!
//! An array may go at any time and on any thread: with the interpreter's lock held, where waiting could
//! be for ever, or while a stream is captured, where waiting would break the capture. So nothing waits
//! then; the next call of the runtime that may wait does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use core_gpu::{
    driver::{Driver, graph},
    memory,
};

/// One block, and the device whose work may still be at it.
pub struct Unsettled {
    pub buffer: memory::Buffer<u8>,
    pub driver: Arc<dyn Driver>,
}

static UNSETTLED: Mutex<Vec<Unsettled>> = Mutex::new(Vec::new());

fn unsettled() -> MutexGuard<'static, Vec<Unsettled>> {
    UNSETTLED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a block until [`settle`].
pub fn keep(one: Unsettled) {
    unsettled().push(one);
}

/// Waits for the devices of what is kept, and gives it back; what cannot be waited for now stays kept. Not
/// with the interpreter's lock: work on the device may want it.
pub fn settle() {
    let mut kept = std::mem::take(&mut *unsettled());
    while let Some(first) = kept.first() {
        let driver = Arc::clone(&first.driver);
        let id = driver.info().id;
        let (of_device, others) = kept.into_iter().partition(|one| one.driver.info().id == id);
        kept = others;
        settle_device(of_device, driver.as_ref(), graph::is_any_underway(&driver));
    }
}

fn settle_device(blocks: Vec<Unsettled>, driver: &dyn Driver, is_captured: bool) {
    if is_captured {
        unsettled().extend(blocks);
        return;
    }
    match driver.synchronize() {
        // A device that is lost does nothing any more.
        Err(error) if !error.is_lost() && !error.is_deinitialized() => unsettled().extend(blocks),
        _ => blocks.into_iter().for_each(|one| drop(one.buffer)),
    }
}
