//! Which rank a process is, as torchrun and Slurm say it in the environment, and as we say it to
//! ranks that we start: in torchrun's words, so that PyTorch in them understands.

use super::error::LaunchError;

/// The port where ranks meet when nothing says it: torchrun's own default is the one before.
const PORT: u16 = 29_501;

/// A process's place in its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Its number in the group.
    pub rank: usize,
    /// Its number on this machine: which of its devices is its own.
    pub local_rank: usize,
    /// How many ranks there are.
    pub world_size: usize,
    /// How many of them are on this machine.
    pub local_world_size: usize,
    /// Where ranks meet.
    pub master_address: String,
    /// The port there. `RANK` and the like are torchrun's, which has a store of its own on
    /// `MASTER_PORT`: ours is the port after it, or `CORE_GPU_RENDEZVOUS_PORT`.
    pub rendezvous_port: u16,
}

impl Launch {
    /// Reads variables through a function, so that they need not be the process's. Torchrun's go
    /// over Slurm's.
    ///
    /// # Errors
    /// [`LaunchError::NoRank`] when no launcher says anything.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, LaunchError> {
        let source = Source(&variable);
        if source.text("RANK").is_some() {
            return source.torchrun();
        }
        if source.text("SLURM_PROCID").is_some() {
            return source.slurm();
        }
        Err(LaunchError::NoRank)
    }

    /// Reads the environment of this process.
    ///
    /// # Errors
    /// As [`Launch::read`].
    pub fn from_environment() -> Result<Self, LaunchError> {
        Self::read(|name| std::env::var(name).ok())
    }

    /// The same in torchrun's variables.
    #[must_use]
    pub fn to_variables(&self) -> Vec<(String, String)> {
        let numbers = [
            ("RANK", self.rank),
            ("LOCAL_RANK", self.local_rank),
            ("WORLD_SIZE", self.world_size),
            ("LOCAL_WORLD_SIZE", self.local_world_size),
            // For PyTorch's own store, which rank 0 opens when nobody else has.
            (
                "MASTER_PORT",
                usize::from(self.rendezvous_port.wrapping_sub(1).max(1)),
            ),
            (
                "CORE_GPU_RENDEZVOUS_PORT",
                usize::from(self.rendezvous_port),
            ),
        ];
        let address = ("MASTER_ADDR".to_owned(), self.master_address.clone());
        numbers
            .iter()
            .map(|(name, number)| ((*name).to_owned(), number.to_string()))
            .chain([address])
            .collect()
    }

    fn checked(self, variable: &'static str) -> Result<Self, LaunchError> {
        let fits = self.rank < self.world_size && self.local_rank < self.local_world_size;
        if fits && self.local_world_size <= self.world_size {
            return Ok(self);
        }
        let value = format!(
            "rank {} of {}, {} of {} here",
            self.rank, self.world_size, self.local_rank, self.local_world_size
        );
        Err(LaunchError::Value { variable, value })
    }
}

struct Source<'v>(&'v dyn Fn(&str) -> Option<String>);

