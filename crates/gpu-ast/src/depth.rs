//! Which texts a parser that recurses is given. It and everything that walks its trees take one level of
//! the stack for each bracket, block, operator or call in a row; a text that nests further than people
//! write is refused, and the others are parsed on a stack that is large enough for what is left.
//!
//! It counts bytes and knows no strings, so that a text with ten thousand operators in one literal without
//! a comma or a semicolon is refused as well.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{self, Sender},
    },
};

use crate::error::{AstError, line_of};

/// Brackets within brackets.
const BRACKETS: usize = 400;
/// Operators, dots, brackets and words in a row that no comma, semicolon or end of a statement parts.
const CHAIN: usize = 10_000;
/// What stands in a row before each of the brackets around a place, together: a comma within a bracket parts
/// what stands there, and nothing of what is around it.
const AROUND: usize = 10 * CHAIN;
/// Columns that a block may stand in.
const INDENTATION: usize = 2_000;
/// Bytes of stack: what `CHAIN` levels take, several times over.
const STACK: usize = 512 << 20;

/// Levels up to which a thread is kept for the next text. What a deeper one has touched of its stack goes
/// with it.
const USUAL: usize = 500;
/// Threads that are kept.
const KEPT: usize = 16;

/// How deep a text may go, as far as its bytes say, if it may be parsed.
pub fn check(text: &str) -> Result<usize, AstError> {
    deepest(text.as_bytes()).map_err(|at| AstError::TooDeep {
        line: line_of(text, at),
    })
}

/// What a byte is to whoever counts levels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Space,
    Return,
    Newline,
    Open,
    Close,
    /// Of arguments and statements.
    Part,
    Operator,
    /// A statement may go on behind these, too.
    GoesOn,
    Other,
}

/// Every byte's class: looked up, since every byte of every text is asked for it.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = class_of(byte as u8);
        byte += 1;
    }
    classes
};

const fn class_of(byte: u8) -> Class {
    match byte {
        b' ' | b'\t' => Class::Space,
        b'\r' => Class::Return,
        b'\n' => Class::Newline,
        b'(' | b'[' | b'{' => Class::Open,
        b'}' | b')' | b']' => Class::Close,
        b',' | b';' => Class::Part,
        b'\\' => Class::GoesOn,
        b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'~' | b'!' | b'=' | b'<'
        | b'>' | b'.' | b'?' | b'@' | b':' => Class::Operator,
        _ if byte.is_ascii_alphanumeric() => Class::Word,
        _ => Class::Other,
    }
}

/// Levels as they are counted byte by byte.
#[derive(Default)]
struct Levels {
    brackets: usize,
    chain: usize,
    /// What stood in a row before each bracket that is open, and all of it together.
    before: Vec<usize>,
    around: usize,
    most: usize,
    /// Columns before the first word of a line; none behind it.
    column: Option<usize>,
    in_word: bool,
    /// A statement may go on in the next line: after an operator, and before `else`.
    goes_on: bool,
}

impl Levels {
    /// Takes a byte in. False if the text is too deep there.
    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let class = CLASSES[usize::from(byte)];
        if class == Class::Word {
            if self.in_word {
                return true;
            }
            self.in_word = true;
            self.chain += usize::from(byte.is_ascii_alphabetic());
            self.goes_on = false;
            return self.leave_indentation() && self.fits();
        }
        self.in_word = false;
        self.take_no_word(class, byte)
    }

    fn take_no_word(&mut self, class: Class, byte: u8) -> bool {
        match class {
            Class::Space => {
                self.column = self.column.map(|column| column + 1);
                return true;
            }
            Class::Newline => {
                if self.brackets == 0 && !self.goes_on {
                    self.chain = 0;
                }
                (self.column, self.goes_on) = (Some(0), false);
                return true;
            }
            Class::Return => return self.leave_indentation(),
            Class::Open => {
                (self.brackets, self.chain) = (self.brackets + 1, self.chain + 1);
                self.before.push(self.chain);
                self.around += self.chain;
            }
            Class::Close => {
                self.brackets = self.brackets.saturating_sub(1);
                self.around -= self.before.pop().unwrap_or(0);
            }
            Class::Part => self.chain = 0,
            Class::Operator => self.chain += 1,
            Class::GoesOn | Class::Other | Class::Word => {}
        }
        self.goes_on = matches!(class, Class::Operator | Class::GoesOn) || byte == b'}';
        self.leave_indentation() && self.fits()
    }

    #[inline]
    fn leave_indentation(&mut self) -> bool {
        let Some(column) = self.column.take() else {
            return true;
        };
        self.most = self.most.max(column);
        column <= INDENTATION
    }

    #[inline]
    fn fits(&mut self) -> bool {
        self.most = self.most.max(self.chain);
        self.brackets <= BRACKETS && self.chain <= CHAIN && self.around <= AROUND
    }
}

