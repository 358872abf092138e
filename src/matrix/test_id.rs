//! What a row is of.

use std::fmt;

/// What a row is of: a test, by the runner's own id of it (for pytest, the node id), or the
/// collection of tests. The row of the collection holds what finding the tests depends on:
/// if that is unchanged, so is the set of available tests, A(h).
///
/// In stored files the collection is the empty text, the least of all ids. So no test may
/// have that id: a [`MatrixBuilder`](super::MatrixBuilder) refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TestId<S = String> {
    Collection,
    Test(S),
}

impl<'a> TestId<&'a str> {
    /// What a stored text stands for.
    pub(crate) fn read(stored: &'a str) -> TestId<&'a str> {
        match stored {
            "" => TestId::Collection,
            test => TestId::Test(test),
        }
    }

    /// The stored text.
    pub(crate) fn stored(self) -> &'a str {
        self.test().unwrap_or_default()
    }

    /// The test; `None` for the collection.
    pub fn test(self) -> Option<&'a str> {
        match self {
            TestId::Collection => None,
            TestId::Test(test) => Some(test),
        }
    }

    pub(crate) fn to_owned(self) -> TestId {
        match self {
            TestId::Collection => TestId::Collection,
            TestId::Test(test) => TestId::Test(test.to_owned()),
        }
    }
}

impl TestId {
    pub fn by_ref(&self) -> TestId<&str> {
        match self {
            TestId::Collection => TestId::Collection,
            TestId::Test(test) => TestId::Test(test),
        }
    }

    /// The test; `None` for the collection.
    pub fn test(&self) -> Option<&str> {
        self.by_ref().test()
    }
}

impl From<&str> for TestId {
    fn from(test: &str) -> TestId {
        TestId::Test(test.to_owned())
    }
}

/// For messages.
impl<S: fmt::Debug> fmt::Display for TestId<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TestId::Collection => f.write_str("the collection of tests"),
            TestId::Test(test) => write!(f, "test {test:?}"),
        }
    }
}