impl Source<'_> {
    fn text(&self, name: &str) -> Option<String> {
        (self.0)(name)
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
    }

    fn number(&self, name: &'static str) -> Result<Option<usize>, LaunchError> {
        let Some(value) = self.text(name) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(LaunchError::Value {
                variable: name,
                value,
            }),
        }
    }

    fn needed(&self, present: &'static str, name: &'static str) -> Result<usize, LaunchError> {
        let missing = LaunchError::Missing {
            present,
            missing: name,
        };
        self.number(name)?.ok_or(missing)
    }

    fn port(&self) -> Result<u16, LaunchError> {
        let own = self.number("CORE_GPU_RENDEZVOUS_PORT")?;
        let theirs = self.number("MASTER_PORT")?.map(|port| port + 1);
        let Some(port) = own.or(theirs) else {
            return Ok(PORT);
        };
        u16::try_from(port).map_err(|_| LaunchError::Value {
            variable: "MASTER_PORT",
            value: port.to_string(),
        })
    }

    fn torchrun(&self) -> Result<Launch, LaunchError> {
        let world_size = self.needed("RANK", "WORLD_SIZE")?;
        let rank = self.needed("RANK", "RANK")?;
        let launch = Launch {
            rank,
            // A launcher of one machine may leave these out.
            local_rank: self.number("LOCAL_RANK")?.unwrap_or(rank),
            world_size,
            local_world_size: self.number("LOCAL_WORLD_SIZE")?.unwrap_or(world_size),
            master_address: self
                .text("MASTER_ADDR")
                .unwrap_or_else(|| "127.0.0.1".to_owned()),
            rendezvous_port: self.port()?,
        };
        launch.checked("RANK")
    }

    fn slurm(&self) -> Result<Launch, LaunchError> {
        let world_size = self.needed("SLURM_PROCID", "SLURM_NTASKS")?;
        let local_rank = self.needed("SLURM_PROCID", "SLURM_LOCALID")?;
        let launch = Launch {
            rank: self.needed("SLURM_PROCID", "SLURM_PROCID")?,
            local_rank,
            world_size,
            local_world_size: self.slurm_tasks_here(world_size)?.max(local_rank + 1),
            master_address: self.slurm_master()?,
            rendezvous_port: self.port()?,
        };
        launch.checked("SLURM_PROCID")
    }

    /// How many tasks of the step are on this node. Devices say nothing of it: a task may have several.
    fn slurm_tasks_here(&self, world_size: usize) -> Result<usize, LaunchError> {
        let node = self.number("SLURM_NODEID")?.unwrap_or(0);
        // The step's own list; else the job's, where the step is as large as the job.
        for name in ["SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"] {
            let Some(text) = self.text(name) else {
                continue;
            };
            let value = || LaunchError::Value {
                variable: name,
                value: text.clone(),
            };
            let counts = tasks_per_node(&text).ok_or_else(value)?;
            let all = counts.iter().try_fold(0_usize, |all, (tasks, nodes)| {
                all.checked_add(tasks.checked_mul(*nodes)?)
            });
            if all == Some(world_size) {
                return at_node(&counts, node).ok_or_else(value);
            }
        }
        let nodes = self.number("SLURM_NNODES")?.unwrap_or(1).max(1);
        let per_node = self.number("SLURM_NTASKS_PER_NODE").unwrap_or(None);
        let evenly = world_size.div_ceil(nodes);
        // What was asked for of the job may not be what the step is.
        let fits = |tasks: &usize| tasks.checked_mul(nodes) == Some(world_size);
        Ok(per_node.filter(fits).unwrap_or(evenly))
    }

    /// The first node of the step, where rank 0 is, unless the job says where.
    fn slurm_master(&self) -> Result<String, LaunchError> {
        if let Some(address) = self.text("MASTER_ADDR") {
            return Ok(address);
        }
        for variable in ["SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"] {
            if let Some(value) = self.text(variable) {
                return first_node(&value).ok_or(LaunchError::Value { variable, value });
            }
        }
        Ok("127.0.0.1".to_owned())
    }
}

/// A list such as `2(x3),1`: so many tasks on each of so many nodes, in the order of the nodes.
fn tasks_per_node(list: &str) -> Option<Vec<(usize, usize)>> {
    let counts = list.split(',').map(|part| {
        let (tasks, nodes) = match part.split_once("(x") {
            Some((tasks, nodes)) => (tasks, nodes.strip_suffix(')')?.parse().ok()?),
            None => (part, 1),
        };
        Some((tasks.trim().parse().ok()?, nodes))
    });
    counts.collect()
}

/// The tasks of a node by its number.
fn at_node(counts: &[(usize, usize)], node: usize) -> Option<usize> {
    let mut before = 0_usize;
    for (tasks, nodes) in counts {
        before = before.checked_add(*nodes)?;
        if node < before {
            return Some(*tasks);
        }
    }
    None
}

