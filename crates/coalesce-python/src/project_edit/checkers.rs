//! What checkers of types are told of some modules alone: tables and sections by names and patterns of names, files that
//! are left out, and comments at the head of a file. What goes elsewhere may be checked otherwise there.

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind, lines::placed_lines,
    texts::start_of_text,
};

use super::{
    included::{Going, Named, entries, going},
    tools::{heads, words},
};
use crate::{
    names::is_or_below,
    patterns::{fits, reaches},
    project::{Document, tables_of},
    rewrite::Mapping,
};

/// What a table may say besides its modules that is about who imports them, and not about what is in them.
const ABOUT_IMPORTS: [&str; 3] = ["module", "ignore_missing_imports", "follow_untyped_imports"];

/// Keys of patterns of files that are checked otherwise than the others.
const FILES: [&[&str]; 3] = [
    &["tool", "pyright", "exclude"],
    &["tool", "pyright", "ignore"],
    &["tool", "pyright", "strict"],
];

/// What a setting is said of.
enum ConcernedModules {
    /// Modules, by names and patterns.
    Modules(Vec<String>),
    /// Files, by a regular expression.
    Matching(String),
    /// Files, by a pattern of paths.
    Files(String),
}

/// A setting that holds for some modules alone.
struct CheckerSetting {
    span: ByteSpan,
    said: ConcernedModules,
}

impl CheckerSetting {
    /// Whether it holds for what goes: where it is, or where it goes and names have followed.
    fn holds(&self, mapping: &Mapping<'_>, around: &TreePath, going: &Going, after: bool) -> bool {
        let place = if after { &going.is } else { &going.was };
        let path = place.file.strip_prefix(around);
        let path = path.unwrap_or(place.file.as_str());
        match &self.said {
            ConcernedModules::Modules(patterns) => patterns.iter().any(|pattern| {
                let (stem, rest) = match pattern.strip_suffix(".*") {
                    Some(stem) => (stem, ".*"),
                    None => (pattern.as_str(), ""),
                };
                let stem = match after {
                    true => mapping.renames.name_after(stem),
                    false => stem.to_owned(),
                };
                is_about(&format!("{stem}{rest}"), &place.name)
            }),
            ConcernedModules::Matching(expression) => may_match(expression, path),
            ConcernedModules::Files(pattern) => reaches(pattern, path),
        }
    }
}

/// Whether a pattern of names is about a module.
fn is_about(pattern: &str, module: &str) -> bool {
    match pattern.strip_suffix(".*") {
        Some(stem) if !stem.contains('*') => is_or_below(module, stem),
        _ => fits(pattern, module),
    }
}

/// Whether a regular expression may match a path: where what stands in it literally is there in that order.
fn may_match(expression: &str, path: &str) -> bool {
    expression.split('|').any(|way| {
        let (mut rest, mut begins) = (path, way.trim_start().starts_with('^'));
        literal_runs(way).iter().all(|run| {
            let at = rest.find(run.as_str());
            let at = at.filter(|at| !begins || *at == 0);
            begins = false;
            let after = at.and_then(|at| rest.get(at + run.len()..));
            rest = after.unwrap_or_default();
            after.is_some()
        })
    })
}

