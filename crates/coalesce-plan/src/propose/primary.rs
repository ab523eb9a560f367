//! Which of several copies stays: what speaks for each, weighed, with the reasons in words.
//!
//! The weights are a judgement, not measured: first the copy that the others are part of, then the
//! one that more modules import, and neither one that is named as a left-over nor one among tests. A
//! tie goes to the shorter path, then to the name, so that the
//! same tree gives the same answer.

/// Parts of names that say that something is on its way out.
const LEFT_OVER: [&str; 13] = [
    "old",
    "legacy",
    "deprecated",
    "backup",
    "bak",
    "copy",
    "tmp",
    "temp",
    "unused",
    "orig",
    "archive",
    "attic",
    "v1",
];
/// Parts of names that say that something is there for the others.
const HOME: [&str; 7] = ["core", "common", "shared", "base", "util", "utils", "lib"];
/// Directories whose code nobody should import.
const APART: [&str; 20] = [
    "test",
    "tests",
    "example",
    "examples",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "demo",
    "demos",
    "tutorial",
    "tutorials",
    "notebooks",
    "scripts",
    "script",
    "experiment",
    "experiments",
    "sandbox",
    "playground",
    "docs",
];

/// What is known of one copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// Its full name.
    pub name: String,
    /// Its file, with `/`.
    pub path: String,
    /// What parts the segments of names.
    pub separator: &'static str,
    /// How much of the other copies it has as well, 0 to 1.
    pub coverage: f32,
    /// Modules outside of the copies that import it by its name, tests left out.
    pub importers: usize,
    /// Test modules that import it.
    pub tests: usize,
    /// Whether its module begins by saying what it is for.
    pub documented: bool,
    /// Roles of its module with GPUs: a module that does one thing is a better home.
    pub roles: usize,
}

/// A weighed copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Index into the standings.
    pub index: usize,
    /// What it came to.
    pub score: f32,
    /// What counted, best first: `4 modules import it`.
    pub reasons: Vec<String>,
}

/// The copies, the one to stay first.
#[must_use]
pub fn rank(standings: &[Standing]) -> Vec<Ranked> {
    let most = standings.iter().map(|one| one.importers).max().unwrap_or(0);
    let mut ranked: Vec<Ranked> = standings
        .iter()
        .enumerate()
        .map(|(index, one)| weigh(index, one, most))
        .collect();
    ranked.sort_by(|a, b| {
        let key = |one: &Ranked| {
            let standing = standings.get(one.index);
            standing.map(|standing| (segments(standing).count(), standing.name.as_str()))
        };
        b.score
            .total_cmp(&a.score)
            .then_with(|| key(a).cmp(&key(b)))
    });
    ranked
}

fn weigh(index: usize, one: &Standing, most_importers: usize) -> Ranked {
    let mut counted: Vec<(f32, String)> = Vec::new();
    let mut count = |weight: f32, reason: String| counted.push((weight, reason));
    if one.coverage > 0.0 {
        let share = (one.coverage * 100.0).round();
        count(
            3.0 * one.coverage,
            format!("it has {share}% of what the copies have"),
        );
    }
    if one.importers > 0 {
        let weight = 2.0 * ratio(one.importers, most_importers);
        count(weight, modules(one.importers, "module"));
    }
    if one.tests > 0 {
        count(1.0, modules(one.tests, "test module"));
    }
    if one.documented {
        count(0.5, "its module says what it is for".to_owned());
    }
    if one.roles == 1 {
        count(0.5, "its module does one thing with the GPU".to_owned());
    }
    if let Some(home) = segments(one).find(|part| HOME.contains(part)) {
        count(1.5, format!("it stands in `{home}`"));
    }
    if let Some(left) = segments(one)
        .flat_map(|part| part.split('_'))
        .find(|part| LEFT_OVER.contains(part))
    {
        count(-3.0, format!("its name says `{left}`"));
    }
    if let Some(apart) = apart(&one.path) {
        count(-5.0, format!("it stands in `{apart}`"));
    }
    counted.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    Ranked {
        index,
        score: counted.iter().map(|(weight, _)| weight).sum(),
        reasons: counted.into_iter().map(|(_, reason)| reason).collect(),
    }
}

/// Whether the file of this path is a test, an example or the like.
#[must_use]
pub fn is_apart(path: &str) -> bool {
    apart(path).is_some()
}

fn apart(path: &str) -> Option<&str> {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let is_test = stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || matches!(stem, "conftest" | "tests");
    let directory = directories.split('/').find(|part| APART.contains(part));
    directory.or_else(|| is_test.then_some(file))
}

fn segments(one: &Standing) -> impl Iterator<Item = &str> {
    one.name.split(one.separator)
}

fn modules(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun} imports it")
    } else {
        format!("{number} {noun}s import it")
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a weight, of numbers far below 2^23"
)]
fn ratio(part: usize, whole: usize) -> f32 {
    part as f32 / whole.max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name path coverage importers tests`, the one to stay first.
    type Case = (
        &'static str,
        &'static [(&'static str, &'static str, f32, usize, usize)],
    );
    const CASES: &[Case] = &[
        (
            "the one that more modules import",
            &[
                ("p.gpu", "p/gpu.py", 1.0, 7, 0),
                ("p.optim.gpu", "p/optim/gpu.py", 1.0, 2, 0),
            ],
        ),
        (
            "the one that has what the other lacks",
            &[("p.b", "p/b.py", 1.0, 1, 0), ("p.a", "p/a.py", 0.4, 1, 0)],
        ),
        (
            "never a left-over",
            &[
                ("p.gpu", "p/gpu.py", 0.9, 1, 0),
                ("p.gpu_old", "p/gpu_old.py", 1.0, 2, 1),
            ],
        ),
        (
            "never a test",
            &[
                ("p.a.check", "p/a/check.py", 0.5, 0, 0),
                ("tests.check", "tests/check.py", 1.0, 3, 3),
            ],
        ),
        (
            "the shorter name, then the first",
            &[
                ("p.a", "p/a.py", 1.0, 0, 0),
                ("p.b", "p/b.py", 1.0, 0, 0),
                ("p.a.a", "p/a/a.py", 1.0, 0, 0),
            ],
        ),
    ];

    #[test]
    fn code_that_nobody_imports_is_told_by_its_path() {
        for (path, apart) in [
            ("benchmarks/geometry/project.py", true),
            ("crates/a/src/sort/tests.rs", true),
            ("p/gpu_test.py", true),
            ("p/conftest.py", true),
            ("demo/a.py", true),
            ("xtask/src/commands/test.rs", false),
            ("p/latest.py", false),
            ("p/contest.py", false),
        ] {
            assert_eq!(is_apart(path), apart, "{path}");
        }
    }

    #[test]
    fn the_better_copy_stays() {
        for (what, copies) in CASES {
            let standings: Vec<Standing> = copies
                .iter()
                .map(|&(name, path, coverage, importers, tests)| Standing {
                    name: name.to_owned(),
                    path: path.to_owned(),
                    separator: ".",
                    coverage,
                    importers,
                    tests,
                    ..Standing::default()
                })
                .collect();
            for rotated in 0..standings.len() {
                let mut order = standings.clone();
                order.rotate_left(rotated);
                let names: Vec<&str> = rank(&order)
                    .iter()
                    .filter_map(|one| order.get(one.index))
                    .map(|one| one.name.as_str())
                    .collect();
                let expected: Vec<&str> = copies.iter().map(|copy| copy.0).collect();
                assert_eq!(names, expected, "{what}");
            }
        }
    }
}
