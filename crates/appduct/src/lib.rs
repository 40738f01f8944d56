//! Register functions of your app as tools that a terminal, a test or an agent can call.
//!
//! The app pairs with a daemon on a developer's machine by a one-time link, connects out to it over TLS, and trusts it
//! by its public key alone. Nothing but the registered tools is reachable.
//!
//! ```
//! # #[cfg(feature = "schemars")] {
//! use appduct::{Appduct, Tool};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct SeedCart { items: u32 }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Seeded { total: u32 }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let app = Appduct::builder().device_model("My shop").build();
//! app.register(
//!     Tool::new("seed_cart", "Fills the cart with sample items.").group("cart").input::<SeedCart>().output::<Seeded>(),
//!     |args, _| async move { Ok(Seeded { total: args.items }) },
//! )?;
//!
//! // Later, when the system hands a link to the app:
//! let ours = app.handle_url("myshop:///cart");
//! assert!(!ours);
//! # Ok(()) }
//! # main().unwrap();
//! # }
//! ```
//!
//! # Builds without it
//!
//! A release for end users hardly wants any of this. With `default-features = false` or the feature `noop`, the same
//! API does nothing: nothing is checked, no thread is started, [`Appduct::connect`] fails with
//! [`ConnectError::Disabled`], and the state stays [`State::Idle`]. `noop` wins where the build also has `enabled`;
//! without `enabled`, the dependencies for sockets and TLS are gone as well.
//!
//! | Feature | Default | Gives |
//! |---|---|---|
//! | `enabled` | yes | the working SDK |
//! | `schemars` | yes | [`Tool::input`], [`Tool::output`] and [`EventDeclaration::payload`] |
//! | `noop` | no | the API doing nothing |

#![warn(missing_docs)]
#![cfg_attr(
    not(all(feature = "enabled", not(feature = "noop"))),
    expect(dead_code, reason = "a build that does nothing keeps what apps fill in, and reads none of it")
)]

mod builder;
mod context;
mod declaration;
mod error;
mod event;
mod group;
mod handle;
#[cfg(not(all(feature = "enabled", not(feature = "noop"))))]
mod inert;
#[cfg(all(feature = "enabled", not(feature = "noop")))]
mod live;
#[doc(hidden)]
pub mod marker;
mod registration;
mod schema;
mod tool;

#[cfg(not(all(feature = "enabled", not(feature = "noop"))))]
use inert as engine;
#[cfg(all(feature = "enabled", not(feature = "noop")))]
use live as engine;

pub use appduct_proto::app::{ClientError, Phase, SessionChange, State};
pub use appduct_proto::wire::{
    Annotations, Group, NotJson, Pin, PinFault, RawJson, Rule, ToolDescriptor, ToolErrorType, ToolName,
};
pub use builder::{Builder, TrustMode};
pub use context::Context;
pub use declaration::EventDeclaration;
pub use error::{ConnectError, PostError, RegisterError, Stopped, ToolError};
pub use event::{Event, Events};
pub use group::ToolGroup;
pub use handle::Appduct;
pub use registration::Registration;
pub use tool::{AnyOutput, NoArgs, Output, Tool, Typed};

/// The example of the project's first page is compiled and run.
#[cfg(all(doctest, feature = "schemars"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So are those of the page about writing tools.
#[cfg(all(doctest, feature = "schemars"))]
#[doc = include_str!("../../../docs/tools.md")]
struct WritingTools;
