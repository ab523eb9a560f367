pub mod new;
pub mod old;
pub mod plain;
