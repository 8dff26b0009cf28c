//! Invalid calls to a host: completions that answer nothing, and time that goes back.
use core::fmt;
use drivelab_units::Instant;

/// An invalid completion, or an invalid instant.
/// ```
/// use drivelab_core::host::feed::{FeedParams, Pace};
/// use drivelab_core::host::{Host, HostError, HostInput};
/// use drivelab_core::{Breakdown, Completion, Machine, Outcome};
/// use drivelab_units::{Instant, Span};
///
/// let mut host = Host::fed(FeedParams { pace: Pace::Depth(1), command_limit: None }).unwrap();
/// let now = Instant::ZERO + Span::from_ms(1);
/// let (outcome, breakdown) = (Outcome::Done, Breakdown::default());
/// let stray = Completion { id: 0, initiator: 0, tag: 7, outcome, submitted: now, completed: now, breakdown };
/// assert_eq!(host.handle(now, HostInput::Completed(stray)), Err(HostError::UnknownTag { tag: 7 }));
/// let back = host.handle(Instant::ZERO, HostInput::Tick);
/// assert_eq!(back, Err(HostError::TimeWentBack { now: Instant::ZERO, was: now }));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostError {
    /// No command with this tag is outstanding.
    UnknownTag {
        /// The tag of the completion.
        tag: u32,
    },
    /// The outstanding command with this tag was sent later than the completion's submission, or the
    /// completion precedes it.
    BeforeSubmission {
        /// The tag of the completion.
        tag: u32,
        /// When the command was sent.
        sent: Instant,
        /// When the completion claims to have happened.
        completed: Instant,
    },
    /// Time only moves forward.
    TimeWentBack {
        /// The instant that was given.
        now: Instant,
        /// The latest instant that the host has seen.
        was: Instant,
    },
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTag { tag } => {
                write!(f, "a completion with the tag {tag}, of which nothing is outstanding")
            }
            Self::BeforeSubmission { tag, sent, completed } => write!(
                f,
                "a completion with the tag {tag} at {} ns, of what was sent at {} ns",
                completed.as_ns(),
                sent.as_ns()
            ),
            Self::TimeWentBack { now, was } => {
                write!(f, "time went back: {} ns is given after {} ns", now.as_ns(), was.as_ns())
            }
        }
    }
}

impl core::error::Error for HostError {}
