//! How time grows with the length of one file: any statement that mentions what moves, any number of
//! times. Twice the file may take about twice as long.
//!
//! Processor time on a machine that does other things is no number that a test may hold on to, so
//! that what grows faster is told, and fails only where somebody has asked for the whole
//! (`cargo xtask soak scaling`). In CI each command has to answer, for a few of the statements.

use std::fs;

use super::{
    Luck, numbered, soak, told,
    trees::{Needed, PATIENCE, run},
};

/// Lines of the shortest file of a series; two others have twice and four times as many.
const LINES: usize = 2_000;
/// Below that, starting the program is most of the time.
const COUNTED_SECONDS: f64 = 0.5;
/// Time grows with this power of the length at most; sorting, caches of the processor and a machine
/// that is not calm are in it.
const HIGHEST_EXPONENT: f64 = 1.5;

/// `#` is a number of its own in each line, `~` that of the line before (of the first one that of a macro that says nothing), `##` a `#`.
const PYTHON: &[&str] = &[
    "import p.kernels\n",
    "import p.kernels as k#\n",
    "import os, p.kernels, sys\n",
    "import p.kernels; x# = p.kernels.X\n",
    "import p.m#\np.kernels.X\n",
    "if x: import p.kernels\n",
    "if x: from p import kernels\n",
    "if x: from p.kernels import X\n",
    "try:\n    import p.kernels\nexcept ImportError:\n    pass\n",
    "try:\n    from p.kernels import X\nexcept ImportError:\n    X = None\n",
    "try:\n    from p import kernels as k#\nexcept ImportError:\n    k# = None\n",
    "with x:\n    import p.kernels\n",
    "with p.kernels.X as a#: p.kernels.X\n",
    "while x: import p.kernels\n",
    "for p in x: p.kernels.X\n",
    "def f#():\n    import p.kernels\n    return p.kernels.X\n",
    "def f#():\n    from p.kernels import X\n    return X\n",
    "def f#():\n    from . import kernels\n    return kernels.X\n",
    "def f#():\n    global p, kernels, X\n    X = p.kernels\n",
    "def f#():\n    a = 1\n    def g():\n        nonlocal a\n        a = p.kernels.X\n",
    "class C#:\n    import p.kernels\n    y = p.kernels.X\n",
    "class C#(p.kernels.X):\n    def m(self): return p.kernels.X\n",
    "import p.kernels\ndel p\n",
    "p = #\nimport p.kernels\n",
    "from p import kernels\nkernels = kernels.X\n",
    "from p.kernels import X as x#\n",
    "from p.kernels import *\n",
    "from .kernels import *\nX\n",
    "from . import kernels\nkernels.X\n",
    "from p.kernels import (\n    X as a#,\n    X as b#,\n)\n",
    "p.kernels.X\n",
    "x# = 'p.kernels.X'\n",
    "x#: 'p.kernels.X' = 1\n",
    "x# = f'{p.kernels.X}'\n",
    "@patch('p.kernels.X')\ndef f#(): pass\n",
    "m# = importlib.import_module('p.kernels')\n",
    "__all__ += ['kernels', 'X']\n",
    "## p.kernels.X, see :mod:`p.kernels`\n",
    "def f#():\n    \"\"\"\n    >>> import p.kernels\n    >>> p.kernels.X\n    \"\"\"\n",
    "f# = lambda p: p.kernels.X\n",
    "[p.kernels for p in p.kernels.X]\n",
    "(k# := p.kernels)\n",
    "match x:\n    case p.kernels.X: pass\n",
    "sys.modules['p.kernels'] = X\n",
    "setattr(p, 'kernels', X)\n",
    "p.kernels.X = #\n",
    "if TYPE_CHECKING:\n    from p.kernels import X as T#\n",
    "@overload\ndef f(x: X) -> X: ...\n",
    "def __getattr__(name):\n    if name == 'k#': return p.kernels\n",
    "if x:\n    def f#(): return p.kernels.X\nelse:\n    f# = None\n",
    "class C#(X):\n    def f(self): return self.__module__.rpartition('.')[2]\n",
    "def d#(f): return sys.modules[f.__module__]\n",
    "m# = __import__('p.kernels.%s' % x).kernels\n",
    "x# = import_module(f'{p}.x'), 'kernels.X'\n",
    "X = X, f#(), next(g#)\n",
    "class C#(B): x = 1\n",
    "x = for for for for\n",
    "x = lambda lambda lambda lambda\n",
];

