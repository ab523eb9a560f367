//! Bodies of functions that no import depends on: what a parser need not see who only asks what a file imports
//! and defines.
//!
//! A body matters when it may import, bind a name of the module, add to `__all__`, or name a module in a string. Whether
//! it may is asked of its bytes, comments and strings included, so that what is left out is known to say nothing.

use memchr::memmem;

use crate::extract::is_dotted;

/// Words without which nothing in a body reaches the rest of the file. `import` stands in those of calls as well:
/// `import_module`, `__import__`, `importorskip`.
const WORDS: [&str; 4] = ["import", "global", "find_spec", "__all__"];

/// What has bodies of functions looked into: `__getattr__` of a module goes through others by their names.
const TABLES: [&str; 3] = ["__getattr__", "modules[", "attach"];

/// Shorter ones are not worth it.
const SHORTEST: usize = 48;

/// What stands for a body.
const NOTHING: &[u8; 4] = b"...#";

/// Bodies of functions, as the one pass over a text comes by them.
pub(super) struct Bodies {
    /// Bytes that somebody has to look at, sorted.
    matters: Vec<usize>,
    /// The same, of strings.
    strings: Vec<usize>,
    /// Functions around the line that is read.
    open: Vec<OpenBody>,
    /// Where the last line of code ended.
    through: usize,
    /// Bodies in which nothing matters, in order, none in another.
    found: Vec<(usize, usize)>,
}

struct OpenBody {
    column: usize,
    /// The first byte of its body, once there is one.
    body: Option<usize>,
}

impl Bodies {
    /// `None` for a text all of which has to be read.
    pub fn new(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let has = |word: &&str| memmem::find(bytes, word.as_bytes()).is_some();
        // Other ends of lines are not told apart here.
        if memchr::memchr(b'\r', bytes).is_some() || TABLES.iter().any(has) {
            return None;
        }
        let places = |word: &&str| memmem::find_iter(bytes, word.as_bytes()).collect::<Vec<_>>();
        let mut matters: Vec<usize> = WORDS.iter().flat_map(places).collect();
        matters.sort_unstable();
        Some(Self {
            matters,
            strings: Vec::new(),
            open: Vec::new(),
            through: 0,
            found: Vec::new(),
        })
    }

    /// The column of the function around.
    pub fn column(&self) -> Option<usize> {
        self.open.last().map(|open| open.column)
    }

    /// A line of code begins at byte `at`, in this column.
    pub fn line(&mut self, rest: &[u8], column: usize, at: usize) {
        while self.open.last().is_some_and(|open| open.column >= column) {
            self.close();
        }
        if let Some(open) = self.open.last_mut() {
            open.body.get_or_insert(at);
        }
        if rest.starts_with(b"def ") || rest.starts_with(b"async def ") {
            self.open.push(OpenBody { column, body: None });
        }
    }

    /// A line of code has ended.
    pub fn line_end(&mut self, at: usize) {
        self.through = at;
    }

    /// A string stands at these bytes, quotes left out.
    pub fn string(&mut self, start: usize, text: &[u8], formatted: bool) {
        let matters = if formatted {
            // Expressions in it may hold strings, in the same quotes even: then it ends here too early.
            let count = |brace| memchr::memchr_iter(brace, text).count();
            memchr::memchr2(b'"', b'\'', text).is_some() || count(b'{') != count(b'}')
        } else {
            memchr::memchr(b'.', text).is_some() && std::str::from_utf8(text).is_ok_and(is_dotted)
        };
        if matters {
            self.strings.push(start);
        }
    }

    fn close(&mut self) {
        let Some(start) = self.open.pop().and_then(|open| open.body) else {
            return;
        };
        let end = self.through;
        let within = |places: &[usize]| {
            let next = places.partition_point(|place| *place < start);
            places.get(next).is_some_and(|place| *place < end)
        };
        if end < start + SHORTEST || within(&self.matters) || within(&self.strings) {
            return;
        }
        while self.found.last().is_some_and(|(inner, _)| *inner >= start) {
            self.found.pop();
        }
        self.found.push((start, end));
    }

    /// The text with nothing in place of those bodies; every other byte is where it was. `None` where all of it matters.
    pub fn left_out(mut self, text: &str) -> Option<String> {
        while !self.open.is_empty() {
            self.close();
        }
        if self.found.is_empty() {
            return None;
        }
        let mut bytes = text.as_bytes().to_vec();
        for (start, end) in self.found {
            if let Some(body) = bytes.get_mut(start..end) {
                leave_out(body);
            }
        }
        String::from_utf8(bytes).ok()
    }
}

fn leave_out(body: &mut [u8]) {
    body.fill(b'-');
    if let Some(head) = body.get_mut(..NOTHING.len()) {
        head.copy_from_slice(NOTHING);
    }
}
