//! How time grows with the number of modules of one kind: redirects, shims, stubs, modules that import what moves.
//! Twice as many may take about twice as long. Told and held as in [`super::scaling`].

use std::path::Path;

use super::{
    large::write,
    numbered,
    scaling::{Growth, is_whole},
    soak, told,
    trees::{PATIENCE, run},
};

/// Modules of the smallest tree of a series; two others have twice and four times as many.
const MODULES: usize = 1_000;

const CALLS: [&str; 7] = [
    "audit",
    "check",
    "status",
    "retire --unused",
    "refs p.kernels",
    "plan m.toml",
    "plan all.toml",
];

/// `#` is the number of the module.
struct Series {
    rust: bool,
    /// Each module of the kind.
    module: &'static str,
    /// A module that uses it; none where it is empty.
    user: &'static str,
}

const fn python(module: &'static str, user: &'static str) -> Series {
    Series {
        rust: false,
        module,
        user,
    }
}

const fn rust(module: &'static str, user: &'static str) -> Series {
    Series {
        rust: true,
        module,
        user,
    }
}

const SERIES: [Series; 20] = [
    python("from p.kernels import X\n", ""),
    python("from p.kernels import X\n", "import p.m#\np.m#.X\n"),
    python("from p.kernels import *\n", "from p.m# import X\nX\n"),
    python("\"\"\"Nothing yet.\"\"\"\n", ""),
    python("\"\"\"Nothing yet.\"\"\"\n", "import p.m#\n"),
    python("## coalesce: shim 0001-x\nfrom p.kernels import *\n", ""),
    python(
        "## coalesce: shim 0001-x\nfrom p.kernels import *\n",
        "from p.m# import X\n",
    ),
    python("## coalesce: item shim 0001-x f#\nf# = 1\n", ""),
    python(
        "## coalesce: item shim 0001-x f#\nf# = 1\n",
        "from p.m# import f#\nf#\n",
    ),
    python(
        "try:\n    import cupy\nexcept ImportError:\n    cupy = None\n",
        "",
    ),
    python("import p.kernels\nimport p.u#\n", "import p.m#\n"),
    rust("pub use crate::kernels::X;\n", ""),
    rust(
        "pub use crate::kernels::X;\n",
        "pub fn f() { let _ = crate::m#::X; }\n",
    ),
    rust("pub use crate::kernels::*;\n", "use crate::m#::X;\n"),
    rust("//! Nothing yet.\n", ""),
    rust(
        "// coalesce: shim 0001-x\n##[deprecated]\npub use crate::kernels::X;\n",
        "",
    ),
    rust(
        "// coalesce: shim 0001-x\n##[deprecated]\npub use crate::kernels::X;\n",
        "use crate::m#::X;\n",
    ),
    rust(
        "// coalesce: item shim 0001-x f#\n##[deprecated]\npub fn f#() {}\n",
        "pub fn g() { crate::m#::f#() }\n",
    ),
    rust(
        "macro_rules! m# { ($x:ident) => { crate::kernels::$x } }\n",
        "pub fn g() { crate::kernels::X; }\n",
    ),
    rust("pub fn f#() {}\n", "pub fn g() { crate::kernels::X; }\n"),
];

/// Writes what makes a folder a package `p`; of Rust with the modules that its root declares.
pub(super) fn write_package(root: &Path, rust: bool, declared: &str) {
    if rust {
        let package = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        write(root, "Cargo.toml", package);
        write(root, "src/lib.rs", declared);
    } else {
        write(root, "pyproject.toml", "[project]\nname = \"p\"\n");
        write(root, "p/__init__.py", "");
    }
}

impl Series {
    fn make(&self, root: &Path, modules: usize) {
        let (directory, end) = if self.rust {
            ("src", "rs")
        } else {
            ("p", "py")
        };
        let mut declared = String::from("pub mod kernels;\n");
        for number in 0..modules {
            for (name, text) in [("m", self.module), ("u", self.user)] {
                if !text.is_empty() {
                    let file = format!("{directory}/{name}{number}.{end}");
                    write(root, &file, &numbered(text, number));
                    declared.push_str(&format!("pub mod {name}{number};\n"));
                }
            }
        }
        let entry = |from: &str, to: &str| format!("[[move]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
        let manifest = |from: &str, to: &str| format!("schema = 1\n{}", entry(from, to));
        let separator = if self.rust { "::" } else { "." };
        let moves = (0..modules).map(|number| {
            let named = |package: &str| format!("{package}{separator}m{number}");
            entry(&named("p"), &named(&format!("p{separator}core")))
        });
        let all: String = std::iter::once("schema = 1\n".to_owned())
            .chain(moves)
            .collect();
        write(root, "all.toml", &all);
        write_package(root, self.rust, &declared);
        if self.rust {
            write(root, "src/kernels.rs", "pub struct X;\n");
            write(root, "m.toml", &manifest("p::kernels", "p::core"));
        } else {
            write(root, "p/kernels.py", "X = 1\n");
            write(root, "m.toml", &manifest("p.kernels", "p.core.gpu"));
        }
    }
}

#[test]
fn soak_many() {
    let whole = is_whole();
    let modules = told("COALESCE_SOAK_LINES").unwrap_or(if whole { MODULES } else { 10 });
    let mut growth = Growth::default();
    soak(|round| {
        let number = usize::try_from(round).unwrap() - 1;
        let number = number % SERIES.len();
        let series = &SERIES[number];
        for call in CALLS {
            let call = if series.rust {
                call.replace("p.kernels", "p::kernels")
            } else {
                call.to_owned()
            };
            let at = format!(
                "round {round}: {call}, {:?}, {:?}",
                series.module, series.user
            );
            growth.of(&at, |times| {
                let directory = tempfile::tempdir().unwrap();
                let root = directory.path().join("tree");
                series.make(&root, modules * times);
                run(&root, &call, PATIENCE)
            });
        }
    });
    growth.hold();
}
