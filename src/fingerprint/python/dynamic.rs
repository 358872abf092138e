//! What lets code reach names that it does not spell.

/// Built-in names whose use, whatever the arguments, can reach any name.
pub(super) fn is_dynamic_name(name: &str) -> bool {
    matches!(
        name,
        "globals"
            | "vars"
            | "locals"
            | "eval"
            | "exec"
            | "execfile"
            | "compile"
            | "dir"
            | "__import__"
            | "__builtins__"
            | "__dict__"
    ) || takes_name(name)
}

/// Functions that reach just the name that they are given, if it is a literal.
pub(super) fn takes_name(name: &str) -> bool {
    matches!(
        name,
        "getattr" | "setattr" | "hasattr" | "delattr" | "attrgetter" | "methodcaller"
    )
}

/// Attributes, of any object, that hold or find whatever names there are.
pub(super) fn is_dynamic_attribute(name: &str) -> bool {
    matches!(
        name,
        "__dict__"
            | "__globals__"
            | "__builtins__"
            | "__getattribute__"
            | "__subclasses__"
            | "__import__"
            | "f_globals"
            | "f_locals"
            | "f_back"
            | "f_builtins"
            | "_getframe"
            | "_current_frames"
            | "currentframe"
            | "import_module"
            | "reload"
    ) || takes_name(name)
}

/// Whether what is imported from here can reach any name: `module` is dotted,
/// `item` the name in `from module import item`.
pub(super) fn is_dynamic_import(module: &str, item: Option<&str>) -> bool {
    let (root, rest) = module.split_once('.').unwrap_or((module, ""));
    match root {
        // Reads files beside a package; the names in it are out of its reach.
        "importlib" => !(rest.starts_with("resources") || item == Some("resources")),
        "inspect" | "pickle" | "_pickle" | "cPickle" | "marshal" | "shelve" | "copyreg"
        | "dill" | "cloudpickle" | "joblib" | "jsonpickle" | "gc" | "ctypes" | "builtins"
        | "runpy" | "pkgutil" | "imp" | "code" | "codeop" | "zipimport" | "pydoc" => true,
        "sys" => matches!(
            item,
            Some("modules" | "_getframe" | "_current_frames" | "*")
        ),
        "operator" => matches!(item, Some("attrgetter" | "methodcaller")),
        _ => false,
    }
}
