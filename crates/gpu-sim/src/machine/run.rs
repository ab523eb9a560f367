//! Doing work: what is ready, in which order the schedule takes it, and what waiting for a moment
//! makes happen.

use crate::{
    clock::{Moment, StreamKey},
    code::Code,
    machine::{
        host_memory,
        state::{Source, State, Stop, Work},
    },
    memory::Origin,
    schedule::Schedule,
};

impl State {
    /// Whether a stream's next piece of work may be done.
    fn is_ready(&self, key: StreamKey) -> bool {
        let head = self
            .streams
            .get(&key)
            .and_then(|stream| stream.queue.front());
        head.is_some_and(|head| {
            head.after.iter().all(|moment| self.reached(*moment)) && !self.stalls(&head.work)
        })
    }

    fn stalls(&self, work: &Work) -> bool {
        matches!(work, Work::Stall { releases } if self.releases <= *releases)
    }

    /// Does a stream's next piece of work.
    fn run_one(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let Some(next) = stream.queue.pop_front() else {
            return;
        };
        stream.completed = next.sequence;
        let (device, gone) = (stream.device, stream.destroyed && stream.queue.is_empty());
        if gone {
            self.remove_stream(key);
        }
        let lost = |state: &Self| {
            let device = state.devices.get(device as usize);
            device.is_none_or(|device| device.sticky.is_some())
        };
        if lost(self) {
            return;
        }
        if let Err(code) = self.perform(device, next.work)
            && let Ok(device) = self.device(device)
        {
            device.sticky = Some(code);
        }
    }

    fn perform(&mut self, device: u32, work: Work) -> Result<(), Code> {
        match work {
            Work::Nothing | Work::Stall { .. } => Ok(()),
            Work::Copy { to, from, bytes } => self.copy_bytes(to, from, bytes),
            Work::Upload { to, from, bytes } => {
                match from {
                    Source::Staged(staged) => self.memory.write(to, &staged)?,
                    Source::Pinned(from) => host_memory::upload(&mut self.memory, to, from, bytes)?,
                }
                self.damage(to, bytes)
            }
            Work::Download { to, from, bytes } => {
                host_memory::download(&mut self.memory, to, from, bytes)
            }
            Work::Set { at, value, bytes } => {
                self.memory.pieces(at, bytes, |_, piece| piece.fill(value))
            }
            Work::Kernel(kernel) => kernel.run(&mut self.memory),
            Work::Free { address } => self.give_to_pool(device, address),
            Work::Fail(code) => Err(code),
        }
    }

    /// Turns a bit of what arrived, where that was asked for.
    fn damage(&mut self, at: u64, bytes: u64) -> Result<(), Code> {
        if self.damaged_uploads == 0 || bytes == 0 {
            return Ok(());
        }
        self.damaged_uploads -= 1;
        self.memory.pieces(at + bytes / 2, 1, |_, piece| {
            piece.iter_mut().for_each(|byte| *byte ^= 1);
        })
    }

