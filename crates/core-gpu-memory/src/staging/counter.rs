//! Bytes that went over the link, counted where they are sent. Copies within a device are none.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

/// Counts transfers. Shared by reference; may be used from several threads. It costs an atomic
/// addition for each copy.
#[derive(Debug, Default)]
pub struct TransferCounter {
    to_device_bytes: AtomicU64,
    to_host_bytes: AtomicU64,
    copies: AtomicU64,
    synchronisations: AtomicU64,
    pageable_copies: AtomicU64,
}

/// What a [`TransferCounter`] has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Transfers {
    /// Bytes from the host to the device.
    pub to_device_bytes: u64,
    /// Bytes from the device to the host.
    pub to_host_bytes: u64,
    /// Copies that were asked of the driver.
    pub copies: u64,
    /// Times that the host waited for a stream or an event.
    pub synchronisations: u64,
    /// Copies that did not go through pinned memory.
    pub pageable_copies: u64,
}

impl TransferCounter {
    pub(crate) fn uploaded(&self, bytes: u64) {
        self.to_device_bytes.fetch_add(bytes, Relaxed);
        self.copies.fetch_add(1, Relaxed);
    }

    pub(crate) fn downloaded(&self, bytes: u64) {
        self.to_host_bytes.fetch_add(bytes, Relaxed);
        self.copies.fetch_add(1, Relaxed);
    }

    pub(crate) fn waited(&self) {
        self.synchronisations.fetch_add(1, Relaxed);
    }

    pub(crate) fn was_pageable(&self) {
        self.pageable_copies.fetch_add(1, Relaxed);
    }

    /// What was counted so far. The numbers belong together when nothing is being copied.
    #[must_use]
    pub fn read(&self) -> Transfers {
        Transfers {
            to_device_bytes: self.to_device_bytes.load(Relaxed),
            to_host_bytes: self.to_host_bytes.load(Relaxed),
            copies: self.copies.load(Relaxed),
            synchronisations: self.synchronisations.load(Relaxed),
            pageable_copies: self.pageable_copies.load(Relaxed),
        }
    }
}

impl Transfers {
    /// What was counted since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Transfers) -> Transfers {
        Transfers {
            to_device_bytes: self.to_device_bytes - earlier.to_device_bytes,
            to_host_bytes: self.to_host_bytes - earlier.to_host_bytes,
            copies: self.copies - earlier.copies,
            synchronisations: self.synchronisations - earlier.synchronisations,
            pageable_copies: self.pageable_copies - earlier.pageable_copies,
        }
    }
}
