//! The worked example of \[V\], and random suites against a second implementation.

mod example;
mod random;
mod toy;
