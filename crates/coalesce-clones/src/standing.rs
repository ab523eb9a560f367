//! Why copies are left where they are, as far as the files say so: they are tests, programs that each
//! stand alone, or copies that their own comments keep on purpose.

use coalesce_model::{TreePath, UnitKind, grammar::EntryPoint};
use rustc_hash::FxHashSet;

use crate::{
    beside::Layout,
    compiled_for_tests::{self, TestFiles},
    corpus,
    merging::Place,
    report::Member,
    source::{self, SourceFile, Unit},
};

/// What authors write beside a copy of something that they name; in lower case.
const OF_ANOTHER: [&str; 8] = [
    "in step with",
    "copy-pasted",
    "copied from",
    "copied verbatim",
    "mirrors the",
    "mirrors :",
    "mirrors `",
    "mirror of",
];
/// What they write where the copy is meant, and which need not be named.
const ON_PURPOSE: [&str; 10] = [
    "keep in sync",
    "kept in sync",
    "keep this in sync",
    "keep these in sync",
    "keep them in sync",
    "keep it in sync",
    "duplicated on purpose",
    "duplicated here",
    "intentionally duplicated",
    "deliberately duplicated",
];
/// What the documentation of something begins with that is on its way out.
const DEPRECATED: [&str; 2] = ["Deprecated", "DEPRECATED"];
/// What opens documentation in a unit.
const QUOTES: [&str; 2] = ["\"\"\"", "'''"];
/// Lines in which a module warns of itself: imports come before that.
const WARNED: usize = 64;
/// What a call has in its name that warns.
const WARNS: &str = "warn";
/// What stands behind such words where another text is spoken of.
const OF_SOMETHING: [&str; 2] = [" from ", " with "];
/// Lines behind such words in which the other text is named.
const NAMED_WITHIN: usize = 3;
/// Letters of a name below which it is any word.
const SHORT_NAME: usize = 3;
/// Lines at the beginning of a file in which it is looked for.
const HEAD: usize = 24;
/// Lines before a unit and at its beginning in which it is looked for.
const BEFORE: usize = 8;
const BEGINNING: usize = 16;

/// Which files of a tree stand apart from what is imported.
#[derive(Default)]
pub struct Apart {
    programs: FxHashSet<TreePath>,
    tests: TestFiles,
    layout: Layout,
}

impl Apart {
    /// Those of these files.
    #[must_use]
    pub fn new(files: &[SourceFile]) -> Self {
        Self {
            programs: programs(files),
            tests: TestFiles::new(files),
            layout: Layout::new(files),
        }
    }

    /// Whether a file is a program that stands alone.
    #[must_use]
    pub fn is_program(&self, file: &SourceFile) -> bool {
        self.programs.contains(&file.path)
    }

    /// Whether these members stand beside each other on purpose, as far as their paths say so.
    #[must_use]
    pub fn parts(&self, members: &[Member]) -> bool {
        self.layout.parts(members)
    }

    /// Whether a unit is a test, or compiled for tests alone.
    #[must_use]
    pub fn is_test(&self, file: &SourceFile, unit: &Unit) -> bool {
        self.tests.contain(file) || is_test(file, unit)
    }
}

/// Files that have an entry of their own, and nothing can import them, or hardly.
fn programs(files: &[SourceFile]) -> FxHashSet<TreePath> {
    let packages: FxHashSet<&str> = files.iter().filter_map(package_of).collect();
    let stands_alone = |file: &&SourceFile| match file.lexicon().entry {
        EntryPoint::Nothing => false,
        EntryPoint::Function(name) => defines_outside(file, name),
        EntryPoint::Statement { begins, .. } => {
            !packages.contains(folder_of(file)) && file.text.contains(&format!("\n{begins}"))
        }
    };
    let programs = files.iter().filter(stands_alone);
    programs.map(|file| file.path.clone()).collect()
}

