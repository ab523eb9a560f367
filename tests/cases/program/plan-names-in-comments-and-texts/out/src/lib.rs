//! See kit::new::Pool for more; `crate::old` has the rest.

pub mod new;
pub mod old;

// kit::new::Pool::of is slow: see crate::new::Pool.
/// Like kit::new::Pool: and [`crate::new::Pool`].
pub fn help() -> &'static str {
    "bad pool, see kit::old::Pool for help"
}
