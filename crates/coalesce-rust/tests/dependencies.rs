//! What manifests come to say when code that uses libraries from elsewhere moves, in trees in memory:
//! nothing is fetched, so no compiler can be asked.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use coalesce_model::{
    Change, ChangeKind, EditSet, Language as _, LanguageGraph as _, MemoryTexts, Settings, Subject,
    Texts as _, TreePath, language::RewriteOptions,
};
use coalesce_rust::Rust;

/// The manifest of `b` after `a::m` has moved to it.
fn manifest_after(module: &str, own: &str, other: &str) -> String {
    let fixture = format!(
        "//- Cargo.toml\n[workspace]\nmembers = [\"a\", \"b\"]\n\n[workspace.dependencies]\ngl = \"0.14\"\nlog = \"0.4\"\n\
         //- a/Cargo.toml\n[package]\nname = \"a\"\nedition = \"2021\"\n\n{own}\n\
         //- a/src/lib.rs\n#[cfg(feature = \"gpu\")]\npub mod m;\n\
         //- a/src/m.rs\n{module}\n\
         //- b/Cargo.toml\n[package]\nname = \"b\"\nedition = \"2021\"\n{other}\n\
         //- b/src/lib.rs\n"
    );
    let texts = MemoryTexts::fixture(&fixture);
    let files: Vec<_> = texts
        .paths()
        .iter()
        .filter(|path| Rust.claims(path))
        .map(|path| {
            let text = texts.text(path).unwrap();
            (path.clone(), Arc::new(Rust.facts(path, &text)))
        })
        .collect();
    let graph = Rust.resolve(&files, texts.paths(), &Settings::default());
    let changes = [Change {
        from: "a::m".to_owned(),
        to: "b::m".to_owned(),
        subject: Subject::Module,
        kind: ChangeKind::Move,
        shim: None,
        uses: coalesce_model::Uses::default(),
    }];
    let plan = graph.rewrite(&changes, RewriteOptions::default(), &texts);
    assert!(plan.refusals.is_empty(), "{:?}", plan.refusals);
    let path = TreePath::new("b/Cargo.toml").unwrap();
    let text = texts.text(&path).unwrap();
    let edits = plan.edits.get(&path).cloned().unwrap_or_default();
    let set = EditSet::from_edits(&text, edits).unwrap();
    set.apply(&text).unwrap()
}

#[test]
fn a_bare_use_of_a_dependency_keeps_it() {
    let own = "[dependencies]\ngl = \"0.14\"\n\n[features]\ngpu = []";
    for module in [
        "use gl;\npub fn f() { unsafe { gl::Finish() } }",
        "use gl as x;\npub fn f() { unsafe { x::Finish() } }",
        "use ::gl;\npub fn f() { unsafe { gl::Finish() } }",
        "use {gl, std::fmt};\npub fn f(_: &dyn fmt::Debug) { unsafe { gl::Finish() } }",
        "extern crate gl;\npub fn f() { unsafe { gl::Finish() } }",
        "pub use gl;",
        "pub fn f() { unsafe { ::gl::Finish() } }",
    ] {
        let text = manifest_after(module, own, "\n[features]\ngpu = []");
        assert!(text.contains("gl = \"0.14\""), "{module}\n{text}");
    }
}

#[test]
fn what_was_optional_is_optional_and_turned_on() {
    let own = "[dependencies]\ngl = { version = \"0.14\", optional = true }\n\n[features]\ngpu = [\"dep:gl\"]";
    let module = "pub fn f() { unsafe { gl::Finish() } }";
    let text = manifest_after(module, own, "\n[features]\ngpu = []");
    assert!(
        text.contains("gl = { version = \"0.14\", optional = true }"),
        "{text}"
    );
    assert!(text.contains("gpu = [\"dep:gl\"]"), "{text}");
    // The feature comes along, with what it turns on.
    let text = manifest_after(module, own, "");
    assert!(text.contains("gpu = [\"dep:gl\"]"), "{text}");
}

#[test]
fn a_line_is_written_as_those_beside_it() {
    let own = "[dependencies]\ngl = \"0.14\"\n\n[features]\ngpu = []";
    let module = "pub fn f() { unsafe { gl::Finish() } }";
    for (other, line) in [
        (
            "\n[dependencies]\nlog.workspace = true",
            "gl.workspace = true",
        ),
        (
            "\n[dependencies]\nlog = { workspace = true }",
            "gl = { workspace = true }",
        ),
        (
            "\n[dependencies.log]\nversion = \"0.4\"",
            "[dependencies.gl]\nversion = \"0.14\"",
        ),
        ("\n[dependencies]\nlog = \"0.4\"", "gl = \"0.14\""),
    ] {
        let other = format!("{other}\n\n[features]\ngpu = []");
        let text = manifest_after(module, own, &other);
        assert!(text.contains(line), "{line}\n{text}");
    }
}
