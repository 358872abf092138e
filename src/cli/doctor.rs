//! `tamis doctor`: checks the set-up and says what to fix.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::Globals;
use crate::ci::CiContext;
use crate::config::find::Place;
use crate::config::{self, Config, Overrides, Variables, shown_path};
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::history::{self, Repository};
use crate::pipeline::{Exchange, Project};
use crate::report::{Check, CheckState, Report, escape};
use crate::runners::{self, Runner};
use crate::share::{name_damaged, redact};
use crate::store::link_out;

/// Check the set-up and say what to fix.
///
/// The status is 1 if something keeps tamis from working.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis doctor\n  \
    tamis doctor --json | jq '.checks[] | select(.state != \"ok\")'")]
pub(crate) struct DoctorArgs {}

/// A shared store that does not answer by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A setting.
struct Shown {
    /// Of which of several suites.
    suite: Option<String>,
    key: &'static str,
    value: String,
    origin: config::Origin,
}

type Settings = Vec<Shown>;

pub(crate) fn run(_args: &DoctorArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let place = config::find::find(&globals.folder);
    let mut checks = repository(&globals.folder, &place);
    checks.extend(variables(&globals.variables));
    checks.extend(globals.ci.as_ref().map(service));
    let mut settings = Settings::new();
    match globals.each_suite() {
        Ok(suites) => {
            for globals in &suites {
                let (found, values) = suite(globals);
                let known = checks.clone();
                checks.extend(found.into_iter().filter(|check| !known.contains(check)));
                settings.extend(values);
            }
        }
        Err(error) => checks.push(broken_configuration(&error)),
    }
    match report.is_json() {
        true => report.json(&document(&checks, &settings))?,
        false => report.data(&page(&checks, &settings))?,
    }
    let failed = checks.iter().any(|check| check.state == CheckState::Fail);
    Ok(if failed {
        Exit::TESTS_FAILED
    } else {
        Exit::DONE
    })
}

/// What there is to say of one suite: checks and settings.
fn suite(globals: &Globals) -> (Vec<Check>, Settings) {
    let config = match globals.config(&Overrides::default()) {
        Ok(config) => config,
        Err(error) => return (vec![broken_configuration(&error)], Settings::new()),
    };
    let mut own = of_runner(&config);
    own.extend(shared_store(&config));
    if let Some(suite) = globals.mark() {
        for check in &mut own {
            check.found = format!("{suite}: {}", check.found);
        }
    }
    let mut checks = vec![configuration(&config)];
    checks.extend(own);
    checks.push(store(&config.store.value, config.top_of_store()));
    let settings = config.table().into_iter();
    let settings = settings.map(|(key, value, origin)| Shown {
        suite: globals.mark(),
        key,
        value,
        origin,
    });
    (checks, settings.collect())
}

/// Whether the shared store answers: one question, with a deadline.
fn shared_store(config: &Config) -> Option<Check> {
    let name = "shared store";
    config.shared_store.value.as_ref()?;
    let fix = "docs/store.md says what it needs; without it more tests run, no more";
    // That there is no repository is a finding of its own.
    let project = Project::open(config.clone()).ok()?;
    let exchange = match Exchange::open(&project) {
        Ok(exchange) => exchange?,
        Err(error) => return Some(Check::warn(name, redact(&format!("{error:#}")), fix)),
    };
    let place = exchange.place();
    Some(match exchange.offered(PATIENCE) {
        Ok(listed) if !listed.damaged.is_empty() => {
            let named = redact(&name_damaged(&listed.damaged));
            Check::warn(
                name,
                format!("{place} holds damaged files, which are not used: {named}"),
                exchange.mend(),
            )
        }
        Ok(listed) => {
            let held = match listed.offers.len() {
                0 => "nothing of this suite yet".to_owned(),
                count => format!("{} of this suite", counted(count, "result")),
            };
            Check::ok(name, format!("{place} answers, and holds {held}"))
        }
        Err(error) => Check::warn(name, format!("{place}: {error:#}"), fix),
    })
}

