//! Size classes: eight to a power of two up to 256 KiB, in steps of at least 256 bytes.
//!
//! Blocks of a class are interchangeable, which is what lets a thread cache them without a search.
//! What is wasted is at most an eighth of the block. Requests up to 2 MiB have sixteen lengths to a
//! power of two, so that the pool finds a block of the same length without a search; threads do not
//! cache them. Still longer requests are only rounded up to the alignment.

/// Every block starts at a multiple of this many bytes, and is a multiple of it long.
pub const ALIGNMENT: u64 = 256;

/// Requests above this many bytes have no class and are never cached by threads.
pub const LARGEST_CLASS: u64 = 256 * 1024;

/// Requests above this many bytes are only rounded up to the alignment.
pub const LARGEST_ROUNDED: u64 = 2 * 1024 * 1024;

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

/// Where a pool keeps free blocks of one length: those of a class, and the lengths above classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shelf(u8);

/// Half of the longest step above classes, as a power of two: lengths begin at sixteen of them.
const LONG_STEP_LOG: u32 = 14;

impl Shelf {
    /// For blocks that are too long to have one.
    pub const NONE: Shelf = Shelf(u8::MAX);
    /// How many there are.
    pub const COUNT: usize = CLASS_COUNT + 48;

    /// The shelf of a request.
    #[inline]
    pub fn of(bytes: u64) -> Shelf {
        match SizeClass::of(bytes) {
            Some(class) => Shelf(class.0),
            None => Shelf::of_long(bytes),
        }
    }

    /// The shelf of a request that has no class.
    #[inline]
    pub fn of_long(bytes: u64) -> Shelf {
        if bytes > LARGEST_ROUNDED {
            return Shelf::NONE;
        }
        // From sixteen to 127.
        let last_step = ((bytes.saturating_sub(1) >> LONG_STEP_LOG) as u32).max(16);
        let log = last_step.ilog2();
        let sixteenth = (last_step >> (log - 4)) & 15;
        Shelf((CLASS_COUNT as u32 + (log - 4) * 16 + sixteenth) as u8)
    }

    /// Position, below [`Shelf::COUNT`] if it is not [`Shelf::NONE`].
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The class whose blocks these are; none if threads do not cache them.
    #[inline]
    pub fn class(self) -> Option<SizeClass> {
        (self.index() < CLASS_COUNT).then_some(SizeClass(self.0))
    }
}

/// How long a request is, and where blocks for it are kept: worked out once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Length {
    /// Bytes asked for.
    pub bytes: u64,
    pub shelf: Shelf,
}

impl Length {
    #[inline]
    pub fn of(bytes: u64) -> Length {
        Length {
            bytes,
            shelf: Shelf::of(bytes),
        }
    }
}

/// What a request of `bytes` takes: its class's length, a sixteenth of a power of two, or the next
/// multiple of the alignment. None if that is more than 64 bits can say.
#[inline]
#[must_use]
pub fn block_bytes(bytes: u64) -> Option<u64> {
    match SizeClass::of(bytes) {
        Some(class) => Some(class.bytes()),
        None => long_block_bytes(bytes),
    }
}

/// As [`block_bytes`], for a request that has no class.
#[inline]
pub(crate) fn long_block_bytes(bytes: u64) -> Option<u64> {
    if bytes > LARGEST_ROUNDED {
        return bytes.checked_next_multiple_of(ALIGNMENT);
    }
    let last = bytes.saturating_sub(1);
    let step = (last | 1).ilog2().max(LONG_STEP_LOG + 4) - 4;
    Some(((last >> step) + 1) << step)
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
    fn what_has_no_class_is_rounded_to_a_sixteenth_or_only_aligned() {
        for (bytes, block) in [
            (LARGEST_CLASS + 1, Some(LARGEST_CLASS + (16 << 10))),
            ((1 << 20) - 1, Some(1 << 20)),
            (1 << 20, Some(1 << 20)),
            ((1 << 20) + 1, Some((1 << 20) + (64 << 10))),
            (LARGEST_ROUNDED, Some(LARGEST_ROUNDED)),
            (LARGEST_ROUNDED + 1, Some(LARGEST_ROUNDED + 256)),
            (u64::MAX, None),
        ] {
            assert_eq!(block_bytes(bytes), block, "{bytes}");
        }
    }

    #[test]
    fn one_shelf_has_blocks_of_one_length() {
        let mut lengths = vec![None; Shelf::COUNT];
        for bytes in (0..=LARGEST_ROUNDED).step_by(251).chain([LARGEST_ROUNDED]) {
            let (shelf, block) = (Shelf::of(bytes), block_bytes(bytes).unwrap());
            assert!(block >= bytes, "{bytes}");
            assert!(block <= 2048 || (block - bytes) * 8 <= block, "{bytes}");
            let length = lengths[shelf.index()].get_or_insert(block);
            assert_eq!(*length, block, "{bytes}");
        }
        assert!(lengths.iter().all(Option::is_some));
        assert!(lengths.is_sorted_by(|one, other| one < other));
        assert_eq!(Shelf::of(LARGEST_ROUNDED + 1), Shelf::NONE);
    }
}
