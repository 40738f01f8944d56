//! What outlives the daemon: its sessions and links, and the ports that its apps know.

mod durable;
mod last_ports;
mod saver;
mod sessions_file;

pub use last_ports::LastPorts;
pub(crate) use saver::Saver;
pub(crate) use sessions_file::SessionsFile;
