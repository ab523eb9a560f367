#[test]
fn begins() {
    assert_eq!(lab::gpu::begin(), 1);
}
