//! The JSON that every command prints: one envelope, and each command's own fields.
