//! `coalesce: allow(CODE, reason)` in a comment: what somebody has looked at and wants.
//!
//! It goes for its own line, or for the next line where it stands alone. A finding of a file as a whole
//! is allowed by a comment anywhere in the file. One that allows nothing is told, so that none stays
//! behind.

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Code, Finding, LanguageKind, LineIndex, Severity, TreePath, finding::codes,
    manifest::did_you_mean,
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
    let files = subject.sources.iter();
    let files = files.flat_map(|(language, paths)| paths.iter().map(|path| (*language, path)));
    for (language, path) in files.filter(|(_, path)| subject.texts.may_have_remarks(path)) {
        let text = subject.texts.text(path);
        let Some(graph) = subject.index.graph(language) else {
            continue;
        };
        let Some(text) = text.filter(|text| finder.find(text.as_bytes()).is_some()) else {
            continue;
        };
        let own = of_text(graph.grammar().lexicon().line_comment, path, &text);
        found.extend(in_comments(subject, (language, path), &text, own));
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

fn of_text(sign: &str, path: &TreePath, text: &str) -> Vec<Allowance> {
    let lines = LineIndex::new(text);
    let places = text.match_indices(MARK);
    places
        .filter_map(|(start, _)| {
            let line = lines.line_number(u32::try_from(start).unwrap_or(u32::MAX));
            let line_start = lines.line_start(line).unwrap_or(0) as usize;
            let code_before = code_before(text.get(line_start..start)?, sign)?;
            let inside = text.get(start + MARK.len()..)?;
            let inside = inside.split(['\n', '\r']).next().unwrap_or_default();
            let (inside, _) = inside.rsplit_once(')')?;
            let (code, reason) = inside.split_once(',').unwrap_or((inside, ""));
            let end = start + MARK.len() + inside.len() + 1;
            let alone = code_before.trim().is_empty();
            Some(Allowance {
                path: path.clone(),
                span: ByteSpan::from_range(start..end),
                line: line + u32::from(alone),
                code: code.trim().to_owned(),
                has_reason: !reason.trim().is_empty(),
            })
        })
        .collect()
}

/// What stands before a comment that allows something, of a line up to the word that does.
fn code_before<'t>(before: &'t str, sign: &str) -> Option<&'t str> {
    // Right behind the sign of a comment, so that a text about allowing allows nothing.
    let code = before.trim_end().strip_suffix(sign)?;
    // `/// // coalesce: …` is an example in a text for readers.
    let is_example = code.trim_start().starts_with(sign) || code.ends_with('/');
    (!is_example).then_some(code)
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
    findings.retain(|finding| {
        let covering = allowances.iter().zip(&mut used);
        let covering = covering.filter(|(allowance, _)| allowance.covers(finding, subject));
        let allowed = covering.map(|(_, used)| *used = true).count() > 0;
        if allowed && OF_OLD_NAMES.contains(&finding.code) {
            old_names.insert(finding.path.clone());
        }
        !allowed
    });
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

    /// What is wrong with a comment that allows nothing, and what to do.
    fn complaint(&self, rules: &[&str]) -> (String, String) {
        if !rules.contains(&self.code.as_str()) {
            let message = format!("there is no rule `{}`", self.code);
            let near = did_you_mean(&self.code, rules.iter().copied());
            let lists = || "`coalesce explain --help` lists the codes".to_owned();
            return (message, near.unwrap_or_else(lists));
        }
        if !self.has_reason {
            let message = "this allows nothing: it gives no reason".to_owned();
            return (message, "write `coalesce: allow(CODE, why)`".to_owned());
        }
        let message = format!("nothing here is `{}`", self.code);
        (message, "take the comment away".to_owned())
    }

    /// What is told of a comment that allows nothing.
    fn unused(&self, subject: &Subject<'_>) -> Option<Finding> {
        if OF_DUPLICATES.contains(&self.code.as_str()) {
            return None;
        }
        let own = subject.settings.rules.iter().map(|rule| rule.name.as_str());
        let rules: Vec<&str> = codes::ALL.iter().map(|code| code.0).chain(own).collect();
        // A rule that does not run finds nothing to allow.
        if subject.settings.off.contains(&self.code) {
            return None;
        }
        let (message, help) = self.complaint(&rules);
        Some(Finding {
            code: codes::UNUSED_ALLOW,
            severity: Severity::Warning,
            path: self.path.clone(),
            span: Some(self.span),
            message,
            help: Some(help),
        })
    }
}