fn repository(folder: &Path, place: &Place) -> Vec<Check> {
    let name = "repository";
    let Some(top) = &place.top else {
        return vec![Check::fail(
            name,
            format!("{} is not in a git repository", shown_path(folder)),
            "run `git init`, or go to a folder of the project",
        )];
    };
    let opened = Repository::discover(folder).and_then(|repository| {
        repository.head()?;
        Ok(repository)
    });
    let mut checks = vec![match opened {
        Err(error) => Check::fail(name, error.what, error.next),
        Ok(repository) if history::entrusted(repository.root()).is_some() => {
            let top = shown_path(top);
            let found = format!("{top}, another user's, trusted as the workspace that CI names");
            Check::ok(name, found)
        }
        Ok(_) => Check::ok(name, shown_path(top)),
    }];
    if git_folder(top).is_some_and(|git| git.join("shallow").exists()) {
        checks.push(Check::warn(
            "history",
            "the clone is shallow: results of older commits cannot be used, or are fetched first",
            "fetch the whole history: `git fetch --unshallow` (on GitHub: `fetch-depth: 0`)",
        ));
    }
    checks
}

/// The repository's own folder: `.git`, or what a worktree's `.git` file
/// leads to.
fn git_folder(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = crate::disk::read_to_string(&git).ok()?;
    let own = top.join(text.strip_prefix("gitdir: ")?.trim_end());
    match crate::disk::read_to_string(own.join("commondir")) {
        Ok(common) => Some(own.join(common.trim_end())),
        Err(_) => Some(own),
    }
}

fn variables(variables: &Variables) -> Vec<Check> {
    let unknown = config::unknown_variables(variables);
    unknown
        .into_iter()
        .map(|(name, near)| {
            let fix = match near {
                Some(near) => format!("did you mean {near}?"),
                None => format!("`unset {name}`"),
            };
            Check::warn(
                "environment",
                format!("nothing reads the variable {name}"),
                fix,
            )
        })
        .collect()
}

/// What the CI service tells of this run.
fn service(context: &CiContext) -> Check {
    let mut found = format!("{}, {}", context.provider.word(), context.trigger.word());
    let before = context.before.as_ref().map(|commit| ("before", commit));
    let request = context.pull_request.as_ref();
    let head = request.and_then(|request| Some(("pull request's head", request.head.as_ref()?)));
    let merge = context
        .merge
        .as_ref()
        .map(|commit| ("tested merge", commit));
    for (what, commit) in [before, head, merge].into_iter().flatten() {
        found.push_str(&format!(", {what} {}", &commit[..10]));
    }
    if !context.trust.is_own() {
        found.push_str(", a fork's code for all that is known");
    }
    match (context.refusal(), context.notes.first()) {
        (Some(why), _) => Check::fail("ci", why, "run tests on the event pull_request"),
        (None, Some(note)) => Check::warn("ci", format!("{found}: {note}"), "see docs/ci.md"),
        (None, None) => Check::ok("ci", found),
    }
}

fn configuration(config: &Config) -> Check {
    let name = "configuration";
    match &config.place.file {
        Some(file) => Check::ok(name, shown_path(file)),
        None => Check::ok(name, "no tamis.yml, defaults are used"),
    }
}

fn broken_configuration(error: &Error) -> Check {
    let message = error.to_string();
    let found = message.lines().next().unwrap_or_default();
    let causes = error.causes().into_iter().map(|cause| format!(": {cause}"));
    let found = format!("{found}{}", causes.collect::<String>());
    let fix = match error.hints() {
        [] => "correct it there".to_owned(),
        hints => hints.join("; "),
    };
    Check::fail("configuration", found, fix)
}

