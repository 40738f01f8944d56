//! A handler of the app without its types, and what its arguments and result become.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use appduct_proto::app::Answer;
use appduct_proto::wire::{RawJson, ToolErrorType};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime;

use super::finite::is_finite;
use super::threads;
use crate::{Context, ToolError};

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A registered handler.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) tool: String,
    run: Arc<dyn Fn(RawJson, Context) -> Answering + Send + Sync>,
    /// The app's runtime that it was registered in.
    pub(super) runtime: Option<runtime::Handle>,
}

impl Handler {
    pub(super) fn new<Args, R, F, Fut>(tool: String, handler: F) -> Self
    where
        Args: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(Args, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let run = move |args: RawJson, context: Context| -> Answering {
            let handler = Arc::clone(&handler);
            Box::pin(async move {
                let args = match read(context.tool(), &args) {
                    Ok(args) => args,
                    Err(refusal) => return refusal.into(),
                };
                match handler(args, context).await {
                    Ok(result) if is_finite(&result) => RawJson::of(&result).map_or(Answer::NotJson, Answer::Result),
                    Ok(_) => Answer::NotJson,
                    Err(failure) => failure.into(),
                }
            })
        };
        Self { tool, run: Arc::new(run), runtime: threads::runtime_of_the_app() }
    }

    /// Runs the handler. Nothing of the app's code runs before the future is polled.
    pub(super) fn run(&self, args: RawJson, context: Context) -> Answering {
        (self.run)(args, context)
    }
}

fn read<Args: DeserializeOwned>(tool: &str, args: &RawJson) -> Result<Args, ToolError> {
    #[derive(Serialize)]
    struct Details {
        issues: [Issue; 1],
    }
    #[derive(Serialize)]
    struct Issue {
        path: String,
        message: String,
    }

    let mut json = serde_json::Deserializer::from_str(args.as_str());
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = match error.path().to_string() {
            root if root == "." => String::new(),
            path => path,
        };
        let issue = Issue { path, message: without_position(&error.into_inner().to_string()) };
        let refusal = format!("Tool \"{tool}\" rejected the provided input.");
        ToolError::of_kind(ToolErrorType::ToolInputValidationError, refusal).with_details(&Details { issues: [issue] })
    })
}

/// Where in the frame the fault is tells a caller nothing: the path does.
fn without_position(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::NoArgs;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Order {
        items: Vec<Item>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Item {
        count: u64,
    }

    fn json(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    #[test]
    fn whole_numbers_stay_whole() {
        let args: serde_json::Value = read("t", &json(r#"{"id":9007199254740993}"#)).unwrap();
        assert_eq!(args.to_string(), r#"{"id":9007199254740993}"#);
        let order: Order = read("t", &json(r#"{"items":[{"count":18446744073709551615}]}"#)).unwrap();
        assert_eq!(order, Order { items: vec![Item { count: u64::MAX }] });
    }

    #[test]
    fn raw_arguments_come_as_the_caller_wrote_them() {
        let text = r#"{"a" : 1.0,"b":"\ud800"}"#;
        assert_eq!(read::<RawJson>("t", &json(text)).unwrap().as_str(), text);
    }

    #[test]
    fn a_refusal_names_the_place_and_the_fault() {
        let error = read::<Order>("buy", &json(r#"{"items":[{"count":-1}]}"#)).unwrap_err();
        assert_eq!(error.kind(), ToolErrorType::ToolInputValidationError);
        assert_eq!(error.message(), "Tool \"buy\" rejected the provided input.");
        assert_eq!(
            error.details().unwrap().as_str(),
            r#"{"issues":[{"path":"items[0].count","message":"invalid value: integer `-1`, expected u64"}]}"#
        );
        let error = read::<Order>("buy", &json("{}")).unwrap_err();
        assert_eq!(error.details().unwrap().as_str(), r#"{"issues":[{"path":"","message":"missing field `items`"}]}"#);
    }

    #[test]
    fn a_tool_without_arguments_takes_none() {
        assert_eq!(read::<NoArgs>("t", &json("{}")).unwrap(), NoArgs {});
        let error = read::<NoArgs>("t", &json(r#"{"a":1}"#)).unwrap_err();
        assert_eq!(error.kind(), ToolErrorType::ToolInputValidationError);
    }
}
