//! Trees in memory, resolved: references, modules, imports and findings.

use std::sync::Arc;

use coalesce_model::{
    Guard, ImportTarget, Language, LanguageGraph, LineIndex, MemoryTexts, ModuleKind, Settings,
    Texts,
};
use coalesce_rust::{Rust, RustGraph};

fn graph(fixture: &str) -> (MemoryTexts, RustGraph) {
    let texts = MemoryTexts::fixture(fixture);
    let facts: Vec<_> = texts
        .paths()
        .iter()
        .filter(|path| Rust.claims(path))
        .map(|path| {
            (
                path.clone(),
                Arc::new(Rust.facts(path, &texts.text(path).expect("a file of the fixture"))),
            )
        })
        .collect();
    let graph = Rust.resolve(&facts, texts.paths(), &Settings::default());
    (texts, graph)
}

/// `path:line` of each reference, with `?` when it is not exact.
fn references(fixture: &str, name: &str) -> Vec<String> {
    let (texts, graph) = graph(fixture);
    let mut lines: Vec<String> = graph
        .references(name, &texts)
        .into_iter()
        .map(|reference| {
            let text = texts.text(&reference.path).expect("a file of the fixture");
            let line = LineIndex::new(&text).line_number(reference.span.start);
            let sure = reference.certainty == coalesce_model::Certainty::Exact;
            format!("{}:{line}{}", reference.path, if sure { "" } else { "?" })
        })
        .collect();
    lines.dedup();
    lines
}

fn findings(fixture: &str) -> Vec<String> {
    let (_, graph) = graph(fixture);
    graph
        .findings()
        .iter()
        .map(|finding| format!("{} {} {}", finding.code, finding.path, finding.message))
        .collect()
}

const PACKAGE: &str = "//- Cargo.toml\n[package]\nname = \"a-b\"\nedition = \"2021\"\n";

/// `(what, files after the package's manifest, name, places)`
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

fn check(cases: &[Case]) {
    for (what, files, name, places) in cases {
        assert_eq!(
            references(&format!("{PACKAGE}{files}"), name),
            *places,
            "{what}"
        );
    }
}

#[test]
fn imports_lead_to_uses_of_what_they_bring() {
    check(&[
        (
            "aliases, groups and globs",
            "//- src/lib.rs\nmod m;\nuse m::{self as n, f};\nuse crate::m::*;\nfn g() {\n  n::f();\n  f();\n}\n//- src/m.rs\npub fn f() {}\n",
            "a_b::m::f",
            &["src/lib.rs:2", "src/lib.rs:5", "src/lib.rs:6"],
        ),
        (
            "chains of re-exports, and an import that stands in the parent",
            "//- src/lib.rs\nmod x { pub use super::y::T; }\nmod y { pub use z::T; mod z { pub struct T; } }\nuse x::T as U;\nmod w {\n  use super::U;\n  fn f(_: U) {}\n}\n",
            "a_b::y::z::T",
            &[
                "src/lib.rs:1",
                "src/lib.rs:2",
                "src/lib.rs:3",
                "src/lib.rs:5",
                "src/lib.rs:6",
            ],
        ),
        (
            "a doc test is outside: a private module does not come with the function of its name",
            "//- src/lib.rs\nmod escape;\npub use escape::escape;\n//- src/escape.rs\n/// ```\n/// use a_b::escape;\n/// ```\npub fn escape() {}\n",
            "a_b::escape",
            &["src/lib.rs:1", "src/lib.rs:2"],
        ),
        (
            "asked for by the name of a re-export, a glob's too",
            "//- src/lib.rs\npub use x::T;\nmod x { pub use z::*; mod z { pub struct T; } }\nfn f(_: T) {}\n",
            "a_b::T",
            &["src/lib.rs:1", "src/lib.rs:3"],
        ),
        (
            "locals and generics hide items; capitals in patterns name constants",
            "//- src/lib.rs\npub fn x() {}\npub const K: u8 = 1;\npub struct T;\nfn f(x: u8) -> u8 {\n  match x {\n    K => x,\n    _ => 0,\n  }\n}\nfn g<T>(t: T) -> T { t }\nfn h() {\n  x()\n}\n",
            "a_b::x",
            &["src/lib.rs:12"],
        ),
        (
            "a constant in a pattern",
            "//- src/lib.rs\npub mod c {\n  pub const K: u8 = 1;\n}\nfn f(x: u8) {\n  if let c::K = x {}\n}\n",
            "a_b::c::K",
            &["src/lib.rs:5"],
        ),
        (
            "variants by a glob of the enum",
            "//- src/lib.rs\npub enum E { A }\nuse E::*;\nfn f() -> E {\n  A\n}\n",
            "a_b::E::A",
            &["src/lib.rs:4"],
        ),
        (
            "a private module does not hide the crate of the same name",
            "//- src/lib.rs\nmod a_b { pub struct T; }\npub struct T;\n#[macro_export]\nmacro_rules! a_b { () => {}; }\n//- tests/t.rs\nuse a_b::{a_b, T};\nfn f(_: a_b::T) {}\n",
            "a_b::T",
            &["tests/t.rs:1", "tests/t.rs:2"],
        ),
    ]);
}

