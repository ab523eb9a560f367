//! What an allocation costs, beside what others' would: `cargo xtask bench memory`.
//!
//! Contenders run in turn in one process; the best of several rounds counts, and only ratios of one
//! run mean anything. With `--case NAME --operations N` one case runs alone and silently, for
//! counting its instructions; with `--contender NAME` another's than ours.

mod cases;
mod contenders;
mod threads;

use std::time::Duration;

/// One figure of one contender.
struct Figure {
    case: &'static str,
    who: &'static str,
    nanoseconds: f64,
    /// What else is to be said, such as the memory that was needed.
    remark: String,
}

/// Rounds, the best of which counts.
const ROUNDS: usize = 7;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).cloned()
    };
    if let (Some(case), Some(operations)) = (value("--case"), value("--operations")) {
        let operations = operations.parse().expect("--operations takes a number");
        let contender = value("--contender").unwrap_or_default();
        cases::run_alone(&case, &contender, operations);
        return;
    }
    let wanted: Vec<_> = words
        .iter()
        .filter(|word| !word.starts_with("--"))
        .collect();
    println!(
        "best of {ROUNDS} rounds in turn, ns for one allocation with its free; `x` is ours / theirs"
    );
    for figures in cases::all(|name| wanted.is_empty() || wanted.iter().any(|word| *word == name)) {
        print(&figures);
    }
    println!();
    for (peer, why) in [
        ("cubecl-runtime", "needs its crates"),
        ("CuPy", "needs a card"),
        ("PyTorch", "needs a card"),
        ("cudaMallocAsync", "needs a card"),
    ] {
        println!("not run: {peer}, which {why}");
    }
}

fn print(figures: &[Figure]) {
    let Some(ours) = figures.first() else { return };
    println!("\n{}", ours.case);
    for figure in figures {
        let ratio = ours.nanoseconds / figure.nanoseconds;
        println!(
            "  {:<34} {:>9.1} ns {:>7.2}x  {}",
            figure.who, figure.nanoseconds, ratio, figure.remark
        );
    }
}

/// Nanoseconds of one of `operations` operations.
fn each(elapsed: Duration, operations: u64) -> f64 {
    elapsed.as_nanos() as f64 / operations as f64
}
