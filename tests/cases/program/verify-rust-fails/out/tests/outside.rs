const _: () = assert!(native::old::gpu::HERE.as_bytes()[8] == b'o');

#[test]
fn there_is_one() {
    assert_eq!(native::old::gpu::detect(), 1);
}
