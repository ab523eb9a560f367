//! Runs programs in turn and takes the median of what each needed.
//!
//! Every round runs each contender once, so that a busy machine is as busy for all of them. It
//! knows nothing of what is compared.

use std::{
    ffi::OsString,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use wait4::Wait4 as _;

/// A contender that took longer than this in the first round is not run again.
const LONG: Duration = Duration::from_secs(2);

/// One start of a program.
#[derive(Clone, Debug)]
pub struct Call {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The current directory of the call.
    pub directory: PathBuf,
    /// Variables that are set beside those of this process.
    pub environment: Vec<(String, OsString)>,
    /// The highest exit code that is an answer: linters end with 1 when they find something.
    pub highest_code: i32,
}

impl Call {
    /// A call of `program` in `directory`.
    pub fn new(program: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            directory: directory.into(),
            environment: Vec::new(),
            highest_code: 0,
        }
    }

    /// The call with more arguments.
    pub fn with<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// The call with a variable set.
    pub fn set(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// The call of a program that ends with 1 when it finds something.
    pub fn finds(mut self) -> Self {
        self.highest_code = 1;
        self
    }

    /// Runs it to its end; its output is dropped.
    pub fn run(&self) -> anyhow::Result<Figures> {
        let name = self.program.display();
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.directory)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let start = Instant::now();
        let mut child = command
            .spawn()
            .with_context(|| format!("failed to start {name}"))?;
        let said = child
            .stderr
            .take()
            .map(std::io::read_to_string)
            .transpose()?;
        let used = child.wait4()?;
        let wall = start.elapsed();
        ensure!(
            used.status
                .code()
                .is_some_and(|code| code <= self.highest_code),
            "{name} ended with {}: {}",
            used.status,
            said.unwrap_or_default()
        );
        Ok(Figures {
            wall: wall.as_secs_f64(),
            cpu: (used.rusage.utime + used.rusage.stime).as_secs_f64(),
            peak: used.rusage.maxrss as f64 / f64::from(1 << 20),
        })
    }
}

/// What one contender needed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Seconds from start to end.
    pub wall: f64,
    /// Seconds of all its processors together.
    pub cpu: f64,
    /// The most memory it held, in MiB. What this process held when it started the other counts,
    /// too, so nothing large is kept here.
    pub peak: f64,
}

/// A step that makes a tree ready for a round; it is not measured.
pub type Ready = Box<dyn Fn() -> anyhow::Result<()>>;

/// What is measured, and what makes it ready each time.
pub struct Contender {
    /// How it is called in the table.
    pub name: String,
    /// Run before each round.
    pub ready: Ready,
    /// What is measured.
    pub call: Call,
}

/// Runs the contenders in turn, `rounds` times and once before to warm up: the median of each, or
/// why it could not run.
pub fn race(contenders: &[Contender], rounds: usize) -> Vec<anyhow::Result<Figures>> {
    let mut lanes: Vec<anyhow::Result<Vec<Figures>>> =
        contenders.iter().map(|_| Ok(Vec::new())).collect();
    for round in 0..=rounds {
        for (contender, lane) in contenders.iter().zip(&mut lanes) {
            let Ok(taken) = lane else { continue };
            let long = |figures: &Figures| figures.wall > LONG.as_secs_f64();
            if taken.first().is_some_and(long) {
                continue;
            }
            match (contender.ready)().and_then(|()| contender.call.run()) {
                // The first round brings files into memory and fills caches.
                Ok(figures) if round > 0 || long(&figures) => taken.push(figures),
                Ok(_) => {}
                Err(error) => *lane = Err(error),
            }
        }
    }
    let lane = |lane: anyhow::Result<Vec<Figures>>| lane.map(|taken| median(&taken));
    lanes.into_iter().map(lane).collect()
}

fn median(taken: &[Figures]) -> Figures {
    let of = |field: fn(&Figures) -> f64| {
        let mut values: Vec<f64> = taken.iter().map(field).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let upper = values.get(middle).copied().unwrap_or_default();
        match values.get(middle.wrapping_sub(1)) {
            Some(lower) if values.len().is_multiple_of(2) => f64::midpoint(*lower, upper),
            _ => upper,
        }
    };
    Figures {
        wall: of(|figures| figures.wall),
        cpu: of(|figures| figures.cpu),
        peak: of(|figures| figures.peak),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_each_figure_is_taken_on_its_own() {
        let figures = |wall: f64, cpu: f64| Figures {
            wall,
            cpu,
            peak: 1.0,
        };
        for (taken, expected) in [
            (vec![], Figures::default()),
            (vec![figures(3.0, 1.0)], figures(3.0, 1.0)),
            (
                vec![figures(3.0, 1.0), figures(1.0, 2.0)],
                figures(2.0, 1.5),
            ),
            (
                vec![figures(3.0, 1.0), figures(1.0, 9.0), figures(2.0, 5.0)],
                figures(2.0, 5.0),
            ),
        ] {
            assert_eq!(median(&taken), expected, "{taken:?}");
        }
    }

    #[test]
    fn one_that_cannot_run_says_why_and_the_others_run_on() {
        let contender = |script: &str| Contender {
            name: "one".to_owned(),
            ready: Box::new(|| Ok(())),
            call: Call::new("sh", ".").with(["-c", script]).finds(),
        };
        let taken = race(&[contender("echo why >&2; exit 2"), contender("exit 1")], 2);
        let [Err(error), Ok(figures)] = taken.as_slice() else {
            panic!("{taken:?}");
        };
        assert!(format!("{error:#}").contains("why"), "{error:#}");
        assert!(figures.wall > 0.0);
    }
}
