"""Which functions may assign their variables after they have handed them on.

A variable that inner functions use can be assigned by the function that it
belongs to for as long as that one runs. Only one that is a generator or a
coroutine may be suspended, and go on later.
"""

import types

# Like `id`, which raises an audit event each time.
identity = object.__hash__

# `CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR`.
_CAN_BE_SUSPENDED = 0x20 | 0x80 | 0x200

_MOST_WRAPPERS = 10


class Owners:
    """What is known of the functions that enclose others."""

    def __init__(self):
        # Identity of a function's code -> (the code, name -> answer).
        self._answers = {}

    def may_suspend(self, function, name):
        """Whether the function that owns the free variable `name` of
        `function` may be suspended; so it is if the owner is not found."""
        code = function.__code__
        # The code is kept, so that its identity is not used twice.
        answers = self._answers.setdefault(identity(code), (code, {}))[1]
        if name not in answers:
            owner = _owner(function, name)
            answers[name] = owner is None or bool(owner.co_flags & _CAN_BE_SUSPENDED)
        return answers[name]


def _owner(function, name):
    """The code whose variable `name` the function uses: the innermost one of
    those around it that hands this name on."""
    around = _around(_outermost(function), function.__code__)
    return next((code for code in reversed(around) if name in code.co_cellvars), None)


def _outermost(function):
    """The code of the function or method in which this one was made, as its
    qualified name tells; `None` if there is none of that name."""
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
    """`code` and those within it that `inner` lies in, outermost first; none
    if it is not in there."""
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
