//! The same by re-exports, by another name, and from a package that has another name here.
pub use base::types::Unit as U;

pub fn go() -> u32 {
    let unit = base::funcs::first(&[U { n: 3 }]).unwrap_or_default();
    let picked = base::types::pick(1).map_or(0, |unit| unit.n);
    base::sums::sum(&[unit, base::funcs::double(unit)]) + picked
}
