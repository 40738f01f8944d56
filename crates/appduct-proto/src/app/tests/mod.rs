//! The core on its own, in virtual time.

mod calls;
mod connect;
mod fixtures;
mod lease;
mod links;
mod loss;
mod registries;
mod rig;
mod scenarios;
mod session;
mod timing;
mod traffic;
mod trust;
