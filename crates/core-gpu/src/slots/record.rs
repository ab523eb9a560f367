//! What the holder of a slot says of itself, in the slot's file: bytes of memory that it claims, since
//! when it holds the slot, and how long of that it says the device worked for it. It counts as long as
//! the file's lock is held, and only then; a file without a record claims nothing.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// What a record begins with.
const MAGIC: &str = "coalesce slot, version 1:";
/// How many digits a number has: a record's length never changes, so that none is half a number.
const DIGITS: usize = 20;

/// What a holder says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Bytes that are claimed.
    pub bytes: u64,
    /// When the slot was taken, in milliseconds since 1970.
    pub since: u64,
    /// Time that the device worked for the holder, in microseconds.
    pub used: u64,
}

impl Record {
    /// A claim that begins now.
    pub fn beginning(bytes: u64) -> Self {
        Self {
            bytes,
            since: now(),
            used: 0,
        }
    }

    /// How long it has been held: none for a record that says no beginning, or where the clock was
    /// put back.
    pub fn held_for(&self) -> Option<Duration> {
        let held = (self.since > 0).then(|| now().checked_sub(self.since))?;
        held.map(Duration::from_millis)
    }

    /// Time that the device worked for the holder.
    pub fn used_for(&self) -> Duration {
        Duration::from_micros(self.used)
    }

    fn to_text(self) -> String {
        let Self { bytes, since, used } = self;
        format!("{MAGIC} {bytes:0DIGITS$} {since:0DIGITS$} {used:0DIGITS$}\n")
    }

    fn parse(text: &str) -> Option<Self> {
        let numbers = text.strip_prefix(MAGIC)?.strip_suffix('\n')?;
        let mut numbers = numbers.strip_prefix(' ')?.split(' ');
        let mut next = || -> Option<u64> {
            let digits = numbers.next()?;
            let plain = digits.len() == DIGITS && digits.bytes().all(|one| one.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten()
        };
        let record = Self {
            bytes: next()?,
            since: next()?,
            used: next()?,
        };
        numbers.next().is_none().then_some(record)
    }

    /// Reads a file's record; what is none claims nothing.
    pub fn read(file: &mut File) -> io::Result<Self> {
        let mut text = Vec::new();
        file.rewind()?;
        let length = Self::default().to_text().len() as u64;
        file.take(length + 1).read_to_end(&mut text)?;
        let text = str::from_utf8(&text).unwrap_or_default();
        Ok(Self::parse(text).unwrap_or_default())
    }

    /// Writes it in one go, over what is there: its length is always the same.
    pub fn write(self, file: &mut File) -> io::Result<()> {
        file.rewind()?;
        file.write_all(self.to_text().as_bytes())
    }
}

/// Takes a record away.
pub(super) fn clear(file: &File) -> io::Result<()> {
    file.set_len(0)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let record = Record {
            bytes: u64::MAX,
            since: 7,
            used: 0,
        };
        let text = record.to_text();
        assert_eq!(Record::parse(&text), Some(record));
        assert_eq!(text.len(), Record::default().to_text().len());
        for wrong in [
            "",
            "coalesce slot, version 1:",
            "coalesce slot, version 1: 1 2 3\n",
            &text.replace("version 1", "version 2"),
            text.trim_end(),
            &format!("{}1\n", text.trim_end()),
            &text.replace('7', "x"),
        ] {
            assert_eq!(Record::parse(wrong), None, "{wrong:?}");
        }
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(Record::read(&mut file).unwrap(), Record::default());
        record.write(&mut file).unwrap();
        assert_eq!(Record::read(&mut file).unwrap(), record);
        clear(&file).unwrap();
        assert_eq!(Record::read(&mut file).unwrap(), Record::default());
    }
}
