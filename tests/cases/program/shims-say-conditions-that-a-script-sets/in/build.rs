// We do not ask for std here.
fn main() {
    println!("cargo::rustc-cfg=made");
}
