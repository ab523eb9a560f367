//! The simulated machine as a [`Driver`]: codes become errors, and nothing else happens here.

use std::{sync::Arc, time::Duration};

use core_gpu_driver::{
    Absent, Capabilities, CaptureMode, DeviceAddress, DeviceId, DeviceInfo, Driver, DriverError,
    EventKind, HostAddress, MemoryInfo, PhysicalMemory, Place, PlatformKind, RawEvent, RawGraph,
    RawStream, Refusal, Region, RegionState, StreamKind, VirtualMemory, codes,
};

use crate::{
    code::Code,
    config::Config,
    kernel::Kernel,
    machine::{Machine, capture::CaptureStatus, virtual_calls},
    memory::ALIGNMENT,
    schedule::Schedule,
};

/// One device of a [`Machine`], as a driver. Its context is held as long as it lives.
#[derive(Debug)]
pub struct SimDriver {
    machine: Machine,
    device: u32,
    info: DeviceInfo,
}

impl SimDriver {
    /// A machine with one device of so many bytes, and the device as a driver.
    ///
    /// # Errors
    /// As holding its context fails.
    pub fn of_machine(
        bytes: u64,
        schedule: Schedule,
    ) -> Result<(Machine, Arc<dyn Driver>), DriverError> {
        let mut config = Config::with_devices(&[bytes]);
        config.schedule = schedule;
        let machine = Machine::new(config);
        let driver = Self::open(&machine, 0)?;
        Ok((machine, driver))
    }

    /// Opens a device by its number.
    ///
    /// # Errors
    /// For an unknown device, and as holding its context fails.
    pub fn open(machine: &Machine, device: u32) -> Result<Arc<Self>, DriverError> {
        let config = machine.config();
        let Some(found) = config.devices.get(device as usize) else {
            let wanted = format!("number {device}");
            return Err(Absent::Device { wanted }.into());
        };
        let info = DeviceInfo {
            id: DeviceId {
                platform: PlatformKind::Simulated,
                uuid: found.uuid,
            },
            ordinal: device,
            name: found.name.clone(),
            total_bytes: found.total_bytes,
            compute_capability: found.compute_capability,
            bus_address: Some(found.bus_address()),
            driver_version: config.driver_version,
            alignment_bytes: ALIGNMENT as usize,
            capabilities: Capabilities {
                stream_ordered_allocation: found.stream_ordered_allocation,
                virtual_memory: found.virtual_memory,
                integrated: false,
                slice: found.slice,
            },
        };
        let driver = Self {
            machine: machine.clone(),
            device,
            info,
        };
        let held = machine.retain_context(device);
        driver.answer("cuDevicePrimaryCtxRetain", held)?;
        Ok(Arc::new(driver))
    }

    /// The machine that it is a device of.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The device's number on its machine.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.device
    }

    /// Puts a kernel on a stream.
    ///
    /// # Errors
    /// Where a rule is broken.
    pub fn launch(&self, kernel: &Kernel, on: RawStream) -> Result<(), DriverError> {
        let launched = self.machine.launch(self.device, kernel, on);
        self.answer("cuLaunchKernel", launched)
    }

    /// A call that breaks no capture.
    fn beside_captures<R>(&self, call: impl FnOnce(&Machine) -> R) -> R {
        let before = self.machine.exchange_capture_mode(CaptureMode::Relaxed);
        let answer = call(&self.machine);
        self.machine.exchange_capture_mode(before);
        answer
    }

    fn answer<R>(&self, function: &'static str, result: Result<R, Code>) -> Result<R, DriverError> {
        let device = self.info.id;
        result.map_err(|code| codes::error(function, code.0, device, self.machine.is_forked()))
    }
}

impl Drop for SimDriver {
    fn drop(&mut self) {
        // A lost device's context cannot be let go of; there is nobody to tell.
        self.machine.release_context(self.device).ok();
    }
}

fn not_zero(function: &'static str, bytes: usize) -> Result<u64, DriverError> {
    if bytes == 0 {
        let why = Refusal::ZeroBytes;
        return Err(DriverError::Refused { function, why });
    }
    Ok(bytes as u64)
}

