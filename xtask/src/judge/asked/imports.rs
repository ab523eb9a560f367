//! Which Python modules need which when they are imported, by the lines of their files that import.
//!
//! Read are lines without indentation, and those of `try:` and its like: what stands in functions and below
//! `if TYPE_CHECKING:` is not done then.

use std::collections::{BTreeMap, BTreeSet};

/// The modules that each module imports.
#[derive(Default)]
pub struct Imports {
    of: BTreeMap<String, BTreeSet<String>>,
}

impl Imports {
    /// Notes what a module imports; `package`: it is the `__init__.py` of its name.
    pub fn add(&mut self, module: &str, package: bool, code: &str) {
        let around = match package {
            true => Some(module),
            false => module.rsplit_once('.').map(|(around, _)| around),
        };
        let named = statements(code)
            .into_iter()
            .flat_map(|statement| names(around.unwrap_or_default(), &statement));
        let packages = named.flat_map(|name| with_packages(&name));
        let outer = with_packages(module);
        let foreign = packages.filter(|name| !outer.contains(name));
        self.of.insert(module.to_owned(), foreign.collect());
    }

    /// Whether importing `from` leads to importing `to` or what is below it, by whatever ways.
    pub fn needs(&self, from: &str, to: &str) -> bool {
        let (mut open, mut seen) = (vec![from], BTreeSet::new());
        while let Some(module) = open.pop() {
            if is_within(module, to) && module != from {
                return true;
            }
            if seen.insert(module) {
                open.extend(
                    self.of
                        .get(module)
                        .into_iter()
                        .flatten()
                        .map(String::as_str),
                );
            }
        }
        false
    }
}

/// Whether a module is `outer` or stands below it.
pub fn is_within(module: &str, outer: &str) -> bool {
    let rest = module.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A name, and the packages around it.
fn with_packages(name: &str) -> BTreeSet<String> {
    let ends = name.match_indices('.').map(|(at, _)| at);
    let parts = ends.chain([name.len()]).filter_map(|end| name.get(..end));
    parts.map(str::to_owned).collect()
}

/// The statements that import when the file is executed, each on one line.
fn statements(code: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = false;
    // How far what is skipped is indented: a function, or what type checkers alone read.
    let mut skipped: Option<usize> = None;
    for line in code.lines() {
        let words = line.split('#').next().unwrap_or_default();
        let text = words.trim();
        if text.is_empty() {
            continue;
        }
        if open {
            if let Some(last) = found.last_mut() {
                last.push_str(text);
            }
            open = !text.contains(')');
            continue;
        }
        let indent = words.len() - words.trim_start().len();
        if skipped.is_some_and(|outer| indent > outer) {
            continue;
        }
        let is_function = text.starts_with("def ") || text.starts_with("async def ");
        let for_checkers = text.starts_with("if ") && text.contains("TYPE_CHECKING");
        skipped = (is_function || for_checkers).then_some(indent);
        if text.starts_with("import ") || text.starts_with("from ") {
            open = text.contains('(') && !text.contains(')');
            found.push(text.to_owned());
        }
    }
    found
}

/// The full names that a statement imports, modules or not.
fn names(package: &str, statement: &str) -> Vec<String> {
    let plain = |part: &str| {
        part.split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    if let Some(list) = statement.strip_prefix("import ") {
        return list.split(',').map(plain).collect();
    }
    let parts = statement
        .strip_prefix("from ")
        .and_then(|rest| rest.split_once(" import"));
    let Some((from, list)) = parts else {
        return Vec::new();
    };
    let base = absolute(package, from.trim());
    let list = list.trim_matches(|c: char| matches!(c, '(' | ')') || c.is_whitespace());
    let leaves = list.split(',').map(plain).filter(|leaf| !leaf.is_empty());
    let leaves = leaves.map(|leaf| format!("{base}.{leaf}"));
    std::iter::once(base.clone()).chain(leaves).collect()
}

/// `..name` as it is called from a package.
pub fn absolute(package: &str, name: &str) -> String {
    let rest = name.trim_start_matches('.');
    let dots = name.len() - rest.len();
    if dots == 0 {
        return name.to_owned();
    }
    let kept = package.split('.').count().saturating_sub(dots - 1);
    let outer: Vec<&str> = package.split('.').take(kept).collect();
    match rest {
        "" => outer.join("."),
        rest => format!("{}.{rest}", outer.join(".")),
    }
}

#[cfg(test)]
mod tests {
    use super::Imports;

    #[test]
    fn what_is_imported_is_followed() {
        let mut imports = Imports::default();
        imports.add(
            "p",
            true,
            "from .a import (  # all\n    one,\n    two,\n)\n",
        );
        imports.add(
            "p.a",
            false,
            "try:\n    from .low import b as c\nexcept ImportError:\n    c = None\n",
        );
        imports.add(
            "p.low",
            true,
            "import os.path\n\n\ndef late():\n    from p import user\n",
        );
        imports.add(
            "p.low.b",
            false,
            "if TYPE_CHECKING:\n    from p.user import User\n",
        );
        imports.add("p.user", false, "from ..p import low\nfrom . import a\n");
        assert!(imports.needs("p.a", "p.low.b"), "by a name behind `import`");
        assert!(imports.needs("p.user", "p.low"), "by `from . import`");
        assert!(!imports.needs("p.low", "p.user"), "in a function");
        assert!(!imports.needs("p.low.b", "p.user"), "for type checkers");
        assert!(
            !imports.needs("p.a", "p.user"),
            "the package around is no need of its own"
        );
        assert!(imports.needs("p", "p.low.b"), "through others");
    }
}
