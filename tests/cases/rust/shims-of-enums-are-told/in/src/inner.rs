pub enum Own {
    One,
}
pub fn own() -> bool {
    matches!(Own::One, Own::One)
}
