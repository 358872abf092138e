//! Commands as typed, in a project of their own.

use super::*;

pub(super) struct Project(tempfile::TempDir);

impl Project {
    /// A repository with this `tamis.yml`.
    pub(super) fn new(yaml: &str) -> Project {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join(".git")).unwrap();
        fs_err::write(folder.path().join("tamis.yml"), yaml).unwrap();
        Project(folder)
    }

    pub(super) fn globals(&self) -> Globals {
        Globals {
            folder: self.0.path().to_owned(),
            config_file: None,
            suite: None,
            is_one_of_all: false,
            variables: Variables::new(),
            ci: None,
        }
    }

    /// `resolve` of what the words (without `tamis`) parse to, as text
    /// without the project's folder.
    pub(super) fn request<A: Args, R: std::fmt::Debug>(
        &self,
        words: &[&str],
        resolve: impl Fn(&A, &Globals) -> Result<R, Error>,
    ) -> String {
        let command = A::augment_args(clap::Command::new("tamis").no_binary_name(true));
        let matches = command.try_get_matches_from(words).unwrap();
        let args = A::from_arg_matches(&matches).unwrap();
        let request = resolve(&args, &self.globals()).unwrap();
        format!("{request:#?}").replace(&shown_path(self.0.path()), "TOP")
    }

    /// Fails unless each group of words changes the request.
    pub(super) fn each_matters<A: Args, R: std::fmt::Debug>(
        &self,
        always: &[&str],
        groups: &[&[&str]],
        resolve: impl Fn(&A, &Globals) -> Result<R, Error>,
    ) {
        let plain = self.request(always, &resolve);
        for group in groups {
            let words = [group, always].concat();
            assert_ne!(self.request(&words, &resolve), plain, "{group:?}");
        }
    }
}
