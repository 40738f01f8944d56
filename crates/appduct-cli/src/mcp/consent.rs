//! The question to a person before a call whose policy says `prompt`, in both eras of the protocol.
//!
//! Up to 2025-11-25 the server asks the client while the call waits. Since 2026-07-28 the server answers with the question,
//! and the client repeats the call with what the person said and the state that came with the question. What a client sends
//! unasked is no consent: a state is a secret of this process, good for one call of one tool with one set of arguments, once,
//! for ten minutes.

use std::collections::BTreeMap;
use std::time::Duration;

use appduct_proto::wire::RawJson;
use appduct_rpc::methods::Session;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses,
};
use rmcp::service::{RequestContext, RoleServer, ServiceError};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::progress::Progress;
use super::refusal::Refusal;

/// How long a question stands.
const TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// How much of the arguments a person is shown.
const SHOWN_UNITS: usize = 2048;
/// Questions that may stand at once; the oldest gives way.
const MAX_PENDING: usize = 256;
/// The name of the only question.
const KEY: &str = "consent";

/// A call that a person is to agree to.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) session: Session,
    pub(super) tool: String,
    pub(super) args: RawJson,
    pub(super) policy: String,
}

/// What came of a question.
#[derive(Debug)]
pub(super) enum Verdict {
    /// A person agreed.
    Given,
    /// Nobody can be asked through this client. The daemon is to refuse the call, and to write that down.
    NoChannel,
    /// The client has to ask, and to call again.
    Ask(Box<InputRequiredResult>),
}

/// What the client sent along, if it has been asked before.
#[derive(Debug, Default)]
pub(super) struct Response {
    pub(super) answers: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// The questions that stand.
#[derive(Clone, Debug)]
pub(super) struct Consents(mpsc::Sender<Request>);

#[derive(Debug)]
enum Request {
    Issue { binding: Binding, state: String, done: oneshot::Sender<()> },
    Redeem { binding: Binding, state: String, done: oneshot::Sender<bool> },
}

impl Consents {
    /// Starts their owner, which lives until the last handle is gone.
    pub(super) fn start() -> Self {
        let (sender, mut requests) = mpsc::channel(16);
        tokio::spawn(async move {
            let mut pending = Pending::default();
            while let Some(request) = requests.recv().await {
                let now = Instant::now();
                // Whoever asked may have gone.
                match request {
                    Request::Issue { binding, state, done } => {
                        pending.issue(now, state, binding);
                        done.send(()).unwrap_or_default();
                    }
                    Request::Redeem { binding, state, done } => {
                        done.send(pending.redeem(now, &state, &binding)).unwrap_or_default();
                    }
                }
            }
        });
        Self(sender)
    }

    /// Asks a person, or reads what one has said.
    pub(super) async fn ask(
        &self,
        proposal: &Proposal,
        response: Response,
        context: &RequestContext<RoleServer>,
    ) -> Result<Verdict, Refusal> {
        if !context.client_capabilities().and_then(|can| can.elicitation).is_some_and(|can| shows_forms(&can)) {
            return Ok(Verdict::NoChannel);
        }
        let is_modern = context.protocol_version().is_some_and(|version| !version.has_initialize());
        if is_modern { self.by_retry(proposal, response).await } else { by_request(proposal, context).await }
    }

    async fn by_retry(&self, proposal: &Proposal, response: Response) -> Result<Verdict, Refusal> {
        let binding = Binding::of(proposal);
        if let Some(state) = response.state
            && self.redeem(state, binding.clone()).await?
        {
            let answer = response.answers.as_ref().and_then(|answers| answers.get(KEY)?.get("action")?.as_str());
            return match answer {
                Some("accept") => Ok(Verdict::Given),
                Some(action) => Err(declined(action)),
                None => Err(declined("no answer")),
            };
        }
        let state = secret()?;
        self.issue(state.clone(), binding).await?;
        let params = question(proposal);
        let request = InputRequest::Elicitation(ElicitRequest::new(params));
        let requests = BTreeMap::from([(KEY.to_owned(), request)]);
        Ok(Verdict::Ask(Box::new(InputRequiredResult::new(Some(requests), Some(state)))))
    }

