//! The settings of `policy explain`.

use crate::args::ExplainArgs;
use crate::error::Failure;

/// The tool that is asked about.
#[derive(Clone, Debug)]
pub(crate) struct ExplainSettings {
    pub(crate) selector: Option<String>,
    pub(crate) tool: String,
}

/// Checks the arguments.
pub(super) fn resolve(args: ExplainArgs) -> Result<ExplainSettings, Failure> {
    let usage = |fault: &str| {
        Failure::usage(format!("Usage: policy explain [selector] <tool> ({fault})."))
            .with_hint("Run `appduct tools` to see the tools.")
    };
    let mut words = args.words.into_iter();
    match (args.session, words.next(), words.next(), words.next()) {
        (_, None, _, _) => Err(usage("a tool is required")),
        (selector, Some(tool), None, _) => Ok(ExplainSettings { selector, tool }),
        (None, Some(selector), Some(tool), None) => Ok(ExplainSettings { selector: Some(selector), tool }),
        _ => Err(usage("too many arguments")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explain(words: &[&str], session: Option<&str>) -> Result<(Option<String>, String), String> {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        resolve(ExplainArgs { words, session: session.map(str::to_owned) })
            .map(|settings| (settings.selector, settings.tool))
            .map_err(|failure| failure.message)
    }

    #[test]
    fn a_session_is_named_before_the_tool_or_by_its_flag() {
        assert_eq!(explain(&["pay"], None), Ok((None, "pay".to_owned())));
        for named in [explain(&["x", "pay"], None), explain(&["pay"], Some("x"))] {
            assert_eq!(named, Ok((Some("x".to_owned()), "pay".to_owned())));
        }
        for (words, session) in [(&[][..], None), (&["x", "y", "z"], None), (&["x", "y"], Some("s"))] {
            assert!(explain(words, session).unwrap_err().starts_with("Usage: policy explain"));
        }
    }
}
