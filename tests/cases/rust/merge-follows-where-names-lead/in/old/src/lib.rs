//! The same by re-exports, by another name, and from a package that has another name here.
pub mod by_renamed_package;
pub mod by_root;
pub mod by_self;
pub use base::types::Unit as U;

pub fn go() -> u32 {
    let unit = by_root::first(&[U { n: 3 }]).unwrap_or_default();
    let picked = by_renamed_package::pick(1).map_or(0, |unit| unit.n);
    by_self::sum(&[unit, by_root::double(unit)]) + picked
}
