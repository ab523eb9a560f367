use crate::old::pool;
use crate::new::pool;

pub fn run() -> u8 {
    pool() + pool::size()
}

