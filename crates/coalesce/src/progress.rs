//! Says on the terminal what is going on, once it takes longer than one likes to wait.
//!
//! A thread of its own draws one line on standard error and takes it away again. Counts and results
//! are the pages' business.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use coalesce_engine::Watcher;
use indicatif::ProgressBar;

/// Nothing is said about what ends before that.
const DELAY: Duration = Duration::from_millis(500);
/// How often the line moves.
const TICK: Duration = Duration::from_millis(120);

/// Shows on standard error what a command is at.
#[derive(Debug, Default)]
pub struct TerminalLine {
    line: Mutex<Option<Line>>,
}

/// The thread that draws, and how it is told.
#[derive(Debug)]
struct Line {
    stages: Sender<String>,
    drawer: JoinHandle<()>,
}

impl TerminalLine {
    fn line(&self) -> MutexGuard<'_, Option<Line>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for TerminalLine {
    fn show(&self, stage: &str) {
        let mut line = self.line();
        let line = line.get_or_insert_with(Line::start);
        // A drawer that is gone has nothing to draw on; the work goes on without it.
        let _ = line.stages.send(stage.to_owned());
    }

    /// Takes the line away, before something else is written there. The next stage draws anew.
    fn clear(&self) {
        let line = self.line().take();
        if let Some(Line { stages, drawer }) = line {
            drop(stages);
            // Whether it could draw or not: it does not any more.
            let _ = drawer.join();
        }
    }
}

impl Drop for TerminalLine {
    fn drop(&mut self) {
        self.clear();
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
    fn the_line_comes_with_the_first_stage_and_goes_at_the_end() {
        let line = TerminalLine::default();
        assert!(line.line().is_none());
        line.show("reading");
        assert!(line.line().is_some());
        line.clear();
        assert!(line.line().is_none());
    }
}
