#[cfg(not(any(made, feature = "std")))]
pub mod loud;
