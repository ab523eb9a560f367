//! NCCL: collectives between the ranks of a group, one rank a device. The library is looked up at run
//! time. Which process is which rank, and how they learn the group's identity, is not known here.

use std::{
    cell::Cell,
    ffi::{c_int, c_uint, c_void},
    marker::PhantomData,
    ptr,
    sync::Arc,
};

use crate::{
    cuda::CudaDriver,
    driver::Driver,
    dynamic,
    error::{Absent, DriverError},
    memory::DeviceSpan,
    stream::Stream,
};

/// The library's names, the one that packages install first.
const LIBRARIES: &[&str] = &["libnccl.so.2", "libnccl.so"];
/// Bytes of an identity.
const IDENTITY: usize = 128;
/// The library's codes that are told apart.
const INVALID_USAGE: c_int = 5;
const REMOTE: c_int = 6;
const IN_PROGRESS: c_int = 7;

/// A group's identity, as the library passes it by value.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawIdentity([u8; IDENTITY]);

dynamic::table! {
    library: "libnccl";
    required {
    get_version = "ncclGetVersion": fn(*mut c_int);
    get_unique_id = "ncclGetUniqueId": fn(*mut RawIdentity);
    comm_init_rank = "ncclCommInitRank": fn(*mut *mut c_void, c_int, RawIdentity, c_int);
    comm_destroy = "ncclCommDestroy": fn(*mut c_void);
    comm_abort = "ncclCommAbort": fn(*mut c_void);
    comm_get_async_error = "ncclCommGetAsyncError": fn(*mut c_void, *mut c_int);
    all_reduce = "ncclAllReduce":
        fn(*const c_void, *mut c_void, usize, c_uint, c_uint, *mut c_void, *mut c_void);
    broadcast = "ncclBroadcast":
        fn(*const c_void, *mut c_void, usize, c_uint, c_int, *mut c_void, *mut c_void);
    all_gather = "ncclAllGather":
        fn(*const c_void, *mut c_void, usize, c_uint, *mut c_void, *mut c_void);
    reduce_scatter = "ncclReduceScatter":
        fn(*const c_void, *mut c_void, usize, c_uint, c_uint, *mut c_void, *mut c_void);
    send = "ncclSend": fn(*const c_void, usize, c_uint, c_int, *mut c_void, *mut c_void);
    receive = "ncclRecv": fn(*mut c_void, usize, c_uint, c_int, *mut c_void, *mut c_void);
    group_start = "ncclGroupStart": fn();
    group_end = "ncclGroupEnd": fn();
    }
    optional {
    }
}

fn table() -> Result<&'static Table, Absent> {
    Table::loaded(|| dynamic::load("NCCL", LIBRARIES, None))
}

/// Why a collective, or joining a group, did not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NcclError {
    /// There is no library, or it lacks a function.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// The device's driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// Another rank is gone, or cannot be reached.
    #[error("{function}: another rank is gone")]
    RankLost {
        /// The library's function.
        function: &'static str,
    },
    /// The call does not fit the group: two ranks on one device, for one.
    #[error("{function}: not allowed in this group")]
    Usage {
        /// The library's function.
        function: &'static str,
    },
    /// A call failed.
    #[error("{function} failed with code {code}")]
    Call {
        /// The library's function.
        function: &'static str,
        /// The library's number.
        code: i32,
    },
    /// The arguments were refused before the library was asked.
    #[error("{function} was not called: {why}")]
    Refused {
        /// The library's function.
        function: &'static str,
        /// What is wrong with them.
        why: &'static str,
    },
}

fn check(function: &'static str, code: c_int) -> Result<(), NcclError> {
    match code {
        0 => Ok(()),
        REMOTE => Err(NcclError::RankLost { function }),
        INVALID_USAGE => Err(NcclError::Usage { function }),
        code => Err(NcclError::Call { function, code }),
    }
}

/// The library's version as it counts: 22602 is 2.26.2.
///
/// # Errors
/// [`NcclError::Absent`].
pub fn version() -> Result<u32, NcclError> {
    let mut version = 0;
    // SAFETY: it writes one number.
    let code = unsafe { (table()?.get_version)(&raw mut version) };
    check("ncclGetVersion", code)?;
    Ok(version.unsigned_abs())
}

