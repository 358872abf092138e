"""Functions that wrap functions of the import system.

Their frames have the import system's own file name. So Python and pytest leave them out of
tracebacks, and `warnings` out of its stack levels, as they do for the wrapped functions.
"""

import builtins


def load_unlocked(load, enter, leave):
    def _load_unlocked(spec):
        token = enter(spec)
        try:
            return load(spec)
        finally:
            if token is not None:
                leave(token)

    return _load_unlocked


def exec_(execute, enter, leave):
    def _exec(spec, module):
        token = enter(spec)
        try:
            return execute(spec, module)
        finally:
            if token is not None:
                leave(token)

    return _exec


def exec_module(execute, enter, leave):
    def exec_module(self, module):
        token = enter(module)
        try:
            return execute(self, module)
        finally:
            if token is not None:
                leave(token)

    return exec_module


def import_(plain, note, taken, agent):
    def __import__(name, globals=None, locals=None, fromlist=(), level=0):
        __tracebackhide__ = True
        if level == 0 and type(name) is str and fromlist.__class__ in plain_lists:
            if globals is None:
                taken(name)
            try:
                agent.top.imports.add((name, None, fromlist, 0))
            except TypeError:
                note(name, globals, fromlist, level)
        else:
            note(name, globals, fromlist, level)
        return plain(name, globals, locals, fromlist, level)

    plain_lists = (tuple, type(None))
    return __import__


def import_module(plain, note):
    def import_module(name, package=None):
        __tracebackhide__ = True
        note(name, package)
        return plain(name, package)

    return import_module


def _renamed(code):
    """The same code, and all code in it, with the import system's file name."""
    inner = tuple(
        _renamed(part) if isinstance(part, type(code)) else part for part in code.co_consts
    )
    return code.replace(co_filename="<frozen importlib._bootstrap>", co_consts=inner)


def functions():
    """The functions above, by name."""
    names = {"__builtins__": builtins}
    for maker in (load_unlocked, exec_, exec_module, import_, import_module):
        names[maker.__name__] = type(maker)(_renamed(maker.__code__), names, maker.__name__)
    return names
