//! Use, temperature and health of devices.
