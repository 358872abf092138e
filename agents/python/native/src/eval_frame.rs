//! Recording on 3.9 to 3.11: the frame evaluation hook of PEP 523, which the
//! interpreter calls for each call and each resumption of a generator.

use std::ffi::{CStr, c_int, c_void};

use crate::ffi::*;
use crate::{closings, codes};

type Eval = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> Ref;
type GetEval = unsafe extern "C" fn(*mut c_void) -> Eval;
type SetEval = unsafe extern "C" fn(*mut c_void, Eval);

/// Where a frame keeps its code: `PyFrameObject.f_code` up to 3.10,
/// `_PyInterpreterFrame.f_code` on 3.11. Probed by `start`.
const FRAME_CODE: isize = 32;
/// `PyThreadState.recursion_remaining` and `recursion_limit` on 3.11.
const RECURSION_REMAINING: isize = 32;
const RECURSION_LIMIT: isize = 36;
/// With a hook, 3.11 uses about half a kilobyte of C stack for each Python call. At a greater
/// depth the hook is suspended.
const DEEPEST: i32 = 4000;

struct Hook {
    get: Option<GetEval>,
    set: Option<SetEval>,
    /// The previous evaluation function, which the hook calls.
    previous: Option<Eval>,
    ours: Option<Eval>,
    suspended: bool,
    /// Whether another hook is on top of this one, so that `stop` could not remove it.
    buried: bool,
    /// The code of the probe, until `probe` sees it.
    probed: usize,
}

static HOOK: Global<Hook> = Global::new(Hook {
    get: None,
    set: None,
    previous: None,
    ours: None,
    suspended: false,
    buried: false,
    probed: 0,
});

/// Installs the hook. `false` if this interpreter is not understood.
pub unsafe fn start() -> bool {
    let get = symbol(c"_PyInterpreterState_GetEvalFrameFunc");
    let set = symbol(c"_PyInterpreterState_SetEvalFrameFunc");
    let (Some(get), Some(set)) = (get, set) else {
        return false;
    };
    // SAFETY: these two have had these signatures since 3.9.
    let (get, set) = (
        std::mem::transmute::<*mut c_void, GetEval>(get),
        std::mem::transmute::<*mut c_void, SetEval>(set),
    );
    let interpreter = PyInterpreterState_Main();
    let previous = get(interpreter);
    let hook = HOOK.get();
    let first = hook.get.is_none();
    if hook.buried {
        // On top a second time, it would call itself for ever.
        return false;
    }
    hook.set = Some(set);
    hook.previous = Some(previous);
    let ours: Eval = match version() {
        (3, 9 | 10, _) => evaluate,
        (3, 11, patch) if recursion_is_understood() => {
            if patch <= 3 && first && !use_up_short_versions() {
                return false;
            }
            evaluate_311
        }
        _ => return false,
    };
    HOOK.get().get = Some(get);
    set(interpreter, probe);
    let understood = probe_sees_code();
    set(interpreter, if understood { ours } else { previous });
    HOOK.get().ours = understood.then_some(ours);
    understood
}

/// Removes the hook. If another hook is on top of it, it stays and only passes on calls.
pub unsafe fn stop() {
    let hook = HOOK.get();
    let (Some(get), Some(set), Some(previous)) = (hook.get, hook.set, hook.previous) else {
        return;
    };
    let interpreter = PyInterpreterState_Main();
    if is_ours(get(interpreter)) {
        set(interpreter, previous);
    } else {
        hook.buried = !hook.suspended;
    }
    hook.ours = None;
}

/// Whether the interpreter still calls this hook first.
pub unsafe fn is_in_place() -> bool {
    let hook = HOOK.get();
    hook.suspended
        || hook
            .get
            .is_some_and(|get| is_ours(get(PyInterpreterState_Main())))
}

unsafe fn is_ours(eval: Eval) -> bool {
    HOOK.get()
        .ours
        .is_some_and(|ours| ours as usize == eval as usize)
}

unsafe extern "C" fn evaluate(state: *mut c_void, frame: *mut c_void, throw: c_int) -> Ref {
    touch(word(frame, FRAME_CODE) as Ref, throw);
    previous(state, frame, throw)
}

unsafe extern "C" fn evaluate_311(state: *mut c_void, frame: *mut c_void, throw: c_int) -> Ref {
    touch(word(frame, FRAME_CODE) as Ref, throw);
    let number = |offset: isize| *state.byte_offset(offset).cast::<i32>();
    let limit = number(RECURSION_LIMIT);
    if limit > DEEPEST && limit - number(RECURSION_REMAINING) > DEEPEST {
        return evaluate_deep(state, frame, throw);
    }
    previous(state, frame, throw)
}

#[inline(always)]
unsafe fn touch(code: Ref, throw: c_int) {
    if throw == 0 || !closings::waits(code, PyErr_Occurred()) {
        codes::touch(code);
    }
}