fn folder_of(file: &SourceFile) -> &str {
    let path = file.path.as_str();
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folder of which a file makes a package.
fn package_of(file: &SourceFile) -> Option<&str> {
    let EntryPoint::Statement { package_file, .. } = file.lexicon().entry else {
        return None;
    };
    let (folder, name) = file.path.as_str().rsplit_once('/')?;
    (name == package_file).then_some(folder)
}

/// Whether a file has a function of this name outside of its modules and types.
fn defines_outside(file: &SourceFile, function: &str) -> bool {
    file.units.iter().any(|unit| {
        let is_outer = unit.parent.is_none_or(|parent| parent == 0);
        let name = unit.name_span.of(&file.text);
        is_outer && unit.kind == UnitKind::Function && name == Some(function)
    })
}

/// Whether a unit is a test by its attributes and those around it, or a module most of whose functions are.
fn is_test(file: &SourceFile, unit: &Unit) -> bool {
    if corpus::is_test(file, unit) || compiled_for_tests::is_unit_for_tests(file, unit) {
        return true;
    }
    if file.lexicon().test_attributes.is_empty() {
        return false;
    }
    // What stands in a test is of this test: a passage of it, and a function that it has for itself.
    let mut around = source::outwards(file, unit).filter(|unit| is_function(unit));
    if around.any(|around| has_test_attribute(file, around)) {
        return true;
    }
    let inside =
        |other: &&Unit| is_function(other) && unit.first <= other.first && other.end <= unit.end;
    let functions: Vec<&Unit> = file.units.iter().filter(inside).collect();
    let tests = functions.iter().filter(|own| has_test_attribute(file, own));
    2 * tests.count() > functions.len()
}

const fn is_function(unit: &Unit) -> bool {
    matches!(unit.kind, UnitKind::Function | UnitKind::Method)
}

/// Whether `#[test]`, `#[tokio::test]` or the like stands before a function.
fn has_test_attribute(file: &SourceFile, unit: &Unit) -> bool {
    let attributes = file.lexicon().test_attributes;
    let head = file.tokens.get(unit.first as usize..unit.body as usize);
    let mut words = head
        .unwrap_or_default()
        .iter()
        .map(|token| token.span().of(&file.text).unwrap_or(""))
        .take_while(|word| *word != "fn")
        .peekable();
    while let Some(word) = words.next() {
        if attributes.contains(&word) && words.peek().is_some() {
            return true;
        }
    }
    false
}

/// Whether a unit is an `impl` of a trait, or a function in one.
#[must_use]
pub fn is_of_trait(file: &SourceFile, unit: &Unit) -> bool {
    if !file.lexicon().traits {
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

/// Whether comments at a unit, or at the beginning of its file, say that the copy is meant: they name one of the
/// others, or speak of no other text. What they say of a text outside of the tree is no word about these.
#[must_use]
pub fn is_kept(place: &Place<'_>, places: &[Place<'_>]) -> bool {
    let (file, unit) = place;
    let own = unit.kind != UnitKind::Module;
    let head: Vec<&str> = file.text.lines().take(HEAD).collect();
    let beginning = || beginning(file, unit).lines().collect::<Vec<&str>>();
    says_kept(&head, place, places) || own && says_kept(&beginning(), place, places)
}

/// Whether a unit, or what it stands in, is on its way out: an attribute or decorator says so, its documentation begins
/// with it, or it warns of its own use as it begins.
#[must_use]
pub fn is_deprecated(file: &SourceFile, unit: &Unit) -> bool {
    let mut around = source::outwards(file, unit);
    around.any(|unit| is_marked_deprecated(file, unit) || is_told_deprecated(file, unit))
}

/// Whether the first words of a unit's documentation say so, before it or as it begins; a module may also warn when it
/// is read.
fn is_told_deprecated(file: &SourceFile, unit: &Unit) -> bool {
    let comment = file.lexicon().line_comment;
    let is_comment = |line: &&str| line.trim_start().starts_with(comment);
    if unit.kind == UnitKind::Module {
        let head = file.text.lines().take(HEAD);
        let is_before = |line: &&str| line.trim().is_empty() || is_comment(line);
        let mut comments = head.clone().take_while(is_before);
        return comments.any(begins_with_deprecation)
            || documented(head.skip_while(is_before)).any(begins_with_deprecation)
            || warns_when_read(file);
    }
    let first = file.tokens.get(unit.first as usize);
    let start = first.map_or(0, |token| token.start as usize);
    let before = file.text.get(..start).unwrap_or("").trim_end().lines();
    let mut comments = before.rev().take(BEFORE).take_while(is_comment);
    let inside = inside(file, unit).skip_while(|line| !opens_documentation(line));
    comments.any(begins_with_deprecation) || documented(inside).any(begins_with_deprecation)
}

/// Whether a line opens a text that stands for itself.
fn opens_documentation(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches('r');
    QUOTES.iter().any(|quote| line.starts_with(quote))
}

/// The first words of these lines where they are documentation, which may begin below its quotes.
fn documented<'l>(lines: impl Iterator<Item = &'l str>) -> impl Iterator<Item = &'l str> {
    let mut lines = lines.take(2).peekable();
    let is_text = lines.peek().is_some_and(|line| opens_documentation(line));
    lines.filter(move |_| is_text)
}

