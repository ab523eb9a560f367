//! Two modules each, and what coverage says of them. The cases are files in `tests/coverage`: a
//! fixture, a line `//= ` with what is compared, and the lines that are expected.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fmt::Write as _, fs, path::Path};

use coalesce_clones::{
    SourceFile,
    coverage::{Coverage, Entry, Relation, Side, Text, coverage},
};
use coalesce_model::{LanguageKind, MemoryTexts, Texts as _, TreePath};
use coalesce_python::Python;
use coalesce_rust::Rust;
use proptest::{prelude::*, sample::subsequence};

fn source(path: &TreePath, text: &str) -> SourceFile {
    let outlined = match path.extension() {
        Some("py") => SourceFile::outlined(&Python, path, text.into()),
        _ => SourceFile::outlined(&Rust, path, text.into()),
    };
    outlined.unwrap()
}

/// `path`, or `path item`, with the module that the path is the place of.
fn side<'f>(files: &'f [SourceFile], name: &str) -> Side<'f> {
    let (path, item) = name.split_once(' ').unwrap_or((name, ""));
    let file = files
        .iter()
        .find(|file| file.path.as_str() == path)
        .unwrap();
    let stem = path.rsplit_once('.').unwrap().0;
    let stem = stem.strip_prefix("src/").unwrap_or(stem);
    let mut module: Vec<String> = stem.split('/').map(str::to_owned).collect();
    let is_package = module.last().is_some_and(|last| last == "__init__");
    if is_package {
        module.pop();
    }
    if file.language == LanguageKind::Rust {
        module.insert(0, "krate".to_owned());
    }
    let separator = file.language.separator();
    let item = item.split(separator).filter(|name| !name.is_empty());
    Side {
        file,
        module,
        is_package,
        item: item.map(str::to_owned).collect(),
    }
}

fn told(found: &Coverage) -> String {
    let mut text = String::new();
    for entry in &found.entries {
        tell(entry, 0, &mut text);
    }
    text
}

fn tell(entry: &Entry, depth: usize, text: &mut String) {
    let name = |place: &Option<coalesce_clones::coverage::Place>| {
        place.as_ref().map_or("-".to_owned(), |place| {
            format!("{:?} {}", place.kind, place.name)
        })
    };
    let (left, right) = (name(&entry.left), name(&entry.right));
    let names = if left == right {
        left
    } else {
        format!("{left} | {right}")
    };
    let indent = "  ".repeat(depth);
    let note = entry
        .note
        .map_or(String::new(), |note| format!(" ({note:?})"));
    writeln!(text, "{indent}{:?}: {names}{note}", entry.relation).unwrap();
    for (left, right) in &entry.renamed {
        writeln!(text, "{indent}  {left} => {right}").unwrap();
    }
    for difference in &entry.differences {
        let side = |text: &Option<Text>| {
            text.as_ref().map_or("-".to_owned(), |text| {
                format!("{} {}", text.line, text.text)
            })
        };
        let (left, right) = (side(&difference.left), side(&difference.right));
        let moved = if difference.moved { " (moved)" } else { "" };
        writeln!(
            text,
            "{indent}  {:?}: {left} | {right}{moved}",
            difference.aspect
        )
        .unwrap();
    }
    for member in &entry.members {
        tell(member, depth + 1, text);
    }
}

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage");
    let bless = std::env::var_os("BLESS").is_some();
    let mut failed = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let (fixture, rest) = text.split_once("//= ").unwrap();
        let (what, expected) = rest.split_once('\n').unwrap();
        let files = MemoryTexts::fixture(fixture);
        let files: Vec<SourceFile> = files
            .paths()
            .iter()
            .map(|path| source(path, &files.text(path).unwrap()))
            .collect();
        let (left, right) = what.split_once(" <> ").unwrap();
        let (left, right) = (side(&files, left), side(&files, right));
        let found = told(&coverage(&left, &right).unwrap());
        if found != expected {
            if bless {
                fs::write(&path, format!("{fixture}//= {what}\n{found}")).unwrap();
            }
            failed.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(failed.is_empty() || bless, "{}", failed.join("\n"));
}

/// Definitions of which modules are made; some of them are alike, or of one name.
const PYTHON: [&str; 14] = [
    "import numpy as np\n",
    "import numpy\n",
    "from numpy import mean\n",
    "LIMIT = 10\n",
    "LIMIT = 20\n",
    "try:\n    import cupy\n    GPU = True\nexcept ImportError:\n    GPU = False\n",
    "try:\n    import cupy\nexcept ImportError:\n    cupy = None\n",
    "def middle(points, k):\n    centre = np.mean(points)\n    return points - centre / k\n",
    "def middle(points, k):\n    core = np.mean(points)\n    return points - core / (k - 1)\n",
    "def centre_of(points, k):\n    centre = np.mean(points)\n    return points - centre / k\n",
    "class Pool:\n    size = 3\n    def take(self, n):\n        if n > self.size:\n            raise ValueError(n)\n        return n\n",
    "class Pool:\n    def take(self, n=1):\n        return n\n    def free(self):\n        return self.size\n",
    "register(Pool)\n",
    "if LIMIT > 3:\n    register(LIMIT)\n",
];
const RUST: [&str; 12] = [
    "use std::fmt;\n",
    "use std::fmt::Display as Shown;\n",
    "const LIMIT: usize = 10;\n",
    "const LIMIT: usize = 20;\n",
    "pub struct Pool { size: usize, used: usize }\n",
    "pub struct Pool { size: u64 }\n",
    "impl Pool { fn take(&mut self, n: usize) { if n > self.size { panic!(\"full\") } self.used += n; } }\n",
    "impl Pool { fn take(&mut self, m: usize) { if m >= self.size { panic!(\"full\") } self.used += m; } fn free(&self) -> usize { self.size } }\n",
    "impl fmt::Debug for Pool { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(\"p\") } }\n",
    "fn kind(of: u8) -> &'static str { match of { 0 => \"none\", 1 => \"cuda\", _ => \"other\" } }\n",
    "fn sort(of: u8) -> &'static str { match of { 0 => \"none\", 1 => \"cuda\", _ => \"other\" } }\n",
    "thread_local! { static CACHE: u8 = 0; }\n",
];

