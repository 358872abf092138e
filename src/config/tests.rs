//! The settings of a run: layers, origins, error messages.

use super::*;
use crate::report::testing::message;

fn project(yaml: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs_err::create_dir_all(folder.path().join(".git")).unwrap();
    fs_err::create_dir_all(folder.path().join("svc/api")).unwrap();
    if !yaml.is_empty() {
        fs_err::write(folder.path().join(file::NAME), yaml).unwrap();
    }
    folder
}

fn load(folder: &tempfile::TempDir, variables: &[(&str, &str)]) -> Result<Config, Error> {
    let variables = variables
        .iter()
        .map(|(name, value)| (name.to_string(), value.into()))
        .collect();
    let overrides = Overrides::default();
    Config::load(folder.path(), None, &variables, &overrides, None)
}

#[test]
fn of_several_suites_one_is_meant() {
    let yaml = "version: 1\nkeep: 9\nsuites:\n  api:\n    root: svc/api\n  top: {keep: 1}\n";
    let wrong = project(yaml);
    assert!(message(&load(&wrong, &[]).unwrap_err()).contains("unknown key `keep`"));
    let folder = project("version: 1\nkeep: 9\nsuites:\n  api:\n    root: svc/api\n  top: {}\n");
    assert_eq!(Config::suites(folder.path(), None).unwrap(), ["api", "top"]);
    insta::assert_snapshot!(message(&load(&folder, &[]).unwrap_err()), @r"
        error: there are several suites: api, top
        hint: say which with `--suite NAME`
        ");
    let of = |suite: Option<&str>, variables: &[(&str, &str)]| {
        let variables = variables
            .iter()
            .map(|(name, value)| (name.to_string(), value.into()))
            .collect();
        Config::load(
            folder.path(),
            None,
            &variables,
            &Overrides::default(),
            suite,
        )
    };
    for config in [
        of(Some("api"), &[]).unwrap(),
        of(None, &[("TAMIS_SUITE", "api")]).unwrap(),
        of(Some("api"), &[("TAMIS_SUITE", "top")]).unwrap(),
    ] {
        assert_eq!((config.suite.value.as_str(), config.keep.value), ("api", 9));
        assert!(config.is_named && config.root.value.ends_with("svc/api"));
    }
    insta::assert_snapshot!(message(&of(Some("apt"), &[]).unwrap_err()), @r"
        error: there is no suite `apt`; tamis.yml has api, top
        hint: did you mean `api`?
        ");
    let both = project("version: 1\nsuite: a\nsuites: {b: {}}\n");
    assert!(message(&load(&both, &[]).unwrap_err()).contains("both `suite` and `suites`"));
    // Without names in the file there is one suite, which also has a name.
    let single = project("");
    let named = |suite| {
        let overrides = Overrides::default();
        Config::load(
            single.path(),
            None,
            &Variables::new(),
            &overrides,
            Some(suite),
        )
    };
    assert!(!named("pytest").unwrap().is_named);
    assert!(message(&named("x").unwrap_err()).contains("there is no suite `x`"));
}

#[test]
fn without_a_file_everything_is_a_default() {
    let folder = project("");
    let config = load(&folder, &[]).unwrap();
    let table: Vec<String> = config
        .table()
        .into_iter()
        .map(|(key, value, origin)| format!("{key}: {value} ({origin})"))
        .collect();
    let text = table.join("\n").replace(&shown_path(folder.path()), "TOP");
    insta::assert_snapshot!(text, @r"
        suite: pytest (default)
        runner: pytest (default)
        command: found by the runner (default)
        tests: [] (default)
        python: found by the runner (default)
        root: TOP (default)
        paths: [] (default)
        store: TOP/.tamis/store (default)
        shared-store: none (default)
        shared-label: none (default)
        trust: the default branch (default)
        deepen: ci (default)
        strategy: auto (default)
        always-run: [] (default)
        run-all-when: [] (default)
        run-all-every: none (default)
        lock-files: none (default)
        benign-state: [] (default)
        keep-together: [] (default)
        granularity: class (default)
        debug-info: false (default)
        env: ignore [] (default)
        keep: 50 (default)
        ");
}

#[test]
fn a_flag_beats_a_variable_beats_the_file() {
    let folder = project("version: 1\nstrategy: commit\nkeep: 3\nstore: here\n");
    let variables: Variables = [("TAMIS_STRATEGY".to_owned(), "memo".into())].into();
    let with = |variables: &Variables, overrides| {
        Config::load(folder.path(), None, variables, &overrides, None).unwrap()
    };
    let from_file = with(&Variables::new(), Overrides::default());
    assert_eq!(from_file.strategy.value, Strategy::Commit);
    assert_eq!(from_file.strategy.origin, Origin::File);
    assert_eq!(from_file.store.value, folder.path().join("here"));
    let from_variable = with(&variables, Overrides::default());
    assert_eq!(from_variable.strategy.value, Strategy::Memo);
    assert_eq!(from_variable.strategy.origin.to_string(), "TAMIS_STRATEGY");
    let flags = Overrides {
        strategy: Some(Setting::flag(Strategy::All, "--strategy")),
        keep: Some(Setting::flag(Count(9), "--keep")),
        ..Overrides::default()
    };
    let from_flag = with(&variables, flags);
    assert_eq!(from_flag.strategy.value, Strategy::All);
    assert_eq!(from_flag.strategy.origin.to_string(), "--strategy");
    assert_eq!((from_flag.keep.value, from_file.keep.value), (9, 3));
}

#[test]
fn every_variable_is_read() {
    let folder = project("version: 1\n");
    for name in Key::ALL.into_iter().filter_map(Key::variable) {
        // No setting may be empty.
        let error = load(&folder, &[(name, "")]).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn paths_are_relative_to_who_named_them() {
    let folder = project("version: 1\npython: venv/bin/python\nlock-files: [uv.lock]\n");
    let below = folder.path().join("svc");
    let variables = [("TAMIS_STORE".to_owned(), "../cache".into())].into();
    let config = Config::load(&below, None, &variables, &Overrides::default(), None).unwrap();
    assert_eq!(config.store.value, below.join("../cache"));
    let top = folder.path();
    assert_eq!(config.python.value, Some(top.join("venv/bin/python")));
    assert_eq!(config.lock_files.value, Some(vec![top.join("uv.lock")]));
    let named = load(&folder, &[("TAMIS_PYTHON", "python3.12")]).unwrap();
    assert_eq!(named.python.value, Some(PathBuf::from("python3.12")));
}

#[test]
fn the_store_can_be_named_as_what_it_is() {
    for (said, wanted) in [
        ("fs:/var/results", "/var/results"),
        ("\"fs:s3://b\"", "s3://b"),
        ("fs:below", "below"),
        ("/var/results", "/var/results"),
        ("github", "github"),
        ("odd:name", "odd:name"),
    ] {
        let folder = project(&format!("version: 1\nstore: {said}\n"));
        let store = load(&folder, &[]).unwrap().store.value;
        assert_eq!(store, folder.path().join(wanted), "{said}");
    }
    // Otherwise a folder with that name would be made, and nothing shared.
    for said in ["git:origin", "s3://bucket/x", "github:o/r", "\"fs:\""] {
        let folder = project(&format!("version: 1\nstore: {said}\n"));
        assert!(load(&folder, &[]).is_err(), "{said}");
        let plain = project("version: 1\n");
        let said = said.trim_matches('"');
        assert!(load(&plain, &[("TAMIS_STORE", said)]).is_err(), "{said}");
    }
    let folder = project("version: 1\nshared-store: fs:/var/results\n");
    let error = message(&load(&folder, &[]).unwrap_err());
    assert!(error.contains("store: fs:PATH"), "{error}");
}

#[test]
fn a_suite_below_the_top_has_its_folder_in_its_name() {
    let folder = project("version: 1\nroot: svc/api\n");
    let config = load(&folder, &[]).unwrap();
    assert_eq!(config.suite.value, "pytest:svc/api");
    assert_eq!(config.root.value, folder.path().join("svc/api"));
}

#[test]
fn a_named_file_replaces_the_found_one() {
    let folder = project("version: 1\nkeep: 3\n");
    let other = folder.path().join("svc/other.yml");
    fs_err::write(other, "version: 1\nkeep: 4\n").unwrap();
    let load = |path: &str| {
        let below = folder.path().join("svc/api");
        let path = Some(Path::new(path));
        Config::load(&below, path, &Variables::new(), &Overrides::default(), None)
    };
    let config = load("../other.yml").unwrap();
    assert_eq!(config.keep.value, 4);
    let svc = fs_err::canonicalize(folder.path().join("svc")).unwrap();
    assert_eq!(config.root.value, svc);
    let error = load("none.yml").unwrap_err();
    assert_eq!(error.to_string(), "cannot read the configuration");
}

#[test]
fn mistakes_name_their_origin() {
    let folder = project("version: 1\nroot: nowhere\n");
    let text = message(&load(&folder, &[]).unwrap_err());
    insta::assert_snapshot!(text.replace(&shown_path(folder.path()), "TOP"), @r"
        error: the folder TOP/nowhere does not exist (`root`, from tamis.yml)
        hint: correct `root`: it is relative to the folder of tamis.yml
        ");
    let folder = project("version: 1\n");
    let text = message(&load(&folder, &[("TAMIS_KEEP", "lots")]).unwrap_err());
    insta::assert_snapshot!(text, @r"
        error: the environment variable TAMIS_KEEP: `lots` is not a whole number from 1 to 4294967295
        hint: correct it or `unset TAMIS_KEEP`
        ");
}

#[test]
fn variables_that_nothing_reads_are_found() {
    let variables = ["TAMIS_STRATGY", "TAMIS_SPAWN", "TAMIS_STORE"]
        .map(|name| (name.to_owned(), OsString::new()))
        .into();
    assert_eq!(
        unknown_variables(&variables),
        [("TAMIS_STRATGY".to_owned(), Some("TAMIS_STRATEGY"))]
    );
}

#[test]
fn commands_that_are_tests_are_read_and_mistakes_get_their_place() {
    let read = |tests: &str| {
        let folder = project(&format!("version: 1\nrunner: command\ntests:\n{tests}"));
        let config = Config::load(
            folder.path(),
            None,
            &Variables::new(),
            &Overrides::default(),
            None,
        );
        config.map(|config| config.tests.value).map_err(|error| {
            let text = crate::report::testing::message(&error);
            text.replace(&shown_path(folder.path()), "TOP")
        })
    };
    let read_well = read(
        "  - {id: a, run: \"sh -c 'x y'\", cwd: web, timeout: 5}\n  - {id: b, run: [make, it]}\n  \
         - {id: c, run: true}\n",
    );
    let [a, b, c] = &read_well.unwrap()[..] else {
        panic!("three tests");
    };
    assert_eq!(a.run, ["sh", "-c", "x y"]);
    assert_eq!(
        (a.cwd.as_deref(), a.timeout),
        (Some("web".as_ref()), Some(5))
    );
    assert_eq!(
        (&b.run[..], &b.cwd, b.timeout),
        (&["make".into(), "it".into()][..], &None, None)
    );
    assert_eq!(c.run, ["true"]);
    let mistakes = [
        (
            "  - {id: a, run: x}\n  - {id: a, run: y}\n",
            "`a` is here twice",
        ),
        ("  - {id: a, rum: x}\n", "did you mean `run`"),
        ("  - {id: a}\n", "needs an `id` and a `run`"),
        ("  - {id: a, run: \"'x\"}\n", "a quote is not closed"),
        ("  - {id: a, run: x && y}\n", "no shell runs"),
        ("  - {id: a, run: A=1 x}\n", "no shell runs"),
        ("  - {id: a, run: []}\n", "the command is empty"),
        ("  - {id: a, run: x, cwd: ../b}\n", "without `..`"),
        ("  []\n", "the list is empty"),
        ("  a: b\n", "a list of tests"),
    ];
    for (tests, told) in mistakes {
        let error = read(tests).unwrap_err();
        assert!(
            error.contains("TOP/tamis.yml:") && error.contains(told),
            "{error}"
        );
    }
}
