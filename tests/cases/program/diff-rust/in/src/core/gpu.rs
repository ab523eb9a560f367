use std::fmt;
use crate::errors;

pub const LIMIT: usize = 10_000_000;

pub struct Pool {
    size: usize,
    used: u64,
    peak: u64,
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.used, self.size)
    }
}

impl Pool {
    pub(crate) fn free(&self) -> usize {
        self.size - self.used
    }
}

impl Pool {
    pub fn take(&mut self, amount: usize) -> Result<(), errors::Error> {
        if amount >= self.free() {
            return Err(errors::full(amount));
        }
        self.used += amount;
        Ok(())
    }
}

pub fn kind(of: u8) -> &'static str {
    match of {
        0 => "none",
        1 => "cuda",
        2 => "rocm",
        _ => "unknown",
    }
}
