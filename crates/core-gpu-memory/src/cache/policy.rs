//! Which entry of a cache goes first: the one whose return costs least for the room it takes,
//! weighed by how often it was wanted. What was valuable long ago loses against what is now,
//! because the floor rises with every eviction (GreedyDual-Size-Frequency).
//!
//! It knows numbers only: no keys, no memory.

use std::collections::BTreeSet;

/// The rank of an entry: the lowest goes first. Unique within a policy.
pub type Rank = (u64, u64);

/// What is known of one entry.
#[derive(Debug, Clone, Copy)]
pub struct Worth {
    pub bytes: u64,
    /// What it costs to bring it back, in any unit, the same for all.
    pub cost: f64,
    /// How often it was wanted.
    pub frequency: u64,
}

/// Ranks of what may go.
#[derive(Debug, Default)]
pub struct Policy {
    ranks: BTreeSet<Rank>,
    floor: f64,
    next: u64,
}

impl Policy {
    /// Ranks an entry anew; take its old rank out first.
    pub fn rank(&mut self, worth: Worth) -> Rank {
        let value = worth.cost.max(f64::MIN_POSITIVE) * worth.frequency.max(1) as f64;
        let priority = self.floor + value / worth.bytes.max(1) as f64;
        // Numbers that are not negative sort as their bits do.
        let rank = (priority.to_bits(), self.next);
        self.next += 1;
        self.ranks.insert(rank);
        rank
    }

    /// Takes a rank out, for an entry that is gone or may not go.
    pub fn forget(&mut self, rank: Rank) {
        self.ranks.remove(&rank);
    }

    /// All ranks, the first to go first.
    pub fn in_order(&self) -> impl Iterator<Item = Rank> + '_ {
        self.ranks.iter().copied()
    }

    /// An entry of this rank goes: what comes from now on is worth at least as much.
    pub fn evicted(&mut self, rank: Rank) {
        self.ranks.remove(&rank);
        self.floor = self.floor.max(f64::from_bits(rank.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_for_its_room_goes_first() {
        let worth = |bytes, cost, frequency| Worth {
            bytes,
            cost,
            frequency,
        };
        // In the order in which they must go.
        let cases = [
            worth(1000, 1.0, 1),
            worth(100, 1.0, 1),
            worth(100, 1.0, 5),
            worth(100, 9.0, 5),
        ];
        let mut policy = Policy::default();
        let mut ranks: Vec<_> = cases
            .iter()
            .rev()
            .map(|worth| policy.rank(*worth))
            .collect();
        ranks.reverse();
        assert!(policy.in_order().eq(ranks));
    }

    #[test]
    fn what_was_wanted_long_ago_goes_in_the_end() {
        let mut policy = Policy::default();
        let old = policy.rank(Worth {
            bytes: 1,
            cost: 10.0,
            frequency: 1,
        });
        for _ in 0..20 {
            let first = policy.rank(Worth {
                bytes: 1,
                cost: 1.0,
                frequency: 1,
            });
            let goes = policy.in_order().next().unwrap();
            policy.evicted(goes);
            if goes == old {
                assert!(policy.in_order().eq([first]));
                return;
            }
        }
        unreachable!("it never went");
    }
}
