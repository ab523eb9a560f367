//! The driver's calls about streams and events.

use std::time::Duration;

use core_gpu_driver::{EventKind, RawEvent, RawStream, StreamKind};

use crate::{
    clock::StreamKey,
    code::Code,
    machine::{
        Machine,
        state::{EventState, Recording, Relation, State, Stop, Work},
        submit::{Order, Request},
    },
};

impl State {
    fn destroy_stream(&mut self, key: StreamKey) -> Result<(), Code> {
        let stream = self.stream(key)?;
        if !stream.made {
            return Err(Code::INVALID_HANDLE);
        }
        stream.destroyed = true;
        if stream.queue.is_empty() {
            self.remove_stream(key);
        }
        Ok(())
    }

    fn record(&mut self, event: RawEvent, key: StreamKey) -> Result<(), Code> {
        if self.event(event)?.device != self.stream(key)?.device {
            return Err(Code::INVALID_HANDLE);
        }
        let recording = match self.captured_point(key)? {
            Some((capture, clock)) => Recording::Captured { capture, clock },
            None => {
                let request = Request::new(Work::Nothing);
                let moment = self.submit_after("cuEventRecord", key, request, Order::default())?;
                let stream = self.stream(key)?;
                Recording::At {
                    moment,
                    clock: stream.clock.clone(),
                    nanoseconds: stream.busy_until,
                }
            }
        };
        self.event(event)?.recorded = Some(recording);
        Ok(())
    }

    fn wait_for_event(&mut self, key: StreamKey, event: RawEvent) -> Result<(), Code> {
        let captured = self.captured_point(key)?.is_some();
        match self.event(event)?.recorded.clone() {
            None => Ok(()),
            Some(Recording::Captured { capture, clock }) => self.join_capture(key, capture, &clock),
            Some(Recording::At { .. }) if captured => Err(Code::CAPTURE_ISOLATION),
            Some(Recording::At {
                moment,
                clock,
                nanoseconds,
            }) => {
                let order = Order {
                    after: vec![moment],
                    clock,
                    not_before: nanoseconds,
                };
                let request = Request::new(Work::Nothing);
                self.submit_after("cuStreamWaitEvent", key, request, order)
                    .map(|_| ())
            }
        }
    }

    /// What a question or a wait needs to know of an event. Nothing for one never recorded.
    fn recording(&mut self, event: RawEvent) -> Result<Option<Recording>, Code> {
        match self.event(event)?.recorded.clone() {
            Some(Recording::Captured { .. }) => Err(Code::CAPTURED_EVENT),
            other => Ok(other),
        }
    }

    /// The host now knows that an event has been reached.
    fn learn(&mut self, recording: &Recording) {
        if let Recording::At {
            clock, nanoseconds, ..
        } = recording
        {
            self.host.join(clock);
            self.now = self.now.max(*nanoseconds);
        }
    }

    fn query_event(&mut self, event: RawEvent) -> Result<bool, Code> {
        let Some(recording) = self.recording(event)? else {
            return Ok(true);
        };
        let Recording::At { moment, .. } = recording else {
            return Ok(true);
        };
        let done = self.reached(moment);
        if done {
            self.learn(&recording);
        } else {
            self.step_towards(moment);
        }
        Ok(done)
    }

    fn query_stream(&mut self, key: StreamKey) -> Result<bool, Code> {
        let last = self.last(key);
        let done = self.reached(last);
        if done {
            let stream = self.stream(key)?;
            let (clock, busy_until) = (stream.clock.clone(), stream.busy_until);
            self.host.join(&clock);
            self.now = self.now.max(busy_until);
        } else {
            self.step_towards(last);
        }
        Ok(done)
    }

    /// The machine's time at which an event was reached.
    fn time_of(&mut self, event: RawEvent) -> Result<u64, Code> {
        if self.event(event)?.kind != EventKind::Timed {
            return Err(Code::INVALID_HANDLE);
        }
        match self.recording(event)? {
            None | Some(Recording::Captured { .. }) => Err(Code::INVALID_HANDLE),
            Some(Recording::At { moment, .. }) if !self.reached(moment) => Err(Code::NOT_READY),
            Some(Recording::At { nanoseconds, .. }) => Ok(nanoseconds),
        }
    }

    /// Waits for a stream that is not being captured, and hears of earlier failures.
    fn synchronize_stream(&mut self, device: u32, key: StreamKey) -> Result<(), Stop> {
        self.wait_for_stream(key)?;
        Ok(self.not_lost(device)?)
    }
}

/// Streams and events. Any thread.
impl Machine {
    /// A new stream (`cuStreamCreate`).
    ///
    /// # Errors
    /// As faults are planned.
    pub fn create_stream(&self, device: u32, kind: StreamKind) -> Result<RawStream, Code> {
        self.call("cuStreamCreate", device, |state| {
            let key = state.handle();
            let relation = match kind {
                StreamKind::NonBlocking => Relation::Apart,
                StreamKind::Blocking => Relation::Blocking,
            };
            state.add_stream(key, device, relation);
            Ok(RawStream(key))
        })
    }

