//! What stays calls a method of the same name that is no trait's.

use std::fmt::Write;

pub struct Row(pub String);

impl Row {
    pub fn add(&mut self, what: &str) {
        self.0.write_str(what).unwrap();
    }
}

pub struct Sink;

impl Sink {
    pub fn write_str(&self, _what: &str) {}
}

pub fn stays(sinks: &[Sink]) {
    let first = || &sinks[0];
    first().write_str("x");
}
