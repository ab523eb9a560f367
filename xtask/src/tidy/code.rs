//! Rules about our own Rust files: what they begin with, how long they and their functions are,
//! and what they must not use.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::finding::codes;
use syn::{
    punctuated::Punctuated,
    spanned::Spanned as _,
    visit::{self, Visit},
};

use super::{languages::LanguagePlaces, shape::Counts};
use crate::repository::File;

/// Lines that a file may have.
const FILE_LINES: usize = 800;
/// Lines that a function may have, from `fn` to its closing brace.
const FUNCTION_LINES: usize = 70;
/// Packages whose code may reach outside the process, by folder. All others are pure.
const REACHES_OUT: &[&str] = &[
    "coalesce-tree",
    "coalesce-apply",
    "coalesce-engine",
    "coalesce-fleet",
    "coalesce-verify",
    "coalesce",
    "core-gpu",
    "core-gpu-driver",
    // A question to etcd looks names up.
    "core-gpu-etcd",
    "core-gpu-memory",
    "core-gpu-python",
    "core-gpu-trials",
    "gpu-ast",
    "gpu-sim",
];
/// Files and folders with `unsafe` code: the layer over drivers. None of the toolkit's.
const UNSAFE: &[&str] = &[
    // A graph is launched by whoever vouches for its memory.
    "crates/core-gpu/benches/device/pool.rs",
    "crates/core-gpu/examples/03-a-graph.rs",
    "crates/core-gpu-driver/",
    "crates/core-gpu-memory/examples/10-cudarc-transformer.rs",
    "crates/core-gpu-memory/src/allocator.rs",
    "crates/core-gpu-memory/src/interop.rs",
    "crates/core-gpu-memory/src/pool/span.rs",
    "crates/core-gpu-memory/tests/",
    // The interpreter calls a capsule's destructor.
    "crates/core-gpu-python/src/capsule.rs",
    // SPIR-V is handed over by whoever vouches for it.
    "crates/gpu-ast/src/kernels/vulkan.rs",
    "crates/gpu-sim/abi/",
    "crates/gpu-sim/tests/",
    "crates/gpu-sim/src/conformance.rs",
    "crates/gpu-sim/src/driver.rs",
    "crates/gpu-sim/src/machine/copy_calls.rs",
    "crates/gpu-sim/src/machine/host_memory.rs",
    "crates/gpu-sim/src/machine/memory_calls.rs",
];
/// Values that a function may be given, the members of tuples counted.
const PARAMETERS: usize = 7;
/// Names that two types of a package have: the package's folder and the name. This list only shrinks.
const TWO_TYPES: &str = include_str!("two_types.txt");
/// Folders whose Rust files are data: fixtures and samples.
const DATA: &[&str] = &["/cases/", "/fixtures/", "/snapshots/"];

/// What is wrong with our Rust files.
pub fn problems(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut types = TypeNames::default();
    let mut counts = Counts::default();
    let mut languages = LanguagePlaces::default();
    for file in files.iter().filter(|file| is_ours(&file.path)) {
        let Some(text) = &file.text else { continue };
        problems.extend(shape(&file.path, text));
        problems.extend(rule_name(&file.path));
        match syn::parse_file(text) {
            Ok(syntax) => {
                let mut visitor = Visitor::new(&file.path);
                visitor.visit_file(&syntax);
                problems.extend(visitor.problems);
                types.add(&file.path, visitor.types);
                counts.add(&file.path, text, &syntax);
                languages.add(&file.path, &syntax);
            }
            Err(error) => problems.push(format!("{}: does not parse: {error}", file.path)),
        }
    }
    problems.extend(types.problems());
    problems.extend(counts.problems());
    problems.extend(languages.problems());
    problems
}

/// Names of types, by the folder of their package, with the files that define them.
#[derive(Default)]
struct TypeNames(BTreeMap<(String, String), BTreeSet<String>>);

