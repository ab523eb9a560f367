//! Reads the catalogue.

use std::{collections::BTreeMap, sync::OnceLock};

use coalesce_model::LanguageKind;
use serde::Deserialize;

const TEXT: &str = include_str!("gpu.toml");

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Finds out what there is.
    Detect,
    /// Chooses a device.
    Select,
    /// Gets memory.
    Allocate,
    /// Keeps memory for later.
    Pool,
    /// Gives memory back.
    Release,
    /// Asks how much there is.
    Measure,
    /// Moves data between host and device.
    Transfer,
    /// Orders work.
    Stream,
    /// Takes times.
    Profile,
    /// Runs kernels.
    Launch,
    /// Computes with what a library offers.
    Compute,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Detect,
        Self::Select,
        Self::Allocate,
        Self::Pool,
        Self::Release,
        Self::Measure,
        Self::Transfer,
        Self::Stream,
        Self::Profile,
        Self::Launch,
        Self::Compute,
    ];

    /// As a verb.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Detect => "detect",
            Self::Select => "select",
            Self::Allocate => "allocate",
            Self::Pool => "pool",
            Self::Release => "release",
            Self::Measure => "measure",
            Self::Transfer => "transfer",
            Self::Stream => "stream",
            Self::Profile => "profile",
            Self::Launch => "launch",
            Self::Compute => "compute",
        }
    }
}

/// A library.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Package {
    /// As it is imported.
    pub name: String,
    /// Its language.
    pub language: LanguageKind,
    /// Names that people give it.
    pub aliases: Vec<String>,
    /// Patterns of full names by role. `name(text)` is a call that is given this text, as in
    /// `vectorize(target="cuda")`; it has no `*`.
    pub calls: BTreeMap<Role, Vec<String>>,
}

/// What should stand in one place.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IdiomRule {
    /// Its name.
    pub id: String,
    /// What is wrong with several of them.
    pub title: String,
    /// Where it applies; everywhere unless told.
    pub language: Option<LanguageKind>,
    /// What is looked at.
    pub unit: IdiomUnit,
    /// One of these roles must be there.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// One of these words must be in the unit's name.
    #[serde(default)]
    pub words: Vec<String>,
    /// And one of these.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// All of these words must be in its text.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Whether it says yes or no: it returns a truth value or sets a flag.
    #[serde(default)]
    pub answers: bool,
    /// Longer units do more than this.
    #[serde(default = "any_length")]
    pub most_lines: u32,
}

const fn any_length() -> u32 {
    u32::MAX
}

/// What an idiom is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdiomUnit {
    /// A `try` around imports.
    GuardedImport,
    /// A function or method.
    Function,
}

/// The catalogue.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Libraries.
    #[serde(rename = "package")]
    pub packages: Vec<Package>,
    /// Idioms.
    #[serde(rename = "idiom")]
    pub idioms: Vec<IdiomRule>,
}

/// Why a catalogue cannot be read.
pub type CatalogueError = toml::de::Error;

impl Catalogue {
    /// Reads a catalogue.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        toml::from_str(text)
    }

    /// The catalogue that comes with the program.
    #[must_use]
    pub fn built_in() -> &'static Self {
        static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
        CATALOGUE.get_or_init(|| {
            Self::parse(TEXT).expect("invariant: the embedded catalogue is read in a test")
        })
    }
}

impl Package {
    /// What a full name without the package is for; the most specific pattern decides.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<Role> {
        let fits = |(role, patterns): (&Role, &Vec<String>)| {
            let lengths = patterns.iter().filter(|pattern| matches(pattern, name));
            lengths.map(|pattern| (pattern.len(), *role)).max()
        };
        self.calls
            .iter()
            .filter_map(fits)
            .max()
            .map(|(_, role)| role)
    }
}

impl Package {
    /// What a call of a full name is for that is given these texts.
    #[must_use]
    pub fn role_of_call<'t>(
        &self,
        name: &str,
        mut texts: impl Iterator<Item = &'t str>,
    ) -> Option<Role> {
        let known = self.calls.iter().flat_map(|(role, patterns)| {
            let given = patterns
                .iter()
                .filter_map(|pattern| pattern.strip_suffix(')'));
            given.filter_map(|pattern| {
                let (called, text) = pattern.split_once('(')?;
                (called == name).then_some((text, *role))
            })
        });
        let known: Vec<(&str, Role)> = known.collect();
        texts.find_map(|given| {
            known
                .iter()
                .find(|(text, _)| *text == given)
                .map(|one| one.1)
        })
    }
}

/// Whether a name is what a pattern says; `*` stands for any part of it.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    name.strip_prefix(head).is_some_and(|name| {
        rest.is_empty()
            || name
                .char_indices()
                .any(|(at, _)| name.get(at..).is_some_and(|tail| matches(rest, tail)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_catalogue_can_be_read() {
        let catalogue = Catalogue::parse(TEXT).unwrap();
        assert!(catalogue.packages.len() > 15);
        assert!(catalogue.idioms.len() > 4);
    }

    #[test]
    fn the_longest_pattern_decides() {
        let catalogue = Catalogue::built_in();
        let package = |name: &str| {
            let mut packages = catalogue.packages.iter();
            packages.find(|package| package.name == name).unwrap()
        };
        for (name, call, role) in [
            ("cupy", "cuda.is_available", Some(Role::Detect)),
            ("cupy", "cuda.Stream.null", Some(Role::Stream)),
            ("cupy", "dot", None),
            ("numba", "vectorize", None),
            ("torch", "cuda.memory_allocated", Some(Role::Measure)),
            ("torch", ".cpu", Some(Role::Transfer)),
            ("cuml", "neighbors.NearestNeighbors", Some(Role::Compute)),
            ("cudarc", "driver::safe::device_count", Some(Role::Detect)),
        ] {
            assert_eq!(package(name).role(call), role, "{name} {call}");
        }
    }

    #[test]
    fn what_a_call_is_given_may_decide() {
        let mut packages = Catalogue::built_in().packages.iter();
        let numba = packages.find(|package| package.name == "numba").unwrap();
        let role = |texts: &[&'static str]| numba.role_of_call("vectorize", texts.iter().copied());
        assert_eq!(role(&["float32(float32)", "cuda"]), Some(Role::Launch));
        assert_eq!(role(&["float32(float32)", "parallel"]), None);
    }
}
