//! Saves the records beside the event loop.

use std::io;
use std::sync::Arc;

use appduct_proto::host::{Generation, Records};

use super::SessionsFile;
use crate::event_loop::{Event, Mailbox};

/// Writes one set of records at a time, on a thread that may block, and keeps count of what fails.
#[derive(Debug)]
pub(crate) struct Saver {
    /// `None` where nothing is to be saved.
    file: Option<Arc<SessionsFile>>,
    failed: u64,
    /// What was said last of a save that failed; `None` after one that has not.
    complaint: Option<String>,
}

impl Saver {
    pub(crate) fn new(file: Option<SessionsFile>) -> Self {
        Self { file: file.map(Arc::new), failed: 0, complaint: None }
    }

    /// Starts a save, which ends with [`Event::Saved`]. The host starts no other before that.
    pub(crate) fn start(&self, generation: Generation, records: Box<Records>, mailbox: Mailbox) {
        let Some(file) = self.file.clone() else { return };
        tokio::task::spawn_blocking(move || {
            let result = file.write(&records);
            mailbox.blocking_send(Event::Saved { generation, result }).ok();
        });
    }

    /// A save has ended.
    pub(crate) fn ended(&mut self, result: io::Result<()>) {
        let Some(file) = &self.file else { return };
        let shown = file.path().display();
        match result {
            Ok(()) if self.complaint.take().is_some() => tracing::info!("{shown} can be written again"),
            Ok(()) => {}
            Err(error) => {
                self.failed += 1;
                let complaint = error.to_string();
                if self.complaint.as_ref() != Some(&complaint) {
                    tracing::warn!("cannot write {shown}: {complaint}; trying on, but what happens since may be lost");
                }
                self.complaint = Some(complaint);
            }
        }
    }

    /// Saves that failed.
    pub(crate) fn failed(&self) -> u64 {
        self.failed
    }

    /// Whether sessions are saved, as far as the last save tells.
    pub(crate) fn works(&self) -> bool {
        self.file.is_some() && self.complaint.is_none()
    }
}
