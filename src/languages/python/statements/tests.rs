use super::*;

fn one(text: &str) -> TestText {
    let mut found = tests_in(text.as_bytes()).unwrap();
    found.tests.remove(0)
}
