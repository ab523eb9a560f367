//! Facts, resolution, outlines, references and rewriting of both languages over texts that nobody
//! wrote, without a program around them: thousands of rounds a minute.
//!
//! The corpus is the sources of our own cases and crates. What fails is written below
//! `COALESCE_SOAK_KEEP`, where that names a directory, and the rounds go on.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use coalesce_kernels::Kernels;
use coalesce_model::{
    Change, ChangeKind, EditSet, Language, LanguageGraph as _, MemoryTexts, Settings, Subject,
    Texts as _, TreePath, language::RewriteOptions,
};
use coalesce_python::Python;
use coalesce_rust::Rust;

use super::{
    Luck, kept, soak,
    texts::{WORDS, mutated},
};

/// What the program gives its own threads.
const STACK_BYTES: usize = 64 << 20;
/// Longer files make rounds slow.
const LONGEST: u64 = 12_000;
/// No round takes as long, also without optimisation.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sources of this repository by their endings.
fn corpus(extension: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut left = vec![root.join("cases"), root.join("../crates")];
    let mut found = Vec::new();
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                left.push(path);
            } else if path.extension().is_some_and(|own| own == extension)
                && path.metadata().is_ok_and(|found| found.len() < LONGEST)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
        .iter()
        .filter_map(|path| fs::read(path).ok())
        .collect()
}

/// A tree of a few files of one language that name each other, some of them damaged.
fn tree(luck: &mut Luck, corpus: &[Vec<u8>], language: &Shape) -> MemoryTexts {
    let mut files = Vec::new();
    for (name, head) in language.files {
        let mut text = head.as_bytes().to_vec();
        if !corpus.is_empty() && luck.below(4) > 0 {
            let whole: &Vec<u8> = luck.pick(corpus);
            text.extend_from_slice(whole);
        }
        if luck.below(3) == 0 {
            // A piece of another one, in the middle.
            let other: &Vec<u8> = luck.pick(corpus);
            let (from, at) = (luck.below(other.len() + 1), luck.below(text.len() + 1));
            let to = (from + luck.below(400)).min(other.len());
            drop(text.splice(at..at, other[from..to].iter().copied()));
        }
        if luck.below(3) > 0 {
            text = mutated(luck, &text, &WORDS);
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        files.push((TreePath::new(name).unwrap(), Arc::from(text)));
    }
    MemoryTexts::new(files)
}

/// The files of a tree, with what makes them name each other, and what moves in it.
struct Shape {
    files: &'static [(&'static str, &'static str)],
    moves: &'static [(&'static str, &'static str, Subject)],
}

const PYTHON: Shape = Shape {
    files: &[
        ("pyproject.toml", "[project]\nname = \"p\"\n"),
        (
            "p/__init__.py",
            "from .kernels import X as Y\n__all__ = ['Y']\n",
        ),
        (
            "p/kernels.py",
            "X = 1\ndef f(a: 'X') -> None:\n    return X\n",
        ),
        (
            "p/user.py",
            "from p.kernels import X, f\nimport p.kernels as k\nk.X\n",
        ),
        ("p/sub/__init__.py", "from ..kernels import *\n"),
        (
            "p/sub/deep.py",
            "import p.kernels\nfrom .. import kernels, user\np.kernels.f\n",
        ),
    ],
    moves: &[
        ("p.kernels", "p.core.gpu", Subject::Module),
        ("p.kernels.f", "p.user.f", Subject::Item),
        ("p.sub", "p.under", Subject::Module),
    ],
};

const RUST: Shape = Shape {
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (
            "src/lib.rs",
            "pub mod kernels;\npub mod user;\npub mod sub;\npub use kernels::f;\n",
        ),
        ("src/kernels.rs", "pub fn f() -> u8 { 1 }\npub struct S;\n"),
        (
            "src/user.rs",
            "use crate::kernels::{f, S as T};\nfn g() -> T { f(); T }\n",
        ),
        (
            "src/sub.rs",
            "use super::kernels::*;\nmod deep;\nmacro_rules! m { () => { $crate::kernels::f() } }\n",
        ),
        (
            "src/sub/deep.rs",
            "/// See [`crate::kernels::f`].\npub fn h() { crate::kernels::f(); }\n",
        ),
    ],
    moves: &[
        ("p::kernels", "p::user::kernels", Subject::Module),
        ("p::kernels::f", "p::user::f", Subject::Item),
        ("p::sub", "p::under", Subject::Module),
    ],
};

