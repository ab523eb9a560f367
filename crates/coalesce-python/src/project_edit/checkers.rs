//! Settings of mypy and pyright that are for some modules or files: what is checked by other ones in its new place may fail
//! there.
//!
//! Names that a setting says itself follow with all texts of the tree. Here it is what a pattern fits, a folder, and the
//! comments at the top of a file. What only comes to be checked less is told as a note.

mod files;

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Finding, LanguagePlan, Severity, Texts, TreePath, Unproven, UnprovenKind,
    finding::codes, lines::placed_lines,
};

use super::included::{Going, going};
use crate::{
    patterns::{fits_path, reaches},
    rewrite::Mapping,
};
use files::{CheckerFile, ModuleRule, read};

/// Tells what is checked by other settings in its new place.
pub fn checked_otherwise(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let going = going(mapping);
    if going.is_empty() {
        return;
    }
    for path in texts.paths() {
        let Some(settings) = read(path, texts) else {
            continue;
        };
        for rule in &settings.modules {
            let differs = |going: &Going| by_module(mapping, rule, going);
            tell((path, rule.span), &going, &differs, plan);
        }
        by_path(mapping, (path, &settings), &going, plan);
    }
    for going in going.iter().filter(|going| going.item.is_some()) {
        by_comments(texts, going, plan);
    }
}

/// How what is checked differs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// Mistakes are told that were not.
    More,
    /// What was told is not told any more.
    Less,
}

impl Difference {
    /// Of what is left out before, and afterwards.
    fn of_left_out(before: bool, after: bool) -> Option<Self> {
        match (before, after) {
            (true, false) => Some(Self::More),
            (false, true) => Some(Self::Less),
            _ => None,
        }
    }
}

/// Tells the one of all that go for which a setting makes the greatest difference.
fn tell(
    (path, span): (&TreePath, ByteSpan),
    going: &[Going],
    differs: &dyn Fn(&Going) -> Option<Difference>,
    plan: &mut LanguagePlan,
) {
    let differing = going
        .iter()
        .filter_map(|going| Some((differs(going)?, going)));
    match differing.min_by_key(|(difference, _)| *difference) {
        Some((Difference::More, going)) => plan.unproven.push(Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::Condition,
            name: going.name.clone(),
            why: "types are checked by other settings in its new place, which let less pass"
                .to_owned(),
        }),
        Some((Difference::Less, going)) => plan.notes.push(Finding {
            code: codes::UNSAFE_CHANGE,
            severity: Severity::Note,
            path: path.clone(),
            span: Some(span),
            message: format!(
                "by these settings types of `{}` are checked less in its new place",
                going.name
            ),
            help: None,
        }),
        None => {}
    }
}

/// What a section for modules by their names comes to do for one that goes.
fn by_module(mapping: &Mapping<'_>, rule: &ModuleRule, going: &Going) -> Option<Difference> {
    let mut patterns = rule.patterns.iter();
    let before = patterns.any(|pattern| is_meant(pattern, &going.was.name));
    let mut renamed = rule.patterns.iter().map(|pattern| after(mapping, pattern));
    let after = renamed.any(|pattern| is_meant(&pattern, &going.is.name));
    let (more, less) = match (before, after) {
        (true, false) => (rule.eases, rule.tightens),
        (false, true) => (rule.tightens, rule.eases),
        _ => return None,
    };
    match more {
        true => Some(Difference::More),
        false => less.then_some(Difference::Less),
    }
}

/// Whether a pattern is about a module: `*` stands for any names with points between, none too. `pkg.*` is `pkg` as well.
fn is_meant(pattern: &str, module: &str) -> bool {
    let parts = pattern.split('.');
    let parts: Vec<&str> = parts
        .map(|part| if part == "*" { "**" } else { part })
        .collect();
    fits_path(&parts.join("/"), &module.replace('.', "/"))
}

/// A pattern once the names in it have followed.
fn after(mapping: &Mapping<'_>, pattern: &str) -> String {
    let named = pattern.split(".*").next().unwrap_or_default();
    let rest = pattern.get(named.len()..).unwrap_or_default();
    format!("{}{rest}", mapping.renames.name_after(named))
}

