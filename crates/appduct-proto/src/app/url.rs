//! Deep links that reach the app, from the system or from its own code.

use super::{AttemptId, ConnectFault, Core};
use crate::Now;
use crate::app::event::{ClientError, Phase};
use crate::app::options::ConnectInput;
use crate::app::state::{Origin, State};
use crate::wire::{Bootstrap, DeepLink};

impl Core {
    pub(super) fn connect_by_link(&mut self, now: Now, url: &str) -> Result<Option<AttemptId>, ConnectFault> {
        let link = DeepLink::parse(url).ok_or(ConnectFault::NotALink)?;
        let attempt = self.mint_attempt();
        let is_followed = self.follow(now, &link, Origin::Caller(attempt))?;
        Ok(is_followed.then_some(attempt))
    }

    pub(super) fn take_url(&mut self, now: Now, url: &str) -> bool {
        let Some(link) = DeepLink::parse(url) else { return false };
        if let Err(fault) = self.follow(now, &link, Origin::Url) {
            self.outputs.error(ClientError::of_fault(Phase::Bootstrap, &fault));
        }
        true
    }

    /// `false` if there is nothing to do: the link is the one whose session is there already. Systems deliver links again,
    /// and a token is good once, so following it could only cost the session, also one that is reconnecting.
    fn follow(&mut self, now: Now, link: &DeepLink, origin: Origin) -> Result<bool, ConnectFault> {
        let bootstrap = Bootstrap::decode(&link.payload).map_err(|_| ConnectFault::InvalidPayload)?;
        if self.session_id() == Some(bootstrap.session_id.as_str()) {
            return Ok(false);
        }
        self.trust.check_address(bootstrap.address)?;
        let supersede = matches!(self.state(), State::Connecting | State::Active);
        let input = ConnectInput::of_bootstrap(&bootstrap, link.pin);
        self.start_claim(now, input, supersede, origin)?;
        Ok(true)
    }
}
