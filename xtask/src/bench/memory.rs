//! `cargo xtask bench memory`: the memory crate's own bench, and what a hit costs in instructions.

use std::process::Command;

use anyhow::{Context as _, bail};

use super::{cubecl::CubeCl, rmm::Rmm};
use crate::repository::Repository;

/// Cases whose instructions are counted, with how many operations: enough to tell, and few enough
/// to wait for.
const COUNTED: &[(&str, u64)] = &[
    ("hit", 100_000),
    ("hit-accounted", 100_000),
    ("holes-1000", 100_000),
    ("holes-100000", 20_000),
    ("cold", 20_000),
    ("cold-holes-1000", 20_000),
];

/// What must hold of the instructions: a case, what it is compared with, and how many times as many
/// it may take.
const GATES: &[(&str, &str, f64)] = &[
    ("hit-accounted", "hit", 1.2),
    ("holes-1000", "hit", 1.2),
    ("holes-100000", "hit", 1.2),
    ("cold-holes-1000", "cold", 3.0),
];

/// Traces that are counted for ours and for the allocator of offsets behind a lock, with how many
/// times as many ours may take: what keeps it from growing.
const TRACES: &[(&str, f64)] = &[("random", 0.85), ("grow-shrink", 1.0), ("size-shift", 0.95)];
/// Whom traces are compared with, as the bench calls it.
const OFFSETS: &str = "offset-allocator, mutex";
/// Operations of a trace: twice as many as it goes through before it begins anew, so that all memory
/// is there in what is counted.
const TRACE_OPERATIONS: u64 = 300_000;

/// Others' pools, which have programs of their own.
pub struct Pools {
    /// RMM's.
    pub rmm: Rmm,
    /// cubecl-runtime's.
    pub cubecl: CubeCl,
}

/// `cargo xtask bench memory [CASE…] [--install-peers]`.
pub fn run(repository: &Repository, words: &[String], pools: &Pools) -> anyhow::Result<()> {
    let is_option = |word: &&String| word.starts_with("--");
    if let Some(other) = words
        .iter()
        .filter(is_option)
        .find(|word| *word != "--install-peers")
    {
        bail!("there is no option `{other}`");
    }
    if words.iter().any(|word| is_option(&word)) {
        pools.rmm.install()?;
        pools.cubecl.install()?;
    }
    let cases: Vec<_> = words
        .iter()
        .filter(|word| !is_option(word))
        .cloned()
        .collect();
    let cases = cases.as_slice();
    bench(repository, cases)?;
    pools.rmm.race(cases)?;
    pools.cubecl.race(cases)?;
    let Some(program) = program(repository)? else {
        bail!("cargo does not say where the bench is");
    };
    let valgrind = Command::new("valgrind").arg("--version").output();
    if !valgrind.is_ok_and(|found| found.status.success()) {
        println!("\ninstructions: not counted, valgrind is not installed");
        return Ok(());
    }
    count_cases(&program, cases)
}

/// Runs the bench of the pool itself.
fn bench(repository: &Repository, cases: &[String]) -> anyhow::Result<()> {
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "bench",
            "--quiet",
            "-p",
            "core-gpu-memory",
            "--bench",
            "memory",
            "--",
        ])
        .args(cases)
        .current_dir(&repository.root);
    if !cargo.status().context("failed to start cargo")?.success() {
        bail!("the bench failed");
    }
    Ok(())
}

/// Counts instructions, of all cases or of those that are named.
fn count_cases(program: &str, cases: &[String]) -> anyhow::Result<()> {
    let is_wanted = |case: &str| cases.is_empty() || cases.iter().any(|wanted| wanted == case);
    println!("\ninstructions for one allocation with its free (valgrind, exact for one build)");
    let mut counted = Vec::new();
    for (case, operations) in COUNTED {
        if !is_wanted(case) {
            continue;
        }
        let each = count_each(program, case, "", *operations)?;
        println!("  {case:<18} {each:>8.1}");
        counted.push((*case, each));
    }
    gate(&counted)?;
    for (case, most) in TRACES {
        if is_wanted(case) {
            compare_trace(program, case, *most)?;
        }
    }
    Ok(())
}

/// Fails when a trace takes more instructions beside the other's than it may.
fn compare_trace(program: &str, case: &str, most: f64) -> anyhow::Result<()> {
    let ours = count_each(program, case, "", TRACE_OPERATIONS)?;
    let theirs = count_each(program, case, OFFSETS, TRACE_OPERATIONS)?;
    let ratio = ours / theirs;
    println!("  {case:<18} {ours:>8.1}, {OFFSETS} {theirs:.1}: {ratio:.2}, at most {most}");
    anyhow::ensure!(
        ratio <= most,
        "{case} takes {ratio:.2} times as many as {OFFSETS}"
    );
    Ok(())
}

/// Instructions of one operation. What is done once is in both runs, and is not counted.
fn count_each(program: &str, case: &str, contender: &str, operations: u64) -> anyhow::Result<f64> {
    let once = count(program, case, contender, operations)?;
    let twice = count(program, case, contender, 2 * operations)?;
    Ok((twice - once) as f64 / operations as f64)
}

/// Fails when a case takes more than it may.
fn gate(counted: &[(&str, f64)]) -> anyhow::Result<()> {
    let of = |wanted: &str| {
        counted
            .iter()
            .find(|(case, _)| *case == wanted)
            .map(|(_, each)| *each)
    };
    for (case, base, most) in GATES {
        let (Some(each), Some(clean)) = (of(case), of(base)) else {
            continue;
        };
        let ratio = each / clean;
        println!("  {case} / {base} = {ratio:.2}, at most {most}");
        anyhow::ensure!(
            ratio <= *most,
            "{case} takes {ratio:.2} times as many as {base}"
        );
    }
    Ok(())
}

/// Where cargo has put the bench.
fn program(repository: &Repository) -> anyhow::Result<Option<String>> {
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "bench",
            "--no-run",
            "-p",
            "core-gpu-memory",
            "--bench",
            "memory",
        ])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(&repository.root);
    let said = cargo.output().context("failed to start cargo")?.stdout;
    let lines = said.split(|byte| *byte == b'\n');
    let mut executable = lines.filter_map(|line| {
        let message: serde_json::Value = serde_json::from_slice(line).ok()?;
        message.get("executable")?.as_str().map(str::to_owned)
    });
    Ok(executable.next_back())
}

fn count(program: &str, case: &str, contender: &str, operations: u64) -> anyhow::Result<i64> {
    let output = Command::new("valgrind")
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
            program,
        ])
        .args(["--case", case, "--operations", &operations.to_string()])
        .args(["--contender", contender])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| line.contains("refs:"));
    let figure = line.and_then(|line| line.rsplit(' ').next());
    let figure = figure.with_context(|| format!("valgrind did not count:\n{said}"))?;
    Ok(figure.replace(',', "").parse()?)
}
