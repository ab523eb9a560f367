//! The functions of CUDA's driver library, found once. The library is the one that cudarc opens, so
//! that a program's own use of cudarc and ours are one; the handles' types are cudarc's.
//!
//! The functions are called through this table and not through cudarc's wrappers, for two reasons:
//! a wrapper looks its function up at the first call and panics when there is none, and it returns
//! an `enum` of the codes that were known when its bindings were made, which a newer driver's code
//! is not a value of.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cudarc::driver::sys;
pub(super) use sys::{CUcontext, CUdevice, CUdeviceptr};

use crate::{
    dynamic,
    error::Absent,
    library_driver::{
        Calls, CaptureCalls, GraphCalls, Handle, ManagedCalls, RawAddress, StreamCalls,
    },
};

impl RawAddress for CUdeviceptr {
    const NONE: Self = 0;

    fn of(address: crate::address::DeviceAddress) -> Self {
        address.get()
    }

    fn number(self) -> u64 {
        self
    }
}

/// Sixteen bytes, as the driver fills them in.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uuid(pub(super) [u8; 16]);

/// Where memory is (`CUmemLocation`), in the shape that it had before it became a union.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub(super) kind: c_uint,
    pub(super) id: c_int,
}

/// What memory to make (`CUmemAllocationProp`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct AllocationProperties {
    pub(super) kind: c_uint,
    pub(super) requested_handle_types: c_uint,
    pub(super) location: Location,
    pub(super) win32_handle_meta_data: *mut c_void,
    pub(super) flags: [u8; 8],
}

/// Who may use memory (`CUmemAccessDesc`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessDescription {
    pub(super) location: Location,
    pub(super) flags: c_uint,
}

/// The driver's library, as cudarc has it.
pub(super) fn library() -> Result<&'static libloading::Library, Absent> {
    // SAFETY: loading the driver's library runs its initialisers, which is what any program that links
    // to it does.
    if !unsafe { sys::is_culib_present() } {
        return Err(Absent::Library {
            platform: "CUDA",
            tried: "libcuda.so, libcuda.so.1 (nvcuda.dll)".to_owned(),
        });
    }
    // SAFETY: as above; it does not panic, because the library is there.
    Ok(unsafe { sys::culib() })
}

dynamic::table! {
    pub(super) library: "libcuda";
    shared calls: Calls<CUdeviceptr> {
        memory_info = "cuMemGetInfo_v2";
        allocate = "cuMemAlloc_v2";
        free = "cuMemFree_v2";
        allocate_pinned = "cuMemHostAlloc";
        free_pinned = "cuMemFreeHost";
        create_stream = "cuStreamCreate";
        destroy_stream = "cuStreamDestroy_v2";
        synchronize_stream = "cuStreamSynchronize";
        query_stream = "cuStreamQuery";
        wait = "cuStreamWaitEvent";
        synchronize = "cuCtxSynchronize";
        create_event = "cuEventCreate";
        destroy_event = "cuEventDestroy_v2";
        record = "cuEventRecord";
        query_event = "cuEventQuery";
        synchronize_event = "cuEventSynchronize";
        elapsed = "cuEventElapsedTime";
    }
    shared stream_calls: StreamCalls<CUdeviceptr> {
        allocate = "cuMemAllocAsync";
        free = "cuMemFreeAsync";
    }
    shared managed_calls: ManagedCalls<CUdeviceptr> {
        allocate = "cuMemAllocManaged";
    }
    shared capture_calls: CaptureCalls {
        is_capturing = "cuStreamIsCapturing";
    }
    shared graph_calls: GraphCalls {
        begin_capture = "cuStreamBeginCapture_v2";
        end_capture = "cuStreamEndCapture";
        instantiate = "cuGraphInstantiateWithFlags";
        destroy_captured = "cuGraphDestroy";
        launch = "cuGraphLaunch";
        destroy = "cuGraphExecDestroy";
    }
    required {
    init = "cuInit": fn(c_uint);
    driver_get_version = "cuDriverGetVersion": fn(*mut c_int);
    device_get_count = "cuDeviceGetCount": fn(*mut c_int);
    device_get = "cuDeviceGet": fn(*mut CUdevice, c_int);
    device_get_name = "cuDeviceGetName": fn(*mut c_char, c_int, CUdevice);
    device_get_uuid = "cuDeviceGetUuid_v2": fn(*mut Uuid, CUdevice);
    device_total_mem = "cuDeviceTotalMem_v2": fn(*mut usize, CUdevice);
    device_get_attribute = "cuDeviceGetAttribute": fn(*mut c_int, c_int, CUdevice);
    device_can_access_peer = "cuDeviceCanAccessPeer": fn(*mut c_int, CUdevice, CUdevice);
    device_get_pci_bus_id = "cuDeviceGetPCIBusId": fn(*mut c_char, c_int, CUdevice);
    primary_ctx_retain = "cuDevicePrimaryCtxRetain": fn(*mut CUcontext, CUdevice);
    primary_ctx_release = "cuDevicePrimaryCtxRelease_v2": fn(CUdevice);
    ctx_set_current = "cuCtxSetCurrent": fn(CUcontext);
    memcpy = "cuMemcpyAsync": fn(CUdeviceptr, CUdeviceptr, usize, Handle);
    memcpy_to_device = "cuMemcpyHtoDAsync_v2": fn(CUdeviceptr, *const c_void, usize, Handle);
    memcpy_to_host = "cuMemcpyDtoHAsync_v2": fn(*mut c_void, CUdeviceptr, usize, Handle);
    memset = "cuMemsetD8Async": fn(CUdeviceptr, u8, usize, Handle);
    thread_exchange_capture_mode = "cuThreadExchangeStreamCaptureMode": fn(*mut c_uint);
    mem_address_reserve = "cuMemAddressReserve":
        fn(*mut CUdeviceptr, usize, usize, CUdeviceptr, c_ulonglong);
    mem_address_free = "cuMemAddressFree": fn(CUdeviceptr, usize);
    mem_create = "cuMemCreate":
        fn(*mut c_ulonglong, usize, *const AllocationProperties, c_ulonglong);
    mem_release = "cuMemRelease": fn(c_ulonglong);
    mem_map = "cuMemMap": fn(CUdeviceptr, usize, usize, c_ulonglong, c_ulonglong);
    mem_set_access = "cuMemSetAccess": fn(CUdeviceptr, usize, *const AccessDescription, usize);
    mem_unmap = "cuMemUnmap": fn(CUdeviceptr, usize);
    mem_get_allocation_granularity = "cuMemGetAllocationGranularity":
        fn(*mut usize, *const AllocationProperties, c_uint);
    }
}

/// The functions, looked up at the first call.
pub(super) fn table() -> Result<&'static Table, Absent> {
    Table::loaded(library)
}
