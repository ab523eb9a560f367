//! A share of a device for a while, across threads and processes.
