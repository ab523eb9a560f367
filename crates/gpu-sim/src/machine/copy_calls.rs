//! The driver's calls that move and set bytes, and kernels.

use core_gpu_driver::{HostAddress, Place, RawStream, Region};

use crate::{
    clock::StreamKey,
    code::Code,
    kernel::Kernel,
    machine::{
        Machine, host_memory,
        link::{Direction, LinkKey},
        state::{Source, State, Touch, Work},
        submit::Request,
    },
    shadow::Access,
};

/// The name under which all copies are counted and can fail.
const COPY: &str = "cuMemcpyAsync";

fn touch(start: u64, bytes: u64, access: Access) -> Touch {
    Touch {
        start,
        bytes,
        access,
    }
}

fn link(device: Option<u32>, direction: Direction) -> Option<LinkKey> {
    device.map(|device| (device, direction))
}

impl State {
    fn on_device(&self, at: u64, bytes: u64) -> Result<(), Code> {
        if self.memory.is_valid(at, bytes) {
            return Ok(());
        }
        Err(Code::INVALID_VALUE)
    }

    /// Nothing for no bytes at the end of memory.
    fn device_of(&self, at: u64) -> Option<u32> {
        self.memory.containing(at).map(|(_, found)| found.device)
    }

    /// Whether an address of the host is pinned; an error when the range runs over its end.
    fn is_pinned(&mut self, at: HostAddress, bytes: u64) -> Result<bool, Code> {
        let found = self.pinned.range(..=at.get()).next_back();
        let Some((start, pinned)) = found else {
            return Ok(false);
        };
        let offset = at.get() - start;
        if offset >= pinned.bytes {
            return Ok(false);
        }
        if offset + bytes > pinned.bytes {
            return Err(Code::INVALID_VALUE);
        }
        Ok(true)
    }

    fn copy_request(&mut self, to: u64, from: u64, bytes: u64) -> Result<Request, Code> {
        self.on_device(to, bytes)?;
        self.on_device(from, bytes)?;
        let (target, source) = (self.device_of(to), self.device_of(from));
        let peers = target != source;
        let mut request = Request::new(Work::Copy { to, from, bytes });
        request.touches = vec![
            touch(from, bytes, Access::Read),
            touch(to, bytes, Access::Write),
        ];
        request.nanoseconds = self.takes(bytes, peers);
        if peers {
            let (out, into) = (link(source, Direction::Out), link(target, Direction::In));
            request.links = out.into_iter().chain(into).collect();
        }
        self.moved.within_bytes += bytes;
        Ok(request)
    }

    fn upload_request(&mut self, to: u64, from: Source, bytes: u64) -> Result<Request, Code> {
        self.on_device(to, bytes)?;
        let host = match &from {
            Source::Pinned(at) => Some(*at),
            Source::Staged(_) => None,
        };
        let mut request = Request::new(Work::Upload { to, from, bytes });
        request.touches.push(touch(to, bytes, Access::Write));
        request.host = host;
        request.nanoseconds = self.takes(bytes, true);
        request.links = link(self.device_of(to), Direction::In)
            .into_iter()
            .collect();
        self.moved.to_device_bytes += bytes;
        Ok(request)
    }

    fn download_request(
        &mut self,
        to: HostAddress,
        from: u64,
        bytes: u64,
    ) -> Result<Request, Code> {
        self.on_device(from, bytes)?;
        let mut request = Request::new(Work::Download { to, from, bytes });
        request.touches.push(touch(from, bytes, Access::Read));
        request.host = Some(to);
        request.nanoseconds = self.takes(bytes, true);
        request.links = link(self.device_of(from), Direction::Out)
            .into_iter()
            .collect();
        self.moved.to_host_bytes += bytes;
        Ok(request)
    }
}

/// What is left to wait for when a copy has been put on its stream.
#[derive(Clone, Copy, Debug)]
struct Copied {
    key: StreamKey,
    /// The host's side is pageable and is being written.
    waits: bool,
}

