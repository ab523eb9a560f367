//! Devices by name, and their memory.
