//! Migration manifests: TOML in, checked data with positions out.
