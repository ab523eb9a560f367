//! The library needs the trait no more, its tests do.

use std::io::Read;

pub fn area(side: usize) -> usize {
    let shape = || Shape(side);
    shape().read() * side
}

pub struct Shape(pub usize);

impl Shape {
    pub fn read(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads() {
        let mut found = String::new();
        "x".as_bytes().read_to_string(&mut found).unwrap();
        assert_eq!(area(3), 9);
    }
}
