//! Writes down what is asked for and given back, one line of JSON each, for [`super::Replay`].
//!
//! Lines name blocks by the order of their allocation and streams by the order of their first use,
//! so that two runs of one program give the same log. There is no time in it.

use std::{
    collections::HashMap,
    io::Write,
    sync::{Arc, Mutex},
};

use core_gpu_driver::{Driver, DriverError, Stream, StreamId};
use serde::{Deserialize, Serialize};

use crate::{AllocError, Block, Resource, Source, adaptor::locked};

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "did", deny_unknown_fields)]
pub(crate) enum Line {
    /// A block was given out.
    Allocate {
        block: u64,
        bytes: u64,
        stream: u64,
        source: String,
    },
    /// A request was refused.
    Refuse {
        bytes: u64,
        stream: u64,
        source: String,
    },
    /// A block came back.
    Free { block: u64 },
}

struct Writing {
    to: Box<dyn Write + Send>,
    blocks: HashMap<u64, u64>,
    streams: HashMap<StreamId, u64>,
    next: u64,
    failed: Option<std::io::Error>,
}

impl Writing {
    fn stream(&mut self, id: StreamId) -> u64 {
        let next = self.streams.len() as u64;
        *self.streams.entry(id).or_insert(next)
    }

    fn line(&mut self, line: &Line) {
        let text = serde_json::to_string(line).expect("invariant: a line is strings and numbers");
        if self.failed.is_none()
            && let Err(error) = writeln!(self.to, "{text}")
        {
            self.failed = Some(error);
        }
    }
}

/// Logs what goes through it, a line for each request in the order in which they came. May be used
/// from several threads, which then wait for each other's lines.
pub struct Log {
    upstream: Arc<dyn Resource>,
    writing: Mutex<Writing>,
}

impl Log {
    /// Logs from now on. Writing happens on the thread that allocates or frees: buffer it.
    #[must_use]
    pub fn new(upstream: Arc<dyn Resource>, to: Box<dyn Write + Send>) -> Log {
        let writing = Writing {
            to,
            blocks: HashMap::new(),
            streams: HashMap::new(),
            next: 0,
            failed: None,
        };
        Log {
            upstream,
            writing: Mutex::new(writing),
        }
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// If that fails, or a line could not be written before: allocations do not fail for the log.
    pub fn flush(&self) -> std::io::Result<()> {
        let mut writing = locked(&self.writing);
        match writing.failed.take() {
            Some(error) => Err(error),
            None => writing.to.flush(),
        }
    }
}

impl Resource for Log {
    fn driver(&self) -> &Arc<dyn Driver> {
        self.upstream.driver()
    }

    fn allocate_block(&self, bytes: u64, on: &Stream, by: Source) -> Result<Block, AllocError> {
        let allocated = self.upstream.allocate_block(bytes, on, by);
        let mut writing = locked(&self.writing);
        let (stream, source) = (writing.stream(on.id()), by.name());
        match &allocated {
            Ok(given) => {
                let block = writing.next;
                writing.next += 1;
                writing.blocks.insert(given.span().address().get(), block);
                writing.line(&Line::Allocate {
                    block,
                    bytes,
                    stream,
                    source,
                });
            }
            Err(_) => writing.line(&Line::Refuse {
                bytes,
                stream,
                source,
            }),
        }
        drop(writing);
        allocated
    }

    fn free_block(&self, block: Block) -> Result<(), DriverError> {
        let mut writing = locked(&self.writing);
        if let Some(number) = writing.blocks.remove(&block.span().address().get()) {
            writing.line(&Line::Free { block: number });
        }
        drop(writing);
        self.upstream.free_block(block)
    }
}
