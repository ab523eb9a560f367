//! The driver's calls about memory: of the device, in a stream's order or not, and of the host.

use core_gpu_driver::{DeviceAddress, HostAddress, MemoryInfo, RawStream, Region, RegionState};

use crate::{
    clock::{Clock, StreamKey},
    code::Code,
    machine::{
        Machine, host_memory,
        state::{PinnedState, State, Stop, Touch, Work},
        submit::Request,
    },
    memory::Origin,
    shadow::{Access, Broken},
    violation::ViolationKind,
};

impl State {
    /// What the driver's books make of a size.
    pub(crate) fn rounded(&self, device: u32, bytes: u64) -> u64 {
        let device = self.config.devices.get(device as usize);
        let granularity = device.map_or(1, |device| device.granularity_bytes.max(1));
        bytes
            .checked_next_multiple_of(granularity)
            .unwrap_or(u64::MAX)
    }

    /// Bytes that nobody holds: not this process, not others, not a context, not the pool.
    pub(crate) fn free_bytes(&self, device: u32) -> u64 {
        let number = device as usize;
        let (Some(config), Some(device)) =
            (self.config.devices.get(number), self.devices.get(number))
        else {
            return 0;
        };
        let context = if device.contexts > 0 {
            config.context_bytes
        } else {
            0
        };
        [
            device.used_bytes,
            device.cached_bytes,
            device.pending_bytes,
            device.other_processes_bytes,
            context,
        ]
        .iter()
        .fold(config.total_bytes, |free, held| free.saturating_sub(*held))
    }

    /// Takes memory of a device, from its pool first when `pooled`.
    pub(crate) fn take(&mut self, device: u32, bytes: u64, pooled: bool) -> Result<(), Code> {
        let bytes = self.rounded(device, bytes);
        let cached = if pooled {
            self.device(device)?.cached_bytes
        } else {
            0
        };
        let from_pool = cached.min(bytes);
        if bytes - from_pool > self.free_bytes(device) {
            return Err(Code::OUT_OF_MEMORY);
        }
        let device = self.device(device)?;
        device.cached_bytes -= from_pool;
        device.used_bytes += bytes;
        Ok(())
    }

    fn allocate(&mut self, device: u32, bytes: u64, origin: Origin) -> Result<u64, Code> {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        self.take(device, bytes, matches!(origin, Origin::Ordered { .. }))?;
        self.now += self.config.costs.allocation;
        self.memory.allocate(device, bytes, origin)
    }

    /// The bytes of an allocation that `cuMemFree` and `cuMemFreeAsync` take.
    fn to_be_freed(&self, device: u32, address: u64) -> Result<u64, Code> {
        let known = self.memory.at(address).filter(|found| {
            let live = matches!(
                found.origin,
                Origin::Plain | Origin::Ordered { freed: false }
            );
            live && found.device == device
        });
        let found = known.ok_or(Code::INVALID_VALUE)?;
        Ok(found.data.len() as u64)
    }

    fn begin_free(&mut self, device: u32, address: u64) -> Result<(), Code> {
        let bytes = self.to_be_freed(device, address)?;
        // It waits for the device.
        self.not_while_device_captures(device)?;
        let range = (address, address + bytes);
        let unfinished = self.shadow.unfinished(range, &self.host);
        let broken = unfinished.map(|moment| Broken {
            address,
            bytes,
            kind: ViolationKind::FreedInUse {
                stream: moment.stream,
            },
        });
        self.broken("cuMemFree", broken)
    }

    fn finish_free(&mut self, device: u32, address: u64) -> Result<(), Stop> {
        self.wait_for_device(device)?;
        self.not_lost(device)?;
        let Some(gone) = self.memory.remove(address) else {
            return Err(Code::INVALID_VALUE.into());
        };
        let bytes = gone.data.len() as u64;
        self.shadow.forget((address, address + bytes));
        self.now += self.config.costs.allocation;
        let bytes = self.rounded(device, bytes);
        let device = self.device(device)?;
        device.used_bytes = device.used_bytes.saturating_sub(bytes);
        Ok(())
    }

