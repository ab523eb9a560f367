//! Copies that stand beside each other for a reason which names and heads say: one for each backend or
//! version, one that waits and one that does not, one a type of a trait, one in each package, and what runs
//! on a device. Nothing is compared.

use std::collections::BTreeSet;

use coalesce_model::{TreePath, UnitKind};

use crate::{
    merging::Place,
    opposites,
    report::Member,
    source::{self, SourceFile, Token, Unit},
    standing,
};

/// Words by which files of backends are told apart.
const BACKENDS: [&str; 60] = [
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
    "avx",
    "avx2",
    "avx512",
    "sse",
    "neon",
    "simd128",
];
/// Words of paths that say nothing of which backend it is.
const NEUTRAL: [&str; 3] = ["backend", "backends", ""];
/// Words of names and folders by which what waits is told from what does not, and what changes from what
/// only reads.
const TWIN_WORDS: [&str; 5] = ["async", "asyncio", "aio", "blocking", "mut"];
/// What stands before a function or type that runs on a device.
const DEVICE_WORDS: [&str; 3] = ["kernel", "cube", "spirv"];
/// What compiles for a device, behind the name of its library.
const DEVICE_COMPILERS: [(&str, &str); 8] = [
    ("triton", "jit"),
    ("cuda", "jit"),
    ("gluon", "jit"),
    ("cute", "jit"),
    ("wp", "func"),
    ("ti", "func"),
    ("ct", "function"),
    ("tilelang", "jit"),
];
/// Tokens below which what a trait asks for is what everybody writes who has it.
const ASKED_FOR: usize = 250;

/// Traits of the standard library that each type has by itself: conversions name both types, field by field.
const OF_TYPES: [&str; 9] = [
    "From",
    "TryFrom",
    "Into",
    "Debug",
    "Display",
    "PartialEq",
    "PartialOrd",
    "Hash",
    "Default",
];

/// Whether the paths are the same but for words that name backends, others in each.
pub fn are_backends(members: &[Member]) -> bool {
    are_apart(members, |word| BACKENDS.contains(&word))
}

/// Whether the paths are the same but for words that name versions: `i2c/v1.rs`, `i2c/v2.rs`.
pub fn are_versions(members: &[Member]) -> bool {
    are_apart(members, is_version)
}

/// Whether a word of a path is a number, perhaps behind a `v`.
fn is_version(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the paths are the same but for such words, others in each.
fn are_apart(members: &[Member], is_one: impl Fn(&str) -> bool) -> bool {
    let Some((first, others)) = members.split_first() else {
        return false;
    };
    let (rest, named) = parted(&first.path, &is_one);
    others.iter().all(|other| {
        let (other_rest, other_named) = parted(&other.path, &is_one);
        other.path != first.path && other_rest == rest && other_named != named
    })
}

/// The words of a path that are not such, and those that are. A backend may repeat the folder that it
/// stands in: `ops/x.py`, `ops/cuda/ops/x.py`.
fn parted<'p>(path: &'p TreePath, is_one: &impl Fn(&str) -> bool) -> (Vec<&'p str>, Vec<&'p str>) {
    let words = path.as_str().split(['/', '_', '-', '.']);
    let words = words.filter(|word| !NEUTRAL.contains(word));
    let (named, mut rest): (Vec<&str>, Vec<&str>) = words.partition(|word| is_one(word));
    rest.dedup();
    (rest, named)
}

/// Whether all members are in one package, as far as paths say so.
pub fn are_in_one_package(members: &[Member]) -> bool {
    fn package(member: &Member) -> Option<&str> {
        let path = member.path.as_str();
        path.get(..path.find("/src/")?)
    }
    let mut packages = members.iter().map(package);
    let first = packages.next();
    packages.all(|other| Some(other) == first)
}