impl TypeNames {
    fn add(&mut self, path: &str, names: Vec<String>) {
        // Benches, examples and tests are programs of their own.
        let Some((package, _)) = path.split_once("/src/") else {
            return;
        };
        for name in names {
            let files = self.0.entry((package.to_owned(), name)).or_default();
            files.insert(path.to_owned());
        }
    }

    /// Two types of one name in a package: who reads one may think of the other.
    fn problems(&self) -> Vec<String> {
        let twice = |package: &str, name: &str| {
            let files = self.0.get(&(package.to_owned(), name.to_owned()));
            files.is_some_and(|files| files.len() > 1)
        };
        let listed: BTreeSet<(&str, &str)> = TWO_TYPES
            .lines()
            .filter_map(|line| line.split_once(' '))
            .collect();
        let known = |package: &str, name: &str| listed.contains(&(package, name));
        let all = self.0.iter();
        let new = all.filter(|((package, name), _)| twice(package, name) && !known(package, name));
        let mut problems: Vec<String> = new
            .map(|((package, name), files)| {
                let files: Vec<&str> = files.iter().map(String::as_str).collect();
                format!("{package}: two types `{name}`: {}", files.join(", "))
            })
            .collect();
        let gone = listed
            .iter()
            .filter(|(package, name)| !twice(package, name));
        problems.extend(gone.map(|(package, name)| {
            format!("{package}: `{name}` is one type by now: take it off the list")
        }));
        problems
    }
}

fn is_ours(path: &str) -> bool {
    let member = path.starts_with("crates/") || path.starts_with("xtask/");
    member && path.ends_with(".rs") && !DATA.iter().any(|folder| path.contains(folder))
}

fn may_be_unsafe(path: &str) -> bool {
    UNSAFE.iter().any(|part| path.starts_with(part))
}

fn shape(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    // A shim that a migration has left says so first.
    let shim = text.starts_with("// coalesce: shim ");
    let marked = text.split_once('\n').filter(|_| shim);
    if !marked.map_or(text, |(_, rest)| rest).starts_with("//! ") {
        problems.push(format!("{path}: does not begin with `//!`"));
    }
    let lines = text.lines().count();
    if lines > FILE_LINES {
        problems.push(format!("{path}: has {lines} lines, more than {FILE_LINES}"));
    }
    problems
}

/// A rule's file is named after its code.
fn rule_name(path: &str) -> Option<String> {
    let rule = path
        .strip_prefix("crates/coalesce-lint/src/rules/")?
        .strip_suffix(".rs")?;
    let known = rule == "mod"
        || codes::ALL
            .iter()
            .any(|code| code.0.replace('-', "_") == rule);
    (!known).then(|| format!("{path}: no finding code has this name"))
}

/// Walks one file's syntax.
struct Visitor<'f> {
    path: &'f str,
    pure: bool,
    problems: Vec<String>,
    /// Names of types outside of tests and functions.
    types: Vec<String>,
    in_test: bool,
}

impl<'f> Visitor<'f> {
    fn new(path: &'f str) -> Self {
        let package = path
            .strip_prefix("crates/")
            .and_then(|rest| rest.split_once('/'));
        // Tests of a pure crate may read their own cases.
        let pure = package
            .is_some_and(|(name, file)| file.starts_with("src/") && !REACHES_OUT.contains(&name));
        Self {
            path,
            pure,
            problems: Vec::new(),
            types: Vec::new(),
            in_test: false,
        }
    }

    fn function(&mut self, name: &syn::Ident, span: proc_macro2::Span) {
        let lines = span.end().line + 1 - span.start().line;
        if lines > FUNCTION_LINES {
            let path = self.path;
            self.problems.push(format!(
                "{path}: `{name}` has {lines} lines, more than {FUNCTION_LINES}"
            ));
        }
    }

    fn problem(&mut self, span: proc_macro2::Span, what: &str) {
        self.problems
            .push(format!("{}:{}: {what}", self.path, span.start().line));
    }