/// Bytes, and work on them. All sizes are in bytes. Any thread.
impl Machine {
    /// Copies in a stream's order (`cuMemcpyAsync`, counted under this name whatever the ends).
    /// Pinned memory is read and written when the work is done. Pageable memory is read at the
    /// call; a copy to it returns when it is done.
    ///
    /// # Errors
    /// An invalid value for bytes that are not allocated, and where a rule is broken.
    ///
    /// # Safety
    /// What is of the host holds `bytes` bytes that stay until the copy is done; nobody writes them
    /// meanwhile, or reads them when they are written.
    #[expect(unsafe_code, reason = "it reads and writes memory of the host")]
    pub unsafe fn copy(
        &self,
        device: u32,
        to: Place,
        from: Place,
        bytes: u64,
        on: RawStream,
    ) -> Result<(), Code> {
        let begin = |state: &mut State| {
            let key = state.key(device, on)?;
            let mut waits = false;
            let request = match (to, from) {
                (Place::Device(to), Place::Device(from)) => {
                    state.copy_request(to.get(), from.get(), bytes)?
                }
                (Place::Device(to), Place::Host(from)) => {
                    let source = if state.is_pinned(from, bytes)? {
                        Source::Pinned(from)
                    } else {
                        // SAFETY: the caller's promise.
                        Source::Staged(unsafe { host_memory::stage(from, bytes) }?)
                    };
                    state.upload_request(to.get(), source, bytes)?
                }
                (Place::Host(to), Place::Device(from)) => {
                    waits = !state.is_pinned(to, bytes)?;
                    if waits {
                        state.not_captured(key)?;
                    }
                    state.download_request(to, from.get(), bytes)?
                }
                (Place::Host(_), Place::Host(_)) => return Err(Code::INVALID_VALUE),
            };
            state.submit(COPY, key, request)?;
            Ok(Copied { key, waits })
        };
        self.call_and_wait(COPY, device, begin, |state, copied| {
            if copied.waits {
                state.wait_for_stream(copied.key)?;
                state.not_lost(device)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Sets bytes to one value in a stream's order (`cuMemsetD8Async`).
    ///
    /// # Errors
    /// As [`Machine::copy`].
    pub fn set(&self, device: u32, region: Region, value: u8, on: RawStream) -> Result<(), Code> {
        const NAME: &str = "cuMemsetD8Async";
        self.call(NAME, device, |state| {
            let key = state.key(device, on)?;
            let (at, bytes) = (region.address.get(), region.bytes);
            state.on_device(at, bytes)?;
            let mut request = Request::new(Work::Set { at, value, bytes });
            request.touches.push(touch(at, bytes, Access::Write));
            request.nanoseconds = state.takes(bytes, false);
            state.submit(NAME, key, request)
        })
    }

    /// Puts a kernel on a stream (`cuLaunchKernel`).
    ///
    /// # Errors
    /// Where a rule is broken. An address that is not allocated shows only when it runs, and loses
    /// the device.
    pub fn launch(&self, device: u32, kernel: &Kernel, on: RawStream) -> Result<(), Code> {
        const NAME: &str = "cuLaunchKernel";
        self.call(NAME, device, |state| {
            let key = state.key(device, on)?;
            if state.stream(key)?.device != device {
                return Err(Code::INVALID_HANDLE);
            }
            let mut request = Request::new(Work::Kernel(kernel.clone()));
            let of = |region: &Region, access| touch(region.address.get(), region.bytes, access);
            let reads = kernel.reads.iter().map(|region| of(region, Access::Read));
            let writes = kernel.writes.iter().map(|region| of(region, Access::Write));
            request.touches = reads.chain(writes).collect();
            request.nanoseconds = kernel.nanoseconds;
            state.submit(NAME, key, request)
        })
    }
}
