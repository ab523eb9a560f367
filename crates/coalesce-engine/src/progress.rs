//! What the engine is at, for whoever watches. Who that is, and how it is shown, is theirs to say.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

/// Somebody who watches long work. Called from many threads.
pub trait Watcher: fmt::Debug + Send + Sync {
    /// The next thing begins.
    fn show(&self, stage: &str);

    /// Nothing is under way any more, or something else is about to be written.
    fn clear(&self);
}

/// What a session is at. Shared freely between threads.
#[derive(Debug, Default)]
pub struct Progress {
    watcher: Option<Box<dyn Watcher>>,
    /// Whether something with many steps is told instead of its steps.
    held: AtomicBool,
}

/// Something with many steps: as long as this lives, its own stages are shown, not those of the steps.
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

impl Progress {
    /// Progress that nobody watches.
    #[must_use]
    pub fn silent() -> Self {
        Self::default()
    }

    /// Progress that `watcher` is told of.
    #[must_use]
    pub fn watched_by(watcher: impl Watcher + 'static) -> Self {
        Self {
            watcher: Some(Box::new(watcher)),
            held: AtomicBool::new(false),
        }
    }

    /// The next thing begins.
    pub fn stage(&self, stage: impl fmt::Display) {
        if !self.held.load(Ordering::Relaxed) {
            self.show(stage);
        }
    }

    /// Tells of something with many steps instead of those.
    #[must_use]
    pub fn overall(&self) -> Overall<'_> {
        self.held.store(true, Ordering::Relaxed);
        Overall(self)
    }

    fn show(&self, stage: impl fmt::Display) {
        if let Some(watcher) = &self.watcher {
            watcher.show(&stage.to_string());
        }
    }

    /// Nothing is under way any more, or something else is about to be written.
    pub fn end(&self) {
        if let Some(watcher) = &self.watcher {
            watcher.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Debug, Default)]
    struct Recorder(Arc<Mutex<Vec<String>>>);

    impl Watcher for Recorder {
        fn show(&self, stage: &str) {
            self.0.lock().unwrap().push(stage.to_owned());
        }

        fn clear(&self) {
            self.0.lock().unwrap().push("end".to_owned());
        }
    }

    #[test]
    fn the_steps_of_something_larger_are_not_told() {
        let recorder = Recorder::default();
        let progress = Progress::watched_by(recorder.clone());
        progress.stage("reading");
        {
            let overall = progress.overall();
            progress.stage("a step");
            overall.stage("trying entry 1");
        }
        progress.stage("writing");
        progress.end();
        let told = recorder.0.lock().unwrap().clone();
        assert_eq!(told, ["reading", "trying entry 1", "writing", "end"]);
        Progress::silent().stage("nobody hears");
    }
}
