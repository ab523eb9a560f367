mod hostname;
pub mod system;

pub use hostname::hostname;
