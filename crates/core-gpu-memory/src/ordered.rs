//! A buffer that several streams use in turn, each waiting for what it must: a reader for the last
//! writer, a writer for everybody. Whoever holds it sees to it that uses do not overlap wrongly.

use std::sync::Arc;

use core_gpu_driver::{Driver, DriverError, Event, EventKind, Stream, StreamId};

use crate::Buffer;

/// What a stream does with the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

#[derive(Debug)]
struct Use {
    stream: StreamId,
    event: Event,
}

/// A buffer and the events of those who used it.
#[derive(Debug)]
pub struct OrderedBuffer {
    /// Shared with who is using it, so that spans can borrow from what they hold.
    buffer: Arc<Buffer<u8>>,
    home: StreamId,
    written: Option<Use>,
    /// Reads since then, one for each stream.
    reads: Vec<Use>,
    /// Devices on which the end of a use could not be marked: they have to be waited for.
    unmarked: Vec<Arc<dyn Driver>>,
}

impl OrderedBuffer {
    /// A buffer that was allocated on `home` and not used yet.
    pub fn new(buffer: Buffer<u8>, home: &Stream) -> OrderedBuffer {
        OrderedBuffer {
            buffer: Arc::new(buffer),
            home: home.id(),
            written: None,
            reads: Vec::new(),
            unmarked: Vec::new(),
        }
    }

    pub fn bytes(&self) -> u64 {
        self.buffer.bytes()
    }

    /// Lets the stream use the bytes from now on. End it with [`OrderedBuffer::end`], and let go of
    /// the answer before.
    pub fn begin(&mut self, access: Access, on: &Stream) -> Result<Arc<Buffer<u8>>, DriverError> {
        while let Some(device) = self.unmarked.last() {
            device.synchronize()?;
            self.unmarked.pop();
        }
        let reads = self.reads.iter().filter(|_| access == Access::Write);
        for before in self.written.iter().chain(reads) {
            if before.stream != on.id() {
                on.wait(&before.event)?;
            }
        }
        if on.id() != self.home {
            self.buffer.used_on(on);
        }
        Ok(Arc::clone(&self.buffer))
    }

    /// What the stream has to do now is the end of its use.
    pub fn end(&mut self, access: Access, on: &Stream) {
        let stream = on.id();
        let recorded = self.event_for(access, stream, on).and_then(|event| {
            on.record(&event)?;
            Ok(event)
        });
        let Ok(event) = recorded else {
            self.unmarked.push(Arc::clone(on.driver()));
            return;
        };
        let used = Use { stream, event };
        match access {
            Access::Read => self.reads.push(used),
            Access::Write => self.written = Some(used),
        }
    }

    /// An event to record: one that the new use makes superfluous, or a new one.
    fn event_for(
        &mut self,
        access: Access,
        stream: StreamId,
        on: &Stream,
    ) -> Result<Event, DriverError> {
        let old = match access {
            Access::Read => {
                let same = self.reads.iter().position(|read| read.stream == stream);
                same.map(|index| self.reads.swap_remove(index))
            }
            Access::Write => self.reads.drain(..).chain(self.written.take()).last(),
        };
        match old {
            Some(used) if used.event.driver().info().id == on.driver().info().id => Ok(used.event),
            _ => Event::new(on.driver(), EventKind::Order),
        }
    }
}
