/// A pool, of which `crate::old::Pool` is the name.
pub struct Pool;

pub fn other() {}
