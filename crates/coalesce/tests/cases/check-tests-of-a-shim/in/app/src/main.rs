fn main() {
    old::run();
}
