#[derive(der::Kernel)]
pub struct Saxpy {
    pub n: u32,
}
