//! All units of a tree side by side, with what is distinctive in each: its names, keys and numbers,
//! and how rare they are in code at large. What is rare in this tree does not enter: what two units
//! are to each other is the same whatever else there is.

use coalesce_model::{ByteSpan, LanguageKind, TokenClass, UnitKind, outline::marks};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::{hash::Hasher as _, sync::LazyLock};

use crate::{
    common, forwarders,
    likelihood::Fitted,
    source::{self, SourceFile, Token, Unit},
    substitution,
};

/// A name, key or number, and how much it says that two units share it: little for what is
/// everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Weighted {
    /// Its hash.
    pub id: u32,
    /// Its weight.
    pub weight: f32,
}

/// A unit of the corpus that is compared as text: a function, a method or a block.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Index into [`Corpus::files`].
    pub file: u32,
    /// Index into [`SourceFile::units`].
    pub unit: u32,
    /// Hash of its body with local names numbered in order of appearance.
    pub exact: u64,
    /// Hash of its body as it is written, messages included.
    pub literal: u64,
    /// Hash of its body without any words: what is one text with other words in it has the same.
    pub shape: u64,
    /// Distinct names, keys and numbers of the body that are not local, sorted.
    pub features: Vec<Weighted>,
    /// Distinct local names, sorted.
    pub locals: Vec<Weighted>,
    /// Distinct names of parameters, sorted.
    pub parameters: Vec<u32>,
    /// Tokens of the body.
    pub size: u32,
    /// Tokens of the body without statements that only keep a value: `self.x = x`, `super().f()`.
    pub work: u32,
    /// What the body consists of.
    pub composition: Composition,
    /// Whether the body calls something of the unit's own name.
    pub forwards: bool,
    /// Whether the body only hands on what it was given.
    pub delegates: bool,
    /// How many functions of a project have its name when two do.
    pub namesakes: u32,
    /// Whether somebody else chose its name: the language, or a trait.
    pub name_is_given: bool,
    /// Hash of the cases that a test is run with; 0 where there are none.
    pub cases: u32,
    /// Whether it is a test, or stands among tests.
    pub tests: bool,
    /// Whether it calls an interface of the catalogue: what this program is for.
    pub gpu: bool,
}

/// What a body consists of, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composition {
    /// Statements.
    pub statements: u32,
    /// Words that decide what runs: conditions, loops, what is caught, raised, asserted.
    pub control: u32,
    /// Places where a local name stands.
    pub locals: u32,
}

impl Composition {
    /// Nothing.
    pub const NONE: Self = Self {
        statements: 0,
        control: 0,
        locals: 0,
    };

    pub(crate) fn new(body: &[Token]) -> Self {
        let deciding = DECIDING_IDS.as_slice();
        let mut composition = Self::NONE;
        for token in body {
            composition.statements += u32::from(token.has(marks::STATEMENT));
            composition.locals += u32::from(token.has(marks::LOCAL));
            if token.class == TokenClass::Keyword {
                composition.control += u32::from(deciding.binary_search(&token.id).is_ok());
            }
        }
        composition
    }

    /// The less of each.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        Self {
            statements: self.statements.min(other.statements),
            control: self.control.min(other.control),
            locals: self.locals.min(other.locals),
        }
    }
}

/// Words that decide what runs.
const DECIDING: [&str; 12] = [
    "if", "elif", "for", "while", "loop", "match", "try", "except", "with", "raise", "assert",
    "yield",
];

/// Their numbers, sorted.
static DECIDING_IDS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let ids = DECIDING.iter().map(|word| source::id_of(word.as_bytes()));
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    ids
});

/// All files, and the units that are compared as text.
pub struct Corpus {
    /// Files, sorted by path.
    pub files: Vec<SourceFile>,
    /// Functions, methods and blocks, by file and place.
    pub entries: Vec<Entry>,
    /// What pairs are weighed by.
    pub fitted: Fitted,
}

impl Corpus {
    /// Puts files together; they are sorted here.
    #[must_use]
    pub fn new(mut files: Vec<SourceFile>) -> Self {
        // Kernels in strings stand in the file of their text.
        files.par_sort_by(|a, b| {
            (&a.path, a.language, a.start()).cmp(&(&b.path, b.language, b.start()))
        });
        let entries: Vec<Entry> = files
            .par_iter()
            .enumerate()
            .flat_map_iter(|(at, file)| entries_of(u32::try_from(at).unwrap_or(u32::MAX), file))
            .collect();
        Self {
            files,
            entries,
            fitted: Fitted::default(),
        }
    }

