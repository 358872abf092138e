//! The stored matrices that a selection may know of: all of a store, or those
//! that were there at some time.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use crate::history::CommitId;
use crate::matrix::{Header, Key, MatrixView, Refusal, Table};
use crate::store::{FsStore, Memo, Name, Trouble};

/// Matrices to select from. Each is read once.
pub struct Shelf<'s> {
    store: &'s FsStore,
    headers: Vec<(Name, Header)>,
    pub trouble: Vec<Trouble>,
    memo: OnceCell<Rc<Memo>>,
    loaded: RefCell<BTreeMap<Name, Result<Rc<MatrixView>, Refusal>>>,
    tests: RefCell<BTreeMap<Name, Rc<Tests>>>,
    /// What was selected at a commit, where the rows do not tell.
    selected: RefCell<Rc<Selections>>,
}

/// S_sel by commit.
pub(super) type Selections = BTreeMap<CommitId, BTreeSet<String>>;

/// A(n) and S_sel(n) of one matrix.
#[derive(Debug, Default)]
pub struct Tests {
    pub available: BTreeSet<String>,
    pub selected: BTreeSet<String>,
}

impl<'s> Shelf<'s> {
    /// Everything in the store, as it is now.
    pub fn of(store: &'s FsStore) -> Shelf<'s> {
        let (headers, trouble) = store.headers();
        Shelf {
            store,
            headers,
            trouble,
            memo: OnceCell::new(),
            loaded: RefCell::default(),
            tests: RefCell::default(),
            selected: RefCell::default(),
        }
    }

    /// Nothing yet of the store.
    pub fn empty(store: &'s FsStore) -> Shelf<'s> {
        let shelf = Shelf {
            store,
            headers: Vec::new(),
            trouble: Vec::new(),
            memo: OnceCell::new(),
            loaded: RefCell::default(),
            tests: RefCell::default(),
            selected: RefCell::default(),
        };
        let _ = shelf.memo.set(Rc::new(Memo::default()));
        shelf
    }

    /// Adds a matrix of the store, newer than all others.
    pub fn add(&mut self, name: Name, header: Header) {
        if let Ok(view) = self.load(&name)
            && let Ok(matrix) = view.whole()
            && let Some(memo) = self.memo.get_mut().and_then(Rc::get_mut)
        {
            memo.add_newer(name, matrix);
        }
        // The newest first, as a store tells them.
        self.headers.insert(0, (name, header));
    }

    /// Takes these selections for those of the matrices, in which everything
    /// ran.
    pub fn follow(&self, selections: Rc<Selections>) {
        *self.selected.borrow_mut() = selections;
    }

    /// Whether `test` is in S_sel of the matrix `name` at `commit`; what is
    /// not known to be otherwise is.
    pub fn is_selected(&self, name: &Name, commit: &CommitId, test: &str) -> bool {
        if let Some(selected) = self.selected.borrow().get(commit) {
            return selected.contains(test);
        }
        let tests = self.tests(name);
        tests.selected.contains(test) || tests.available.is_empty()
    }

    /// The folder of the store.
    pub fn dir(&self) -> &Path {
        self.store.dir()
    }

    /// The headers, newest first.
    pub fn headers(&self) -> &[(Name, Header)] {
        &self.headers
    }

    /// A matrix, read once.
    pub fn load(&self, name: &Name) -> Result<Rc<MatrixView>, Refusal> {
        let mut loaded = self.loaded.borrow_mut();
        let read = || self.store.view(name).map(Rc::new);
        loaded.entry(*name).or_insert_with(read).clone()
    }

    /// The distinct rows of every test.
    pub fn memo(&self, key: &Key) -> Rc<Memo> {
        let made = self.memo.get_or_init(|| Rc::new(self.store.memo(key)));
        made.clone()
    }

    /// The tests of a matrix; none if it cannot be read.
    pub fn tests(&self, name: &Name) -> Rc<Tests> {
        if let Some(known) = self.tests.borrow().get(name) {
            return known.clone();
        }
        let mut tests = Tests::default();
        if let Ok(matrix) = self.load(name) {
            for (test, row) in matrix.tests() {
                tests.available.insert(test.to_owned());
                if row.selected {
                    tests.selected.insert(test.to_owned());
                }
            }
        }
        let tests = Rc::new(tests);
        self.tests.borrow_mut().insert(*name, tests.clone());
        tests
    }

    pub fn trouble_with(&self, name: &Name, refusal: Refusal) -> Trouble {
        Trouble {
            path: self.store.path_of(name),
            refusal,
        }
    }
}
