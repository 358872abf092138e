//! What searches leave in the store, and what the next ones make of it.

use super::*;

const TESTS: &str = r#"
import state

def test_polluter():
    state.ITEMS.append(1)

def test_cleaner():
    state.ITEMS.clear()

def test_victim():
    assert not state.ITEMS

def test_other():
    pass

def test_another():
    pass
"#;

const STATE: &str = "ITEMS = []\n";

fn with_state(check: impl Fn(Project)) {
    with_tests(TESTS, |mut project| {
        project.write("state.py", STATE);
        project.commit("tests");
        check(project);
    });
}

/// The files of dependences in the store.
fn stored(project: &Project) -> Vec<std::path::PathBuf> {
    let files = files_below(&project.path(".tamis/store"));
    let is_ours = |file: &std::path::PathBuf| file.extension().is_some_and(|e| e == "dependences");
    files.into_iter().filter(is_ours).collect()
}

fn cost(json: &Value) -> (u64, u64) {
    let covered = &json["covered"];
    let count = |what: &str| covered[what].as_u64().unwrap();
    (count("orders"), count("executions"))
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn an_unchanged_suite_costs_no_order() {
    with_state(|mut project| {
        // Without a recorded run it holds for this state alone.
        let (_, first) = order(&project, &["detect"]);
        assert_eq!(names(&first), ["victim"]);
        assert!(cost(&first).0 > 10, "{first:#}");
        let (code, again) = order(&project, &["detect"]);
        assert_eq!((code, cost(&again)), (1, (0, 0)), "{again:#}");
        assert_eq!(
            again["dependent"][0]["witnesses"],
            first["dependent"][0]["witnesses"]
        );
        assert_eq!(again["dependent"][0]["shown"][0]["outcome"], "failed");
        assert_ne!(again["dependent"][0]["reproducer"], Value::Null);
        // It can be searched all the same.
        let (_, anew) = order(&project, &["detect", "--anew"]);
        assert_eq!(cost(&anew), cost(&first));
        // With recorded rows it holds wherever these do.
        project.run();
        order(&project, &["detect"]);
        project.write("README.md", "Nothing that a test reads.\n");
        project.commit("words");
        let (_, moved) = order(&project, &["detect"]);
        assert_eq!(cost(&moved), (0, 0), "{moved:#}");
        // A strategy that was not done is another question.
        let (_, pairs) = order(&project, &["detect", "--strategy", "pairs"]);
        assert!(cost(&pairs).0 > 10, "{pairs:#}");
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn after_an_edit_only_changed_tests_are_searched() {
    with_state(|mut project| {
        project.run();
        let (_, first) = order(&project, &["detect"]);
        let more = format!("{TESTS}\ndef test_new():\n    assert state.ITEMS != [2]\n");
        project.write("test_a.py", &more);
        project.commit("a test");
        project.run();
        let (_, second) = order(&project, &["detect"]);
        assert_eq!(names(&second), ["victim"], "{second:#}");
        let covered = &second["covered"];
        assert_eq!(covered["pairs"], covered["pairs_total"], "{covered}");
        let (_, anew) = order(&project, &["detect", "--anew"]);
        assert!(cost(&second).1 < cost(&anew).1, "{second:#} {anew:#}");
        assert!(cost(&first).0 > 0);
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_cannot_be_read_is_named_and_searched_again() {
    with_state(|project| {
        let (_, first) = order(&project, &["detect"]);
        let [file] = &stored(&project)[..] else {
            panic!("one file of dependences");
        };
        let sound = fs_err::read(file).unwrap();
        let change = |at: usize, byte: u8| {
            let mut other = sound.clone();
            other[at] = byte;
            other
        };
        let all = [
            (change(8, 9), "format 9, which a newer tamis wrote"),
            (change(60, sound[60] ^ 1), "is damaged"),
            (sound[..40].to_vec(), "is cut off"),
            (Vec::new(), "no file of dependences"),
        ];
        let few = if everything() { all.len() } else { 2 };
        for (bytes, why) in all.into_iter().take(few) {
            fs_err::write(file, bytes).unwrap();
            let verify = project.tamis(&["store", "verify"]);
            assert_eq!(verify.code(), 1, "{}", verify.stdout);
            let done = project.tamis(&["order", "detect", "--json"]);
            let told = &done.stderr;
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(told.contains(why) && told.contains(name), "{told}");
            let json: Value = serde_json::from_str(&done.stdout).unwrap();
            assert_eq!(cost(&json), cost(&first));
            fs_err::remove_file(file).unwrap();
            for one in stored(&project) {
                fs_err::remove_file(one).unwrap();
            }
        }
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_minimise_finds_is_kept_beside_the_rest() {
    with_state(|project| {
        let (code, _) = order(&project, &["minimise", "test_a.py::test_victim"]);
        assert_eq!((code, stored(&project).len()), (0, 1));
        // It says nothing of the others, so these are searched.
        let (_, json) = order(&project, &["detect"]);
        assert_eq!(names(&json), ["victim"]);
        assert!(cost(&json).0 > 0);
        assert_eq!(stored(&project).len(), 2);
        let gc = project.tamis(&["store", "gc"]);
        assert_eq!(gc.code(), 0, "{}", gc.stderr);
        assert_eq!(stored(&project).len(), 1);
        let (_, json) = order(&project, &["detect"]);
        assert_eq!(cost(&json), (0, 0));
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn a_recorded_run_counts_as_one_of_the_search() {
    with_state(|mut project| {
        let reuses = "it need not be run again";
        let plain = project.tamis(&["order", "detect", "--json", "-v"]);
        assert!(!plain.stderr.contains(reuses), "{}", plain.stderr);
        project.tamis(&["run"]);
        let arguments = ["order", "detect", "--anew", "--json", "-v"];
        let reused = project.tamis(&arguments);
        assert!(reused.stderr.contains(reuses), "{}", reused.stderr);
        let json = |done: &Finished| -> Value { serde_json::from_str(&done.stdout).unwrap() };
        let (plain, reused) = (json(&plain), json(&reused));
        assert_eq!(plain["dependent"], reused["dependent"]);
        let orders = |json: &Value| json["covered"]["orders"].as_u64().unwrap();
        assert_eq!(orders(&plain), orders(&reused) + 1);
        // A run of a part, and one of another state, are none of all tests.
        let text = project.read("test_a.py");
        project.write(
            "test_a.py",
            &format!("{text}\n\ndef test_more():\n    pass\n"),
        );
        let edited = project.tamis(&arguments);
        assert!(!edited.stderr.contains(reuses), "{}", edited.stderr);
        project.tamis(&["run"]);
        let part = project.tamis(&arguments);
        assert!(!part.stderr.contains(reuses), "{}", part.stderr);
    });
}
