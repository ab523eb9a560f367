pub use crate::mid::old;
pub fn g() {
    old::f()
}
