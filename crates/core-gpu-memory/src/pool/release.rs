//! Blocks that other streams have to do with, on their way back.

use std::sync::atomic::Ordering::Relaxed;

use core_gpu_driver::{DriverError, Event, Stream};

use crate::pool::{
    central::{Central, Pending, Quarantined},
    inner::PoolInner,
    lease::{Lease, OtherStream},
    reserve::wait_for_others,
};

impl PoolInner {
    /// Marks the end of a block's use on other streams; it is free when those are reached.
    pub fn release_after_others(&self, lease: Box<Lease>) -> Option<DriverError> {
        // They stay listed until the block is pending: the end of a pool looks there.
        let others = self.lock().shared.get(&lease.node).cloned();
        let others = others.unwrap_or_default();
        let live = others.iter().filter_map(|other| other.stream.upgrade());
        let live: Vec<_> = live.collect();
        if self.is_closed() && is_each_waited_for(&live) {
            self.release_at_the_end(lease);
            return None;
        }
        let events = self.record_on_all(&live);
        let mut central = self.lock();
        if central.closed && events.is_ok() {
            // It was closed meanwhile, and nobody looks after what is pending any more.
            drop(central);
            if is_each_waited_for(&live) {
                self.release_at_the_end(lease);
                return None;
            }
            central = self.lock();
        }
        let (bytes, listed) = (lease.region.bytes, central.shared.remove(&lease.node));
        lease.shared.store(false, Relaxed);
        central.account_freed(&lease);
        let failed = match events {
            Ok(events) => {
                central.pend_after(&lease, &others, events);
                None
            }
            Err(error) => {
                central.quarantine_after(&lease, &others);
                Some(error)
            }
        };
        drop(central);
        // A capture's memory is kept with its graph: what was captured on other streams is no reason
        // to complain.
        let failed = failed.filter(|_| !self.settings.of_capture);
        if let Some(error) = &failed {
            self.fail_free(bytes, error.clone());
        }
        // That may be the end of a stream: not under the lock, and after the events were recorded.
        drop((live, others, listed));
        failed
    }

    /// Takes a block back of a pool that was closed, after the live ones of its other streams were waited
    /// for. Nobody will ask for it, nor look whether it is free: streams that have ended are waited for
    /// with the segment, and those of other devices here.
    fn release_at_the_end(&self, lease: Box<Lease>) {
        let devices = self.lock().other_devices.clone();
        if let Err(error) = wait_for_others(&devices) {
            self.report(&error);
        }
        let mut central = self.lock();
        let others = central.shared.remove(&lease.node).unwrap_or_default();
        for other in &others {
            central.orders.forget(other.order);
        }
        drop(central);
        lease.shared.store(false, Relaxed);
        self.release_to_heap(lease);
    }

    /// An event of each stream's own device, after what it has to do now.
    fn record_on_all(&self, streams: &[Stream]) -> Result<Vec<Event>, DriverError> {
        let record = |stream: &Stream| {
            if stream.may_be_capturing() && stream.is_capturing()? {
                let why = core_gpu_driver::Refusal::Capturing;
                return Err(DriverError::Refused {
                    function: "record",
                    why,
                });
            }
            let event = self.lock().events.take(stream.driver())?;
            stream.record(&event)?;
            Ok(event)
        };
        streams.iter().map(record).collect()
    }
}

impl Central {
    /// Holds a block back until its other streams have come so far as these events, or have ended.
    fn pend_after(&mut self, lease: &Lease, others: &[OtherStream], events: Vec<Event>) {
        let is_ended = |other: &&OtherStream| other.stream.upgrade().is_none();
        let (ended, marked): (Vec<_>, Vec<_>) = others.iter().partition(is_ended);
        for other in marked {
            self.orders.forget(other.order);
        }
        let number = self.next_held();
        self.pend(Pending {
            number,
            node: lease.node,
            order: lease.order,
            bytes: lease.region.bytes,
            events,
            ended: ended.into_iter().map(|other| other.order).collect(),
        });
    }

    /// Holds a block back of which nobody knows when other streams are done with it.
    fn quarantine_after(&mut self, lease: &Lease, others: &[OtherStream]) {
        self.orders.forget(lease.order);
        for other in others {
            self.orders.forget(other.order);
        }
        let number = self.next_held();
        self.quarantine.push(Quarantined {
            number,
            node: lease.node,
            bytes: lease.region.bytes,
        });
    }
}

fn is_each_waited_for(streams: &[Stream]) -> bool {
    streams.iter().all(|stream| stream.synchronize().is_ok())
}
