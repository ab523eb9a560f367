//! What a pool and a worker say to each other: frames over a pair of sockets, of which the worker
//! has its end as descriptor 0. Any language can speak it; `examples/worker.py` does.
//!
//! A frame is its length (4 bytes, the lowest first, without themselves), a letter, and a body.
//!
//! | letter | from | body |
//! | --- | --- | --- |
//! | `H` | both, first the pool | JSON: `protocol`, `build`; the pool adds `worker`, the worker `process` |
//! | `X` | worker | text: why it does not work for this pool; then it ends |
//! | `T` | pool | number (8 bytes), length of the name (2 bytes), name, input |
//! | `R` | worker | number, output |
//! | `E` | worker | number, `f`ailed, `p`anicked, `u`nknown or too `l`arge an output (its length as text), text |
//!
//! A worker that reads the end of the stream ends. Numbers have the lowest byte first.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// The protocol's version.
pub const PROTOCOL: u32 = 1;
/// The largest body of a greeting, in bytes.
pub const MOST_GREETING: u64 = 1 << 20;
/// Letters of frames.
pub const GREETING: u8 = b'H';
pub const REFUSAL: u8 = b'X';
pub const TASK: u8 = b'T';
pub const RESULT: u8 = b'R';
pub const FAILURE: u8 = b'E';

/// What both say first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    pub protocol: u32,
    /// Empty: not to be compared.
    #[serde(default)]
    pub build: String,
    /// The worker's number in its pool.
    #[serde(default)]
    pub worker: usize,
    /// The worker's process.
    #[serde(default)]
    pub process: u32,
}

/// A frame as it came.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    pub letter: u8,
    pub body: Vec<u8>,
}

/// Why there is no frame.
#[derive(Debug)]
pub enum FrameError {
    /// The other end is closed.
    Closed,
    /// Nothing came, or nothing could be sent, in time.
    Late,
    /// It is longer than it may be.
    TooLarge(u64),
    /// It is no frame.
    Malformed(&'static str),
    Io(io::Error),
}

impl std::fmt::Display for FrameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection ended"),
            Self::Late => f.write_str("nothing came in time"),
            Self::TooLarge(bytes) => write!(f, "a frame of {bytes} bytes"),
            Self::Malformed(what) => write!(f, "not a frame: {what}"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

/// When to give up; never, without a moment.
#[derive(Clone, Copy, Debug)]
pub struct Until(pub Option<Instant>);

impl Until {
    /// Time that is left; `None` without an end. An error when there is none left.
    fn left(self) -> Result<Option<Duration>, FrameError> {
        let Some(moment) = self.0 else {
            return Ok(None);
        };
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(FrameError::Late);
        }
        Ok(Some(left))
    }
}

/// One end of the pair.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    most: u64,
}

impl Connection {
    /// `most` is the largest body, in bytes.
    pub fn new(stream: UnixStream, most: u64) -> Self {
        Self { stream, most }
    }

    /// Sends a frame of a letter and a body in parts.
    pub fn send(&mut self, letter: u8, parts: &[&[u8]], until: Until) -> Result<(), FrameError> {
        let body: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if body > self.most {
            return Err(FrameError::TooLarge(body));
        }
        let length = u32::try_from(body + 1).map_err(|_| FrameError::TooLarge(body))?;
        let [a, b, c, d] = length.to_le_bytes();
        self.write(&[a, b, c, d, letter], until)?;
        parts.iter().try_for_each(|part| self.write(part, until))
    }

    fn write(&mut self, mut bytes: &[u8], until: Until) -> Result<(), FrameError> {
        while !bytes.is_empty() {
            self.stream
                .set_write_timeout(until.left()?)
                .map_err(FrameError::Io)?;
            match self.stream.write(bytes) {
                Ok(0) => return Err(FrameError::Closed),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) => retry_or_fail(error)?,
            }
        }
        Ok(())
    }

    /// The next frame.
    pub fn receive(&mut self, until: Until) -> Result<Frame, FrameError> {
        let mut head = [0; 5];
        self.read(&mut head, until)?;
        let [a, b, c, d, letter] = head;
        let length = u64::from(u32::from_le_bytes([a, b, c, d]));
        let body = length
            .checked_sub(1)
            .ok_or(FrameError::Malformed("no letter"))?;
        if body > self.most {
            return Err(FrameError::TooLarge(body));
        }
        let size = usize::try_from(body).map_err(|_| FrameError::TooLarge(body))?;
        let mut bytes = vec![0; size];
        self.read(&mut bytes, until)?;
        Ok(Frame {
            letter,
            body: bytes,
        })
    }

    fn read(&mut self, mut to: &mut [u8], until: Until) -> Result<(), FrameError> {
        while !to.is_empty() {
            self.stream
                .set_read_timeout(until.left()?)
                .map_err(FrameError::Io)?;
            match self.stream.read(to) {
                Ok(0) => return Err(FrameError::Closed),
                Ok(count) => to = to.get_mut(count..).unwrap_or_default(),
                Err(error) => retry_or_fail(error)?,
            }
        }
        Ok(())
    }
}

