//! Packages that a project finds by patterns and ships: what goes into one that they leave out is not installed, and
//! who imports it is.

use coalesce_model::{
    ByteSpan, EditSet, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind, texts::start_of_text,
};
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged;

use super::mapping::Mapping;
use crate::{
    analysis::{
        calls::calls_in,
        predicates::{last_name, literal_text},
        shift,
    },
    parser::{parse_module, statements},
    patterns::fits,
    project::Document,
    project_edit::{going, is_needed, package_of},
};

/// What `find_packages` of a project file goes by.
#[derive(Default)]
struct PackageFinder {
    path: Option<TreePath>,
    span: ByteSpan,
    include: Vec<String>,
    exclude: Vec<String>,
}

impl PackageFinder {
    fn ships(&self, package: &str) -> bool {
        let fit = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, package));
        (self.include.is_empty() || fit(&self.include)) && !fit(&self.exclude)
    }
}

/// Holds everything that goes to another package against the patterns.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let going = going(mapping);
    if going.is_empty() {
        return;
    }
    for (finder, after) in finders(texts, plan) {
        let ships_after = |module: usize| {
            let package = mapping.graph.modules.get(module).map(|own| own.package);
            let name = mapping.name_after(module);
            package.is_some_and(|is_package| after.ships(package_of(&name, is_package)))
        };
        let lost = going.iter().find(|going| {
            finder.ships(going.was.package())
                && !after.ships(going.is.package())
                && is_needed(mapping, texts, going, &ships_after)
        });
        if let (Some(going), Some(path)) = (lost, finder.path) {
            plan.unproven.push(Unproven {
                path,
                span: Some(finder.span),
                kind: UnprovenKind::Condition,
                name: going.name.clone(),
                why: format!(
                    "by this, `{}` is not installed, and what is installed imports it",
                    going.is.package()
                ),
            });
        }
    }
}

/// What the project files of the tree say, and what they say after the plan.
fn finders(texts: &dyn Texts, plan: &LanguagePlan) -> Vec<(PackageFinder, PackageFinder)> {
    let names = ["setup.py", "setup.cfg", "pyproject.toml"];
    let files = texts
        .paths()
        .iter()
        .filter(|path| names.contains(&path.file_name()));
    let mut found = Vec::new();
    for path in files {
        let Some(text) = texts.text(path).filter(|text| text.contains("find")) else {
            continue;
        };
        let read: fn(&str) -> Option<PackageFinder> = match path.file_name() {
            "setup.py" => of_setup_py,
            "setup.cfg" => of_setup_cfg,
            _ => of_pyproject,
        };
        let edits = plan.edits.get(path).cloned().unwrap_or_default();
        let edits = EditSet::from_edits(&text, edits).ok();
        let after = edits.and_then(|edits| edits.apply(&text).ok());
        let after = read(after.as_deref().unwrap_or(&text));
        found.extend(read(&text).zip(after).map(|(finder, after)| {
            let path = Some(path.clone());
            (PackageFinder { path, ..finder }, after)
        }));
    }
    found
}

fn of_setup_py(text: &str) -> Option<PackageFinder> {
    let (parsed, start) = parse_module(text);
    let finds = |call: &&ExprCall| {
        let name = last_name(&call.func);
        matches!(name, Some("find_packages" | "find_namespace_packages"))
    };
    let mut calls = calls_in(statements(&parsed)).into_iter();
    let call = calls.rfind(finds)?;
    let words = |name: &str, at: usize| match call.arguments.find_argument_value(name, at) {
        Some(Expr::List(list)) => strings(&list.elts),
        Some(Expr::Tuple(list)) => strings(&list.elts),
        _ => Vec::new(),
    };
    Some(PackageFinder {
        path: None,
        span: shift(call.range(), start),
        include: words("include", 2),
        exclude: words("exclude", 1),
    })
}

fn strings(elements: &[Expr]) -> Vec<String> {
    elements
        .iter()
        .filter_map(literal_text)
        .map(str::to_owned)
        .collect()
}

/// `[options.packages.find]`, whose values stand on lines or behind commas.
fn of_setup_cfg(text: &str) -> Option<PackageFinder> {
    const SECTION: &str = "[options.packages.find]";
    let at = text.find(SECTION)?;
    let span = ByteSpan::from_range(at..at + SECTION.len());
    let rest = text.get(span.end as usize..)?;
    let section = rest.split("\n[").next().unwrap_or_default();
    let mut finder = PackageFinder {
        span,
        ..PackageFinder::default()
    };
    let mut key = "";
    for line in section.lines() {
        let value = match line.split_once('=') {
            Some((name, value)) if !line.starts_with([' ', '\t']) => {
                key = name.trim();
                value
            }
            _ => line,
        };
        let listed = match key {
            "include" => &mut finder.include,
            "exclude" => &mut finder.exclude,
            _ => continue,
        };
        let words = value.split([',', ' ', '\t']);
        listed.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
    }
    Some(finder)
}

fn of_pyproject(text: &str) -> Option<PackageFinder> {
    let bom = start_of_text(text) as usize;
    let document = toml_edit::Document::parse(text.get(bom..)?).ok()?;
    let document = Document::new(document.as_item());
    let table = document.at(&["tool", "setuptools", "packages", "find"])?;
    let words = |key: &str| {
        let list = table.get(key).and_then(toml_edit::Item::as_array);
        let words = list
            .into_iter()
            .flatten()
            .filter_map(toml_edit::Value::as_str);
        words.map(str::to_owned).collect()
    };
    let at = text.find("packages.find").unwrap_or(0);
    Some(PackageFinder {
        path: None,
        span: ByteSpan::from_range(at..at + "packages.find".len().min(text.len() - at)),
        include: words("include"),
        exclude: words("exclude"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_in_all_three_files() {
        let setup = "from setuptools import *\nsetup(packages=find_packages(exclude=['*.tests', 'docs']))\n";
        let config = "[options.packages.find]\nwhere = src\nexclude =\n    *.tests\n    docs\n";
        let project = "[tool.setuptools.packages.find]\nexclude = [\"*.tests\", \"docs\"]\n";
        for finder in [
            of_setup_py(setup),
            of_setup_cfg(config),
            of_pyproject(project),
        ] {
            let finder = finder.unwrap_or_default();
            assert!(finder.ships("pkg.core"));
            assert!(!finder.ships("pkg.tests"));
            assert!(!finder.ships("docs"));
        }
    }
}
