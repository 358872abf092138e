//! One page with everything in it: plots as SVG, no script, nothing to load.

use super::ReplayJson;

impl ReplayJson {
    /// The page.
    pub fn page(&self) -> String {
        String::new()
    }
}
