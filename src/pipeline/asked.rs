//! What a shared store was asked last, so that nobody asks it twice: in CI the
//! steps of one job, which may have the token for it or not; elsewhere the
//! commands of a few minutes.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::project::Project;
use crate::share::{Brought, Wanted};

/// Outside CI, a shared store that had nothing for a commit is not asked again
/// about it for so long.
const RECENT: Duration = Duration::from_secs(600);

/// One question, which may have been asked before.
pub(super) struct Asked {
    file: PathBuf,
    question: String,
    /// For any environment of the tests; the answer to it holds for each.
    general: String,
    is_local: bool,
    /// A job without a name may be any.
    is_known: bool,
}

/// What the file holds: the last question and what came of it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    question: String,
    pub place: String,
    /// Why nothing came of it.
    pub trouble: Option<String>,
}

impl Asked {
    /// The question what there is for `wanted`.
    pub(super) fn about(project: &Project, wanted: &Wanted) -> Asked {
        let (config, reader) = (&project.config, &project.reader);
        let settings = (&config.shared_store.value, &config.trust.value);
        let is_local = reader.is_local();
        // What one job took changes what it lacks, but not what it asked.
        let lacking = match is_local {
            true => format!("{:?} {} {}", wanted.commits, wanted.local, wanted.has_local),
            false => reader.job.clone(),
        };
        let text = format!(
            "{settings:?}\n{}\n{}\n{lacking}",
            project.suite, wanted.tree
        );
        let digest = |environment: &Option<String>| {
            let question = format!("{text}\n{environment:?}");
            blake3::hash(question.as_bytes()).to_hex().to_string()
        };
        let suite = blake3::hash(project.suite.as_bytes()).to_hex();
        Asked {
            file: project
                .state()
                .join("cache")
                .join(format!("shared-asked-{}", &suite[..8])),
            question: digest(&wanted.environment),
            general: digest(&None),
            is_local,
            is_known: is_local || !reader.job.is_empty(),
        }
    }

    /// What came of it, if it was asked already.
    pub(super) fn answer(&self) -> Option<Answer> {
        let written = std::fs::metadata(&self.file).and_then(|meta| meta.modified());
        let age = written.ok().and_then(|written| written.elapsed().ok());
        let is_over = self.is_local && age.is_none_or(|age| age >= RECENT);
        if is_over || !self.is_known {
            return None;
        }
        let text = crate::disk::read_to_string(&self.file).ok()?;
        let answer: Answer = serde_json::from_str(&text).ok()?;
        [&self.question, &self.general]
            .contains(&&answer.question)
            .then_some(answer)
    }

    /// Without it the next command asks again. Outside CI, trouble may be over
    /// by then.
    pub(super) fn keep(&self, place: &str, brought: &Brought) {
        if self.is_local && brought.trouble.is_some() {
            return;
        }
        let answer = Answer {
            question: self.question.clone(),
            place: place.to_owned(),
            trouble: brought.trouble.clone(),
        };
        if let Ok(text) = serde_json::to_string(&answer) {
            let _ = crate::disk::write(&self.file, text);
        }
    }
}
