//! Says on the terminal what is going on, once it takes longer than one likes to wait.
//!
//! A thread of its own draws one line on standard error and takes it away again. Without somebody
//! to look at it there is no thread and no line. Counts and results are the pages' business.

use std::{
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::ProgressBar;

/// Nothing is said about what ends before that.
const DELAY: Duration = Duration::from_millis(500);
/// How often the line moves.
const TICK: Duration = Duration::from_millis(120);

/// What a command is at, for whoever watches. Shared freely between threads.
#[derive(Debug)]
pub struct Progress {
    watched: bool,
    /// Whether something with many steps has the line to itself.
    held: AtomicBool,
    line: Mutex<Option<Line>>,
}

/// Something with many steps: as long as this lives, its own line is shown, not those of the steps.
#[derive(Debug)]
pub struct Overall<'p>(&'p Progress);

impl Overall<'_> {
    /// The next step begins.
    pub fn stage(&self, stage: impl fmt::Display) {
        self.0.show(stage);
    }
}

impl Drop for Overall<'_> {
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::Relaxed);
    }
}

/// The thread that draws, and how it is told.
#[derive(Debug)]
struct Line {
    stages: Sender<String>,
    drawer: JoinHandle<()>,
}

impl Progress {
    /// Progress of one command; when nobody watches, nothing is ever drawn.
    #[must_use]
    pub const fn new(watched: bool) -> Self {
        Self {
            watched,
            held: AtomicBool::new(false),
            line: Mutex::new(None),
        }
    }

    /// The next thing begins.
    pub fn stage(&self, stage: impl fmt::Display) {
        if !self.held.load(Ordering::Relaxed) {
            self.show(stage);
        }
    }

    /// Gives the line to something with many steps.
    #[must_use]
    pub fn overall(&self) -> Overall<'_> {
        self.held.store(true, Ordering::Relaxed);
        Overall(self)
    }

    fn show(&self, stage: impl fmt::Display) {
        if !self.watched {
            return;
        }
        let mut line = self.line();
        let line = line.get_or_insert_with(Line::start);
        // A drawer that is gone has nothing to draw on; the work goes on without it.
        let _ = line.stages.send(stage.to_string());
    }

    /// Takes the line away, before something else is written there. The next stage draws anew.
    pub fn end(&self) {
        let line = self.line().take();
        if let Some(Line { stages, drawer }) = line {
            drop(stages);
            // Whether it could draw or not: it does not any more.
            let _ = drawer.join();
        }
    }

    fn line(&self) -> MutexGuard<'_, Option<Line>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

impl Line {
    fn start() -> Self {
        let (stages, told) = mpsc::channel();
        let drawer = thread::spawn(move || {
            if let Some(stage) = patience(&told, DELAY) {
                draw(stage, &told);
            }
        });
        Self { stages, drawer }
    }
}

/// Waits; the stage that is on then, or nothing if it was all over before.
fn patience(told: &Receiver<String>, delay: Duration) -> Option<String> {
    let begun = Instant::now();
    let mut stage = String::new();
    loop {
        match told.recv_timeout(delay.saturating_sub(begun.elapsed())) {
            Ok(next) => stage = next,
            Err(RecvTimeoutError::Timeout) => return Some(stage),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn draw(stage: String, told: &Receiver<String>) {
    let line = ProgressBar::new_spinner().with_message(stage);
    loop {
        match told.recv_timeout(TICK) {
            Ok(stage) => line.set_message(stage),
            Err(RecvTimeoutError::Timeout) => line.tick(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    line.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_in_time_is_never_drawn() {
        let (stages, told) = mpsc::channel();
        stages.send("reading".to_owned()).unwrap();
        drop(stages);
        assert_eq!(patience(&told, Duration::from_secs(3600)), None);
    }

    #[test]
    fn the_latest_stage_is_drawn() {
        let (stages, told) = mpsc::channel();
        for stage in ["reading", "resolving"] {
            stages.send(stage.to_owned()).unwrap();
        }
        let shown = patience(&told, Duration::from_millis(1));
        assert_eq!(shown.as_deref(), Some("resolving"));
    }

    #[test]
    fn nobody_watching_means_no_thread() {
        let progress = Progress::new(false);
        progress.stage("reading");
        assert!(progress.line().is_none());
        let progress = Progress::new(true);
        progress.stage("reading");
        assert!(progress.line().is_some());
        progress.end();
        assert!(progress.line().is_none());
    }
}
