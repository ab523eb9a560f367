//! Events that nobody waits for any more, for the next recording: to make one and to end it are two
//! calls of the driver.

use std::sync::Arc;

use core_gpu_driver::{Driver, DriverError, Event, EventKind};

/// Events that are kept at most.
const MOST: usize = 256;

/// Events for order, of any device.
#[derive(Debug, Default)]
pub struct Events {
    idle: Vec<Event>,
    /// Events that were asked of drivers.
    pub made: u64,
}

impl Events {
    /// An event of that device. Whatever it was recorded for before is forgotten as it is recorded
    /// again; streams that wait for that go on waiting for it.
    pub fn take(&mut self, driver: &Arc<dyn Driver>) -> Result<Event, DriverError> {
        let id = driver.info().id;
        let fits = |event: &Event| event.driver().info().id == id;
        if let Some(place) = self.idle.iter().rposition(fits) {
            return Ok(self.idle.swap_remove(place));
        }
        self.made += 1;
        Event::new(driver, EventKind::Order)
    }

    /// Keeps events for the next ones. What is too much is handed back.
    pub fn keep(&mut self, events: impl IntoIterator<Item = Event>) -> Vec<Event> {
        let mut events = events.into_iter();
        let room = MOST.saturating_sub(self.idle.len());
        self.idle.extend(events.by_ref().take(room));
        events.collect()
    }

    /// Takes all out.
    pub fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.idle)
    }
}
