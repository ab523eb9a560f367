//! The functions of CUDA's driver library, found once. The library is the one that cudarc opens, so
//! that a program's own use of cudarc and ours are one; the handles' types are cudarc's.
//!
//! The functions are called through this table and not through cudarc's wrappers, for two reasons:
//! a wrapper looks its function up at the first call and panics when there is none, and it returns
//! an `enum` of the codes that were known when its bindings were made, which a newer driver's code
//! is not a value of.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys;
pub(super) use sys::{CUcontext, CUdevice, CUdeviceptr, CUevent, CUgraph, CUgraphExec, CUstream};

use crate::error::Absent;

/// The library, as errors call it.
const LIBRARY: &str = "libcuda";

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

macro_rules! table {
    ($($field:ident = $symbol:literal: fn($($argument:ty),* $(,)?);)*) => {
        /// The functions. Each returns the driver's code; zero is success.
        #[derive(Debug)]
        pub(super) struct Table {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Table {
            fn find() -> Result<Self, Absent> {
                let library = library()?;
                Ok(Self {
                    $($field: {
                        // SAFETY: the type is the documented one of the function of this name, with
                        // its result as the number that it is.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($argument),*) -> c_int>(
                                $symbol.as_bytes(),
                            )
                        };
                        *found.map_err(|_| Absent::Symbol {
                            library: LIBRARY,
                            symbol: $symbol,
                        })?
                    },)*
                })
            }
        }

        /// The names of all functions that are looked up.
        pub const SYMBOLS: &[&str] = &[$($symbol),*];
    };
}

table! {
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
    ctx_synchronize = "cuCtxSynchronize": fn();
    mem_get_info = "cuMemGetInfo_v2": fn(*mut usize, *mut usize);
    mem_alloc = "cuMemAlloc_v2": fn(*mut CUdeviceptr, usize);
    mem_alloc_managed = "cuMemAllocManaged": fn(*mut CUdeviceptr, usize, c_uint);
    mem_free = "cuMemFree_v2": fn(CUdeviceptr);
    mem_alloc_async = "cuMemAllocAsync": fn(*mut CUdeviceptr, usize, CUstream);
    mem_free_async = "cuMemFreeAsync": fn(CUdeviceptr, CUstream);
    mem_host_alloc = "cuMemHostAlloc": fn(*mut *mut c_void, usize, c_uint);
    mem_free_host = "cuMemFreeHost": fn(*mut c_void);
    memcpy = "cuMemcpyAsync": fn(CUdeviceptr, CUdeviceptr, usize, CUstream);
    memcpy_to_device = "cuMemcpyHtoDAsync_v2": fn(CUdeviceptr, *const c_void, usize, CUstream);
    memcpy_to_host = "cuMemcpyDtoHAsync_v2": fn(*mut c_void, CUdeviceptr, usize, CUstream);
    memset = "cuMemsetD8Async": fn(CUdeviceptr, u8, usize, CUstream);
    stream_create = "cuStreamCreate": fn(*mut CUstream, c_uint);
    stream_destroy = "cuStreamDestroy_v2": fn(CUstream);
    stream_synchronize = "cuStreamSynchronize": fn(CUstream);
    stream_query = "cuStreamQuery": fn(CUstream);
    stream_wait_event = "cuStreamWaitEvent": fn(CUstream, CUevent, c_uint);
    stream_is_capturing = "cuStreamIsCapturing": fn(CUstream, *mut c_uint);
    stream_begin_capture = "cuStreamBeginCapture_v2": fn(CUstream, c_uint);
    stream_end_capture = "cuStreamEndCapture": fn(CUstream, *mut CUgraph);
    thread_exchange_capture_mode = "cuThreadExchangeStreamCaptureMode": fn(*mut c_uint);
    graph_instantiate = "cuGraphInstantiateWithFlags":
        fn(*mut CUgraphExec, CUgraph, c_ulonglong);
    graph_launch = "cuGraphLaunch": fn(CUgraphExec, CUstream);
    graph_destroy = "cuGraphDestroy": fn(CUgraph);
    graph_exec_destroy = "cuGraphExecDestroy": fn(CUgraphExec);
    event_create = "cuEventCreate": fn(*mut CUevent, c_uint);
    event_destroy = "cuEventDestroy_v2": fn(CUevent);
    event_record = "cuEventRecord": fn(CUevent, CUstream);
    event_query = "cuEventQuery": fn(CUevent);
    event_synchronize = "cuEventSynchronize": fn(CUevent);
    event_elapsed_time = "cuEventElapsedTime": fn(*mut f32, CUevent, CUevent);
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

/// The functions, looked up at the first call. What is missing then is missing for this process.
pub(super) fn table() -> Result<&'static Table, Absent> {
    static TABLE: OnceLock<Result<Table, Absent>> = OnceLock::new();
    TABLE
        .get_or_init(Table::find)
        .as_ref()
        .map_err(Clone::clone)
}