    fn allocate_ordered(&mut self, device: u32, bytes: u64, key: StreamKey) -> Result<u64, Stop> {
        const NAME: &str = "cuMemAllocAsync";
        let origin = Origin::Ordered { freed: false };
        let address = match self.allocate(device, bytes, origin) {
            Err(Code::OUT_OF_MEMORY) => {
                // The driver waits for frees before it gives up.
                self.force(self.last(key))?;
                self.allocate(device, bytes, origin)?
            }
            other => other?,
        };
        // The memory begins here: whoever uses it on another stream must come after.
        let mut request = Request::new(Work::Nothing);
        request.touches.push(Touch {
            start: address,
            bytes,
            access: Access::Write,
        });
        self.submit(NAME, key, request)?;
        Ok(address)
    }

    fn free_ordered(&mut self, device: u32, address: u64, key: StreamKey) -> Result<(), Code> {
        let bytes = self.to_be_freed(device, address)?;
        let mut request = Request::new(Work::Free { address });
        request.touches.push(Touch {
            start: address,
            bytes,
            access: Access::Write,
        });
        self.submit("cuMemFreeAsync", key, request)?;
        if let Some(found) = self.memory.at_mut(address) {
            found.origin = Origin::Ordered { freed: true };
        }
        let rounded = self.rounded(device, bytes);
        let device = self.device(device)?;
        // Until the work is done the bytes are neither used nor in the pool: see `give_to_pool`.
        device.used_bytes = device.used_bytes.saturating_sub(rounded);
        device.pending_bytes += rounded;
        Ok(())
    }

    /// What a pool says about bytes of one of its segments.
    fn said(&mut self, device: u32, region: Region, state: RegionState) -> Result<(), Code> {
        let start = region.address.get();
        let range = (start, start.saturating_add(region.bytes));
        let broken = match state {
            RegionState::Free => self.shadow.take_back(range, false),
            RegionState::Quarantined => self.shadow.take_back(range, true),
            RegionState::OfGraph => {
                self.shadow.keep_for_graph(range);
                None
            }
            RegionState::InUse { on } => {
                let key = self.key(device, on)?;
                let mut clock: Clock = self.stream(key)?.clock.clone();
                clock.join(&self.host);
                self.shadow.hand_out(range, key, &clock)
            }
            RegionState::AlsoUsedOn { stream } => {
                let key = self.key(device, stream)?;
                self.shadow.share(range, key)
            }
        };
        self.broken("annotate", broken)
    }
}

/// Memory. All sizes are in bytes. Any thread.
impl Machine {
    /// Free and total memory (`cuMemGetInfo`).
    ///
    /// # Errors
    /// As faults are planned.
    pub fn memory_info(&self, device: u32) -> Result<MemoryInfo, Code> {
        self.call("cuMemGetInfo", device, |state| {
            let config = state.config.devices.get(device as usize);
            let total_bytes = config.ok_or(Code::INVALID_DEVICE)?.total_bytes;
            Ok(MemoryInfo {
                free_bytes: state.free_bytes(device),
                total_bytes,
            })
        })
    }

    /// Memory of a device (`cuMemAlloc`), poisoned.
    ///
    /// # Errors
    /// Out of memory; an invalid value for zero bytes; during a capture.
    pub fn allocate(&self, device: u32, bytes: u64) -> Result<DeviceAddress, Code> {
        self.call("cuMemAlloc", device, |state| {
            state.not_while_capturing()?;
            let address = state.allocate(device, bytes, Origin::Plain)?;
            DeviceAddress::new(address).ok_or(Code::OUT_OF_MEMORY)
        })
    }

    /// Memory that moves between device and host (`cuMemAllocManaged`), poisoned. Here it is the
    /// device's: there is not more of it than that has.
    ///
    /// # Errors
    /// As [`Machine::allocate`].
    pub fn allocate_managed(&self, device: u32, bytes: u64) -> Result<DeviceAddress, Code> {
        self.call("cuMemAllocManaged", device, |state| {
            state.not_while_capturing()?;
            let address = state.allocate(device, bytes, Origin::Plain)?;
            DeviceAddress::new(address).ok_or(Code::OUT_OF_MEMORY)
        })
    }

    /// Gives memory back (`cuMemFree`) after waiting for the device.
    ///
    /// # Errors
    /// An invalid value for what is no live allocation; during a capture.
    pub fn free(&self, device: u32, at: DeviceAddress) -> Result<(), Code> {
        self.call_and_wait(
            "cuMemFree",
            device,
            |state| state.begin_free(device, at.get()),
            |state, ()| state.finish_free(device, at.get()),
        )
    }

