//! The module is imported for the crate alone: who has it by that is not looked for.
mod old;
pub mod new;
pub mod user;
