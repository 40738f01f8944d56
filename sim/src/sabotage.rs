//! Hosts that break a promise on purpose, to show that the checks can fail.

use std::collections::BTreeMap;

use appduct_proto::host::{CallId, EventBody, Outcome, Output, Settings, SocketId};
use appduct_proto::wire::{AppFrame, DaemonFrame, DaemonReceived, Hello, Received};
use bytes::Bytes;

/// What is wrong with a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sabotage {
    /// Nothing.
    #[default]
    None,
    /// Now and then a call is answered twice.
    AnswersTwice,
    /// Now and then a call is never answered.
    ForgetsAnAnswer,
    /// A call that lost its connection is sent again after the resume.
    RepeatsCalls,
    /// Now and then the answer of one call is given to another.
    MixesAnswersUp,
    /// Acks do not wait for the save.
    AcksBeforeTheSave,
    /// Now and then a change of a registry is lost.
    LosesADelta,
    /// A snapshot after a resume is lost.
    LosesSnapshotsOfResumes,
    /// A token that is long dead still opens its session.
    KeepsTokensAlive,
    /// The listener that a session belongs to is not looked at.
    ForgetsTheListener,
    /// Sessions end before their grace does.
    CutsGraceShort,
    /// A suspended session never ends.
    NeverExpires,
    /// The driver's word that a closed socket is gone does not arrive.
    KeepsSockets,
    /// A token shows in an event.
    ShowsATokenInAnEvent,
    /// App events have their numbers twice.
    ReusesEventNumbers,
    /// Bad frames of one socket close another.
    ClosesTheWrongSocket,
}

impl Sabotage {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::AnswersTwice,
        Self::ForgetsAnAnswer,
        Self::RepeatsCalls,
        Self::MixesAnswersUp,
        Self::AcksBeforeTheSave,
        Self::LosesADelta,
        Self::LosesSnapshotsOfResumes,
        Self::KeepsTokensAlive,
        Self::ForgetsTheListener,
        Self::CutsGraceShort,
        Self::NeverExpires,
        Self::KeepsSockets,
        Self::ShowsATokenInAnEvent,
        Self::ReusesEventNumbers,
        Self::ClosesTheWrongSocket,
    ];
}

/// Stands between a host and its driver.
#[derive(Debug, Default)]
pub(crate) struct Saboteur {
    sabotage: Sabotage,
    count: u64,
    /// The newest token of each session.
    newest: BTreeMap<String, String>,
    /// The socket of each session, with how many acks it has had.
    sockets: BTreeMap<String, (SocketId, u64)>,
    /// The frames of calls in flight, by session.
    sent: BTreeMap<String, (String, String)>,
    again: BTreeMap<String, Vec<String>>,
    last_result: Option<appduct_proto::wire::RawJson>,
}

impl Saboteur {
    pub(crate) fn new(sabotage: Sabotage) -> Self {
        Self { sabotage, ..Self::default() }
    }

    pub(crate) fn settings(&self, honest: Settings) -> Settings {
        if self.sabotage == Sabotage::CutsGraceShort {
            Settings { grace: honest.grace / 2, ..honest }
        } else if self.sabotage == Sabotage::NeverExpires {
            Settings { grace: honest.grace * 1_000, ..honest }
        } else {
            honest
        }
    }

    pub(crate) fn saves_late(&self) -> bool {
        self.sabotage == Sabotage::AcksBeforeTheSave
    }

    pub(crate) fn hears_of_the_end(&self) -> bool {
        self.sabotage != Sabotage::KeepsSockets
    }

    pub(crate) fn ignores_listeners(&self) -> bool {
        self.sabotage == Sabotage::ForgetsTheListener
    }

