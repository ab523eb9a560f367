fn main() {
    println!("{}", codegen::names::kernel());
}
