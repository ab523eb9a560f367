//! The processor's own counter as a clock: several times cheaper to read than the system's, and of
//! no known unit until it has run beside the system's for a moment. For measuring; not for waiting.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

/// How long the counter runs beside the system's clock, at least, before its rate is told.
const SHORTEST: Duration = Duration::from_millis(10);

struct Anchor {
    instant: Instant,
    ticks: u64,
    counter: bool,
}

fn anchor() -> &'static Anchor {
    static ANCHOR: OnceLock<Anchor> = OnceLock::new();
    ANCHOR.get_or_init(|| {
        let counter = counter_is_steady();
        Anchor {
            instant: Instant::now(),
            ticks: if counter { counter_now() } else { 0 },
            counter,
        }
    })
}

/// Reads the clock. Never falls on one thread; on machines whose counter depends on the processor's
/// speed it is the system's clock, in nanoseconds.
#[inline]
#[must_use]
pub fn now() -> u64 {
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) && STEADY.get() {
        return counter_now();
    }
    slow()
}

#[cold]
fn slow() -> u64 {
    let anchor = anchor();
    if anchor.counter {
        STEADY.set();
        return counter_now();
    }
    u64::try_from(anchor.instant.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Whether the counter is known to be steady: one load, so that reading it costs nothing more.
struct Steady(std::sync::atomic::AtomicBool);

static STEADY: Steady = Steady(std::sync::atomic::AtomicBool::new(false));

impl Steady {
    #[inline]
    fn get(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// How many nanoseconds a tick is, and what the counter said at a moment of the system's clock.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    nanoseconds_per_tick: f64,
    ticks: u64,
    instant: Instant,
}

impl Rate {
    /// Measures the rate since the clock was first read. Waits up to ten milliseconds if that was
    /// just now.
    #[must_use]
    pub fn measure() -> Self {
        let anchor = anchor();
        if anchor.counter && anchor.instant.elapsed() < SHORTEST {
            std::thread::sleep(SHORTEST);
        }
        let ticks = now();
        let nanoseconds = anchor.instant.elapsed().as_nanos() as f64;
        let per_tick = if anchor.counter {
            nanoseconds / ticks.saturating_sub(anchor.ticks).max(1) as f64
        } else {
            1.0
        };
        Self {
            nanoseconds_per_tick: per_tick,
            ticks: anchor.ticks,
            instant: anchor.instant,
        }
    }

    /// A number of ticks in nanoseconds.
    #[must_use]
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.nanoseconds_per_tick) as u64
    }

    /// The moment at which the counter said `ticks`, in nanoseconds since it was first read in this
    /// process.
    #[must_use]
    pub fn moment(&self, ticks: u64) -> u64 {
        self.nanoseconds(ticks.saturating_sub(self.ticks))
    }

    /// When the counter was first read, on the system's clock.
    #[must_use]
    pub fn origin(&self) -> Instant {
        self.instant
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter_now() -> u64 {
    // SAFETY: every processor of this architecture has the instruction, and it touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Bit 8 of leaf 0x8000_0007: the counter runs at one speed and in all states of the processor.
#[cfg(target_arch = "x86_64")]
fn counter_is_steady() -> bool {
    use core::arch::x86_64::__cpuid;
    const LARGEST: u32 = 0x8000_0000;
    const POWER: u32 = 0x8000_0007;
    __cpuid(LARGEST).eax >= POWER && __cpuid(POWER).edx & (1 << 8) != 0
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn counter_now() -> u64 {
    let ticks: u64;
    // SAFETY: the virtual counter can be read by programs, and reading it touches no memory.
    unsafe {
        core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack));
    }
    ticks
}

/// The architecture's counter has one speed by definition.
#[cfg(target_arch = "aarch64")]
fn counter_is_steady() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_now() -> u64 {
    0
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_is_steady() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_agrees_with_the_system_clock() {
        let (before, start) = (now(), Instant::now());
        std::thread::sleep(Duration::from_millis(20));
        let (after, waited) = (now(), start.elapsed().as_nanos() as f64);
        let measured = Rate::measure().nanoseconds(after - before) as f64;
        // Another program may run between the two readings; a wrong unit is far off.
        assert!(
            (0.5..2.0).contains(&(measured / waited)),
            "{measured} for {waited}"
        );
    }

    #[test]
    fn moments_count_from_the_first_reading() {
        let first = now();
        let rate = Rate::measure();
        let later = now();
        assert!(rate.moment(later) >= rate.moment(first));
        assert!(rate.moment(0) == 0);
    }
}
