//! What a process has one of: its default locale and time zone, its streams, … Who
//! changes it leaves it to later test classes, as with static fields.

use super::{Class, Method, SESSION, State};

/// By number, each in place of a class's name.
const CELLS: [&str; 5] = ["*everyone", "*locale", "*zone", "*properties", "*logging"];

/// What any code may depend on, without asking for it in a way that shows.
pub const EVERYONE: u32 = 0;
pub const LOCALE: u32 = 1;
pub const ZONE: u32 = 2;
/// All properties of the system, got at once.
pub const PROPERTIES: u32 = 3;
/// Levels and handlers of the JDK's loggers.
pub const LOGGING: u32 = 4;

impl State {
    /// Each is a class with one method, of the cell's own number; who asks for it runs that.
    pub(super) fn add_cells(&mut self) {
        for name in CELLS {
            let symbol = self.symbol(name);
            let class = Class {
                symbol,
                ..Class::default()
            };
            let method = Method {
                class: self.next_class(),
                ..Method::default()
            };
            self.loaded(class, vec![method], &[]);
        }
    }

    pub fn cell_name(cell: u32) -> String {
        CELLS[cell as usize].to_owned()
    }

    /// What runs now asks for it.
    pub fn asked_cell(&mut self, cell: u32) {
        self.hit(&[cell]);
    }

    /// Of probes that were hit, those that count in these scopes: what is outside of tests
    /// asks for a cell on its own behalf.
    pub(super) fn of_scopes<'a>(&self, open: &[u64], probes: &'a [u32]) -> Vec<&'a u32> {
        let is_outside = open == [SESSION];
        let counts = |probe: &&u32| !is_outside || **probe >= CELLS.len() as u32;
        probes.iter().filter(counts).collect()
    }

    /// Whatever runs here depends on what all depend on.
    pub(super) fn needs_everyone(&mut self, scope: u64) {
        self.scope(scope).methods.insert(EVERYONE);
    }
}
