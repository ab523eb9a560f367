use crate::op::StoreTanh;

pub fn broken() -> u32 {
    let tanh = crate::op::StoreTanh::run(;
    StoreTanh::run()
}
