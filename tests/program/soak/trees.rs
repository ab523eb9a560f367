//! Trees that somebody has made so that whoever reads them hangs, aborts or fills the memory: wide,
//! deep, circular, enormous, broken, and full of what is no file. Up to ten megabytes each when told
//! to soak, small ones otherwise.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use wait4::Wait4 as _;

use super::{
    Luck, kept, numbered, program, soak,
    texts::{WORDS, mutated},
    told,
};

/// Length of a tree.
const LARGEST: usize = 10 << 20;
/// Processor time that a command may take over such a tree, in release builds.
const PROCESSOR: Duration = Duration::from_secs(10);
/// How long it may take on a machine that does other things, too.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// Resident memory of a command, in release builds.
const MEMORY: u64 = 1 << 30;

/// Files of a tree.
type Made = Vec<(String, String)>;

/// What makes a tree of about so many bytes.
type Shape = fn(&mut Luck, usize) -> Made;

fn repeated(bytes: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&line(number));
    }
    text
}

fn python(text: String) -> Made {
    vec![
        ("pyproject.toml".into(), "[project]\nname = \"p\"\n".into()),
        ("p/__init__.py".into(), String::new()),
        ("p/kernels.py".into(), "X = 1\n".into()),
        ("p/user.py".into(), "from p.kernels import X\n".into()),
        ("p/odd.py".into(), text),
    ]
}

fn rust(text: String) -> Made {
    vec![
        (
            "Cargo.toml".into(),
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n".into(),
        ),
        (
            "src/lib.rs".into(),
            "pub mod kernels;\npub mod odd;\npub mod user;\n".into(),
        ),
        ("src/kernels.rs".into(), "pub fn f() {}\n".into()),
        (
            "src/user.rs".into(),
            "use crate::kernels::f;\npub fn g() { f() }\n".into(),
        ),
        ("src/odd.rs".into(), text),
    ]
}

/// A line again and again, with its number where `#` stands.
fn lines(line: &'static str) -> impl Fn(usize) -> String {
    move |number| numbered(line, number)
}

/// One line of Python again and again: many statements of one kind.
const PYTHON_LINES: [&str; 34] = [
    "x = 1\n",
    "x#=1\n",
    "x\n",
    "f()\n",
    "a.b.c.d(e, f=g)[h]\n",
    "def f#(a, b: int = 1, *c, **d) -> None: return a + b\n",
    "class C#(B): x = 1\n",
    "class C:\n def f(self): self.x = 1\n",
    "import a#\n",
    "import a.b.c as d#\n",
    "from p.kernels import X as y#\n",
    "from p.kernels import *\n",
    "from . import kernels\n",
    "from .kernels import X\nX\n",
    "if x:\n import p.kernels\nelse:\n import q#\n",
    "try: import a#\nexcept ImportError: a# = None\n",
    "__all__ = ['a#']\n",
    "__all__ += ['a#']\n",
    "globals()['a#'] = 1\n",
    "x = 'p.kernels.X'\n",
    "x = 'p.kernels.a#'\n",
    "x = {'a': 'p.kernels:X', 'b': [1, (2, 3)]}\n",
    "importlib.import_module('p.kernels')\n",
    "importlib.import_module('p.' + x)\n",
    "x: 'p.kernels.X' = 1\n",
    "x = f'{x}{y!r:>{z}}'\n",
    "x = [a for a in b if c for d in e]\n",
    "lambda a, b=1: a\n",
    "@a.b(c)\ndef f(): pass\n",
    "match x:\n case {'a': [1, *b]}: pass\n",
    "global x#\n",
    "del x\n",
    "## p.kernels.X\n",
    "x = 1;",
];

