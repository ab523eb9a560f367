//! Size classes: eight to a power of two up to 256 KiB, in steps of at least 256 bytes.
//!
//! Blocks of a class are interchangeable, which is what lets a thread cache them without a search.
//! The last byte wasted is at most an eighth of the block. Larger requests have no class; they are
//! only rounded up to the alignment.

/// Every block starts at a multiple of this many bytes, and is a multiple of it long.
pub const ALIGNMENT: u64 = 256;

/// Requests above this many bytes have no class and are never cached by threads.
pub const LARGEST_CLASS: u64 = 256 * 1024;

/// How many classes there are.
pub const CLASS_COUNT: usize = 64;

/// Steps of 256 bytes up to which every class is one step longer than the last.
const LINEAR_STEPS: u32 = 8;

/// One of the sizes that small blocks come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(u8);

impl SizeClass {
    /// The class of a request of `bytes`; none above [`LARGEST_CLASS`]. Nothing at all still takes
    /// one block of the smallest class, so that every buffer has an address of its own.
    #[inline]
    #[must_use]
    pub fn of(bytes: u64) -> Option<SizeClass> {
        if bytes > LARGEST_CLASS {
            return None;
        }
        // Fits: at most 1,024 steps.
        let last_step = (bytes.saturating_sub(1) >> 8) as u32;
        if last_step < LINEAR_STEPS {
            return Some(SizeClass(last_step as u8));
        }
        let log = last_step.ilog2();
        let eighth = (last_step >> (log - 3)) & 7;
        Some(SizeClass(((log - 2) * 8 + eighth) as u8))
    }

    /// The class at a position, which has to be below [`CLASS_COUNT`].
    pub(crate) const fn at(index: usize) -> SizeClass {
        SizeClass(index as u8)
    }

    /// Position of the class, smaller blocks first, below [`CLASS_COUNT`].
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Length of the class's blocks in bytes.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> u64 {
        let index = self.0 as u64;
        let steps = if index < LINEAR_STEPS as u64 {
            index + 1
        } else {
            (9 + index % 8) << (index / 8 - 1)
        };
        steps * ALIGNMENT
    }
}

/// What a request of `bytes` takes: its class's length, or the next multiple of the alignment.
/// None if that is more than 64 bits can say.
#[inline]
#[must_use]
pub fn block_bytes(bytes: u64) -> Option<u64> {
    match SizeClass::of(bytes) {
        Some(class) => Some(class.bytes()),
        None => bytes.checked_next_multiple_of(ALIGNMENT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_holds_its_requests_and_no_smaller_class_does() {
        for bytes in 0..=LARGEST_CLASS {
            let class = SizeClass::of(bytes).unwrap();
            assert!(class.bytes() >= bytes, "{bytes}");
            assert!(class.index() < CLASS_COUNT, "{bytes}");
            if class.0 > 0 {
                assert!(SizeClass(class.0 - 1).bytes() < bytes, "{bytes}");
            }
        }
        assert_eq!(SizeClass::of(LARGEST_CLASS + 1), None);
    }

    #[test]
    fn a_class_wastes_at_most_an_eighth() {
        for bytes in 2048..=LARGEST_CLASS {
            let class = SizeClass::of(bytes).unwrap();
            assert!((class.bytes() - bytes) * 8 <= class.bytes(), "{bytes}");
        }
    }

    #[test]
    fn what_has_no_class_is_only_aligned() {
        assert_eq!(block_bytes(LARGEST_CLASS + 1), Some(LARGEST_CLASS + 256));
        assert_eq!(block_bytes(u64::MAX), None);
    }
}
