"""Forward references: `List["Node"]` in two modules is one object of `typing`, and so is its
name. The first evaluation of it decides the result for later users.
"""

import sys
import weakref

from .agent import guard


def install(agent):
    """Watch `typing`, which most processes that tests start never import."""

    def watch(typing):
        _watch(agent, typing.ForwardRef)

    loaded = sys.modules.get("typing")
    if hasattr(loaded, "ForwardRef"):
        watch(loaded)
    else:
        agent.after_import["typing"] = guard(watch)


def _watch(agent, kind):
    plain = getattr(kind, "_evaluate", None)
    if plain is None:
        return
    # For each living reference, the scopes that evaluated it first, by namespace.
    known = {}

    @guard
    def note(reference, arguments):
        key = id(reference)
        if key not in known:
            known[key] = weakref.ref(reference, lambda _: known.pop(key, None)), {}
        scopes = known[key][1]
        space = arguments[0] if arguments else None
        name = space.get("__name__") if isinstance(space, dict) else None
        place = id(space), name if isinstance(name, str) else None
        for other, scope in scopes.items():
            if other != place:
                agent.top.need(scope)
                if agent.trace.through:
                    agent.write_scopes()
        scopes.setdefault(place, agent.top)

    def _evaluate(self, *arguments, **keywords):
        __tracebackhide__ = True
        note(self, arguments)
        return plain(self, *arguments, **keywords)

    kind._evaluate = _evaluate