/// Whether a line is one of documentation that begins with the word for what goes, as a sentence does.
fn begins_with_deprecation(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches('r');
    let said = line.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let said = DEPRECATED.iter().find_map(|word| said.strip_prefix(word));
    said.is_some_and(|rest| {
        !rest.starts_with(|next: char| next.is_alphanumeric() || "_(<=".contains(next))
    })
}

/// Whether a module itself, and no function of it, warns of its use, as it does before it defines anything.
fn warns_when_read(file: &SourceFile) -> bool {
    let texts = file.lexicon().deprecation_texts;
    let mut is_warning = false;
    !texts.is_empty()
        && file.text.lines().take(WARNED).any(|line| {
            if !line.starts_with([' ', '\t', ')']) {
                is_warning = line.contains(WARNS);
            }
            is_warning && texts.iter().any(|text| line.contains(text))
        })
}

/// The first lines behind that of a unit's name, or of its first word where it has none.
fn inside<'f>(file: &'f SourceFile, unit: &Unit) -> impl Iterator<Item = &'f str> {
    let first = file.tokens.get(unit.first as usize);
    let first = first.map_or(0, |token| token.start);
    let text = file.text.get(first.max(unit.name_span.start) as usize..);
    let lines = text.unwrap_or("").lines().skip(1);
    lines.take(BEGINNING.min((unit.line_count() as usize).saturating_sub(1)))
}

/// Whether an attribute or a decorator says that a unit is on its way out, or it warns of its own use.
fn is_marked_deprecated(file: &SourceFile, unit: &Unit) -> bool {
    let head = file.tokens.get(unit.first as usize..unit.body as usize);
    let words = head.unwrap_or_default().iter();
    let is_marked = words
        .map_while(|token| {
            token
                .span()
                .of(&file.text)
                .filter(|word| !is_item_word(word))
        })
        .any(|word| word == "deprecated" || word.ends_with("_deprecated"));
    let is_function = matches!(
        unit.kind,
        UnitKind::Function | UnitKind::Method | UnitKind::Class
    );
    is_marked || (is_function && warns_of_itself(file, unit))
}

/// Whether what is declared begins with this word.
fn is_item_word(word: &str) -> bool {
    matches!(
        word,
        "def" | "fn" | "class" | "struct" | "impl" | "enum" | "trait" | "mod"
    )
}

/// Whether the first lines of a unit warn that it is deprecated.
fn warns_of_itself(file: &SourceFile, unit: &Unit) -> bool {
    let texts = file.lexicon().deprecation_texts;
    !texts.is_empty() && inside(file, unit).any(|line| texts.iter().any(|text| line.contains(text)))
}