const RUST_LINES: [&str; 34] = [
    "fn x() {}\n",
    "fn x#() {}\n",
    "pub fn x#(a: u8, b: &str) -> Result<u8, ()> { Ok(a) }\n",
    "struct S#;\n",
    "pub struct S# { a: u8, pub b: Vec<S#> }\n",
    "enum E# { A, B(u8), C { a: u8 } }\n",
    "impl S { fn f#(&self) {} }\n",
    "impl T for S# {}\n",
    "trait T# { fn f(); }\n",
    "const C#: u8 = 1;\n",
    "static S#: &str = \"a::b\";\n",
    "type T# = u8;\n",
    "use crate::kernels::f as f#;\n",
    "use crate::kernels::*;\n",
    "pub use crate::kernels::f;\n",
    "use crate::kernels::{f, self, f as g#};\n",
    "mod m# {}\n",
    "mod m# { use super::*; }\n",
    "pub mod m# { pub use super::m0::*; }\n",
    "mod m#;\n",
    "##[path = \"kernels.rs\"] mod m#;\n",
    "macro_rules! m# { ($a:expr) => { $crate::kernels::f() }; }\n",
    "m!(crate::kernels::f);\n",
    "m! { fn a#() { crate::kernels::f() } }\n",
    "include!(\"kernels.rs\");\n",
    "/// [`crate::kernels::f`] and [f](crate::kernels)\nfn d#() {}\n",
    "/// ```\n/// use p::kernels::f;\n/// f();\n/// ```\nfn d#() {}\n",
    "##[derive(Clone, Debug)] ##[cfg(feature = \"a\")] struct D#;\n",
    "extern crate std as s#;\n",
    "fn f#() { use crate::kernels::f; f(); { f() } }\n",
    "fn f#() { let x = |a| a + 1; x(1) }\n",
    "// crate::kernels::f\n",
    ";",
    "pub(in crate::odd) fn v#() {}\n",
];

/// What nests: what opens a level, what stands inside, what closes it.
const PYTHON_NESTS: [(&str, &str, &str); 20] = [
    ("(", "x", ")"),
    ("[", "x", "]"),
    ("{", "x", "}"),
    ("f(", "x", ")"),
    ("x[", "x", "]"),
    ("lambda: ", "x", ""),
    ("not ", "x", ""),
    ("-", "x", ""),
    ("await ", "x", ""),
    ("*", "x", ""),
    ("x.", "x", ""),
    ("x if x else ", "x", ""),
    ("x := (", "x", ")"),
    ("f'{", "x", "}'"),
    ("[x for x in ", "x", "]"),
    ("x ** ", "x", ""),
    ("x = ", "x", ""),
    ("'' ", "''", ""),
    ("x and ", "x", ""),
    ("x < ", "x", ""),
];

const RUST_NESTS: [(&str, &str, &str); 30] = [
    ("(", "x", ")"),
    ("[", "x", "]"),
    ("{", "x", "}"),
    ("{ let _ = ", "x", "; }"),
    ("if x { ", "x", " }"),
    ("if ", "x", " {}"),
    ("match x { _ => ", "x", " }"),
    ("loop { ", "x", " }"),
    ("|| ", "x", ""),
    ("move |a| ", "x", ""),
    ("&", "x", ""),
    ("*", "x", ""),
    ("!", "x", ""),
    ("- ", "x", ""),
    ("f(", "x", ")"),
    ("x.f(", "x", ")"),
    ("x[", "x", "]"),
    ("S { a: ", "x", " }"),
    ("Vec::<", "u8", ">::new()"),
    ("<", "u8", " as T>::f()"),
    ("x as ", "u8", ""),
    ("return ", "x", ""),
    ("break ", "x", ""),
    ("async { ", "x", " }"),
    ("unsafe { ", "x", " }"),
    ("m!(", "x", ")"),
    ("{ fn f() ", "{}", " }"),
    ("x..", "x", ""),
    ("x = ", "x", ""),
    ("let x = ", "x", " else { }"),
];

