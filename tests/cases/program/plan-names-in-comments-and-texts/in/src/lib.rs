//! See kit::old::Pool for more; `crate::old` has the rest.

pub mod new;
pub mod old;

// kit::old::Pool::of is slow: see crate::old::Pool.
/// Like kit::old::Pool: and [`crate::old::Pool`].
pub fn help() -> &'static str {
    "bad pool, see kit::old::Pool for help"
}
