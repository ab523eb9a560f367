pub mod broken;
pub mod op;
pub mod ops;

macro_rules! store {
    ($kind:ident) => {
        paste::paste! { [<Store $kind>]::run() + [<Other $kind>]::run() }
    };
}

pub fn run() -> u32 {
    store!(Tanh)
}
