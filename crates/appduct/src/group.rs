//! Tools that share a group.

use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine;
use crate::tool::Output;
use crate::{Appduct, Context, RegisterError, Registration, Tool, ToolError};

/// Registers tools into one group. Made by [`Appduct::tool_group`].
#[derive(Clone, Debug)]
pub struct ToolGroup {
    app: Appduct,
    group: String,
}

impl ToolGroup {
    pub(crate) fn new(app: Appduct, group: String) -> Self {
        Self { app, group }
    }

    /// Registers a tool as [`Appduct::register`] does, in this group. A tool that names a group of its own is refused,
    /// except in a build that does nothing.
    pub fn register<Args, Out, R, F, Fut>(
        &self,
        tool: Tool<Args, Out>,
        handler: F,
    ) -> Result<Registration, RegisterError>
    where
        Args: DeserializeOwned + Send + 'static,
        Out: Output<R>,
        R: Serialize,
        F: Fn(Args, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        if engine::CHECKS && tool.spec.group.is_some() {
            return Err(RegisterError::GroupBound { bound: self.group.clone() });
        }
        self.app.register(tool.group(self.group.as_str()), handler)
    }
}
