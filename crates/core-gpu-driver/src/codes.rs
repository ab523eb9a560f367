//! CUDA's result codes as errors, which HIP has taken over with their numbers: which mean that memory is out, which that the device is lost.
//! Codes are numbers throughout, because a newer driver may have more of them than we know.

use crate::{
    error::{Absent, DriverError},
    identity::DeviceId,
};

/// Out of memory.
const OUT_OF_MEMORY: i32 = 2;
/// The driver is not initialised in this process.
const NOT_INITIALIZED: i32 = 3;
/// The driver is shutting down.
const DEINITIALIZED: i32 = 4;
/// Calls whose whole point is to hear of earlier work.
const WAITING: &[&str] = &[
    "cuCtxSynchronize",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "hipDeviceSynchronize",
    "hipEventQuery",
    "hipEventSynchronize",
    "hipStreamQuery",
    "hipStreamSynchronize",
];
/// Codes that are about the call's own arguments or state, whatever the call.
const OWN: &[i32] = &[1, 100, 101, 201, 400, 500, 600, 801];

/// Whether, after this code, every later call on the device fails until the process ends: the code
/// of work that failed and took the context with it.
#[must_use]
pub const fn is_sticky(code: i32) -> bool {
    matches!(
        code,
        // Uncorrectable memory, a broken link, contained and uncontained faults.
        214 | 220 | 226
        // An illegal address, a kernel that ran too long.
        | 700 | 702
        // A failed assertion; stack, instruction, alignment, address space, counter; a failed launch.
        | 710 | 714
            ..=719
        // A leak of tensor memory.
        | 721
    )
}

/// The error that a code stands for. `forked` says that this process is a child of the one that
/// started the driver.
#[must_use]
pub fn error(function: &'static str, code: i32, device: DeviceId, forked: bool) -> DriverError {
    match code {
        OUT_OF_MEMORY => DriverError::OutOfMemory,
        NOT_INITIALIZED if forked => DriverError::Absent(Absent::Forked),
        DEINITIALIZED => DriverError::Absent(Absent::Deinitialized),
        _ if is_sticky(code) => DriverError::Lost { device, code },
        _ => DriverError::Call {
            function,
            code,
            from_earlier_work: WAITING.contains(&function)
                && !OWN.contains(&code)
                && !(900..=912).contains(&code),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::PlatformKind;

    #[test]
    fn codes_become_the_errors_that_callers_tell_apart() {
        let device = DeviceId {
            platform: PlatformKind::Cuda,
            uuid: [0; 16],
        };
        let call = |function, code, from_earlier_work| DriverError::Call {
            function,
            code,
            from_earlier_work,
        };
        let cases = [
            (("cuMemAlloc", 2, false), DriverError::OutOfMemory),
            (("cuMemAlloc", 3, true), Absent::Forked.into()),
            (("cuMemAlloc", 3, false), call("cuMemAlloc", 3, false)),
            (("cuMemFree", 4, false), Absent::Deinitialized.into()),
            (
                ("cuMemFree", 700, false),
                DriverError::Lost { device, code: 700 },
            ),
            (("cuMemFree", 704, false), call("cuMemFree", 704, false)),
            (
                ("cuStreamSynchronize", 999, false),
                call("cuStreamSynchronize", 999, true),
            ),
            (
                ("cuStreamSynchronize", 900, false),
                call("cuStreamSynchronize", 900, false),
            ),
        ];
        for ((function, code, forked), wanted) in cases {
            assert_eq!(error(function, code, device, forked), wanted);
        }
    }
}
