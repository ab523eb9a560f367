//! A sheet for whoever reads whether duplicates are ones: random classes of several trees and the first
//! ones of each page, with their sources side by side. It judges nothing, and says nothing of how likely
//! a class was found.

use std::{fmt::Write as _, fs, ops::Range, path::Path};

use anyhow::{Context as _, bail};
use serde_json::Value;
use similar::{DiffOp, TextDiff};

use crate::random::mixed;

const HELP: &str = "\
cargo xtask draw [--seed N] [--count N] [--first N] NAME=AUDIT.json=ROOT...

Draws `count` classes of the duplicates in each AUDIT.json, which `coalesce audit --format json
--root ROOT` wrote, adds the `first` ones of each page, and prints a sheet in Markdown.
";
/// How a sheet begins.
const INSTRUCTIONS: &str = "\
# Are these duplicated?

Each entry shows places of one project that a program calls copies of each other: the first two side
by side (`|` a line that differs, `<` and `>` one that only one side has), all others by their places.
Write one word behind each question. Read the sources in the trees where what is shown does not suffice;
do not look at what the program itself says of a class.

- `duplicated:` Shown these places, would an experienced maintainer of the project say \"yes, this is
  duplicated code\"? `yes`, `no` or `unsure`. Yes: one piece of work written out again, perhaps changed a
  little since. No: what a framework makes everybody write, tables of other content, tests of other
  things in one style, the same shape around other calls, what is too short for anybody to care.
- `merge:` Would they merge them, so that the work stands once? `yes`, `no` or `unsure`. No also where
  each is better off alone, or where the copy is kept on purpose.
- `act:` (only of the first ones of a page) Is it worth acting on this week? `yes` or `no`.

";
/// Lines of a member that are shown.
const SHOWN: usize = 40;
/// Columns of a side.
const WIDTH: usize = 76;
/// Places of further members that are named.
const PLACES: usize = 8;

/// What is drawn, and how much.
struct Draw {
    seed: u64,
    count: u64,
    first: usize,
}

/// A class of a tree that is on the sheet.
struct Drawn<'a> {
    tree: &'a str,
    root: &'a Path,
    class: &'a Value,
    is_first: bool,
}

/// `cargo xtask draw`.
pub fn run(arguments: Vec<String>) -> anyhow::Result<()> {
    let (draw, trees) = Draw::parse(arguments)?;
    if trees.is_empty() {
        bail!("{HELP}");
    }
    let audits = trees.iter().map(|tree| Audited::read(tree));
    let audits: Vec<Audited<'_>> = audits.collect::<anyhow::Result<_>>()?;
    let mut all = Vec::new();
    for Audited { name, root, audit } in &audits {
        let classes = audit.get("duplicates").and_then(Value::as_array);
        let classes = classes.with_context(|| format!("{name}: no list of duplicates"))?;
        all.extend(of_tree(&draw, (*name, *root), classes));
    }
    print!("{INSTRUCTIONS}{}", sheet(&draw, &all)?);
    Ok(())
}

impl Draw {
    /// Reads the options; what is none is a tree.
    fn parse(arguments: Vec<String>) -> anyhow::Result<(Self, Vec<String>)> {
        let mut draw = Self {
            seed: 1,
            count: 17,
            first: 10,
        };
        let mut trees = Vec::new();
        let mut words = arguments.into_iter();
        while let Some(word) = words.next() {
            let number = |next: Option<String>| -> anyhow::Result<u64> {
                let next = next.with_context(|| format!("{word} needs a number"))?;
                next.parse().with_context(|| format!("{next} is no number"))
            };
            match word.as_str() {
                "--seed" => draw.seed = number(words.next())?,
                "--count" => draw.count = number(words.next())?,
                "--first" => draw.first = usize::try_from(number(words.next())?)?,
                _ => trees.push(word.clone()),
            }
        }
        Ok((draw, trees))
    }
}

/// A tree with what `audit` says of it.
struct Audited<'w> {
    name: &'w str,
    root: &'w Path,
    audit: Value,
}

impl<'w> Audited<'w> {
    /// Reads `NAME=AUDIT=ROOT`.
    fn read(word: &'w str) -> anyhow::Result<Self> {
        let mut parts = word.splitn(3, '=');
        let (Some(name), Some(audit), Some(root)) = (parts.next(), parts.next(), parts.next())
        else {
            bail!("{HELP}");
        };
        let text = fs::read_to_string(audit).with_context(|| format!("failed to read {audit}"))?;
        Ok(Self {
            name,
            root: Path::new(root),
            audit: serde_json::from_str(&text)?,
        })
    }
}

