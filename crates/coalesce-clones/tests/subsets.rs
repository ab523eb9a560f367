//! What two texts are to each other depends on the two: what is told of a part of a tree is told of the
//! whole, whatever else stands in it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use coalesce_clones::{Duplicate, Member, Options, Report, SourceFile, find};
use coalesce_model::TreePath;
use coalesce_python::Python;
use coalesce_rust::Rust;

/// Folders of this repository that are searched.
const FOLDERS: [&str; 6] = [
    "examples/duplicated",
    "crates/core-gpu/src",
    "crates/core-gpu-memory/src",
    "crates/core-gpu-driver/src",
    "crates/gpu-sim/src",
    "tests/cases/python",
];

fn files() -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open: Vec<PathBuf> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
            let name = TreePath::new(name).unwrap();
            let text = || Arc::from(fs::read_to_string(&path).unwrap());
            found.extend(match name.extension() {
                Some("py") => SourceFile::outlined(&Python, &name, text()),
                Some("rs") => SourceFile::outlined(&Rust, &name, text()),
                _ => None,
            });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Some of the files, chosen by chance.
fn some(files: &[SourceFile], state: &mut u64, percent: u64) -> Vec<SourceFile> {
    let mut chosen = Vec::new();
    for file in files {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        if (*state >> 33) % 100 < percent {
            chosen.push(file.clone());
        }
    }
    chosen
}

/// Whether a member is another one, or stands in it.
fn is_in(member: &Member, other: &Member) -> bool {
    member.path == other.path && other.lines.0 <= member.lines.0 && member.lines.1 <= other.lines.1
}

/// Members of a class that share no class of the report with another of its members.
fn lost(class: &Duplicate, report: &Report) -> Vec<String> {
    let together = |a: &Member, b: &Member| {
        report.duplicates.iter().any(|told| {
            let holds = |member: &Member| told.members.iter().position(|own| is_in(member, own));
            holds(a).is_some_and(|at| holds(b).is_some_and(|other| at != other))
        })
    };
    let alone = class.members.iter().filter(|member| {
        let mut others = class.members.iter().filter(|other| other != member);
        !others.any(|other| together(member, other))
    });
    alone
        .map(|member| {
            format!(
                "{} of {} {}:{:?}",
                member.item, class.id, member.path, member.lines
            )
        })
        .collect()
}

#[test]
fn what_a_part_of_a_tree_tells_the_whole_tells() {
    let files = files();
    assert!(files.len() > 200, "{}", files.len());
    let whole = find(files.clone(), Options::default());
    assert!(whole.duplicates.len() > 20, "{}", whole.duplicates.len());
    let mut state = 17;
    for percent in [10, 25, 25, 40, 40, 60, 60, 80] {
        let part = find(some(&files, &mut state, percent), Options::default());
        for class in &part.duplicates {
            assert_eq!(lost(class, &whole), Vec::<String>::new(), "{percent} %");
            // Nor does it change how likely these places are merged.
            let same = whole.duplicates.iter();
            for other in same.filter(|other| other.members == class.members) {
                assert_eq!(other.merging(), class.merging(), "{}", class.id);
            }
        }
    }
}

#[test]
fn a_further_copy_takes_no_class_away() {
    let files = files();
    let whole = find(files.clone(), Options::default());
    for (at, file) in files.iter().enumerate().step_by(40) {
        let mut more = files.clone();
        for copy in 0..3 {
            let path = TreePath::new(&format!("copies/{copy}/{}", file.path)).unwrap();
            more.push(SourceFile {
                path,
                ..file.clone()
            });
        }
        let report = find(more, Options::default());
        for class in &whole.duplicates {
            assert_eq!(
                lost(class, &report),
                Vec::<String>::new(),
                "{at} {}",
                file.path
            );
        }
    }
}