/// Files and folders that are left out, and those that are looked into.
fn by_path(
    mapping: &Mapping<'_>,
    (path, settings): (&TreePath, &CheckerFile),
    going: &[Going],
    plan: &mut LanguagePlan,
) {
    let around = path.parent().unwrap_or_else(TreePath::root);
    let both = |going: &Going, is_out: &dyn Fn(&str) -> bool| {
        let inside = |file: &'_ TreePath| match around.is_root() {
            true => Some(is_out(file.as_str())),
            false => file.strip_prefix(&around).map(is_out),
        };
        Difference::of_left_out(inside(&going.was.file)?, inside(&going.is.file)?)
    };
    // Of what follows with a folder or file that moves, the new place is not read here.
    let follows = |place: &str| {
        let mut moved = mapping.paths.keys();
        moved.any(|moved| place.contains(moved.as_str()))
    };
    let expressions = settings.left_out.iter();
    for (expression, span) in expressions.filter(|(each, _)| !follows(each.as_str())) {
        let is_out = |file: &str| expression.is_match(file);
        tell((path, *span), going, &|going| both(going, &is_out), plan);
    }
    let places = settings.places_left_out.iter();
    for (place, span) in places.filter(|(place, _)| !follows(place)) {
        let is_out = |file: &str| reaches(place, file);
        tell((path, *span), going, &|going| both(going, &is_out), plan);
    }
    for places in [&settings.looked_into, &settings.checked_strictly] {
        let followed = places.iter().any(|(place, _)| follows(place));
        if let Some((_, span)) = places.first().filter(|_| !followed) {
            let is_out = |file: &str| !places.iter().any(|(place, _)| reaches(place, file));
            tell((path, *span), going, &|going| both(going, &is_out), plan);
        }
    }
}

/// Comments that say for a whole file how it is checked; an item leaves them behind, and comes to others.
fn by_comments(texts: &dyn Texts, going: &Going, plan: &mut LanguagePlan) {
    let of = |path: &TreePath| texts.text(path).map(|text| comments(&text));
    let old = of(&going.was.file).unwrap_or_default();
    let new = of(&going.is.file).unwrap_or_default();
    let differ = |one: &[(String, ByteSpan)], other: &[(String, ByteSpan)]| {
        let said: BTreeSet<&str> = other.iter().map(|(said, _)| said.as_str()).collect();
        let mut own = one.iter();
        own.find(|(each, _)| !said.contains(each.as_str()))
            .map(|(_, span)| *span)
    };
    let place = differ(&old, &new).map(|span| (&going.was.file, span));
    let place = place.or_else(|| Some((&going.is.file, differ(&new, &old)?)));
    plan.unproven.extend(
        place.map(|(path, span)| Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::Condition,
            name: going.name.clone(),
            why: "this says how types are checked in all of the file, and it changes its file"
                .to_owned(),
        }),
    );
}

/// The comments of a file that are for checkers of types and for all of it.
fn comments(text: &str) -> Vec<(String, ByteSpan)> {
    let first_code = |line: &str| !line.is_empty() && !line.starts_with('#');
    let mut code = false;
    let mut found = Vec::new();
    for (at, line) in placed_lines(text) {
        code |= first_code(line.trim());
        let Some(said) = line.trim_end().strip_prefix('#').map(str::trim_start) else {
            continue;
        };
        let is_for_all = ["mypy:", "pyright:", "pyre-"]
            .iter()
            .any(|tool| said.starts_with(tool));
        if is_for_all || said.starts_with("type: ignore") && !code {
            let span = ByteSpan::from_range(at..at + line.len());
            found.push((said.to_owned(), span));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_about_modules_as_mypy_takes_them() {
        for (pattern, module, expected) in [
            ("pkg.old", "pkg.old", true),
            ("pkg.old", "pkg.old.sub", false),
            ("pkg.old.*", "pkg.old", true),
            ("pkg.old.*", "pkg.old.sub.deep", true),
            ("pkg.old.*", "pkg.older", false),
            ("*.old", "pkg.old", true),
            ("pkg.*.cuda", "pkg.a.b.cuda", true),
            ("pkg.*.cuda", "pkg.cuda", true),
        ] {
            assert_eq!(is_meant(pattern, module), expected, "{pattern} {module}");
        }
    }

    #[test]
    fn comments_for_a_whole_file_are_found() {
        let text = "# mypy: ignore-errors\n# type: ignore\nimport a\n# type: ignore\nx = 1  # pyright: ignore\n";
        let found = comments(text);
        let found: Vec<&str> = found.iter().map(|(said, _)| said.as_str()).collect();
        assert_eq!(found, ["mypy: ignore-errors", "type: ignore"]);
    }
}
