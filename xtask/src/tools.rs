//! What only this repository needs, beside tests: the rules that a compiler does not know, generated
//! files, benchmarks, trials. `cargo xtask` builds and starts it; see `main`.
//!
//! Whatever is no command of its own goes to `coalesce`, by the same code: `judge` runs this program.

mod bench;
mod codegen;
mod device;
mod draw;
mod judge;
mod put_back;
mod random;
mod repository;
mod root;
mod sample;
mod seeded;
mod soak;
mod tidy;
mod weights;

use std::{ffi::OsString, process::ExitCode};

use repository::Repository;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next();
    let rest: Vec<OsString> = arguments.collect();
    let own = match rest.first().and_then(|command| command.to_str()) {
        Some("tidy") => tidy::run(&Repository::find(), &words(&rest)),
        Some("codegen") => codegen::run(&Repository::find(), words(&rest)),
        Some("bench") => bench::run(&Repository::find(), words(&rest)),
        Some("draw") => draw::run(words(&rest)),
        Some("judge") => judge::run(words(&rest)),
        Some("weights") => weights::run(&Repository::find(), words(&rest)),
        Some("words") => weights::words::run(&Repository::find(), words(&rest)),
        Some("device") => device::run(&Repository::find(), words(&rest)),
        Some("seeded") => seeded::run(words(&rest)),
        Some("soak") => soak::run(&Repository::find(), words(&rest)),
        _ => return coalesce::terminal::start(program.into_iter().chain(rest)),
    };
    match own {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What follows the command, as text.
fn words(arguments: &[OsString]) -> Vec<String> {
    arguments
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}