/// What the ranks of a group have in common. One rank makes it, and gives it to the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct GroupIdentity([u8; IDENTITY]);

impl std::fmt::Debug for GroupIdentity {
    /// It holds addresses of the network: not for logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("GroupIdentity").finish_non_exhaustive()
    }
}

impl GroupIdentity {
    /// A new one. The process that makes it must be a rank of the group.
    ///
    /// # Errors
    /// [`NcclError::Absent`]; as the library's call fails.
    pub fn new() -> Result<Self, NcclError> {
        let mut identity = RawIdentity([0; IDENTITY]);
        // SAFETY: it writes as many bytes.
        let code = unsafe { (table()?.get_unique_id)(&raw mut identity) };
        check("ncclGetUniqueId", code)?;
        Ok(Self(identity.0))
    }

    /// As bytes, to be sent.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        self.0.to_vec()
    }

    /// What [`GroupIdentity::to_bytes`] gave. `None` for another number of bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// What elements are, with the library's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Element {
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 32 bits.
    U32,
    /// A float of 16 bits with 5 of exponent (`__half`).
    F16,
    /// A float of 16 bits with 8 of exponent (`__nv_bfloat16`). NCCL has it since 2.10.
    Bf16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 64 bits.
    U64,
    /// A float of 32 bits.
    F32,
    /// A float of 64 bits.
    F64,
}

impl Element {
    const fn number(self) -> c_uint {
        match self {
            Self::I8 => 0,
            Self::U8 => 1,
            Self::U32 => 3,
            Self::F16 => 6,
            Self::Bf16 => 9,
            Self::I32 => 2,
            Self::I64 => 4,
            Self::U64 => 5,
            Self::F32 => 7,
            Self::F64 => 8,
        }
    }

    /// Its size.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// How elements of all ranks become one, with the library's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reduction {
    /// Their sum.
    Sum = 0,
    /// Their product.
    Product = 1,
    /// The largest.
    Maximum = 2,
    /// The smallest.
    Minimum = 3,
}

/// One rank's membership in a group. Collectives are given in the same order by all ranks; one thread
/// at a time gives them.
#[derive(Debug)]
pub struct Communicator {
    table: &'static Table,
    handle: Handle,
    /// Keeps the device's context.
    device: Arc<CudaDriver>,
    rank: u32,
    ranks: u32,
    /// Its own calls are being grouped: what they use outlives the group.
    is_grouped: bool,
}

thread_local! {
    /// A group is open on this thread, as the library counts them: whatever is called meanwhile is done
    /// when the group ends, whichever communicator it is of.
    static GROUP_IS_OPEN: Cell<bool> = const { Cell::new(false) };
}

/// A plain call in an open group would return before the library has used what it was given.
fn not_in_a_group(function: &'static str) -> Result<(), NcclError> {
    if GROUP_IS_OPEN.get() {
        let why = "a group is open on this thread";
        return Err(NcclError::Refused { function, why });
    }
    Ok(())
}

/// A group that is open on this thread. Its calls are noted, and done together when the group ends: so
/// spans and streams are borrowed for all of the group.
///
/// ```compile_fail
/// # use std::sync::Arc;
/// # use core_gpu_driver::{Driver, Segment, Stream, StreamKind};
/// # use core_gpu_driver::nccl::{Communicator, Element, NcclError};
/// # fn receive(
/// #     communicator: &mut Communicator,
/// #     segment: &Segment,
/// #     driver: &Arc<dyn Driver>,
/// # ) -> Result<(), NcclError> {
///     communicator.group(|group| {
///         // It would be destroyed before the group ends.
///         let stream = Stream::new(driver, StreamKind::NonBlocking)?;
///         group.receive(segment.whole(), Element::F32, 1, &stream)
///     })
/// # }
/// ```
///
/// ```
/// # use std::sync::Arc;
/// # use core_gpu_driver::{Driver, Segment, Stream, StreamKind};
/// # use core_gpu_driver::nccl::{Communicator, Element, NcclError};
/// # fn receive(
/// #     communicator: &mut Communicator,
/// #     segment: &Segment,
/// #     driver: &Arc<dyn Driver>,
/// # ) -> Result<(), NcclError> {
///     let stream = Stream::new(driver, StreamKind::NonBlocking)?;
///     communicator.group(|group| group.receive(segment.whole(), Element::F32, 1, &stream))
/// # }
/// ```
#[derive(Debug)]
pub struct Grouped<'g, 'c> {
    communicator: &'c mut Communicator,
    /// Exactly that lifetime: not a shorter one, which could end within the group.
    used: PhantomData<Cell<&'g ()>>,
}