    async fn issue(&self, state: String, binding: Binding) -> Result<(), Refusal> {
        let (done, issued) = oneshot::channel();
        self.0.send(Request::Issue { binding, state, done }).await.map_err(|_| stopped())?;
        issued.await.map_err(|_| stopped())
    }

    async fn redeem(&self, state: String, binding: Binding) -> Result<bool, Refusal> {
        let (done, redeemed) = oneshot::channel();
        self.0.send(Request::Redeem { binding, state, done }).await.map_err(|_| stopped())?;
        redeemed.await.map_err(|_| stopped())
    }
}

/// A client that names no way of asking has the first one that there was.
fn shows_forms(can: &ElicitationCapability) -> bool {
    can.form.is_some() || can.url.is_none()
}

async fn by_request(proposal: &Proposal, context: &RequestContext<RoleServer>) -> Result<Verdict, Refusal> {
    let asked = context.peer.create_elicitation_with_timeout(question(proposal), Some(TIMEOUT));
    let progress = Progress::of(context);
    let answered = tokio::select! {
        biased;
        () = context.ct.cancelled() => return Err(Refusal::cancelled()),
        answered = progress.during("waiting for a person to agree", asked) => answered,
    };
    verdict(answered)
}

fn verdict(answered: Result<ElicitResult, ServiceError>) -> Result<Verdict, Refusal> {
    match answered {
        Ok(result) => match result.action {
            ElicitationAction::Accept => Ok(Verdict::Given),
            ElicitationAction::Decline => Err(declined("decline")),
            ElicitationAction::Cancel => Err(declined("cancel")),
            _ => Err(declined("an answer that is not known")),
        },
        Err(ServiceError::Timeout { .. }) => Err(declined("no answer within ten minutes")),
        Err(_) => Ok(Verdict::NoChannel),
    }
}

fn declined(how: &str) -> Refusal {
    Refusal::declined(format!(
        "the call was declined, or the question was not shown to anybody ({how}); do not try it another way, ask the user"
    ))
}

fn stopped() -> Refusal {
    Refusal::execution("the server stopped")
}

/// A form with nothing to fill in: the choice between its buttons is the answer.
fn question(proposal: &Proposal) -> ElicitRequestParams {
    let Proposal { session, tool, args, .. } = proposal;
    let compact = serde_json::from_str::<serde_json::Value>(args.as_str()).map(|args| args.to_string());
    let args = compact.unwrap_or_else(|_| args.as_str().to_owned());
    let message = format!(
        "Allow the call of {tool:?} in the app {:?} (session {})? Arguments: {}",
        session.alias,
        session.session_id,
        shown(&args)
    );
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    }
}

/// Arguments as a person is shown them: no character can hide or move others, and a cut is said.
fn shown(args: &str) -> String {
    let visible: String =
        args.chars().map(|character| if is_visible(character) { character } else { '\u{fffd}' }).collect();
    let mut units = 0;
    let cut = visible.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > SHOWN_UNITS
    });
    match cut {
        None => visible,
        Some((at, _)) => format!("{} … (cut, {} bytes in all)", &visible[..at], args.len()),
    }
}