    /// The file of an entry.
    #[must_use]
    pub fn file(&self, entry: &Entry) -> &SourceFile {
        self.files
            .get(entry.file as usize)
            .expect("invariant: an entry was made from a file of this corpus")
    }

    /// The unit of an entry.
    #[must_use]
    pub fn unit(&self, entry: &Entry) -> &Unit {
        unit_of(&self.files, entry).expect("invariant: an entry was made from a unit of its file")
    }

    /// The tokens of an entry's body.
    #[must_use]
    pub fn body(&self, entry: &Entry) -> &[Token] {
        self.file(entry).body_of(self.unit(entry))
    }

    /// The language of an entry.
    #[must_use]
    pub fn language(&self, entry: &Entry) -> LanguageKind {
        self.file(entry).language
    }

    /// Notes which entries call an interface of the catalogue.
    pub fn note_gpu(&mut self, entries: &FxHashSet<u32>) {
        for (entry, at) in self.entries.iter_mut().zip(0..) {
            entry.gpu = entries.contains(&at);
        }
    }
}

fn unit_of<'f>(files: &'f [SourceFile], entry: &Entry) -> Option<&'f Unit> {
    files
        .get(entry.file as usize)?
        .units
        .get(entry.unit as usize)
}

fn entries_of(at: u32, file: &SourceFile) -> Vec<Entry> {
    let holds_functions = holding_functions(file);
    let compared = |(at, unit): &(usize, &Unit)| {
        unit.end > unit.body
            && !only_imports(file, unit)
            && match unit.kind {
                UnitKind::Function
                | UnitKind::Method
                | UnitKind::Block
                | UnitKind::GuardedImport => true,
                UnitKind::Class | UnitKind::Impl => holds_functions.get(*at) == Some(&false),
                UnitKind::Module | UnitKind::Imports => false,
            }
    };
    let units = file.units.iter().enumerate().filter(compared);
    let in_tests = is_test_file(file);
    units
        .map(|(index, unit)| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            entry((at, index), file, unit, in_tests)
        })
        .collect()
}

/// For each unit of a file whether a function stands in it and in nothing that is in it.
fn holding_functions(file: &SourceFile) -> Vec<bool> {
    let mut holds_functions = vec![false; file.units.len()];
    for unit in &file.units {
        let is_function = matches!(unit.kind, UnitKind::Function | UnitKind::Method);
        if let Some(parent) = unit.parent.filter(|_| is_function)
            && let Some(holds) = holds_functions.get_mut(parent as usize)
        {
            *holds = true;
        }
    }
    holds_functions
}

/// Whether a block imports and does nothing else, without a choice: two that need the same have the
/// same.
fn only_imports(file: &SourceFile, unit: &Unit) -> bool {
    let body = file.body_of(unit);
    let starts = || {
        body.iter()
            .skip(1)
            .filter(|token| token.has(marks::STATEMENT))
    };
    unit.kind == UnitKind::Block
        && starts().next().is_some()
        && starts().all(|token| token.has(marks::IMPORT))
}

/// The hashes of a body, and the names in it.
struct Words {
    exact: FxHasher,
    literal: FxHasher,
    shape: FxHasher,
    /// Distinct names, keys and numbers that are not local, sorted.
    features: Vec<u32>,
    /// Distinct local names, sorted.
    locals: Vec<u32>,
}

impl Words {
    fn new(body: &[Token]) -> Self {
        let mut features = Vec::with_capacity(body.len() / 3);
        let mut locals = Vec::with_capacity(body.len() / 4);
        let mut order = Order::default();
        let (mut exact, mut literal) = (FxHasher::default(), FxHasher::default());
        let mut shape = FxHasher::default();
        for token in body {
            literal.write_u32(token.id);
            let (kind, id) = substitution::kind(token);
            shape.write_u64(u64::from(kind) << 32 | u64::from(id));
            if token.has(marks::LOCAL) {
                locals.push(common::Role::Local.id(token.id));
                exact.write_usize(order.number(token.id));
            } else {
                exact.write_u32(token.blind());
            }
            features.extend(feature(token));
        }
        Self {
            exact,
            literal,
            shape,
            features: distinct(features),
            locals: distinct(locals),
        }
    }
}

/// Each once, sorted.
fn distinct(mut list: Vec<u32>) -> Vec<u32> {
    list.sort_unstable();
    list.dedup();
    list
}

