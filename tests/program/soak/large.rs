//! Trees as large as companies have them: a hundred thousand files, ten million lines. What each command
//! needs is printed, for as many lines as `COALESCE_SOAK_LINES` says and for half of them: twice the tree may
//! take twice the time and the memory. `COALESCE_SOAK_VOCABULARY` gives both as many names and numbers as a tree of
//! so many lines has.

use std::{fmt::Write as _, fs, path::Path, process::Command, time::Duration};

use super::{
    Luck, told,
    trees::{Needed, run},
};

/// Lines of a tree in CI.
const LINES: usize = 4_000;
/// Lines of one file.
const LINES_A_FILE: usize = 400;

/// How long a command may take on a machine that does other things, too.
const PATIENCE: Duration = Duration::from_secs(3_600);

const CALLS: [&str; 4] = [
    "check",
    "plan m.toml",
    "migrate m.toml --quiet",
    "audit --quiet",
];

/// Words that names are made of.
const WORDS: [&str; 24] = [
    "load", "frame", "point", "cloud", "merge", "filter", "index", "range", "scale", "tile",
    "score", "batch", "grid", "mask", "label", "track", "fuse", "warp", "store", "queue", "field",
    "layer", "split", "rank",
];

/// How many names and numbers there are to choose from. They are more in a larger tree: were they as many, its
/// functions would be more and more alike, and all pairs of those that share a rare run of tokens would be
/// compared.
#[derive(Clone, Copy)]
struct Vocabulary {
    /// For each two words.
    names: usize,
    numbers: usize,
}

impl Vocabulary {
    /// A thousand names for two words, and ten thousand numbers, for a million lines.
    fn of(lines: usize) -> Self {
        Self {
            names: (lines / 1_000).max(10),
            numbers: (lines / 100).max(100),
        }
    }
}

fn name(luck: &mut Luck, vocabulary: Vocabulary) -> String {
    let (one, other) = (*luck.pick(&WORDS), *luck.pick(&WORDS));
    format!("{one}_{other}_{}", luck.below(vocabulary.names))
}

/// A function of eight lines that is like few others.
fn function(luck: &mut Luck, vocabulary: Vocabulary, text: &mut String) {
    let [own, a, b, c, called] = [(); 5].map(|()| name(luck, vocabulary));
    let operator = *luck.pick(&["+", "-", "*", "//"]);
    let number = luck.below(vocabulary.numbers);
    let body = match luck.below(3) {
        0 => format!(
            "    if {a} > {number}:\n        {b} = {called}({a} {operator} {number})\n        return {b}\n"
        ),
        1 => format!(
            "    for {c} in range({number}):\n        {b} = {a} {operator} {c}\n        {called}({b}, key='{c}')\n"
        ),
        _ => format!(
            "    with {called}({a}) as {c}:\n        {b} = {c}.{own} {operator} {number}\n        {c}.push({b})\n"
        ),
    };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "def {own}({a}, {b}=None):\n    \"\"\"Of {a} and {number}.\"\"\"\n{body}    return {a} {operator} {b}\n\n"
    );
}

/// Writes a file of a tree that is made.
pub(super) fn write(root: &Path, name: &str, text: &str) {
    let file = root.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// A package of so many lines; one file of ten uses what moves.
fn make(root: &Path, lines: usize, lines_a_file: usize, vocabulary: Vocabulary) -> usize {
    write(root, "pyproject.toml", "[project]\nname = \"p\"\n");
    write(root, "p/__init__.py", "");
    write(root, "p/kernels.py", "def launch(x):\n    return x\n");
    write(
        root,
        "m.toml",
        "schema = 1\n[[move]]\nfrom = \"p.kernels\"\nto = \"p.core.gpu\"\n",
    );
    let files = lines.div_ceil(lines_a_file);
    for file in 0..files {
        let mut luck = Luck::of(file as u64 + 1);
        let above = file / 2;
        let mut text = format!("import os\nimport p.d{}.f{above} as above\n", above / 200);
        if file % 10 == 0 {
            text.push_str("from p.kernels import launch\n\nlaunch(1)\n");
        }
        while text.len() < lines_a_file * 33 {
            function(&mut luck, vocabulary, &mut text);
        }
        write(root, &format!("p/d{}/f{file}.py", file / 200), &text);
    }
    files
}

fn told_of(call: &str, lines: usize, files: usize, needed: &Needed) -> String {
    format!(
        "{lines} lines in {files} files: {call}: {:?}, {:.1} s of a processor, {} MiB",
        needed.code,
        needed.processor.as_secs_f64(),
        needed.resident >> 20
    )
}

#[test]
fn soak_large() {
    let lines = told("COALESCE_SOAK_LINES").unwrap_or(LINES);
    let a_file = told("COALESCE_SOAK_FILE_LINES").unwrap_or(LINES_A_FILE);
    for lines in [lines / 2, lines] {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("tree");
        let vocabulary = Vocabulary::of(told("COALESCE_SOAK_VOCABULARY").unwrap_or(lines));
        let files = make(&root, lines, a_file, vocabulary);
        for call in CALLS {
            let needed = run(&root, call, PATIENCE);
            println!("{}", told_of(call, lines, files, &needed));
            assert!(
                needed.code.is_some_and(|code| code < 2),
                "{call}: {}",
                needed.said
            );
            if call.starts_with("migrate") {
                let undone = Command::new(super::program())
                    .args(["rollback", "--yes", "--quiet"])
                    .current_dir(&root)
                    .status();
                assert!(undone.unwrap().success());
            }
        }
    }
}
