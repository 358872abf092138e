//! The one path that `run`, `select`, `record` and `why` share: from the
//! project's state and its store to a selection, and from a run to a matrix.

mod baselines;
mod causes;
mod decide;
mod differences;
mod probe;
mod project;
mod record;
mod remember;
mod session;

pub use baselines::{Baseline, find_baseline};
pub use causes::causes;
pub use decide::{Decision, Request, decide};
pub use probe::Prober;
pub use project::Project;
pub use record::{Recorded, Recording, record};
pub use session::{Order, Session, Workshop, run_tests, words};
