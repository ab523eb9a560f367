//! What ranks and the place where they meet say to one another: a head of eight numbers, then bytes.

use std::io::{self, Read, Write};

/// The largest message that is taken, in bytes.
const LARGEST: u64 = 1 << 32;
/// A head's length in bytes.
const HEAD: usize = 8 * 8;

/// What a message is.
pub const HELLO: u64 = 0;
pub const COLLECTIVE: u64 = 1;
pub const GOODBYE: u64 = 2;
pub const ANSWER: u64 = 3;
/// Nobody asked: another rank is gone.
pub const NOTICE: u64 = 4;
/// One half of a message from one rank to another: its shape's kind says which, its root the other.
pub const POINT: u64 = 5;

/// A collective: all of it that must be the same on all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Which one.
    pub kind: u64,
    /// The type of its elements.
    pub element: u64,
    /// What is done with them.
    pub operation: u64,
    /// The rank that gives or gets, where there is one.
    pub root: u64,
    /// Elements that each rank gives.
    pub count: u64,
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub what: u64,
    /// Which of the rank's messages it is or answers.
    pub sequence: u64,
    /// For an answer, its code.
    pub code: u64,
    /// For a collective, which; for a greeting, who in `root` and how many in `count`.
    pub shape: Shape,
    /// Elements, words, or who greets.
    pub bytes: Vec<u8>,
}

impl Message {
    /// Writes it.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let Shape {
            kind,
            element,
            operation,
            root,
            count,
        } = self.shape;
        // Two small numbers in one word: the head is eight words.
        let what = (self.code << 32) | self.what;
        let length = self.bytes.len() as u64;
        let words = [
            what,
            self.sequence,
            kind,
            element,
            operation,
            root,
            count,
            length,
        ];
        let head: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        to.write_all(&head)?;
        to.write_all(&self.bytes)
    }

    /// Reads one.
    pub fn receive(from: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; HEAD];
        from.read_exact(&mut head)?;
        let mut words = head.chunks_exact(8).map(|word| {
            word.iter()
                .rev()
                .fold(0, |all, byte| (all << 8) | u64::from(*byte))
        });
        let mut next = || words.next().unwrap_or(0);
        let (what, sequence) = (next(), next());
        let shape = Shape {
            kind: next(),
            element: next(),
            operation: next(),
            root: next(),
            count: next(),
        };
        let length = next();
        if length > LARGEST {
            return Err(io::Error::other("a message that is too large"));
        }
        let mut bytes = Vec::new();
        from.take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Self {
            what: what & u64::from(u32::MAX),
            sequence,
            code: what >> 32,
            shape,
            bytes,
        })
    }
}