/// Whole trees that need more than one file.
const SHAPES: [Shape; 28] = [
    // One line, any number of times.
    |luck, bytes| python(repeated(bytes, lines(luck.pick::<&str>(&PYTHON_LINES)))),
    |luck, bytes| rust(repeated(bytes, lines(luck.pick::<&str>(&RUST_LINES)))),
    |luck, bytes| {
        let (one, other) = (*luck.pick(&PYTHON_LINES), *luck.pick(&PYTHON_LINES));
        python(repeated(bytes / 2, lines(one)) + &repeated(bytes / 2, lines(other)))
    },
    |luck, bytes| {
        let (one, other) = (*luck.pick(&RUST_LINES), *luck.pick(&RUST_LINES));
        rust(repeated(bytes / 2, lines(one)) + &repeated(bytes / 2, lines(other)))
    },
    // Many such files.
    |luck, bytes| {
        let line = *luck.pick(&PYTHON_LINES);
        let files = 2 + luck.below(400);
        let mut made = python(String::new());
        made.extend((0..files).map(|file| {
            (
                format!("p/f{file}.py"),
                repeated(bytes / files, lines(line)),
            )
        }));
        made
    },
    |luck, bytes| {
        let line = *luck.pick(&RUST_LINES);
        let files = 2 + luck.below(400);
        let mut made = rust((0..files).map(|file| format!("mod f{file};\n")).collect());
        made.extend((0..files).map(|file| {
            (
                format!("src/odd/f{file}.rs"),
                repeated(bytes / files, lines(line)),
            )
        }));
        made
    },
    // Levels, closed or not, up to the bounds and far beyond.
    |luck, bytes| python(nested(luck, bytes, &PYTHON_NESTS, ("x = ", "\n"))),
    |luck, bytes| rust(nested(luck, bytes, &RUST_NESTS, ("fn f() { ", "; }\n"))),
    |luck, bytes| {
        // As deep as is allowed, as often as there is room.
        let depth = 20 + luck.below(170);
        let (open, inside, close) = *luck.pick(&PYTHON_NESTS);
        let one = format!(
            "x = {}{inside}{}\n",
            open.repeat(depth),
            close.repeat(depth)
        );
        python(repeated(bytes, |_| one.clone()))
    },
    |luck, bytes| {
        let depth = 20 + luck.below(1_900);
        let (open, inside, close) = *luck.pick(&RUST_NESTS);
        let one = format!(
            "fn f() {{ {}{inside}{}; }}\n",
            open.repeat(depth),
            close.repeat(depth)
        );
        rust(repeated(bytes, |_| one.clone()))
    },
    |luck, bytes| {
        let depth = 20 + luck.below(78);
        let head = *luck.pick(&[
            "def f():",
            "class C:",
            "if x:",
            "for x in y:",
            "with x:",
            "try:",
        ]);
        let one: String = (0..depth)
            .map(|level| format!("{}{head}\n", " ".repeat(level)))
            .chain([format!("{}x\n", " ".repeat(depth))])
            .collect();
        python(repeated(bytes, |_| one.clone()))
    },
    |luck, bytes| {
        let depth = 20 + luck.below(1_900);
        let (open, close) = *luck.pick(&[
            ("mod m { ", "}"),
            ("fn f() { ", "}"),
            ("impl S { fn f() { ", "}}"),
            ("use a::{", "};"),
            ("use a::{b, ", "};"),
            ("macro_rules! m { () => { ", "} }"),
            ("m! { ", "}"),
            ("/* ", "*/"),
        ]);
        let one = format!("{}{}\n", open.repeat(depth), close.repeat(depth));
        rust(repeated(bytes, |_| one.clone()))
    },
    // One very long thing.
    |luck, bytes| {
        let item = *luck.pick(&[
            "1, ", "'a', ", "a.b, ", "f(), ", "*a, ", "a: b, ", "(1, 2), ",
        ]);
        python(format!("x = [{}]\n", item.repeat(bytes / item.len())))
    },
    |luck, bytes| {
        let item = *luck.pick(&[
            "1, ",
            "\"a\", ",
            "a::b, ",
            "f(), ",
            "S { a: 1 }, ",
            "(1, 2), ",
        ]);
        let (open, close) = *luck.pick(&[("vec![", "]"), ("[", "]"), ("m!{", "}")]);
        rust(format!(
            "const X: &[u8] = {open}{}{close};\n",
            item.repeat(bytes / item.len())
        ))
    },
    |luck, bytes| {
        let word = *luck.pick(&[
            "a",
            "é",
            "p.kernels ",
            "\\x00",
            "{x}",
            "\\\n",
            "::a",
            "\u{202e}",
        ]);
        let quote = *luck.pick(&["'", "\"\"\"", "f'", "r'", "b'", "#", ""]);
        python(format!(
            "x = {quote}{}{quote}\n",
            word.repeat(bytes / word.len())
        ))
    },
    |luck, bytes| {
        let word = *luck.pick(&["a", "é", "p::kernels ", "\\u{0}", "{x}", "\\\n", "#", "'a"]);
        let (open, close) = *luck.pick(&[
            ("\"", "\""),
            ("r#\"", "\"#"),
            ("//", ""),
            ("", ""),
            ("r#", ""),
        ]);
        rust(format!(
            "const X: &str = {open}{}{close};\n",
            word.repeat(bytes / word.len())
        ))
    },
    // Names that lead on to each other.
    |_, bytes| {
        let count = (bytes / 60).min(4_000);
        let next = |file: usize| (file + 1) % count;
        let text = |file| {
            format!(
                "from p.f{} import *\nfrom p.f{} import a{file}\n",
                next(file),
                next(file)
            )
        };
        let mut made = python(String::new());
        made.extend((0..count).map(|file| (format!("p/f{file}.py"), text(file))));
        made
    },
    |_, bytes| {
        let count = (bytes / 60).min(4_000);
        let text = |file: usize| {
            format!(
                "pub use super::f{}::*;\npub use super::f{}::a as b{file};\n",
                (file + 1) % count,
                (file + 1) % count
            )
        };
        let mut made = rust(
            (0..count)
                .map(|file| format!("pub mod f{file};\n"))
                .collect(),
        );
        made.extend((0..count).map(|file| (format!("src/odd/f{file}.rs"), text(file))));
        made
    },
    // Everybody imports everybody.
    |_, bytes| {
        let count = ((bytes / 24) as f64).sqrt() as usize;
        let all: String = (0..count)
            .map(|other| format!("from p.f{other} import *\n"))
            .collect();
        let mut made = python(String::new());
        made.extend(
            (0..count).map(|file| (format!("p/f{file}.py"), format!("{all}x{file} = 1\n"))),
        );
        made
    },
    |_, bytes| {
        let count = ((bytes / 24) as f64).sqrt() as usize;
        let all: String = (0..count)
            .map(|other| format!("pub use super::f{other}::*;\n"))
            .collect();
        let mut made = rust(
            (0..count)
                .map(|file| format!("pub mod f{file};\n"))
                .collect(),
        );
        made.extend((0..count).map(|file| {
            (
                format!("src/odd/f{file}.rs"),
                format!("{all}pub fn x{file}() {{}}\n"),
            )
        }));
        made
    },
    // Files that are each other's modules.
    |luck, _| {
        let (files, each) = (3 + luck.below(12), 2 + luck.below(40));
        let text = |file: usize| {
            (0..each)
                .map(|name| {
                    format!(
                        "#[path = \"f{}.rs\"]\nmod m{name};\n",
                        (file + 1 + name % 2) % files
                    )
                })
                .collect::<String>()
        };
        let mut made = rust("#[path = \"f0.rs\"] mod a;\n".into());
        made.extend((0..files).map(|file| (format!("src/f{file}.rs"), text(file))));
        made
    },
    // Many small files, deep directories.
    |luck, bytes| {
        let files = (bytes / 200).min(20_000);
        let wide = 1 + luck.below(300);
        let mut made = python(String::new());
        made.extend((0..files).map(|file| {
            (
                format!("p/d{}/f{file}.py", file % wide),
                format!("from p.kernels import X\nx{file} = X\n"),
            )
        }));
        made
    },
    |luck, _| {
        let mut made = python(String::new());
        let mut at = "p".to_owned();
        for _ in 0..200 + luck.below(700) {
            at.push_str("/d");
            made.push((
                format!("{at}/__init__.py"),
                "from p.kernels import X\n".into(),
            ));
        }
        made
    },
    // Settings, project files, ignore rules, manifests.
    |luck, bytes| {
        let line = *luck.pick(&[
            "*a*b*c*d*\n",
            "**/a/**/b/**\n",
            "!x#\n",
            "[a-z]*\n",
            "/p/x#\n",
            "\\\n",
        ]);
        let name = *luck.pick(&[".gitignore", ".ignore", "p/.gitignore"]);
        let mut made = python("import p.kernels\n".into());
        made.push((name.into(), repeated(bytes.min(3 << 20), lines(line))));
        made
    },
    |luck, bytes| {
        let line = *luck.pick(&[
            "[tool.a#]\nx = 1\n",
            "a# = \"1\"\n",
            "[[a]]\nb = { c = [1, 2] }\n",
            "a.b.c# = 1\n",
            "[a.b.c#]\n",
        ]);
        let name = *luck.pick(&[
            "pyproject.toml",
            "Cargo.toml",
            "setup.cfg",
            "coalesce.toml",
            "m.toml",
        ]);
        let mut made = python(String::new());
        let text = repeated(bytes, lines(line));
        made.retain(|(own, _)| own != name);
        made.push((name.into(), text));
        made
    },
    |luck, bytes| {
        let (open, close) = *luck.pick(&[("[", "]"), ("{a=", "}"), ("a.", "b = 1"), ("[[", "]]")]);
        let depth = bytes.min(200_000) / open.len();
        let name = *luck.pick(&["pyproject.toml", "Cargo.toml", "coalesce.toml", "m.toml"]);
        let mut made = python(String::new());
        made.retain(|(own, _)| own != name);
        made.push((
            name.into(),
            format!("x = {}{}\n", open.repeat(depth), close.repeat(depth)),
        ));
        made
    },
    // Kernels, documents, notebooks, data.
    |luck, bytes| {
        let (name, line) = *luck.pick(&[
            ("k.cu", "__global__ void f#(float* x) { x[0] += 1; }\n"),
            ("k.cu", "##define A# (((((("),
            ("k.wgsl", "fn f#() { var x = ((1)); }\n"),
            ("k.cl", "{"),
            (
                "README.md",
                "`p.kernels.X` and [x](p/kernels.py)\n```python\nimport p.kernels\n```\n",
            ),
            ("n.ipynb", "{\"cells\": ["),
            ("d.json", "[\"p.kernels\", "),
            ("d.rst", ".. automodule:: p.kernels\n"),
            ("p/d.pyi", "from p.kernels import X as X\n"),
            ("setup.py", "setup(packages=['p#'])\n"),
        ]);
        let mut made = python(String::new());
        made.push((name.into(), repeated(bytes, lines(line))));
        made
    },
    // Anything.
    |luck, bytes| {
        let mut made = if luck.below(2) == 0 {
            python(String::new())
        } else {
            rust(String::new())
        };
        let mut text = Vec::new();
        while text.len() < bytes / 4 {
            text.extend_from_slice(luck.pick(&WORDS).as_bytes());
        }
        let text = mutated(luck, &text, &WORDS);
        let text = String::from_utf8_lossy(&text).into_owned();
        if let Some((_, last)) = made.last_mut() {
            *last = text;
        }
        made
    },
];

