//! Tests with real repositories, made with git's command line.

mod bad;
mod filtered;
mod fixture;
mod graph;
mod kinds;
mod odd;
mod picks;
mod random;
mod spans;
mod states;
mod written;
