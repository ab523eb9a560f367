//! The `coalesce` program; everything is in the library but the allocator.

use std::process::ExitCode;

/// Facts and syntax trees are many small pieces that live as long as a file is looked at: the
/// system's allocator took four tenths of a run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Stack of every thread. Trees of expressions are walked level by level, and how deep a text may
/// nest is bounded by the language that reads it; what is not used costs nothing.
const STACK_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    if let Some(code) = coalesce_verify::contained_main(std::env::args_os()) {
        return code.into();
    }
    coalesce_verify::enable_containment();
    // It fails where there is one already, and there is none.
    let _ = rayon::ThreadPoolBuilder::new()
        .stack_size(STACK_BYTES)
        .build_global();
    let thread = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(|| coalesce::terminal::main(std::env::args_os()));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic was printed.
        Ok(Err(_)) => ExitCode::from(2),
        Err(error) => {
            eprintln!("error: failed to start a thread: {error}");
            ExitCode::from(2)
        }
    }
}