#[test]
fn macros_attributes_strings_and_docs_are_read() {
    check(&[
        (
            "arguments that parse, and those that do not",
            "//- src/lib.rs\npub mod m { pub fn f() -> u8 { 0 } }\nfn g() {\n  assert_eq!(m::f(), 0);\n  unknown!(a => m::f, b);\n}\n",
            "a_b::m::f",
            &["src/lib.rs:3", "src/lib.rs:4"],
        ),
        (
            "bodies: $crate is here, the rest is where the macro is used",
            "//- src/lib.rs\npub mod m { pub fn f() {} }\n#[macro_export]\nmacro_rules! call {\n  ($x:expr) => {\n    $crate::m::f();\n    m::f();\n    $x.m::f();\n  };\n}\n",
            "a_b::m::f",
            &["src/lib.rs:5", "src/lib.rs:6?"],
        ),
        (
            "modules and re-exports in an item macro",
            "//- src/lib.rs\ncfg_feature! {\n  mod m;\n  pub use m::T;\n}\nfn f(_: T) {}\n//- src/m.rs\npub struct T;\n",
            "a_b::m::T",
            &["src/lib.rs:3", "src/lib.rs:5"],
        ),
        (
            "attribute strings, derives, visibility",
            "//- src/lib.rs\nmod m { pub mod ser {} }\nstruct S {\n  #[serde(with = \"m::ser\")]\n  pub(in crate::m::ser) x: u8,\n}\n",
            "a_b::m::ser",
            &["src/lib.rs:3", "src/lib.rs:4"],
        ),
        (
            "links and code in docs",
            "//- src/lib.rs\n//! See [`m::f`] and [that](crate::m::f).\n//!\n//! ```\n//! use a_b::m::f;\n//! # fn main() {\n//! f();\n//! # }\n//! ```\n//! ```text\n//! use a_b::m::f;\n//! ```\npub mod m { pub fn f() {} }\n",
            "a_b::m::f",
            &["src/lib.rs:1", "src/lib.rs:4", "src/lib.rs:6"],
        ),
        (
            "a file that does not parse still gives imports and paths",
            "//- src/lib.rs\nmod m;\nuse m::{T, self};\nfn f( { m::T::new() }\n//- src/m.rs\npub struct T;\n",
            "a_b::m::T",
            &["src/lib.rs:2", "src/lib.rs:3"],
        ),
    ]);
}