fn is_visible(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A state that nobody can guess.
fn secret() -> Result<String, Refusal> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| Refusal::execution(format!("no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What a consent is for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Binding([u8; 32]);

impl Binding {
    fn of(proposal: &Proposal) -> Self {
        let mut hash = Sha256::new();
        for part in [&proposal.session.session_id, &proposal.tool, &proposal.policy, proposal.args.as_str()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.finalize().into())
    }
}

/// Questions that were asked and not answered yet.
#[derive(Debug, Default)]
struct Pending(BTreeMap<String, (Instant, Binding)>);

impl Pending {
    fn issue(&mut self, now: Instant, state: String, binding: Binding) {
        self.0.retain(|_, (asked, _)| now.duration_since(*asked) < TIMEOUT);
        if self.0.len() >= MAX_PENDING {
            let oldest = self.0.iter().min_by_key(|(_, (asked, _))| *asked).map(|(state, _)| state.clone());
            oldest.and_then(|oldest| self.0.remove(&oldest));
        }
        self.0.insert(state, (now, binding));
    }

    /// Whether this state stands for this call; whatever the answer, it does not any more.
    fn redeem(&mut self, now: Instant, state: &str, binding: &Binding) -> bool {
        let found = self.0.remove(state);
        found.is_some_and(|(asked, bound)| now.duration_since(asked) < TIMEOUT && bound == *binding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(args: &str) -> Proposal {
        let session = r#"{"sessionId":"s1","alias":"pixel","state":"active","device":{},"createdAt":"","toolCount":1}"#;
        Proposal {
            session: serde_json::from_str(session).unwrap(),
            tool: "pay".to_owned(),
            args: RawJson::parse(args).unwrap(),
            policy: "prompt".to_owned(),
        }
    }

    #[test]
    fn a_state_is_good_once_for_its_call_and_for_ten_minutes() {
        let start = Instant::now();
        let binding = Binding::of(&proposal("{\"a\":1}"));
        let mut pending = Pending::default();
        let mut check = |state: &str, after: Duration, binding: &Binding| {
            pending.issue(start, "secret".to_owned(), Binding::of(&proposal("{\"a\":1}")));
            let first = pending.redeem(start + after, state, binding);
            let second = pending.redeem(start + after, "secret", &Binding::of(&proposal("{\"a\":1}")));
            (first, second)
        };
        let soon = Duration::from_secs(1);
        assert_eq!(check("secret", soon, &binding), (true, false));
        assert!(!check("guess", soon, &binding).0);
        assert_eq!(check("secret", TIMEOUT, &binding), (false, false));
        assert_eq!(check("secret", soon, &Binding::of(&proposal("{\"a\":2}"))), (false, false));
    }

    #[test]
    fn a_binding_is_of_the_session_the_tool_the_policy_and_the_arguments() {
        let base = proposal("{}");
        let mut others = vec![proposal("{\"a\":1}")];
        others.push(Proposal { tool: "pa".to_owned(), policy: "yprompt".to_owned(), ..base.clone() });
        others.push(Proposal { policy: "allow".to_owned(), ..base.clone() });
        others.push(Proposal {
            session: Session { session_id: "s2".to_owned(), ..base.session.clone() },
            ..base.clone()
        });
        for other in others {
            assert_ne!(Binding::of(&base), Binding::of(&other), "{other:?}");
        }
    }

    #[test]
    fn only_an_accepted_question_is_a_consent() {
        let answered = |action| verdict(Ok(ElicitResult::new(action)));
        assert!(matches!(answered(ElicitationAction::Accept), Ok(Verdict::Given)));
        for declined in [
            answered(ElicitationAction::Decline),
            answered(ElicitationAction::Cancel),
            verdict(Err(ServiceError::Timeout { timeout: TIMEOUT })),
        ] {
            let text = declined.unwrap_err().text();
            assert!(text.starts_with("consent_declined: ") && text.contains("not shown to anybody"), "{text}");
        }
        assert!(matches!(verdict(Err(ServiceError::TransportClosed)), Ok(Verdict::NoChannel)));
    }

    #[test]
    fn old_questions_give_way() {
        let start = Instant::now();
        let binding = Binding::of(&proposal("{}"));
        let mut pending = Pending::default();
        for at in 0..=MAX_PENDING {
            pending.issue(start + Duration::from_millis(at as u64), format!("{at}"), binding.clone());
        }
        assert_eq!(pending.0.len(), MAX_PENDING);
        assert!(!pending.redeem(start, "0", &binding));
        assert!(pending.redeem(start, "1", &binding));
    }

    #[test]
    fn a_person_sees_what_is_called_and_nothing_is_hidden() {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } =
            question(&proposal("{ \"a\" : \"\u{202e}x\" }"))
        else {
            panic!("not a form");
        };
        assert_eq!(
            message,
            "Allow the call of \"pay\" in the app \"pixel\" (session s1)? Arguments: {\"a\":\"\u{fffd}x\"}"
        );
        assert!(requested_schema.properties.is_empty());
        let long = shown(&"x".repeat(3000));
        assert!(long.starts_with(&"x".repeat(2048)) && long.ends_with("(cut, 3000 bytes in all)"), "{long}");
    }
}
