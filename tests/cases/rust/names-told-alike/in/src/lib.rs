pub mod one;
pub mod two;

pub mod user {
    use super::one::Thing;

    pub fn make() -> Thing {
        super::one::Thing
    }
}

pub fn make() -> one::Thing {
    self::one::Thing
}