#[expect(
    unsafe_code,
    reason = "the trait's calls are unsafe; only those about memory of the host are so here"
)]
// SAFETY: the machine gives out addresses and handles once, and its pinned memory is the host allocator's.
unsafe impl Driver for SimDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_info(&self) -> Result<MemoryInfo, DriverError> {
        self.answer("cuMemGetInfo", self.machine.memory_info(self.device))
    }

    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        let bytes = not_zero("cuMemAlloc", bytes)?;
        let allocated = self.beside_captures(|machine| machine.allocate(self.device, bytes));
        self.answer("cuMemAlloc", allocated)
    }

    fn allocate_managed(&self, bytes: usize) -> Result<DeviceAddress, DriverError> {
        let bytes = not_zero("cuMemAllocManaged", bytes)?;
        let allocated =
            self.beside_captures(|machine| machine.allocate_managed(self.device, bytes));
        self.answer("cuMemAllocManaged", allocated)
    }

    unsafe fn free(&self, at: DeviceAddress) -> Result<(), DriverError> {
        let freed = self.beside_captures(|machine| machine.free(self.device, at));
        self.answer("cuMemFree", freed)
    }

    unsafe fn allocate_on(
        &self,
        bytes: usize,
        on: RawStream,
    ) -> Result<DeviceAddress, DriverError> {
        let bytes = not_zero("cuMemAllocAsync", bytes)?;
        if !self.info.capabilities.stream_ordered_allocation {
            let what = "stream-ordered allocation";
            return Err(Absent::Capability { what }.into());
        }
        let allocated = self.machine.allocate_on(self.device, bytes, on);
        self.answer("cuMemAllocAsync", allocated)
    }

    unsafe fn free_on(&self, at: DeviceAddress, on: RawStream) -> Result<(), DriverError> {
        self.answer("cuMemFreeAsync", self.machine.free_on(self.device, at, on))
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<HostAddress, DriverError> {
        let bytes = not_zero("cuMemHostAlloc", bytes)?;
        let allocated = self.beside_captures(|machine| machine.allocate_pinned(self.device, bytes));
        self.answer("cuMemHostAlloc", allocated)
    }

    unsafe fn free_pinned(&self, at: HostAddress) -> Result<(), DriverError> {
        // SAFETY: the caller's promise is the same.
        let freed = self.beside_captures(|machine| unsafe { machine.free_pinned(self.device, at) });
        self.answer("cuMemFreeHost", freed)
    }

    unsafe fn copy(
        &self,
        to: Place,
        from: Place,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        if matches!((to, from), (Place::Host(_), Place::Host(_))) {
            return Err(DriverError::Refused {
                function: "copy",
                why: Refusal::OtherDevice,
            });
        }
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise is the same.
        let copied = unsafe { self.machine.copy(self.device, to, from, bytes as u64, on) };
        self.answer("cuMemcpyAsync", copied)
    }

    unsafe fn set(
        &self,
        at: DeviceAddress,
        value: u8,
        bytes: usize,
        on: RawStream,
    ) -> Result<(), DriverError> {
        if bytes == 0 {
            return Ok(());
        }
        let region = Region {
            address: at,
            bytes: bytes as u64,
        };
        let set = self.machine.set(self.device, region, value, on);
        self.answer("cuMemsetD8Async", set)
    }

    fn create_stream(&self, kind: StreamKind) -> Result<RawStream, DriverError> {
        let made = self.machine.create_stream(self.device, kind);
        self.answer("cuStreamCreate", made)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> Result<(), DriverError> {
        let destroyed = self.machine.destroy_stream(self.device, stream);
        self.answer("cuStreamDestroy", destroyed)
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> Result<(), DriverError> {
        let waited = self.machine.synchronize_stream(self.device, stream);
        self.answer("cuStreamSynchronize", waited)
    }

    unsafe fn query_stream(&self, stream: RawStream) -> Result<bool, DriverError> {
        let done = self.machine.query_stream(self.device, stream);
        self.answer("cuStreamQuery", done)
    }

    unsafe fn is_capturing(&self, on: RawStream) -> Result<bool, DriverError> {
        let status = self.machine.capture_status(self.device, on);
        let status = self.answer("cuStreamIsCapturing", status)?;
        Ok(status != CaptureStatus::None)
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        self.answer("cuCtxSynchronize", self.machine.synchronize(self.device))
    }

    fn create_event(&self, kind: EventKind) -> Result<RawEvent, DriverError> {
        let made = self.machine.create_event(self.device, kind);
        self.answer("cuEventCreate", made)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> Result<(), DriverError> {
        let destroyed = self.machine.destroy_event(self.device, event);
        self.answer("cuEventDestroy", destroyed)
    }

    unsafe fn record(&self, event: RawEvent, on: RawStream) -> Result<(), DriverError> {
        self.answer("cuEventRecord", self.machine.record(self.device, event, on))
    }

    unsafe fn wait(&self, on: RawStream, event: RawEvent) -> Result<(), DriverError> {
        self.answer(
            "cuStreamWaitEvent",
            self.machine.wait(self.device, on, event),
        )
    }

    unsafe fn query_event(&self, event: RawEvent) -> Result<bool, DriverError> {
        let reached = self.beside_captures(|machine| machine.query_event(self.device, event));
        self.answer("cuEventQuery", reached)
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> Result<(), DriverError> {
        let waited = self.machine.synchronize_event(self.device, event);
        self.answer("cuEventSynchronize", waited)
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> Result<Duration, DriverError> {
        let elapsed = self.machine.elapsed(self.device, start, end);
        self.answer("cuEventElapsedTime", elapsed)
    }

    fn handle_space(&self) -> u64 {
        self.machine.number() + u64::from(self.device)
    }

    unsafe fn begin_capture(&self, on: RawStream, mode: CaptureMode) -> Result<(), DriverError> {
        let begun = self.machine.begin_capture(self.device, on, mode);
        self.answer("cuStreamBeginCapture", begun)
    }

    unsafe fn end_capture(&self, on: RawStream) -> Result<RawGraph, DriverError> {
        let captured = self.machine.end_capture(self.device, on);
        let captured = self.answer("cuStreamEndCapture", captured)?;
        let ready = self.machine.instantiate_graph(self.device, captured);
        let ready = self.answer("cuGraphInstantiate", ready);
        let destroyed = self.machine.destroy_graph(self.device, captured);
        self.answer("cuGraphDestroy", destroyed).and(ready)
    }

    unsafe fn launch_graph(&self, graph: RawGraph, on: RawStream) -> Result<(), DriverError> {
        let launched = self.machine.launch_graph(self.device, graph, on);
        self.answer("cuGraphLaunch", launched)
    }

    unsafe fn destroy_graph(&self, graph: RawGraph) -> Result<(), DriverError> {
        let destroyed = self.machine.destroy_graph(self.device, graph);
        self.answer("cuGraphDestroy", destroyed)
    }

    fn virtual_memory(&self) -> Option<&dyn VirtualMemory> {
        let able = self.info.capabilities.virtual_memory;
        able.then_some(self as &dyn VirtualMemory)
    }

    fn annotate(&self, region: Region, state: RegionState) {
        self.machine.annotate(self.device, region, state);
    }

    fn listens(&self) -> bool {
        true
    }
}

#[expect(unsafe_code, reason = "the trait's calls are unsafe; none is so here")]
// SAFETY: as for `Driver`.
unsafe impl VirtualMemory for SimDriver {
    fn granularity_bytes(&self) -> u64 {
        virtual_calls::GRANULARITY
    }

    fn reserve(&self, bytes: u64) -> Result<DeviceAddress, DriverError> {
        let reserved = self.machine.reserve(self.device, bytes);
        self.answer("cuMemAddressReserve", reserved)
    }

    unsafe fn release(&self, at: DeviceAddress, bytes: u64) -> Result<(), DriverError> {
        let released = self.machine.release(self.device, at, bytes);
        self.answer("cuMemAddressFree", released)
    }

    fn create(&self, bytes: u64) -> Result<PhysicalMemory, DriverError> {
        let created = self.machine.create_physical(self.device, bytes);
        self.answer("cuMemCreate", created)
    }

    unsafe fn destroy(&self, memory: PhysicalMemory) -> Result<(), DriverError> {
        let destroyed = self.machine.destroy_physical(self.device, memory);
        self.answer("cuMemRelease", destroyed)
    }

    unsafe fn map(&self, at: DeviceAddress, memory: PhysicalMemory) -> Result<(), DriverError> {
        self.answer("cuMemMap", self.machine.map(self.device, at, memory))
    }

    unsafe fn unmap(&self, at: DeviceAddress, bytes: u64) -> Result<(), DriverError> {
        self.answer("cuMemUnmap", self.machine.unmap(self.device, at, bytes))
    }
}
