//! WebSocket close codes and reasons.

/// What fits into a WebSocket control frame beside the code.
const MAX_REASON_BYTES: usize = 123;

/// A close that one side asks for, or that came from the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// The WebSocket close code.
    pub code: u16,
    /// At most 123 bytes; may be empty.
    pub reason: String,
}

macro_rules! close_reasons {
    ($($(#[$doc:meta])* $variant:ident = $code:literal $text:literal;)*) => {
        /// Every close that one of our ends sends, with its code and text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum CloseReason {
            $($(#[$doc])* $variant,)*
        }

        impl CloseReason {
            /// Every reason.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The WebSocket close code.
            #[must_use]
            pub fn code(self) -> u16 {
                match self { $(Self::$variant => $code,)* }
            }

            /// The text of the close frame.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

close_reasons! {
    /// From the daemon: a resume took the session over on another socket.
    SessionReplaced = 1000 "session_replaced";
    /// From the daemon: somebody revoked the session.
    Revoked = 1000 "revoked";
    /// From the app: it disconnected, or a fresh connection took over.
    ClientClose = 1000 "client_close";
    /// From the daemon: it is going away.
    DaemonShutdown = 1001 "daemon_shutdown";
    /// From the daemon: it could not finish starting.
    DaemonStartupFailed = 1001 "daemon_startup_failed";
    /// From the app: the system put it in the background; the session suspends with this reason.
    AppBackgrounded = 1001 "app_backgrounded";
    /// From the daemon: frames are text.
    BinaryFrameNotSupported = 1003 "binary_frame_not_supported";
    /// From the app: frames are text.
    BinaryNotSupported = 1003 "binary_not_supported";
    /// From the daemon: a message was not UTF-8.
    InvalidUtf8 = 1007 "";
    /// From the daemon: no successful claim or resume within ten seconds.
    PreClaimTimeout = 1008 "pre_claim_timeout";
    /// From the daemon: the frame is not a JSON object.
    InvalidJson = 1008 "invalid_json";
    /// From the daemon: the first frame is neither a valid claim nor a valid resume.
    ExpectedClaimOrResume = 1008 "expected_claim_or_resume";
    /// From the daemon: a frame type that apps do not send after the claim.
    UnknownMessageType = 1008 "unknown_message_type";
    /// From either side: the frame's session is not this socket's.
    SessionMismatch = 1008 "session_mismatch";
    /// From the daemon: a registry frame breaks its guard.
    InvalidRegistry = 1008 "invalid_registry";
    /// From either side: a frame breaks its guard.
    InvalidMessage = 1008 "invalid_message";
    /// From the daemon: the link was claimed before.
    AlreadyClaimed = 1008 "already_claimed";
    /// From the daemon: no such session or link.
    UnknownSession = 1008 "unknown_session";
    /// From the daemon: the link or session belongs to the other listener.
    WrongTransport = 1008 "wrong_transport";
    /// From the daemon: the link is past its time.
    LinkExpired = 1008 "link_expired";
    /// From the daemon: the claim's token is wrong.
    InvalidToken = 1008 "invalid_token";
    /// From the daemon: the fifth wrong token burned the link.
    ClaimAttemptsExceeded = 1008 "claim_attempts_exceeded";
    /// From the daemon: the resume's token is wrong.
    InvalidResumeToken = 1008 "invalid_resume_token";
    /// From the app: the first frame is not a valid ack.
    InvalidAck = 1008 "invalid_ack";
    /// From the daemon: the message is over the frame limit.
    MessageTooBig = 1009 "";
    /// From either side: a write to the socket failed, or too much waits for it.
    SendFailed = 1011 "send_failed";
    /// From the daemon: too many sockets wait for their claim. Not terminal, so the app tries again with its backoff.
    TooManySockets = 1013 "too_many_sockets";
}

impl From<CloseReason> for Close {
    fn from(reason: CloseReason) -> Self {
        Self { code: reason.code(), reason: reason.as_str().to_owned() }
    }
}

impl Close {
    /// A close with a reason that may come from elsewhere; it is cut to what a close frame can carry.
    #[must_use]
    pub fn new(code: u16, reason: &str) -> Self {
        Self { code, reason: reason[..reason.floor_char_boundary(MAX_REASON_BYTES)].to_owned() }
    }

    /// Whether an app must give its session up after this close: decided by the code alone.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.code == 1008
    }
}
