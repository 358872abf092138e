//! Tells of classes of which code gets all members at once: `vars(C)`, `dir(C)`, `C.__dict__`.

use crate::ffi::*;
use crate::told::{self, Told};

static CLASSES: Global<Told> = Global::new(Told::new());

/// Calls `callback(class)` from now on, see [`told::tell`].
pub unsafe fn watch(callback: Ref) {
    told::watch(&CLASSES, callback);
}

/// Some code gets the members of `class`.
pub unsafe fn tell(class: Ref) {
    told::tell(&CLASSES, class);
}
