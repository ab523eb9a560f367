//! The simulated library for collectives: what a program finds when it looks for `libnccl`. Ranks are
//! processes or threads of one host that meet over a socket; their devices are those of the simulated
//! driver, whose library this one loads.
//!
//! What differs from the real one: a collective is waited for by the call that gives it (or by the
//! end of its group), so that it cannot be captured; ranks that give different collectives are told,
//! where the real library hangs; floats of eight bits and communicators that are cut from others are
//! refused. What is the same: the codes, two ranks on one device are refused, who has lost a
//! rank learns it (`ncclRemoteError`) and not before it asks or waits, a communicator takes memory of
//! its device (`GPU_SIM_NCCL_BYTES`). `GPU_SIM_FAULTS` fails calls.
#![expect(unsafe_code, reason = "the library's interface is pointers")]

mod client;
mod device;
mod group;
mod lifetime;
mod meeting;
mod operations;
mod reduce;
mod wire;

use std::{
    collections::BTreeMap,
    ffi::{CString, c_char, c_int},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use gpu_sim::{Code, Config, Machine, environment::Setup, pointers::Answers};

use crate::client::Communicator;

/// The library's own codes.
const DEVICE_ERROR: c_int = 1;
const SYSTEM_ERROR: c_int = 2;
const INVALID_ARGUMENT: c_int = 4;
const INVALID_USAGE: c_int = 5;
const REMOTE_ERROR: c_int = 6;

/// A call that did not work: its code, and words for `ncclGetLastError`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    code: c_int,
    why: String,
}

impl Failure {
    fn new(code: c_int, why: impl Into<String>) -> Self {
        Self {
            code,
            why: why.into(),
        }
    }

    fn argument(why: &str) -> Self {
        Self::new(INVALID_ARGUMENT, why)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(SYSTEM_ERROR, error.to_string())
    }
}

/// How this library answers.
const ANSWERS: Answers<Failure> = Answers {
    no_room: || Failure::argument("there is nowhere to put the answer"),
};

/// Handles of communicators are numbers far from zero.
const HANDLES: usize = 0x00ab_0000;

/// All of the library.
#[derive(Default)]
struct Library {
    communicators: BTreeMap<usize, Arc<Communicator>>,
    made: usize,
    /// Where words were given out: they stay.
    said: BTreeMap<String, CString>,
    last: String,
}

static LIBRARY: Mutex<Option<Library>> = Mutex::new(None);

/// The library's state, under its lock.
struct Held(MutexGuard<'static, Option<Library>>);

impl Held {
    fn get(&mut self) -> &mut Library {
        self.0.get_or_insert_with(Library::default)
    }
}

fn library() -> Held {
    Held(LIBRARY.lock().unwrap_or_else(PoisonError::into_inner))
}

fn communicator(handle: usize) -> Result<Arc<Communicator>, Failure> {
    let found = library().get().communicators.get(&handle).cloned();
    found.ok_or_else(|| Failure::argument("this is no communicator"))
}

fn keep(communicator: Communicator) -> usize {
    let mut held = library();
    let library = held.get();
    let handle = HANDLES + library.made;
    library.made += 1;
    library.communicators.insert(handle, Arc::new(communicator));
    handle
}

/// Counts calls, and fails them by plan.
fn faults() -> Result<&'static Machine, Failure> {
    static FAULTS: OnceLock<Result<Machine, Failure>> = OnceLock::new();
    let made = FAULTS.get_or_init(|| {
        if std::env::var("COALESCE_DRIVER").as_deref() == Ok("real") {
            let why = "a real library is wanted, and this is a simulated one";
            eprintln!("gpu-sim: {why}");
            return Err(Failure::new(SYSTEM_ERROR, why));
        }
        let setup = Setup::from_environment().map_err(|error| {
            eprintln!("gpu-sim: {error}");
            Failure::new(SYSTEM_ERROR, error.to_string())
        })?;
        let machine = Machine::new(Config::with_devices(&[]));
        for fault in setup.faults {
            machine.plan(fault);
        }
        Ok(machine)
    });
    made.as_ref().map_err(Clone::clone)
}

/// A call: counted, failing by plan, its failure remembered.
fn call(function: &'static str, body: impl FnOnce() -> Result<(), Failure>) -> c_int {
    let done = faults().and_then(|machine| {
        let entered = machine.enter(function);
        entered.map_err(|Code(code)| Failure::new(code, "as planned"))?;
        body()
    });
    match done {
        Ok(()) => 0,
        Err(failure) => {
            library().get().last = format!("{function}: {}", failure.why);
            failure.code
        }
    }
}

/// Words that stay where they are.
fn lasting(text: &str) -> *const c_char {
    let mut held = library();
    let said = &mut held.get().said;
    let words = said.entry(text.to_owned()).or_insert_with(|| {
        let without_zero: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
        CString::new(without_zero).unwrap_or_default()
    });
    words.as_ptr()
}
