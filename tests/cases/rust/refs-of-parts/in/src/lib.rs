pub mod op;
mod plain;
#[cfg(feature = "metal")]
pub mod metal;
#[cfg(not(feature = "metal"))]
mod metal {
    pub use super::plain::*;
}

macro_rules! one {
    ($f:ident, $o:ident) => {
        pub fn $f() -> u32 {
            crate::op::$o::run()
        }
    };
}
one!(tanh, Tanh);

macro_rules! two {
    ($m:ident) => {
        $m::Tanh::run()
    };
}

pub fn twice() -> u32 {
    two!(op) + tanh()
}

pub fn store() -> metal::Store {
    metal::Store::zeros()
}

macro_rules! default_of {
    ($n:ident) => {
        <$crate::$n>::default()
    };
}

#[derive(Default, Clone, Copy)]
pub enum Mode {
    #[default]
    Fast,
}

pub fn mode() -> Mode {
    default_of!(Mode)
}
