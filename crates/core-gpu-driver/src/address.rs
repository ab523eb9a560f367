//! Addresses: of a device, which are opaque, and of the host, which are real. A place is one of them.

use std::{fmt, num::NonZeroU64, ptr::NonNull};

use crate::{
    error::{DriverError, Refusal},
    stream::refused,
};

/// What addresses of either kind can.
macro_rules! numbered {
    ($address:ident) => {
        impl $address {
            /// Its number, for the driver and for display.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0.get()
            }

            /// The address `bytes` further on; nothing when there is no such number.
            #[must_use]
            pub const fn checked_add(self, bytes: u64) -> Option<Self> {
                match self.0.checked_add(bytes) {
                    Some(address) => Some(Self(address)),
                    None => None,
                }
            }
        }
    };
}

numbered!(DeviceAddress);
numbered!(HostAddress);

/// An address in a device's memory. Never a pointer of this process, and never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceAddress(NonZeroU64);

impl DeviceAddress {
    /// The address with this number, unless it is zero.
    #[must_use]
    pub const fn new(address: u64) -> Option<Self> {
        match NonZeroU64::new(address) {
            Some(address) => Some(Self(address)),
            None => None,
        }
    }

    /// Whether it is a multiple of `bytes`. Nothing is a multiple of zero.
    #[must_use]
    pub const fn is_aligned_to(self, bytes: u64) -> bool {
        bytes != 0 && self.0.get().is_multiple_of(bytes)
    }
}

impl fmt::Debug for DeviceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceAddress({:#x})", self.0)
    }
}

impl fmt::Display for DeviceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// An address of this process. Holding one says nothing about what is there: using it is `unsafe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostAddress(NonZeroU64);

impl HostAddress {
    /// The address that a pointer holds.
    #[must_use]
    pub fn of(pointer: NonNull<u8>) -> Self {
        let exposed = pointer.as_ptr().expose_provenance() as u64;
        Self(NonZeroU64::new(exposed).expect("invariant: a `NonNull` is not zero"))
    }

    /// The pointer, to be read or written by whoever knows that it may be.
    #[must_use]
    pub fn pointer(self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.get() as usize)
    }
}

/// One end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Memory of the driver's device.
    Device(DeviceAddress),
    /// Memory of this process. When it is pinned the driver reads or writes it late, in the
    /// stream's order; when it is pageable, the driver may stage it at the call.
    Host(HostAddress),
}

/// From where to where a copy goes. One end is the device's.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Within the device.
    OnDevice {
        /// Where to.
        to: DeviceAddress,
        /// Where from.
        from: DeviceAddress,
    },
    /// From the host.
    ToDevice {
        /// Where to.
        to: DeviceAddress,
        /// Where from.
        from: HostAddress,
    },
    /// To the host.
    ToHost {
        /// Where to.
        to: HostAddress,
        /// Where from.
        from: DeviceAddress,
    },
}

impl Way {
    /// The way between two places.
    ///
    /// # Errors
    /// Where neither place is the device's.
    pub fn of(to: Place, from: Place) -> Result<Self, DriverError> {
        match (to, from) {
            (Place::Device(to), Place::Device(from)) => Ok(Self::OnDevice { to, from }),
            (Place::Device(to), Place::Host(from)) => Ok(Self::ToDevice { to, from }),
            (Place::Host(to), Place::Device(from)) => Ok(Self::ToHost { to, from }),
            (Place::Host(_), Place::Host(_)) => Err(refused("copy", Refusal::OtherDevice)),
        }
    }
}