    /// Ends a stream without waiting (`cuStreamDestroy`): its work goes on.
    ///
    /// # Errors
    /// For an unknown or a default stream.
    pub fn destroy_stream(&self, device: u32, stream: RawStream) -> Result<(), Code> {
        self.call("cuStreamDestroy", device, |state| {
            let key = state.key(device, stream)?;
            state.destroy_stream(key)
        })
    }

    /// Waits for a stream (`cuStreamSynchronize`).
    ///
    /// # Errors
    /// For an unknown stream, one being captured, and when earlier work failed.
    pub fn synchronize_stream(&self, device: u32, stream: RawStream) -> Result<(), Code> {
        let begin = |state: &mut State| {
            let key = state.key(device, stream)?;
            state.not_captured(key)?;
            Ok(key)
        };
        let name = "cuStreamSynchronize";
        self.call_and_wait(name, device, begin, |state, key| {
            state.synchronize_stream(device, *key)
        })?;
        Ok(())
    }

    /// Whether a stream's work is done (`cuStreamQuery`).
    ///
    /// # Errors
    /// As [`Machine::synchronize_stream`].
    pub fn query_stream(&self, device: u32, stream: RawStream) -> Result<bool, Code> {
        self.call("cuStreamQuery", device, |state| {
            let key = state.key(device, stream)?;
            state.not_captured(key)?;
            let done = state.query_stream(key)?;
            state.not_lost(device)?;
            Ok(done)
        })
    }

    /// Waits for a device (`cuCtxSynchronize`).
    ///
    /// # Errors
    /// During a capture, and when earlier work failed.
    pub fn synchronize(&self, device: u32) -> Result<(), Code> {
        self.call_and_wait(
            "cuCtxSynchronize",
            device,
            |state| state.not_while_device_captures(device),
            |state, ()| {
                state.wait_for_device(device)?;
                Ok(state.not_lost(device)?)
            },
        )
    }

    /// A new event (`cuEventCreate`).
    ///
    /// # Errors
    /// As faults are planned.
    pub fn create_event(&self, device: u32, kind: EventKind) -> Result<RawEvent, Code> {
        self.call("cuEventCreate", device, |state| {
            let handle = state.handle();
            let event = EventState {
                device,
                kind,
                recorded: None,
            };
            state.events.insert(handle, event);
            Ok(RawEvent(handle))
        })
    }

    /// Ends an event (`cuEventDestroy`).
    ///
    /// # Errors
    /// For an unknown event.
    pub fn destroy_event(&self, device: u32, event: RawEvent) -> Result<(), Code> {
        self.call("cuEventDestroy", device, |state| {
            let known = state.events.remove(&event.0);
            known.map(|_| ()).ok_or(Code::INVALID_HANDLE)
        })
    }

    /// Records an event (`cuEventRecord`).
    ///
    /// # Errors
    /// For unknown handles, and handles of two devices.
    pub fn record(&self, device: u32, event: RawEvent, on: RawStream) -> Result<(), Code> {
        self.call("cuEventRecord", device, |state| {
            let key = state.key(device, on)?;
            state.record(event, key)
        })
    }

    /// Lets a stream wait for an event of any device (`cuStreamWaitEvent`).
    ///
    /// # Errors
    /// For unknown handles, and across the border of a capture.
    pub fn wait(&self, device: u32, on: RawStream, event: RawEvent) -> Result<(), Code> {
        self.call("cuStreamWaitEvent", device, |state| {
            let key = state.key(device, on)?;
            state.wait_for_event(key, event)
        })
    }

    /// Whether an event has been reached (`cuEventQuery`).
    ///
    /// # Errors
    /// For an unknown event, during a capture, and when earlier work failed.
    pub fn query_event(&self, device: u32, event: RawEvent) -> Result<bool, Code> {
        self.call("cuEventQuery", device, |state| {
            state.event(event)?;
            state.not_while_capturing()?;
            let done = state.query_event(event)?;
            state.not_lost(device)?;
            Ok(done)
        })
    }

    /// Waits for an event (`cuEventSynchronize`).
    ///
    /// # Errors
    /// As [`Machine::query_event`].
    pub fn synchronize_event(&self, device: u32, event: RawEvent) -> Result<(), Code> {
        let begin = |state: &mut State| {
            state.event(event)?;
            state.not_while_capturing()?;
            state.recording(event)
        };
        self.call_and_wait("cuEventSynchronize", device, begin, |state, recording| {
            if let Some(recording) = recording {
                if let Recording::At { moment, .. } = recording {
                    state.force(*moment)?;
                }
                state.learn(recording);
            }
            Ok(state.not_lost(device)?)
        })?;
        Ok(())
    }

    /// Time between two events (`cuEventElapsedTime`), exact on the machine's clock.
    ///
    /// # Errors
    /// For events without time or of two devices; not ready for one not reached.
    pub fn elapsed(&self, device: u32, start: RawEvent, end: RawEvent) -> Result<Duration, Code> {
        self.call("cuEventElapsedTime", device, |state| {
            if state.event(start)?.device != state.event(end)?.device {
                return Err(Code::INVALID_HANDLE);
            }
            let (start, end) = (state.time_of(start)?, state.time_of(end)?);
            Ok(Duration::from_nanos(end.saturating_sub(start)))
        })
    }
}