/// A module of some definitions, in any order, and the same in another order.
fn module(of: &'static [&'static str]) -> impl Strategy<Value = (String, String)> {
    let some = subsequence(of.to_vec(), 0..of.len());
    some.prop_flat_map(|chosen| {
        (
            Just(chosen.clone()).prop_shuffle(),
            Just(chosen).prop_shuffle(),
        )
    })
    .prop_map(|(one, other)| (one.concat(), other.concat()))
}

fn compared(extension: &str, left: &str, right: &str) -> Coverage {
    let file = |name: &str, text: &str| {
        source(
            &TreePath::new(&format!("{name}.{extension}")).unwrap(),
            text,
        )
    };
    let files = [file("a", left), file("b", right)];
    let (left, right) = (format!("a.{extension}"), format!("b.{extension}"));
    coverage(&side(&files, &left), &side(&files, &right)).unwrap()
}

fn relations(entries: &[Entry], found: &mut Vec<(Relation, Option<String>, Option<String>)>) {
    let name = |place: &Option<coalesce_clones::coverage::Place>| {
        place.as_ref().map(|place| place.name.clone())
    };
    for entry in entries {
        found.push((entry.relation, name(&entry.left), name(&entry.right)));
        relations(&entry.members, found);
    }
    found.sort();
}

/// Names that several definitions of a module have: which of them stands for which is a matter of order.
fn is_ambiguous(text: &str) -> bool {
    let once = |word: &str| text.matches(word).count() < 2;
    let all = [
        "LIMIT =",
        "LIMIT:",
        "def middle",
        "class Pool",
        "struct Pool",
        "impl Pool",
        "fn take",
        "import cupy",
        "numpy",
    ];
    !all.iter().all(|word| once(word))
}

fn laws(extension: &str, a: &(String, String), b: &(String, String)) {
    let forth = compared(extension, &a.0, &b.0);
    let back = compared(extension, &b.0, &a.0);
    assert_eq!(told(&forth), told(&back.turned()));
    let own = compared(extension, &a.0, &a.0);
    let mut all = Vec::new();
    relations(&own.entries, &mut all);
    assert!(
        all.iter()
            .all(|one| one.0 == Relation::Same && one.1 == one.2),
        "{}",
        told(&own)
    );
    if !is_ambiguous(&a.0) && !is_ambiguous(&b.0) {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        relations(&forth.entries, &mut one);
        relations(&compared(extension, &a.1, &b.1).entries, &mut other);
        assert_eq!(one, other);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn python_obeys_the_laws(a in module(&PYTHON), b in module(&PYTHON)) {
        laws("py", &a, &b);
    }

    #[test]
    fn rust_obeys_the_laws(a in module(&RUST), b in module(&RUST)) {
        laws("rs", &a, &b);
    }
}

/// Bytes that entries take on the left side.
fn spans(entries: &[Entry], found: &mut Vec<(u32, u32)>) {
    for entry in entries {
        found.extend(
            entry
                .left
                .as_ref()
                .map(|place| (place.span.start, place.span.end)),
        );
        spans(&entry.members, found);
    }
}

#[test]
fn nothing_of_a_file_is_lost() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<SourceFile> = Vec::new();
    for place in [
        "src",
        "src/coverage",
        "../../examples/duplicated/lidar",
        "../../examples/duplicated/lidar/optimization",
    ] {
        let mut paths: Vec<_> = fs::read_dir(folder.join(place))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths.iter().filter(|path| {
            path.extension()
                .is_some_and(|kind| kind == "rs" || kind == "py")
        }) {
            let name = format!(
                "f{}.{}",
                files.len(),
                path.extension().unwrap().to_string_lossy()
            );
            files.push(source(
                &TreePath::new(&name).unwrap(),
                &fs::read_to_string(path).unwrap(),
            ));
        }
    }
    assert!(files.len() > 20);
    for file in &files {
        let files = std::slice::from_ref(file);
        let name = file.path.as_str();
        let own = coverage(&side(files, name), &side(files, name)).unwrap();
        let mut all = Vec::new();
        relations(&own.entries, &mut all);
        assert!(
            all.iter().all(|one| one.0 == Relation::Same),
            "{}",
            told(&own)
        );
        let mut taken = Vec::new();
        spans(&own.entries, &mut taken);
        let words = file.tokens.iter().filter(|token| {
            token.class == coalesce_model::TokenClass::Word
                && !token.has(coalesce_model::outline::marks::IMPORT)
        });
        for word in words {
            let inside = taken
                .iter()
                .any(|(start, end)| *start <= word.start && word.start < *end);
            assert!(
                inside,
                "{name}: {:?} is in no entry",
                word.span().of(&file.text)
            );
        }
    }
}
