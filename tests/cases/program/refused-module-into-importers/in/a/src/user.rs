use crate::new::old;
pub fn g() {
    old::f()
}
