//! What of Rust is compiled for tests alone: files whose module is declared below `#[cfg(test)]`, with all that is
//! declared in them, and definitions that stand below one.

use coalesce_model::{
    TreePath,
    grammar::{TestPlaces, TokenRange, Tokens},
};

/// Conditions within each other that are read: nobody writes more.
const DEEPEST: usize = 16;

/// Whether an attribute among these tokens says so.
pub fn says_so(tokens: &dyn Tokens, (first, end): TokenRange) -> bool {
    let mut reader = DeclarationReader::new(tokens, first);
    std::iter::from_fn(|| reader.attribute(end)).any(|attribute| attribute.only_tests)
}

/// The files and folders that a file says it of.
pub fn places(tokens: &dyn Tokens) -> TestPlaces {
    let mut found = TestPlaces::default();
    if mentions_condition(tokens) {
        for declared in declared_for_tests(tokens) {
            note(tokens, declared, &mut found);
        }
    }
    found
}

/// Notes where the text of a declared module can be.
fn note(tokens: &dyn Tokens, declared: TestDeclaration, found: &mut TestPlaces) {
    let own = own_folder(tokens);
    match declared {
        TestDeclaration::File => {
            found.files.push(tokens.path().clone());
            // Of a root that is a test itself everything is.
            found.folders.push(below(&own, ""));
        }
        TestDeclaration::At(place) => {
            let path = tokens.path().as_str();
            let (folder, _) = path.rsplit_once('/').unwrap_or(("", ""));
            found
                .files
                .extend(TreePath::new(&below(folder, &place)).ok());
        }
        TestDeclaration::Module(names) => {
            let place = below(&own, &names.join("/"));
            let file = TreePath::new(&format!("{place}.rs"));
            found.files.extend(file.ok());
            found.folders.push(format!("{place}/"));
        }
    }
}

/// The folder in which a file of Rust has its modules.
fn own_folder(tokens: &dyn Tokens) -> String {
    let path = tokens.path().as_str();
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
enum TestDeclaration {
    /// The file says it of itself.
    File,
    /// A file that an attribute names.
    At(String),
    /// The module of these names below the file's.
    Module(Vec<String>),
}

/// Whether it is worth looking for them.
fn mentions_condition(tokens: &dyn Tokens) -> bool {
    let text = tokens.text().as_bytes();
    memchr::memmem::find(text, b"cfg").is_some() && memchr::memmem::find(text, b"test").is_some()
}

/// What a file declares for tests alone.
fn declared_for_tests(tokens: &dyn Tokens) -> Vec<TestDeclaration> {
    let mut found = Vec::new();
    let mut reader = DeclarationReader::new(tokens, 0);
    while reader.at < reader.end {
        let begins = reader.at;
        let (mut only_tests, mut place) = (false, None);
        while let Some(attribute) = reader.attribute(reader.end) {
            if attribute.only_tests && attribute.of_file {
                found.push(TestDeclaration::File);
            }
            only_tests |= attribute.only_tests && !attribute.of_file;
            place = attribute.path.or(place);
        }
        if let Some(name) = reader.declared_module().filter(|_| only_tests) {
            let mut names = tokens.modules_around(begins);
            names.push(name.to_owned());
            found.push(place.map_or(TestDeclaration::Module(names), TestDeclaration::At));
        }
        reader.at += 1;
    }
    found
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
struct DeclarationReader<'t> {
    tokens: &'t dyn Tokens,
    at: u32,
    end: u32,
}

impl<'t> DeclarationReader<'t> {
    fn new(tokens: &'t dyn Tokens, at: u32) -> Self {
        Self {
            tokens,
            at,
            end: tokens.count(),
        }
    }

    fn word(&self) -> &'t str {
        self.tokens.word(self.at)
    }

    /// Whether the next word is this one, which is gone then.
    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.word() == word;
        self.at += u32::from(is_next);
        is_next
    }

    /// The attribute that begins here and before `end`.
    fn attribute(&mut self, end: u32) -> Option<Attribute> {
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
        while depth > 0 && self.at < self.end {
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
        while self.at < self.end && !self.takes(")") {
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
    fn declared_module(&mut self) -> Option<&'t str> {
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
