#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unit {
    pub n: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    One,
    Two(Unit),
}

pub fn all() -> Vec<Unit> {
    (0..3).map(|n| Unit { n }).collect()
}

pub fn pick(least: u32) -> Option<Unit> {
    all().into_iter().find(|unit| unit.n >= least)
}
