pub mod h;
