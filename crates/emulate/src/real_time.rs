//! Scheduling privileges for punctual replies.
use crate::session::Scheduling;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// The real-time priority: above ordinary threads, below kernel threads that serve interrupts.
const PRIORITY: u8 = 10;

/// Requests real-time scheduling and exact sleeps for this thread. Either may be refused.
pub fn request_real_time() -> Scheduling {
    Scheduling { real_time: asks_for_real_time(), exact_sleep: asks_for_exact_sleep() }
}

fn asks_for_real_time() -> bool {
    let Ok(priority) = ThreadPriorityValue::try_from(PRIORITY) else { return false };
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriority::Crossplatform(priority);
    set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok()
}

#[cfg(target_os = "linux")]
fn asks_for_exact_sleep() -> bool {
    let slack = std::num::NonZeroU64::new(1);
    rustix::thread::set_current_timer_slack(slack).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn asks_for_exact_sleep() -> bool {
    false
}
