pub mod core;
#[deprecated(note = "use `lab::core::gpu`")]
pub mod gpu;
