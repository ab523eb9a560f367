//! Parts.

pub mod new;
pub mod old;

pub fn twice() -> usize {
    2 * old::gpu::detect()
}

/// What the compiler alone works out: where the module stands.
const _: () = assert!(old::gpu::HERE.as_bytes()[8] == b'o');
