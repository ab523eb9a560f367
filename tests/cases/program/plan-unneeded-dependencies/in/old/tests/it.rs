#[test]
fn named() {
    assert_eq!(codegen::names::kernel(), "k");
}
