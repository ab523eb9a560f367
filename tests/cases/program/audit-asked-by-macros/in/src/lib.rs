//! Kernels.

pub mod defaults;
pub mod first;
pub mod second;

/// Wraps a function.
#[macro_export]
macro_rules! wrap {
    ($kind:ident, $name:ident, $run:item) => {
        pub mod $name {
            pub type Kind = $kind;
            $run
        }
    };
}
