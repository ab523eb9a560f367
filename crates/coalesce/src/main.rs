//! The `coalesce` program; everything is in the library but the allocator.

use std::process::ExitCode;

/// Facts and syntax trees are many small pieces that live as long as a file is looked at: the
/// system's allocator took four tenths of a run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    coalesce::terminal::start(std::env::args_os())
}
