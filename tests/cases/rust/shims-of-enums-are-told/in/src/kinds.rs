pub enum Kind {
    Small,
    Big(u32),
}
pub struct Row {
    pub size: u32,
}
pub fn size(kind: &Kind) -> u32 {
    use Kind::*;
    match kind {
        Small => 1,
        Big(n) => *n,
    }
}
