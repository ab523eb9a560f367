//! What stays calls a method of the same name that is no trait's.

pub struct Sink;

impl Sink {
    pub fn write_str(&self, _what: &str) {}
}

pub fn stays(sinks: &[Sink]) {
    let first = || &sinks[0];
    first().write_str("x");
}
