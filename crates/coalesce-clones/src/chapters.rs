//! Where on a page a class belongs: what a program does comes before its tests, its examples, copies of
//! other projects, and what stands once for each backend, model or program on purpose; what is plainly one
//! text comes before what is alike. Also which classes stand inside of larger ones. Places decide, and
//! what was measured of the texts; nothing is compared.

use coalesce_model::{
    LanguageKind, TreePath, UnitKind, components, envelope::DuplicateKind, outline::marks,
};
use rustc_hash::FxHashMap;

use crate::{
    corpus,
    merging::{Measure, Place},
    report::{Duplicate, Member},
    standing::{self, Programs},
};

/// A part of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    /// What the program does, as far as it is plainly one text.
    #[default]
    Product,
    /// What the program does too, alike and likely left as it is.
    Alike,
    /// The same with changes in each file of a family: one a model, one a chip.
    Variants,
    /// The same once for each backend.
    Backends,
    /// What a text beside it calls a copy, or asks to be kept in step.
    Kept,
    /// Programs that each stand alone.
    Programs,
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
/// Words in the names of folders of tests, and of files that measure.
const TEST_WORDS: [&str; 3] = ["test", "tests", "conformance"];
const BENCHMARK_WORDS: [&str; 4] = ["bench", "benchmark", "benchmarks", "benches"];
/// Words by which files of backends are told apart.
const BACKENDS: [&str; 54] = [
    "cuda",
    "cudnn",
    "hip",
    "rocm",
    "amd",
    "nvidia",
    "metal",
    "mps",
    "vulkan",
    "opencl",
    "cl",
    "sycl",
    "xpu",
    "tpu",
    "npu",
    "hpu",
    "cpu",
    "gpu",
    "webgl",
    "gles",
    "gl",
    "opengl",
    "dx11",
    "dx12",
    "d3d11",
    "d3d12",
    "wgpu",
    "webgpu",
    "numpy",
    "cupy",
    "torch",
    "jax",
    "mlx",
    "paddle",
    "tensorflow",
    "triton",
    "cutile",
    "cutedsl",
    "ascend",
    "pallas",
    "tilelang",
    "unix",
    "windows",
    "linux",
    "macos",
    "darwin",
    "android",
    "ios",
    "wasm",
    "wasi",
    "emscripten",
    "js",
    "x11",
    "wayland",
];
/// Words of paths that say nothing of which backend it is.
const NEUTRAL: [&str; 3] = ["backend", "backends", ""];

