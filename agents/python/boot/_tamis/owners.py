"""Which functions may still assign variables that inner functions use.

A function can assign its own variables as long as it runs. Only a generator or a coroutine may
be suspended and continue later.
"""

import types

# Unlike `id`, it raises no audit event.
identity = object.__hash__

# `CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR`.
_CAN_BE_SUSPENDED = 0x20 | 0x80 | 0x200

_MOST_WRAPPERS = 10


class Owners:
    """Known facts about enclosing functions."""

    def __init__(self):
        # Identity of a function's code -> (the code, name -> answer).
        self._answers = {}

    def may_suspend(self, function, name):
        """Whether the function that owns the free variable `name` of `function` may be
        suspended; also true if the owner is not found."""
        code = function.__code__
        # The code is kept, so that its identity is not reused.
        answers = self._answers.setdefault(identity(code), (code, {}))[1]
        if name not in answers:
            owner = _owner(function, name)
            answers[name] = owner is None or bool(owner.co_flags & _CAN_BE_SUSPENDED)
        return answers[name]


def _owner(function, name):
    """The code whose variable `name` the function uses: the innermost enclosing code that
    passes on this name."""
    around = _around(_outermost(function), function.__code__)
    return next((code for code in reversed(around) if name in code.co_cellvars), None)


def _outermost(function):
    """The code of the function or method in which this one was made, by its qualified name;
    `None` if there is none with that name."""
    parts = function.__qualname__.split(".<locals>", 1)[0].split(".")
    found = function.__globals__.get(parts[0])
    for part in parts[1:]:
        found = vars(found).get(part) if isinstance(found, type) else None
    for _ in range(_MOST_WRAPPERS):
        if isinstance(found, (staticmethod, classmethod)):
            found = found.__func__
        if not isinstance(found, types.FunctionType):
            return None
        wrapped = found.__dict__.get("__wrapped__")
        if wrapped is None:
            return found.__code__
        found = wrapped
    return None


def _around(code, inner):
    """The chain of code objects from `code` down to `inner`, outermost first; empty if `inner`
    is not in `code`."""
    if code is None:
        return []
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            if part is inner:
                return [code]
            deeper = _around(part, inner)
            if deeper:
                return [code] + deeper
    return []
