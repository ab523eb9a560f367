//! What can go wrong with strategies, their groups, and meeting.

use std::time::Duration;

/// Why a strategy cannot be used, or not in this way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategyError {
    /// There is no strategy of that name.
    #[error("there is no strategy `{name}`; there are {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A strategy of that name is registered already.
    #[error("there is a strategy `{name}` already")]
    Registered {
        /// The name.
        name: String,
    },
    /// There are fewer workers.
    #[error("there is no worker {worker}: there are {workers}")]
    NoSuchWorker {
        /// The number asked for.
        worker: usize,
        /// How many there are.
        workers: usize,
    },
    /// The strategy needs devices, and there are too few.
    #[error("`{strategy}` needs {needed} devices, and there are {}{}", found.len(), reasons(rejected))]
    TooFewDevices {
        /// The strategy.
        strategy: &'static str,
        /// How many it needs.
        needed: usize,
        /// Those that count.
        found: Vec<String>,
        /// Those that do not, and why.
        rejected: Vec<(String, String)>,
    },
    /// Several workers on one device, for collectives that allow one rank a device.
    #[error(
        "{workers} workers for each device: NCCL refuses two ranks on one; take `single_gpu` or \
         `multi_gpu` for processes without collectives, or allow it with collectives of your own"
    )]
    RanksShareDevice {
        /// How many.
        workers: usize,
    },
    /// The strategy is not initialised, or not any more.
    #[error("`{strategy}` is not initialised")]
    NotInitialized {
        /// The strategy.
        strategy: &'static str,
    },
    /// The library for collectives is not there, or does not work.
    #[error("NCCL cannot be used: {why}")]
    Nccl {
        /// Why not.
        why: String,
    },
    /// The configuration asks for what cannot be.
    #[error("the setting `{setting}` cannot be {value}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// What it says.
        value: String,
    },
    /// The ranks could not meet.
    #[error(transparent)]
    Meeting(#[from] MeetingError),
    /// The environment does not say which rank this is.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A rank of the group ended, and the others were ended with it.
    #[error("rank {rank} {how}; the other {others} ranks were ended")]
    RankDied {
        /// Which one.
        rank: usize,
        /// How it ended.
        how: String,
        /// How many others there were.
        others: usize,
    },
    /// The group was not done in time, and was ended.
    #[error("the group was not done within {limit:?}: ranks {ranks:?} still ran")]
    Deadline {
        /// The limit.
        limit: Duration,
        /// Those that still ran.
        ranks: Vec<usize>,
    },
    /// The pool of workers could not be made.
    #[error("the workers were not started: {why}")]
    Workers {
        /// Why not.
        why: String,
    },
    /// A rank could not be started; those that were are ended.
    #[error("rank {rank} was not started: {why}")]
    Start {
        /// Which one.
        rank: usize,
        /// Why not.
        why: String,
    },
}

fn reasons(rejected: &[(String, String)]) -> String {
    let text: String = rejected
        .iter()
        .map(|(device, why)| format!("; {device} does not count: {why}"))
        .collect();
    text
}

/// Why ranks did not meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeetingError {
    /// The place to meet cannot be opened or reached.
    #[error("{address} cannot be used to meet: {why}")]
    Address {
        /// The address.
        address: String,
        /// Why not.
        why: String,
    },
    /// Not all came in time.
    #[error("not all ranks came within {limit:?}{}", missing_ranks(missing))]
    Deadline {
        /// The limit.
        limit: Duration,
        /// Those that did not come, where that is known.
        missing: Vec<usize>,
    },
    /// The other side does not know the secret, or says that this one does not.
    #[error("the secret is not the group's")]
    Secret,
    /// The group does not want this rank.
    #[error("refused: {why}")]
    Refused {
        /// Why not.
        why: String,
    },
    /// A rank that had come is gone before all were there.
    #[error("rank {rank} was there and is gone")]
    RankGone {
        /// Which one.
        rank: usize,
    },
    /// What came is not of the protocol.
    #[error("the other side said something else: {what}")]
    Malformed {
        /// What.
        what: &'static str,
    },
    /// What is to be exchanged is too long.
    #[error("{bytes} bytes are more than a rank may bring")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

fn missing_ranks(missing: &[usize]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    format!(": {missing:?} are missing")
}

/// What the environment does not say, or says wrongly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A variable that belongs to others is missing.
    #[error("{present} is set and {missing} is not")]
    Missing {
        /// One that is there.
        present: &'static str,
        /// One that is not.
        missing: &'static str,
    },
    /// A variable's value is none.
    #[error("{variable} cannot be `{value}`")]
    Value {
        /// Its name.
        variable: &'static str,
        /// What it says.
        value: String,
    },
    /// No launcher has started this process as a rank.
    #[error("this process is no rank: neither RANK nor SLURM_PROCID is set")]
    NoRank,
}
