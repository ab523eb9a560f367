//! Old and new.
pub mod new;
pub mod old;
