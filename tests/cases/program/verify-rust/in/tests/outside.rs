use lidar_native::optimization::gpu::{detect, Device};

#[test]
fn there_is_one() {
    assert!(matches!(detect(), Device::Gpu(_)));
}
