use base::{Kind, Unit};

pub fn first(units: &[Unit]) -> Option<Unit> {
    units.first().copied()
}

pub fn kind(unit: Unit) -> Kind {
    if unit == Unit::default() {
        Kind::One
    } else {
        Kind::Two(unit)
    }
}

pub fn double(unit: Unit) -> Unit {
    Unit { n: unit.n * 2 }
}
