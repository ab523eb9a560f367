//! What a test does to the devices while a program runs: symbols that no library has. Devices are
//! numbered in the driver's order here.

use std::ffi::{c_char, c_int, c_uint};

use gpu_sim::pointers::text;

use crate::{
    INVALID_ARGUMENT, Library, NOT_FOUND,
    events::{Event, takes_effect},
    figures::Figures,
    library,
};

/// A device's number in this library.
fn number(library: &Library, ordinal: c_uint) -> Result<usize, c_int> {
    let last = library.devices.len().checked_sub(1);
    let number = last.and_then(|last| last.checked_sub(ordinal as usize));
    number.ok_or(INVALID_ARGUMENT)
}

/// Lets a device show a figure, by the name of its variable without `GPU_SIM_`.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_set_figure(ordinal: c_uint, name: *const c_char, value: u64) -> c_int {
    // SAFETY: who calls control functions gives text that ends in a zero byte.
    let name = unsafe { text(name) };
    let set = library().and_then(|library| {
        let figure = name.and_then(Figures::named).ok_or(NOT_FOUND)?;
        let device = number(library, ordinal)?;
        library.figures.set(device, figure, value);
        Ok(())
    });
    set.err().unwrap_or(0)
}

/// Lets a device raise an event: its type is one bit, 8 for an XID, whose number is the data.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_raise(ordinal: c_uint, kind: u64, data: u64) -> c_int {
    let raised = library().and_then(|library| {
        let device = number(library, ordinal)?;
        let event = Event { device, kind, data };
        takes_effect(library, event);
        library.events.raise(event);
        Ok(())
    });
    raised.err().unwrap_or(0)
}
