//! The version that `--version` prints: that of the package, and the commit of an optimised build.
//!
//! Not of others: it would be built anew after every commit.

use std::process::Command;

fn main() {
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let optimised = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    println!("cargo::rerun-if-env-changed=COALESCE_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let commit = match std::env::var("COALESCE_COMMIT") {
        Ok(commit) => commit,
        Err(_) if optimised => commit_of_checkout(),
        Err(_) => "a development build".to_owned(),
    };
    println!("cargo::rustc-env=COALESCE_VERSION={version} ({commit})");
}

/// The commit that is checked out, marked where files differ from it.
fn commit_of_checkout() -> String {
    for file in ["HEAD", "logs/HEAD", "index"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&[
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude",
        "*",
    ])
    .unwrap_or_else(|| "no commit".to_owned())
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
