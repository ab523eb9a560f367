//! Runs a log again on any resource: to compare pools, and to make a bug happen twice.

use std::{collections::HashMap, sync::Arc};

use core_gpu_driver::{DriverError, Stream, StreamKind};

use crate::{Buffer, Resource, Source, adaptor::log::Line};

/// Why a log cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A line is not one of a log.
    #[error("line {line_number} of the log: {why}")]
    Line {
        /// Number of the line, from one.
        line_number: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A stream could not be made.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// What happened when a log was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplayOutcome {
    /// Requests that were served.
    pub served: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Requests that the log says were refused, and were not asked for again.
    pub refused_before: u64,
    /// The most bytes in use at once, as they were asked for.
    pub peak_bytes: u64,
}

/// A log, read. Plain data: running it allocates on the streams that it makes, on one thread.
#[derive(Debug)]
pub struct Replay {
    lines: Vec<Line>,
}

impl Replay {
    /// Reads what [`super::Log`] wrote.
    ///
    /// # Errors
    /// At the first line that is not one of a log.
    pub fn parse(text: &str) -> Result<Replay, ReplayError> {
        let numbered = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.is_empty());
        let lines = numbered.map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| ReplayError::Line {
                line_number: index + 1,
                why: error.to_string(),
            })
        });
        Ok(Replay {
            lines: lines.collect::<Result<_, _>>()?,
        })
    }

    /// Does everything again, in one thread, on streams of its own.
    ///
    /// # Errors
    /// If a stream cannot be made. A refused request is no error; it is counted.
    pub fn run(&self, resource: &Arc<dyn Resource>) -> Result<ReplayOutcome, ReplayError> {
        let mut outcome = ReplayOutcome::default();
        let mut live: HashMap<u64, Buffer<u8>> = HashMap::new();
        let mut streams: HashMap<u64, Stream> = HashMap::new();
        let mut bytes_in_use = 0;
        for line in &self.lines {
            match line {
                Line::Allocate {
                    block,
                    bytes,
                    stream,
                    source,
                } => {
                    if !streams.contains_key(stream) {
                        let made = Stream::new(resource.driver(), StreamKind::NonBlocking)?;
                        streams.insert(*stream, made);
                    }
                    let length = usize::try_from(*bytes).unwrap_or(usize::MAX);
                    let by = Source::named(source);
                    match Buffer::allocate_from(resource, length, &streams[stream], by) {
                        Ok(buffer) => {
                            bytes_in_use += *bytes;
                            outcome.served += 1;
                            outcome.peak_bytes = outcome.peak_bytes.max(bytes_in_use);
                            live.insert(*block, buffer);
                        }
                        Err(_) => outcome.refused += 1,
                    }
                }
                Line::Refuse { .. } => outcome.refused_before += 1,
                Line::Free { block } => {
                    let buffer = live.remove(block);
                    bytes_in_use -= buffer.map_or(0, |buffer| buffer.bytes());
                }
            }
        }
        Ok(outcome)
    }
}
