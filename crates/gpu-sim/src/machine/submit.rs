//! Putting work on a stream: what it comes after, when it will be done on the machine's clock, and
//! whether it may touch what it touches. All of that is known before anything is done.

use core_gpu_driver::HostAddress;

use crate::{
    clock::{Clock, Moment, StreamKey},
    code::Code,
    machine::{
        link::LinkKey,
        state::{Queued, Relation, State, Touch, Work},
    },
};

/// Work to be put on a stream.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) work: Work,
    pub(crate) touches: Vec<Touch>,
    /// Memory of the host that it uses while it runs.
    pub(crate) host: Option<HostAddress>,
    pub(crate) nanoseconds: u64,
    /// Links that it has to itself meanwhile.
    pub(crate) links: Vec<LinkKey>,
}

impl Request {
    pub(crate) fn new(work: Work) -> Self {
        Self {
            work,
            touches: Vec::new(),
            host: None,
            nanoseconds: 0,
            links: Vec::new(),
        }
    }
}

/// What work comes after besides its own stream's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    pub(crate) after: Vec<Moment>,
    pub(crate) clock: Clock,
    /// The machine's time before which it cannot begin.
    pub(crate) not_before: u64,
}

impl State {
    /// Puts work on a stream, or into the capture that the stream is in.
    pub(crate) fn submit(
        &mut self,
        function: &'static str,
        key: StreamKey,
        request: Request,
    ) -> Result<(), Code> {
        if self.stream(key)?.capture.is_some() {
            return self.capture_work(function, key, request);
        }
        self.submit_after(function, key, request, Order::default())
            .map(|_| ())
    }

    /// Puts work on a stream that is not being captured, after more than the stream's own.
    pub(crate) fn submit_after(
        &mut self,
        function: &'static str,
        key: StreamKey,
        request: Request,
        mut order: Order,
    ) -> Result<Moment, Code> {
        self.not_during_implicit_capture(key)?;
        self.add_default_order(key, &mut order)?;
        let moment = Moment {
            stream: key,
            sequence: self.stream(key)?.submitted + 1,
        };
        let mut clock = self.stream(key)?.clock.clone();
        clock.join(&self.host);
        clock.join(&order.clock);
        clock.learn(moment);
        let ranges = request.touches.iter().map(|touch| {
            let end = touch.start.saturating_add(touch.bytes);
            ((touch.start, end), touch.access)
        });
        for (range, access) in ranges.clone() {
            let broken = self.shadow.would_break(range, access, moment, &clock);
            self.broken(function, broken)?;
        }
        for (range, access) in ranges {
            self.shadow.touch(range, access, moment, &clock);
        }
        if let Some(pinned) = request.host.and_then(|at| self.pinned_at(at)) {
            pinned.users.retain(|user| user.stream != key);
            pinned.users.push(moment);
        }
        let (now, launch) = (self.now, self.config.costs.launch);
        let stream = self.stream(key)?;
        let begins = now.max(stream.busy_until).max(order.not_before);
        let ready = match request.work {
            Work::Nothing | Work::Free { .. } => begins,
            _ => begins.saturating_add(launch),
        };
        let takes = request.nanoseconds;
        let moves = self.links.take(&request.links, now, ready, takes);
        let stream = self.stream(key)?;
        stream.busy_until = moves.saturating_add(takes);
        stream.submitted = moment.sequence;
        stream.clock = clock;
        stream.queue.push_back(Queued {
            sequence: moment.sequence,
            after: order.after,
            work: request.work,
        });
        Ok(moment)
    }

    /// The legacy default stream comes after all blocking streams of its device, and they after it.
    fn add_default_order(&mut self, key: StreamKey, order: &mut Order) -> Result<(), Code> {
        let (device, relation) = {
            let stream = self.stream(key)?;
            (stream.device, stream.relation)
        };
        let other = match relation {
            Relation::Apart => return Ok(()),
            Relation::Legacy => Relation::Blocking,
            Relation::Blocking => Relation::Legacy,
        };
        for (key, stream) in &self.streams {
            if stream.device == device && stream.relation == other {
                order.after.push(Moment {
                    stream: *key,
                    sequence: stream.submitted,
                });
                order.clock.join(&stream.clock);
                order.not_before = order.not_before.max(stream.busy_until);
            }
        }
        Ok(())
    }

    /// How long moving bytes takes, in nanoseconds.
    pub(crate) fn takes(&self, bytes: u64, over_the_link: bool) -> u64 {
        let costs = &self.config.costs;
        let rate = if over_the_link {
            costs.link_bytes_per_microsecond
        } else {
            costs.memory_bytes_per_microsecond
        };
        bytes.saturating_mul(1000) / rate.max(1)
    }
}
