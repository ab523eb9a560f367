use crate::old::pool;

pub fn run() -> u8 {
    pool::size()
}
