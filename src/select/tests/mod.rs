//! Strategies against oracles that know nothing of them.

mod figures;
mod properties;
mod random;
mod stored;
mod values;
mod world;
