//! What one validation may cost.
//!
//! The validator itself cannot be interrupted. It has to look at the value at every step, though, and every look is charged
//! here: when the budget is spent, the thread unwinds out of the validator to whoever set the budget.

use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

// Without unwinding a spent budget would end the process.
#[cfg(not(panic = "unwind"))]
compile_error!("the daemon needs panic = \"unwind\"");

/// What a validation may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// How often it may look at the value.
    pub(super) looks: u64,
    /// How many errors it may find.
    pub(super) errors: u64,
    /// How much of the stack it may use, in bytes.
    pub(super) stack_bytes: usize,
    /// When it must have ended, in processor time of its thread: a busy machine is not the validation's fault.
    pub(super) until: Option<Duration>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The budget was spent.
    Spent,
    /// The validator has a bug.
    Panicked,
}

/// The clock is read once in so many looks at the value.
const CLOCK_EVERY: u64 = 128;

#[derive(Clone, Copy)]
struct Meter {
    budget: Budget,
    stack_base: usize,
    looks_to_clock: u64,
}

thread_local! {
    static METER: Cell<Option<Meter>> = const { Cell::new(None) };
}

/// What the unwinding carries.
struct Spent;

/// Runs `validate` within the budget.
pub(super) fn within<T>(budget: Budget, validate: impl FnOnce() -> T) -> Result<T, Stopped> {
    METER.set(Some(Meter { budget, stack_base: stack_position(), looks_to_clock: CLOCK_EVERY }));
    let result = catch_unwind(AssertUnwindSafe(validate));
    METER.set(None);
    result.map_err(|payload| if payload.is::<Spent>() { Stopped::Spent } else { Stopped::Panicked })
}

/// The value is looked at, at the price of so many looks.
pub(super) fn charge(looks: u64) {
    let Some(mut meter) = METER.get() else { return };
    let in_budget = meter.take(looks);
    METER.set(Some(meter));
    if !in_budget {
        stop();
    }
}

/// An error is found.
pub(super) fn charge_error() {
    let Some(mut meter) = METER.get() else { return };
    let left = meter.budget.errors.checked_sub(1);
    meter.budget.errors = left.unwrap_or(0);
    METER.set(Some(meter));
    if left.is_none() {
        stop();
    }
}

impl Meter {
    fn take(&mut self, looks: u64) -> bool {
        let Some(left) = self.budget.looks.checked_sub(looks) else { return false };
        self.budget.looks = left;
        if self.stack_base.abs_diff(stack_position()) > self.budget.stack_bytes {
            return false;
        }
        match self.looks_to_clock.checked_sub(looks) {
            Some(looks) => self.looks_to_clock = looks,
            None => {
                self.looks_to_clock = CLOCK_EVERY;
                return self.budget.until.is_none_or(|until| processor_time() < until);
            }
        }
        true
    }
}

/// How long this thread has run so far.
pub(super) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // Neither part is negative: the thread's time starts with it.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Unwinds without a word: this is no failure of the program.
fn stop() -> ! {
    resume_unwind(Box::new(Spent))
}

/// About where the stack ends.
#[inline(never)]
fn stack_position() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(black_box(&here)).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMPLE: Budget = Budget { looks: 1000, errors: 10, stack_bytes: 1 << 20, until: None };

    #[test]
    fn a_budget_is_spent_to_the_last_look_and_no_further() {
        let looks = |count: u64| within(AMPLE, || (0..count).for_each(|_| charge(1)));
        assert_eq!(looks(1000), Ok(()));
        assert_eq!(looks(1001), Err(Stopped::Spent));
        assert_eq!(within(AMPLE, || charge(1001)), Err(Stopped::Spent));
        let errors = |count: u64| within(AMPLE, || (0..count).for_each(|_| charge_error()));
        assert_eq!((errors(10), errors(11)), (Ok(()), Err(Stopped::Spent)));
    }

    #[test]
    fn recursion_is_stopped_before_the_stack_ends() {
        #[expect(unconditional_recursion, reason = "the meter ends it")]
        fn recurse(depth: u64) -> u64 {
            charge(0);
            black_box(recurse(black_box(depth) + 1)) + 1
        }
        let budget = Budget { stack_bytes: 100 << 10, ..AMPLE };
        assert_eq!(within(budget, || recurse(0)), Err(Stopped::Spent));
    }

    #[test]
    fn a_time_that_has_passed_stops_soon() {
        let budget = Budget { until: Some(processor_time()), ..AMPLE };
        let mut looked = 0;
        let result = within(budget, || {
            for _ in 0..900 {
                charge(1);
                looked += 1;
            }
        });
        assert_eq!(result, Err(Stopped::Spent));
        assert!(looked <= CLOCK_EVERY, "{looked}");
    }

    #[test]
    fn a_bug_in_the_validator_is_told_apart_and_the_thread_goes_on() {
        assert_eq!(within(AMPLE, || resume_unwind(Box::new("bug"))), Err::<(), _>(Stopped::Panicked));
        assert_eq!(within(AMPLE, || 7), Ok(7));
        charge(u64::MAX);
    }
}
