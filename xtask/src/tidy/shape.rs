//! How long and how deep the functions of each package are.
//!
//! Counted are functions below `src` outside of tests: lines from `fn` to the closing brace, and how deep
//! `if`, `match` and loops stand in each other, `else if` being no deeper than its `if`. What does not
//! reach the bounds yet is listed in `shape.txt`, and may not get worse than it says there.

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::Context as _;
use syn::visit::{self, Visit};

use crate::repository::File;

/// What every package shall keep to.
const BOUNDS: Measure = Measure {
    nine_of_ten: 25,
    deep_of_thousand: 60,
};
/// Levels from which a function is deep.
const DEEP: usize = 3;
/// Packages that do not reach the bounds: folder, lines of nine in ten, deep ones of a thousand.
const NOT_YET: &str = include_str!("shape.txt");

/// The functions of a package, and its lines with code on them.
#[derive(Default)]
struct Shape {
    functions: Vec<Function>,
    code: usize,
}

/// One function: where it stands, and its measures.
struct Function {
    place: String,
    lines: usize,
    depth: usize,
}

/// What a package is held to.
#[derive(Clone, Copy)]
struct Measure {
    /// Lines that nine of ten functions have at most.
    nine_of_ten: usize,
    /// Deep functions among a thousand.
    deep_of_thousand: usize,
}

impl Measure {
    const fn is_within(self, bounds: Self) -> bool {
        self.nine_of_ten <= bounds.nine_of_ten && self.deep_of_thousand <= bounds.deep_of_thousand
    }
}

impl Shape {
    fn measure(&self) -> Measure {
        let deep = self.functions.iter().filter(|one| one.depth >= DEEP);
        Measure {
            nine_of_ten: self.lines_of(9),
            deep_of_thousand: deep.count() * 1000 / self.functions.len().max(1),
        }
    }

    /// Lines that so many tenths of the functions have at most.
    fn lines_of(&self, tenths: usize) -> usize {
        let mut lines: Vec<usize> = self.functions.iter().map(|one| one.lines).collect();
        lines.sort_unstable();
        let at = (lines.len() * tenths).div_ceil(10);
        lines.get(at.saturating_sub(1)).copied().unwrap_or_default()
    }
}

/// The functions of all packages, by the packages' folders.
#[derive(Default)]
pub struct Counts(BTreeMap<String, Shape>);

impl Counts {
    /// Of the files that can be read.
    fn of(files: &[File]) -> Self {
        let mut counts = Self::default();
        for file in files {
            if let Some(text) = &file.text
                && let Ok(syntax) = syn::parse_file(text)
            {
                counts.add(&file.path, text, &syntax);
            }
        }
        counts
    }

    /// Adds the functions of a file, if it is no test's.
    pub fn add(&mut self, path: &str, text: &str, syntax: &syn::File) {
        let Some((name, rest)) = package_of(path) else {
            return;
        };
        if rest == "tests.rs" || rest.ends_with("/tests.rs") || rest.contains("tests/") {
            return;
        }
        let package = self.0.entry(name.to_owned()).or_default();
        let mut counter = Counter {
            path,
            depth: 0,
            deepest: 0,
            functions: &mut package.functions,
            tests: Vec::new(),
        };
        counter.visit_file(syntax);
        let tests = counter.tests;
        package.code += lines_of_code(text, &tests);
    }

    /// Packages that are worse than they may be, and those that the list need not name any more.
    pub fn problems(&self) -> Vec<String> {
        let listed: BTreeMap<&str, Measure> = NOT_YET.lines().filter_map(read_line).collect();
        let packages = self.0.iter();
        packages
            .filter_map(|(name, package)| {
                compare(name, package.measure(), listed.get(name.as_str()).copied())
            })
            .collect()
    }
}

fn read_line(line: &str) -> Option<(&str, Measure)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let measure = Measure {
        nine_of_ten: words.next()?.parse().ok()?,
        deep_of_thousand: words.next()?.parse().ok()?,
    };
    Some((name, measure))
}

fn compare(name: &str, is: Measure, listed: Option<Measure>) -> Option<String> {
    let may = listed.unwrap_or(BOUNDS);
    if !is.is_within(may) {
        return Some(format!(
            "{name}: nine of ten functions have up to {} lines and {} of a thousand are deep, \
             more than {} and {}; `cargo xtask tidy --counts {name}` names them",
            is.nine_of_ten, is.deep_of_thousand, may.nine_of_ten, may.deep_of_thousand,
        ));
    }
    let spent = listed.is_some() && is.is_within(BOUNDS);
    spent.then(|| format!("{name}: its functions are short enough: take it off the list"))
}

/// A table of all packages; with the name of one, its functions beyond the bounds.
pub fn table(files: &[File], of: Option<&str>) -> anyhow::Result<String> {
    let Counts(packages) = Counts::of(files);
    let mut page = String::new();
    match of {
        Some(name) => {
            let package = packages.get(name);
            let package = package.with_context(|| format!("there is no package `{name}`"))?;
            write_functions(&mut page, package);
        }
        None => write_packages(&mut page, &packages),
    }
    Ok(page)
}

fn write_packages(page: &mut String, packages: &BTreeMap<String, Shape>) {
    page.push_str("| package | code | functions | median | nine of ten | longest | deep |\n");
    page.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    for (name, package) in packages {
        let is = package.measure();
        let (whole, tenth) = (is.deep_of_thousand / 10, is.deep_of_thousand % 10);
        let longest = package.functions.iter().map(|one| one.lines).max();
        let _ = writeln!(
            page,
            "| {name} | {} | {} | {} | {} | {} | {whole}.{tenth} % |",
            package.code,
            package.functions.len(),
            package.lines_of(5),
            is.nine_of_ten,
            longest.unwrap_or_default(),
        );
    }
}