impl Chapter {
    /// Where a class of these members belongs, and what was measured of their texts, where that is
    /// asked.
    #[must_use]
    pub fn of(
        members: &[Member],
        places: &[Place<'_>],
        programs: &Programs,
    ) -> (Self, Option<Measure>) {
        let place = Self::of_files(members, places, programs);
        if place != Self::Product {
            return (place, None);
        }
        let measure = Measure::new(places);
        let language = places
            .first()
            .map_or(LanguageKind::Python, |(file, _)| file.language);
        let is_first = measure.is_plain(language, places.len())
            && is_work(places)
            && !places.iter().all(is_asked_for)
            && !places.iter().any(is_short_passage);
        let chapter = if is_first { Self::Product } else { Self::Alike };
        (chapter, Some(measure))
    }

    /// Where a class belongs by its places and what their files say of themselves.
    fn of_files(members: &[Member], places: &[Place<'_>], programs: &Programs) -> Self {
        let of_member = |(member, (file, unit)): (&Member, &Place<'_>)| {
            let by_path = Self::of_member(member);
            match by_path {
                Self::Product if standing::is_test(file, unit) => Self::Tests,
                Self::Product if programs.contain(file) => Self::Programs,
                _ => by_path,
            }
        };
        let each: Vec<Self> = members.iter().zip(places).map(of_member).collect();
        Self::of_each(&each, members, || 2 * kept(places) >= places.len())
    }

    /// Where a class belongs by where each of its members does.
    fn of_each(each: &[Self], members: &[Member], is_kept: impl FnOnce() -> bool) -> Self {
        let count = |chapter| each.iter().filter(|own| **own == chapter).count();
        let product = count(Self::Product);
        match product + count(Self::Programs) {
            // One copy of what the program does among tests is a matter of these tests.
            0 | 1 => each.iter().copied().max().unwrap_or_default(),
            _ if product == 0 => Self::Programs,
            _ if are_backends(members) => Self::Backends,
            _ if is_kept() => Self::Kept,
            _ => Self::Product,
        }
    }

    /// Where a class belongs by its paths alone.
    #[must_use]
    pub fn of_places(members: &[Member]) -> Self {
        let each: Vec<Self> = members.iter().map(Self::of_member).collect();
        Self::of_each(&each, members, || false)
    }

    fn of_member(member: &Member) -> Self {
        let path = member.path.as_str();
        let folders = || path.split('/').rev().skip(1);
        let among = |words: &[&str]| folders().any(|folder| words.contains(&folder));
        let is_test = |name: &str| name.starts_with("test") || name.starts_with("Test");
        let stem = member.path.file_name();
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        let is_hidden = |folder: &str| folder.starts_with('.');
        let has_word =
            |name: &str, words: &[&str]| name.split(['-', '_']).any(|word| words.contains(&word));
        if among(&VENDORED) {
            Self::Vendored
        } else if among(&GENERATED) || GENERATED_ENDS.iter().any(|end| stem.ends_with(end)) {
            Self::Generated
        } else if corpus::is_test_path(path)
            || member.item.split(['.', ':']).any(is_test)
            || folders().any(|folder| is_test(folder) || has_word(folder, &TEST_WORDS))
        {
            Self::Tests
        } else if among(&EXAMPLES) || folders().any(is_hidden) || has_word(stem, &BENCHMARK_WORDS) {
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
            Self::Variants => "variants",
            Self::Backends => "backends",
            Self::Kept => "kept",
            Self::Programs => "programs",
            Self::Tests => "tests",
            Self::Examples => "examples",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
        }
    }
}

/// Whether there is anything done: what only lists names or values is content.
fn is_work(places: &[Place<'_>]) -> bool {
    let calls = |(file, unit): &Place<'_>| {
        let mut body = file.body_of(unit).iter();
        body.any(|token| token.has(marks::CALLEE))
    };
    places.iter().any(calls)
}

/// How many of these say that they are kept.
fn kept(places: &[Place<'_>]) -> usize {
    let says = |(file, unit): &&Place<'_>| standing::is_kept(file, unit);
    places.iter().filter(says).count()
}

/// Lines below which a passage is how such functions begin, or what they all do.
const PASSAGE_LINES: u32 = 12;

/// Whether it is a few lines of something longer.
fn is_short_passage((_, unit): &Place<'_>) -> bool {
    unit.kind == UnitKind::Block && unit.line_count() < PASSAGE_LINES
}

/// Tokens below which what a trait asks for is what everybody writes who has it.
const ASKED_FOR: usize = 250;

/// Whether a trait asks for it, and it is short.
fn is_asked_for((file, unit): &Place<'_>) -> bool {
    file.body_of(unit).len() < ASKED_FOR && standing::is_of_trait(file, unit)
}

/// Whether the paths are the same but for words that name backends, others in each.
fn are_backends(members: &[Member]) -> bool {
    let Some((first, others)) = members.split_first() else {
        return false;
    };
    let (rest, named) = without_backends(&first.path);
    let twin = |other: &Member| {
        let (other_rest, other_named) = without_backends(&other.path);
        other.path != first.path && other_rest == rest && other_named != named
    };
    others.iter().all(twin)
}

/// The words of a path that name no backend, and those that do. A backend may repeat the folder that it
/// stands in: `ops/x.py`, `ops/cuda/ops/x.py`.
fn without_backends(path: &TreePath) -> (Vec<&str>, Vec<&str>) {
    let words = path.as_str().split(['/', '_', '-', '.']);
    let words = words.filter(|word| !NEUTRAL.contains(word));
    let (mut rest, named): (Vec<&str>, Vec<&str>) =
        words.partition(|word| !BACKENDS.contains(word));
    rest.dedup();
    (rest, named)
}

/// Files of one folder that are alike from which on they are a family.
const FAMILY: usize = 6;
/// Lines of what ties a family alone.
const FAMILY_LINES: u32 = 30;
/// Classes that two files share from which on they are alike.
const SHARED: usize = 2;

/// Puts what differs from file to file of a family into a chapter of its own: that there is one file for
/// each model is the project's rule, and what is the same throughout is still told first.
pub fn part_families(classes: &mut [Duplicate]) {
    let families = families(classes);
    for class in classes {
        // Passages are what the parts of a family have in common by being one.
        let is_same = class.kind != DuplicateKind::Block
            && class.measure.is_none_or(|measure| measure.is_equal());
        let asked = class.chapter == Chapter::Product && !is_same;
        let mut paths: Vec<&TreePath> = class.members.iter().map(|member| &member.path).collect();
        paths.dedup();
        let first = paths.first().and_then(|path| families.get(*path));
        let in_one = first.is_some() && paths.iter().all(|path| families.get(*path) == first);
        if asked && paths.len() > 1 && in_one {
            class.chapter = Chapter::Variants;
        }
    }
}

/// For each file of a family the number of that family.
fn families(classes: &[Duplicate]) -> FxHashMap<TreePath, usize> {
    let mut ties: FxHashMap<(&TreePath, &TreePath), usize> = FxHashMap::default();
    for class in classes
        .iter()
        .filter(|class| class.chapter <= Chapter::Variants)
    {
        let mut paths: Vec<&TreePath> = class.members.iter().map(|member| &member.path).collect();
        paths.dedup();
        let is_large = class.members.iter().all(|member| {
            let (first, last) = member.lines;
            last - first >= FAMILY_LINES
        });
        // Modules say it alone, and so does something large in every one of them.
        let alone = class.kind == DuplicateKind::Module || (is_large && paths.len() >= FAMILY);
        let weight = if alone { SHARED } else { 1 };
        // What is beside the first of a long list is beside all of them.
        for (at, one) in paths.iter().enumerate().take(FAMILY) {
            for other in paths.iter().skip(at + 1) {
                if are_kin(one, other) {
                    *ties.entry((one, other)).or_default() += weight;
                }
            }
        }
    }
    let mut alike: Vec<(&TreePath, &TreePath)> = ties
        .into_iter()
        .filter(|(_, count)| *count >= SHARED)
        .map(|(pair, _)| pair)
        .collect();
    alike.sort_unstable();
    families_of_ties(&alike)
}

/// Whether two files stand in one folder, or at the same place of folders beside each other:
/// `models/a/modeling_a.py` and `models/b/modeling_b.py`.
fn are_kin(one: &TreePath, other: &TreePath) -> bool {
    let (left, left_name) = split(one);
    let (right, right_name) = split(other);
    if left.len() != right.len() {
        return false;
    }
    let mut apart = left.iter().zip(&right).filter(|(one, other)| one != other);
    match (apart.next(), apart.next()) {
        (None, _) => true,
        (Some((one, other)), None) => left_name.replace(one, "") == right_name.replace(other, ""),
        _ => false,
    }
}

/// The folders of a path, and the name of its file.
fn split(path: &TreePath) -> (Vec<&str>, &str) {
    let mut folders: Vec<&str> = path.components().collect();
    let name = folders.pop().unwrap_or_default();
    (folders, name)
}

/// The files that are tied together, where these are enough for a family, each with its number.
fn families_of_ties(ties: &[(&TreePath, &TreePath)]) -> FxHashMap<TreePath, usize> {
    let mut paths: Vec<&TreePath> = ties
        .iter()
        .flat_map(|(one, other)| [*one, *other])
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let mut edges = vec![Vec::new(); paths.len()];
    let both_ways = |(one, other): &(_, _)| [(*one, *other), (*other, *one)];
    for (one, other) in ties.iter().flat_map(both_ways) {
        let node = |path| paths.binary_search(&path);
        if let (Ok(from), Ok(to)) = (node(one), node(other))
            && let Some(targets) = edges.get_mut(from)
        {
            targets.push(to);
        }
    }
    let numbers = components(&edges);
    let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
    for number in &numbers {
        *sizes.entry(*number).or_default() += 1;
    }
    let numbered = paths.into_iter().zip(numbers);
    let is_family =
        |(_, number): &(_, usize)| sizes.get(number).is_some_and(|size| *size >= FAMILY);
    let large = numbered.filter(is_family);
    large.map(|(path, number)| (path.clone(), number)).collect()
}

/// What acting on a class is worth, for the order of a page. Of what is plainly one text: the tokens that
/// would go, as their root, for nobody merges a thousand lines a hundred times as gladly as ten, and less
/// for each place where the texts part. Of all others how likely somebody wants it gone counts most, as
/// odds. Half as much again where a GPU is called.
#[must_use]
pub fn worth(class: &Duplicate) -> f32 {
    let sought = if class.gpu { 1.5 } else { 1.0 };
    if let (Chapter::Product, Some(measure)) = (class.chapter, class.measure) {
        let plain = measure.share * measure.share / (1.0 + measure.breaks / FEW_BREAKS);
        let near = if are_in_one_package(class) {
            1.0
        } else {
            ACROSS_PACKAGES
        };
        return measure.gain(class.members.len()).sqrt() * plain * sought * near;
    }
    let likely = match class.kind {
        // What an idiom has in common is a question, not a text.
        DuplicateKind::Idiom => EVEN,
        _ => class.merging().or(class.likelihood).unwrap_or(EVEN),
    };
    let likely = likely.min(SURE);
    (class.removable_lines as f32).sqrt() * likely / (1.0 - likely) * sought
}

/// What is in several packages needs one that all depend on.
const ACROSS_PACKAGES: f32 = 0.6;

/// Whether all members are in one package, as far as paths say so.
fn are_in_one_package(class: &Duplicate) -> bool {
    fn package(member: &Member) -> Option<&str> {
        let path = member.path.as_str();
        path.get(..path.find("/src/")?)
    }
    let mut packages = class.members.iter().map(package);
    let first = packages.next();
    packages.all(|other| Some(other) == first)
}

/// With so many places where texts part, to merge them is worth half.
const FEW_BREAKS: f32 = 8.0;
/// The most that a likelihood counts as.
const SURE: f32 = 0.95;
/// The likelihood of what nobody has measured.
const EVEN: f32 = 0.5;

/// Lines that a passage may stand out of another one that is told before it.
const EDGE: u32 = 2;

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
        // Of passages a line or two may stand out where a longer list of places comes first.
        let edge = if class.kind == DuplicateKind::Block {
            EDGE
        } else {
            0
        };
        let holds = |place: &PlaceOfClass, inner: (u32, u32)| {
            let edge = if place.class < at { edge } else { 0 };
            let (first, last) = place.lines;
            place.lines != inner && first <= inner.0 + edge && inner.1 <= last + edge
        };
        let is_told = |place: &PlaceOfClass, inner: &Duplicate| {
            let outer = classes.get(place.class);
            outer.is_some_and(|outer| outer.chapter <= inner.chapter)
        };
        let mut outer: Vec<usize> = places(first)
            .iter()
            .filter(|place| place.class != at && holds(place, first.lines) && is_told(place, class))
            .map(|place| place.class)
            .collect();
        outer.dedup();
        outer.into_iter().find(|outer| {
            let mut members = Vec::new();
            for inner in &class.members {
                let found = places(inner)
                    .iter()
                    .find(|place| place.class == *outer && holds(place, inner.lines));
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
    fn files_of_one_place_in_folders_beside_each_other_are_kin() {
        let cases = [
            ("m/a.py", "m/b.py", true),
            ("m/a/modeling_a.py", "m/b/modeling_b.py", true),
            (
                "services/s3/src/reader.rs",
                "services/gcs/src/reader.rs",
                true,
            ),
            ("m/a/modeling_a.py", "m/b/layers.py", false),
            ("m/a/x.py", "n/b/x.py", false),
            ("m/x.py", "m/a/x.py", false),
        ];
        for (one, other, expected) in cases {
            let path = |path| TreePath::new(path).expect("it is a path");
            assert_eq!(are_kin(&path(one), &path(other)), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_class_has_its_chapter_by_its_paths() {
        let cases: [(&[&str], Chapter); 16] = [
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
            (
                &[
                    "src/ops/pool.py f",
                    "src/ops/backends/_ascend/ops/pool.py f",
                ],
                Chapter::Backends,
            ),
            (
                &["src/sys/unix.rs f", "src/sys/windows.rs f"],
                Chapter::Backends,
            ),
            (
                &["crates/e2e-tests/src/a.rs f", "crates/e2e-tests/src/b.rs f"],
                Chapter::Tests,
            ),
        ];
        for (places, expected) in cases {
            assert_eq!(Chapter::of_places(&members(places)), expected, "{places:?}");
        }
    }
}