fn entry(place: (u32, u32), file: &SourceFile, unit: &Unit, in_tests: bool) -> Entry {
    let body = file.body_of(unit);
    let mut words = Words::new(body);
    let head = file.tokens.get(unit.first as usize..unit.body as usize);
    let head = head.unwrap_or_default().iter();
    let parameters = head.filter(|token| token.has(marks::PARAMETER));
    let weighted = |list: &[u32]| -> Vec<Weighted> {
        let weighted = |id: &u32| Weighted {
            id: *id,
            weight: common::weight(file.language, *id),
        };
        list.iter().map(weighted).collect()
    };
    let is_function = matches!(unit.kind, UnitKind::Function | UnitKind::Method);
    let cases = cases(file, unit);
    words.exact.write_u32(cases);
    // Whether two types of one text are one depends on where they stand, so both are compared.
    if unit.kind == UnitKind::Class {
        words.exact.write_u32(unit.name);
    }
    Entry {
        work: work(file, body, is_function),
        composition: Composition::new(body),
        forwards: unit.name != 0 && words.features.binary_search(&unit.name).is_ok(),
        namesakes: common::namesakes(file.language, unit.name),
        delegates: is_function
            && (forwarders::is_delegation(file, unit) || forwarders::is_wiring(file, unit)),
        tests: in_tests || has_test_name(file, unit),
        gpu: false,
        name_is_given: is_function && name_is_given(file, unit),
        cases,
        file: place.0,
        unit: place.1,
        exact: words.exact.finish(),
        literal: words.literal.finish(),
        shape: words.shape.finish(),
        features: weighted(&words.features),
        locals: weighted(&words.locals),
        parameters: distinct(parameters.map(|token| token.id).collect()),
        size: u32::try_from(body.len()).unwrap_or(u32::MAX),
    }
}

/// Directories of tests.
const TEST_DIRECTORIES: [&str; 4] = ["test", "tests", "testing", "benches"];

/// Whether a unit is a test, or stands among tests: by its directory, its file, the names around it.
#[must_use]
pub fn is_test(file: &SourceFile, unit: &Unit) -> bool {
    is_test_file(file) || has_test_name(file, unit)
}

fn is_test_file(file: &SourceFile) -> bool {
    is_test_path(file.path.as_str())
}

/// Whether a path is one of tests.
#[must_use]
pub fn is_test_path(path: &str) -> bool {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut directories = directories.split('/');
    directories.any(|directory| TEST_DIRECTORIES.contains(&directory))
        || name.starts_with("test_")
        || name.ends_with("_test.py")
        || name == "tests.rs"
}

/// Whether its name, or one around it, begins as those of tests do.
fn has_test_name(file: &SourceFile, unit: &Unit) -> bool {
    let mut next = Some(unit);
    while let Some(unit) = next {
        let name = unit.name_span.of(&file.text).unwrap_or("");
        if name.starts_with("test") {
            return true;
        }
        next = unit.parent.and_then(|at| file.units.get(at as usize));
    }
    false
}

/// Numbers for local names in the order in which they appear. Most functions have few, for which a
/// list is quickest; generated ones have thousands.
#[derive(Default)]
struct Order {
    few: Vec<u32>,
    many: FxHashMap<u32, usize>,
}

impl Order {
    const FEW: usize = 32;

    fn number(&mut self, id: u32) -> usize {
        if let Some(number) = self.few.iter().position(|known| *known == id) {
            return number;
        }
        if self.few.len() < Self::FEW {
            self.few.push(id);
            return self.few.len() - 1;
        }
        let next = Self::FEW + self.many.len();
        *self.many.entry(id).or_insert(next)
    }
}

/// Words of decorators and attributes that give a test its cases.
const CASES: [&str; 5] = ["parametrize", "case", "test_case", "data", "values"];

/// A hash of the cases that stand before a test, which are what it does, however short its body is;
/// 0 for all other functions.
fn cases(file: &SourceFile, unit: &Unit) -> u32 {
    let head = file.tokens.get(unit.first as usize..unit.body as usize);
    let head = head.unwrap_or_default();
    let before = head.iter().take_while(|token| !token.has(marks::DEFINED));
    let word = |token: &Token| token.span().of(&file.text).unwrap_or("");
    let decorated = head
        .first()
        .is_some_and(|first| matches!(word(first), "@" | "#"));
    if !decorated || !before.clone().any(|token| CASES.contains(&word(token))) {
        return 0;
    }
    let mut hasher = FxHasher::default();
    for token in before {
        hasher.write_u32(token.id);
    }
    let hash = hasher.finish();
    u32::try_from((hash ^ (hash >> 32)) & 0xffff_ffff)
        .unwrap_or(1)
        .max(1)
}

