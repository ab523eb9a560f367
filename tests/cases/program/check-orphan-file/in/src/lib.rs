pub mod used;
#[cfg(windows)]
mod windows_only;
