//! Definitions that take the place of others, in trees in memory.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{
    Change, ChangeKind, EditSet, Language as _, LanguageGraph as _, LanguagePlan, MemoryTexts,
    Settings, Subject, Texts as _, language::RewriteOptions,
};
use coalesce_rust::Rust;

fn planned(fixture: &str, changes: &[Change]) -> (MemoryTexts, LanguagePlan) {
    let texts = MemoryTexts::fixture(fixture);
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
    let plan = graph.rewrite(changes, RewriteOptions::default(), &texts);
    (texts, plan)
}

/// What each file that stays says afterwards.
fn after(texts: &MemoryTexts, plan: &LanguagePlan) -> BTreeMap<String, String> {
    let edited = plan.edits.iter().map(|(path, edits)| {
        let text = texts.text(path).unwrap();
        let set = EditSet::from_edits(&text, edits.clone()).unwrap();
        (path.to_string(), set.apply(&text).unwrap())
    });
    let gone: Vec<String> = plan.deletes.iter().map(ToString::to_string).collect();
    edited.filter(|(path, _)| !gone.contains(path)).collect()
}

fn change(from: &str, to: &str, subject: Subject, kind: ChangeKind) -> Change {
    Change {
        from: from.to_owned(),
        to: to.to_owned(),
        subject,
        kind,
        shim: None,
        uses: coalesce_model::Uses::default(),
    }
}

const TREE: &str = "\
//- Cargo.toml
[package]
name = \"c\"
edition = \"2021\"
//- src/lib.rs
pub mod a;
pub mod b;
pub mod user;
//- src/a.rs
pub(crate) struct Pool {
    pub size: usize,
}

impl Pool {
    pub fn new() -> Self {
        Self { size: start() }
    }
}

fn start() -> usize {
    7
}
//- src/b.rs
/// The old one.
pub struct Pool {
    pub size: usize,
}

impl Pool {
    pub fn new() -> Self {
        Self { size: 0 }
    }
}

pub fn make() -> Pool {
    Pool::new()
}
//- src/user.rs
pub fn run() -> usize {
    crate::a::Pool::new().size + crate::b::Pool::new().size
}
";

#[test]
fn a_definition_takes_the_place_of_another_one() {
    let replace = ChangeKind::Replace { rename: Vec::new() };
    let changes = [
        change("c::a", "c::b", Subject::Module, replace),
        change(
            "c::a::Pool",
            "c::b::Pool",
            Subject::Item,
            ChangeKind::Supersede,
        ),
    ];
    let (texts, plan) = planned(TREE, &changes);
    assert_eq!(plan.refusals, []);
    let files = after(&texts, &plan);
    assert_eq!(
        files["src/b.rs"],
        "pub fn make() -> Pool {
    Pool::new()
}

pub struct Pool {
    pub size: usize,
}

impl Pool {
    pub fn new() -> Self {
        Self { size: start() }
    }
}

fn start() -> usize {
    7
}
"
    );
    assert_eq!(
        files["src/user.rs"],
        "pub fn run() -> usize {
    crate::b::Pool::new().size + crate::b::Pool::new().size
}
"
    );
    assert_eq!(files["src/lib.rs"], "pub mod b;\npub mod user;\n");
    assert_eq!(plan.deletes.len(), 1);
}

#[test]
fn what_users_of_the_other_one_need_is_not_lost() {
    let replace = ChangeKind::Replace { rename: Vec::new() };
    let changes = [
        change("c::a", "c::b", Subject::Module, replace),
        change(
            "c::a::Pool",
            "c::b::Pool",
            Subject::Item,
            ChangeKind::Supersede,
        ),
    ];
    let tree = TREE.replace(
        "Self { size: 0 }\n    }",
        "Self { size: 0 }\n    }\n\n    pub fn more(&self) {}",
    );
    let tree = tree.replace(
        "crate::b::Pool::new().size",
        "{ crate::b::Pool::new().more(); 1 }",
    );
    let (_, plan) = planned(&tree, &changes);
    let messages: Vec<&str> = plan
        .refusals
        .iter()
        .map(|one| one.message.as_str())
        .collect();
    assert_eq!(messages, ["`c::a::Pool` has no `more`, which is used here"]);
}