fn nested(
    luck: &mut Luck,
    bytes: usize,
    ways: &[(&str, &str, &str)],
    (head, tail): (&str, &str),
) -> String {
    let (open, inside, close) = *luck.pick(ways);
    let most = bytes / (open.len() + close.len());
    let depth = *luck.pick(&[100, 190, 210, 580, 1_000, 1_999, 2_001, 9_000, 30_000, most]);
    let depth = depth.min(most);
    let closed = if luck.below(3) == 0 { 0 } else { depth };
    format!(
        "{head}{}{inside}{}{tail}",
        open.repeat(depth),
        close.repeat(closed)
    )
}

/// What is no file, in a tree that is one.
fn add_odd_entries(luck: &mut Luck, root: &Path) {
    let script = *luck.pick(&[
        "mkfifo p/pipe.py src/pipe.rs coalesce.toml",
        "ln -s . p/loop; ln -s p/loop/loop p/again.py",
        "ln -s /dev/zero p/zero.py; ln -s /dev/stdin p/stdin.py",
        "ln -s / p/root; ln -s ../.. p/up",
        "mkdir -p p/shut && touch p/shut/x.py && chmod 0 p/shut",
        "touch \"p/$(printf '\\377\\376').py\" \"p/$(printf 'a\\nb').py\"",
        "touch p/A.py p/a.py p/Kernels.py",
        "cd p && for i in $(seq 60); do d=$(printf 'd%.0s' $(seq 100)); mkdir $d && cd -P $d || exit; done; echo 'import p.kernels' > x.py",
        "mkdir -p .git && mkfifo .git/HEAD",
        "mkdir -p .git/objects .git/refs && echo 'ref: refs/heads/main' > .git/HEAD && head -c 100000 /dev/urandom > .git/index",
        "mkdir -p .coalesce/journal && head -c 100000 /dev/urandom > .coalesce/journal/0001.x.done",
        "mkdir -p .coalesce && ln -s /etc .coalesce/journal",
        "echo x > .coalesce",
        "true",
    ]);
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(root);
    // What a system does not allow is not tried.
    let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// What a command has needed.
pub(super) struct Needed {
    pub(super) code: Option<i32>,
    pub(super) processor: Duration,
    wall: Duration,
    pub(super) resident: u64,
    pub(super) said: String,
}

/// Runs a command that may take so long.
pub(super) fn run(root: &Path, call: &str, patience: Duration) -> Needed {
    let said = root.with_file_name("said");
    let begun = Instant::now();
    let child = Command::new(program())
        .args(call.split(' '))
        .current_dir(root)
        .env("COALESCE_CACHE_DIR", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let (ended, end) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if end.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").args(["-9", &pid]).status();
        }
    });
    let used = child.wait4().unwrap();
    drop(ended);
    watch.join().unwrap();
    Needed {
        code: used.status.code(),
        processor: used.rusage.utime + used.rusage.stime,
        wall: begun.elapsed(),
        resident: used.rusage.maxrss,
        said: String::from_utf8_lossy(&fs::read(said).unwrap()).into_owned(),
    }
}

