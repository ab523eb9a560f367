//! `project-rule`: what a `[[rule]]` of `coalesce.toml` says must not stand here.

use coalesce_model::{
    ByteSpan, Finding, LanguageGraph, Outline, ProjectRule, RuleSubject, TokenClass, TreePath,
    finding::codes, outline::marks,
};

use crate::{PreparedRule, Subject};

/// Every rule over every source file.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in subject.rules {
        match rule.said.over {
            RuleSubject::Imports => imports(subject, rule, &mut findings),
            RuleSubject::Calls => {
                each_file(subject, rule, &mut findings, |graph, path, text| {
                    let outline = graph.outline(path, text);
                    let called = outline.map_or_else(Vec::new, |outline| called(&outline));
                    let fits = |span: &ByteSpan| {
                        span.of(text)
                            .is_some_and(|name| rule.expression.is_match(name))
                    };
                    called.into_iter().filter(fits).collect()
                });
            }
            RuleSubject::Text => each_file(subject, rule, &mut findings, |_, _, text| {
                lines(text)
                    .filter_map(|(start, line)| {
                        let found = rule.expression.find(line)?;
                        Some(ByteSpan::from_range(
                            start + found.start()..start + found.end(),
                        ))
                    })
                    .collect()
            }),
        }
    }
    findings
}

/// The lines of a text without their ends, each with its first byte.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line.trim_end_matches(['\n', '\r']))
    })
}

fn imports(subject: &Subject<'_>, rule: &PreparedRule<'_>, findings: &mut Vec<Finding>) {
    for graph in subject.index.graphs() {
        for import in graph.imports() {
            if rule.expression.is_match(&import.name)
                && !rule.is_home(&import.path, &subject.modules_of(&import.path))
            {
                findings.push(place(rule.said, &import.path, import.span));
            }
        }
    }
}

/// The places that are named in each source file outside of the rule's home.
fn each_file(
    subject: &Subject<'_>,
    rule: &PreparedRule<'_>,
    findings: &mut Vec<Finding>,
    places: impl Fn(&dyn LanguageGraph, &TreePath, &str) -> Vec<ByteSpan>,
) {
    for graph in subject.index.graphs() {
        for path in subject.sources_of(graph.language()) {
            if rule.is_home(path, &subject.modules_of(path)) {
                continue;
            }
            let Some(text) = subject.texts.text(path) else {
                continue;
            };
            let found = places(*graph, path, &text).into_iter();
            findings.extend(found.map(|span| place(rule.said, path, span)));
        }
    }
}

/// Where dotted names are called, as they are written.
fn called(outline: &Outline) -> Vec<ByteSpan> {
    let mut names = Vec::new();
    for (at, token) in outline.tokens.iter().enumerate() {
        if !token.has(marks::CALLEE) {
            continue;
        }
        let mut first = at;
        // A name behind a `.` or `::`: the separator and the name before it belong to it.
        while outline
            .tokens
            .get(first)
            .is_some_and(|token| token.has(marks::ATTRIBUTE))
        {
            let before = first
                .checked_sub(2)
                .and_then(|before| outline.tokens.get(before));
            if before.is_none_or(|before| before.class != TokenClass::Word) {
                break;
            }
            first -= 2;
        }
        let start = outline
            .tokens
            .get(first)
            .map_or(token.span.start, |token| token.span.start);
        names.push(ByteSpan::new(start, token.span.end));
    }
    names
}

fn place(rule: &ProjectRule, path: &TreePath, span: ByteSpan) -> Finding {
    Finding {
        code: codes::PROJECT_RULE,
        severity: rule.severity,
        path: path.clone(),
        span: Some(span),
        message: format!("{}: {}", rule.name, rule.message),
        help: rule.help.clone(),
    }
}
