//! Unified diffs as git writes them: renames shown as renames, a missing last newline shown.
//!
//! A line ends at `\n` and nowhere else, as in git; so a changed line ending is a changed line.

use std::fmt::Write as _;

use coalesce_model::TreePath;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops, udiff::UnifiedHunkHeader};

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// One side of a change: a file and its text.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The file.
    pub path: &'a TreePath,
    /// Its text; `None` for a file that holds none, of which no line is shown.
    pub text: Option<&'a str>,
}

/// The diff of one file: `None` on the left for a new one, on the right for one that goes away.
/// Empty when nothing changes.
#[must_use]
pub fn file_diff(before: Option<Side<'_>>, after: Option<Side<'_>>) -> String {
    let Some(either) = before.or(after) else {
        return String::new();
    };
    let old_path = before.unwrap_or(either).path;
    let new_path = after.unwrap_or(either).path;
    let old = before.map_or(Some(""), |side| side.text);
    let new = after.map_or(Some(""), |side| side.text);
    if before.is_some() && after.is_some() && old_path == new_path && old == new {
        return String::new();
    }
    let (old_name, new_name) = (name("a", old_path), name("b", new_path));
    let mut out = format!("diff --git {old_name} {new_name}\n");
    out.push_str(&what_becomes(before, after));
    let absent = "/dev/null".to_owned();
    let old_name = if before.is_some() {
        old_name
    } else {
        absent.clone()
    };
    let new_name = if after.is_some() { new_name } else { absent };
    out.push_str(&match (old, new) {
        (Some(old), Some(new)) => match hunks(old, new) {
            none if none.is_empty() => none,
            hunks => format!("--- {old_name}\n+++ {new_name}\n{hunks}"),
        },
        // A moved file without text goes as it is.
        (None, None) => String::new(),
        _ => format!("Binary files {old_name} and {new_name} differ\n"),
    });
    out
}

/// Whether a file is new, goes away, or has another name, as git says it.
fn what_becomes(before: Option<Side<'_>>, after: Option<Side<'_>>) -> String {
    match (before, after) {
        (None, _) => "new file mode 100644\n".to_owned(),
        (_, None) => "deleted file mode 100644\n".to_owned(),
        (Some(before), Some(after)) if before.path != after.path => {
            let (from, to) = (quoted(before.path.as_str()), quoted(after.path.as_str()));
            format!("rename from {from}\nrename to {to}\n")
        }
        _ => String::new(),
    }
}

/// The lines of `new` that `old` does not have, 1-based, in order.
#[must_use]
pub fn changed_lines(old: &str, new: &str) -> Vec<u32> {
    let before: Vec<&str> = old.split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let changes = capture_diff_slices(Algorithm::Myers, &before, &after);
    let new_lines = changes.iter().filter_map(|change| match change {
        DiffOp::Insert {
            new_index, new_len, ..
        }
        | DiffOp::Replace {
            new_index, new_len, ..
        } => Some(*new_index..*new_index + *new_len),
        DiffOp::Equal { .. } | DiffOp::Delete { .. } => None,
    });
    let number = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
    new_lines.flatten().map(number).collect()
}

fn name(side: &str, path: &TreePath) -> String {
    quoted(&format!("{side}/{path}"))
}

/// A path as git spells it: in quotes when a character would be misread.
fn quoted(path: &str) -> String {
    let plain = |character: char| !character.is_control() && !matches!(character, '"' | '\\');
    if path.chars().all(plain) {
        return path.to_owned();
    }
    let mut out = String::from("\"");
    for character in path.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            character if character.is_control() => {
                let mut buffer = [0; 4];
                for byte in character.encode_utf8(&mut buffer).bytes() {
                    write!(out, "\\{byte:03o}")
                        .expect("invariant: writing to a String does not fail");
                }
            }
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

fn hunks(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut out = String::new();
    for group in group_diff_ops(operations, CONTEXT) {
        out.push_str(&UnifiedHunkHeader::new(&group).to_string());
        out.push('\n');
        for operation in group {
            hunk_part(&mut out, operation, &old, &new);
        }
    }
    out
}

fn hunk_part(out: &mut String, operation: DiffOp, old: &[&str], new: &[&str]) {
    let removed = old.get(operation.old_range()).unwrap_or_default();
    if matches!(operation, DiffOp::Equal { .. }) {
        return lines(out, ' ', removed);
    }
    lines(out, '-', removed);
    lines(out, '+', new.get(operation.new_range()).unwrap_or_default());
}

fn lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type File = Option<(&'static str, Option<&'static str>)>;

    fn check(before: File, after: File, expected: &str) {
        let own = |file: File| file.map(|(path, text)| (TreePath::new(path).unwrap(), text));
        let (before, after) = (own(before), own(after));
        let before = before
            .as_ref()
            .map(|(path, text)| Side { path, text: *text });
        let after = after
            .as_ref()
            .map(|(path, text)| Side { path, text: *text });
        assert_eq!(file_diff(before, after), expected);
    }

    #[test]
    fn each_kind_of_change_reads_as_git_writes_it() {
        check(Some(("a.py", Some("x\n"))), Some(("a.py", Some("x\n"))), "");
        check(
            Some(("a.py", Some("1\n2\n3\n4\n5\n6\n"))),
            Some(("a.py", Some("1\n2\n3\n4\nfive\n6\n"))),
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+five\n 6\n",
        );
        check(
            Some(("a.py", Some("x"))),
            Some(("b/a.py", Some("x"))),
            "diff --git a/a.py b/b/a.py\nrename from a.py\nrename to b/a.py\n",
        );
        check(
            None,
            Some(("a.py", Some("x"))),
            "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
        );
        check(
            Some(("a\tb", Some("x\r\n"))),
            None,
            "diff --git \"a/a\\011b\" \"b/a\\011b\"\ndeleted file mode 100644\n--- \"a/a\\011b\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\r\n",
        );
    }
}
