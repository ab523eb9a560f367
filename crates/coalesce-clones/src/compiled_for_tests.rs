//! What of Rust is compiled for tests alone: files whose module is declared below `#[cfg(test)]`, with all that is
//! declared in them, and units that stand below one.

use coalesce_model::{LanguageKind, TreePath, UnitKind};
use rustc_hash::FxHashSet;

use crate::source::{SourceFile, Unit};

/// Conditions within each other that are read: nobody writes more.
const DEEPEST: usize = 16;

/// The files of a tree that are compiled for tests alone.
#[derive(Default)]
pub struct TestFiles {
    files: FxHashSet<TreePath>,
    /// Folders, with a `/` at the end, all of whose files are.
    folders: Vec<String>,
}

impl TestFiles {
    /// Those of these files.
    #[must_use]
    pub fn new(files: &[SourceFile]) -> Self {
        let mut found = Self::default();
        let rust = files
            .iter()
            .filter(|file| file.language == LanguageKind::Rust);
        for file in rust.filter(|file| mentions_condition(file)) {
            for declared in declared_for_tests(file) {
                found.add(file, &declared);
            }
        }
        found
    }

    /// Whether this file is one.
    #[must_use]
    pub fn contain(&self, file: &SourceFile) -> bool {
        let path = file.path.as_str();
        file.language == LanguageKind::Rust
            && (self.files.contains(&file.path)
                || self.folders.iter().any(|folder| path.starts_with(folder)))
    }

    /// Notes where the text of a declared module can be.
    fn add(&mut self, file: &SourceFile, declared: &Declared) {
        let own = own_folder(file);
        match declared {
            Declared::File => {
                self.files.insert(file.path.clone());
                // Of a root that is a test itself everything is.
                self.folders.push(below(&own, ""));
            }
            Declared::At(place) => {
                let (folder, _) = file.path.as_str().rsplit_once('/').unwrap_or(("", ""));
                self.files.extend(TreePath::new(&below(folder, place)).ok());
            }
            Declared::Module(names) => {
                let place = below(&own, &names.join("/"));
                self.files
                    .extend(TreePath::new(&format!("{place}.rs")).ok());
                self.folders.push(format!("{place}/"));
            }
        }
    }
}

/// The folder in which a file of Rust has its modules.
fn own_folder(file: &SourceFile) -> String {
    let path = file.path.as_str();
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.strip_suffix(".rs").unwrap_or(name) {
        "mod" | "lib" | "main" => folder.to_owned(),
        stem => below(folder, stem),
    }
}

/// What is called so in a folder; of the root nothing stands before it.
fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// Where the text of what is compiled for tests alone stands.
#[derive(Debug, PartialEq, Eq)]
enum Declared {
    /// The file says it of itself.
    File,
    /// A file that an attribute names.
    At(String),
    /// The module of these names below the file's.
    Module(Vec<String>),
}

/// Whether it is worth looking for them.
fn mentions_condition(file: &SourceFile) -> bool {
    let text = file.text.as_bytes();
    memchr::memmem::find(text, b"cfg").is_some() && memchr::memmem::find(text, b"test").is_some()
}

/// Whether a unit, or one around it, is compiled for tests alone.
#[must_use]
pub fn is_unit_for_tests(file: &SourceFile, unit: &Unit) -> bool {
    if file.language != LanguageKind::Rust {
        return false;
    }
    let parent = |unit: &&Unit| file.units.get(unit.parent? as usize);
    std::iter::successors(Some(unit), parent).any(|unit| {
        let mut reader = DeclarationReader::new(file, unit.first as usize);
        let end = unit.body as usize;
        std::iter::from_fn(|| reader.attribute(end)).any(|attribute| attribute.only_tests)
    })
}

/// What a file declares for tests alone.
fn declared_for_tests(file: &SourceFile) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut reader = DeclarationReader::new(file, 0);
    while reader.at < file.tokens.len() {
        let begins = reader.at;
        let (mut only_tests, mut place) = (false, None);
        while let Some(attribute) = reader.attribute(file.tokens.len()) {
            if attribute.only_tests && attribute.of_file {
                found.push(Declared::File);
            }
            only_tests |= attribute.only_tests && !attribute.of_file;
            place = attribute.path.or(place);
        }
        if let Some(name) = reader.declared_module().filter(|_| only_tests) {
            let names = || modules_around(file, begins).chain([name.to_owned()]);
            found.push(place.map_or_else(|| Declared::Module(names().collect()), Declared::At));
        }
        reader.at += 1;
    }
    found
}

