//! Where the time goes, on the device and on the host.
