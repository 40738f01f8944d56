//! How a client is set up.

use appduct_proto::app::Trust;
use appduct_proto::wire::{Device, Pin};

use crate::{Appduct, engine};

/// Sets up a client; every setting has a default that is right for most apps. Made by [`Appduct::builder`].
///
/// A wrong configuration never keeps an app from starting: connects fail and say why.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    device: Device,
    trust: Trust,
    lease_slot: String,
}

/// Which pins an app trusts where none is built in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustMode {
    /// The pin that comes with a link; the default.
    Link,
    /// Built-in pins only: without any, every connect fails.
    Pin,
    /// Text from a configuration that is neither: every connect fails and names it.
    Other(String),
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            device: Device {
                manufacturer: Some("Unknown".to_owned()),
                model: Some(program_name()),
                os: Some(std::env::consts::OS.to_owned()),
            },
            trust: Trust { embedded_pins: Vec::new(), mode: None, allow_private_lan_only: true },
            lease_slot: String::new(),
        }
    }

    /// Who made the device; `Unknown` by default. Over 256 UTF-16 units are cut, as in the next two.
    pub fn device_manufacturer(mut self, manufacturer: impl Into<String>) -> Self {
        self.device.manufacturer = Some(manufacturer.into());
        self
    }

    /// What the device is; the name of the program by default. The session's alias is made from it.
    pub fn device_model(mut self, model: impl Into<String>) -> Self {
        self.device.model = Some(model.into());
        self
    }

    /// What the device runs; `linux`, `macos` and so on by default.
    pub fn device_os(mut self, os: impl Into<String>) -> Self {
        self.device.os = Some(os.into());
        self
    }

    /// Trusts daemons by these pins and no others, whatever a link says.
    ///
    /// ```
    /// use appduct::Appduct;
    ///
    /// let app = Appduct::builder()
    ///     .embedded_pins(["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".parse()?])
    ///     .build();
    /// # Ok::<(), appduct::PinFault>(())
    /// ```
    pub fn embedded_pins(mut self, pins: impl IntoIterator<Item = Pin>) -> Self {
        self.trust.embedded_pins = pins.into_iter().collect();
        self
    }

    /// Which pins to trust where none is built in.
    pub fn trust(mut self, mode: impl Into<TrustMode>) -> Self {
        self.trust.mode = Some(match mode.into() {
            TrustMode::Link => "link".to_owned(),
            TrustMode::Pin => "pin".to_owned(),
            TrustMode::Other(text) => text,
        });
        self
    }

    /// Whether only loopback and private addresses are dialled; `true` by default.
    pub fn allow_private_lan_only(mut self, only: bool) -> Self {
        self.trust.allow_private_lan_only = only;
        self
    }

    /// Where in the memory of this process the session is remembered for
    /// [`restore_session`](Appduct::restore_session). Clients with the same slot follow each other, and the newest owns
    /// the memory; give clients that live side by side a slot each. All share one slot by default.
    pub fn lease_slot(mut self, slot: impl Into<String>) -> Self {
        self.lease_slot = slot.into();
        self
    }

    /// Starts an idle client.
    #[must_use]
    pub fn build(self) -> Appduct {
        Appduct::over(engine::Engine::start(self.device, self.trust, self.lease_slot))
    }
}

impl From<&str> for TrustMode {
    fn from(text: &str) -> Self {
        match text {
            "" | "link" => Self::Link,
            "pin" => Self::Pin,
            other => Self::Other(other.to_owned()),
        }
    }
}

fn program_name() -> String {
    let path = std::env::current_exe().ok();
    let stem = path.as_deref().and_then(|path| path.file_stem());
    stem.map_or_else(|| "Unknown".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