/// The names of the modules that a token stands in, the outermost first.
fn modules_around(file: &SourceFile, at: usize) -> impl Iterator<Item = String> {
    let modules = file.units.iter().skip(1);
    let around = modules.filter(move |unit| {
        unit.kind == UnitKind::Module && (unit.body as usize..unit.end as usize).contains(&at)
    });
    around.filter_map(|unit| unit.name_span.of(&file.text).map(str::to_owned))
}

/// An attribute of Rust, as far as it is asked for.
struct Attribute {
    /// Whether it says that something is compiled for tests alone.
    only_tests: bool,
    /// Whether it speaks of the file that it stands in.
    of_file: bool,
    /// The file that it names.
    path: Option<String>,
}

/// Reads the words of a file one by one.
struct DeclarationReader<'f> {
    file: &'f SourceFile,
    at: usize,
}

impl<'f> DeclarationReader<'f> {
    const fn new(file: &'f SourceFile, at: usize) -> Self {
        Self { file, at }
    }

    fn word(&self) -> &'f str {
        let token = self.file.tokens.get(self.at);
        token
            .and_then(|token| token.span().of(&self.file.text))
            .unwrap_or("")
    }

    /// Whether the next word is this one, which is gone then.
    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.word() == word;
        self.at += usize::from(is_next);
        is_next
    }

    /// The attribute that begins here and before `end`.
    fn attribute(&mut self, end: usize) -> Option<Attribute> {
        if self.at >= end || !self.takes("#") {
            return None;
        }
        let of_file = self.takes("!");
        if !self.takes("[") {
            return None;
        }
        let mut attribute = Attribute {
            only_tests: false,
            of_file,
            path: None,
        };
        if self.takes("cfg") && self.takes("(") {
            attribute.only_tests = self.only_holds_for_tests(0);
        } else if self.takes("path") && self.takes("=") {
            attribute.path = Some(self.word().trim_matches('"').to_owned());
        }
        self.leave_brackets();
        Some(attribute)
    }

    /// Goes behind the bracket that closes an attribute of which something may have been read.
    fn leave_brackets(&mut self) {
        let mut depth = 1;
        while depth > 0 && self.at < self.file.tokens.len() {
            match self.word() {
                "[" => depth += 1,
                "]" => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Reads a condition; whether it holds nowhere but in tests.
    fn only_holds_for_tests(&mut self, depth: usize) -> bool {
        let word = self.word();
        self.at += 1;
        if depth > DEEPEST || !self.takes("(") {
            return word == "test" && self.word() != "=";
        }
        let mut each = Vec::new();
        while self.at < self.file.tokens.len() && !self.takes(")") {
            each.push(self.only_holds_for_tests(depth + 1));
            while !matches!(self.word(), "," | ")" | "]" | "") {
                self.at += 1;
            }
            if !self.takes(",") && self.word() != ")" {
                return false;
            }
        }
        match word {
            "all" => each.contains(&true),
            "any" => !each.is_empty() && !each.contains(&false),
            _ => false,
        }
    }

    /// The name of the module whose text is elsewhere, if that is what is declared here.
    fn declared_module(&mut self) -> Option<&'f str> {
        let begins = self.at;
        if self.takes("pub") && self.takes("(") {
            while !matches!(self.word(), ")" | "") {
                self.at += 1;
            }
            self.at += 1;
        }
        if self.takes("mod") {
            let name = self.word();
            self.at += 1;
            if self.word() == ";" {
                return Some(name);
            }
        }
        self.at = begins;
        None
    }
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
        SourceFile::new(path, LanguageKind::Rust, text.into(), &outline)
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
            assert_eq!(
                !declared_for_tests(&file).is_empty(),
                expected,
                "{condition}"
            );
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
