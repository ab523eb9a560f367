//! Is there a GPU?

use std::path::Path;

/// Whether the driver is loaded.
pub fn is_available() -> bool {
    Path::new("/proc/driver/nvidia/version").exists()
}
