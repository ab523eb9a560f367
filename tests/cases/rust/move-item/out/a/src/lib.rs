//! Two modules.
pub mod one {}
pub mod two {
    /// Moves.
    pub fn f() {}
}