impl<'g> Grouped<'g, '_> {
    /// As [`Communicator::send`].
    ///
    /// # Errors
    /// As [`Communicator::send`].
    pub fn send(
        &mut self,
        from: DeviceSpan<'g>,
        element: Element,
        to_rank: u32,
        on: &'g Stream,
    ) -> Result<(), NcclError> {
        self.communicator.send(from, element, to_rank, on)
    }

    /// As [`Communicator::receive`].
    ///
    /// # Errors
    /// As [`Communicator::receive`].
    pub fn receive(
        &mut self,
        to: DeviceSpan<'g>,
        element: Element,
        from_rank: u32,
        on: &'g Stream,
    ) -> Result<(), NcclError> {
        self.communicator.receive(to, element, from_rank, on)
    }

    /// As [`Communicator::all_reduce`].
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn all_reduce(
        &mut self,
        spans: (DeviceSpan<'g>, DeviceSpan<'g>),
        element: Element,
        reduction: Reduction,
        on: &'g Stream,
    ) -> Result<(), NcclError> {
        self.communicator.all_reduce(spans, element, reduction, on)
    }

    /// As [`Communicator::broadcast`].
    ///
    /// # Errors
    /// As [`Communicator::broadcast`].
    pub fn broadcast(
        &mut self,
        spans: (DeviceSpan<'g>, DeviceSpan<'g>),
        element: Element,
        root: u32,
        on: &'g Stream,
    ) -> Result<(), NcclError> {
        self.communicator.broadcast(spans, element, root, on)
    }

    /// As [`Communicator::all_gather`].
    ///
    /// # Errors
    /// As [`Communicator::all_gather`].
    pub fn all_gather(
        &mut self,
        spans: (DeviceSpan<'g>, DeviceSpan<'g>),
        element: Element,
        on: &'g Stream,
    ) -> Result<(), NcclError> {
        self.communicator.all_gather(spans, element, on)
    }

    /// As [`Communicator::reduce_scatter`].
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter`].
    pub fn reduce_scatter(
        &mut self,
        spans: (DeviceSpan<'g>, DeviceSpan<'g>),
        element: Element,
        reduction: Reduction,
        on: &'g Stream,
    ) -> Result<(), NcclError> {
        let communicator = &mut *self.communicator;
        communicator.reduce_scatter(spans, element, reduction, on)
    }
}

/// Ends a group, also when its work unwinds: the library counts groups by thread.
struct OpenGroup<'c> {
    communicator: &'c mut Communicator,
    has_ended: bool,
}

impl<'c> OpenGroup<'c> {
    fn begin(communicator: &'c mut Communicator) -> Result<Self, NcclError> {
        // SAFETY: it takes nothing.
        let code = unsafe { (communicator.table.group_start)() };
        check("ncclGroupStart", code)?;
        GROUP_IS_OPEN.set(true);
        communicator.is_grouped = true;
        Ok(Self {
            communicator,
            has_ended: false,
        })
    }

    fn end(&mut self) -> c_int {
        self.has_ended = true;
        self.communicator.is_grouped = false;
        // SAFETY: it takes nothing, and ends the group that this thread has begun.
        let code = unsafe { (self.communicator.table.group_end)() };
        GROUP_IS_OPEN.set(false);
        code
    }
}

impl Drop for OpenGroup<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            // The panic is what is told.
            let _ = self.end();
        }
    }
}

#[derive(Debug)]
struct Handle(*mut c_void);

// SAFETY: the library allows a communicator to be used by any thread, one at a time; `Communicator`
// is not `Sync` through anything else than this, and its calls that are made while others may be are
// those that the library allows.
unsafe impl Send for Handle {}

impl Communicator {
    /// Joins a group on the device of `driver`. Blocks until all ranks have joined, without an end:
    /// make sure first that they are all there.
    ///
    /// # Errors
    /// [`NcclError::Absent`]; [`NcclError::Usage`] when two ranks are on one device; as the calls
    /// fail.
    pub fn join(
        driver: &Arc<dyn Driver>,
        identity: &GroupIdentity,
        rank: u32,
        ranks: u32,
    ) -> Result<Self, NcclError> {
        const FUNCTION: &str = "ncclCommInitRank";
        // The library would write the handle when the group ends.
        not_in_a_group(FUNCTION)?;
        let table = table()?;
        let device = CudaDriver::open(&driver.info().id)?;
        device.bind()?;
        let (Ok(number), Ok(count)) = (c_int::try_from(rank), c_int::try_from(ranks)) else {
            let (function, why) = (FUNCTION, "more ranks than there can be");
            return Err(NcclError::Refused { function, why });
        };
        let mut handle = ptr::null_mut();
        // SAFETY: it writes one handle; the device's context is bound to this thread.
        let code = unsafe {
            (table.comm_init_rank)(&raw mut handle, count, RawIdentity(identity.0), number)
        };
        check(FUNCTION, code)?;
        Ok(Self {
            table,
            handle: Handle(handle),
            device,
            rank,
            ranks,
            is_grouped: false,
        })
    }

    /// Its number in the group.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// How many there are.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Every rank's `from`, element by element reduced to one, in every rank's `to`, in the order of
    /// the stream. Both may be the same bytes.
    ///
    /// # Errors
    /// Refused when the spans are of different lengths or no whole elements, or the stream is of
    /// another device; as the library's call fails.
    pub fn all_reduce(
        &mut self,
        (to, from): (DeviceSpan<'_>, DeviceSpan<'_>),
        element: Element,
        reduction: Reduction,
        on: &Stream,
    ) -> Result<(), NcclError> {
        const FUNCTION: &str = "ncclAllReduce";
        let count = self.prepare(FUNCTION, (to, from), element, on)?;
        // SAFETY: both are spans of the device with so many elements, the stream is live, and the
        // device's context is bound. In a group, where the library uses them when that ends, `Grouped`
        // has borrowed both until then.
        let code = unsafe {
            (self.table.all_reduce)(
                pointer(from),
                pointer(to),
                count,
                element.number(),
                reduction as c_uint,
                self.handle.0,
                stream(on),
            )
        };
        check(FUNCTION, code)
    }

    /// The `root`'s `from` in every rank's `to`, in the order of the stream. Both may be the same
    /// bytes.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`]; refused for a root that is no rank.
    pub fn broadcast(
        &mut self,
        (to, from): (DeviceSpan<'_>, DeviceSpan<'_>),
        element: Element,
        root: u32,
        on: &Stream,
    ) -> Result<(), NcclError> {
        const FUNCTION: &str = "ncclBroadcast";
        let count = self.prepare(FUNCTION, (to, from), element, on)?;
        let root = c_int::try_from(root).ok().filter(|_| root < self.ranks);
        let root = root.ok_or(NcclError::Refused {
            function: FUNCTION,
            why: "the root is no rank",
        })?;
        // SAFETY: as in `all_reduce`.
        let code = unsafe {
            (self.table.broadcast)(
                pointer(from),
                pointer(to),
                count,
                element.number(),
                root,
                self.handle.0,
                stream(on),
            )
        };
        check(FUNCTION, code)
    }

    /// Every rank's `from`, one behind the other in the order of the ranks, in every rank's `to`, in
    /// the order of the stream. `from` may be this rank's part of `to`.
    ///
    /// # Errors
    /// Refused when `to` is not as long as all ranks' `from` together, they are no whole elements, or
    /// the stream is of another device; as the library's call fails.
    pub fn all_gather(
        &mut self,
        (to, from): (DeviceSpan<'_>, DeviceSpan<'_>),
        element: Element,
        on: &Stream,
    ) -> Result<(), NcclError> {
        const FUNCTION: &str = "ncclAllGather";
        self.check_parts(FUNCTION, to, from)?;
        let count = self.count(FUNCTION, from, element, on)?;
        // SAFETY: `from` has so many elements and `to` so many for each rank; else as in
        // `all_reduce`.
        let code = unsafe {
            (self.table.all_gather)(
                pointer(from),
                pointer(to),
                count,
                element.number(),
                self.handle.0,
                stream(on),
            )
        };
        check(FUNCTION, code)
    }

    /// Every rank's `from`, element by element reduced to one, of which each rank's `to` gets its part
    /// in the order of the ranks. `to` may be this rank's part of `from`.
    ///
    /// # Errors
    /// Refused when `from` is not as long as all ranks' `to` together; else as
    /// [`Communicator::all_gather`].
    pub fn reduce_scatter(
        &mut self,
        (to, from): (DeviceSpan<'_>, DeviceSpan<'_>),
        element: Element,
        reduction: Reduction,
        on: &Stream,
    ) -> Result<(), NcclError> {
        const FUNCTION: &str = "ncclReduceScatter";
        self.check_parts(FUNCTION, from, to)?;
        let count = self.count(FUNCTION, to, element, on)?;
        // SAFETY: `to` has so many elements and `from` so many for each rank; else as in
        // `all_reduce`.
        let code = unsafe {
            (self.table.reduce_scatter)(
                pointer(from),
                pointer(to),
                count,
                element.number(),
                reduction as c_uint,
                self.handle.0,
                stream(on),
            )
        };
        check(FUNCTION, code)
    }

    /// Elements to another rank, which receives them with [`Communicator::receive`], in the order of
    /// the stream. Two ranks that send to each other do so in a [`Communicator::group`]: else each may
    /// wait for the other to receive.
    ///
    /// # Errors
    /// Refused for a peer that is no rank, elements that are not whole, or a stream of another device;
    /// as the library's call fails.
    pub fn send(
        &mut self,
        from: DeviceSpan<'_>,
        element: Element,
        to_rank: u32,
        on: &Stream,
    ) -> Result<(), NcclError> {
        const FUNCTION: &str = "ncclSend";
        let peer = self.peer(FUNCTION, to_rank)?;
        let count = self.count(FUNCTION, from, element, on)?;
        // SAFETY: it is a span of the device with so many elements; else as in `all_reduce`.
        let code = unsafe {
            (self.table.send)(
                pointer(from),
                count,
                element.number(),
                peer,
                self.handle.0,
                stream(on),
            )
        };
        check(FUNCTION, code)
    }

    /// Elements of another rank, which sends as many with [`Communicator::send`].
    ///
    /// # Errors
    /// As [`Communicator::send`].
    pub fn receive(
        &mut self,
        to: DeviceSpan<'_>,
        element: Element,
        from_rank: u32,
        on: &Stream,
    ) -> Result<(), NcclError> {
        const FUNCTION: &str = "ncclRecv";
        let peer = self.peer(FUNCTION, from_rank)?;
        let count = self.count(FUNCTION, to, element, on)?;
        // SAFETY: as in `send`.
        let code = unsafe {
            (self.table.receive)(
                pointer(to),
                count,
                element.number(),
                peer,
                self.handle.0,
                stream(on),
            )
        };
        check(FUNCTION, code)
    }

    /// Gives the calls of `work` to the library as one: they run together, and none waits for another.
    /// What they use is borrowed until the group has ended.
    ///
    /// # Errors
    /// As the calls fail; the group is ended whatever fails in it. Refused in a group, also another
    /// communicator's: the inner one would end with the outer.
    pub fn group<'g, R>(
        &mut self,
        work: impl FnOnce(&mut Grouped<'g, '_>) -> Result<R, NcclError>,
    ) -> Result<R, NcclError> {
        not_in_a_group("ncclGroupStart")?;
        self.device.bind()?;
        let mut open = OpenGroup::begin(self)?;
        let done = work(&mut Grouped {
            communicator: &mut *open.communicator,
            used: PhantomData,
        });
        let ended = check("ncclGroupEnd", open.end());
        let done = done?;
        ended.map(|()| done)
    }

    fn peer(&self, function: &'static str, rank: u32) -> Result<c_int, NcclError> {
        let peer = c_int::try_from(rank).ok().filter(|_| rank < self.ranks);
        let why = "the other is no rank";
        peer.ok_or(NcclError::Refused { function, why })
    }

    /// Whether `all` is as long as all ranks' parts.
    fn check_parts(
        &self,
        function: &'static str,
        all: DeviceSpan<'_>,
        part: DeviceSpan<'_>,
    ) -> Result<(), NcclError> {
        if part.bytes().checked_mul(u64::from(self.ranks)) == Some(all.bytes()) {
            return Ok(());
        }
        let why = "one span is not as long as the other for each rank";
        Err(NcclError::Refused { function, why })
    }

    /// How many elements there are in two spans of one length; binds the context.
    fn prepare(
        &self,
        function: &'static str,
        (to, from): (DeviceSpan<'_>, DeviceSpan<'_>),
        element: Element,
        on: &Stream,
    ) -> Result<usize, NcclError> {
        if to.bytes() != from.bytes() {
            let why = "the spans do not hold the same number of elements";
            return Err(NcclError::Refused { function, why });
        }
        self.count(function, to, element, on)
    }

    /// How many elements there are; binds the context.
    fn count(
        &self,
        function: &'static str,
        to: DeviceSpan<'_>,
        element: Element,
        on: &Stream,
    ) -> Result<usize, NcclError> {
        if !self.is_grouped {
            not_in_a_group(function)?;
        }
        let refused = |why| NcclError::Refused { function, why };
        if !to.bytes().is_multiple_of(element.bytes()) {
            return Err(refused("the span does not hold whole elements"));
        }
        if on.driver().info().id != self.device.info().id {
            return Err(refused("the stream is of another device"));
        }
        self.device.bind()?;
        usize::try_from(to.bytes() / element.bytes()).map_err(|_| refused("too many elements"))
    }

    /// Whether the group is sound, as far as this rank knows.
    ///
    /// # Errors
    /// [`NcclError::RankLost`] and others: the group is of no more use then; see
    /// [`Communicator::abort`].
    pub fn check(&self) -> Result<(), NcclError> {
        let mut state = 0;
        // SAFETY: the handle lives as long as this value, and the call may be made at any time.
        let code = unsafe { (self.table.comm_get_async_error)(self.handle.0, &raw mut state) };
        check("ncclCommGetAsyncError", code)?;
        match state {
            IN_PROGRESS => Ok(()),
            state => check("an earlier collective", state),
        }
    }

    /// Leaves the group at once; collectives under way are given up.
    ///
    /// # Errors
    /// As the library's call fails.
    pub fn abort(self) -> Result<(), NcclError> {
        let this = std::mem::ManuallyDrop::new(self);
        this.device.bind()?;
        // SAFETY: the handle is not used again: the value is not dropped.
        let code = unsafe { (this.table.comm_abort)(this.handle.0) };
        // SAFETY: the value is not dropped, so this is the device's only drop.
        drop(unsafe { ptr::read(&raw const this.device) });
        check("ncclCommAbort", code)
    }
}

fn pointer(span: DeviceSpan<'_>) -> *mut c_void {
    ptr::with_exposed_provenance_mut(span.address().get() as usize)
}

fn stream(of: &Stream) -> *mut c_void {
    ptr::with_exposed_provenance_mut(of.raw().0 as usize)
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if self.device.bind().is_err() {
            // The device is lost, and what the library holds of it with it.
            return;
        }
        // SAFETY: the handle is not used again. A failure leaves nothing that could be done.
        let _ = unsafe { (self.table.comm_destroy)(self.handle.0) };
    }
}
