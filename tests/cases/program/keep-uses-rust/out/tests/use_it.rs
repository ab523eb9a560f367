#[test]
fn begins() {
    assert_eq!(lab::core::gpu::begin(), 1);
}
