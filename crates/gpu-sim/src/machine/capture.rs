//! Capturing streams into graphs: work is kept instead of done, what would need it done is refused,
//! and a refusal breaks the capture. A graph's nodes run one after the other, which is one of the
//! orders that they may run in: that branches do not race is checked as they are captured, and that
//! memory still has the owner that it was captured with, at each launch.

use std::{collections::BTreeMap, thread::ThreadId};

use crate::{
    clock::{Clock, Moment, StreamKey},
    code::Code,
    machine::{
        Machine,
        state::{Relation, State, Touch},
        submit::{Order, Request},
    },
    shadow::{Broken, Owner, Shadow},
    violation::ViolationKind,
};
use core_gpu_driver::{CaptureMode, RawGraph, RawStream};

/// Whether a stream is being captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureStatus {
    /// It is not.
    None,
    /// It is.
    Active,
    /// It is, and the capture is broken: it can only be ended.
    Broken,
}

/// A capture that has not ended.
#[derive(Debug)]
pub(crate) struct Capture {
    origin: StreamKey,
    mode: CaptureMode,
    thread: ThreadId,
    broken: bool,
    nodes: Vec<Node>,
    /// Which node touched which byte, for races between branches.
    shadow: Shadow,
    /// For each stream in it, what its work in the capture comes after.
    clocks: BTreeMap<StreamKey, Clock>,
    counts: BTreeMap<StreamKey, u64>,
}

/// A piece of captured work.
#[derive(Clone, Debug)]
struct Node {
    request: Request,
    /// Who held the bytes that it touches.
    owners: Vec<(Touch, Vec<Owner>)>,
}

/// What was captured.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
}

impl State {
    fn capture_of(&mut self, key: StreamKey) -> Result<Option<&mut Capture>, Code> {
        let Some(id) = self.stream(key)?.capture else {
            return Ok(None);
        };
        Ok(self.captures.get_mut(&id))
    }

    /// Keeps work in the capture that its stream is in.
    pub(crate) fn capture_work(
        &mut self,
        function: &'static str,
        key: StreamKey,
        request: Request,
    ) -> Result<(), Code> {
        let owned = request.touches.iter().map(|touch| {
            let range = (touch.start, touch.start.saturating_add(touch.bytes));
            (*touch, range)
        });
        let owned: Vec<_> = owned.collect();
        for (_, range) in &owned {
            let broken = self.shadow.forbids(*range, key);
            self.broken(function, broken)?;
        }
        let owners = owned.iter();
        let owners = owners.map(|(touch, range)| (*touch, self.shadow.owners(*range)));
        let owners = owners.collect();
        let Some(capture) = self.capture_of(key)? else {
            return Err(Code::INVALID_HANDLE);
        };
        if capture.broken {
            return Err(Code::CAPTURE_INVALIDATED);
        }
        let count = capture.counts.entry(key).or_default();
        *count += 1;
        let moment = Moment {
            stream: key,
            sequence: *count,
        };
        let clock = capture.clocks.entry(key).or_default();
        clock.learn(moment);
        let clock = clock.clone();
        let mut race = None;
        for (touch, range) in &owned {
            let broken = capture.shadow.touch(*range, touch.access, moment, &clock);
            race = race.or(broken);
        }
        capture.nodes.push(Node { request, owners });
        self.broken(function, race)
    }

    /// Bytes that had another owner when they were captured.
    fn with_another_owner(&self, node: &Node) -> Option<Broken> {
        let changed = |(touch, owners): &(Touch, Vec<Owner>)| {
            let range = (touch.start, touch.start.saturating_add(touch.bytes));
            let now = self.shadow.owners(range);
            let kept = now == *owners || now.iter().all(|owner| owner.of_graph);
            (!kept).then_some(Broken {
                address: touch.start,
                bytes: touch.bytes,
                kind: ViolationKind::OwnerChanged,
            })
        };
        node.owners.iter().find_map(changed)
    }

    /// Refuses a call that might wait, where a capture forbids it, and breaks that capture.
    pub(crate) fn not_while_capturing(&mut self) -> Result<(), Code> {
        let thread = std::thread::current().id();
        if self.thread_modes.get(&thread) == Some(&CaptureMode::Relaxed) {
            return Ok(());
        }
        let mut refused = false;
        for capture in self.captures.values_mut() {
            let forbidden = match capture.mode {
                CaptureMode::Global => true,
                CaptureMode::ThreadLocal => capture.thread == thread,
                CaptureMode::Relaxed => false,
            };
            capture.broken |= forbidden;
            refused |= forbidden;
        }
        if refused {
            self.broke_capture = Some(self.function);
            return Err(Code::CAPTURE_UNSUPPORTED);
        }
        Ok(())
    }

