pub mod k;
