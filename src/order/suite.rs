//! The tests of a suite in their default order.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Index of a test in its suite: its place in the default order.
pub(crate) type Test = u32;

/// The tests of a suite in their default order, and the scopes that they are in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suite {
    ids: Vec<String>,
    /// For each test the numbers of its scopes, from the widest.
    scopes: Vec<Vec<u32>>,
    places: BTreeMap<String, Test>,
}

/// A test that was named twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Twice(pub(crate) String);

impl Suite {
    /// Of tests in their default order, each with the scopes that it is in, from the
    /// widest (for pytest its file, then its classes). A normal order does not come back
    /// to a scope that it has left: what the scope set up would be set up twice.
    ///
    /// # Errors
    /// If a test occurs twice.
    pub(crate) fn new(
        tests: impl IntoIterator<Item = (String, Vec<String>)>,
    ) -> Result<Suite, Twice> {
        let mut suite = Suite::default();
        let mut numbers: BTreeMap<Vec<String>, u32> = BTreeMap::new();
        for (id, scopes) in tests {
            let place = suite.ids.len() as Test;
            match suite.places.entry(id.clone()) {
                Entry::Occupied(_) => return Err(Twice(id)),
                Entry::Vacant(free) => free.insert(place),
            };
            suite.ids.push(id);
            let mut inner = Vec::new();
            for depth in 1..=scopes.len() {
                let next = numbers.len() as u32;
                inner.push(*numbers.entry(scopes[..depth].to_vec()).or_insert(next));
            }
            suite.scopes.push(inner);
        }
        Ok(suite)
    }

    /// How many tests it has.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The ids in their default order.
    pub(crate) fn ids(&self) -> &[String] {
        &self.ids
    }

    pub(crate) fn id(&self, test: Test) -> &str {
        &self.ids[test as usize]
    }

    pub(crate) fn find(&self, id: &str) -> Option<Test> {
        self.places.get(id).copied()
    }

    /// The numbers of the scopes that it is in, from the widest.
    pub(super) fn scopes(&self, test: Test) -> &[u32] {
        &self.scopes[test as usize]
    }

    /// All tests in their default order.
    pub(super) fn all(&self) -> Vec<Test> {
        (0..self.len() as Test).collect()
    }

    /// The ids of `tests`, in that order.
    pub(crate) fn name(&self, tests: &[Test]) -> Vec<String> {
        tests.iter().map(|test| self.id(*test).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_in_its_suite_once() {
        let test = |id: &str| (id.to_owned(), Vec::new());
        let suite = Suite::new([test("a"), test("b")]).unwrap();
        assert_eq!(
            (suite.len(), suite.find("b"), suite.id(1)),
            (2, Some(1), "b")
        );
        let twice = Suite::new([test("a"), test("b"), test("a")]);
        assert_eq!(twice, Err(Twice("a".to_owned())));
    }
}
