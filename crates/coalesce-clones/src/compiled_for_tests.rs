//! What is compiled for tests alone: files and folders that others declare so, and units that stand below such a
//! declaration. How a language says it is the language's.

use coalesce_model::{LanguageKind, TreePath};
use rustc_hash::FxHashSet;

use crate::source::{self, SourceFile, Unit};

/// The files of a tree that are compiled for tests alone.
#[derive(Default)]
pub struct TestFiles {
    files: FxHashSet<TreePath>,
    /// Folders, with a `/` at the end, all of whose files in a language are.
    folders: Vec<(LanguageKind, String)>,
}

impl TestFiles {
    /// Those of these files.
    #[must_use]
    pub fn new(files: &[SourceFile]) -> Self {
        let mut found = Self::default();
        for file in files {
            let places = file.grammar.test_places(file);
            found.files.extend(places.files);
            let folders = places.folders.into_iter();
            found
                .folders
                .extend(folders.map(|folder| (file.language, folder)));
        }
        found
    }

    /// Whether this file is one.
    #[must_use]
    pub fn contain(&self, file: &SourceFile) -> bool {
        let has = |(language, folder): &(LanguageKind, String)| {
            *language == file.language && file.path.as_str().starts_with(folder)
        };
        self.files.contains(&file.path) || self.folders.iter().any(has)
    }
}

/// Whether a unit, or one around it, is compiled for tests alone.
#[must_use]
pub fn is_unit_for_tests(file: &SourceFile, unit: &Unit) -> bool {
    let mut around = source::outwards(file, unit);
    around.any(|unit| file.grammar.is_for_tests(file, (unit.first, unit.body)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use coalesce_model::{ByteSpan, Outline, OutlineToken, TokenClass};

    /// Words parted by spaces, as a file of Rust.
    fn file(path: &str, text: &str) -> SourceFile {
        let mut at = 0;
        let token = |word: &str| {
            let start = at;
            at += u32::try_from(word.len()).expect("it is short") + 1;
            OutlineToken {
                span: ByteSpan::new(start, at - 1),
                class: TokenClass::Word,
                marks: 0,
            }
        };
        let outline = Outline {
            tokens: text.split(' ').map(token).collect(),
            units: Vec::new(),
        };
        let path = TreePath::new(path).expect("it is a path");
        SourceFile::new(path, &coalesce_rust::Rust, text.into(), &outline)
    }

    #[test]
    fn conditions_hold_for_tests_alone() {
        for (condition, expected) in [
            ("test", true),
            ("all ( test , unix )", true),
            ("all ( unix , any ( test , all ( test , x ) ) )", true),
            ("any ( test , unix )", false),
            ("not ( test )", false),
            ("feature = \"test\"", false),
            ("any ( )", false),
            ("all ( feature = \"x\" , test )", true),
        ] {
            let file = file("a.rs", &format!("# [ cfg ( {condition} ) ] mod b ;"));
            let places = file.grammar.test_places(&file);
            assert_eq!(!places.files.is_empty(), expected, "{condition}");
        }
    }

    #[test]
    fn files_of_modules_for_tests_are_found_where_they_stand() {
        let files = [
            file(
                "p/src/lib.rs",
                "mod a ; # [ cfg ( test ) ] # [ allow ( x ) ] pub ( crate ) mod help ; # [ cfg ( test ) ] use x ; mod c ;",
            ),
            file("p/src/a.rs", "# [ cfg ( test ) ] mod cases ; mod real ;"),
            file("p/src/a/cases.rs", ""),
            file("p/src/a/real.rs", ""),
            file("p/src/help.rs", "mod deep ;"),
            file("p/src/help/deep.rs", ""),
            file(
                "p/src/c/mod.rs",
                "# [ cfg ( test ) ] # [ path = \"odd.rs\" ] mod d ;",
            ),
            file("p/src/c/odd.rs", ""),
            file("p/src/c/d.rs", ""),
            file("p/src/e.rs", "# ! [ cfg ( test ) ] mod f ;"),
            file("p/src/e/f.rs", ""),
        ];
        let found = TestFiles::new(&files);
        let told = files.iter().filter(|file| found.contain(file));
        let told: Vec<&str> = told.map(|file| file.path.as_str()).collect();
        assert_eq!(
            told,
            [
                "p/src/a/cases.rs",
                "p/src/help.rs",
                "p/src/help/deep.rs",
                "p/src/c/odd.rs",
                "p/src/e.rs",
                "p/src/e/f.rs"
            ]
        );
    }
}
