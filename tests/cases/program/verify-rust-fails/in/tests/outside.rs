#[test]
fn there_is_one() {
    assert_eq!(native::call!(gpu), 1);
}
