//! Why copies are left where they are, as far as the files say so: they are tests, programs that each
//! stand alone, or copies that their own comments keep on purpose.

use coalesce_model::{LanguageKind, TreePath, UnitKind};
use rustc_hash::FxHashSet;

use crate::{
    corpus,
    source::{SourceFile, Unit},
};

/// What authors write where they keep a copy on purpose; in lower case.
const KEPT: [&str; 16] = [
    "keep in sync",
    "kept in sync",
    "keep this in sync",
    "keep these in sync",
    "keep them in sync",
    "keep it in sync",
    "copy-pasted",
    "copied from",
    "copied verbatim",
    "duplicated on purpose",
    "duplicated here",
    "intentionally duplicated",
    "deliberately duplicated",
    "mirrors the",
    "mirrors :",
    "mirror of",
];
/// Lines at the beginning of a file in which it is looked for.
const HEAD: usize = 24;
/// Lines before a unit and at its beginning in which it is looked for.
const BEFORE: usize = 8;
const BEGINNING: usize = 16;

/// Which files of a tree are programs that each stand alone.
pub struct Programs(FxHashSet<TreePath>);

impl Programs {
    /// Those of these files: they have an entry of their own, and nothing can import them, or hardly.
    #[must_use]
    pub fn new(files: &[SourceFile]) -> Self {
        let packages: FxHashSet<&str> = files
            .iter()
            .filter_map(|file| file.path.as_str().strip_suffix("/__init__.py"))
            .collect();
        let stands_alone = |file: &&SourceFile| match file.language {
            LanguageKind::Rust => has_main(file),
            LanguageKind::Python => {
                let path = file.path.as_str();
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                !packages.contains(folder) && file.text.contains("\nif __name__")
            }
            LanguageKind::Kernel => false,
        };
        let programs = files.iter().filter(stands_alone);
        Self(programs.map(|file| file.path.clone()).collect())
    }

    /// Whether this file is one.
    #[must_use]
    pub fn contain(&self, file: &SourceFile) -> bool {
        self.0.contains(&file.path)
    }
}

/// Whether a file of Rust has a `main` outside of its modules.
fn has_main(file: &SourceFile) -> bool {
    file.units.iter().any(|unit| {
        let is_outer = unit.parent.is_none_or(|parent| parent == 0);
        let name = unit.name_span.of(&file.text);
        is_outer && unit.kind == UnitKind::Function && name == Some("main")
    })
}

/// Whether a unit is a test by its attributes, or a module most of whose functions are.
#[must_use]
pub fn is_test(file: &SourceFile, unit: &Unit) -> bool {
    if corpus::is_test(file, unit) {
        return true;
    }
    if file.language != LanguageKind::Rust {
        return false;
    }
    if matches!(unit.kind, UnitKind::Function | UnitKind::Method) {
        return has_test_attribute(file, unit);
    }
    let inside = |other: &&Unit| {
        let is_function = matches!(other.kind, UnitKind::Function | UnitKind::Method);
        is_function && unit.first <= other.first && other.end <= unit.end
    };
    let functions: Vec<&Unit> = file.units.iter().filter(inside).collect();
    let tests = functions.iter().filter(|own| has_test_attribute(file, own));
    2 * tests.count() > functions.len()
}

/// Whether `#[test]`, `#[tokio::test]` or the like stands before a function.
fn has_test_attribute(file: &SourceFile, unit: &Unit) -> bool {
    let head = file.tokens.get(unit.first as usize..unit.body as usize);
    let mut words = head
        .unwrap_or_default()
        .iter()
        .map(|token| token.span().of(&file.text).unwrap_or(""))
        .take_while(|word| *word != "fn")
        .peekable();
    while let Some(word) = words.next() {
        if matches!(word, "test" | "rstest" | "test_case") && words.peek().is_some() {
            return true;
        }
    }
    false
}

/// Whether a unit is an `impl` of a trait, or a function in one.
#[must_use]
pub fn is_of_trait(file: &SourceFile, unit: &Unit) -> bool {
    if file.language != LanguageKind::Rust {
        return false;
    }
    let around = unit.parent.and_then(|at| file.units.get(at as usize));
    let implementation = match unit.kind {
        UnitKind::Impl => Some(unit),
        UnitKind::Function | UnitKind::Method => around,
        _ => None,
    };
    implementation.is_some_and(|unit| {
        let head = file.tokens.get(unit.first as usize..unit.body as usize);
        let mut words = head.unwrap_or_default().iter();
        unit.kind == UnitKind::Impl && words.any(|token| token.span().of(&file.text) == Some("for"))
    })
}

/// Whether comments at a unit or at the beginning of its file say that the copy is meant.
#[must_use]
pub fn is_kept(file: &SourceFile, unit: &Unit) -> bool {
    let says = |line: &str| {
        let line = line.to_ascii_lowercase();
        KEPT.iter().any(|words| line.contains(words))
    };
    let own = unit.kind != UnitKind::Module;
    file.text.lines().take(HEAD).any(says) || own && beginning(file, unit).lines().any(says)
}

/// The text before a unit and at its beginning.
fn beginning<'f>(file: &'f SourceFile, unit: &Unit) -> &'f str {
    let token = |at: u32| file.tokens.get(at as usize);
    let start = token(unit.first).map_or(0, |token| token.start as usize);
    let last = unit.end.checked_sub(1).and_then(token);
    let end = last.map_or(start, |token| token.span().end as usize);
    let before = file.text.get(..start).unwrap_or("");
    let lines = before.rmatch_indices('\n');
    let from = lines.map(|(at, _)| at).nth(BEFORE).unwrap_or(0);
    let inside = file.text.get(start..end).unwrap_or("");
    let mut breaks = inside.match_indices('\n').map(|(at, _)| at);
    let to = start + breaks.nth(BEGINNING).unwrap_or(inside.len());
    file.text.get(from..to).unwrap_or("")
}
