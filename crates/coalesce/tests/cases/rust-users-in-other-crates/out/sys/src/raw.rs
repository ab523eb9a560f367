//! [`bindings`].

pub mod bindings;
