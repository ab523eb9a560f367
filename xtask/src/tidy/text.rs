//! Rules about every text file: nothing of one machine, nothing of one registry, and documents whose
//! links lead somewhere.

use std::collections::BTreeSet;

use crate::repository::File;

/// What must not stand in any file, and what it is. Written in pieces, so that this file passes.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/ho", "me/"), "a path of one machine"),
    (concat!("/Us", "ers/"), "a path of one machine"),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("C:\\Us", "ers"), "a path of one machine"),
    (concat!("index.cra", "tes.io"), "a registry's host"),
    (concat!("static.cra", "tes.io"), "a registry's host"),
    (concat!("pypi", ".org"), "a registry's host"),
    (concat!("pythonhos", "ted.org"), "a registry's host"),
    (concat!("registry.np", "mjs.org"), "a registry's host"),
];

/// The only source that a locked package may come from.
const LOCK_SOURCE: &str = concat!("registry+https://github.com/rust-lang/cra", "tes.io-index");

/// How long the map may be: who is new reads it whole, and details have a place in `docs/internals`.
const MAP: (&str, usize) = ("ARCHITECTURE.md", 250);

/// Trees that are data of tests and samples: their documents are part of them.
const DATA: &[&str] = &["tests/", "examples/"];

/// Files that name a machine or a registry, a map that nobody reads to its end, links to nothing.
pub fn problems(files: &[File]) -> Vec<String> {
    let mut problems = dead_links(files);
    for file in files {
        let text = file.text.as_deref().unwrap_or_default();
        let (map, most) = MAP;
        let lines = text.lines().count();
        if file.path == map && lines > most {
            problems.push(format!("{map}: has {lines} lines, more than {most}"));
        }
        for (number, line) in (1..).zip(text.lines()) {
            let what = problems_of(&file.path, line);
            problems.extend(what.map(|what| format!("{}:{number}: {what}", file.path)));
        }
    }
    problems
}

/// What must not stand in a line of a file.
fn problems_of<'l>(path: &str, line: &'l str) -> impl Iterator<Item = &'static str> + use<'l> {
    let forbidden = FORBIDDEN
        .iter()
        .filter(move |(part, _)| line.contains(part));
    let source = line.strip_prefix("source = ");
    let source = source.map(|source| source.trim_matches('"'));
    let foreign = path == "Cargo.lock" && source.is_some_and(|source| source != LOCK_SOURCE);
    let foreign = foreign.then_some("a source that others may not have");
    forbidden.map(|(_, what)| *what).chain(foreign)
}

/// Links of documents to files of the repository that are not there, or to headings that they do not have.
fn dead_links(files: &[File]) -> Vec<String> {
    let is_document = |file: &&File| {
        file.path.ends_with(".md") && !DATA.iter().any(|data| file.path.starts_with(data))
    };
    let mut problems = Vec::new();
    for file in files.iter().filter(is_document) {
        for (line, link) in links(file.text.as_deref().unwrap_or_default()) {
            let why = why_dead(files, &file.path, link);
            problems.extend(why.map(|why| format!("{}:{line}: {why}", file.path)));
        }
    }
    problems
}

/// Why a link of a document leads nowhere; `None` where it leads somewhere.
fn why_dead(files: &[File], document: &str, link: &str) -> Option<String> {
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let Some(path) = beside(document, path) else {
        return Some(format!("`{link}` leads out of the repository"));
    };
    let folder = format!("{path}/");
    let target = files.iter().find(|target| target.path == path);
    if target.is_none() && !files.iter().any(|file| file.path.starts_with(&folder)) {
        return Some(format!("there is no `{path}` to link to"));
    }
    let text = target.and_then(|target| target.text.as_deref());
    let is_there = heading.is_empty() || anchors(text.unwrap_or_default()).contains(heading);
    (!is_there).then(|| format!("`{path}` has no heading `#{heading}`"))
}

/// Links of a document within the repository, with their lines; code is left out.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || line.starts_with("    ") {
            continue;
        }
        for rest in line.split("](").skip(1) {
            let link = rest.split([')', ' ']).next().unwrap_or_default();
            if !link.is_empty() && !link.contains("://") && !link.starts_with("mailto:") {
                links.push((number, link));
            }
        }
    }
    links
}

/// The path that a link of a document means; `None` where it leads out of the repository.
fn beside(document: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(document.to_owned());
    }
    let mut path: Vec<&str> = document.split('/').collect();
    path.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = path.pop()?,
            part => path.push(part),
        }
    }
    Some(path.join("/"))
}

/// What can be linked to in a document: its headings as GitHub spells them in addresses.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| {
        let heading = line.trim_start_matches('#');
        (heading.len() < line.len()).then(|| heading.trim())
    });
    let spelled = headings.map(|heading| {
        let kept = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c })
            .flat_map(char::to_lowercase)
            .collect()
    });
    spelled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_files_folders_and_headings() {
        let file = |path: &str, text: &str| File {
            path: path.into(),
            text: Some(text.into()),
        };
        let files = [
            file(
                "docs/a.md",
                "[b](b.md) [up](../README.md#the-first-one) [own](#a-b) [out](../../x)\n# A: b\n\
                 [gone](gone.md)\n```\n[code](gone.md)\n```\n    [code](gone.md)\n\
                 [web](https://example.com/gone.md) [folder](pictures) [no](b.md#no)\n",
            ),
            file("docs/b.md", ""),
            file("docs/pictures/a.png", ""),
            file("README.md", "# The *first* one\n"),
            file("tests/cases/x/README.md", "[data](gone.md)\n"),
        ];
        assert_eq!(
            dead_links(&files),
            [
                "docs/a.md:1: `../../x` leads out of the repository",
                "docs/a.md:3: there is no `docs/gone.md` to link to",
                "docs/a.md:8: `docs/b.md` has no heading `#no`",
            ]
        );
    }
}
