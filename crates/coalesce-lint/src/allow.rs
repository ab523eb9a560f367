//! `coalesce: allow(CODE, reason)` in a comment: what somebody has looked at and wants.
//!
//! It goes for its own line, or for the next line where it stands alone. A finding of a file as a whole
//! is allowed by a comment anywhere in the file. One that allows nothing is told, so that none stays
//! behind.

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Code, Finding, LanguageKind, LineIndex, Severity, TreePath, finding::codes,
};
use memchr::memmem;

use crate::Subject;

const MARK: &str = "coalesce: allow(";
/// What the duplicate finder reads for itself.
const OF_DUPLICATES: [&str; 2] = ["duplicate", "duplicates"];
/// Findings that `check --fix` would mend: what is allowed of them, it leaves.
const OF_OLD_NAMES: [Code; 3] = [
    codes::DEPRECATED_PATH,
    codes::REMOVED_REFERENCE,
    codes::FORBIDDEN_PATH,
];

/// One comment.
pub struct Allowance {
    path: TreePath,
    span: ByteSpan,
    /// The line that it goes for, 1-based.
    line: u32,
    code: String,
    has_reason: bool,
}

/// The comments of all source files.
pub fn of_sources(subject: &Subject<'_>) -> Vec<Allowance> {
    let mut found = Vec::new();
    let finder = memmem::Finder::new(MARK);
    for (language, paths) in subject.sources {
        for path in paths {
            if !subject.texts.may_have_remarks(path) {
                continue;
            }
            let Some(text) = subject.texts.text(path) else {
                continue;
            };
            if finder.find(text.as_bytes()).is_some() {
                let before = found.len();
                of_text(*language, path, &text, &mut found);
                let own = found.split_off(before);
                found.extend(in_comments(subject, (*language, path), &text, own));
            }
        }
    }
    found
}

/// Those that do not stand in a string.
fn in_comments(
    subject: &Subject<'_>,
    (language, path): (LanguageKind, &TreePath),
    text: &str,
    mut found: Vec<Allowance>,
) -> Vec<Allowance> {
    let graph = subject.index.graph(language);
    let outline = graph.and_then(|graph| graph.outline(path, text));
    let tokens = outline.map(|outline| outline.tokens).unwrap_or_default();
    found.retain(|allowance| {
        let at = allowance.span.start;
        let after = tokens.partition_point(|token| token.span.start <= at);
        let token = after.checked_sub(1).and_then(|before| tokens.get(before));
        token.is_none_or(|token| token.span.end <= at)
    });
    found
}

fn of_text(language: LanguageKind, path: &TreePath, text: &str, found: &mut Vec<Allowance>) {
    let sign = match language {
        LanguageKind::Python => "#",
        LanguageKind::Rust | LanguageKind::Kernel => "//",
    };
    let lines = LineIndex::new(text);
    for (start, _) in text.match_indices(MARK) {
        let line_number = lines.line_number(u32::try_from(start).unwrap_or(u32::MAX));
        let line_start = lines.line_start(line_number).unwrap_or(0) as usize;
        let before = text.get(line_start..start).unwrap_or_default();
        // Right behind the sign of a comment, so that a text about allowing allows nothing.
        let Some(code_before) = before.trim_end().strip_suffix(sign) else {
            continue;
        };
        // `/// // coalesce: …` is an example in a text for readers.
        if code_before.trim_start().starts_with(sign) || code_before.ends_with('/') {
            continue;
        }
        let inside = text.get(start + MARK.len()..).unwrap_or_default();
        let inside = inside.split(['\n', '\r']).next().unwrap_or_default();
        let Some((inside, _)) = inside.rsplit_once(')') else {
            continue;
        };
        let (code, reason) = inside.split_once(',').unwrap_or((inside, ""));
        let end = start + MARK.len() + inside.len() + 1;
        let alone = code_before.trim().is_empty();
        found.push(Allowance {
            path: path.clone(),
            span: ByteSpan::from_range(start..end),
            line: line_number + u32::from(alone),
            code: code.trim().to_owned(),
            has_reason: !reason.trim().is_empty(),
        });
    }
}

/// Takes out what the comments allow and adds what is wrong with them; how many findings went, and the files in
/// which a use of an old name is among them.
pub fn apply(
    allowances: &[Allowance],
    findings: &mut Vec<Finding>,
    subject: &Subject<'_>,
) -> (usize, BTreeSet<TreePath>) {
    let mut used = vec![false; allowances.len()];
    let mut old_names = BTreeSet::new();
    let before = findings.len();
    if !allowances.is_empty() {
        findings.retain(|finding| {
            let mut kept = true;
            for (allowance, used) in allowances.iter().zip(&mut used) {
                if allowance.covers(finding, subject) {
                    (*used, kept) = (true, false);
                }
            }
            if !kept && OF_OLD_NAMES.contains(&finding.code) {
                old_names.insert(finding.path.clone());
            }
            kept
        });
    }
    let allowed = before - findings.len();
    let idle = allowances.iter().zip(used).filter(|(_, used)| !used);
    findings.extend(idle.filter_map(|(allowance, _)| allowance.unused(subject)));
    (allowed, old_names)
}

impl Allowance {
    fn covers(&self, finding: &Finding, subject: &Subject<'_>) -> bool {
        if !self.has_reason || finding.path != self.path || !self.names(finding) {
            return false;
        }
        let Some(span) = finding.span else {
            return true;
        };
        let text = subject.texts.text(&finding.path);
        text.is_some_and(|text| LineIndex::new(&text).line_number(span.start) == self.line)
    }

    /// Whether the code is the finding's, or the name of the project's own rule.
    fn names(&self, finding: &Finding) -> bool {
        let own = || {
            let rest = finding.message.strip_prefix(&self.code);
            rest.is_some_and(|rest| rest.starts_with(": "))
        };
        finding.code.0 == self.code || (finding.code == codes::PROJECT_RULE && own())
    }

    /// What is wrong with a comment that allows nothing.
    fn unused(&self, subject: &Subject<'_>) -> Option<Finding> {
        if OF_DUPLICATES.contains(&self.code.as_str()) {
            return None;
        }
        let own = subject.settings.rules.iter();
        let known = codes::ALL.iter().any(|code| code.0 == self.code)
            || own.into_iter().any(|rule| rule.name == self.code);
        // A rule that does not run finds nothing to allow.
        if subject.settings.off.contains(&self.code) {
            return None;
        }
        let (message, help) = if !known {
            (
                format!("there is no rule `{}`", self.code),
                "`coalesce explain --help` lists the codes",
            )
        } else if !self.has_reason {
            (
                "this allows nothing: it gives no reason".to_owned(),
                "write `coalesce: allow(CODE, why)`",
            )
        } else {
            (
                format!("nothing here is `{}`", self.code),
                "take the comment away",
            )
        };
        Some(Finding {
            code: codes::UNUSED_ALLOW,
            severity: Severity::Warning,
            path: self.path.clone(),
            span: Some(self.span),
            message,
            help: Some(help.to_owned()),
        })
    }
}
