//! Errors: one family, by what to do about them, as [`core_gpu::ErrorKind`].

use core_gpu::ErrorKind;
use pyo3::{create_exception, exceptions::PyException, prelude::*};

create_exception!(core_gpu, GpuError, PyException, "Any error of core_gpu.");
create_exception!(
    core_gpu,
    NotBuiltError,
    GpuError,
    "The package was built without what is needed."
);
create_exception!(
    core_gpu,
    AbsentError,
    GpuError,
    "There is no such device, platform or library on this machine."
);
create_exception!(
    core_gpu,
    BusyError,
    GpuError,
    "Others hold what is needed: wait, or ask for less."
);
create_exception!(
    core_gpu,
    OutOfMemoryError,
    GpuError,
    "There is no memory for it now: free some, or ask for less."
);
create_exception!(
    core_gpu,
    LostError,
    GpuError,
    "The device is lost: start the process anew, on another device."
);
create_exception!(
    core_gpu,
    SettingError,
    GpuError,
    "Settings or arguments that cannot be: change them."
);
create_exception!(
    core_gpu,
    FailedError,
    GpuError,
    "A driver, a library, a worker or the system failed otherwise."
);

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add("GpuError", python.get_type::<GpuError>())?;
    module.add("NotBuiltError", python.get_type::<NotBuiltError>())?;
    module.add("AbsentError", python.get_type::<AbsentError>())?;
    module.add("BusyError", python.get_type::<BusyError>())?;
    module.add("OutOfMemoryError", python.get_type::<OutOfMemoryError>())?;
    module.add("LostError", python.get_type::<LostError>())?;
    module.add("SettingError", python.get_type::<SettingError>())?;
    module.add("FailedError", python.get_type::<FailedError>())
}

/// The exception for an error of the runtime.
pub fn raised(error: impl Into<core_gpu::Error>) -> PyErr {
    let error = error.into();
    let said = error.to_string();
    match error.kind() {
        ErrorKind::NotBuilt => NotBuiltError::new_err(said),
        ErrorKind::Absent => AbsentError::new_err(said),
        ErrorKind::Busy => BusyError::new_err(said),
        ErrorKind::OutOfMemory => OutOfMemoryError::new_err(said),
        ErrorKind::Lost => LostError::new_err(said),
        ErrorKind::Setting => SettingError::new_err(said),
        _ => FailedError::new_err(said),
    }
}

/// The exception for arguments that cannot be.
pub fn refused(why: &impl ToString) -> PyErr {
    SettingError::new_err(why.to_string())
}

/// The exception for what failed without a kind of its own.
pub fn failed(why: &impl ToString) -> PyErr {
    FailedError::new_err(why.to_string())
}
