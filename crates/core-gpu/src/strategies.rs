//! How many processes work on which devices.
