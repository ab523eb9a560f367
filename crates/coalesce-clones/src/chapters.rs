//! Where on a page a class belongs: what a program does comes before its tests, its examples, copies of
//! other projects, and what stands once for each backend, package or program on purpose; what is plainly one
//! text comes before what is alike. Places decide, and what was measured of the texts; nothing is compared.

use coalesce_model::{UnitKind, outline::marks};

use crate::{
    acting, attribution, corpus,
    merging::{Measure, Place},
    report::Member,
    source::{SourceFile, Unit},
    standing::{self, Apart},
    twins,
};

/// A part of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    /// What the program does, as far as it is likely worth acting on.
    #[default]
    Product,
    /// The same where that is less likely.
    Next,
    /// What the program does too, alike and likely left as it is.
    Alike,
    /// The same in each file of a family, with changes, or in files beside each other on purpose: one a model, one a chip,
    /// one a version, folders that mirror each other.
    Variants,
    /// What the language asks for more than once: by a trait, for what waits and what does not, for each of several
    /// conditions.
    Asked,
    /// What runs on a device, with changes, and passages of it.
    Kernels,
    /// The same in several packages, with changes.
    Packages,
    /// The same question asked of a library in several places, whatever their texts.
    Idioms,
    /// The same once for each backend.
    Backends,
    /// What a text beside it calls a copy or asks to be kept in step, what is deprecated, and steps of a migration.
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

/// Whether a name has one of these words in it.
fn has_word(name: &str, words: &[&str]) -> bool {
    name.split(['-', '_']).any(|word| words.contains(&word))
}

/// Whether a folder's name speaks of what others wrote: `thirdparty_files`, `third_party_kernels`.
fn is_of_third_party(folder: &str) -> bool {
    let words: Vec<&str> = folder.split(['-', '_']).collect();
    words.contains(&"thirdparty") || words.windows(2).any(|pair| pair == ["third", "party"])
}

/// Whether a member is of tests, going by its path and its name.
fn is_of_tests(member: &Member) -> bool {
    let is_test = |name: &str| name.starts_with("test") || name.starts_with("Test");
    let mut folders = member.path.as_str().split('/').rev().skip(1);
    corpus::is_test_path(member.path.as_str())
        || member.item.split(['.', ':']).any(is_test)
        || folders.any(|folder| is_test(folder) || has_word(folder, &TEST_WORDS))
}

/// Folders of steps from one state of databases or projects to the next one: what has run is not written again.
const MIGRATIONS: [&str; 2] = ["migrations", "_migrations"];

/// Whether all but one of the members, at least, are of steps that somebody has behind them.
fn are_migrations(members: &[Member]) -> bool {
    let is_migration = |member: &&Member| {
        let mut folders = member.path.as_str().split('/').rev().skip(1);
        folders.any(|folder| MIGRATIONS.contains(&folder))
    };
    members.iter().filter(is_migration).count() + 1 >= members.len()
}

/// Whether a build of a Python package put a file there: `build/lib/package/…`.
fn is_built(path: &str) -> bool {
    let mut folders = path.split('/').rev().skip(1).collect::<Vec<_>>();
    folders.reverse();
    folders.windows(2).any(|pair| match pair {
        ["build", of] => *of == "lib" || of.starts_with("lib."),
        _ => false,
    })
}

