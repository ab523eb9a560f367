use crate::U as Unit;

pub fn sum(units: &[Unit]) -> u32 {
    units.iter().map(|unit| unit.n).sum()
}
