//! Messages of the protocol over a stream, of a length that is bounded.
//!
//! The protocol's library makes room for as many bytes as a header names before it reads one of them: a
//! `Content-Length` of some terabytes ends the process. Here a message grows as it arrives, up to a bound.

use std::{
    io::{self, BufRead, Cursor, Read as _, Write as _},
    thread::{self, JoinHandle},
};

use lsp_server::{Connection, Message};

/// The longest message that is read, in bytes. Editors send whole files: the longest that is read as
/// source has 64 MiB, and as much again is for what JSON escapes.
const LONGEST_MESSAGE: u64 = 128 << 20;

/// The longest line of a header, in bytes.
const LONGEST_HEADER: u64 = 4 << 10;

/// The most bytes that the header of a message may have.
const LONGEST_HEADERS: usize = 64 << 10;

/// The threads that read standard input and write standard output.
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits for both.
    ///
    /// # Errors
    /// When reading or writing failed, or a thread did not come to its end.
    pub fn join(self) -> io::Result<()> {
        for thread in [self.reader, self.writer] {
            let ended = thread.join();
            ended.map_err(|_| io::Error::other("a thread of the server's has panicked"))??;
        }
        Ok(())
    }
}

/// Whoever is at the other end of standard input and output.
pub fn connect_to_stdio() -> (Connection, Threads) {
    let (ours, theirs) = Connection::memory();
    let Connection { sender, receiver } = theirs;
    let reader = thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = read_message(&mut input)? {
            let is_last = matches!(&message, Message::Notification(last) if last.method == "exit");
            if sender.send(message).is_err() || is_last {
                break;
            }
        }
        Ok(())
    });
    let writer = thread::spawn(move || {
        let mut output = io::stdout().lock();
        receiver
            .into_iter()
            .try_for_each(|message| message.write(&mut output))?;
        output.flush()
    });
    (ours, Threads { reader, writer })
}

/// The next message, none at the end of the input.
fn read_message(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let mut text = Vec::new();
    let Some(length) = read_header(input, &mut text)? else {
        return Ok(None);
    };
    if length > LONGEST_MESSAGE {
        return Err(invalid(format!(
            "a message of {length} bytes; at most {LONGEST_MESSAGE} are read"
        )));
    }
    input.take(length).read_to_end(&mut text)?;
    Message::read(&mut Cursor::new(text))
}

/// Reads the header of a message, which goes to `text`; the length that it tells. What is missing, or no
/// number, the library has words for.
fn read_header(input: &mut impl BufRead, text: &mut Vec<u8>) -> io::Result<Option<u64>> {
    let mut length = None;
    loop {
        let start = text.len();
        input.take(LONGEST_HEADER).read_until(b'\n', text)?;
        let line = &text[start..];
        if line.is_empty() && start == 0 {
            return Ok(None);
        }
        if !line.ends_with(b"\r\n") || text.len() > LONGEST_HEADERS {
            return Err(invalid(
                "a header without an end, or longer than a header is".into(),
            ));
        }
        if line == b"\r\n" {
            return Ok(Some(length.unwrap_or_default()));
        }
        length = length_in(line)?.or(length);
    }
}

/// The length of the message, where this line of its header tells it.
fn length_in(line: &[u8]) -> io::Result<Option<u64>> {
    let line = std::str::from_utf8(line).map_err(|error| invalid(error.to_string()))?;
    let Some((name, value)) = line.split_once(':') else {
        return Ok(None);
    };
    if !name.eq_ignore_ascii_case("Content-Length") {
        return Ok(None);
    }
    let length = value.trim().parse();
    length
        .map(Some)
        .map_err(|error| invalid(format!("Content-Length: {error}")))
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> io::Result<Option<Message>> {
        read_message(&mut Cursor::new(text))
    }

    #[test]
    fn a_message_is_read_and_the_next_one_begins_behind_it() {
        let mut input = Cursor::new(
            b"Content-Length: 33\r\nX: y\r\n\r\n{\"method\":\"exit\",\"jsonrpc\":\"2.0\"}"
                .repeat(2),
        );
        for _ in 0..2 {
            let message = read_message(&mut input).unwrap().unwrap();
            assert!(matches!(message, Message::Notification(last) if last.method == "exit"));
        }
        assert!(read_message(&mut input).unwrap().is_none());
    }

    /// Whoever starts the server may say anything, and gets an error for it: no abort, no wait, and
    /// no memory for what does not come.
    #[test]
    fn what_is_no_message_is_an_error() {
        let endless = [b"X-".as_slice(), &[b'a'; 100_000]].concat();
        let many = b"X: y\r\n".repeat(20_000);
        let cases: [&[u8]; 9] = [
            b"Content-Length: 99999999999999\r\n\r\n{}",
            b"Content-Length: 18446744073709551616\r\n\r\n{}",
            b"Content-Length: -1\r\n\r\n{}",
            b"Content-Length: 90000000\r\n\r\n{}",
            b"Content-Length: 2\r\n\r\n[}",
            b"Content-Length\r\n\r\n{}",
            b"\xff: 2\r\n\r\n{}",
            &endless,
            &many,
        ];
        for case in cases {
            let shown = String::from_utf8_lossy(&case[..case.len().min(40)]);
            assert!(read(case).is_err(), "{shown}");
        }
    }
}
