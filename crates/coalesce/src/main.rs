//! The `coalesce` command.

fn main() -> std::process::ExitCode {
    coalesce::terminal::main(std::env::args_os())
}
