//! Takes names out of a comma-separated list without touching the rest: its wrapping, its comments
//! and its trailing comma stay as the author left them.
//!
//! Text only: it knows where the elements are, not what they mean.

use coalesce_model::ByteSpan;

/// What taking elements out of a list amounts to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Bytes that go, sorted and disjoint.
    pub spans: Vec<ByteSpan>,
    /// Comments that stood on the lines of elements that go, in order.
    pub comments: Vec<String>,
}

/// Takes those `elements` out for which `gone` says so. At least one must stay.
pub fn remove(text: &str, elements: &[ByteSpan], gone: &[bool]) -> Removal {
    let mut removal = Removal::default();
    let is_gone = |at: usize| gone.get(at).copied().unwrap_or(false);
    let mut at = 0;
    while let Some(element) = elements.get(at) {
        if !is_gone(at) {
            at += 1;
        } else if let Some((line, comment)) = own_line(text, *element) {
            removal.spans.push(line);
            removal.comments.extend(comment);
            at += 1;
        } else {
            let (span, after) = cut_run(text, elements, at, &is_gone);
            removal.spans.push(span);
            at = after;
        }
    }
    removal.spans = ByteSpan::united(removal.spans);
    removal
}

/// What to cut for the elements from `at` on that go and share their lines, and the first one behind them.
fn cut_run(
    text: &str,
    elements: &[ByteSpan],
    at: usize,
    is_gone: &dyn Fn(usize) -> bool,
) -> (ByteSpan, usize) {
    let shares_line = |at: usize| {
        let element = elements.get(at);
        element.is_some_and(|element| own_line(text, *element).is_none())
    };
    let run = (at..elements.len()).take_while(|at| is_gone(*at));
    let last = run
        .filter(|other| *other == at || shares_line(*other))
        .last();
    let last = last.unwrap_or(at);
    let before = (0..at).rev().find(|at| !is_gone(*at));
    let previous = before.and_then(|at| elements.get(at));
    let start = elements.get(at).map_or(0, |first| first.start);
    let end = elements.get(last).map_or(start, |last| last.end);
    let run = ByteSpan::new(start, end);
    (cut(text, run, previous, elements.get(last + 1)), last + 1)
}

/// The whole line of an element that has one to itself, with the comment at its end.
fn own_line(text: &str, element: ByteSpan) -> Option<(ByteSpan, Option<String>)> {
    let before = text.get(..element.start as usize)?;
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let rest = text.get(element.end as usize..)?;
    let line = rest.split(['\n', '\r']).next()?;
    let tail = line.trim_start();
    let tail = tail.strip_prefix(',').unwrap_or(tail).trim_start();
    let continued = before
        .get(..start)?
        .trim_end_matches(['\n', '\r'])
        .ends_with('\\');
    if continued
        || !before.get(start..)?.trim().is_empty()
        || !(tail.is_empty() || tail.starts_with('#'))
    {
        return None;
    }
    let after = rest.get(line.len()..)?;
    let newline = newline_length(after);
    let end = element.end as usize + line.len() + newline;
    let comment = (!tail.is_empty()).then(|| tail.trim_end().to_owned());
    Some((ByteSpan::from_range(start..end), comment))
}

/// How long the line break is that a text begins with.
fn newline_length(text: &str) -> usize {
    match text.starts_with("\r\n") {
        true => 2,
        false => usize::from(!text.is_empty()),
    }
}