const KERNELS: Shape = Shape {
    files: &[
        (
            "k/a.cu",
            "#include \"a.h\"\n__global__ void add(float* x) { x[0] += F(1); }\n",
        ),
        ("k/a.h", "#define F(x) (x)\n"),
        ("k/b.wgsl", "@compute @workgroup_size(64) fn main() { }\n"),
        (
            "k/c.cl",
            "__kernel void add(__global float* x) { x[0] = 1; }\n",
        ),
    ],
    moves: &[],
};

/// All that is asked of a tree of one language.
fn ask<L: Language>(language: &L, texts: &MemoryTexts, moves: &[(&str, &str, Subject)]) {
    let paths = texts.paths();
    let claimed = language.claimed(paths);
    let mut files = Vec::new();
    for path in paths.iter().filter(|path| claimed.contains(path)) {
        let text = texts.text(path).unwrap();
        let (facts, problem) = language.facts_and_problem(path, &text);
        let (again, _) = language.facts_and_problem(path, &text);
        assert_eq!(
            serde_json::to_string(&facts).unwrap(),
            serde_json::to_string(&again).unwrap(),
            "{path}: the same text gives the same facts"
        );
        if let Some((span, why)) = problem {
            assert!(span.end as usize <= text.len(), "{path}: {why}");
        }
        drop(language.outline(path, &text));
        files.push((path.clone(), Arc::new(facts)));
    }
    let settings = Settings::default();
    let graph = language.resolve(&files, paths, &settings);
    drop(graph.findings());
    drop(graph.public_names());
    for module in graph.modules() {
        drop(graph.references(&module.name, texts));
    }
    for (from, to, subject) in moves {
        if !graph.knows(from) || graph.knows(to) {
            continue;
        }
        let change = Change {
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            subject: *subject,
            kind: ChangeKind::Move,
            shim: None,
            uses: coalesce_model::Uses::default(),
        };
        let plan = graph.rewrite(&[change], RewriteOptions::default(), texts);
        for (path, edits) in plan.edits {
            let text = texts.text(&path).unwrap_or_else(|| Arc::from(""));
            let edits = EditSet::from_edits(&text, edits);
            assert!(
                edits.is_ok_and(|edits| edits.apply(&text).is_ok()),
                "{path}"
            );
        }
    }
}

/// Keeps a tree that something was wrong with.
fn keep(round: u64, texts: &MemoryTexts) {
    let Some(directory) = kept() else { return };
    for path in texts.paths() {
        let file = directory.join(format!("round-{round}")).join(path.as_str());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, texts.text(path).unwrap().as_bytes()).unwrap();
    }
}

#[test]
fn soak_facts() {
    let threads = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES);
    // It fails where another test has made one.
    let _ = threads.build_global();
    let work = || {
        let (python, rust) = (corpus("py"), corpus("rs"));
        assert!(python.len() > 100 && rust.len() > 100, "the corpus is gone");
        let mut wrong = Vec::new();
        soak(|round| {
            let mut luck = Luck::of(round);
            let which = luck.below(8);
            let texts = match which {
                0..=3 => tree(&mut luck, &python, &PYTHON),
                4..=6 => tree(&mut luck, &rust, &RUST),
                _ => tree(&mut luck, &rust, &KERNELS),
            };
            let begun = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| match which {
                0..=3 => ask(&Python, &texts, PYTHON.moves),
                4..=6 => ask(&Rust, &texts, RUST.moves),
                _ => ask(&Kernels, &texts, KERNELS.moves),
            }));
            if outcome.is_err() || begun.elapsed() > PATIENCE {
                keep(round, &texts);
                wrong.push((round, begun.elapsed()));
            }
        });
        assert!(wrong.is_empty(), "wrong at rounds {wrong:?}");
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    thread.spawn(work).unwrap().join().unwrap();
}
