use gpu_sys::raw::bindings as raw;

#[test]
fn counts() {
    assert_eq!(raw::device_count(), app::count() - 4);
    assert_eq!(app::sys_exports::TOTAL, raw::field::TOTAL);
}