    fn copy_bytes(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Code> {
        let size = usize::try_from(bytes).map_err(|_| Code::ILLEGAL_ADDRESS)?;
        let mut between = vec![0; size];
        self.memory.read(from, &mut between)?;
        self.memory.write(to, &between)
    }

    fn give_to_pool(&mut self, device: u32, address: u64) -> Result<(), Code> {
        let Some(gone) = self.memory.remove(address) else {
            return Err(Code::ILLEGAL_ADDRESS);
        };
        debug_assert!(matches!(gone.origin, Origin::Ordered { .. }));
        let bytes = gone.data.len() as u64;
        self.shadow.forget((address, address + bytes));
        let bytes = self.rounded(device, bytes);
        let device = self.device(device)?;
        device.pending_bytes = device.pending_bytes.saturating_sub(bytes);
        device.cached_bytes += bytes;
        Ok(())
    }

    /// Does what must be done for a moment to be reached, and what the schedule does besides.
    pub(crate) fn force(&mut self, moment: Moment) -> Result<(), Stop> {
        while !self.reached(moment) {
            if matches!(self.config.schedule, Schedule::Seeded(_)) {
                self.run_some();
                if self.reached(moment) {
                    break;
                }
            }
            self.force_head(moment.stream)?;
        }
        Ok(())
    }

    /// Does a stream's next piece of work after all that it waits for.
    fn force_head(&mut self, key: StreamKey) -> Result<(), Stop> {
        let head = self
            .streams
            .get(&key)
            .and_then(|stream| stream.queue.front());
        let Some(head) = head else {
            return Ok(());
        };
        if self.stalls(&head.work) {
            return Err(Stop::Blocked);
        }
        let (sequence, after) = (head.sequence, head.after.clone());
        for moment in after {
            self.force(moment)?;
        }
        let own = Moment {
            stream: key,
            sequence,
        };
        if !self.reached(own) {
            self.run_one(key);
        }
        Ok(())
    }

    /// Does one piece of the work that a moment needs: the progress that a question makes.
    pub(crate) fn step_towards(&mut self, moment: Moment) {
        let mut key = moment.stream;
        loop {
            let head = self
                .streams
                .get(&key)
                .and_then(|stream| stream.queue.front());
            let Some(head) = head else { return };
            let waits_for = head.after.iter().find(|moment| !self.reached(**moment));
            match waits_for {
                Some(moment) => key = moment.stream,
                None if self.stalls(&head.work) => return,
                None => return self.run_one(key),
            }
        }
    }

    /// What the schedule does when a call has been made.
    pub(crate) fn after_call(&mut self) {
        match self.config.schedule {
            Schedule::Latest => {}
            Schedule::Eager => self.run_ready(|_| true),
            Schedule::OneLate(late) => self.run_ready(|place| place != late),
            Schedule::Seeded(_) => self.run_some(),
        }
    }

    /// Does everything that can be done on streams whose place is accepted.
    fn run_ready(&mut self, accepted: impl Fn(usize) -> bool) {
        while let Some(key) = self.ready(&accepted).first().copied() {
            self.run_one(key);
        }
    }

    fn run_some(&mut self) {
        let count = self.random.below(4);
        for _ in 0..count {
            let ready = self.ready(&|_| true);
            let Some(key) = ready.get(self.random.below(ready.len())) else {
                return;
            };
            self.run_one(*key);
        }
    }

    fn ready(&self, accepted: &impl Fn(usize) -> bool) -> Vec<StreamKey> {
        self.streams
            .iter()
            .filter(|(key, stream)| accepted(stream.place) && self.is_ready(**key))
            .map(|(key, _)| *key)
            .collect()
    }

    /// The last moment of a stream so far.
    pub(crate) fn last(&self, key: StreamKey) -> Moment {
        let sequence = self.streams.get(&key).map_or(0, |stream| stream.submitted);
        Moment {
            stream: key,
            sequence,
        }
    }

    /// Waits for a stream: the host then knows of its work, and its clock is as late.
    pub(crate) fn wait_for_stream(&mut self, key: StreamKey) -> Result<(), Stop> {
        self.force(self.last(key))?;
        if let Some(stream) = self.streams.get(&key) {
            let device = stream.device;
            self.host.join(&stream.clock);
            self.now = self.now.max(stream.busy_until);
            self.trim_pool(device);
        }
        Ok(())
    }

    /// Waits for all streams of a device.
    pub(crate) fn wait_for_device(&mut self, device: u32) -> Result<(), Stop> {
        let keys: Vec<StreamKey> = self
            .streams
            .iter()
            .filter(|(_, stream)| stream.device == device)
            .map(|(key, _)| *key)
            .collect();
        for key in keys {
            // It may go while it is waited for, when it was destroyed before.
            let end = self.streams.get(&key);
            let end = end.map(|stream| (stream.clock.clone(), stream.busy_until));
            self.force(self.last(key))?;
            if let Some((clock, busy_until)) = end {
                self.host.join(&clock);
                self.now = self.now.max(busy_until);
            }
        }
        if let Some(gone) = self.gone.remove(&device) {
            self.host.join(&gone);
        }
        self.trim_pool(device);
        Ok(())
    }

    /// At a synchronisation the device's pool gives back what is above its threshold.
    fn trim_pool(&mut self, device: u32) {
        let config = self.config.devices.get(device as usize);
        let keep = config.map_or(0, |config| config.pool_release_threshold_bytes);
        if let Ok(device) = self.device(device) {
            device.cached_bytes = device.cached_bytes.min(keep);
        }
    }

    /// The code that a device answers every call with, once it is lost.
    pub(crate) fn not_lost(&self, device: u32) -> Result<(), Code> {
        let device = self.devices.get(device as usize);
        let sticky = device.ok_or(Code::INVALID_DEVICE)?.sticky;
        sticky.map_or(Ok(()), Err)
    }
}
