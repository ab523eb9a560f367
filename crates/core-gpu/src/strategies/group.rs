//! Ranks as processes: all are started, and when one ends badly, or the time is over, all are ended.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use crate::workers::process::{Group, Standing, spawn};

use super::{GpuStrategy, error::StrategyError};

/// How a rank ended that somebody else waited for.
const GONE: &str = "has ended, and something else in this program has waited for it, or ignores the \
                    ends of its children, so that nobody knows how";
/// How often the ranks are looked at.
const LOOK: Duration = Duration::from_millis(5);

/// The processes of a group. Dropping it ends them all.
#[derive(Debug)]
pub struct RankGroup {
    ranks: Vec<Group>,
    done: Vec<bool>,
}

impl RankGroup {
    /// Starts one process for each worker of the strategy, with the variables that the worker's
    /// device and rank are known by. They die with this process, on Linux.
    ///
    /// # Errors
    /// [`StrategyError::Start`]; as [`GpuStrategy::device_for_worker`] fails.
    pub fn launch(
        strategy: &dyn GpuStrategy,
        mut command: impl FnMut(usize) -> Command,
    ) -> Result<Self, StrategyError> {
        let mut group = Self {
            ranks: Vec::new(),
            done: Vec::new(),
        };
        for rank in 0..strategy.num_workers() {
            let mut command = command(rank);
            command.envs(strategy.device_for_worker(rank)?.variables);
            let started = spawn(command).map_err(|error| StrategyError::Start {
                rank,
                why: error.to_string(),
            })?;
            group.ranks.push(started);
            group.done.push(false);
        }
        Ok(group)
    }

    /// The processes, by rank; `None` for those that have ended.
    #[must_use]
    pub fn processes(&self) -> Vec<Option<u32>> {
        let ranks = self.ranks.iter().zip(&self.done);
        ranks
            .map(|(rank, done)| rank.process().filter(|_| !done))
            .collect()
    }

    /// Waits until all ranks have ended well; a group of none has.
    ///
    /// # Errors
    /// [`StrategyError::RankDied`] as soon as one has not, [`StrategyError::Deadline`]. The others
    /// are ended then.
    pub fn wait(mut self, limit: Duration) -> Result<(), StrategyError> {
        let until = Instant::now().checked_add(limit);
        loop {
            self.look()?;
            if self.done.iter().all(|done| *done) {
                return Ok(());
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                let ranks = self.done.iter().enumerate();
                let ranks = ranks.filter(|(_, done)| !**done).map(|(rank, _)| rank);
                let ranks = ranks.collect();
                return Err(StrategyError::Deadline { limit, ranks });
            }
            std::thread::sleep(LOOK);
        }
    }

    fn look(&mut self) -> Result<(), StrategyError> {
        let others = self.ranks.len().saturating_sub(1);
        for (rank, (group, done)) in self.ranks.iter_mut().zip(&mut self.done).enumerate() {
            if *done {
                continue;
            }
            let how = match group.standing() {
                Standing::Running => continue,
                Standing::Ended(status) if status.success() => {
                    *done = true;
                    continue;
                }
                Standing::Ended(status) => format!("ended with {status}"),
                Standing::Gone => GONE.to_owned(),
            };
            return Err(StrategyError::RankDied { rank, how, others });
        }
        Ok(())
    }
}

impl Drop for RankGroup {
    fn drop(&mut self) {
        // All at once, and then one by one until they are gone.
        for rank in &self.ranks {
            rank.kill();
        }
        for rank in &mut self.ranks {
            rank.bury();
        }
    }
}