#[inline(always)]
unsafe fn previous(state: *mut c_void, frame: *mut c_void, throw: c_int) -> Ref {
    match HOOK.get().previous {
        Some(previous) => previous(state, frame, throw),
        None => raise(PyExc_RuntimeError, c"tamis: no frame evaluation function"),
    }
}

/// Evaluates without the hook, so that deep recursion works as usual. Code that runs there is
/// lost.
#[cold]
#[inline(never)]
unsafe extern "C" fn evaluate_deep(state: *mut c_void, frame: *mut c_void, throw: c_int) -> Ref {
    let hook = HOOK.get();
    let interpreter = PyInterpreterState_Main();
    let (Some(get), Some(set), Some(before)) = (hook.get, hook.set, hook.previous) else {
        return previous(state, frame, throw);
    };
    if !is_ours(get(interpreter)) {
        return previous(state, frame, throw);
    }
    codes::lose("a deep recursion");
    hook.suspended = true;
    set(interpreter, before);
    let result = before(state, frame, throw);
    let hook = HOOK.get();
    hook.suspended = false;
    if let Some(ours) = hook.ours
        && get(interpreter) as usize == before as usize
    {
        set(interpreter, ours);
    }
    result
}

/// Before 3.11.4 a specialised `x[i]` runs `__getitem__` without calling the hook.
/// Specialisation needs a function version of at most 16 bits, so this uses them up: each new
/// function for which a call site is specialised takes one. It takes about 40 ms once, on its
/// own thread, because nothing is specialised while a trace function is set. `false` if it did
/// not work.
unsafe fn use_up_short_versions() -> bool {
    const CALLS: &CStr = c"
import _thread
functions = [lambda: None for _ in range(1024)]
names = {f'f{n}': function for n, function in enumerate(functions)}
exec('def calls(go):\\n if go:\\n' + ''.join(f'  {name}()\\n' for name in names), names)
calls = names['calls']
code = calls.__code__
done = _thread.allocate_lock()
def use_up():
    try:
        for _ in range(65):
            calls.__code__ = code.replace()
            for function in functions:
                function.__defaults__ = None
            for _ in range(10):
                calls(False)
            calls(True)
    finally:
        done.release()
done.acquire()
_thread.start_new_thread(use_up, ())
done.acquire()
last = functions[-1]
";
    let code = Py_CompileString(CALLS.as_ptr(), c"<tamis>".as_ptr(), FILE_INPUT);
    let globals = PyDict_New();
    let mut used_up = false;
    if !code.is_null() && !globals.is_null() {
        PyDict_SetItemString(globals, c"__builtins__".as_ptr(), PyEval_GetBuiltins());
        let result = PyEval_EvalCode(code, globals, globals);
        let last = PyDict_GetItemString(globals, c"last".as_ptr());
        if !result.is_null() && !last.is_null() && (*last).kind == &raw mut PyFunction_Type {
            // `func_version` comes after `vectorcall`.
            let offset = type_object::vectorcall_offset((*last).kind) + 8;
            used_up = *last.byte_offset(offset).cast::<u32>() > u32::from(u16::MAX);
        }
        Py_DecRef(result);
    }
    Py_DecRef(globals);
    Py_DecRef(code);
    PyErr_Clear();
    used_up
}

unsafe fn recursion_is_understood() -> bool {
    let state = PyThreadState_Get();
    let limit = *state.byte_offset(RECURSION_LIMIT).cast::<i32>();
    let remaining = *state.byte_offset(RECURSION_REMAINING).cast::<i32>();
    limit == Py_GetRecursionLimit() && (0..=limit).contains(&remaining)
}

unsafe extern "C" fn probe(state: *mut c_void, frame: *mut c_void, throw: c_int) -> Ref {
    // A trace function may run in addition to the probe's code.
    if HOOK.get().probed == word(frame, FRAME_CODE) {
        HOOK.get().probed = 0;
    }
    previous(state, frame, throw)
}

/// Runs a piece of code and checks whether `probe` found it in its frame.
unsafe fn probe_sees_code() -> bool {
    let code = Py_CompileString(c"0".as_ptr(), c"<tamis>".as_ptr(), EVAL_INPUT);
    let globals = PyDict_New();
    let mut seen = false;
    if !code.is_null() && !globals.is_null() {
        PyDict_SetItemString(globals, c"__builtins__".as_ptr(), PyEval_GetBuiltins());
        HOOK.get().probed = code as usize;
        let result = PyEval_EvalCode(code, globals, globals);
        seen = !result.is_null() && HOOK.get().probed == 0;
        Py_DecRef(result);
    }
    Py_DecRef(globals);
    Py_DecRef(code);
    PyErr_Clear();
    seen
}
