//! The memory, cache and profiler of a process; several devices as one.
