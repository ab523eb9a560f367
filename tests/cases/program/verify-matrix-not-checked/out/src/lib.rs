pub mod core;
pub mod user;

#[cfg(all(feature = "hip", not(target_os = "none")))]
compile_error!("hip is not ported yet");
