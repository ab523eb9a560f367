//! Two modules each, and what coverage says of them. The cases are files in `tests/coverage`: a
//! fixture, a line `//= ` with what is compared, and the lines that are expected.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fmt::Write as _, fs, path::Path};

use coalesce_clones::{
    SourceFile,
    coverage::{Coverage, Entry, Side, Text, coverage},
};
use coalesce_model::{Language as _, LanguageKind, MemoryTexts, Texts as _, TreePath};
use coalesce_python::Python;
use coalesce_rust::Rust;

fn source(path: &TreePath, text: &str) -> SourceFile {
    let (language, outline) = match path.extension() {
        Some("py") => (LanguageKind::Python, Python.outline(path, text)),
        _ => (LanguageKind::Rust, Rust.outline(path, text)),
    };
    SourceFile::new(path.clone(), language, text.into(), &outline.unwrap())
}

/// `path`, or `path item`, with the module that the path is the place of.
fn side<'f>(files: &'f [SourceFile], name: &str) -> Side<'f> {
    let (path, item) = name.split_once(' ').unwrap_or((name, ""));
    let file = files.iter().find(|file| file.path.as_str() == path).unwrap();
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
    let names = if left == right { left } else { format!("{left} | {right}") };
    let indent = "  ".repeat(depth);
    let note = entry.note.map_or(String::new(), |note| format!(" ({note:?})"));
    writeln!(text, "{indent}{:?}: {names}{note}", entry.relation).unwrap();
    for (left, right) in &entry.renamed {
        writeln!(text, "{indent}  {left} => {right}").unwrap();
    }
    for difference in &entry.differences {
        let side = |text: &Option<Text>| {
            text.as_ref().map_or("-".to_owned(), |text| format!("{} {}", text.line, text.text))
        };
        let (left, right) = (side(&difference.left), side(&difference.right));
        writeln!(text, "{indent}  {:?}: {left} | {right}", difference.aspect).unwrap();
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
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let (fixture, rest) = text.split_once("//= ").unwrap();
        let (what, expected) = rest.split_once('\n').unwrap();
        let files = MemoryTexts::fixture(fixture);
        let files: Vec<SourceFile> =
            files.paths().iter().map(|path| source(path, &files.text(path).unwrap())).collect();
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