    fn uses(&mut self, segments: &[String], span: proc_macro2::Span) {
        let names: Vec<&str> = segments.iter().map(String::as_str).collect();
        let banned = match names.as_slice() {
            ["std", "fs", ..] => "`std::fs`",
            ["std", "env", ..] => "`std::env`",
            ["std", "net", ..] => "`std::net`",
            ["std", "process", "Command", ..] => "`std::process::Command`",
            _ => return,
        };
        if self.pure {
            self.problem(span, &format!("{banned} in a crate that does no I/O"));
        }
    }

    fn names_type(&mut self, name: &syn::Ident) {
        if !self.in_test {
            self.types.push(name.to_string());
        }
    }

    fn use_tree(&mut self, prefix: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.use_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.uses(&with(&name.ident), name.span()),
            syn::UseTree::Rename(rename) => self.uses(&with(&rename.ident), rename.span()),
            syn::UseTree::Glob(glob) => self.uses(prefix, glob.span()),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.use_tree(prefix, tree);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let before = self.pure;
        let test = is_for_tests(module);
        let outside = self.in_test;
        self.pure = before && !test;
        self.in_test |= test;
        visit::visit_item_mod(self, module);
        self.pure = before;
        self.in_test = outside;
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let span = function.sig.fn_token.span.join(function.block.span());
        self.function(
            &function.sig.ident,
            span.unwrap_or_else(|| function.block.span()),
        );
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        let span = function.sig.fn_token.span.join(function.block.span());
        self.function(
            &function.sig.ident,
            span.unwrap_or_else(|| function.block.span()),
        );
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("ignore") || attribute.path().is_ident("should_panic") {
            let name = attribute
                .path()
                .get_ident()
                .map(ToString::to_string)
                .unwrap_or_default();
            self.problem(
                attribute.span(),
                &format!("`#[{name}]`: say what happens today, with a FIXME"),
            );
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.use_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        self.uses(&segments, path.span());
        visit::visit_path(self, path);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        if !may_be_unsafe(self.path) {
            self.problem(block.span(), "`unsafe` code");
        }
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if matches!(signature.safety, syn::Safety::Unsafe(_)) && !may_be_unsafe(self.path) {
            self.problem(signature.span(), "`unsafe` function");
        }
        let values: usize = signature.inputs.iter().map(values).sum();
        // What C names is C's.
        if values > PARAMETERS && signature.abi.is_none() {
            let what = format!("takes {values} values, more than {PARAMETERS}");
            self.problem(signature.span(), &what);
        }
        visit::visit_signature(self, signature);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.names_type(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.names_type(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.names_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.unsafety.is_some() && !may_be_unsafe(self.path) {
            self.problem(item.span(), "`unsafe` impl");
        }
        visit::visit_item_impl(self, item);
    }
}

/// Whether a module is there for `cfg(test)` alone.
pub fn is_for_tests(module: &syn::ItemMod) -> bool {
    let mut conditions = module.attrs.iter().filter(|one| one.path().is_ident("cfg"));
    conditions.any(|attribute| {
        attribute
            .parse_args::<syn::Meta>()
            .is_ok_and(|condition| needs_test(&condition))
    })
}

/// Whether a condition holds in tests alone: `test`, or `all` with that among others.
fn needs_test(condition: &syn::Meta) -> bool {
    match condition {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("all") => {
            let all = Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
            let all = list.parse_args_with(all);
            all.is_ok_and(|all| all.iter().any(needs_test))
        }
        syn::Meta::List(_) | syn::Meta::NameValue(_) => false,
    }
}

/// How many values an argument is. What it is called on does not count.
fn values(argument: &syn::FnArg) -> usize {
    let syn::FnArg::Typed(argument) = argument else {
        return 0;
    };
    match &*argument.ty {
        syn::Type::Tuple(tuple) => tuple.elems.len(),
        syn::Type::Reference(reference) => match &*reference.elem {
            syn::Type::Tuple(tuple) => tuple.elems.len(),
            _ => 1,
        },
        _ => 1,
    }
}
