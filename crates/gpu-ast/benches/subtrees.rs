//! Equal subtrees of all files, beside what the duplicate finder has told of the same tree:
//!
//!     coalesce audit --root TREE --format json > audit.json
//!     cargo bench -p gpu-ast --bench subtrees -- TREE audit.json [LEAST]
//!
//! Subtrees of at least so many nodes (40 unless told) whose hashes are the same, the largest of those within each other.
//! What is compared are lines: two of them are one finding with two members of a class where each pair has most of its
//! lines in common. The finder is asked for its answer alone; neither knows of the other.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Instant,
};

use gpu_ast::{AstTensors, SourceLanguage, subtree_hashes};
use serde_json::Value;

/// Lines of a file, the last one included.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    path: String,
    first: usize,
    last: usize,
}

impl Piece {
    fn lines(&self) -> usize {
        self.last + 1 - self.first
    }

    /// Whether most lines of both are the same.
    fn is_mostly(&self, other: &Piece) -> bool {
        let (first, last) = (self.first.max(other.first), self.last.min(other.last));
        let common = (last + 1).saturating_sub(first);
        self.path == other.path && 2 * common > self.lines().max(other.lines())
    }
}

fn files(root: &Path, folder: &Path, to: &mut Vec<(String, String, SourceLanguage)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.') || name == "target");
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            files(root, &path, to);
        } else if let Some(language) = SourceLanguage::of(&path)
            && let Ok(text) = fs::read_to_string(&path)
        {
            let path = path.strip_prefix(root).unwrap_or(&path);
            to.push((path.to_string_lossy().into_owned(), text, language));
        }
    }
}

/// How many nodes each subtree has.
fn sizes(tree: &AstTensors) -> Vec<usize> {
    let mut sizes = vec![1; tree.len()];
    for node in (1..tree.len()).rev() {
        sizes[tree.parents[node] as usize] += sizes[node];
    }
    sizes
}

fn piece(path: &str, text: &str, tree: &AstTensors, node: usize) -> Piece {
    let line = |byte: u32| {
        let before = text.as_bytes().get(..byte as usize).unwrap_or_default();
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    };
    Piece {
        path: path.to_owned(),
        first: line(tree.starts[node]),
        last: line(tree.ends[node].saturating_sub(1)),
    }
}

/// A text's path, its tree, and the hashes and sizes of that.
struct Read<'f> {
    path: &'f str,
    text: &'f str,
    tree: AstTensors,
    hashes: Vec<[u32; 2]>,
    sizes: Vec<usize>,
}

/// Equal subtrees, those within others left out.
fn groups(read: &[Read<'_>], least: usize) -> Vec<Vec<Piece>> {
    let mut counts: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    let large = |of: &Read<'_>, node: usize| of.sizes[node] >= least;
    for of in read {
        for node in (0..of.tree.len()).filter(|node| large(of, *node)) {
            *counts.entry(of.hashes[node]).or_default() += 1;
        }
    }
    let mut groups: BTreeMap<[u32; 2], Vec<Piece>> = BTreeMap::new();
    for of in read {
        for node in (0..of.tree.len()).filter(|node| large(of, *node)) {
            let count = counts[&of.hashes[node]];
            let around = of.hashes.get(of.tree.parents[node] as usize);
            let as_often = around.is_some_and(|hash| counts.get(hash) == Some(&count));
            if count > 1 && !as_often {
                let found = piece(of.path, of.text, &of.tree, node);
                groups.entry(of.hashes[node]).or_default().push(found);
            }
        }
    }
    groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect()
}

fn classes(audit: &Value) -> Vec<Vec<Piece>> {
    let classes = audit["duplicates"].as_array().into_iter().flatten();
    let pieces = classes
        .filter(|class| class["kind"] != "idiom")
        .map(|class| {
            let members = class["members"].as_array().into_iter().flatten();
            let number = |value: &Value| value.as_u64().unwrap_or(0) as usize;
            let piece = members.map(|member| Piece {
                path: member["path"].as_str().unwrap_or_default().to_owned(),
                first: number(&member["lines"][0]),
                last: number(&member["lines"][1]),
            });
            piece.collect()
        });
    pieces.collect()
}

/// Whether two pieces of the one are two of the other.
fn is_one_finding(one: &[Piece], other: &[Piece]) -> bool {
    let found: BTreeSet<_> = one
        .iter()
        .filter_map(|piece| other.iter().position(|known| known.is_mostly(piece)))
        .collect();
    found.len() > 1
}

fn main() {
    let words: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let [root, audit, rest @ ..] = words.as_slice() else {
        println!("not run: give a tree and what `coalesce audit --format json` told of it");
        return;
    };
    let least = rest
        .first()
        .and_then(|word| word.parse().ok())
        .unwrap_or(40);
    let (mut texts, begin) = (Vec::new(), Instant::now());
    files(Path::new(root), Path::new(root), &mut texts);
    let read_in = begin.elapsed();
    let begin = Instant::now();
    let read: Vec<_> = texts
        .iter()
        .filter_map(|(path, text, language)| {
            let tree = AstTensors::parse(text, *language).ok()?;
            let (hashes, sizes) = (subtree_hashes(&tree), sizes(&tree));
            Some(Read {
                path,
                text,
                tree,
                hashes,
                sizes,
            })
        })
        .collect();
    let hashed_in = begin.elapsed();
    let begin = Instant::now();
    let groups = groups(&read, least);
    let grouped_in = begin.elapsed();
    let Ok(audit) = fs::read_to_string(audit) else {
        println!("not run: {audit} cannot be read");
        return;
    };
    let classes = classes(&serde_json::from_str(&audit).unwrap_or_default());
    tell(&read, &groups, &classes);
    println!(
        "read {read_in:.1?}, trees and hashes {hashed_in:.1?}, groups {grouped_in:.1?}, on one thread"
    );
}

fn tell(read: &[Read<'_>], groups: &[Vec<Piece>], classes: &[Vec<Piece>]) {
    let lines: usize = read.iter().map(|of| of.text.lines().count()).sum();
    let nodes: usize = read.iter().map(|of| of.tree.len()).sum();
    println!("{} files, {lines} lines, {nodes} nodes", read.len());
    let (known, new): (Vec<_>, Vec<_>) = groups
        .iter()
        .partition(|group| classes.iter().any(|class| is_one_finding(group, class)));
    let seen = classes
        .iter()
        .filter(|class| groups.iter().any(|group| is_one_finding(class, group)));
    let spared = |groups: &[&Vec<Piece>]| -> usize {
        let all_but_one = groups
            .iter()
            .map(|group| (group.len() - 1) * group[0].lines());
        all_but_one.sum()
    };
    println!(
        "{} groups of equal subtrees: {} are classes of the finder's ({} lines but for one of each), {} are not ({} lines)",
        groups.len(),
        known.len(),
        spared(&known),
        new.len(),
        spared(&new)
    );
    println!(
        "{} classes of the finder's: {} have equal subtrees in them, {} are alike otherwise",
        classes.len(),
        seen.clone().count(),
        classes.len() - seen.count()
    );
    let mut largest = new;
    largest.sort_by_key(|group| std::cmp::Reverse((group.len() - 1) * group[0].lines()));
    for group in largest.iter().take(10) {
        let places = group.iter().take(3);
        let places: Vec<_> = places
            .map(|piece| format!("{}:{}-{}", piece.path, piece.first, piece.last))
            .collect();
        println!(
            "  not the finder's, {} times: {}",
            group.len(),
            places.join(", ")
        );
    }
}
