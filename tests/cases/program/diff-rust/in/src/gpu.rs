//! Devices.
use std::collections::HashMap;
use crate::errors::{self, Error};

pub const LIMIT: usize = 1_000_000;

#[derive(Clone)]
pub struct Pool {
    size: usize,
    used: usize,
}

impl Pool {
    /// Room.
    pub fn free(&self) -> usize {
        self.size - self.used
    }

    pub fn take(&mut self, count: usize) -> Result<(), Error> {
        if count > self.free() {
            return Err(errors::full(count));
        }
        self.used += count;
        Ok(())
    }
}

impl std::fmt::Display for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.used, self.size)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.used = 0;
    }
}

thread_local! {
    static CACHE: HashMap<u8, u8> = HashMap::new();
}

pub fn kind(of: u8) -> &'static str {
    match of {
        0 => "none",
        1 => "cuda",
        _ => "other",
    }
}
