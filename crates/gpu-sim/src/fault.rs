//! Faults on demand: which call fails, when in it, and with which code.

use std::collections::BTreeMap;

use crate::code::Code;

/// When in a call it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultMoment {
    /// Before it did anything.
    BeforeEffect,
    /// After it did everything: the caller hears of failure, and it happened all the same.
    AfterEffect,
    /// Work given to the device before fails, and this call hears of it first. The call itself
    /// does nothing.
    FromEarlierWork,
    /// It does not return until [`crate::Machine::release_hangs`], and then goes on as if nothing
    /// had been.
    Hang,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The driver function's documented name, such as `cuMemAlloc`; a version at its end is ignored.
    pub function: String,
    /// Which call of it, from one on, counted since the machine was made.
    pub occurrence: u64,
    /// When in the call.
    pub moment: FaultMoment,
    /// The code it answers with. After a sticky one every call on the device fails.
    pub code: Code,
}

impl Fault {
    /// The `occurrence`-th call of a function fails before it does anything.
    #[must_use]
    pub fn before(function: &str, occurrence: u64, code: Code) -> Self {
        Self {
            function: function.to_owned(),
            occurrence,
            moment: FaultMoment::BeforeEffect,
            code,
        }
    }

    /// The `occurrence`-th call of a function fails after it did everything.
    #[must_use]
    pub fn after(function: &str, occurrence: u64, code: Code) -> Self {
        Self {
            moment: FaultMoment::AfterEffect,
            ..Self::before(function, occurrence, code)
        }
    }

    /// The `occurrence`-th call of a function hears that earlier work failed.
    #[must_use]
    pub fn from_earlier_work(function: &str, occurrence: u64, code: Code) -> Self {
        Self {
            moment: FaultMoment::FromEarlierWork,
            ..Self::before(function, occurrence, code)
        }
    }

    /// Each way in which a call that was counted may fail: before its effect for want of memory and for
    /// another reason, after it, and of earlier work. Of a function's calls about `most` are chosen, the first among
    /// them; at least that one.
    pub fn every(calls: &BTreeMap<&'static str, u64>, most: usize) -> impl Iterator<Item = Self> {
        let calls = calls.iter().flat_map(move |(function, calls)| {
            let step = 1 + usize::try_from(*calls).unwrap_or(usize::MAX) / most.max(1);
            (1..=*calls)
                .step_by(step)
                .map(move |number| (*function, number))
        });
        calls.flat_map(|(function, number)| {
            [
                Self::before(function, number, Code::OUT_OF_MEMORY),
                Self::before(function, number, Code::INVALID_VALUE),
                Self::after(function, number, Code::INVALID_VALUE),
                Self::from_earlier_work(function, number, Code::ILLEGAL_ADDRESS),
            ]
        })
    }

    /// The `occurrence`-th call of a function hangs.
    #[must_use]
    pub fn hang(function: &str, occurrence: u64) -> Self {
        Self {
            moment: FaultMoment::Hang,
            ..Self::before(function, occurrence, Code(0))
        }
    }
}

/// The faults of a machine, and the calls that were counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    planned: Vec<Fault>,
    calls: BTreeMap<&'static str, u64>,
}

impl Faults {
    pub(crate) fn plan(&mut self, fault: Fault) {
        self.planned.push(fault);
    }

    /// Counts a call, and finds the fault planned for it.
    pub(crate) fn count(&mut self, function: &'static str) -> Option<Fault> {
        let calls = self.calls.entry(function).or_default();
        *calls += 1;
        let occurrence = *calls;
        self.planned
            .iter()
            .find(|fault| {
                fault.occurrence == occurrence && without_version(&fault.function) == function
            })
            .cloned()
    }

    pub(crate) fn calls(&self) -> &BTreeMap<&'static str, u64> {
        &self.calls
    }
}

/// `cuMemAlloc` for `cuMemAlloc_v2`.
fn without_version(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((name, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_of_one_function_and_one_call() {
        let mut faults = Faults::default();
        faults.plan(Fault::before("cuMemAlloc_v2", 2, Code::OUT_OF_MEMORY));
        assert_eq!(faults.count("cuMemAlloc"), None);
        assert_eq!(faults.count("cuMemFree"), None);
        let fault = faults.count("cuMemAlloc");
        assert_eq!(fault.map(|fault| fault.code), Some(Code::OUT_OF_MEMORY));
        assert_eq!(faults.count("cuMemAlloc"), None);
        assert_eq!(faults.calls().get("cuMemAlloc"), Some(&3));
    }
}