fn write_functions(page: &mut String, package: &Shape) {
    let beyond = |one: &&Function| one.lines > BOUNDS.nine_of_ten || one.depth >= DEEP;
    let mut functions: Vec<&Function> = package.functions.iter().filter(beyond).collect();
    functions.sort_by_key(|one| (std::cmp::Reverse(one.lines), &one.place));
    for one in functions {
        let _ = writeln!(
            page,
            "{} lines, {} deep  {}",
            one.lines, one.depth, one.place
        );
    }
}

/// A package's folder, and what of a path is below its `src`.
fn package_of(path: &str) -> Option<(&str, &str)> {
    let (folder, rest) = path.split_once("/src/")?;
    let name = folder.strip_prefix("crates/").unwrap_or(folder);
    let ours = path.starts_with("crates/") || folder == "xtask";
    (ours && path.ends_with(".rs")).then_some((name, rest))
}

/// Lines that are neither empty nor a comment, outside of tests.
fn lines_of_code(text: &str, tests: &[std::ops::RangeInclusive<usize>]) -> usize {
    let code = |line: &str| !line.is_empty() && !line.starts_with("//");
    text.lines()
        .enumerate()
        .filter(|(at, line)| {
            code(line.trim_start()) && !tests.iter().any(|range| range.contains(&(at + 1)))
        })
        .count()
}

/// Measures each function of a file.
struct Counter<'f> {
    path: &'f str,
    depth: usize,
    deepest: usize,
    functions: &'f mut Vec<Function>,
    /// Lines of modules that are there for tests.
    tests: Vec<std::ops::RangeInclusive<usize>>,
}

impl Counter<'_> {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let outside = (self.depth, self.deepest);
        (self.depth, self.deepest) = (0, 0);
        visit::visit_block(self, block);
        let first = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        self.functions.push(Function {
            place: format!("{}:{first} `{}`", self.path, signature.ident),
            lines: last + 1 - first,
            depth: self.deepest,
        });
        (self.depth, self.deepest) = outside;
    }

    fn deeper(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        visit(self);
        self.depth -= 1;
    }
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if super::code::is_for_tests(module) {
            let span = syn::spanned::Spanned::span(module);
            self.tests.push(span.start().line..=span.end().line);
            return;
        }
        visit::visit_item_mod(self, module);
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(&function.sig, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.function(&function.sig, &function.block);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig, block);
        }
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.visit_expr(&branch.cond);
        self.deeper(|counter| counter.visit_block(&branch.then_branch));
        match &branch.else_branch {
            Some((_, otherwise)) if matches!(**otherwise, syn::Expr::If(_)) => {
                self.visit_expr(otherwise);
            }
            Some((_, otherwise)) => self.deeper(|counter| counter.visit_expr(otherwise)),
            None => {}
        }
    }

    fn visit_expr_match(&mut self, choice: &'ast syn::ExprMatch) {
        self.visit_expr(&choice.expr);
        self.deeper(|counter| {
            for arm in &choice.arms {
                counter.visit_arm(arm);
            }
        });
    }

    fn visit_expr_for_loop(&mut self, walk: &'ast syn::ExprForLoop) {
        self.visit_expr(&walk.expr);
        self.deeper(|counter| counter.visit_block(&walk.body));
    }

    fn visit_expr_while(&mut self, walk: &'ast syn::ExprWhile) {
        self.visit_expr(&walk.cond);
        self.deeper(|counter| counter.visit_block(&walk.body));
    }

    fn visit_expr_loop(&mut self, walk: &'ast syn::ExprLoop) {
        self.deeper(|counter| counter.visit_block(&walk.body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::Repository;

    fn measured(text: &str) -> Vec<(usize, usize)> {
        let file = File {
            path: "crates/a/src/lib.rs".into(),
            text: Some(text.into()),
        };
        let Counts(packages) = Counts::of(&[file]);
        let functions = packages.values().flat_map(|package| &package.functions);
        functions.map(|one| (one.lines, one.depth)).collect()
    }

    #[test]
    fn what_stands_in_each_other_is_counted() {
        let text = "fn f() {\n    for x in y {\n        if x { loop {} } else if z {}\n    }\n}\n";
        assert_eq!(measured(text), [(5, 3)]);
        assert_eq!(
            measured("fn f() { if a {} else if b {} else if c {} }"),
            [(1, 1)]
        );
        assert_eq!(
            measured("fn f() { if a { fn g() { if b {} } } }"),
            [(1, 1), (1, 1)]
        );
    }

    #[test]
    fn tests_are_not_counted() {
        assert!(measured("#[cfg(test)]\nmod tests { fn f() {} }").is_empty());
    }

    #[test]
    fn a_package_beyond_its_bounds_is_told() {
        let long = format!("fn f() {{\n{}}}\n", "    let x = 1;\n".repeat(40));
        let file = File {
            path: "crates/a/src/lib.rs".into(),
            text: Some(long),
        };
        assert_eq!(Counts::of(&[file]).problems().len(), 1);
    }

    #[test]
    fn what_is_listed_is_there() {
        let Counts(packages) = Counts::of(&Repository::find().files().unwrap());
        for line in NOT_YET.lines() {
            let (name, _) = read_line(line).unwrap();
            assert!(packages.contains_key(name), "{line}");
        }
    }
}
