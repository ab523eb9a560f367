use ::base::types::{all, Unit};

pub fn pick(least: u32) -> Option<Unit> {
    all().into_iter().find(|unit| unit.n >= least)
}
