//! What stays calls a method of the same name that is no trait's.

pub struct Sink;

impl Sink {
    pub fn write_str(&self, _what: &str) {}
}

pub fn stays(sink: &Sink) {
    sink.write_str("x");
}
