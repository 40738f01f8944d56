//! One-line signatures and description summaries of tools.