/// What to cut for elements that share a line with others.
fn cut(
    text: &str,
    run: ByteSpan,
    previous: Option<&ByteSpan>,
    next: Option<&ByteSpan>,
) -> ByteSpan {
    let between = |from: u32, to: u32| ByteSpan::new(from, to).of(text);
    let plain = |from, to| between(from, to).is_some_and(|part| !part.contains('#'));
    let same_line = |from, to| between(from, to).is_some_and(|part| !part.contains(['\n', '\r']));
    let up_to_next = next.map(|next| ByteSpan::new(run.start, next.start));
    if next.is_some_and(|next| same_line(run.end, next.start)) {
        return up_to_next.unwrap_or(run);
    }
    let beside = previous.filter(|previous| same_line(previous.end, run.start));
    if let (Some(previous), Some(_)) = (beside, next) {
        return ByteSpan::new(previous.end, run.end);
    }
    if next.is_some_and(|next| plain(run.end, next.start)) {
        return up_to_next.unwrap_or(run);
    }
    match (previous, next) {
        (Some(previous), None) if plain(previous.end, run.start) => {
            ByteSpan::new(previous.end, run.end)
        }
        // A comment stands between: only the element and the comma after it go.
        _ => ByteSpan::new(run.start, run.end + comma_behind(text, run.end, next)),
    }
}

/// How far behind an element the comma ends that follows it, if another element does.
fn comma_behind(text: &str, end: u32, next: Option<&ByteSpan>) -> u32 {
    let rest = text.get(end as usize..).unwrap_or_default();
    let comma = next.and_then(|_| rest.find(',')).map_or(0, |at| at + 1);
    ByteSpan::from_range(0..comma).end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the elements whose names are in upper case out of `before`.
    fn check(before: &str, after: &str, comments: &[&str]) {
        let open = before.find("import").map_or(0, |at| at + "import".len());
        let mut elements = Vec::new();
        let mut at = open;
        for line in before.get(open..).unwrap().split_inclusive('\n') {
            let code = line.split('#').next().unwrap();
            let mut within = 0;
            for part in code.split(',') {
                let name = part.trim_matches(|c: char| c.is_whitespace() || "()\\".contains(c));
                if !name.is_empty() {
                    let start = at + within + part.find(name).unwrap();
                    elements.push(ByteSpan::from_range(start..start + name.len()));
                }
                within += part.len() + 1;
            }
            at += line.len();
        }
        let gone: Vec<bool> = elements
            .iter()
            .map(|span| span.of(before).unwrap().chars().any(char::is_uppercase))
            .collect();
        let removal = remove(before, &elements, &gone);
        let mut result = before.to_owned();
        for span in removal.spans.iter().rev() {
            result.replace_range(span.range(), "");
        }
        assert_eq!(result, after, "{before}");
        assert_eq!(removal.comments, comments, "{before}");
    }

    #[test]
    fn only_what_goes_goes() {
        for (before, after, comments) in [
            ("import a, B, c", "import a, c", &[][..]),
            ("import B, c  # x", "import c  # x", &[]),
            ("import a, B", "import a", &[]),
            ("import a, B, C, d, E", "import a, d", &[]),
            ("import (a, B)", "import (a)", &[]),
            (
                "import (\n    a,\n    B,\n    c,\n)",
                "import (\n    a,\n    c,\n)",
                &[],
            ),
            (
                "import (\n    a,\n    B,  # why\n)",
                "import (\n    a,\n)",
                &["# why"],
            ),
            (
                "import (\n    a,\n    B  # why\n)",
                "import (\n    a,\n)",
                &["# why"],
            ),
            (
                "import (\r\n    B,\r\n    c,\r\n)",
                "import (\r\n    c,\r\n)",
                &[],
            ),
            ("import (a, B,\n        c)", "import (a,\n        c)", &[]),
            ("import (B,\n        c)", "import (c)", &[]),
            (
                "import (a,  # x\n        B)",
                "import (a,  # x\n        )",
                &[],
            ),
            (
                "import (B,  # x\n        c)",
                "import (  # x\n        c)",
                &[],
            ),
            ("import a, \\\n    B", "import a", &[]),
            (
                "import (\n    a, B,\n    C, d,\n)",
                "import (\n    a, d,\n)",
                &[],
            ),
            ("import (\n    a,\n    B,\n    C)", "import (\n    a)", &[]),
        ] {
            check(before, after, comments);
        }
    }
}