/// Whether the store can be written: by a file that goes at once.
fn store(folder: &Path, top: Option<&Path>) -> Check {
    let name = "store";
    let shown = shown_path(folder);
    if let Some((link, target)) = top.and_then(|top| link_out(folder, top)) {
        let link = shown_path(&link);
        return Check::fail(
            name,
            format!("{link} is a symbolic link out of the repository, to {target}: it is not used"),
            "remove the link, or set `store` to a folder",
        );
    }
    let existing = folder.ancestors().find(|path| path.exists());
    let Some(existing) = existing.filter(|path| path.is_dir()) else {
        return Check::fail(
            name,
            format!("{shown} is not a folder"),
            "set `store` to a folder",
        );
    };
    if let Err(error) = tempfile::tempfile_in(existing) {
        return Check::warn(
            name,
            format!("{shown} cannot be written: {error}; nothing will be recorded"),
            "make it writable, or set `store` to another folder",
        );
    }
    if existing == folder {
        Check::ok(name, format!("{shown}, writable"))
    } else {
        Check::ok(name, format!("{shown}, made at the first run"))
    }
}

/// What there is to say of the program that runs the tests.
pub(crate) fn of_runner(config: &Config) -> Vec<Check> {
    // Of a command that hides what it starts, the runner is known whose results these are.
    let known = runners::named(config.driver.name());
    let runner = known.unwrap_or(config.runner.value);
    let command = config.command_words();
    let mut checks = runner.doctor(&config.settings(), command.as_deref());
    checks.extend(ignored(&config.root.value, runner));
    checks
}

/// What the build writes and git would show as new.
fn ignored(root: &Path, runner: &dyn Runner) -> Option<Check> {
    let lines = not_ignored(root, runner);
    if lines.is_empty() {
        return None;
    }
    let lines = lines.join("` and `");
    Some(Check::warn(
        "gitignore",
        format!("git does not ignore what the build writes: `{lines}`"),
        format!("add `{lines}` to .gitignore; `git rm -r --cached` for what git tracks of it"),
    ))
}

/// Folders that a runner's build writes and that git would show as new: each by the line
/// of `.gitignore` that is missing.
fn not_ignored(folder: &Path, runner: &dyn Runner) -> Vec<String> {
    let Ok(repository) = Repository::discover(folder) else {
        return Vec::new();
    };
    let Ok(folder) = folder.canonicalize() else {
        return Vec::new();
    };
    let folders = runner.written_folders(&folder).into_iter();
    let open = folders.filter(|folder| {
        let below = folder.strip_prefix(repository.root()).ok();
        let below = below.and_then(Path::to_str);
        // The folder need not be there yet, and a rule may be for folders alone.
        below.is_some_and(|path| !repository.ignores(format!("{path}/x").as_str().into()))
    });
    let names = open.filter_map(|folder| {
        let name = folder.file_name()?.to_str()?;
        Some(format!("{name}/"))
    });
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}

pub(crate) fn check_json(check: &Check) -> serde_json::Value {
    json!({
        "name": check.name, "state": check.state.word(), "found": check.found,
        "fix": check.fix,
    })
}

fn document(checks: &[Check], settings: &Settings) -> serde_json::Value {
    let checks: Vec<_> = checks.iter().map(check_json).collect();
    let settings: Vec<_> = settings
        .iter()
        .map(|shown| {
            let origin = shown.origin.to_string();
            let mut setting = json!({"key": shown.key, "value": shown.value, "origin": origin});
            if let Some(suite) = &shown.suite {
                setting["suite"] = suite.as_str().into();
            }
            setting
        })
        .collect();
    json!({"schema": 1, "checks": checks, "settings": settings})
}

