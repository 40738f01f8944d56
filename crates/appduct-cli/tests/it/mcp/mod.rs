//! `mcp`: the real server over pipes and over HTTP, with a real daemon and the demo app, or with a scripted daemon.

mod agent;
mod app;
mod calls;
mod cancel;
mod consent;
mod daemons;
mod eras;
mod http;
mod malformed;
mod results;
mod scope;
mod sessions;
