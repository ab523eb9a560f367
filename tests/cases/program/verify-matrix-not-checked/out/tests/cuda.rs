#[cfg(feature = "cuda")]
#[test]
fn counts() {
    assert_eq!(native::gone::count(), 1);
}
