//! Packages that a project finds by patterns and ships: what goes into one that they leave out is not installed, and
//! who imports it is.

use coalesce_model::{ByteSpan, Texts, TreePath, Unproven, texts::start_of_text};
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged;

use super::included::{Build, Going, package_of};
use crate::{
    analysis::{
        calls::calls_in,
        predicates::{last_name, literal_text},
        shift,
    },
    parser::{parse_module, statements},
    patterns::fits,
    project::Document,
    rewrite::Mapping,
};

/// What `find_packages` of a project file goes by.
#[derive(Default)]
struct PackageFinder {
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

/// What goes to a package that the patterns of a project file leave out; the file by its path, its text, and that after the plan.
pub(super) fn first_left_out(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    going: &[Going],
    (path, text, planned): (&TreePath, &str, &str),
) -> Option<Unproven> {
    let read: fn(&str) -> Option<PackageFinder> = match path.file_name() {
        _ if !text.contains("find") => return None,
        "setup.py" => of_setup_py,
        "setup.cfg" => of_setup_cfg,
        _ => of_pyproject,
    };
    let (finder, after) = (read(text)?, read(planned)?);
    let ships_after = |module: usize| {
        let package = mapping.graph.modules.get(module).map(|own| own.package);
        let name = mapping.name_after(module);
        package.is_some_and(|is_package| after.ships(package_of(&name, is_package)))
    };
    let build = Build {
        path,
        span: finder.span,
        has_before: &|place| finder.ships(place.package()),
        has_after: &|place| after.ships(place.package()),
        imports: &ships_after,
    };
    build.first_missing(mapping, texts, going, |going| {
        let package = going.is.package();
        format!("by this, `{package}` is not installed, and what is installed imports it")
    })
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