const RUST: &[&str] = &[
    "use crate::kernels::X as x#;\n",
    "use crate::kernels::X;\n",
    "use crate::{kernels::{X as a#, f as b#}};\n",
    "use crate::kernels::*;\n",
    "##[cfg(feature = \"a#\")]\nuse crate::kernels::X;\n",
    "##[cfg(feature = \"a#\")]\npub fn g#() { crate::kernels::f(); }\n",
    "cfg_if::cfg_if! { if ##[cfg(a)] { use crate::kernels::X; } }\n",
    "pub mod m# { use crate::kernels::X; pub type T = X; }\n",
    "mod m#;\n",
    "mod m { pub use crate::kernels::X; }\n",
    "pub fn g#() { crate::kernels::f(); }\n",
    "pub fn g#() { use crate::kernels::f; f(); }\n",
    "impl crate::kernels::X { pub fn g#() {} }\n",
    "pub trait T# { fn f(); }\n",
    "pub struct S#; impl crate::kernels::T for S# {}\n",
    "pub struct S# { pub x: crate::kernels::X }\n",
    "m!(crate::kernels::X);\n",
    "macro_rules! m# { () => { crate::kernels::f() } }\n",
    "macro_rules! m# { () => { crate::kernels::f() } }\npub fn g#() { m#!(); }\n",
    "macro_rules! m# { () => { m~!(); crate::kernels::f() } }\n",
    "macro_rules! m# { () => { m~!(); crate::kernels::f() } }\npub fn g#() { m#!(); }\n",
    "macro_rules! m# { ($a:path) => { m~!($a); } }\npub fn g#() { m#!(crate::kernels::X); }\n",
    "macro_rules! m# { ($a:ident) => { crate::$a::f() } }\npub fn g#() { m#!(kernels); }\n",
    "/// See [`crate::kernels::X`].\npub fn g#() {}\n",
    "pub use crate::kernels::X as Y#;\n",
    "pub(crate) use crate::kernels;\n",
    "extern crate p as p#;\n",
    "pub const C#: u8 = crate::kernels::f();\n",
    "mod m# { use super::super::kernels::X; fn f() { super::super::kernels::f() } }\n",
    "##[derive(Clone)]\npub struct S#(crate::kernels::X);\n",
    "// crate::kernels::X\n",
    "pub const S#: &str = \"crate::kernels::X\";\n",
    "pub enum E# { A(crate::kernels::X) }\n",
    "pub fn g#<T: Into<crate::kernels::X>>(t: T) where T: Clone {}\n",
    "##[cfg(test)]\nmod t# { use super::*; ##[test] fn f() { crate::kernels::f(); } }\n",
    "pub trait T# { fn m#(&self) -> u8 { 1 } }\nimpl T# for crate::kernels::X {}\npub fn g#(x: &crate::kernels::X) { x.m#().pow(2); }\n",
    "pub static S#: crate::kernels::X = crate::kernels::X;\n",
];

/// A statement of the module, and what the item that moves says of it.
const NEEDED_IN_PYTHON: &[(&str, &str)] = &[
    ("import m#\n", "m#.x\n"),
    ("from q import m#\n", "m#()\n"),
    ("m# = 1\n", "m#\n"),
    ("m = #\n", "m\n"),
    ("def m#(): return 1\n", "m#()\n"),
    ("class M#: pass\n", "M#()\n"),
    (
        "try:\n    import m#\nexcept ImportError:\n    m# = None\n",
        "m#\n",
    ),
    ("", "len(x#)\n"),
    ("def g#(): return X()\n", "pass\n"),
    ("patch('p.kernels.m#')\n", "m#\n"),
];

const NEEDED_IN_RUST: &[(&str, &str)] = &[
    ("use crate::other as m#;\n", "m#::x();\n"),
    ("pub fn m#() {}\n", "m#();\n"),
    ("fn m#() {}\n", "m#();\n"),
    ("struct M#;\n", "let _ = M#;\n"),
    ("const M#: u8 = 1;\n", "let _ = M#;\n"),
    ("macro_rules! m# { () => {} }\n", "m#!();\n"),
    ("fn g#() { whole(); }\n", "();\n"),
    ("", "let x# = 1; let _ = x#;\n"),
];

