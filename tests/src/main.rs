//! The `coalesce` program for the tests of this package: everything is in the library.

fn main() -> std::process::ExitCode {
    // Under the name that its users know: usage lines have it.
    let words = std::env::args_os().skip(1);
    coalesce::terminal::start(std::iter::once("coalesce".into()).chain(words))
}
