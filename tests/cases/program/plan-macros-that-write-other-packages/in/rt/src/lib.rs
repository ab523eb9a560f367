pub trait Kernel { fn name(&self) -> &str; }
