//! Whether the arguments and results of tools fit their schemas.
//!
//! A check helps whoever calls a tool; it guards nothing, since the app checks what it is given itself. So whatever is in the
//! way of a check (a schema that cannot be used, a value that is too large, too little time) ends it with one warning, and
//! the call goes on unchecked.
//!
//! Most schemas and values are small and are checked where the answer is needed, in microseconds: [`Validation::check_now`].
//! The first use of a schema, which compiles it, and whatever might cost more run on threads of their own:
//! [`Validation::check`]. Nobody waits longer than half a second for them, and a schema that takes more than a quarter of a
//! second of processor time is not used again until its tool is registered anew.

mod issues;
mod lossy;
mod meter;
mod metered;
mod registrations;
mod schema;
mod workers;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use appduct_proto::wire::{MAX_FRAME_BYTES, RawJson, ToolDescriptor};
use tokio::sync::oneshot;
use tokio::time::timeout;

pub(crate) use issues::Issues;
use meter::{Budget, Stopped, processor_time, within};
use registrations::{Registrations, Slot, Use};
use schema::Schema;
use workers::{Busy, Workers};

/// How long a check may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How long anybody waits for a check, its turn in the queue and the compilation of the schema included.
    pub(crate) wait: Duration,
    /// How much processor time it may take, the compilation of the schema included.
    pub(crate) processor_time: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { wait: Duration::from_millis(500), processor_time: Duration::from_millis(250) }
    }
}

/// The longest value that is checked on the thread that asks.
const MAX_BYTES_HERE: usize = 16 * 1024;

/// What a check may cost the thread that asks: a look takes about ten nanoseconds.
const BUDGET_HERE: Budget = Budget { looks: 20_000, errors: 200, stack_bytes: 256 * 1024, until: None };

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// The arguments, against the input schema.
    Args,
    /// The result, against the output schema.
    Result,
}

/// One thing to check.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// Whose tool it is, for warnings.
    pub(crate) alias: String,
    /// The tool, as the registry has it: the same `Arc` for as long as the registration lasts.
    pub(crate) tool: Arc<ToolDescriptor>,
    pub(crate) side: Side,
    pub(crate) value: RawJson,
}

/// What a check says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The value fits, or the tool has no schema.
    Fits,
    /// Nobody knows; the call may go on.
    Unchecked,
    /// The value does not fit.
    Misfit(Issues),
}

/// The checks of one daemon. Clones share what is compiled.
#[derive(Clone, Debug)]
pub(crate) struct Validation(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    patience: Patience,
    registrations: Mutex<Registrations>,
    workers: Workers,
    /// Somebody has been told that checks were left out because they would take too long.
    busy_told: AtomicBool,
}

impl Validation {
    /// Checks that may take so long.
    pub(crate) fn with_patience(patience: Patience) -> Self {
        Self(Arc::new(Shared { patience, ..Shared::default() }))
    }

    /// Checks a value without delay; `None` if that is not sure to take microseconds.
    pub(crate) fn check_now(&self, check: &Check) -> Option<Verdict> {
        let Some(schema) = check.schema() else { return Some(Verdict::Fits) };
        if check.value.len_bytes() > MAX_FRAME_BYTES {
            // No frame can carry it.
            return Some(Verdict::Unchecked);
        }
        let slot = self.0.slot(check, schema);
        match slot.usage() {
            Use::Never => return Some(Verdict::Unchecked),
            Use::Elsewhere => return None,
            Use::Here => {}
        }
        let Some(schema) = slot.schema.get()? else { return Some(Verdict::Unchecked) };
        if !schema.is_plain || check.value.len_bytes() > MAX_BYTES_HERE {
            return None;
        }
        match verdict(schema, &check.value, BUDGET_HERE) {
            Ok(verdict) => Some(verdict),
            Err(Stopped::Spent | Stopped::Panicked) => {
                slot.restrict(Use::Elsewhere);
                None
            }
        }
    }

