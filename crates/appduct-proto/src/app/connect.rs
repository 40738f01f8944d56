//! `connect`: checked before anything is harmed, claimed until the ack, retried until the link expires.

use std::net::IpAddr;

use super::{AttemptId, ConnectFault, Core, SocketId};
use crate::Now;
use crate::app::event::{ClientError, Phase};
use crate::app::fault::{SocketError, SocketLoss, socket_hint};
use crate::app::grace::HANDSHAKE_TIMEOUT;
use crate::app::options::ConnectInput;
use crate::app::output::Output;
use crate::app::state::{Claim, Handshake, Origin, Standing, State};
use crate::app::timers::Timer;
use crate::wire::{CloseReason, Pin};

impl Core {
    /// Starts a claim for a caller.
    pub(super) fn connect_by(
        &mut self,
        now: Now,
        input: ConnectInput,
        supersede: bool,
    ) -> Result<AttemptId, ConnectFault> {
        let attempt = self.mint_attempt();
        self.start_claim(now, input, supersede, Origin::Caller(attempt))?;
        Ok(attempt)
    }

    /// Everything that can be refused is refused here, before the session that is there is harmed.
    pub(super) fn start_claim(
        &mut self,
        now: Now,
        input: ConnectInput,
        supersede: bool,
        origin: Origin,
    ) -> Result<(), ConnectFault> {
        input.check(now)?;
        let is_busy = matches!(self.state(), State::Connecting | State::Active);
        if is_busy && !supersede {
            return Err(ConnectFault::Busy);
        }
        let pins = match self.trust.admit(self.sockets, input.address, input.link_pin) {
            Ok(pins) => pins,
            Err(fault) => {
                self.refuse_by_configuration(&fault);
                return Err(fault);
            }
        };
        self.backoff.reset();
        self.outputs.push(Output::ClearLease);
        self.drop_socket(CloseReason::ClientClose);
        self.timers.clear(&Timer::Grace);
        let claim = Claim { input, pins, origin, handshake: None, last_cause: String::new() };
        let before = self.enter(Standing::Claiming(Box::new(claim)), None);
        self.suspend_calls();
        self.settle(&before, Err(ConnectFault::Superseded));
        self.open_claim(now);
        Ok(())
    }

    /// The build's own configuration forbids a connect. A client that has nothing to lose shows it in its state; one that
    /// has a session keeps it.
    fn refuse_by_configuration(&mut self, fault: &ConnectFault) {
        match self.state() {
            State::Idle | State::Closed => {
                self.enter(Standing::Closed, Some("connect_error"));
            }
            State::Connecting | State::Active | State::Reconnecting => {}
        }
        self.outputs.error(ClientError::of_fault(Phase::Connect, fault));
    }

    fn open_claim(&mut self, now: Now) {
        let Standing::Claiming(claim) = &self.standing else { return };
        let (address, port, pins) = (claim.input.address, claim.input.port, claim.pins.clone());
        let handshake = self.open_socket(now, address, port, pins);
        if let Standing::Claiming(claim) = &mut self.standing {
            claim.handshake = Some(handshake);
        }
    }

    /// Asks the driver for a socket, which has until the handshake deadline to bring its ack.
    pub(super) fn open_socket(&mut self, now: Now, address: IpAddr, port: u16, pins: Vec<Pin>) -> Handshake {
        self.last_socket += 1;
        let socket = SocketId(self.last_socket);
        self.outputs.push(Output::Open { socket, address, port, pins });
        self.timers.set(Timer::Handshake, now.mono + HANDSHAKE_TIMEOUT);
        Handshake { socket, asked_at: now.mono, is_open: false }
    }

    /// A claim's socket died before its ack. The token is still good, so the claim is tried again, unless the daemon
    /// refused it (1008, whatever the reason) or the driver says that trying again cannot help.
    pub(super) fn lose_claim(&mut self, now: Now, loss: SocketLoss) {
        let Standing::Claiming(claim) = &mut self.standing else { return };
        let had_opened = claim.handshake.take().is_some_and(|handshake| handshake.is_open);
        if let Some(reason) = loss.rejection() {
            self.fail_claim(ConnectFault::Rejected(reason));
            return;
        }
        let cause = loss.cause();
        match loss.error {
            Some(error) if !had_opened && !error.is_worth_a_retry() => {
                self.fail_claim(ConnectFault::Socket(error));
            }
            error => {
                claim.last_cause.clone_from(&cause);
                let code = error.map(|error| error.code);
                self.outputs.error(ClientError {
                    code: code.map(str::to_owned),
                    close_reason: loss.reason,
                    retryable: Some(true),
                    hint: code.and_then(socket_hint).map(str::to_owned),
                    ..ClientError::new(Phase::Connect, format!("Appduct claim attempt failed: {cause}."))
                });
                self.wait_to_retry(now);
            }
        }
    }

    /// The wait is over: the claim is tried again if its link still lives.
    pub(super) fn retry_claim(&mut self, now: Now) {
        let Standing::Claiming(claim) = &self.standing else { return };
        if claim.input.has_expired(now) {
            self.fail_claim(ConnectFault::Socket(SocketError {
                code: "session_claim_expired",
                message: format!("the link expired before a claim came through: {}", claim.last_cause),
                retryable: false,
            }));
        } else {
            self.open_claim(now);
        }
    }

    /// The end of a claim that never held a session: `connect_error`, and no `lost`.
    fn fail_claim(&mut self, fault: ConnectFault) {
        let before = self.enter(Standing::Closed, Some("connect_error"));
        self.outputs.error(ClientError::of_fault(Phase::Connect, &fault));
        if let Standing::Claiming(claim) = &before
            && claim.origin == Origin::Url
        {
            self.outputs.error(ClientError::of_fault(Phase::Bootstrap, &fault));
        }
        self.settle(&before, Err(fault));
    }

    /// Tells the caller of the claim in `standing`, if there is one.
    pub(super) fn settle(&mut self, standing: &Standing, result: Result<(), ConnectFault>) {
        if let Standing::Claiming(claim) = standing
            && let Origin::Caller(attempt) = claim.origin
        {
            self.outputs.push(Output::Settled { attempt, result });
        }
    }
}