    /// Memory in a stream's order (`cuMemAllocAsync`). Not in a capture: a real driver makes a node
    /// of it, this one refuses.
    ///
    /// # Errors
    /// As [`Machine::allocate`]; not supported, where the device is made so.
    pub fn allocate_on(
        &self,
        device: u32,
        bytes: u64,
        on: RawStream,
    ) -> Result<DeviceAddress, Code> {
        let prepare = |state: &mut State| {
            let config = state.config.devices.get(device as usize);
            let able = config.is_some_and(|config| config.stream_ordered_allocation);
            let key = state.key(device, on)?;
            state.not_during_implicit_capture(key)?;
            if !able || state.stream(key)?.capture.is_some() {
                return Err(Code::NOT_SUPPORTED);
            }
            Ok((key, None))
        };
        let allocated =
            self.call_and_wait("cuMemAllocAsync", device, prepare, |state, (key, at)| {
                let address = state.allocate_ordered(device, bytes, *key)?;
                *at = DeviceAddress::new(address);
                Ok(())
            })?;
        allocated.1.ok_or(Code::OUT_OF_MEMORY)
    }

    /// Gives memory back in a stream's order (`cuMemFreeAsync`).
    ///
    /// # Errors
    /// An invalid value for what is no live allocation.
    pub fn free_on(&self, device: u32, at: DeviceAddress, on: RawStream) -> Result<(), Code> {
        self.call("cuMemFreeAsync", device, |state| {
            let key = state.key(device, on)?;
            if state.stream(key)?.capture.is_some() {
                return Err(Code::NOT_SUPPORTED);
            }
            state.free_ordered(device, at.get(), key)
        })
    }

    /// Pinned memory of the host (`cuMemHostAlloc`), poisoned.
    ///
    /// # Errors
    /// Out of memory; an invalid value for zero bytes; during a capture.
    pub fn allocate_pinned(&self, device: u32, bytes: u64) -> Result<HostAddress, Code> {
        self.call("cuMemHostAlloc", device, |state| {
            state.not_while_capturing()?;
            let at = host_memory::allocate(bytes)?;
            let pinned = PinnedState {
                device,
                bytes,
                users: Vec::new(),
            };
            state.pinned.insert(at.get(), pinned);
            Ok(at)
        })
    }

    /// Gives pinned memory back (`cuMemFreeHost`) after waiting for the device.
    ///
    /// # Errors
    /// An invalid value for what is no live allocation; during a capture.
    ///
    /// # Safety
    /// Nobody uses the memory, on the host.
    #[expect(unsafe_code, reason = "it ends memory of the host")]
    pub unsafe fn free_pinned(&self, device: u32, at: HostAddress) -> Result<(), Code> {
        let begin = |state: &mut State| {
            let pinned = state.pinned.get(&at.get()).ok_or(Code::INVALID_VALUE)?;
            let (users, bytes) = (pinned.users.clone(), pinned.bytes);
            state.not_while_capturing()?;
            let running = users.iter().find(|user| !state.host.knows(**user));
            let broken = running.map(|user| Broken {
                address: at.get(),
                bytes,
                kind: ViolationKind::PinnedFreedInUse {
                    stream: user.stream,
                },
            });
            state.broken("cuMemFreeHost", broken)
        };
        self.call_and_wait("cuMemFreeHost", device, begin, |state, ()| {
            let owner = state.pinned.get(&at.get()).map(|pinned| pinned.device);
            state.wait_for_device(owner.unwrap_or(device))?;
            if let Some(gone) = state.pinned.remove(&at.get()) {
                // SAFETY: it was in the table; no work is left, and the caller promises the rest.
                unsafe { host_memory::free(at, gone.bytes) };
            }
            Ok(())
        })
    }

    /// Hears what a pool says about bytes of its segments. A broken rule is recorded; there is no
    /// call that could fail.
    pub fn annotate(&self, device: u32, region: Region, state: RegionState) {
        let mut machine = self.lock();
        // The violation is on record; an unknown stream cannot be handed bytes and is one, too.
        let said = machine.said(device, region, state);
        if said == Err(Code::INVALID_HANDLE) {
            let (RegionState::InUse { on: stream } | RegionState::AlsoUsedOn { stream }) = state
            else {
                return;
            };
            let broken = Broken {
                address: region.address.get(),
                bytes: region.bytes,
                kind: ViolationKind::UnknownStream { stream: stream.0 },
            };
            machine.broken("annotate", Some(broken)).ok();
        }
    }
}
