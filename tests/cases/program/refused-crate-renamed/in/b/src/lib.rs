pub fn g() {
    a::f()
}
