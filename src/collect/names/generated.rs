//! Code that a program made of text and ran (`exec`, `eval`): what it leads to.
//! The collector tells which names it spells; `docs/precision.md` says why that
//! is enough.

use bstr::ByteSlice;

use super::{NameClosure, Reach};
use crate::collect::trace::GeneratedCode;
use crate::collect::units::UnitTable;
use crate::fingerprint::{Import, name_hash, uses_of_generated};

impl NameClosure {
    /// What follows from such code having run.
    pub fn generated(&self, table: &mut UnitTable, code: &GeneratedCode) -> Reach {
        let mut reach = Reach::default();
        let Some(by) = self.modules.of_file(code.by.as_bstr()) else {
            // Nobody knows what its global names mean.
            reach.is_wide = true;
            return reach;
        };
        let modules: Vec<String> = code.imports.iter().chain(&code.sources).cloned().collect();
        let uses = uses_of_generated(&code.attributes, &code.variables, &modules, &code.texts);
        self.used(table, by, &uses, &mut reach);
        // Its global names may be those of the module that ran it.
        let of = &self.modules.all[by as usize].parsed().names;
        for name in &code.variables {
            for import in of.imports_of(name_hash(name)) {
                reach.taken.extend(self.modules.bound(by, import));
            }
        }
        for name in &code.imports {
            // `import a.b` binds `a`.
            let ends = name.match_indices('.').map(|(end, _)| end);
            for end in ends.chain([name.len()]) {
                let import = import_of(&name[..end], None);
                reach.taken.extend(self.modules.sources(by, &import));
            }
        }
        for module in &code.sources {
            for name in &code.attributes {
                let import = import_of(module, Some(name));
                for source in self.modules.sources(by, &import) {
                    self.absent(table, source, name, &mut reach);
                }
                // A submodule.
                reach.taken.extend(self.modules.bound(by, &import));
            }
        }
        reach.is_wide |= modules.iter().any(String::is_empty);
        reach.taken.sort_unstable();
        reach.taken.dedup();
        reach
    }
}

fn import_of(module: &str, item: Option<&str>) -> Import {
    Import {
        bound: item.unwrap_or_default().to_owned(),
        module: module.to_owned(),
        item: item.map(str::to_owned),
        level: 0,
        at_import: false,
    }
}