    /// Refuses to wait for a device of which a stream is being captured, in whatever mode, and breaks
    /// those captures.
    pub(crate) fn not_while_device_captures(&mut self, device: u32) -> Result<(), Code> {
        self.not_while_capturing()?;
        let captured: Vec<u64> = self
            .streams
            .values()
            .filter(|stream| stream.device == device)
            .filter_map(|stream| stream.capture)
            .collect();
        for id in &captured {
            if let Some(capture) = self.captures.get_mut(id) {
                capture.broken = true;
            }
        }
        if captured.is_empty() {
            return Ok(());
        }
        self.broke_capture = Some(self.function);
        Err(Code::CAPTURE_UNSUPPORTED)
    }

    /// Refuses to wait for a stream that is being captured, and breaks the capture.
    pub(crate) fn not_captured(&mut self, key: StreamKey) -> Result<(), Code> {
        self.not_during_implicit_capture(key)?;
        if let Some(capture) = self.capture_of(key)? {
            capture.broken = true;
            self.broke_capture = Some(self.function);
            return Err(Code::CAPTURE_UNSUPPORTED);
        }
        Ok(())
    }

    /// The legacy default stream cannot be used while a stream that it waits for is being captured.
    pub(crate) fn not_during_implicit_capture(&mut self, key: StreamKey) -> Result<(), Code> {
        let stream = self.stream(key)?;
        if stream.relation != Relation::Legacy {
            return Ok(());
        }
        let device = stream.device;
        let captured = self.streams.values().find_map(|stream| {
            let waits = stream.device == device && stream.relation == Relation::Blocking;
            stream.capture.filter(|_| waits)
        });
        let Some(id) = captured else {
            return Ok(());
        };
        if let Some(capture) = self.captures.get_mut(&id) {
            capture.broken = true;
        }
        Err(Code::CAPTURE_IMPLICIT)
    }

    /// What an event recorded on a stream in a capture stands for; nothing outside of a capture.
    pub(crate) fn captured_point(&mut self, key: StreamKey) -> Result<Option<(u64, Clock)>, Code> {
        let Some(id) = self.stream(key)?.capture else {
            return Ok(None);
        };
        let Some(capture) = self.captures.get_mut(&id) else {
            return Ok(None);
        };
        if capture.broken {
            return Err(Code::CAPTURE_INVALIDATED);
        }
        let clock = capture.clocks.get(&key).cloned();
        Ok(Some((id, clock.unwrap_or_default())))
    }

    /// Lets a stream wait for an event of a capture: it becomes part of it.
    pub(crate) fn join_capture(
        &mut self,
        key: StreamKey,
        id: u64,
        clock: &Clock,
    ) -> Result<(), Code> {
        if self.stream(key)?.capture.is_some_and(|own| own != id) {
            return Err(Code(902));
        }
        if self.stream(key)?.relation == Relation::Legacy {
            return Err(Code::CAPTURE_IMPLICIT);
        }
        let capture = self.captures.get_mut(&id).ok_or(Code::CAPTURED_EVENT)?;
        capture.clocks.entry(key).or_default().join(clock);
        self.stream(key)?.capture = Some(id);
        Ok(())
    }

    fn begin_capture(&mut self, key: StreamKey, mode: CaptureMode) -> Result<(), Code> {
        let stream = self.stream(key)?;
        if stream.capture.is_some() {
            return Err(Code::INVALID_VALUE);
        }
        if stream.relation == Relation::Legacy {
            return Err(Code::CAPTURE_UNSUPPORTED);
        }
        let id = self.handle();
        let capture = Capture {
            origin: key,
            mode,
            thread: std::thread::current().id(),
            broken: false,
            nodes: Vec::new(),
            shadow: Shadow::default(),
            clocks: BTreeMap::from([(key, Clock::default())]),
            counts: BTreeMap::new(),
        };
        self.captures.insert(id, capture);
        self.stream(key)?.capture = Some(id);
        Ok(())
    }

    fn end_capture(&mut self, key: StreamKey) -> Result<RawGraph, Code> {
        let id = self.stream(key)?.capture.ok_or(Code::INVALID_VALUE)?;
        let capture = self.captures.get(&id).ok_or(Code::INVALID_VALUE)?;
        if capture.origin != key {
            return Err(Code::CAPTURE_UNMATCHED);
        }
        for stream in self.streams.values_mut() {
            stream.capture = stream.capture.filter(|own| *own != id);
        }
        let capture = self.captures.remove(&id).ok_or(Code::INVALID_VALUE)?;
        if capture.broken {
            return Err(Code::CAPTURE_INVALIDATED);
        }
        let end = capture.clocks.get(&key).cloned().unwrap_or_default();
        let joined = capture.counts.iter().all(|(stream, count)| {
            end.knows(Moment {
                stream: *stream,
                sequence: *count,
            })
        });
        if !joined {
            return Err(Code::CAPTURE_UNJOINED);
        }
        let graph = self.handle();
        let nodes = capture.nodes;
        self.graphs.insert(graph, Graph { nodes });
        Ok(RawGraph(graph))
    }
}

