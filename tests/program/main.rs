//! What the program does around its cases: cut off half-way, run twice, verified, as the guide shows.

mod advice;
mod commits;
mod containment;
mod deprecations;
mod doors;
mod fixing;
mod formats;
mod guide;
mod hostile;
mod interrupted;
mod laws;
mod limits;
mod meaning;
mod meaning_rust;
mod second_run;
mod soak;
#[cfg(unix)]
mod trees;
mod verify;

use std::process::{Command, Stdio};

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"));
    command.args(["explain", "forbidden-path"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn colour_comes_when_it_is_asked_for() {
    for (arguments, variables, colored) in [
        ("explain manifest", &[][..], false),
        (
            "explain manifest --color always",
            &[("NO_COLOR", "1")],
            true,
        ),
        ("explain manifest", &[("CLICOLOR_FORCE", "1")], true),
        (
            "explain manifest --color never",
            &[("CLICOLOR_FORCE", "1")],
            false,
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce-under-test"));
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command
            .args(arguments.split(' '))
            .envs(variables.iter().copied());
        let output = command.output().unwrap();
        assert_eq!(
            output.stdout.contains(&0x1b),
            colored,
            "{arguments} {variables:?}"
        );
    }
}