fn page(checks: &[Check], settings: &Settings) -> String {
    let mut page = String::new();
    for check in checks {
        let found = escape::line(&check.found);
        page.push_str(&format!(
            "{:<5}{:<14} {found}\n",
            check.state.word(),
            check.name
        ));
        if let Some(fix) = &check.fix {
            page.push_str(&format!("{:20}do: {}\n", "", escape::line(fix)));
        }
    }
    let mut suite = None;
    for (at, shown) in settings.iter().enumerate() {
        if at == 0 || shown.suite != suite {
            suite.clone_from(&shown.suite);
            let of = suite.as_ref().map(|suite| format!(" of {suite}"));
            page.push_str(&format!("\nsettings{}\n", of.unwrap_or_default()));
        }
        let value = escape::line(&shown.value);
        page.push_str(&format!(
            "     {:<14} {value} ({})\n",
            shown.key, shown.origin
        ));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Style, testing};

    fn doctor(folder: &Path, json: bool) -> (Exit, String) {
        let style = Style {
            json,
            ..Style::default()
        };
        let (report, out, err) = testing::report(style);
        let globals = Globals {
            folder: folder.to_owned(),
            config_file: None,
            suite: None,
            is_one_of_all: false,
            variables: [("TAMIS_STRATGY".to_owned(), "all".into())].into(),
            ci: None,
        };
        let exit = run(&DoctorArgs {}, &globals, &report).unwrap();
        assert_eq!(err.text(), "");
        (exit, out.text().replace(&shown_path(folder), "TOP"))
    }

    #[test]
    fn outside_a_repository_the_status_is_1() {
        let folder = tempfile::tempdir().unwrap();
        let (exit, page) = doctor(folder.path(), false);
        assert_eq!(exit, Exit::TESTS_FAILED);
        insta::assert_snapshot!(page.lines().take(4).collect::<Vec<_>>().join("\n"), @r"
        fail repository     TOP is not in a git repository
                            do: run `git init`, or go to a folder of the project
        warn environment    nothing reads the variable TAMIS_STRATGY
                            do: did you mean TAMIS_STRATEGY?
        ");
    }

    #[test]
    fn a_broken_configuration_is_one_failed_check() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join(".git")).unwrap();
        fs_err::write(folder.path().join("tamis.yml"), "version: 1\nkep: 1\n").unwrap();
        let (exit, text) = doctor(folder.path(), true);
        assert_eq!(exit, Exit::TESTS_FAILED);
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let last = document["checks"].as_array().unwrap().last().unwrap();
        assert_eq!(last["state"], "fail");
        insta::assert_snapshot!(last["found"].as_str().unwrap(), @"TOP/tamis.yml:2:1: unknown key `kep`; did you mean `keep`?");
    }

    #[test]
    fn settings_are_shown_with_their_origin() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join(".git")).unwrap();
        fs_err::write(folder.path().join("tamis.yml"), "version: 1\nkeep: 9\n").unwrap();
        let (_, page) = doctor(folder.path(), false);
        let lines: Vec<&str> = page
            .lines()
            .filter(|line| line.contains("keep ") || line.contains("strategy"))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        strategy       auto (default)
        keep           9 (tamis.yml)
        ");
    }

    #[test]
    fn a_shallow_clone_is_seen_from_a_linked_worktree_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs_err::create_dir_all(path("main/.git/worktrees/b")).unwrap();
        fs_err::write(path("main/.git/shallow"), "").unwrap();
        fs_err::write(path("main/.git/worktrees/b/commondir"), "../..\n").unwrap();
        fs_err::create_dir(path("b")).unwrap();
        let text = format!("gitdir: {}\n", path("main/.git/worktrees/b").display());
        fs_err::write(path("b/.git"), text).unwrap();
        for tree in ["main", "b"] {
            let checks = repository(&path(tree), &config::find::find(&path(tree)));
            assert_eq!(checks[1].state, CheckState::Warn, "{tree}");
        }
    }

    #[test]
    fn a_store_that_is_a_file_fails_and_a_missing_one_is_fine() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs_err::write(&file, "").unwrap();
        assert_eq!(store(&file, None).state, CheckState::Fail);
        assert_eq!(store(&file.join("below"), None).state, CheckState::Fail);
        assert_eq!(
            store(&folder.path().join("a/b"), None).state,
            CheckState::Ok
        );
        assert_eq!(store(folder.path(), None).state, CheckState::Ok);
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
    }
}