/// The classes of a tree that are on the sheet: those that stand in no other one.
fn of_tree<'a>(
    draw: &Draw,
    (tree, root): (&'a str, &'a Path),
    classes: &'a [Value],
) -> Vec<Drawn<'a>> {
    let is_inside = |class: &&Value| class.get("inside").is_some_and(Value::is_string);
    let outer: Vec<&Value> = classes.iter().filter(|class| !is_inside(class)).collect();
    let mut chosen: Vec<usize> = drawn(outer.len(), draw.seed, draw.count);
    let first = draw.first.min(outer.len());
    chosen.extend(0..first);
    chosen.sort_unstable();
    chosen.dedup();
    let of = |at: usize| {
        Some(Drawn {
            tree,
            root,
            class: outer.get(at)?,
            is_first: at < first,
        })
    };
    chosen.into_iter().filter_map(of).collect()
}

/// So many of `count` in random order, none twice; the same for the same seed.
fn drawn(all: usize, seed: u64, count: u64) -> Vec<usize> {
    let key = |at: usize| mixed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at as u64);
    let mut order: Vec<(u64, usize)> = (0..all).map(|at| (key(at), at)).collect();
    order.sort_unstable();
    order.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    order.into_iter().map(|(_, at)| at).collect()
}

/// All entries, trees mixed, so that nobody reads one project's style ten times in a row.
fn sheet(draw: &Draw, all: &[Drawn<'_>]) -> anyhow::Result<String> {
    let mut text = String::new();
    for (number, at) in (1..).zip(drawn(all.len(), draw.seed + 1, u64::MAX)) {
        let Some(one) = all.get(at) else { continue };
        entry(&mut text, number, one)?;
    }
    Ok(text)
}

fn entry(text: &mut String, number: usize, one: &Drawn<'_>) -> anyhow::Result<()> {
    let members = one.class.get("members").and_then(Value::as_array);
    let members = members.context("a class has no members")?;
    let id = one.class.get("id").and_then(Value::as_str).unwrap_or("");
    writeln!(text, "## {number}. {} ({id})\n", one.tree)?;
    let mut texts = Vec::new();
    for (at, member) in members.iter().enumerate() {
        if at >= PLACES {
            writeln!(text, "- and {} more", members.len() - at)?;
            break;
        }
        let (place, lines) = text_of(member, one.root)?;
        writeln!(text, "- `{place}`")?;
        texts.push(lines);
    }
    if let [left, right, ..] = texts.as_slice() {
        writeln!(text, "\n```text\n{}```", side_by_side(left, right))?;
    }
    let act = if one.is_first { "\nact:" } else { "" };
    writeln!(text, "\nduplicated:\nmerge:{act}\n")?;
    Ok(())
}

/// Two texts in two columns, what is equal on one line.
fn side_by_side(left: &str, right: &str) -> String {
    let difference = TextDiff::from_lines(left, right);
    let (olds, news): (Vec<&str>, Vec<&str>) = (left.lines().collect(), right.lines().collect());
    let mut rows: Vec<String> = Vec::new();
    for op in difference.ops() {
        let side = |lines: &[&str], range: Range<usize>| -> Vec<String> {
            let lines = lines.get(range).unwrap_or_default().iter();
            lines.map(|line| line.replace('\t', "    ")).collect()
        };
        let (old, new) = (side(&olds, op.old_range()), side(&news, op.new_range()));
        let is_equal = matches!(op, DiffOp::Equal { .. });
        let length = old.len().max(new.len());
        rows.extend((0..length).map(|at| row(old.get(at), new.get(at), is_equal)));
    }
    let more = rows.len().saturating_sub(SHOWN);
    rows.truncate(SHOWN);
    if more > 0 {
        rows.push(format!("… {more} more rows"));
    }
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn row(left: Option<&String>, right: Option<&String>, is_equal: bool) -> String {
    let mark = match (left, right) {
        _ if is_equal => ' ',
        (Some(_), None) => '<',
        (None, Some(_)) => '>',
        _ => '|',
    };
    let cut = |line: Option<&String>| -> String {
        let line = line.map_or("", String::as_str);
        line.chars().take(WIDTH).collect()
    };
    let row = format!("{:WIDTH$} {mark} {}", cut(left), cut(right));
    row.trim_end().to_owned()
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
    Ok((
        place.trim_end().to_owned(),
        format!("{}\n", lines.join("\n")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts_stand_side_by_side() {
        let rows = side_by_side("a\nb\nc\n", "a\nx\nc\nd\n");
        let marks: Vec<(&str, &str)> = rows
            .lines()
            .map(|row| {
                (
                    row.split(' ').next().unwrap_or(""),
                    row.get(WIDTH + 1..WIDTH + 2).unwrap_or(""),
                )
            })
            .collect();
        assert_eq!(marks, [("a", " "), ("b", "|"), ("c", " "), ("", ">")]);
    }

    #[test]
    fn what_is_drawn_is_drawn_again_and_nothing_twice() {
        let mut one = drawn(50, 7, 20);
        assert_eq!(one, drawn(50, 7, 20));
        assert_ne!(one, drawn(50, 8, 20));
        one.sort_unstable();
        one.dedup();
        assert_eq!(one.len(), 20);
    }
}