    /// What the host gets instead of a message.
    pub(crate) fn incoming(&mut self, socket: SocketId, received: Received) -> Option<(SocketId, Received)> {
        match (self.sabotage, received) {
            (Sabotage::KeepsTokensAlive, Received::Hello(Hello::Resume { session_id, resume_token })) => {
                let resume_token = self.newest.get(&session_id).cloned().unwrap_or(resume_token);
                Some((socket, Received::Hello(Hello::Resume { session_id, resume_token })))
            }
            (Sabotage::LosesADelta, received @ Received::Frame { frame: Ok(AppFrame::ToolRemove(_)), .. })
                if self.every(2) =>
            {
                drop(received);
                None
            }
            (
                Sabotage::LosesSnapshotsOfResumes,
                Received::Frame { session_id: Some(session), frame: Ok(AppFrame::ToolSnapshot(_)), .. },
            ) if self.sockets.get(&session).is_some_and(|&(_, acks)| acks > 1) => None,
            (Sabotage::ClosesTheWrongSocket, Received::NotAnObject) => {
                let wrong = self.sockets.values().next().map_or(socket, |&(socket, _)| socket);
                Some((wrong, Received::NotAnObject))
            }
            (_, received) => Some((socket, received)),
        }
    }

    /// What the driver gets instead of an output.
    pub(crate) fn outgoing(&mut self, output: Output) -> Vec<Output> {
        if let Output::Send { socket, text } = &output {
            return self.sent(*socket, text.clone(), output);
        }
        match (self.sabotage, output) {
            (Sabotage::AnswersTwice, Output::CallFinished(call)) if self.every(5) => {
                vec![Output::CallFinished(call.clone()), Output::CallFinished(call)]
            }
            (Sabotage::ForgetsAnAnswer, Output::CallFinished(_)) if self.every(5) => Vec::new(),
            (Sabotage::RepeatsCalls, Output::CallFinished(call)) => {
                self.keep(&call.call, &call.outcome);
                vec![Output::CallFinished(call)]
            }
            (Sabotage::MixesAnswersUp, Output::CallFinished(mut call)) => {
                if let Outcome::Result(result) = &mut call.outcome
                    && let Some(last) = self.last_result.replace(result.clone())
                    && self.count.is_multiple_of(5)
                {
                    *result = last;
                }
                self.count += 1;
                vec![Output::CallFinished(call)]
            }
            (Sabotage::ShowsATokenInAnEvent, Output::Event(mut event)) => {
                if let EventBody::ToolCallStarted { name, .. } = &mut event.body
                    && let Some(token) = self.newest.get(&event.session_id)
                {
                    name.push_str(token);
                }
                vec![Output::Event(event)]
            }
            (Sabotage::ReusesEventNumbers, Output::Event(mut event)) => {
                if event.seq > 2 {
                    event.seq -= event.seq % 2;
                }
                vec![Output::Event(event)]
            }
            (_, output) => vec![output],
        }
    }

    fn sent(&mut self, socket: SocketId, text: String, output: Output) -> Vec<Output> {
        let mut outputs = vec![output];
        if self.sabotage == Sabotage::None {
            return outputs;
        }
        let DaemonReceived::Frame { session_id: Some(session), frame: Ok(Some(frame)), .. } =
            DaemonReceived::decode(&Bytes::from(text.clone()))
        else {
            return outputs;
        };
        match frame {
            DaemonFrame::Ack(ack) => {
                self.newest.insert(session.clone(), ack.resume_token);
                let acks = self.sockets.get(&session).map_or(0, |&(_, acks)| acks);
                self.sockets.insert(session.clone(), (socket, acks + 1));
                let again = self.again.remove(&session).unwrap_or_default();
                outputs.extend(again.into_iter().map(|text| Output::Send { socket, text }));
            }
            DaemonFrame::ToolCall { id, .. } => {
                self.sent.insert(id, (session, text));
            }
            DaemonFrame::ToolCancel { .. } => {}
        }
        outputs
    }

    fn keep(&mut self, call: &CallId, outcome: &Outcome) {
        if let Some((session, text)) = self.sent.remove(&*call.0)
            && matches!(outcome, Outcome::Suspended(_) | Outcome::Resumed)
        {
            self.again.entry(session).or_default().push(text);
        }
    }

    fn every(&mut self, times: u64) -> bool {
        self.count += 1;
        self.count.is_multiple_of(times)
    }
}