#[test]
fn modules_are_found_where_the_language_looks() {
    let files = "//- src/lib.rs\n#[path = \"odd/name.rs\"]\nmod odd;\nmod inline { mod deep; }\n#[cfg(unix)]\nmod os;\n#[cfg(windows)]\n#[path = \"os_windows.rs\"]\nmod os;\nmacro_rules! all { () => { mod made; } }\nall!();\ninclude!(\"part.rs\");\n//- src/odd/name.rs\nmod child;\n//- src/odd/child.rs\n//- src/inline/deep.rs\n//- src/os.rs\nmod sub;\n//- src/os/sub.rs\n//- src/os_windows.rs\n//- src/made.rs\n//- src/part.rs\npub struct Part;\n//- src/lost.rs\n//- tests/common/mod.rs\npub fn help() {}\n//- tests/one.rs\nmod common;\n//- tests/two.rs\nmod common;\n//- tests/ui/fail.rs\n";
    let (_, graph) = graph(&format!("{PACKAGE}{files}"));
    let listed: Vec<String> = graph
        .modules()
        .iter()
        .map(|module| format!("{} {}", module.name, module.path))
        .collect();
    assert_eq!(
        listed,
        [
            "a_b src/lib.rs",
            "a_b::inline src/lib.rs",
            "a_b::inline::deep src/inline/deep.rs",
            "a_b::made src/made.rs",
            "a_b::odd src/odd/name.rs",
            "a_b::odd::child src/odd/child.rs",
            "a_b::os src/os.rs",
            "a_b::os src/os_windows.rs",
            "a_b::os::sub src/os/sub.rs",
            "one tests/one.rs",
            "one::common tests/common/mod.rs",
            "two tests/two.rs",
            "two::common tests/common/mod.rs",
        ]
    );
    let common = graph
        .modules()
        .iter()
        .find(|module| module.name == "one::common")
        .unwrap();
    assert_eq!(
        (common.also.as_slice(), common.package),
        (&["two::common".to_owned()][..], true)
    );
    assert!(graph.knows("a_b::Part") && !graph.knows("a_b::Lost"));
    let messages: Vec<String> = graph
        .findings()
        .iter()
        .map(|finding| format!("{} {}", finding.code, finding.path))
        .collect();
    assert_eq!(messages, ["orphan-file src/lost.rs"]);
}

#[test]
fn what_cannot_be_seen_is_never_called_missing() {
    for (what, files, expected) in [
        (
            "a true one",
            "//- src/lib.rs\nmod m {}\nuse m::Gone;\n",
            vec!["`a_b::m::Gone` names nothing that is there"],
        ),
        (
            "a file that is not there",
            "//- src/lib.rs\nmod gone;\n",
            vec!["`mod gone;` has no file"],
        ),
        (
            "under a cfg",
            "//- src/lib.rs\n#[cfg(feature = \"x\")]\nmod gone;\nuse gone::T;\n",
            vec![],
        ),
        (
            "a macro",
            "//- src/lib.rs\nmod m { make!(T); }\nuse m::T;\n",
            vec![],
        ),
        (
            "an outside glob",
            "//- src/lib.rs\nmod m { pub use dep::*; }\nuse m::T;\n",
            vec![],
        ),
        (
            "a glob of std",
            "//- src/lib.rs\nmod m { pub use std::arch::x86_64::*; }\nuse m::T;\n",
            vec![],
        ),
        (
            "passed on",
            "//- src/lib.rs\nmod m { make!(T); }\nmod n { pub use crate::m::T; }\nuse n::T;\n",
            vec![],
        ),
    ] {
        let found = findings(&format!("{PACKAGE}{files}"));
        assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.ends_with(expected), "{what}: {found}");
        }
    }
}