const CALLS: [&str; 7] = [
    "audit",
    "check",
    "status",
    "refs p.kernels",
    "plan m.toml",
    "find x",
    "migrate m.toml --allow-dirty",
];

const MANIFEST: &str = "schema = 1\n[[move]]\nfrom = \"p.kernels\"\nto = \"p.core.gpu\"\n";
const RUST_MANIFEST: &str = "schema = 1\n[[move]]\nfrom = \"p::kernels\"\nto = \"p::core\"\n";

/// Writes a tree with a manifest in its language.
fn lay_out(root: &Path, made: &[(String, String)]) {
    let is_rust = made.iter().any(|(name, _)| name == "src/lib.rs");
    let manifest = if is_rust { RUST_MANIFEST } else { MANIFEST };
    coalesce_tests::write_file(root, "m.toml", manifest).unwrap();
    for (name, text) in made {
        coalesce_tests::write_file(root, name, text).unwrap();
    }
}

/// Whether a command gave an answer that it has, in time.
fn ends_well(needed: &Needed) -> bool {
    needed.code.is_some_and(|code| code < 4)
        && !needed.said.contains("panicked")
        && !needed.said.contains("internal error")
        && needed.wall < PATIENCE
}

/// Lets everything below be read and removed again.
fn open_up(root: &Path) {
    let _ = Command::new("chmod")
        .arg("-R")
        .arg("u+rwx")
        .arg(root)
        .status();
}

