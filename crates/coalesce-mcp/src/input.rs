//! Lines of the input, none longer than is allowed.

use std::io::{self, BufRead};

/// What the input had next.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line without its end.
    Text(Vec<u8>),
    /// A line with more bytes than allowed; it was passed over.
    TooLong,
    /// There is nothing more.
    End,
}

/// Reads the next line, of at most `most` bytes.
///
/// # Errors
/// When the input cannot be read.
pub fn next_line(input: &mut impl BufRead, most: usize) -> io::Result<Line> {
    let mut read = PartialLine::default();
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            return Ok(read.at_end());
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len()));
        let part = part.unwrap_or_default();
        read.add(part, most);
        let taken = part.len() + usize::from(end.is_some());
        input.consume(taken);
        if end.is_some() {
            return Ok(read.into_line());
        }
    }
}

/// What was read of a line.
#[derive(Default)]
struct PartialLine {
    /// Empty once it is too long.
    bytes: Vec<u8>,
    too_long: bool,
}

impl PartialLine {
    fn add(&mut self, part: &[u8], most: usize) {
        self.too_long |= self.bytes.len() + part.len() > most;
        if self.too_long {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(part);
        }
    }

    fn into_line(self) -> Line {
        if self.too_long {
            Line::TooLong
        } else {
            Line::Text(self.bytes)
        }
    }

    /// What it is where the input ends before the line does.
    fn at_end(self) -> Line {
        match self.into_line() {
            Line::Text(bytes) if bytes.is_empty() => Line::End,
            line => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_passed_over_and_the_next_one_is_read() {
        let mut input = io::BufReader::with_capacity(3, b"abcdef\n\nab\nabcdefgh".as_slice());
        let mut lines = Vec::new();
        loop {
            let line = next_line(&mut input, 5).unwrap();
            let over = line == Line::End;
            lines.push(line);
            if over {
                break;
            }
        }
        let expected = [
            Line::TooLong,
            Line::Text(Vec::new()),
            Line::Text(b"ab".to_vec()),
            Line::TooLong,
            Line::End,
        ];
        assert_eq!(lines, expected);
    }
}
