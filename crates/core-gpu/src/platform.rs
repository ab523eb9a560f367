//! Which platforms there are, and why the others are not.
