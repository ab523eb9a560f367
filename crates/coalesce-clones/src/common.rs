//! How common words are in code at large, so that what two texts have in common weighs the same
//! whatever else stands in their tree.
//!
//! `common.tsv` has, for each language, the words that stand in many units of several unrelated public
//! projects, and in how many of a hundred thousand; each project counts as much as any other.
//! `cargo xtask words` makes it. A word that is not in it is rare: it was made for what it names.

use std::sync::LazyLock;

use coalesce_model::{LanguageKind, TokenClass, outline::marks};
use rustc_hash::FxHashMap;

use crate::source::{Token, id_of};

const TEXT: &str = include_str!("common.tsv");

/// Units of which the table says how many have a word.
pub const UNITS: u32 = 100_000;
/// A word that stands in fewer of them is not in the table.
pub const FEWEST: u32 = 20;
/// The weight of what is in every unit.
const LEAST_WEIGHT: f32 = 0.1;
/// Functions of a project of ordinary size.
const PROJECT: u32 = 10_000;

/// What a word does in its unit; the same text counts apart for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It names something from outside of the unit.
    Name,
    /// A string without spaces.
    Key,
    /// A number.
    Number,
    /// It names something that the unit declares.
    Local,
    /// It is the name of a function.
    Function,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Name,
        Self::Key,
        Self::Number,
        Self::Local,
        Self::Function,
    ];

    /// The role of a token of a body; `None` for what is no word.
    #[must_use]
    pub const fn of(token: &Token) -> Option<Self> {
        match token.class {
            TokenClass::Word if token.has(marks::LOCAL) => Some(Self::Local),
            TokenClass::Word => Some(Self::Name),
            TokenClass::Key => Some(Self::Key),
            TokenClass::Number => Some(Self::Number),
            _ => None,
        }
    }

    /// As the table has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Key => "key",
            Self::Number => "number",
            Self::Local => "local",
            Self::Function => "function",
        }
    }

    /// Parts the same text in different roles.
    const fn bits(self) -> u32 {
        match self {
            Self::Name => 0,
            Self::Key => 0x9e37_79b9,
            Self::Number => 0x85eb_ca6b,
            Self::Local => 0xc2b2_ae35,
            Self::Function => 0x27d4_eb2f,
        }
    }

    /// The number of a word in this role.
    #[must_use]
    pub const fn id(self, word: u32) -> u32 {
        word ^ self.bits()
    }
}

/// The words of one language, by their numbers: in how many of [`UNITS`] they are.
type Table = FxHashMap<u32, u32>;

static TABLES: LazyLock<[Table; LanguageKind::ALL.len()]> =
    LazyLock::new(|| LanguageKind::ALL.map(|language| read(TEXT, language)));

fn read(text: &str, language: LanguageKind) -> Table {
    let own = language.as_str();
    let row = |line: &str| {
        let mut fields = line.split('\t');
        if fields.next()? != own {
            return None;
        }
        let (role, count, word) = (fields.next()?, fields.next()?, fields.next()?);
        let role = Role::ALL.into_iter().find(|known| known.as_str() == role)?;
        Some((role.id(id_of(word.as_bytes())), count.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// In how many of [`UNITS`] a word is; 0 for one that is rare. `id` is of [`Role::id`].
#[must_use]
pub fn count(language: LanguageKind, id: u32) -> u32 {
    let table = LanguageKind::ALL.iter().position(|own| *own == language);
    let table = table.and_then(|at| TABLES.get(at));
    table.and_then(|table| table.get(&id)).copied().unwrap_or(0)
}

/// How much it says that two units share a word: little for what is everywhere. `id` is of
/// [`Role::id`].
#[must_use]
pub fn weight(language: LanguageKind, id: u32) -> f32 {
    let count = count(language, id).max(FEWEST);
    (UNITS as f32 / count as f32).ln().max(0.0) + LEAST_WEIGHT
}

/// How many functions of a project of ordinary size have a name when two of them do: 2 for one that
/// was made for what it names, many for one that everybody gives.
#[must_use]
pub fn namesakes(language: LanguageKind, name: u32) -> u32 {
    2 + count(language, Role::Function.id(name)) / (UNITS / PROJECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read() {
        let rows = TEXT.lines().filter(|line| !line.starts_with('#')).count();
        let read: usize = TABLES.iter().map(FxHashMap::len).sum();
        assert_eq!(read, rows);
        assert!(rows > 1000);
    }

    #[test]
    fn what_is_everywhere_says_less_than_what_is_nowhere() {
        let weight = |role: Role, word: &str| {
            let id = role.id(id_of(word.as_bytes()));
            weight(LanguageKind::Python, id)
        };
        assert!(weight(Role::Name, "len") < weight(Role::Name, "eigenvalues_of_covariance"));
        assert!(weight(Role::Number, "0") < weight(Role::Number, "6174"));
        let namesakes = |word: &str| namesakes(LanguageKind::Python, id_of(word.as_bytes()));
        assert_eq!(namesakes("compute_covariance_eigenvalues"), 2);
        assert!(namesakes("forward") > 24);
    }
}