/// The deepest place, or the first that is too deep.
fn deepest(bytes: &[u8]) -> Result<usize, usize> {
    let mut levels = Levels {
        column: Some(0),
        ..Levels::default()
    };
    match bytes.iter().position(|byte| !levels.take(*byte)) {
        Some(at) => Err(at),
        None => Ok(levels.most),
    }
}

/// Something to do on a large stack.
type Job = Box<dyn FnOnce() + Send>;

/// Threads with nothing to do. Making one takes as long as parsing a short text does.
static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// Runs something on a stack that is large enough for every text that was let through, and that goes so
/// deep.
pub fn on_a_large_stack<T: Send + 'static>(
    depth: usize,
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, AstError> {
    let gave_up = || AstError::GaveUp;
    let thread = match idle().pop() {
        Some(thread) => thread,
        None => start().map_err(AstError::NoThread)?,
    };
    let (answer, answered) = mpsc::channel();
    let job = move || {
        // Nobody hears it where the caller is gone, which waits below.
        let _ = answer.send(catch_unwind(AssertUnwindSafe(job)));
    };
    thread.send(Box::new(job)).map_err(|_| gave_up())?;
    let answer = answered.recv().map_err(|_| gave_up())?;
    let mut idle = idle();
    if depth <= USUAL && idle.len() < KEPT {
        idle.push(thread);
    }
    answer.map_err(|_| gave_up())
}

fn idle() -> MutexGuard<'static, Vec<Sender<Job>>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that runs what it is sent, until nobody can send it anything.
fn start() -> Result<Sender<Job>, std::io::Error> {
    let (thread, jobs) = mpsc::channel::<Job>();
    std::thread::Builder::new()
        .name("gpu-ast-parser".to_owned())
        .stack_size(STACK)
        .spawn(move || jobs.into_iter().for_each(|job| job()))?;
    Ok(thread)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn what_nobody_writes_is_refused() {
        for (text, fine) in [
            ("(".repeat(300), true),
            ("(".repeat(500), false),
            ("!".repeat(20_000), false),
            ("x = a\n".repeat(20_000), true),
            ("x.y(\n".repeat(500), false),
            ("a +\n".repeat(20_000), false),
            ("not ".repeat(20_000), false),
            ("if x {} else ".repeat(20_000), false),
            ("f(1, 2); ".repeat(20_000), true),
            // A comma ends nothing of what is around its bracket.
            (format!("{}(x, ", "!".repeat(1_000)).repeat(50), true),
            (format!("{}(x, ", "!".repeat(9_000)).repeat(300), false),
            (format!("{}(x, ", "not ".repeat(9_000)).repeat(300), false),
            (format!("{}(x, y), ", "!".repeat(9_000)).repeat(300), true),
            (format!("{}x", " ".repeat(3_000)), false),
        ] {
            assert_eq!(check(&text).is_ok(), fine, "{}", &text[..20]);
        }
    }

    #[test]
    fn threads_are_used_again_unless_they_went_deep() {
        let name = || std::thread::current().id();
        // Other tests take threads as well, and end some: which one comes round is not known.
        let names: HashSet<_> = (0..100)
            .map(|_| on_a_large_stack(3, name).unwrap())
            .collect();
        assert!(names.len() < 100);
        let deep = on_a_large_stack(USUAL + 1, name).unwrap();
        assert!((0..100).all(|_| on_a_large_stack(3, name).unwrap() != deep));
    }

    #[test]
    fn a_parser_that_panics_costs_its_text_alone() {
        let panics = || -> usize { std::panic::resume_unwind(Box::new(())) };
        let told = on_a_large_stack(3, panics);
        assert!(matches!(told, Err(AstError::GaveUp)), "{told:?}");
        assert_eq!(on_a_large_stack(3, || 7).unwrap(), 7);
    }
}
