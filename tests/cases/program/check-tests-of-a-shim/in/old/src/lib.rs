// coalesce: shim 0001-old
//! Moved to [`home`].

#[deprecated]
pub fn run() {
    home::run()
}
