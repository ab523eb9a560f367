pub mod kinds;
mod inner;
pub fn own() -> bool {
    inner::own()
}