/// Keeps a tree that a command failed on, where somebody wants that.
fn keep_copy(root: &Path, round: u64) {
    if let Some(kept) = kept() {
        let mut copy = Command::new("cp");
        copy.arg("-r")
            .arg(root)
            .arg(kept.join(format!("tree-{round}")));
        assert!(copy.status().unwrap().success());
    }
}

#[test]
fn soak_hostile_trees() {
    let whole = ["COALESCE_SOAK_ROUNDS", "COALESCE_SOAK_SECONDS"];
    let whole = whole.iter().any(|name| told::<f64>(name) > Some(30.0));
    let bytes = if whole { LARGEST } else { LARGEST / 200 };
    // A build without optimisation is many times slower.
    let bounded = std::env::var_os("COALESCE_SOAK_PROGRAM").is_some() || !cfg!(debug_assertions);
    let mut wrong = Vec::new();
    let mut longest = (Duration::ZERO, String::new());
    let mut largest = (0_u64, String::new());
    soak(|round| {
        let mut luck = Luck::of(round);
        let shape = usize::try_from(round).unwrap() % SHAPES.len();
        // Long ones say how time and memory grow, of short ones there are more.
        let made = SHAPES[shape](&mut luck, bytes >> (round / SHAPES.len() as u64 % 6));
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("tree");
        lay_out(&root, &made);
        let mut failed = false;
        add_odd_entries(&mut luck, &root);
        for call in CALLS {
            let needed = run(&root, call, PATIENCE);
            let at = || format!("round {round}, {call}");
            if needed.processor > longest.0 {
                longest = (needed.processor, at());
            }
            if needed.resident > largest.0 {
                largest = (needed.resident, at());
            }
            let within = needed.processor < PROCESSOR && needed.resident < MEMORY;
            if !ends_well(&needed) || bounded && !within {
                let line = format!(
                    "round {round} (shape {shape}): {call}: {:?}, {:.1} s of a processor, {:.1} s, {} MiB: {}",
                    needed.code,
                    needed.processor.as_secs_f64(),
                    needed.wall.as_secs_f64(),
                    needed.resident >> 20,
                    needed.said.lines().last().unwrap_or_default()
                );
                println!("{line}");
                wrong.push(line);
                failed = true;
            }
        }
        open_up(&root);
        if failed {
            keep_copy(&root, round);
        }
    });
    println!(
        "at most {:.1} s of a processor ({}) and {} MiB ({})",
        longest.0.as_secs_f64(),
        longest.1,
        largest.0 >> 20,
        largest.1
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