/// Whether a trait asks for each of them, and they are short or the trait is one by which a type says what it is.
pub fn are_asked_of_traits(places: &[Place<'_>]) -> bool {
    places.iter().all(|(file, unit)| {
        let is_short = file.body_of(unit).len() < ASKED_FOR;
        standing::is_of_trait(file, unit) && (is_short || is_of_type(file, unit))
    })
}

/// Whether the head of a unit, or of what it stands in, names a trait that each type has by itself.
fn is_of_type(file: &SourceFile, unit: &Unit) -> bool {
    let around = unit.parent.and_then(|at| file.units.get(at as usize));
    let heads = [Some(unit), around].into_iter().flatten();
    let mut words = heads.flat_map(|unit| head_of(file, unit).take_while(|word| *word != "for"));
    words.any(|word| OF_TYPES.contains(&word))
}

/// Whether some wait or change what they are given and others do not: the language has no word for both.
pub fn are_called_otherwise(places: &[Place<'_>]) -> bool {
    let mut ways = places.iter().map(|(file, unit)| ways_of(file, unit));
    let first = ways.next();
    ways.any(|other| Some(other) != first)
}

/// Whether some change what others only read, in a language that has no word for both: even what is equal has to be
/// there twice.
pub fn are_by_mutability(places: &[Place<'_>]) -> bool {
    let changes = |(file, unit): &Place<'_>| ways_of(file, unit).contains("mut");
    let has_two = |(file, _): &Place<'_>| file.lexicon().parts_mutability;
    let mut ways = places.iter().map(changes);
    let first = ways.next();
    places.iter().all(has_two) && ways.any(|other| Some(other) != first)
}

/// Whether they are one function for several conditions: of one name in one scope, of which a program has one at a
/// time. Some languages may have several, for other parameters.
pub fn are_alternatives(places: &[Place<'_>]) -> bool {
    let scope = |(file, unit): &Place<'_>| {
        let is_function = matches!(unit.kind, UnitKind::Function | UnitKind::Method);
        let is_single = !file.lexicon().overloads && unit.name != 0;
        (is_function && is_single).then(|| (file.path.clone(), unit.parent, unit.name))
    };
    let mut scopes = places.iter().map(scope);
    let first = scopes.next().flatten();
    first.is_some() && scopes.all(|other| other == first)
}

/// Whether some are what a trait does by default, and others what a type of it does in its place: it differs on purpose.
pub fn are_default_and_override(places: &[Place<'_>]) -> bool {
    let (defaults, others): (Vec<Option<&str>>, Vec<Option<&str>>) = places
        .iter()
        .map(|(file, unit)| (trait_around(file, unit), standing::is_of_trait(file, unit)))
        .filter(|(default, is_override)| default.is_some() || *is_override)
        .map(|(default, _)| default)
        .partition(Option::is_some);
    let mut defaults = defaults.into_iter().flatten();
    let of_one = defaults.next().is_some_and(|name| {
        let overrides = places
            .iter()
            .filter(|(file, unit)| standing::is_of_trait(file, unit));
        let mut overrides = overrides.filter_map(|(file, unit)| {
            let around = file.units.get(unit.parent? as usize)?;
            Some(
                head_of(file, around)
                    .take_while(|word| *word != "for")
                    .any(|word| word == name),
            )
        });
        overrides.any(|names| names)
    });
    of_one && !others.is_empty()
}

/// The name of the trait that a function stands in.
fn trait_around<'f>(file: &'f SourceFile, unit: &Unit) -> Option<&'f str> {
    let around = file.units.get(unit.parent? as usize)?;
    let is_trait = file.lexicon().traits
        && around.kind == UnitKind::Class
        && head_of(file, around).any(|word| word == "trait");
    is_trait.then(|| around.name_span.of(&file.text))?
}

/// Whether a body is written in assembly: what differs is tuned by hand.
pub fn is_assembly(file: &SourceFile, unit: &Unit) -> bool {
    let macros = file.lexicon().assembly_macros;
    let body = file.body_of(unit);
    let word = |token: &Token| token.span().of(&file.text).unwrap_or("");
    let is_call = |pair: &[Token]| match pair {
        [name, mark] => word(mark) == "!" && macros.contains(&word(name)),
        _ => false,
    };
    !macros.is_empty() && body.windows(2).any(is_call)
}

/// Whether a function is handed to a macro: `wrap!(f32, name, fn run() {…})` asks for one in each place.
pub fn is_in_macro_call(file: &SourceFile, unit: &Unit) -> bool {
    let is_function = matches!(unit.kind, UnitKind::Function | UnitKind::Method);
    let mut depth = 0_usize;
    let mut before = head_of(file, unit).take_while(|word| *word != "fn");
    file.lexicon().macros_take_definitions
        && is_function
        && before.any(|word| {
            match word {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            word == "," && depth == 0
        })
}

/// The words by which a unit says how it is called: of its head, its name and its file.
fn ways_of(file: &SourceFile, unit: &Unit) -> BTreeSet<&'static str> {
    let mut ways = BTreeSet::new();
    let mut note = |word: &str| {
        let known = TWIN_WORDS.iter().find(|known| **known == word);
        ways.extend(known.copied());
    };
    for word in file.path.as_str().split(['/', '_', '-', '.']) {
        note(word);
    }
    // A type says it for all of its methods.
    for name in file.item_name(unit).split(file.language.separator()) {
        for word in opposites::words_of_name(name) {
            note(&word);
        }
    }
    let head: Vec<&str> = head_of(file, unit).collect();
    for pair in head.windows(2) {
        match pair {
            ["async", _] => note("async"),
            ["mut", "self"] => note("mut"),
            _ => {}
        }
    }
    ways
}

/// Whether a unit, or one around it or inside of it, is compiled for a device.
pub fn is_for_device(file: &SourceFile, unit: &Unit) -> bool {
    let is_inside = |other: &&Unit| unit.first < other.first && other.end <= unit.end;
    let mut inside = file.units.iter().filter(is_inside);
    file.lexicon().for_devices
        || source::outwards(file, unit).any(|unit| says_device(file, unit))
        || inside.any(|unit| says_device(file, unit))
}

/// Whether attributes or decorators of a unit say so.
fn says_device(file: &SourceFile, unit: &Unit) -> bool {
    let is_name = |word: &&str| matches!(*word, "def" | "fn" | "class" | "struct" | "impl");
    let words: Vec<&str> = head_of(file, unit)
        .take_while(|word| !is_name(word))
        .collect();
    words.windows(2).any(|pair| match pair {
        ["@" | "." | "[", word] => DEVICE_WORDS.contains(word),
        _ => false,
    }) || words.windows(3).any(|three| match three {
        [library, ".", word] => DEVICE_COMPILERS.contains(&(*library, *word)),
        _ => false,
    })
}

/// Whether it is a macro: where functions would do, nobody writes one.
pub fn is_macro(file: &SourceFile, unit: &Unit) -> bool {
    head_of(file, unit).any(|word| word == "macro_rules")
}

/// The words of the head of a unit, with what stands before it.
fn head_of<'f>(file: &'f SourceFile, unit: &Unit) -> impl Iterator<Item = &'f str> {
    let head = file.tokens.get(unit.first as usize..unit.body as usize);
    let head = head.unwrap_or_default().iter();
    head.map(move |token| token.span().of(&file.text).unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(paths: &[&str]) -> Vec<Member> {
        let member = |path: &&str| Member {
            path: TreePath::new(path).expect("it is a path"),
            item: String::new(),
            lines: (1, 9),
            start: 0,
        };
        paths.iter().map(member).collect()
    }

    #[test]
    fn files_of_versions_differ_in_numbers_alone() {
        let cases: [(&[&str], bool); 5] = [
            (&["src/i2c/v1.rs", "src/i2c/v2.rs"], true),
            (&["src/v6/data.rs", "src/v7/data.rs"], true),
            (&["src/v6/data.rs", "src/v6/data.rs"], false),
            (&["src/v6/data.rs", "src/v7/code.rs"], false),
            (&["src/a.rs", "src/b.rs"], false),
        ];
        for (paths, expected) in cases {
            assert_eq!(are_versions(&members(paths)), expected, "{paths:?}");
        }
    }

    #[test]
    fn a_package_is_what_has_sources_of_its_own() {
        let cases: [(&[&str], bool); 4] = [
            (&["crates/a/src/x.rs", "crates/a/src/y.rs"], true),
            (&["crates/a/src/x.rs", "crates/b/src/x.rs"], false),
            (&["crates/a/src/x.rs", "crates/a/build.rs"], false),
            (&["package/x.py", "other/x.py"], true),
        ];
        for (paths, expected) in cases {
            assert_eq!(are_in_one_package(&members(paths)), expected, "{paths:?}");
        }
    }
}