#[test]
fn crates_name_each_other_by_their_manifests() {
    let fixture = "//- Cargo.toml\n[workspace]\nmembers = [\"x\", \"y\"]\n//- x/Cargo.toml\n[package]\nname = \"x\"\nedition = \"2015\"\n[dependencies]\nother = { path = \"../y\", package = \"y\" }\n//- x/src/lib.rs\nextern crate other as o;\nuse other::T;\nmod m {\n  use o::T;\n  use inner::U;\n  fn f(_: ::inner::U) {}\n}\nmod inner { pub struct U; }\n//- y/Cargo.toml\n[package]\nname = \"y\"\nedition = \"2021\"\n//- y/src/lib.rs\npub struct T;\n//- y/src/main.rs\nuse y::T;\nfn main() { let _ = T; }\n";
    assert_eq!(
        references(fixture, "y::T"),
        [
            "x/src/lib.rs:2",
            "x/src/lib.rs:4",
            "y/src/main.rs:1",
            "y/src/main.rs:2"
        ]
    );
    assert_eq!(
        references(fixture, "x::inner::U"),
        ["x/src/lib.rs:5", "x/src/lib.rs:6"]
    );
    let (_, graph) = graph(fixture);
    let names: Vec<&str> = graph
        .modules()
        .iter()
        .map(|module| module.name.as_str())
        .collect();
    assert_eq!(names, ["x", "x::inner", "x::m", "y", "y/src/main.rs//y"]);
}

#[test]
fn modules_and_imports_say_what_they_are() {
    let files = "//- src/lib.rs\nmod empty;\npub mod old;\nmod new { pub struct T; }\n#[cfg(unix)]\nuse old::T;\nuse std::fmt;\nfn f() { crate::new::T; }\n//- src/empty.rs\n//! Nothing.\n//- src/old.rs\n// coalesce: shim 0001-x\npub use crate::new::T;\n";
    let (_, graph) = graph(&format!("{PACKAGE}{files}"));
    let kinds: Vec<ModuleKind> = graph.modules().iter().map(|module| module.kind).collect();
    assert_eq!(
        kinds,
        [
            ModuleKind::Module,
            ModuleKind::Stub,
            ModuleKind::Module,
            ModuleKind::Shim
        ]
    );
    let imports: Vec<(String, u32, bool, Guard)> = graph
        .imports()
        .iter()
        .map(|import| {
            (
                import.name.clone(),
                import.line,
                matches!(import.target, ImportTarget::Module(_)),
                import.guard,
            )
        })
        .collect();
    assert_eq!(
        imports,
        [
            ("a_b::new::T".to_owned(), 5, true, Guard::Conditional),
            ("std::fmt".to_owned(), 6, false, Guard::None),
            ("a_b::new::T".to_owned(), 7, true, Guard::None),
            ("a_b::new::T".to_owned(), 2, true, Guard::None),
        ]
    );
}

#[test]
fn a_few_files_do_not_become_any_number_of_modules() {
    let mut files = String::new();
    for file in 0..6 {
        let name = if file == 0 {
            "lib".to_owned()
        } else {
            format!("f{file}")
        };
        files.push_str(&format!("//- src/{name}.rs\n"));
        for module in 0..20 {
            let next = file + 1;
            files.push_str(&format!("#[path = \"f{next}.rs\"]\nmod m{module};\n"));
        }
    }
    files.push_str("//- src/f6.rs\npub fn f() {}\n");
    let (_, graph) = graph(&format!("{PACKAGE}{files}"));
    // 64 of each file at most, and what those declare.
    let count = graph.modules().len();
    assert!((300..1_000).contains(&count), "{count}");
}

#[test]
fn of_too_many_modules_the_files_beyond_are_told_as_left_out() {
    let mut files = "//- src/lib.rs\n".to_owned();
    for module in 0..63 {
        files.push_str(&format!("#[path = \"many.rs\"]\nmod m{module};\n"));
    }
    files.push_str(
        "mod after;\n//- src/after.rs\nmod below;\n//- src/after/below.rs\n//- src/many.rs\n",
    );
    for module in 0..4_000 {
        files.push_str(&format!("mod i{module} {{}}\n"));
    }
    let (_, graph) = graph(&format!("{PACKAGE}{files}"));
    let findings = graph.findings();
    let told = findings.iter().map(|one| (one.code.0, one.path.as_str()));
    let told: Vec<_> = told.collect();
    assert_eq!(told, [("unreadable-source", "src/after.rs")]);
}

