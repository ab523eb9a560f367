//! Slots of devices across machines, kept in PostgreSQL (12 and later), for those who have that already: the store
//! behind [`core_gpu::slots::SlotStore`] with a table of leases.
//!
//! # What is promised
//! - At most one live claim for a slot: the slot's row is the claim, its key is the slot, and who takes it holds the
//!   lock on the device's row. A row whose lease ran out goes in the transaction that takes the slot.
//! - A claim whose answer is lost is found by its lease: trying again makes no second one, however late the first
//!   is carried out.
//! - [`PostgresSlots::token`] is the device's revision at which the claim was made, and grows with each of a device.
//! - [`SlotGuard::check`](core_gpu::slots::SlotGuard::check) fails from a margin (a fifth of the lease) before the
//!   lease can run out, by a clock that counts sleep.
//! - Claims of bytes together are never more than a device's budget.
//! - No client holds a lock while it does nothing: each question is one function of the server's, so that who is
//!   paused or cut off in between keeps nobody waiting.
//! - A slot of somebody who is gone is free again after at most the lease's time and a second, while the server
//!   answers.
//!
//! # What is not
//! Leases run by the **server's clock**. Set forward by more than the margin, a slot is given out while its holder
//! still believes in it (the token tells); set back, slots are free so much later. Slewing, as time servers do it, is
//! harmless. After a **failover to a replica that had not yet received everything**, claims may be made twice: use
//! synchronous replication, or keep the work's results from whoever has an older token. As with every store: kernels
//! that run cannot be called back, and the next holder looks how much memory is free before it begins.
//!
//! Who waits is told by `NOTIFY`, looks when the next lease runs out, and once a second in any case; behind a pooler that
//! passes no notifications, that once a second is all. Who asks first has it. A slot that goes back while all
//! connections of its store are in use does so on one connection more. Connections are not encrypted
//! here: `sslmode=require` is refused by name ([`PostgresError::Refused`]); use a Unix socket, a private network, or a
//! proxy that encrypts.

mod client;
mod schema;
mod slots;
mod state;
mod wait;

pub use client::PostgresError;
pub use slots::{Announcement, PostgresOptions, PostgresSlots};