/// A system call that was interrupted or ran out of time is asked about again: the caller's moment
/// decides.
fn retry_or_fail(error: io::Error) -> Result<(), FrameError> {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, Interrupted, TimedOut, WouldBlock};
    match error.kind() {
        Interrupted | TimedOut | WouldBlock => Ok(()),
        BrokenPipe | ConnectionReset => Err(FrameError::Closed),
        _ => Err(FrameError::Io(error)),
    }
}

/// A task as it is sent: its number and name before the input.
pub fn task_head(number: u64, name: &str) -> Option<Vec<u8>> {
    let length = u16::try_from(name.len()).ok()?;
    let mut head = Vec::with_capacity(10 + name.len());
    head.extend(number.to_le_bytes());
    head.extend(length.to_le_bytes());
    head.extend(name.as_bytes());
    Some(head)
}

/// Number, name and input of a task.
pub fn read_task(body: &[u8]) -> Option<(u64, &str, &[u8])> {
    let (number, rest) = read_number(body)?;
    let (length, rest) = rest.split_at_checked(2)?;
    let length = u16::from_le_bytes(length.try_into().ok()?);
    let (name, input) = rest.split_at_checked(usize::from(length))?;
    Some((number, std::str::from_utf8(name).ok()?, input))
}

/// The number that a body begins with, and what follows.
pub fn read_number(body: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = body.split_at_checked(8)?;
    Some((u64::from_le_bytes(number.try_into().ok()?), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(most: u64) -> (Connection, Connection) {
        let (one, other) = UnixStream::pair().unwrap();
        (Connection::new(one, most), Connection::new(other, most))
    }

    #[test]
    fn frames_arrive_as_they_were_sent() {
        let (mut one, mut other) = pair(1 << 20);
        let head = task_head(7, "name").unwrap();
        one.send(TASK, &[&head, b"input"], Until(None)).unwrap();
        one.send(RESULT, &[], Until(None)).unwrap();
        let frame = other.receive(Until(None)).unwrap();
        assert_eq!(frame.letter, TASK);
        assert_eq!(read_task(&frame.body), Some((7, "name", &b"input"[..])));
        assert_eq!(other.receive(Until(None)).unwrap().body, b"");
        drop(one);
        assert!(matches!(
            other.receive(Until(None)),
            Err(FrameError::Closed)
        ));
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let cases: &[(&[u8], &str)] = &[
            (&[0, 0, 0, 0, b'H'], "not a frame: no letter"),
            (&[255, 255, 255, 255, b'H'], "a frame of 4294967294 bytes"),
            (&[9, 0, 0, 0, b'H', 1], "the connection ended"),
        ];
        for (bytes, wanted) in cases {
            let (mut one, other) = pair(1000);
            let mut other = other.stream;
            other.write_all(bytes).unwrap();
            drop(other);
            let found = one.receive(Until(None)).unwrap_err();
            assert_eq!(found.to_string(), *wanted);
        }
        assert_eq!(read_task(&[0; 9]), None);
        assert_eq!(read_task(&[0, 0, 0, 0, 0, 0, 0, 0, 9, 0, b'x']), None);
    }

    #[test]
    fn waiting_has_an_end_in_both_directions() {
        let (mut one, _other) = pair(1 << 30);
        let soon = || Until(Some(Instant::now() + Duration::from_millis(20)));
        assert!(matches!(one.receive(soon()), Err(FrameError::Late)));
        let much = vec![0; 16 << 20];
        let sent = one.send(TASK, &[&much], soon());
        assert!(matches!(sent, Err(FrameError::Late)), "{sent:?}");
    }
}
