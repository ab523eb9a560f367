//! Where on a page a class belongs: what a program does comes before its tests, its examples, copies of
//! other projects, and what stands once for each backend on purpose. Also which classes stand inside of
//! larger ones. Paths decide; nothing is compared.

use coalesce_model::{TreePath, envelope::DuplicateKind};
use rustc_hash::FxHashMap;

use crate::{
    corpus, merging,
    report::{Duplicate, Member},
};

/// A part of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    /// What the program does, as far as a maintainer would likely merge it.
    #[default]
    Product,
    /// What the program does too, alike and likely left as it is.
    Alike,
    /// The same once for each backend.
    Backends,
    /// Tests and benchmarks.
    Tests,
    /// Examples and documentation.
    Examples,
    /// What another program writes.
    Generated,
    /// Copies of other projects.
    Vendored,
}

const EXAMPLES: [&str; 21] = [
    "example",
    "examples",
    "demo",
    "demos",
    "sample",
    "samples",
    "tutorial",
    "tutorials",
    "doc",
    "docs",
    "recipes",
    "notebooks",
    "benchmark",
    "benchmarks",
    "bench",
    "benches",
    "asv",
    "asv_bench",
    "evals",
    "fixtures",
    "templates",
];
const VENDORED: [&str; 9] = [
    "vendor",
    "vendored",
    "_vendor",
    "third_party",
    "third-party",
    "thirdparty",
    "3rdparty",
    "external",
    "extern",
];
/// Folders of what programs write, and how the names of such files begin or end.
const GENERATED: [&str; 8] = [
    "generated",
    "_generated",
    "autogen",
    "proto",
    "protos",
    "pb",
    "bindings",
    "codegen_output",
];
const GENERATED_ENDS: [&str; 6] = [
    "_pb2",
    "_pb2_grpc",
    "_pb",
    ".gen",
    "_generated",
    "_bindings",
];
/// Words by which files of backends are told apart.
const BACKENDS: [&str; 31] = [
    "cuda", "cudnn", "hip", "rocm", "amd", "nvidia", "metal", "mps", "vulkan", "opencl", "cl",
    "sycl", "xpu", "tpu", "npu", "cpu", "gpu", "webgl", "gles", "gl", "opengl", "dx11", "dx12",
    "d3d11", "d3d12", "wgpu", "webgpu", "numpy", "cupy", "torch", "jax",
];

impl Chapter {
    /// Where a class of these members belongs, and how likely a maintainer merges them, where that is
    /// asked.
    #[must_use]
    pub fn of(members: &[Member], places: &[merging::Place<'_>]) -> (Self, Option<f32>) {
        match Self::of_places(members) {
            Self::Product => {
                let likely = merging::likelihood(places);
                let chapter = if likely < merging::FIRST {
                    Self::Alike
                } else {
                    Self::Product
                };
                (chapter, Some(likely))
            }
            other => (other, None),
        }
    }

    /// Where a class belongs by its places alone.
    #[must_use]
    pub fn of_places(members: &[Member]) -> Self {
        let each: Vec<Self> = members.iter().map(Self::of_member).collect();
        let product = each.iter().filter(|chapter| **chapter == Self::Product);
        match product.count() {
            // One copy of what the program does among tests is a matter of these tests.
            0 | 1 => each.into_iter().max().unwrap_or_default(),
            _ if are_backends(members) => Self::Backends,
            _ => Self::Product,
        }
    }

    fn of_member(member: &Member) -> Self {
        let path = member.path.as_str();
        let folders = || path.split('/').rev().skip(1);
        let among = |words: &[&str]| folders().any(|folder| words.contains(&folder));
        let is_test = |name: &str| name.starts_with("test") || name.starts_with("Test");
        let stem = member.path.file_name();
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        let is_hidden = |folder: &str| folder.starts_with('.');
        if among(&VENDORED) {
            Self::Vendored
        } else if among(&GENERATED) || GENERATED_ENDS.iter().any(|end| stem.ends_with(end)) {
            Self::Generated
        } else if corpus::is_test_path(path)
            || member.item.split(['.', ':']).any(is_test)
            || folders().any(is_test)
        {
            Self::Tests
        } else if among(&EXAMPLES) || folders().any(is_hidden) {
            Self::Examples
        } else {
            Self::Product
        }
    }

    /// Its word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Alike => "alike",
            Self::Backends => "backends",
            Self::Tests => "tests",
            Self::Examples => "examples",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
        }
    }
}

/// Whether the paths are the same but for words that name backends, another one in each.
fn are_backends(members: &[Member]) -> bool {
    let Some((first, others)) = members.split_first() else {
        return false;
    };
    let (rest, named) = without_backends(&first.path);
    let twin = |other: &Member| {
        let (other_rest, other_named) = without_backends(&other.path);
        other.path != first.path && other_rest == rest && other_named != named
    };
    !named.is_empty() && others.iter().all(twin)
}

/// The words of a path that name no backend, and those that do.
fn without_backends(path: &TreePath) -> (Vec<&str>, Vec<&str>) {
    let words = path.as_str().split(['/', '_', '-', '.']);
    words.partition(|word| !BACKENDS.contains(word))
}

