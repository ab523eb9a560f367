//! What a test does to the machine behind the library, and asks it at the end: symbols that no
//! driver has.

use std::ffi::{c_char, c_int};

use gpu_sim::{Code, Fault, FaultMoment, Machine, pointers::text};

use crate::machine;

/// Always one: a program that wants a real driver looks for this symbol.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_is_simulated() -> c_int {
    1
}

/// Zero when everything but contexts was given back and no rule was broken; says what if not.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_verify() -> c_int {
    match machine().map(Machine::verify) {
        Ok(Ok(())) => 0,
        Ok(Err(complaint)) => {
            eprintln!("gpu-sim: {complaint}");
            1
        }
        Err(code) => code.0,
    }
}

/// How often a function was called, by its documented name without a version.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_calls(function: *const c_char) -> u64 {
    let calls = machine().map(Machine::calls).unwrap_or_default();
    // SAFETY: who calls control functions gives text that ends in a zero byte.
    let function = unsafe { text(function) };
    let found = function.and_then(|name| calls.get(name).copied());
    found.unwrap_or(0)
}

/// Contexts that are held now.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_contexts() -> u64 {
    machine()
        .map(|machine| machine.live().contexts)
        .unwrap_or(0)
}

/// Plans a fault: moment 0 before, 1 after, 2 from earlier work, 3 hang.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_plan(
    function: *const c_char,
    occurrence: u64,
    moment: c_int,
    code: c_int,
) -> c_int {
    let moment = match moment {
        0 => FaultMoment::BeforeEffect,
        1 => FaultMoment::AfterEffect,
        2 => FaultMoment::FromEarlierWork,
        3 => FaultMoment::Hang,
        _ => return Code::INVALID_VALUE.0,
    };
    // SAFETY: who calls control functions gives text that ends in a zero byte.
    let function = unsafe { text(function) };
    let (Some(function), Ok(machine)) = (function, machine()) else {
        return Code::INVALID_VALUE.0;
    };
    machine.plan(Fault {
        function: function.to_owned(),
        occurrence,
        moment,
        code: Code(code),
    });
    0
}

/// Lets everything go on that hangs now.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_release_hangs() {
    if let Ok(machine) = machine() {
        machine.release_hangs();
    }
}
