//! The old names work, and warn.
#![allow(deprecated)]

use lab::gpu::begin;

#[test]
fn old_names() {
    assert_eq!(begin(), 1);
}
