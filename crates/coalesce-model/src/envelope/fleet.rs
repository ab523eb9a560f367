//! What `fleet` says of many repositories.

use schemars::JsonSchema;
use serde::Serialize;

use super::{DifferenceAspect, Share};

/// What `fleet` found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fleet {
    /// What answered the query.
    pub engine: String,
    /// Repositories that have rows.
    pub repositories: usize,
    /// Units of all of them.
    pub units: u64,
    /// Pairs of different texts that the query named.
    pub candidates: usize,
    /// Those of them that were compared.
    pub compared: usize,
    /// Files of candidates that are gone, or have changed since their rows were written: what is said of
    /// them is by what is the same token by token alone.
    pub unread_files: usize,
    /// Repositories that share code, those that share most first.
    pub pairs: Vec<RepositoryPair>,
    /// What was copied, most lines first.
    pub copies: Vec<FleetCopy>,
}

/// Two repositories that share code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RepositoryPair {
    /// Both names.
    pub repositories: [String; 2],
    /// Lines of functions that both have.
    pub lines: u64,
    /// Of the lines of functions of the smaller one, those that the other one has.
    pub share: Share,
    /// Modules that both have.
    pub modules: usize,
}

/// What several repositories have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FleetCopy {
    /// Whether it is a module, most of whose functions all members have; else a function or type.
    pub module: bool,
    /// Where it stands.
    pub members: Vec<FleetMember>,
    /// Lines that all members but one have.
    pub lines: u64,
    /// Of the lines of the smaller one of two members, those that the other one has: the least.
    pub share: Share,
    /// Whether nothing but local names and messages differs in what was compared.
    pub same: bool,
    /// What members have that the first one has not, or the other way round.
    pub differences: Vec<FleetDifference>,
    /// Members that are behind, as far as something tells it.
    pub behind: Vec<Behind>,
}

/// One place of a copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct FleetMember {
    /// Its repository.
    pub repository: String,
    /// Its file there.
    pub path: String,
    /// Its name in the file; empty for modules.
    pub item: String,
    /// First and last line, 1-based; none for modules.
    pub lines: Option<[u32; 2]>,
    /// The commit of the repository.
    pub commit: Option<String>,
    /// When the file was last changed, in seconds since 1970, as its commits tell.
    pub changed: Option<i64>,
}

/// Something that one member has and the first member has not, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FleetDifference {
    /// The member that is compared with the first one.
    pub member: usize,
    /// Whether it is the first one that has it.
    pub in_first: bool,
    /// What it is about.
    pub aspect: DifferenceAspect,
    /// Line in the file of the one that has it, 1-based.
    pub line: u32,
    /// The text, on one line and cut where it is long.
    pub text: String,
}

/// A member that lacks what another one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Behind {
    /// Which.
    pub member: usize,
    /// Whether commits tell it, which say that the first member was changed later; else it has nothing that
    /// the first one lacks.
    pub by_date: bool,
}