/// Whether a method has the name that the language or a trait asks for: `__eq__`, or a function of
/// `impl Trait for Type`. That others have the same name says nothing of what it does.
fn name_is_given(file: &SourceFile, unit: &Unit) -> bool {
    let name = unit.name_span.of(&file.text).unwrap_or("");
    if file.grammar.is_given_name(name) {
        return true;
    }
    let parent = unit.parent.and_then(|at| file.units.get(at as usize));
    let Some(parent) = parent.filter(|parent| parent.kind == UnitKind::Impl) else {
        return false;
    };
    let head = file.tokens.get(parent.first as usize..parent.body as usize);
    let mut head = head.unwrap_or_default().iter();
    head.any(|token| token.span().of(&file.text) == Some("for"))
}

/// Tokens without those of statements that only keep a value or call the parent; in functions also
/// without those that only name a constant.
fn work(file: &SourceFile, body: &[Token], is_function: bool) -> u32 {
    let mut tokens = 0;
    let mut rest = body;
    while !rest.is_empty() {
        let more = rest.iter().skip(1);
        let end = more
            .take_while(|token| !token.has(marks::STATEMENT))
            .count()
            + 1;
        let (statement, behind) = rest.split_at(end);
        let names = is_function && names_constant(file, statement);
        if !names && !keeps_value(file, statement) {
            tokens += statement.len();
        }
        rest = behind;
    }
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// Whether a statement gives a name to something that stands there: `kinds = ["one", "two"]`.
fn names_constant(file: &SourceFile, statement: &[Token]) -> bool {
    let word = |token: &Token| token.span().of(&file.text).unwrap_or("");
    let [name, equals, value @ ..] = statement else {
        return false;
    };
    let is_constant = |token: &Token| match token.class {
        TokenClass::Number | TokenClass::Key | TokenClass::Prose => true,
        TokenClass::Keyword => matches!(word(token), "True" | "False" | "None"),
        TokenClass::Word => !token.has(marks::LOCAL) && !token.has(marks::CALLEE),
        TokenClass::Punct => matches!(word(token), "(" | ")" | "[" | "]" | "," | "."),
    };
    name.has(marks::LOCAL) && word(equals) == "=" && value.iter().all(is_constant)
}

fn keeps_value(file: &SourceFile, statement: &[Token]) -> bool {
    let word = |at: usize| ByteSpan::text_under(statement.get(at).map(Token::span), &file.text);
    if word(0) == "super" {
        return true;
    }
    // What ends the function counts to its last statement: `self.x = x.into(); self }`.
    let ends = |at: &usize| matches!(word(*at), ";" | "}" | "self");
    let mut length = statement.len();
    while length.checked_sub(1).is_some_and(|last| ends(&last)) {
        length -= 1;
    }
    if length == 0 {
        return true;
    }
    let value = statement.get(4);
    let is_plain = value.is_some_and(|token| token.class != TokenClass::Punct);
    let converts = length == 9 && (word(5), word(6)) == (".", "into");
    let sets = (word(0), word(1), word(3)) == ("self", ".", "=");
    sets && is_plain && (length == 5 || converts)
}

/// What a token says about its unit: names that are not local, keys and numbers.
fn feature(token: &Token) -> Option<u32> {
    let role = common::Role::of(token).filter(|role| *role != common::Role::Local)?;
    Some(role.id(token.id))
}

/// Counts by hash, in one table without keys: what shares a place counts together, which only makes
/// it look more common.
pub struct Counts {
    table: Vec<u32>,
    mask: usize,
}

impl Counts {
    /// Room for so many different things.
    #[must_use]
    pub fn new(expected: usize) -> Self {
        let size = expected.next_power_of_two().clamp(1 << 10, 1 << 26);
        Self {
            table: vec![0; size],
            mask: size - 1,
        }
    }

    const fn place(&self, id: u32) -> usize {
        (id.wrapping_mul(0x9e37_79b1) >> 3) as usize & self.mask
    }

    /// Counts one.
    pub fn add(&mut self, id: u32) {
        let place = self.place(id);
        if let Some(count) = self.table.get_mut(place) {
            *count = count.saturating_add(1);
        }
    }

    /// How often it was counted.
    #[must_use]
    pub fn get(&self, id: u32) -> u32 {
        self.table.get(self.place(id)).copied().unwrap_or(0)
    }
}
