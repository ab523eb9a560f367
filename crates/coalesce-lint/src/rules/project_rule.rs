//! `project-rule`: what a `[[rule]]` of `coalesce.toml` says must not stand here.

use coalesce_model::{
    ByteSpan, Finding, LanguageGraph, Outline, OutlineToken, ProjectRule, RuleSubject, TokenClass,
    TreePath, finding::codes, lines::placed_lines, outline::marks,
};

use crate::{PreparedRule, Subject};

/// Every rule over every source file.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let rules = subject.rules.iter();
    rules
        .flat_map(|rule| match rule.said.over {
            RuleSubject::Imports => imports(subject, rule),
            RuleSubject::Calls => each_file(subject, rule, called),
            RuleSubject::Text => each_file(subject, rule, written),
        })
        .collect()
}

/// Where names that a rule is about are called in a file.
fn called(rule: &PreparedRule<'_>, source: &Source<'_>) -> Vec<ByteSpan> {
    let outline = source.graph.outline(source.path, source.text);
    let called = outline.map_or_else(Vec::new, |outline| called_names(&outline));
    let fits = |span: &ByteSpan| {
        let name = span.of(source.text);
        name.is_some_and(|name| rule.expression.is_match(name))
    };
    called.into_iter().filter(fits).collect()
}

/// Where the lines of a file say what a rule is about.
fn written(rule: &PreparedRule<'_>, source: &Source<'_>) -> Vec<ByteSpan> {
    let places = placed_lines(source.text).filter_map(|(start, line)| {
        let found = rule.expression.find(line)?;
        Some(ByteSpan::from_range(
            start + found.start()..start + found.end(),
        ))
    });
    places.collect()
}

fn imports(subject: &Subject<'_>, rule: &PreparedRule<'_>) -> Vec<Finding> {
    let graphs = subject.index.graphs().iter();
    let named = graphs.flat_map(|graph| graph.imports()).filter(|import| {
        rule.expression.is_match(&import.name)
            && !rule.is_home(&import.path, &subject.modules_of(&import.path))
    });
    named
        .map(|import| place(rule.said, &import.path, import.span))
        .collect()
}

/// One source file.
struct Source<'s> {
    graph: &'s dyn LanguageGraph,
    path: &'s TreePath,
    text: &'s str,
}

/// The places that are named in each source file outside of the rule's home.
fn each_file(
    subject: &Subject<'_>,
    rule: &PreparedRule<'_>,
    places: impl Fn(&PreparedRule<'_>, &Source<'_>) -> Vec<ByteSpan>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let graphs = subject.index.graphs().iter();
    let files = graphs.flat_map(|graph| {
        let paths = subject.sources_of(graph.language()).iter();
        paths.map(move |path| (*graph, path))
    });
    for (graph, path) in files.filter(|(_, path)| !rule.is_home(path, &subject.modules_of(path))) {
        let Some(text) = subject.texts.text(path) else {
            continue;
        };
        let source = Source {
            graph,
            path,
            text: &text,
        };
        let found = places(rule, &source).into_iter();
        findings.extend(found.map(|span| place(rule.said, path, span)));
    }
    findings
}

/// Where dotted names are called, as they are written.
fn called_names(outline: &Outline) -> Vec<ByteSpan> {
    let tokens = &outline.tokens;
    let called = tokens.iter().enumerate();
    let called = called.filter(|(_, token)| token.has(marks::CALLEE));
    called
        .map(|(at, token)| {
            let first = tokens.get(first_of_name(tokens, at));
            let start = first.map_or(token.span.start, |token| token.span.start);
            ByteSpan::new(start, token.span.end)
        })
        .collect()
}

/// Where the dotted name begins that ends at a token.
fn first_of_name(tokens: &[OutlineToken], mut at: usize) -> usize {
    // A name behind a `.` or `::`: the separator and the name before it belong to it.
    while tokens
        .get(at)
        .is_some_and(|token| token.has(marks::ATTRIBUTE))
    {
        let before = at.checked_sub(2).and_then(|before| tokens.get(before));
        if before.is_none_or(|before| before.class != TokenClass::Word) {
            break;
        }
        at -= 2;
    }
    at
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
