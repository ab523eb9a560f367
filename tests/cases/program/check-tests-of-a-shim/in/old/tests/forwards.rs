#[test]
fn forwards() {
    #[expect(deprecated)]
    old::run();
}