impl Machine {
    /// Begins to capture a stream (`cuStreamBeginCapture`).
    ///
    /// # Errors
    /// For the legacy default stream, and one that is being captured.
    pub fn begin_capture(
        &self,
        device: u32,
        stream: RawStream,
        mode: CaptureMode,
    ) -> Result<(), Code> {
        self.call("cuStreamBeginCapture", device, |state| {
            let key = state.key(device, stream)?;
            state.begin_capture(key, mode)
        })
    }

    /// Ends a capture on the stream that it began on (`cuStreamEndCapture`).
    ///
    /// # Errors
    /// When it began elsewhere, is broken, or has work that was not joined. It has ended then too,
    /// unless it began elsewhere.
    pub fn end_capture(&self, device: u32, stream: RawStream) -> Result<RawGraph, Code> {
        self.call("cuStreamEndCapture", device, |state| {
            let key = state.key(device, stream)?;
            state.end_capture(key)
        })
    }

    /// Whether a stream is being captured (`cuStreamIsCapturing`).
    ///
    /// # Errors
    /// For the legacy default stream while a stream that it waits for is being captured.
    pub fn capture_status(&self, device: u32, stream: RawStream) -> Result<CaptureStatus, Code> {
        self.call("cuStreamIsCapturing", device, |state| {
            let key = state.key(device, stream)?;
            state.not_during_implicit_capture(key)?;
            Ok(match state.capture_of(key)? {
                None => CaptureStatus::None,
                Some(capture) if capture.broken => CaptureStatus::Broken,
                Some(_) => CaptureStatus::Active,
            })
        })
    }

    /// The driver function whose call broke a capture last. For tests; no driver tells it.
    #[must_use]
    pub fn broke_capture(&self) -> Option<&'static str> {
        self.lock().broke_capture
    }

    /// Puts a graph's work on a stream (`cuGraphLaunch`).
    ///
    /// # Errors
    /// For an unknown graph, and as its work would fail.
    pub fn launch_graph(
        &self,
        device: u32,
        graph: RawGraph,
        stream: RawStream,
    ) -> Result<(), Code> {
        self.call("cuGraphLaunch", device, |state| {
            let key = state.key(device, stream)?;
            let graph = state.graphs.get(&graph.0).ok_or(Code::INVALID_HANDLE)?;
            for node in graph.nodes.clone() {
                let broken = state.with_another_owner(&node);
                state.broken("cuGraphLaunch", broken)?;
                let work = node.request;
                state.submit_after("cuGraphLaunch", key, work, Order::default())?;
            }
            Ok(())
        })
    }

    /// Makes a graph ready to be launched (`cuGraphInstantiate`): another one, which is destroyed by
    /// itself.
    ///
    /// # Errors
    /// For an unknown graph.
    pub fn instantiate_graph(&self, device: u32, graph: RawGraph) -> Result<RawGraph, Code> {
        self.call("cuGraphInstantiate", device, |state| {
            let graph = state.graphs.get(&graph.0).ok_or(Code::INVALID_HANDLE)?;
            let ready = graph.clone();
            let handle = state.handle();
            state.graphs.insert(handle, ready);
            Ok(RawGraph(handle))
        })
    }

    /// Sets from which captures this thread's calls are refused, and says what it was before
    /// (`cuThreadExchangeStreamCaptureMode`). With [`CaptureMode::Relaxed`] none of its calls breaks
    /// a capture, other than waiting for what is being captured.
    pub fn exchange_capture_mode(&self, mode: CaptureMode) -> CaptureMode {
        let thread = std::thread::current().id();
        let mut state = self.lock();
        let before = state.thread_modes.insert(thread, mode);
        before.unwrap_or_default()
    }

    /// Gives a graph back (`cuGraphDestroy`).
    ///
    /// # Errors
    /// For an unknown graph.
    pub fn destroy_graph(&self, device: u32, graph: RawGraph) -> Result<(), Code> {
        self.call("cuGraphDestroy", device, |state| {
            let known = state.graphs.remove(&graph.0);
            known.map(|_| ()).ok_or(Code::INVALID_HANDLE)
        })
    }
}
