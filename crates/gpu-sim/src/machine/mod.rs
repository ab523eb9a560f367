//! A simulated machine: devices, and the driver's calls on them. This file has what all calls go
//! through; the calls are in the files beside it, by subject.

pub(crate) mod capture;
pub(crate) mod control;
mod copy_calls;
mod host_memory;
mod link;
mod memory_calls;
mod run;
mod state;
mod stream_calls;
mod submit;
pub(crate) mod virtual_calls;

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::{
    code::Code,
    config::Config,
    fault::{Fault, FaultMoment},
    machine::state::{State, Stop},
};

/// A simulated machine. A value: tests that have one each do not disturb one another. Clones are
/// the same machine. Any thread; one lock.
#[derive(Clone)]
pub struct Machine(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    released: Condvar,
}

impl Machine {
    /// A machine.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self(Arc::new(Inner {
            state: Mutex::new(State::new(config)),
            released: Condvar::new(),
        }))
    }

    /// A machine with one device of this many bytes, and the rest as usual.
    #[must_use]
    pub fn with_bytes(total_bytes: u64) -> Self {
        Self::new(Config::with_devices(&[total_bytes]))
    }

    /// What it was made of.
    #[must_use]
    pub fn config(&self) -> Config {
        self.lock().config.clone()
    }

    /// Holds a device's context, which takes memory (`cuDevicePrimaryCtxRetain`).
    ///
    /// # Errors
    /// For an unknown device, and when the memory is not there.
    pub fn retain_context(&self, device: u32) -> Result<(), Code> {
        self.call("cuDevicePrimaryCtxRetain", device, |state| {
            let config = state.config.devices.get(device as usize);
            let bytes = config.ok_or(Code::INVALID_DEVICE)?.context_bytes;
            let first = state.device(device)?.contexts == 0;
            if first && bytes > state.free_bytes(device) {
                return Err(Code::OUT_OF_MEMORY);
            }
            state.device(device)?.contexts += 1;
            Ok(())
        })
    }

    /// Lets go of a device's context (`cuDevicePrimaryCtxRelease`).
    ///
    /// # Errors
    /// When nobody holds it.
    pub fn release_context(&self, device: u32) -> Result<(), Code> {
        self.call("cuDevicePrimaryCtxRelease", device, |state| {
            let contexts = &mut state.device(device)?.contexts;
            *contexts = contexts.checked_sub(1).ok_or(Code::INVALID_CONTEXT)?;
            Ok(())
        })
    }

    /// A call that touches nothing of a device, such as counting them: it is counted, and fails or
    /// hangs by plan.
    ///
    /// # Errors
    /// As planned.
    pub fn enter(&self, function: &'static str) -> Result<(), Code> {
        let mut state = self.lock();
        if state.process != std::process::id() {
            return Err(Code::NOT_INITIALIZED);
        }
        state.now += state.config.costs.call;
        let Some(fault) = state.faults.count(function) else {
            return Ok(());
        };
        match fault.moment {
            FaultMoment::Hang => self.begin_fault(state, 0, fault).map(|_| ()),
            _ => Err(fault.code),
        }
    }

    /// Whether somebody holds the device's context.
    #[must_use]
    pub fn has_context(&self, device: u32) -> bool {
        let mut state = self.lock();
        state.device(device).is_ok_and(|device| device.contexts > 0)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that no other machine has as long as this one is there.
    pub(crate) fn number(&self) -> u64 {
        Arc::as_ptr(&self.0).addr() as u64
    }

    pub(crate) fn wake(&self) {
        self.0.released.notify_all();
    }

    /// A driver call that waits for nothing.
    pub(crate) fn call<R>(
        &self,
        function: &'static str,
        device: u32,
        body: impl FnOnce(&mut State) -> Result<R, Code>,
    ) -> Result<R, Code> {
        self.call_and_wait(function, device, body, |_, _| Ok(()))
    }

    /// A driver call that may wait for work: `wait` is called again after each release of what
    /// hangs, until it no longer blocks.
    pub(crate) fn call_and_wait<R>(
        &self,
        function: &'static str,
        device: u32,
        body: impl FnOnce(&mut State) -> Result<R, Code>,
        mut wait: impl FnMut(&mut State, &mut R) -> Result<(), Stop>,
    ) -> Result<R, Code> {
        let mut state = self.lock();
        if state.process != std::process::id() {
            return Err(Code::NOT_INITIALIZED);
        }
        state.now += state.config.costs.call;
        state.function = function;
        let fault = state.faults.count(function);
        let fails_after = match fault {
            None => None,
            Some(fault) => {
                let (after, unhung) = self.begin_fault(state, device, fault)?;
                state = unhung;
                after
            }
        };
        state.not_lost(device)?;
        let live_before = state.live_bytes();
        let begun = body(&mut state);
        let result = match begun {
            Ok(mut value) => loop {
                match wait(&mut state, &mut value) {
                    Ok(()) => break Ok(value),
                    Err(Stop::Code(code)) => break Err(code),
                    Err(Stop::Blocked) => state = self.sleep(state),
                }
            },
            Err(code) => Err(code),
        };
        state.after_call();
        match fails_after {
            None => result,
            Some(code) => {
                state.keep_fault_books(live_before);
                state.lose_if_sticky(device, code);
                Err(code)
            }
        }
    }

    /// What a fault does before the call's effect. The answer is the code to end with, if any.
    fn begin_fault<'s>(
        &self,
        mut state: MutexGuard<'s, State>,
        device: u32,
        fault: Fault,
    ) -> Result<(Option<Code>, MutexGuard<'s, State>), Code> {
        match fault.moment {
            FaultMoment::AfterEffect => Ok((Some(fault.code), state)),
            FaultMoment::BeforeEffect | FaultMoment::FromEarlierWork => {
                state.lose_if_sticky(device, fault.code);
                Err(fault.code)
            }
            FaultMoment::Hang => {
                let releases = state.releases;
                while state.releases == releases {
                    state = self.wait_for_release(state);
                }
                Ok((None, state))
            }
        }
    }

    /// Waits for a release, when work that is waited for hangs.
    fn sleep<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.wait_for_release(state)
    }

    fn wait_for_release<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let woken = self.0.released.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn lose_if_sticky(&mut self, device: u32, code: Code) {
        if code.is_sticky()
            && let Ok(device) = self.device(device)
        {
            device.sticky = Some(code);
        }
    }

    fn keep_fault_books(&mut self, live_before: u64) {
        let live = self.live_bytes();
        let books = &mut self.fault_books;
        books.orphaned_bytes += live.saturating_sub(live_before);
        books.freed_despite_error_bytes += live_before.saturating_sub(live);
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Machine")
    }
}