/// What stands literally in a regular expression.
fn literal_runs(expression: &str) -> Vec<String> {
    let mut runs = vec![String::new()];
    let mut characters = expression.trim().chars().peekable();
    while let Some(character) = characters.next() {
        let literal = match character {
            '\\' => characters.next().filter(|next| !next.is_alphanumeric()),
            // What may be there any number of times need not be.
            _ if matches!(characters.peek(), Some('*' | '?' | '{')) => None,
            _ => Some(character).filter(|own| !"^$.*+?()[]{} \n\t".contains(*own)),
        };
        match (literal, runs.last_mut()) {
            (Some(literal), Some(run)) => run.push(literal),
            _ => runs.push(String::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Tells what holds for something that goes and not where it goes, or the other way round.
pub fn checked_otherwise(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let going = going(mapping);
    if going.is_empty() {
        return;
    }
    for path in texts.paths() {
        let Some(read) = reader(path) else { continue };
        let text = texts.text(path).unwrap_or_default();
        let around = path.parent().unwrap_or_else(TreePath::root);
        for setting in read(&text) {
            let told = going.iter().find_map(|going| {
                let [was, is] =
                    [false, true].map(|after| setting.holds(mapping, &around, going, after));
                (was != is).then_some((going, was))
            });
            plan.unproven.extend(told.map(|(going, was)| {
                Unproven {
                    path: path.clone(),
                    span: Some(setting.span),
                    kind: UnprovenKind::Condition,
                    name: going.name.clone(),
                    why: match was {
                        true => "this holds for it where types are checked, and not where it goes",
                        false => {
                            "this holds where it goes, so that its types are checked otherwise"
                        }
                    }
                    .to_owned(),
                }
            }));
        }
    }
    plan.unproven.extend(comments(&going, texts));
}

/// How the settings in a file are read.
fn reader(path: &TreePath) -> Option<fn(&str) -> Vec<CheckerSetting>> {
    match path.file_name() {
        "pyproject.toml" => Some(|text| of_pyproject(text).unwrap_or_default()),
        "mypy.ini" | ".mypy.ini" | "setup.cfg" | "tox.ini" => Some(of_sections),
        _ => None,
    }
}

fn of_pyproject(text: &str) -> Option<Vec<CheckerSetting>> {
    let start = start_of_text(text) as usize;
    let document = toml_edit::Document::parse(text.get(start..)?).ok()?;
    let document = Document::new(document.as_item());
    let place = |(name, span): Named| {
        let span = ByteSpan::from_range(span.start + start..span.end + start);
        (name, span)
    };
    let listed = |keys: &[&str]| {
        let entries = document.at(keys).map(entries).unwrap_or_default();
        entries.into_iter().map(place)
    };
    let overrides = document.at(&["tool", "mypy", "overrides"]);
    let overrides = overrides.into_iter().flat_map(tables_of);
    let overrides = overrides.filter_map(|table| {
        let mut keys = table.iter();
        keys.any(|(key, _)| !ABOUT_IMPORTS.contains(&key))
            .then_some(())?;
        let named: Vec<_> = entries(table.get("module")?)
            .into_iter()
            .map(place)
            .collect();
        let (_, span) = *named.first()?;
        let names = named.into_iter().map(|(name, _)| name).collect();
        let said = ConcernedModules::Modules(names);
        Some(CheckerSetting { span, said })
    });
    let left_out = listed(&["tool", "mypy", "exclude"]);
    let left_out = left_out.map(|(text, span)| CheckerSetting {
        span,
        said: ConcernedModules::Matching(text),
    });
    let files = FILES.into_iter().flat_map(|keys| {
        listed(keys).map(|(pattern, span)| CheckerSetting {
            span,
            said: ConcernedModules::Files(pattern),
        })
    });
    Some(overrides.chain(left_out).chain(files).collect())
}

/// The sections of modules of a file, `[mypy-pkg.*]`, and what its own section leaves out.
fn of_sections(text: &str) -> Vec<CheckerSetting> {
    let of_modules = heads(text).into_iter().filter_map(|head| {
        let body = text.get(head.end as usize..)?;
        let body = body.split("\n[").next()?;
        let mut keys = body.lines().skip(1).filter_map(|line| {
            let key = line.split_once(['=', ':'])?.0.trim();
            (!key.starts_with(['#', ';'])).then_some(key)
        });
        keys.any(|key| !ABOUT_IMPORTS.contains(&key))
            .then_some(())?;
        let names = words(text, head).into_iter();
        let names = names.filter_map(|name| name.of(text).map(str::to_owned));
        let said = ConcernedModules::Modules(names.collect());
        Some(CheckerSetting { span: head, said })
    });
    let mut section = "";
    let left_out = placed_lines(text).filter_map(|(at, line)| {
        if let Some(head) = line.strip_prefix('[') {
            section = head.split(']').next().unwrap_or_default();
        }
        let (key, value) = line.split_once('=').filter(|_| section == "mypy")?;
        let start = at + line.len() - value.trim_start().len();
        (key.trim() == "exclude").then(|| CheckerSetting {
            span: ByteSpan::from_range(start..start + value.trim().len()),
            said: ConcernedModules::Matching(value.trim().to_owned()),
        })
    });
    let left_out: Vec<CheckerSetting> = left_out.collect();
    of_modules.chain(left_out).collect()
}

/// Definitions that leave a file whose head says how its types are checked, and arrive where it says otherwise.
fn comments(going: &[Going], texts: &dyn Texts) -> Vec<Unproven> {
    let items = going.iter().filter(|going| going.item.is_some());
    let told = items.filter_map(|going| {
        let text = |path: &TreePath| texts.text(path).unwrap_or_default();
        let (from, to) = (text(&going.was.file), text(&going.is.file));
        let (old, new) = (said_at_head(&from), said_at_head(&to));
        let lost = old.difference(&new).next().map(|_| &going.was.file);
        let found = new.difference(&old).next().map(|_| &going.is.file);
        Some(Unproven {
            path: lost.or(found)?.clone(),
            span: None,
            kind: UnprovenKind::Condition,
            name: going.name.clone(),
            why: "a comment at the head of this file says how its types are checked, and the other file says it otherwise"
                .to_owned(),
        })
    });
    told.collect()
}

/// What comments above the code say to checkers of types.
fn said_at_head(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().map(str::trim);
    let head = lines.take_while(|line| line.is_empty() || line.starts_with('#'));
    let said = head.filter_map(|line| {
        let comment = line.trim_start_matches('#').trim();
        let known = ["mypy:", "pyright:", "type: ignore"];
        known
            .iter()
            .any(|word| comment.starts_with(word))
            .then_some(comment)
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_names_and_files_are_about_modules() {
        for (pattern, module, expected) in [
            ("pkg.sub.*", "pkg.sub", true),
            ("pkg.sub.*", "pkg.sub.a.b", true),
            ("pkg.sub.*", "pkg.subs", false),
            ("pkg.*.tests", "pkg.a.tests", true),
            ("pkg.a", "pkg.a.b", false),
        ] {
            assert_eq!(is_about(pattern, module), expected, "{pattern} {module}");
        }
        for (expression, path, expected) in [
            (
                "^meshkit/gpu/experimental/",
                "meshkit/gpu/experimental/a.py",
                true,
            ),
            ("^meshkit/gpu/experimental/", "meshkit/gpu/a.py", false),
            ("(^|/)tests?/", "pkg/tests/a.py", true),
            ("_pb2\\.py$", "pkg/a_pb2.py", true),
            ("build|docs/.*\\.py", "docs/conf.py", true),
            ("build|docs/.*\\.py", "pkg/conf.py", false),
        ] {
            assert_eq!(may_match(expression, path), expected, "{expression} {path}");
        }
    }

    #[test]
    fn settings_are_read_in_both_forms() {
        let project = "[tool.mypy]\nexclude = ['a/']\n[[tool.mypy.overrides]]\nmodule = ['b.*']\nstrict = true\n\
            [[tool.mypy.overrides]]\nmodule = 'c'\nignore_missing_imports = true\n";
        let sections = "[mypy]\nexclude = a/\n[mypy-b.*,d]\nstrict = True\n[mypy-c]\nignore_missing_imports = True\n";
        assert_eq!(of_pyproject(project).unwrap_or_default().len(), 2);
        assert_eq!(of_sections(sections).len(), 2);
    }

    #[test]
    fn comments_say_how_a_file_is_checked() {
        let text = "# Licence\n# mypy: ignore-errors\n\"\"\"Text.\"\"\"\n# pyright: basic\n";
        assert!(said_at_head(text).into_iter().eq(["mypy: ignore-errors"]));
    }
}
