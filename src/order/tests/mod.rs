//! Searches against suites that run in memory, and against all of their orders.

mod closing;
mod covering;
mod examples;
mod joining;
mod properties;
mod resuming;
mod stored;
mod world;
