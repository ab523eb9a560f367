//! The library needs the trait no more, its tests do.

pub struct Shape(pub usize);

impl Shape {
    pub fn read(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use crate::new::area;
    use std::io::Read;

    #[test]
    fn reads() {
        let mut found = String::new();
        "x".as_bytes().read_to_string(&mut found).unwrap();
        assert_eq!(area(3), 9);
    }
}
