//! Which release of etcd it is, and whether what is promised can be.

use std::{fmt, sync::atomic::Ordering::SeqCst};

use core_gpu::warning::{Warning, warn};

use crate::{client::EtcdError, slots::EtcdSlots};

/// A release of etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EtcdVersion {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third.
    pub patch: u32,
}

/// The first releases whose leader makes sure that it is one before it renews a lease or ends one
/// (etcd-io/etcd#15247), by lines.
const MENDED: [EtcdVersion; 3] = [version(3, 4, 31), version(3, 5, 13), version(3, 6, 0)];

const fn version(major: u32, minor: u32, patch: u32) -> EtcdVersion {
    EtcdVersion {
        major,
        minor,
        patch,
    }
}

impl EtcdVersion {
    /// As etcd writes it: `3.5.13`, with more words after a dash or a plus where it is none of the released.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let numbers = text.split(['-', '+']).next()?;
        let mut numbers = numbers.split('.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(version(next()?, next()?, next()?))
    }

    /// Whether a leader of it that is stuck can go on renewing leases that another leader lets run out, and ending
    /// those that it renews, so that a check may pass while somebody else has the slot (etcd-io/etcd#15247).
    #[must_use]
    pub fn renews_without_leading(&self) -> bool {
        let line = |known: &&EtcdVersion| (known.major, known.minor) == (self.major, self.minor);
        match MENDED.iter().find(line) {
            Some(first) => self < first,
            None => *self < MENDED[0],
        }
    }
}

impl fmt::Display for EtcdVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl EtcdSlots {
    /// Which release of etcd the member is of that is asked next. Members may be of several.
    ///
    /// # Errors
    /// As etcd fails.
    pub fn version(&self) -> Result<EtcdVersion, EtcdError> {
        let said = self.client().version()?;
        EtcdVersion::read(&said).ok_or(EtcdError::Answer(said))
    }

    /// Says once, as a warning, that etcd is too old for what is promised. Where it does not say of which release it
    /// is, a claim will tell what is wrong.
    pub(crate) fn look_at_version(&self) {
        if self.looked_at_version.swap(true, SeqCst) {
            return;
        }
        if let Ok(version) = self.version()
            && version.renews_without_leading()
        {
            let why = format!(
                "etcd {version}: a leader that is stuck may renew leases that have run out (etcd-io/etcd#15247), so \
                 that a check can pass while somebody else has the slot; use 3.4.31, 3.5.13 or later"
            );
            warn(&Warning::Store { why });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_and_those_that_are_too_old_known() {
        for (text, too_old) in [
            ("3.4.23", Some(true)),
            ("3.4.31", Some(false)),
            ("3.5.12", Some(true)),
            ("3.5.13", Some(false)),
            ("3.6.0-alpha.0", Some(false)),
            ("3.3.27", Some(true)),
            ("3.7.0", Some(false)),
            ("4.0.0", Some(false)),
            ("3.5.9+git", Some(true)),
            ("3.5", None),
            ("new", None),
        ] {
            let read = EtcdVersion::read(text).map(|version| version.renews_without_leading());
            assert_eq!(read, too_old, "{text}");
        }
    }
}