/// The first name of a list such as `gpu[03-05,9],cpu1`.
fn first_node(list: &str) -> Option<String> {
    let (prefix, rest) = match list.split_once(['[', ',']) {
        None => return Some(list.to_owned()).filter(|name| !name.is_empty()),
        Some((name, _)) if list.as_bytes().get(name.len()) == Some(&b',') => {
            return Some(name.to_owned()).filter(|name| !name.is_empty());
        }
        Some(parts) => parts,
    };
    let (numbers, suffix) = rest.split_once(']')?;
    let first = numbers.split([',', '-']).next()?;
    if first.is_empty() || !first.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let suffix = suffix.split(',').next().unwrap_or_default();
    Some(format!("{prefix}{first}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Launch, LaunchError> {
        Launch::read(|name| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn launch(rank: usize, local: usize, world: usize, here: usize) -> Launch {
        Launch {
            rank,
            local_rank: local,
            world_size: world,
            local_world_size: here,
            master_address: "127.0.0.1".to_owned(),
            rendezvous_port: PORT,
        }
    }

    #[test]
    fn launchers_say_who_we_are() {
        let at = |address: &str, port, launch: Launch| Launch {
            master_address: address.to_owned(),
            rendezvous_port: port,
            ..launch
        };
        let cases: &[(&[(&str, &str)], Launch)] = &[
            (&[("RANK", "0"), ("WORLD_SIZE", "1")], launch(0, 0, 1, 1)),
            (
                &[
                    ("RANK", "5"),
                    ("WORLD_SIZE", "8"),
                    ("LOCAL_RANK", "1"),
                    ("LOCAL_WORLD_SIZE", "4"),
                    ("MASTER_ADDR", "node7"),
                    ("MASTER_PORT", "1234"),
                    ("SLURM_PROCID", "0"),
                ],
                at("node7", 1235, launch(5, 1, 8, 4)),
            ),
            (
                &[
                    ("RANK", "1"),
                    ("WORLD_SIZE", "2"),
                    ("MASTER_PORT", "1234"),
                    ("CORE_GPU_RENDEZVOUS_PORT", "99"),
                ],
                at("127.0.0.1", 99, launch(1, 1, 2, 2)),
            ),
            (
                &[
                    ("SLURM_PROCID", "6"),
                    ("SLURM_LOCALID", "2"),
                    ("SLURM_NTASKS", "8"),
                    ("SLURM_NNODES", "2"),
                    ("SLURM_JOB_NODELIST", "gpu[03-05,9]x,other"),
                ],
                at("gpu03x", PORT, launch(6, 2, 8, 4)),
            ),
        ];
        for (pairs, wanted) in cases {
            let found = read(pairs).unwrap();
            assert_eq!(found, *wanted, "{pairs:?}");
            let variables = found.to_variables();
            let again = Launch::read(|name| {
                let found = variables.iter().find(|(known, _)| known == name);
                found.map(|(_, value)| value.clone())
            });
            assert_eq!(again.unwrap(), *wanted);
        }
    }

    #[test]
    fn tasks_of_a_node_are_as_slurm_lists_them() {
        let at = |address: &str, launch: Launch| Launch {
            master_address: address.to_owned(),
            ..launch
        };
        let cases: &[(&[(&str, &str)], Launch)] = &[
            // `srun -N2 -n2 --gres=gpu:4`: devices are not tasks.
            (
                &[
                    ("SLURM_PROCID", "1"),
                    ("SLURM_LOCALID", "0"),
                    ("SLURM_NTASKS", "2"),
                    ("SLURM_NNODES", "2"),
                    ("SLURM_NODEID", "1"),
                    ("SLURM_GPUS_ON_NODE", "4"),
                    ("SLURM_STEP_TASKS_PER_NODE", "1(x2)"),
                ],
                launch(1, 0, 2, 1),
            ),
            // Nodes with different numbers of tasks, in a step of a larger job on other nodes.
            (
                &[
                    ("SLURM_PROCID", "6"),
                    ("SLURM_LOCALID", "0"),
                    ("SLURM_NTASKS", "7"),
                    ("SLURM_NNODES", "4"),
                    ("SLURM_NODEID", "3"),
                    ("SLURM_NTASKS_PER_NODE", "8"),
                    ("SLURM_TASKS_PER_NODE", "8(x6)"),
                    ("SLURM_STEP_TASKS_PER_NODE", "2(x3),1"),
                    ("SLURM_JOB_NODELIST", "gpu[1-6]"),
                    ("SLURM_STEP_NODELIST", "gpu[2-5]"),
                ],
                at("gpu2", launch(6, 0, 7, 1)),
            ),
            // The job's list, where the step is the job; what was asked for says nothing where it does not fit.
            (
                &[
                    ("SLURM_PROCID", "2"),
                    ("SLURM_LOCALID", "2"),
                    ("SLURM_NTASKS", "4"),
                    ("SLURM_NNODES", "2"),
                    ("SLURM_NTASKS_PER_NODE", "8"),
                    ("SLURM_TASKS_PER_NODE", "3,1"),
                ],
                launch(2, 2, 4, 3),
            ),
        ];
        for (pairs, wanted) in cases {
            assert_eq!(read(pairs).unwrap(), *wanted, "{pairs:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: &[(&[(&str, &str)], &str)] = &[
            (&[], "neither RANK nor SLURM_PROCID is set"),
            (&[("RANK", "0")], "RANK is set and WORLD_SIZE is not"),
            (
                &[("RANK", "two"), ("WORLD_SIZE", "2")],
                "RANK cannot be `two`",
            ),
            (
                &[("RANK", "2"), ("WORLD_SIZE", "2")],
                "RANK cannot be `rank 2 of 2",
            ),
            (
                &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")],
                "SLURM_PROCID is set and SLURM_LOCALID is not",
            ),
            (
                &[("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_PORT", "99999")],
                "MASTER_PORT cannot be `100000`",
            ),
            (
                &[
                    ("SLURM_PROCID", "0"),
                    ("SLURM_LOCALID", "0"),
                    ("SLURM_NTASKS", "2"),
                    ("SLURM_STEP_TASKS_PER_NODE", "2(x"),
                ],
                "SLURM_STEP_TASKS_PER_NODE cannot be `2(x`",
            ),
        ];
        for (pairs, wanted) in cases {
            let said = read(pairs).unwrap_err().to_string();
            assert!(said.contains(wanted), "{said}");
        }
    }

    #[test]
    fn the_first_node_of_a_list() {
        let cases = [
            ("node1", Some("node1")),
            ("node1,node2", Some("node1")),
            ("node[1-4]", Some("node1")),
            ("node[07,09-11]", Some("node07")),
            ("a,b[1-2]", Some("a")),
            ("rack[1-2]-gpu,x", Some("rack1-gpu")),
            ("", None),
            ("node[", None),
            ("node[]", None),
        ];
        for (list, wanted) in cases {
            assert_eq!(first_node(list).as_deref(), wanted, "{list}");
        }
    }
}
