//! The `coalesce` program; everything is in the library but the allocator.

/// Facts and syntax trees are many small pieces that live as long as a file is looked at: the
/// system's allocator took four tenths of a run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    coalesce::terminal::main(std::env::args_os())
}
