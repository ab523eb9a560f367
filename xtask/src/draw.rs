//! Random classes of duplicates with their texts side by side, for whoever reads whether they are
//! ones: `cargo xtask draw AUDIT.json ROOT`. It judges nothing.

use std::{fs, path::Path};

use anyhow::{Context as _, bail};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::random::mixed;

const HELP: &str = "\
cargo xtask draw AUDIT.json ROOT [--seed N] [--count N]

Draws classes of the duplicates in AUDIT.json, which `coalesce audit --format json --root ROOT`
wrote, and prints the first member of each with what the next two have otherwise.
";
/// Members that are printed beside the first.
const COMPARED: usize = 2;
/// Lines of a text or a difference that are printed.
const SHOWN: usize = 40;

/// `cargo xtask draw`.
pub fn run(arguments: Vec<String>) -> anyhow::Result<()> {
    let (mut seed, mut count, mut paths) = (1, 34, Vec::new());
    let mut words = arguments.into_iter();
    while let Some(word) = words.next() {
        let number = |next: Option<String>| -> anyhow::Result<u64> {
            let next = next.with_context(|| format!("{word} needs a number"))?;
            next.parse().with_context(|| format!("{next} is no number"))
        };
        match word.as_str() {
            "--seed" => seed = number(words.next())?,
            "--count" => count = number(words.next())?,
            _ => paths.push(word.clone()),
        }
    }
    let [audit, root] = paths.as_slice() else {
        bail!("{HELP}");
    };
    let text = fs::read_to_string(audit).with_context(|| format!("failed to read {audit}"))?;
    let audit: Value = serde_json::from_str(&text)?;
    let classes = audit.get("duplicates").and_then(Value::as_array);
    let classes = classes.context("the audit has no list of duplicates")?;
    println!(
        "{} of {} classes, seed {seed}",
        count.min(classes.len() as u64),
        classes.len()
    );
    for (at, class) in drawn(classes, seed, count).enumerate() {
        print(at + 1, class, Path::new(root))?;
    }
    Ok(())
}

/// So many of them in random order, none twice; the same for the same seed.
fn drawn(classes: &[Value], seed: u64, count: u64) -> impl Iterator<Item = &Value> {
    let mut order: Vec<(u64, usize)> = (0..classes.len())
        .map(|at| {
            (
                mixed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at as u64),
                at,
            )
        })
        .collect();
    order.sort_unstable();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let chosen = order.into_iter().take(count);
    chosen.filter_map(|(_, at)| classes.get(at))
}

fn print(number: usize, class: &Value, root: &Path) -> anyhow::Result<()> {
    let word = |key: &str| class.get(key).and_then(Value::as_str).unwrap_or("");
    let members = class.get("members").and_then(Value::as_array);
    let members = members.context("a class has no members")?;
    let similarity = class.get("similarity").unwrap_or(&Value::Null);
    println!(
        "\n#### {number} {} {similarity} {}",
        word("kind"),
        word("id")
    );
    let mut texts = Vec::new();
    for member in members.iter().take(COMPARED + 1) {
        let (place, text) = text_of(member, root)?;
        println!("  {place}");
        texts.push(text);
    }
    if members.len() > texts.len() {
        println!("  and {} more", members.len() - texts.len());
    }
    let Some((first, others)) = texts.split_first() else {
        return Ok(());
    };
    for line in first.lines().take(SHOWN) {
        println!("    {line}");
    }
    for other in others {
        println!("  ~~");
        let difference = TextDiff::from_lines(first, other);
        let changed = difference.iter_all_changes();
        let changed = changed.filter(|change| change.tag() != ChangeTag::Equal);
        for change in changed.take(SHOWN) {
            print!("   {}{change}", change.tag());
        }
    }
    Ok(())
}

/// Where a member is, and its lines.
fn text_of(member: &Value, root: &Path) -> anyhow::Result<(String, String)> {
    let word = |key: &str| member.get(key).and_then(Value::as_str).unwrap_or("");
    let line = |at: usize| -> Option<usize> {
        let line = member.get("lines")?.get(at)?.as_u64()?;
        usize::try_from(line).ok()
    };
    let (Some(first), Some(last)) = (line(0), line(1)) else {
        bail!("a member has no lines");
    };
    let path = root.join(word("path"));
    let text = fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().skip(first.saturating_sub(1));
    let lines: Vec<&str> = lines.take((last + 1).saturating_sub(first)).collect();
    let place = format!("{}:{first}-{last} {}", word("path"), word("item"));
    Ok((place, format!("{}\n", lines.join("\n"))))
}