    /// Checks a value, within half a second.
    pub(crate) async fn check(&self, check: Check) -> Verdict {
        if let Some(verdict) = self.check_now(&check) {
            return verdict;
        }
        let Patience { wait, .. } = self.0.patience;
        let deadline = Instant::now() + wait;
        let shared = Arc::clone(&self.0);
        let (answer, answered) = oneshot::channel();
        let job = move || {
            // Whoever asked may have stopped waiting.
            answer.send(shared.check(&check, deadline)).ok();
        };
        if self.0.workers.run(job) == Err(Busy) {
            self.0.tell_busy();
            return Verdict::Unchecked;
        }
        match timeout(wait, answered).await {
            Ok(Ok(verdict)) => verdict,
            // There are no threads.
            Ok(Err(_)) => Verdict::Unchecked,
            Err(_) => {
                self.0.tell_busy();
                Verdict::Unchecked
            }
        }
    }
}

impl Shared {
    fn slot(&self, check: &Check, schema: &RawJson) -> Arc<Slot> {
        let mut registrations = self.registrations.lock().unwrap_or_else(PoisonError::into_inner);
        registrations.slot(&check.tool, check.side, schema)
    }

    /// A check on a thread for it.
    fn check(&self, check: &Check, deadline: Instant) -> Verdict {
        let Some(text) = check.schema() else { return Verdict::Fits };
        if Instant::now() >= deadline {
            self.tell_busy();
            return Verdict::Unchecked;
        }
        let slot = self.slot(check, text);
        let until = processor_time() + self.patience.processor_time;
        let budget =
            Budget { looks: u64::MAX, errors: 10_000, stack_bytes: workers::USABLE_STACK_BYTES, until: Some(until) };
        let schema = slot.schema.get_or_init(|| compile(check, text));
        let Some(schema) = schema else { return Verdict::Unchecked };
        if slot.usage() == Use::Never {
            return Verdict::Unchecked;
        }
        match verdict(schema, &check.value, budget) {
            Ok(verdict) if processor_time() < until => verdict,
            Ok(_) | Err(Stopped::Spent) => {
                slot.give_up(check, &"a check takes too long");
                Verdict::Unchecked
            }
            Err(Stopped::Panicked) => {
                slot.give_up(check, &"the validator failed");
                Verdict::Unchecked
            }
        }
    }

    fn tell_busy(&self) {
        if !self.busy_told.swap(true, Ordering::Relaxed) {
            tracing::warn!("calls come faster than they can be checked against schemas: some go on unchecked");
        }
    }
}

impl Slot {
    fn give_up(&self, check: &Check, why: &dyn fmt::Display) {
        if self.restrict(Use::Never) {
            check.warn(why);
        }
    }
}

impl Check {
    fn schema(&self) -> Option<&RawJson> {
        match self.side {
            Side::Args => self.tool.input_schema.as_ref(),
            Side::Result => self.tool.output_schema.as_ref(),
        }
    }

    fn warn(&self, why: &dyn fmt::Display) {
        let side = match self.side {
            Side::Args => "input",
            Side::Result => "output",
        };
        let Self { alias, tool, .. } = self;
        tracing::warn!("the {side} schema of the tool \"{}\" of {alias} is not used: {why}", tool.name);
    }
}

fn compile(check: &Check, text: &RawJson) -> Option<Schema> {
    let unmetered = Budget { looks: u64::MAX, errors: u64::MAX, stack_bytes: usize::MAX, until: None };
    match within(unmetered, || Schema::compile(text)) {
        Ok(Ok(schema)) => Some(schema),
        Ok(Err(why)) => {
            check.warn(&why);
            None
        }
        Err(Stopped::Spent | Stopped::Panicked) => {
            check.warn(&"the validator failed");
            None
        }
    }
}

fn verdict(schema: &Schema, value: &RawJson, budget: Budget) -> Result<Verdict, Stopped> {
    let Some(value) = lossy::value(value) else { return Ok(Verdict::Unchecked) };
    if within(budget, || schema.validator.is_valid(&value))? {
        return Ok(Verdict::Fits);
    }
    Ok(Verdict::Misfit(Issues::find(schema, &value, budget)))
}

#[cfg(test)]
mod tests;
