//! The control connections, as far as the event loop knows them: who waits for which call, and who listens.

use std::collections::BTreeMap;
use std::sync::Arc;

use appduct_proto::host::{CallId, Event, EventBody};
use appduct_proto::wire::RawJson;
use appduct_rpc::RpcError;
use appduct_rpc::methods::Done;
use tokio::sync::oneshot;

use crate::control::{Client, ClientId, Slot};
use crate::handlers::{Notification, Reply, Subscription};

/// Every connection that has not hung up.
#[derive(Debug, Default)]
pub(super) struct Clients {
    connected: BTreeMap<ClientId, Connected>,
    callers: BTreeMap<CallId, Caller>,
}

#[derive(Debug)]
struct Connected {
    handle: Client,
    subscription: Option<Subscription>,
}

/// Who is to hear of the end of a call.
#[derive(Debug)]
struct Caller {
    client: ClientId,
    id: RawJson,
    slot: Slot,
    /// Whether its connection gets the events of the call, whatever it has subscribed to.
    follow: bool,
}

impl Clients {
    pub(super) fn insert(&mut self, client: ClientId, handle: Client) {
        self.connected.insert(client, Connected { handle, subscription: None });
    }

    /// The connection is gone. Returns its calls, which nobody waits for any more.
    pub(super) fn remove(&mut self, client: ClientId) -> Vec<CallId> {
        self.connected.remove(&client);
        self.callers.extract_if(.., |_, caller| caller.client == client).map(|(call, _)| call).collect()
    }

    pub(super) fn is_connected(&self, client: ClientId) -> bool {
        self.connected.contains_key(&client)
    }

    pub(super) fn reply(&self, client: ClientId, id: RawJson, result: Result<Reply, RpcError>, slot: Slot) {
        if let Some(connected) = self.connected.get(&client) {
            connected.handle.reply(id, result, slot);
        }
    }

    /// Replies that the daemon goes; `written` hears when the reply has left, or cannot.
    pub(super) fn reply_last(&self, client: ClientId, id: RawJson, slot: Slot, written: oneshot::Sender<()>) {
        if let Some(connected) = self.connected.get(&client) {
            connected.handle.reply_and_tell(id, Reply::Done(Done::OK), slot, written);
        }
    }

    /// Replies, and sends notifications from then on.
    pub(super) fn subscribe(&mut self, client: ClientId, id: RawJson, subscription: Subscription, slot: Slot) {
        if let Some(connected) = self.connected.get_mut(&client) {
            connected.handle.reply(id, Ok(Reply::Done(Done::OK)), slot);
            connected.subscription = Some(subscription);
        }
    }

    /// Replies when the call ends. Must come before the first event of the call is published.
    pub(super) fn await_call(&mut self, call: CallId, client: ClientId, id: RawJson, slot: Slot, follow: bool) {
        self.callers.insert(call, Caller { client, id, slot, follow });
    }

    pub(super) fn call_ended(&mut self, call: &CallId, result: Result<Reply, RpcError>) {
        if let Some(Caller { client, id, slot, .. }) = self.callers.remove(call) {
            self.reply(client, id, result, slot);
        }
    }

    /// Tells everyone who wants to know.
    pub(super) fn publish(&mut self, event: &Event) {
        let mut whole = None;
        let follower = call_of(&event.body).and_then(|call| self.callers.get(call)).filter(|caller| caller.follow);
        for (client, connected) in &mut self.connected {
            let line = connected.subscription.as_ref().and_then(|subscription| subscription.line(event, &mut whole));
            let is_followed = follower.is_some_and(|caller| caller.client == *client);
            if let Some(line) = line.or_else(|| is_followed.then(|| Notification::of(event).line().into())) {
                connected.notify(line);
            }
        }
    }

    /// The same for an event of the daemon itself.
    pub(super) fn publish_own(&mut self, notification: &Notification<'_>) {
        let line: Arc<str> = notification.line().into();
        for connected in self.connected.values_mut() {
            if connected.subscription.as_ref().is_some_and(|subscription| subscription.wants(notification)) {
                connected.notify(Arc::clone(&line));
            }
        }
    }
}

/// The call that an event is about.
fn call_of(body: &EventBody) -> Option<&CallId> {
    match body {
        EventBody::ToolCallStarted { call, .. } | EventBody::ToolCallProgress { call, .. } => Some(call),
        EventBody::ToolCallFinished(finished) => Some(&finished.call),
        EventBody::LinkCreated { .. }
        | EventBody::LinkExpired
        | EventBody::SessionClaimed { .. }
        | EventBody::SessionSuspended { .. }
        | EventBody::SessionResumed
        | EventBody::SessionRevoked
        | EventBody::SessionExpired
        | EventBody::ToolsChanged { .. }
        | EventBody::EventsChanged { .. }
        | EventBody::AppEvent { .. }
        | EventBody::AppEventPreview { .. }
        | EventBody::ToolCallDenied { .. } => None,
    }
}

impl Connected {
    /// A connection that reads too slowly is ended by its handle; it hangs up by itself then.
    fn notify(&mut self, line: Arc<str>) {
        if self.handle.notify(line).is_err() {
            self.subscription = None;
        }
    }
}
