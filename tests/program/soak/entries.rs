//! How time grows with the number of entries of one manifest that take things out of one file: items, blocks, methods,
//! modules, what gives way, what goes. Twice as many may take about twice as long. Told and held as in
//! [`super::scaling`].

use std::path::Path;

use super::{
    large::write,
    many::write_package,
    numbered,
    scaling::{Growth, is_whole},
    soak, told,
    trees::{PATIENCE, run},
};

/// Entries of the smallest manifest of a series; two others have twice and four times as many.
const ENTRIES: usize = 1_000;

/// `#` is the number of the entry.
struct Series {
    rust: bool,
    /// What the old module has for each entry, what the new one has, and what a third one says of it.
    texts: [&'static str; 3],
    entry: &'static str,
}

const fn rust(texts: [&'static str; 3], entry: &'static str) -> Series {
    Series {
        rust: true,
        texts,
        entry,
    }
}

const fn python(texts: [&'static str; 3], entry: &'static str) -> Series {
    Series {
        rust: false,
        ..rust(texts, entry)
    }
}

const MOVE_RUST: &str = "[[move]]\nfrom = \"p::kernels::f#\"\nto = \"p::other::f#\"\n";
const MOVE_PYTHON: &str = "[[move]]\nfrom = \"p.kernels.f#\"\nto = \"p.other.f#\"\n";

const SERIES: [Series; 16] = [
    rust(
        [
            "pub fn f#() {}\n",
            "",
            "pub fn u#() { crate::kernels::f#() }\n",
        ],
        MOVE_RUST,
    ),
    rust(
        [
            "pub fn f#() {}\n",
            "",
            "pub fn u#() { crate::kernels::f#() }\n",
        ],
        "[[move]]\nfrom = \"p::kernels::f#\"\nto = \"p::other::f#\"\nshim = true\n",
    ),
    rust(
        [
            "pub fn f#() {}\n",
            "",
            "mod g# { use crate::kernels::*; pub fn u() { f#() } }\n",
        ],
        MOVE_RUST,
    ),
    rust(
        ["pub struct S#;\nimpl S# { pub fn g() {} }\n", "", ""],
        "[[move]]\nfrom = \"p::kernels::S#\"\nto = \"p::other::S#\"\n",
    ),
    rust(
        ["pub struct S#;\nimpl S# { pub fn g() {} }\n", "", ""],
        "[[move]]\nfrom = \"p::kernels::impl S#\"\nto = \"p::other::impl S#\"\n",
    ),
    rust(
        [
            "pub trait T# { fn g#(&self); }\nimpl T# for X { fn g#(&self) {} }\npub fn f#(x: &X) { x.g#() }\n",
            "",
            "",
        ],
        "[[move]]\nfrom = \"p::kernels::T#\"\nto = \"p::other::T#\"\n",
    ),
    rust(
        ["pub struct S#;\npub fn h#() -> S# { S# }\n", "", ""],
        "[[move]]\nfrom = \"p::kernels::S#\"\nto = \"p::kernels::R#\"\n",
    ),
    rust(
        [
            "pub fn f#() {}\n",
            "pub fn f#() {}\n",
            "pub fn u#() { crate::kernels::f#() }\n",
        ],
        "[[replace]]\nfrom = \"p::kernels::f#\"\nto = \"p::other::f#\"\n",
    ),
    rust(
        ["pub fn f#() {}\n", "pub mod m# {}\n", ""],
        "[[move]]\nfrom = \"p::kernels::f#\"\nto = \"p::other::m#::f#\"\n",
    ),
    rust(
        [
            "pub mod m# { pub struct A; }\n",
            "",
            "pub use crate::kernels::m#::A as A#;\n",
        ],
        "[[move]]\nfrom = \"p::kernels::m#\"\nto = \"p::other::m#\"\n",
    ),
    rust(
        ["pub mod m# {}\n", "", "use crate::kernels::m#;\n"],
        "[[remove]]\nmodule = \"p::kernels::m#\"\n",
    ),
    python(
        ["def f#(): pass\n", "", "from .kernels import f#\nf#()\n"],
        MOVE_PYTHON,
    ),
    python(
        ["def f#(): pass\n", "", "from .kernels import f#\nf#()\n"],
        "[[move]]\nfrom = \"p.kernels.f#\"\nto = \"p.other.f#\"\nshim = true\n",
    ),
    python(
        [
            "class C#: pass\ndef f#(): return C#\n",
            "",
            "import p.kernels\np.kernels.f#()\n",
        ],
        MOVE_PYTHON,
    ),
    python(
        [
            "def f#(): pass\n",
            "def f#(): pass\n",
            "from .kernels import f#\nf#()\n",
        ],
        "[[replace]]\nfrom = \"p.kernels.f#\"\nto = \"p.other.f#\"\n",
    ),
    python(
        ["def f#(): pass\n", "", "from .kernels import f#\nf#()\n"],
        "[[move]]\nfrom = \"p.kernels.f#\"\nto = \"p.kernels.g#\"\n",
    ),
];

impl Series {
    fn make(&self, root: &Path, entries: usize) {
        let numbered = |text: &str| -> String {
            let numbers = (0..entries).map(|number| numbered(text, number));
            numbers.collect()
        };
        write(
            root,
            "m.toml",
            &format!("schema = 1\n{}", numbered(self.entry)),
        );
        for (module, text) in ["kernels", "other", "user"].into_iter().zip(self.texts) {
            let text = numbered(text);
            if self.rust {
                let head = if module == "kernels" {
                    "pub struct X;\n"
                } else {
                    ""
                };
                write(root, &format!("src/{module}.rs"), &format!("{head}{text}"));
            } else {
                write(root, &format!("p/{module}.py"), &text);
            }
        }
        let declared = "pub mod kernels;\npub mod other;\npub mod user;\n";
        write_package(root, self.rust, declared);
    }
}

#[test]
fn soak_entries() {
    let whole = is_whole();
    let entries = told("COALESCE_SOAK_LINES").unwrap_or(if whole { ENTRIES } else { 10 });
    let mut growth = Growth::default();
    soak(|round| {
        let number = usize::try_from(round).unwrap() - 1;
        let series = &SERIES[number % SERIES.len()];
        for call in ["plan m.toml", "status m.toml"] {
            let [kernels, ..] = series.texts;
            let at = format!("round {round}: {call}, {:?}, {kernels:?}", series.entry);
            growth.of(&at, |times| {
                let directory = tempfile::tempdir().unwrap();
                let root = directory.path().join("tree");
                series.make(&root, entries * times);
                run(&root, call, PATIENCE)
            });
        }
    });
    growth.hold();
}