/// What acting on a class is worth, for the order of a page: how likely somebody wants it gone counts
/// most, as odds; then the lines that would go, as their root, for nobody merges a thousand lines a
/// hundred times as gladly as ten; half as much again where a GPU is called.
#[must_use]
pub fn worth(class: &Duplicate) -> f32 {
    let likely = match class.kind {
        // What an idiom has in common is a question, not a text.
        DuplicateKind::Idiom => EVEN,
        _ => class.merging.or(class.likelihood).unwrap_or(EVEN),
    };
    let likely = likely.min(SURE);
    let sought = if class.gpu { 1.5 } else { 1.0 };
    (class.removable_lines as f32).sqrt() * likely / (1.0 - likely) * sought
}

/// The most that a likelihood counts as.
const SURE: f32 = 0.95;
/// The likelihood of what nobody has measured.
const EVEN: f32 = 0.5;

/// A member of a class, in its file.
struct PlaceOfClass {
    class: usize,
    member: usize,
    lines: (u32, u32),
}

/// For each class the one that it stands inside of: each of its members in a member of it, and not all
/// in one. What stands in a later chapter surrounds nothing: it would take along what comes first.
#[must_use]
pub fn surrounding(classes: &[Duplicate]) -> Vec<Option<usize>> {
    let mut by_path: FxHashMap<&TreePath, Vec<PlaceOfClass>> = FxHashMap::default();
    for (at, class) in classes.iter().enumerate() {
        // What an idiom has in common is a question, not a text.
        for (member, place) in class
            .members
            .iter()
            .enumerate()
            .filter(|_| class.kind != DuplicateKind::Idiom)
        {
            by_path.entry(&place.path).or_default().push(PlaceOfClass {
                class: at,
                member,
                lines: place.lines,
            });
        }
    }
    let around = |(at, class): (usize, &Duplicate)| {
        let first = class.members.first()?;
        let places = |member: &Member| by_path.get(&member.path).map_or(&[][..], Vec::as_slice);
        let holds = |lines: (u32, u32), inner: (u32, u32)| {
            lines != inner && lines.0 <= inner.0 && inner.1 <= lines.1
        };
        let is_told = |place: &PlaceOfClass, inner: &Duplicate| {
            let outer = classes.get(place.class);
            outer.is_some_and(|outer| outer.chapter <= inner.chapter)
        };
        let mut outer: Vec<usize> = places(first)
            .iter()
            .filter(|place| {
                place.class != at && holds(place.lines, first.lines) && is_told(place, class)
            })
            .map(|place| place.class)
            .collect();
        outer.dedup();
        outer.into_iter().find(|outer| {
            let mut members = Vec::new();
            for inner in &class.members {
                let found = places(inner)
                    .iter()
                    .find(|place| place.class == *outer && holds(place.lines, inner.lines));
                match found {
                    Some(place) => members.push(place.member),
                    None => return false,
                }
            }
            members.sort_unstable();
            members.dedup();
            members.len() > 1
        })
    };
    classes.iter().enumerate().map(around).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(places: &[&str]) -> Vec<Member> {
        let member = |place: &&str| {
            let (path, item) = place.split_once(' ').unwrap_or((place, ""));
            Member {
                path: TreePath::new(path).expect("it is a path"),
                item: item.to_owned(),
                lines: (1, 9),
                start: 0,
            }
        };
        places.iter().map(member).collect()
    }

    #[test]
    fn a_class_has_its_chapter_by_its_paths() {
        let cases: [(&[&str], Chapter); 13] = [
            (&["src/a.py f", "src/b.py f"], Chapter::Product),
            (
                &["src/a.py f", "src/b.py f", "tests/c.py f"],
                Chapter::Product,
            ),
            (&["src/a.py f", "tests/c.py f"], Chapter::Tests),
            (
                &["src/a.rs tests::one", "src/b.rs tests::two"],
                Chapter::Tests,
            ),
            (&["examples/a.rs f", "examples/b.rs f"], Chapter::Examples),
            (&["benches/a.rs f", "benches/b.rs f"], Chapter::Tests),
            (&["asv/a.py f", "asv/b.py f"], Chapter::Examples),
            (&[".a/tool.py f", ".b/tool.py f"], Chapter::Examples),
            (&["src/a_pb2.py f", "src/b_pb2.py f"], Chapter::Generated),
            (&["third_party/x/a.rs f", "src/b.rs f"], Chapter::Vendored),
            (
                &["src/cuda/pool.rs f", "src/hip/pool.rs f"],
                Chapter::Backends,
            ),
            (
                &["src/cuda_pool.py f", "src/torch_pool.py f"],
                Chapter::Backends,
            ),
            (
                &["src/cuda/pool.rs f", "src/hip/heap.rs f"],
                Chapter::Product,
            ),
        ];
        for (places, expected) in cases {
            assert_eq!(Chapter::of_places(&members(places)), expected, "{places:?}");
        }
    }
}
