//! Parts.

pub mod new;
pub mod old;

/// Calls what a word names.
#[macro_export]
macro_rules! call {
    ($module:ident) => {
        $crate::old::$module::detect()
    };
}

pub fn twice() -> usize {
    let one = old::gpu::detect();
    one + call!(gpu)
}
