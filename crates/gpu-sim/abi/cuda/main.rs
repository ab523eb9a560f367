//! The simulated machine as a driver library: what a program finds when it looks for `libcuda`.
//!
//! Built as a shared library of another name, so that it never stands where a real driver is looked
//! for unless a test puts a copy of it there. It has the driver's documented functions as far as
//! this repository and cudarc use them; what they do is the machine's. Control goes through symbols
//! that begin with `gpu_sim_`.
#![expect(unsafe_code, reason = "the driver's interface is pointers")]

mod control;
mod devices;
mod kernels;
mod memory;
mod streams;

use std::{
    cell::Cell,
    ffi::c_int,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use gpu_sim::{
    Code, Config, Machine,
    environment::{self, Setup},
    pointers::Answers,
};

/// How this library answers.
const ANSWERS: Answers<Code> = Answers {
    no_room: || Code::INVALID_VALUE,
};
/// What a set-up that is none answers with: unknown error.
const UNKNOWN: Code = Code(999);

static MACHINE: OnceLock<Result<Machine, Code>> = OnceLock::new();
static INITIALIZED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The device whose context is this thread's.
    static CURRENT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The machine, made of what the environment says.
fn machine() -> Result<&'static Machine, Code> {
    let made = MACHINE.get_or_init(|| {
        if std::env::var("COALESCE_DRIVER").as_deref() == Ok("real") {
            eprintln!("gpu-sim: a real driver is wanted, and this is a simulated one");
            return Err(UNKNOWN);
        }
        let setup = Setup::from_environment().map_err(|error| {
            eprintln!("gpu-sim: {error}");
            UNKNOWN
        })?;
        let machine = Machine::new(visible(setup.config));
        setup
            .faults
            .into_iter()
            .for_each(|fault| machine.plan(fault));
        Ok(machine)
    });
    made.as_ref().map_err(|code| *code)
}

/// The devices that the program may see; the driver hides the others.
fn visible(mut config: Config) -> Config {
    let said = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    let visible = environment::visible(said.as_deref(), &config.devices);
    let devices = visible
        .iter()
        .filter_map(|number| config.devices.get(*number));
    config.devices = devices.cloned().collect();
    config
}

/// A result as the driver's number.
fn answer(result: Result<(), Code>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(code) => code.0,
    }
}

/// A call that needs the driver initialised and no context.
fn global(
    function: &'static str,
    body: impl FnOnce(&'static Machine) -> Result<(), Code>,
) -> c_int {
    answer(initialized().and_then(|machine| {
        machine.enter(function)?;
        body(machine)
    }))
}

/// A call on the device of this thread's context.
fn on_device(body: impl FnOnce(&'static Machine, u32) -> Result<(), Code>) -> c_int {
    answer(initialized().and_then(|machine| {
        let device = CURRENT.get().filter(|device| machine.has_context(*device));
        body(machine, device.ok_or(Code::INVALID_CONTEXT)?)
    }))
}

fn initialized() -> Result<&'static Machine, Code> {
    let machine = machine()?;
    if INITIALIZED.load(SeqCst) && !machine.is_forked() {
        Ok(machine)
    } else {
        Err(Code::NOT_INITIALIZED)
    }
}
