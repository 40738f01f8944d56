//! One thing that happens to a core.

use appduct_proto::testing::Choices;

/// Numbers pick among what there is; `back` counts sockets back from the newest.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Connect { supersede: bool, session: u64, expires_in_s: u64 },
    Disconnect,
    ShutDown,
    Restore { lost_ms_ago: Option<u64> },
    Background,
    Foreground,
    RegisterTool(u64),
    UnregisterTool(usize),
    RegisterEvent(u64),
    UnregisterEvent(usize),
    Post,
    Respond { call: u64, answer: u8 },
    Progress { call: u64 },
    Opened { back: u64 },
    Lost { back: u64, code: Option<u16>, can_retry: bool },
    Ack { takes_events: bool, grace_s: u64 },
    Call { call: u64, tool: u64 },
    Cancel { call: u64 },
    Garbage(usize),
    Bytes(&'a [u8]),
    Binary { back: u64 },
    Pong { back: u64 },
    SendFailed { back: u64 },
    Advance(u64),
    Freeze(u64),
}

/// Names of calls and of tools.
const NAMES: u64 = 6;

impl<'a> Step<'a> {
    /// The first byte is the kind, with room for many ways to the common ones.
    pub(super) fn choose(choices: &mut Choices<'a>) -> Self {
        match choices.below(64) {
            0..4 => {
                Self::Connect { supersede: choices.flag(), session: choices.below(2), expires_in_s: choices.below(100) }
            }
            4 => Self::Disconnect,
            5 => Self::ShutDown,
            6 => Self::Restore { lost_ms_ago: choices.flag().then(|| choices.below(20_000)) },
            7 => Self::Background,
            8 => Self::Foreground,
            9..12 => Self::RegisterTool(choices.below(NAMES)),
            12 | 13 => Self::UnregisterTool(choices.place(20)),
            14 => Self::RegisterEvent(choices.below(NAMES)),
            15 => Self::UnregisterEvent(choices.place(20)),
            16 => Self::Post,
            17..20 => Self::Respond { call: choices.below(NAMES), answer: choices.byte() % 4 },
            20 => Self::Progress { call: choices.below(NAMES) },
            21..30 => Self::Opened { back: 0 },
            30 => Self::Opened { back: choices.below(3) },
            31..34 => Self::Lost {
                back: choices.below(3),
                code: choices
                    .pick(&[None, Some(1000), Some(1001), Some(1003), Some(1008), Some(1011)])
                    .copied()
                    .flatten(),
                can_retry: choices.flag(),
            },
            34..44 => Self::Ack { takes_events: choices.flag(), grace_s: 1 + choices.below(39) },
            44..50 => Self::Call { call: choices.below(NAMES), tool: choices.below(NAMES) },
            50 => Self::Cancel { call: choices.below(NAMES) },
            51 => Self::Garbage(choices.place(4)),
            52 => {
                let length = choices.place(64);
                Self::Bytes(choices.bytes(length))
            }
            53 => Self::Binary { back: choices.below(3) },
            54..57 => Self::Pong { back: choices.below(3) },
            57 => Self::SendFailed { back: choices.below(3) },
            58 => Self::Freeze(choices.below(60_000)),
            _ => Self::Advance(choices.below(20_000)),
        }
    }
}
