use lidar_native::core::gpu::{detect, Device};

#[test]
fn there_is_one() {
    assert!(matches!(detect(), Device::Gpu(_)));
}
