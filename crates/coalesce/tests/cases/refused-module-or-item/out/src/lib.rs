pub mod system;

pub use system::hostname::hostname;
