//! Groups: between their start and end calls only give, and the end waits for all of them.

use std::{cell::RefCell, sync::Arc};

use crate::{Failure, INVALID_USAGE, client::Communicator};

/// What a call still waits for.
pub struct Pending {
    /// Who asked.
    pub communicator: Arc<Communicator>,
    /// The answer's number.
    pub sequence: u64,
    /// Where it goes, and on which stream; nowhere for a greeting.
    pub to: Option<(u64, usize)>,
}

impl Pending {
    fn finish(self) -> Result<(), Failure> {
        let bytes = self.communicator.answer(self.sequence)?;
        match self.to {
            Some((to, stream)) => self.communicator.device.write(to, &bytes, stream),
            None => Ok(()),
        }
    }
}

#[derive(Default)]
struct Group {
    depth: usize,
    pending: Vec<Pending>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

/// Starts a group, or one in it.
pub fn start() {
    GROUP.with_borrow_mut(|group| group.depth += 1);
}

/// Ends a group. The outermost waits.
///
/// # Errors
/// When there is none; the first failure of its calls.
pub fn end() -> Result<(), Failure> {
    let pending = GROUP.with_borrow_mut(|group| {
        let none = || Failure::new(INVALID_USAGE, "no group has been started");
        group.depth = group.depth.checked_sub(1).ok_or_else(none)?;
        Ok::<_, Failure>(match group.depth {
            0 => std::mem::take(&mut group.pending),
            _ => Vec::new(),
        })
    })?;
    let mut first = Ok(());
    for one in pending {
        let finished = one.finish();
        if first.is_ok() {
            first = finished;
        }
    }
    first
}

/// Waits now, or at the end of the thread's group.
///
/// # Errors
/// What the others or the driver answer.
pub fn wait(pending: Pending) -> Result<(), Failure> {
    let now = GROUP.with_borrow_mut(|group| {
        if group.depth == 0 {
            return Some(pending);
        }
        group.pending.push(pending);
        None
    });
    now.map_or(Ok(()), Pending::finish)
}
