//! The variables that this room reads, and the event payload that one of them names.

use std::collections::BTreeMap;
use std::path::Path;

/// Every variable of a CI service that tamis reads. There are no tokens among them.
const READ: &[&str] = &[
    "CI_COMMIT_BEFORE_SHA",
    "CI_COMMIT_BRANCH",
    "CI_COMMIT_REF_NAME",
    "CI_COMMIT_REF_PROTECTED",
    "CI_COMMIT_SHA",
    "CI_COMMIT_TAG",
    "CI_CONFIG_PATH",
    "CI_DEFAULT_BRANCH",
    "CI_JOB_ID",
    "CI_MERGE_REQUEST_DIFF_BASE_SHA",
    "CI_MERGE_REQUEST_EVENT_TYPE",
    "CI_MERGE_REQUEST_IID",
    "CI_MERGE_REQUEST_PROJECT_ID",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA",
    "CI_MERGE_REQUEST_SOURCE_PROJECT_ID",
    "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    "CI_MERGE_REQUEST_TARGET_BRANCH_SHA",
    "CI_NODE_INDEX",
    "CI_NODE_TOTAL",
    "CI_PIPELINE_ID",
    "CI_PIPELINE_IID",
    "CI_PIPELINE_SOURCE",
    "CI_PROJECT_DIR",
    "CI_PROJECT_ID",
    "CI_PROJECT_PATH",
    "GITHUB_ACTIONS",
    "GITHUB_BASE_REF",
    "GITHUB_EVENT_NAME",
    "GITHUB_EVENT_PATH",
    "GITHUB_HEAD_REF",
    "GITHUB_JOB",
    "GITHUB_OUTPUT",
    "GITHUB_REF",
    "GITHUB_REF_PROTECTED",
    "GITHUB_REPOSITORY",
    "GITHUB_RUN_ATTEMPT",
    "GITHUB_RUN_ID",
    "GITHUB_RUN_NUMBER",
    "GITHUB_SHA",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_WORKFLOW_REF",
    "GITHUB_WORKSPACE",
    "GITLAB_CI",
    "GIT_DEPTH",
];

/// tamis's own variables.
pub(crate) const VARIABLES: &[&str] = &[
    "TAMIS_CI_BASE",
    "TAMIS_CI_BEFORE",
    "TAMIS_CI_DEFAULT_BRANCH",
    "TAMIS_CI_FORK",
    "TAMIS_CI_HEAD",
    "TAMIS_CI_NODE_INDEX",
    "TAMIS_CI_NODE_TOTAL",
    "TAMIS_CI_PR_HEAD",
    "TAMIS_CI_PROTECTED",
    "TAMIS_CI_REF",
    "TAMIS_CI_REPOSITORY",
    "TAMIS_CI_RUN_NUMBER",
    "TAMIS_CI_TRIGGER",
    "TAMIS_CI_WORKSPACE",
];

fn all() -> impl Iterator<Item = &'static str> {
    READ.iter().chain(VARIABLES).copied()
}

/// Larger payloads are not read; GitHub's own limit is 25 MB.
const LARGEST_PAYLOAD: u64 = 32 << 20;

/// The variables and the payload of a run.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The content of the file in `GITHUB_EVENT_PATH`, or why it cannot be read.
    pub payload: Option<Result<Vec<u8>, String>>,
}

impl Environment {
    /// An environment of exactly these variables and this payload.
    pub fn new<'v>(
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
        payload: Option<&[u8]>,
    ) -> Environment {
        let is_read = |name: &&str| all().any(|read| read == *name);
        Environment {
            variables: variables
                .into_iter()
                .filter(|(name, _)| is_read(name))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            payload: payload.map(|bytes| Ok(bytes.to_vec())),
        }
    }

    /// The environment of this process. Values that are not UTF-8 count as unset.
    pub fn of_this_process() -> Environment {
        let read = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
        let variables: BTreeMap<String, String> = all().filter_map(read).collect();
        let payload = variables
            .get("GITHUB_EVENT_PATH")
            .filter(|path| !path.is_empty())
            .map(|path| read_payload(Path::new(path)));
        Environment { variables, payload }
    }

    /// The value of a variable; `None` if it is unset or empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        debug_assert!(all().any(|read| read == name), "{name} is not in the list");
        let value = self.variables.get(name)?.as_str();
        (!value.is_empty()).then_some(value)
    }

    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.text(name)?.parse().ok()
    }

    /// The value `true` or `false` of a variable; any other value is unknown.
    pub(super) fn truth(&self, name: &str) -> Option<bool> {
        self.text(name)?.parse().ok()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }
}

fn read_payload(path: &Path) -> Result<Vec<u8>, String> {
    crate::disk::read_at_most(path, LARGEST_PAYLOAD)
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_pipe_is_no_payload() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("event.json");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert!(read_payload(&pipe).unwrap_err().contains("named pipe"));
    }
}