/// Whether one of these lines says so, alone or with those behind it.
fn says_kept(lines: &[&str], place: &Place<'_>, places: &[Place<'_>]) -> bool {
    lines.iter().enumerate().any(|(at, line)| {
        let line = line.to_ascii_lowercase();
        let says = |words: &&str| line.contains(*words);
        let mut on_purpose = ON_PURPOSE.iter().filter(|words| says(words)).peekable();
        if on_purpose.peek().is_none() && !OF_ANOTHER.iter().any(says) {
            return false;
        }
        let context = lines.iter().skip(at).take(NAMED_WITHIN);
        let context: Vec<String> = context.map(|line| line.to_ascii_lowercase()).collect();
        let context = context.join(" ");
        let of_itself = |words: &str| {
            let of_something = |behind: &&str| context.contains(&format!("{words}{behind}"));
            !OF_SOMETHING.iter().any(of_something)
        };
        let is_outside = context.contains("://");
        (!is_outside && on_purpose.any(|words| of_itself(words)))
            || names_another(&context, place, places)
    })
}

/// Whether a text, in lower case, has a word by which another one of these places is called and this one is not.
fn names_another(context: &str, place: &Place<'_>, places: &[Place<'_>]) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: FxHashSet<&str> = context.split(|letter| !is_of_name(letter)).collect();
    let own = names_of(place);
    let others = places.iter().flat_map(names_of);
    let mut others = others.filter(|name| !own.contains(name));
    others.any(|name| words.contains(name.as_str()))
}

/// The words that a place is called by: folders, file, types and item, in lower case.
fn names_of((file, unit): &Place<'_>) -> FxHashSet<String> {
    let path = file.path.as_str();
    let path = path.rsplit_once('.').map_or(path, |(path, _)| path);
    let item = file.item_name(unit);
    let names = path.split('/').chain(item.split(['.', ':']));
    let told = names.filter(|name| name.len() >= SHORT_NAME);
    told.map(str::to_ascii_lowercase).collect()
}

/// The text before a unit and at its beginning.
#[must_use]
pub fn beginning<'f>(file: &'f SourceFile, unit: &Unit) -> &'f str {
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

#[cfg(test)]
mod tests {
    use super::*;
    use coalesce_model::{ByteSpan, Outline, OutlineUnit};

    /// A file that is one module, with a comment at its beginning.
    fn file(path: &str, comment: &str) -> SourceFile {
        let outline = Outline {
            tokens: Vec::new(),
            units: vec![OutlineUnit {
                kind: UnitKind::Module,
                name: ByteSpan::empty(0),
                parent: None,
                first: 0,
                body: 0,
                end: 0,
                lines: (1, 2),
            }],
        };
        let path = TreePath::new(path).expect("it is a path");
        let text = format!("# {comment}\nx = 1\n");
        SourceFile::new(path, &coalesce_python::Python, text.into(), &outline)
    }

    #[test]
    fn a_line_of_documentation_begins_with_what_goes() {
        for (line, expected) in [
            ("# Deprecated: use `other`.", true),
            ("    \"\"\"DEPRECATED, see other.", true),
            ("/// **Deprecated** since 2.0", true),
            ("// Deprecated", true),
            ("x = Deprecated(y)", false),
            ("# what is Deprecated here", false),
            ("# DeprecatedReader reads it.", false),
        ] {
            assert_eq!(begins_with_deprecation(line), expected, "{line}");
        }
    }

    #[test]
    fn a_copy_is_kept_where_a_comment_names_the_other_one() {
        let cases = [
            ("Copied from other.py, which cannot be imported.", true),
            ("Mirrors the host's reader.", true),
            ("Keep in sync with the other reader.", true),
            ("Keep these in sync.", true),
            ("Intentionally duplicated: it must not import much.", true),
            ("Copied from https://example.org/reader.py", false),
            ("Copied from the standard library.", false),
            ("Mirrors the API of upstream.", false),
            ("Keep in sync with upstream.", false),
            ("Duplicated here from https://example.org", false),
            ("Reads settings.", false),
        ];
        for (comment, expected) in cases {
            let (one, other) = (file("p/reader.py", comment), file("host/other.py", "x"));
            let places: Vec<Place<'_>> = [&one, &other]
                .into_iter()
                .filter_map(|file| Some((file, file.units.first()?)))
                .collect();
            let told = places.first().map(|place| is_kept(place, &places));
            assert_eq!(told, Some(expected), "{comment}");
        }
    }
}
