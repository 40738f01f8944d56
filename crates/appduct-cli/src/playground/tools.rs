//! The five tools of the demo app.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use appduct::{Appduct, Context, NoArgs, Output, RegisterError, Tool, ToolError, ToolErrorType};
use appduct_proto::wire::Number;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::journal::{Happening, Journal};

/// Between the reports of `slow_task`.
const STEP: Duration = Duration::from_millis(500);

#[derive(Deserialize, JsonSchema)]
struct Summands {
    a: f64,
    b: f64,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Total {
    #[schemars(with = "f64")]
    total: Number,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Count {
    #[schemars(with = "f64")]
    count: Number,
}

#[derive(Serialize, JsonSchema)]
struct Done {
    done: bool,
}

/// How many times the counted tools have run.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU64>);

impl Counter {
    fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn read(&self) -> Count {
        Count { count: Number(self.0.load(Ordering::Relaxed) as f64) }
    }
}

pub(super) fn register(app: &Appduct, journal: &Journal) -> Result<(), RegisterError> {
    let counter = Counter::default();
    let sum = Tool::new("sum", "Adds two numbers.").input::<Summands>().output::<Total>();
    let call_count = Tool::new("call_count", "Reports how many times the playground's counted tools have run.")
        .group("counter")
        .read_only()
        .output::<Count>();
    let reset_counter = Tool::new("reset_counter", "Resets the playground's call counter to zero.")
        .group("counter")
        .destructive()
        .idempotent()
        .output::<Count>();
    let slow_task = Tool::new("slow_task", "Takes ~1.5s and reports progress along the way.")
        .group("diagnostics/progress")
        .timeout(Duration::from_secs(5))
        .output::<Done>();
    let throwing_tool =
        Tool::new("throwing_tool", "Always throws, to exercise tool_execution_error.").group("diagnostics").read_only();

    let counts = counter.clone();
    add(app, journal, sum, move |args: Summands, _, _| {
        counts.add_one();
        std::future::ready(Ok(Total { total: Number(args.a + args.b) }))
    })?;
    let reads = counter.clone();
    add(app, journal, call_count, move |_: NoArgs, _, _| std::future::ready(Ok(reads.read())))?;
    let resets = counter.clone();
    add(app, journal, reset_counter, move |_: NoArgs, _, _| {
        resets.reset();
        std::future::ready(Ok(resets.read()))
    })?;
    add(app, journal, slow_task, move |_: NoArgs, call, journal| work_slowly(call, journal, counter.clone()))?;
    add(app, journal, throwing_tool, |_: NoArgs, _, _| {
        std::future::ready(Err::<(), _>(ToolError::new("throwing_tool always fails on purpose.")))
    })
}

/// Registers a tool whose calls are written down.
fn add<Args, Out, R, F, Fut>(
    app: &Appduct,
    journal: &Journal,
    tool: Tool<Args, Out>,
    handler: F,
) -> Result<(), RegisterError>
where
    Args: DeserializeOwned + Send + 'static,
    Out: Output<R>,
    R: Serialize + Send,
    F: Fn(Args, Context, Journal) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    let journal = journal.clone();
    app.register(tool, move |args, call| {
        let (journal, tool) = (journal.clone(), call.tool().to_owned());
        journal.write(Happening::Started { tool: tool.clone() });
        let work = handler(args, call, journal.clone());
        async move {
            let result = work.await;
            journal.write(match &result {
                Ok(result) => {
                    let result = serde_json::to_string(result).unwrap_or_default();
                    Happening::Ended { tool, result }
                }
                Err(error) => Happening::Failed { tool, kind: error.kind(), message: error.message().to_owned() },
            });
            result
        }
    })?;
    Ok(())
}

async fn work_slowly(call: Context, journal: Journal, counter: Counter) -> Result<Done, ToolError> {
    for (fraction, message) in [(0.33, "warming up"), (0.66, "almost there"), (1.0, "done")] {
        tokio::select! {
            () = sleep(STEP) => {}
            reason = call.cancelled() => return Err(ToolError::of_kind(ToolErrorType::ToolCancelled, reason)),
        }
        call.progress(fraction, message);
        journal.write(Happening::Progress { tool: call.tool().to_owned(), fraction, message });
    }
    counter.add_one();
    Ok(Done { done: true })
}

#[cfg(test)]
mod tests {
    use appduct_proto::signature::signature;

    use super::*;

    #[test]
    fn the_tools_are_those_of_the_documentation() {
        let app = Appduct::builder().lease_slot("tools of the playground").build();
        register(&app, &Journal::new().0).unwrap();
        let mut tools: Vec<_> = app
            .tools()
            .iter()
            .map(|tool| {
                (
                    signature(tool.name.as_str(), tool.input_schema.as_ref(), tool.output_schema.as_ref()),
                    tool.group.as_ref().map_or("", |group| group.as_str()).to_owned(),
                    tool.description.clone(),
                )
            })
            .collect();
        tools.sort();
        let expected = [
            (
                "call_count() -> { count: number }",
                "counter",
                "Reports how many times the playground's counted tools have run.",
            ),
            ("reset_counter() -> { count: number }", "counter", "Resets the playground's call counter to zero."),
            (
                "slow_task() -> { done: bool }",
                "diagnostics/progress",
                "Takes ~1.5s and reports progress along the way.",
            ),
            ("sum(a: number, b: number) -> { total: number }", "", "Adds two numbers."),
            ("throwing_tool()", "diagnostics", "Always throws, to exercise tool_execution_error."),
        ];
        assert_eq!(tools, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    }

    #[test]
    fn the_hints_and_the_deadline_are_said() {
        let app = Appduct::builder().lease_slot("hints of the playground").build();
        register(&app, &Journal::new().0).unwrap();
        let tools = app.tools();
        let tool = |name: &str| tools.iter().find(|tool| tool.name.as_str() == name).unwrap();
        assert_eq!(tool("call_count").annotations.unwrap().read_only_hint, Some(true));
        let reset = tool("reset_counter").annotations.unwrap();
        assert_eq!((reset.destructive_hint, reset.idempotent_hint), (Some(true), Some(true)));
        assert_eq!(tool("slow_task").timeout_ms, Some(5000));
        assert_eq!(tool("throwing_tool").annotations.unwrap().read_only_hint, Some(true));
        assert_eq!(tool("sum").annotations, None);
    }

    #[test]
    fn whole_totals_have_no_fraction() {
        for (total, text) in [(2.0 + 3.0, r#"{"total":5}"#), (0.5 + 0.25, r#"{"total":0.75}"#)] {
            assert_eq!(serde_json::to_string(&Total { total: Number(total) }).unwrap(), text);
        }
    }

    #[test]
    fn the_counter_counts_and_starts_again() {
        let counter = Counter::default();
        counter.add_one();
        counter.add_one();
        assert_eq!(counter.read(), Count { count: Number(2.0) });
        counter.reset();
        assert_eq!(counter.read(), Count { count: Number(0.0) });
    }
}