/// What a macro says so often, and what calls it as often.
const CALLED_IN_RUST: &[(&str, &str)] = &[
    ("crate::kernels::f();\n", "pub fn g#() { all!(); }\n"),
    ("m#();\n", "pub fn m#() { all!(); }\n"),
    (
        "let m# = crate::kernels::X;\n",
        "pub fn g#() { all!(crate::kernels::X;); }\n",
    ),
];

/// Where the statements stand: in a file that uses what moves, or in the one that moves.
const PLACES: [&str; 2] = ["user", "kernels"];

const CALLS: [&str; 5] = [
    "plan module.toml",
    "plan item.toml",
    "audit",
    "check",
    "refs p.kernels",
];

/// One statement in one place.
struct Series {
    rust: bool,
    line: &'static str,
    second: Second,
    place: &'static str,
}

/// What else the file has as often as the statement.
#[derive(Clone, Copy)]
enum Second {
    Nothing,
    /// What the item that moves says of each.
    Used(&'static str),
    /// What a macro says that each calls.
    Expanded(&'static str),
}

impl Series {
    const fn count() -> usize {
        let lines = PYTHON.len() + RUST.len() + CALLED_IN_RUST.len();
        lines * PLACES.len() + NEEDED_IN_PYTHON.len() + NEEDED_IN_RUST.len()
    }

    fn of(number: usize) -> Self {
        let number = number % Self::count();
        let lines = PYTHON.len() + RUST.len() + CALLED_IN_RUST.len();
        let Some(needed) = number.checked_sub(lines * PLACES.len()) else {
            return Self::of_line(number % lines, PLACES[number / lines]);
        };
        let rust = needed.checked_sub(NEEDED_IN_PYTHON.len());
        let (line, used) = rust.map_or_else(|| NEEDED_IN_PYTHON[needed], |at| NEEDED_IN_RUST[at]);
        Self {
            rust: rust.is_some(),
            line,
            second: Second::Used(used),
            place: "kernels",
        }
    }

    fn of_line(number: usize, place: &'static str) -> Self {
        let rust = number.checked_sub(PYTHON.len());
        let called = rust.and_then(|rust| rust.checked_sub(RUST.len()));
        let (line, second) = match (rust, called) {
            (_, Some(called)) => {
                let (expanded, call) = CALLED_IN_RUST[called];
                (call, Second::Expanded(expanded))
            }
            (Some(rust), None) => (RUST[rust], Second::Nothing),
            (None, None) => (PYTHON[number], Second::Nothing),
        };
        Self {
            rust: rust.is_some(),
            line,
            second,
            place,
        }
    }

    /// The file that has the statement so many times.
    fn long(&self, head: &str, lines: usize) -> String {
        let all = |text: &str| -> String {
            let one = |number: usize| {
                let before = (number - 1).to_string();
                numbered(&text.replace('~', &before), number)
            };
            (1..=lines).map(one).collect()
        };
        let first = if self.line.contains('~') {
            "macro_rules! m0 { ($($rest:tt)*) => {} }\n"
        } else {
            ""
        };
        let head = format!("{head}{first}");
        let head = head.as_str();
        let line = all(self.line);
        match self.second {
            Second::Nothing => [head, &line].concat(),
            Second::Used(used) => {
                let body = all(&format!("    {used}"));
                if self.rust {
                    [head, &line, "pub fn whole() {\n", &body, "}\n"].concat()
                } else {
                    [head, &line, "def whole():\n", &body].concat()
                }
            }
            Second::Expanded(expanded) => {
                let open = "macro_rules! all { ($($rest:tt)*) => {{\n";
                let close = "$($rest)* }} }\n";
                [head, open, &all(expanded), close, &line].concat()
            }
        }
    }

    fn files(&self, lines: usize) -> Vec<(String, String)> {
        let (start, end, heads) = if self.rust {
            ("src/", ".rs", RUST_FILES)
        } else {
            ("p/", ".py", PYTHON_FILES)
        };
        let odd = format!("{start}{}{end}", self.place);
        let whole = |(name, head): &(&str, &str)| {
            let text = if *name == odd {
                self.long(head, lines)
            } else {
                (*head).to_owned()
            };
            // Of the item that needs them all, that one moves.
            let whole = matches!(self.second, Second::Used(_));
            let moves = name.starts_with("item") && whole;
            let text = if moves {
                text.replace(".X", ".whole").replace("::X", "::whole")
            } else {
                text
            };
            ((*name).to_owned(), text)
        };
        heads.iter().map(whole).collect()
    }

    /// What a call needs over a file of so many lines.
    fn needed(&self, call: &str, lines: usize) -> Needed {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("tree");
        for (name, text) in self.files(lines) {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let call = if self.rust {
            call.replace("p.kernels", "p::kernels")
        } else {
            call.to_owned()
        };
        run(&root, &call, PATIENCE)
    }
}

const PYTHON_FILES: &[(&str, &str)] = &[
    ("pyproject.toml", "[project]\nname = \"p\"\n"),
    ("p/__init__.py", ""),
    ("p/kernels.py", "X = 1\ndef f(a): return a\nclass C: pass\n"),
    ("p/other.py", ""),
    ("p/user.py", ""),
    (
        "module.toml",
        "schema = 1\n[[move]]\nfrom = \"p.kernels\"\nto = \"p.core.gpu\"\n",
    ),
    (
        "item.toml",
        "schema = 1\n[[move]]\nfrom = \"p.kernels.X\"\nto = \"p.other.X\"\n",
    ),
];

const RUST_FILES: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    ),
    (
        "src/lib.rs",
        "pub mod kernels;\npub mod user;\npub mod other;\n",
    ),
    (
        "src/kernels.rs",
        "#[derive(Clone)]\npub struct X;\npub const fn f() -> u8 { 1 }\npub trait T {}\n",
    ),
    ("src/other.rs", ""),
    ("src/user.rs", ""),
    (
        "module.toml",
        "schema = 1\n[[move]]\nfrom = \"p::kernels\"\nto = \"p::core\"\n",
    ),
    (
        "item.toml",
        "schema = 1\n[[move]]\nfrom = \"p::kernels::X\"\nto = \"p::other::X\"\n",
    ),
];

/// Whether somebody has asked for all of it.
pub(super) fn is_whole() -> bool {
    let asked = ["COALESCE_SOAK_ROUNDS", "COALESCE_SOAK_SECONDS"];
    asked.iter().any(|name| told::<f64>(name) >= Some(20.0))
}

/// What grew faster than what it was given, and what was not answered.
#[derive(Default)]
pub(super) struct Growth {
    steep: Vec<String>,
}

impl Growth {
    /// Tries something of a size, of twice and of four times that.
    pub(super) fn of(&mut self, at: &str, needed: impl Fn(usize) -> Needed) {
        let mut seconds = Vec::new();
        for times in [1, 2, 4] {
            let needed = needed(times);
            let answered = needed.code.is_some_and(|code| code < 3);
            let fine = answered && !needed.said.contains("panicked");
            let said = format!("{at}: {:?} {}", needed.code, needed.said);
            assert!(fine || is_whole(), "{said}");
            seconds.push(needed.processor.as_secs_f64());
            if !fine {
                self.steep.push(said);
                break;
            }
        }
        let [.., before, last] = seconds.as_slice() else {
            return;
        };
        let exponent = (last / before).log2();
        if *last > COUNTED_SECONDS && exponent > HIGHEST_EXPONENT {
            let line = format!("{at}: {seconds:.2?} s, exponent {exponent:.2}");
            println!("{line}");
            self.steep.push(line);
        }
    }

    /// Fails where something was steep, and somebody has asked for all of it.
    pub(super) fn hold(&self) {
        let Self { steep } = self;
        assert!(steep.is_empty() || !is_whole(), "{}", steep.join("\n"));
    }
}

#[test]
fn soak_scaling() {
    let whole = is_whole();
    let lines = told("COALESCE_SOAK_LINES").unwrap_or(if whole { LINES } else { LINES / 40 });
    let mut growth = Growth::default();
    soak(|round| {
        let number = usize::try_from(round).unwrap() - 1;
        // In CI, others each time that something is added to the lists.
        let series = if whole {
            number
        } else {
            Luck::of(round).below(Series::count())
        };
        let series = Series::of(series);
        for call in CALLS {
            let at = format!(
                "round {round}: {call}, {:?} in {}",
                series.line, series.place
            );
            growth.of(&at, |times| series.needed(call, lines * times));
        }
    });
    growth.hold();
}
