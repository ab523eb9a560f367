//! Slots of devices across machines, kept in etcd (3.4 and later), through its JSON gateway: the store
//! behind [`core_gpu::slots::SlotStore`] for several machines.
//!
//! # What is promised
//! - At most one live claim for a slot in the history of etcd's revisions: a claim is one transaction
//!   that writes the slot's key where there is none, under the claimer's lease.
//! - A claim whose answer is lost is found by its lease: trying again makes no second one, however late the
//!   first is carried out.
//! - [`EtcdSlots::token`] is the revision at which the claim was made, and grows with each of a slot.
//! - [`SlotGuard::check`](core_gpu::slots::SlotGuard::check) fails from a margin (a fifth of the lease)
//!   before the lease can run out, by a clock that counts sleep: who was paused for longer fails its next
//!   check. Not so a virtual machine that was suspended or restored from a snapshot: its clock has not
//!   moved. There the token helps: who keeps the work's results takes none of an older token.
//! - Claims of bytes together are never more than a device's budget.
//! - A slot of somebody who is gone is free again after at most the lease's time and a second under a
//!   stable leader. A new leader gives every lease its time anew and an election timeout more: then it is
//!   that and a second from when there is a leader.
//! - A lease is a whole number of seconds to etcd, and never less than was asked for.
//!
//! # What is not
//! etcd before 3.4.31 and 3.5.13 (March 2024) lets a leader that was stuck, on a slow disk or a processor that others
//! use, go on with leases that are its successor's by now (etcd-io/etcd#15247): it answers keep-alives of leases
//! that run out there, and gives leases back that are renewed there. A check could then pass while somebody else has
//! the slot; [`EtcdSlots::token`] tells the two apart. The first claim of a store says so as a warning, once
//! ([`EtcdSlots::version`], [`EtcdVersion::renews_without_leading`]). Debian 12's `etcd-server` is 3.4.23, with
//! which all else here was tried; no later one was. Soaks do not pause its members: one that did saw a slot used by
//! two, once in many, and that this was the reason is not shown.
//!
//! Kernels that run cannot be called back: the next holder looks how much memory is free before it
//! begins. Who waits watches for slots that go back, and looks once a second whatever it hears; where no
//! watch is to be had, every 100 ms. Who asks first has it. `https` is behind the feature `tls`, without
//! which it is refused ([`EtcdError::NoTls`]); see [`Tls`]. Clocks of other machines are believed nothing; "held for"
//! in a list is by the holder's own.
//!
//! A store that is dropped leaves up to 16 spare leases behind, with nothing under them, which run out.

mod client;
mod lease;
mod names;
mod nodes;
mod slots;
mod state;
mod tls;
mod version;
mod watch;

pub use client::{EtcdError, User};
pub use core_gpu::slots::remote::{ClusterView, DeviceSlots, NodeDevice};
pub use nodes::Announcement;
pub use slots::{EtcdOptions, EtcdSlots};
pub use tls::Tls;
pub use version::EtcdVersion;