impl Chapter {
    /// Where a class of these members belongs of which each pair is as likely duplicated, and what was measured of their
    /// texts, where that is asked.
    #[must_use]
    pub fn of(
        (members, places): (&[Member], &[Place<'_>]),
        likelihood: Option<f32>,
        apart: &Apart,
    ) -> (Self, Option<Measure>) {
        let place = Self::of_files(members, places, apart);
        if place != Self::Product {
            return (place, None);
        }
        let measure = Measure {
            attributed: attribution::of_files(places),
            ..Measure::new(places)
        };
        let features = acting::features(&measure, likelihood, members);
        let acting = acting::likelihood(&features);
        let chapter = if twins::are_alternatives(places) {
            Self::Asked
        } else if acting < PERHAPS || is_little(places, &measure) {
            Self::Alike
        } else {
            let reason = Self::of_reason(members, (places, &measure), apart);
            let first = if acting < WELCOME {
                Self::Next
            } else {
                Self::Product
            };
            reason.unwrap_or(first)
        };
        (chapter, Some(measure))
    }

    /// Where a class of what the program does belongs that stays as it is for a reason; `None` where none is known.
    fn of_reason(
        members: &[Member],
        (places, measure): (&[Place<'_>], &Measure),
        apart: &Apart,
    ) -> Option<Self> {
        let is_equal = measure.is_equal();
        let is_asked = twins::are_asked_of_traits(places) || twins::are_by_mutability(places);
        if is_asked || (!is_equal && is_asked_for(places)) {
            Some(Self::Asked)
        } else if is_of_device(places, is_equal) {
            Some(Self::Kernels)
        } else if apart.parts(members) || (!is_equal && is_variant(members, places, measure)) {
            Some(Self::Variants)
        } else if !is_equal && !twins::are_in_one_package(members) {
            Some(Self::Packages)
        } else {
            None
        }
    }

    /// Whether it is about what the program itself does, wherever a page tells it.
    #[must_use]
    pub const fn is_of_program(self) -> bool {
        match self {
            Self::Product
            | Self::Next
            | Self::Alike
            | Self::Variants
            | Self::Asked
            | Self::Kernels
            | Self::Packages
            | Self::Idioms => true,
            Self::Backends
            | Self::Kept
            | Self::Programs
            | Self::Tests
            | Self::Examples
            | Self::Generated
            | Self::Vendored => false,
        }
    }

    /// Where a class belongs by its places and what their files say of themselves.
    fn of_files(members: &[Member], places: &[Place<'_>], apart: &Apart) -> Self {
        let of_member = |(member, (file, unit)): (&Member, &Place<'_>)| {
            let by_path = Self::of_member(member);
            match by_path {
                Self::Product if apart.is_test(file, unit) => Self::Tests,
                Self::Product if apart.is_program(file) => Self::Programs,
                _ => by_path,
            }
        };
        let each: Vec<Self> = members.iter().zip(places).map(of_member).collect();
        Self::of_each(&each, members, || are_kept(places))
    }

    /// Where a class belongs by where each of its members does.
    fn of_each(each: &[Self], members: &[Member], is_kept: impl FnOnce() -> bool) -> Self {
        let count = |chapter| each.iter().filter(|own| **own == chapter).count();
        let product = count(Self::Product);
        match product + count(Self::Programs) {
            // One copy of what the program does among tests is a matter of these tests.
            0 | 1 => each.iter().copied().max().unwrap_or_default(),
            _ if product == 0 => Self::Programs,
            _ if twins::are_backends(members) => Self::Backends,
            _ if are_migrations(members) || is_kept() => Self::Kept,
            _ => Self::Product,
        }
    }

    /// Where an idiom belongs, by its paths alone: what it has in common is a question, and no text that could stand once.
    #[must_use]
    pub fn of_idiom(members: &[Member]) -> Self {
        match Self::of_places(members) {
            Self::Product => Self::Idioms,
            elsewhere => elsewhere,
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
        let stem = member.path.file_name();
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        let is_hidden = |folder: &str| folder.starts_with('.');
        if among(&VENDORED) || folders().any(is_of_third_party) {
            Self::Vendored
        } else if among(&GENERATED)
            || is_built(path)
            || GENERATED_ENDS.iter().any(|end| stem.ends_with(end))
        {
            Self::Generated
        } else if is_of_tests(member) {
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
            Self::Next => "next",
            Self::Alike => "alike",
            Self::Variants => "variants",
            Self::Asked => "asked",
            Self::Kernels => "kernels",
            Self::Packages => "packages",
            Self::Idioms => "idioms",
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

/// From this likelihood of being worth acting on a class comes first; the page goes on with what is left from that one on.
const WELCOME: f32 = 0.5;
const PERHAPS: f32 = 0.3;

/// Statements in common below which it is too little, whatever they are.
const FEW_STATEMENTS: f32 = 4.0;

/// Whether there is too little to be written once: a few statements, what only lists names or values, and a type or module
/// that decides nothing, whose content is what it is asked by.
fn is_little(places: &[Place<'_>], measure: &Measure) -> bool {
    let is_declared = measure.decisions < 1.0 && any(places, is_whole);
    measure.statements < FEW_STATEMENTS || !is_work(places) || is_declared
}

/// Whether it is a module or a type.
const fn is_whole(_: &SourceFile, unit: &Unit) -> bool {
    matches!(
        unit.kind,
        UnitKind::Module | UnitKind::Class | UnitKind::Impl
    )
}

/// Tokens by which even what others ask for by its name is worth writing once.
const LARGE: f32 = 400.0;

/// Whether places that are not the same are there for one version each, or for what others ask for by name.
fn is_variant(members: &[Member], places: &[Place<'_>], measure: &Measure) -> bool {
    is_of_one_api(places, measure) || twins::are_versions(members)
}

/// Whether it is tuned for what it runs on: in assembly or with changes on a device, and what kernels have in
/// common inside.
fn is_of_device(places: &[Place<'_>], is_equal: bool) -> bool {
    let is_passage = |_: &SourceFile, unit: &Unit| unit.kind == UnitKind::Block;
    let is_asked = !is_equal || any(places, is_passage);
    is_asked && (any(places, twins::is_for_device) || any(places, twins::is_assembly))
}

/// Whether a few of the places are so.
fn any(places: &[Place<'_>], is_so: impl Fn(&SourceFile, &Unit) -> bool) -> bool {
    places.iter().any(|(file, unit)| is_so(file, unit))
}

/// Whether places that are not the same are what something asks for again and again: what waits and what does not, a
/// macro, a default and what stands in its place.
fn is_asked_for(places: &[Place<'_>]) -> bool {
    twins::are_called_otherwise(places)
        || any(places, twins::is_macro)
        || any(places, twins::is_in_macro_call)
        || twins::are_default_and_override(places)
}

/// Whether whole modules or types are one text with other words in it, and no large one: each is what others ask for
/// by its name.
fn is_of_one_api(places: &[Place<'_>], measure: &Measure) -> bool {
    measure.share >= 1.0 && measure.gain(places.len()) < LARGE && any(places, is_whole)
}

/// Whether there is anything done: what only lists names or values is content.
fn is_work(places: &[Place<'_>]) -> bool {
    let calls = |(file, unit): &Place<'_>| {
        let mut body = file.body_of(unit).iter();
        body.any(|token| token.has(marks::CALLEE))
    };
    places.iter().any(calls)
}

/// Whether half of these say that they are kept, or one is on its way out.
fn are_kept(places: &[Place<'_>]) -> bool {
    let says = |place: &&Place<'_>| standing::is_kept(place, places);
    2 * places.iter().filter(says).count() >= places.len() || any(places, standing::is_deprecated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use coalesce_model::TreePath;

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
        let cases: [(&[&str], Chapter); 22] = [
            (&["src/a.py f", "src/b.py f"], Chapter::Product),
            (
                &["p/migrations/v/0001.py f", "p/migrations/v/0002.py f"],
                Chapter::Kept,
            ),
            (&["p/migrations.py f", "p/other.py f"], Chapter::Product),
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
            (&["p/a.py f", "build/lib/p/a.py f"], Chapter::Generated),
            (&["p/build/a.py f", "p/lib/b.py f"], Chapter::Product),
            (&["third_party/x/a.rs f", "src/b.rs f"], Chapter::Vendored),
            (
                &["p/thirdparty_files/a.py f", "p/thirdparty_files/b.py f"],
                Chapter::Vendored,
            ),
            (
                &["src/cpu/avx.rs f", "src/cpu/neon.rs f"],
                Chapter::Backends,
            ),
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
