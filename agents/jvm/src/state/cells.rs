//! State that a process has once: its default locale and time zone, its streams, … A test that
//! changes it leaves it to later test classes, as with static fields.

use super::{Class, Method, SESSION, State};

/// The cells by number. Each name takes the place of a class name.
const CELLS: [&str; 5] = ["*everyone", "*locale", "*zone", "*properties", "*logging"];

/// State on which any code may depend without a visible request.
pub const EVERYONE: u32 = 0;
pub const LOCALE: u32 = 1;
pub const ZONE: u32 = 2;
/// All system properties, read at once.
pub const PROPERTIES: u32 = 3;
/// Levels and handlers of the JDK's loggers.
pub const LOGGING: u32 = 4;

impl State {
    /// Each cell is a class with one method, whose number is that of the cell. Asking for the
    /// cell runs the method.
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

    /// Notes that the running code asks for this cell.
    pub fn asked_cell(&mut self, cell: u32) {
        self.hit(&[cell]);
    }

    /// The hit probes that count in these scopes. Outside tests, code asks for a cell only for
    /// itself.
    pub(super) fn of_scopes<'a>(&self, open: &[u64], probes: &'a [u32]) -> Vec<&'a u32> {
        let is_outside = open == [SESSION];
        let counts = |probe: &&u32| !is_outside || **probe >= CELLS.len() as u32;
        probes.iter().filter(counts).collect()
    }

    /// Makes the scope depend on the state that any code may use.
    pub(super) fn needs_everyone(&mut self, scope: u64) {
        self.scope(scope).methods.insert(EVERYONE);
    }
}