#[test]
fn of_too_many_calls_of_macros_it_is_told_that_bodies_are_not_read() {
    let tree = |calls: usize, named: usize| {
        let mut text = format!(
            "//- src/lib.rs\npub mod kernels;\nmacro_rules! m {{ () => {{ {} }} }}\n",
            "crate::kernels::f();".repeat(named)
        );
        for module in 0..calls {
            text.push_str(&format!("mod c{module} {{ fn u() {{ m!() }} }}\n"));
        }
        graph(&format!(
            "{PACKAGE}{text}//- src/kernels.rs\npub fn f() {{}}\n"
        ))
        .1
    };
    let told = |graph: &RustGraph| {
        let found = graph.lookup_regressions(graph, &[]).unproven;
        found.into_iter().map(|one| one.name).collect::<Vec<_>>()
    };
    assert_eq!(told(&tree(20, 20)), [""; 0]);
    assert_eq!(told(&tree(501, 1_000)), ["m"]);
    // Through others: each of 720 macros is called 720 times.
    let mut chain = "//- src/lib.rs\nmacro_rules! m0 { () => {} }\n".to_owned();
    for macro_number in 1..720 {
        let inner = macro_number - 1;
        chain.push_str(&format!(
            "macro_rules! m{macro_number} {{ () => {{ m{inner}!() }} }}\n"
        ));
    }
    for module in 0..720 {
        chain.push_str(&format!("mod c{module} {{ fn u() {{ m719!() }} }}\n"));
    }
    assert_eq!(told(&graph(&format!("{PACKAGE}{chain}")).1).len(), 1);
}

#[test]
fn a_file_in_a_few_places_is_looked_at_in_each() {
    let mut files = "//- src/lib.rs\n".to_owned();
    for module in 0..40 {
        files.push_str(&format!("#[path = \"one.rs\"]\nmod m{module};\n"));
    }
    files.push_str("//- src/one.rs\npub mod two;\n//- src/two.rs\n");
    let (_, graph) = graph(&format!("{PACKAGE}{files}"));
    assert_eq!(graph.modules().len(), 81);
}

#[test]
fn offsets_survive_a_byte_order_mark_a_shebang_and_deep_nesting() {
    let deep = format!("fn f() {{ {}m::g(){} }}", "(".repeat(300), ")".repeat(300));
    let too_deep = format!(
        "use m::g; fn f() {{ {}1{} }}",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    for body in ["fn f() { m::g(); }".to_owned(), deep, too_deep] {
        let text =
            format!("\u{feff}#!/usr/bin/env run\n// \u{e9}\nmod m {{ pub fn g() {{}} }}\n{body}\n");
        let path = coalesce_model::TreePath::new("src/lib.rs").unwrap();
        let manifest = coalesce_model::TreePath::new("Cargo.toml").unwrap();
        let texts = MemoryTexts::new([
            (
                manifest.clone(),
                Arc::from("[package]\nname = \"a-b\"\nedition = \"2021\"\n"),
            ),
            (path.clone(), Arc::from(text.as_str())),
        ]);
        let files: Vec<_> = [manifest, path]
            .into_iter()
            .map(|path| {
                (
                    path.clone(),
                    Arc::new(Rust.facts(&path, &texts.text(&path).unwrap())),
                )
            })
            .collect();
        let graph = Rust.resolve(&files, texts.paths(), &Settings::default());
        let found = graph.references("a_b::m::g", &texts);
        let spelled: Vec<&str> = found
            .iter()
            .filter_map(|reference| reference.span.of(&text))
            .collect();
        assert_eq!(spelled, ["m::g"], "{:?}", graph.findings());
    }
}
