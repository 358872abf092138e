"""Modules of the project that something holds otherwise than import statements do.

What code did at import cannot be told from its source if it can reach any name (`eval`, pickles).
But where it left a module can be seen: who holds it, refers to it.

PYTEST_DONT_REWRITE
"""

import ast
import gc
import sys
import types
import weakref

from .watch import is_a


def find(agent, imported):
    """A referrer of one of these modules that is no import; `None` if there is none. And pairs of
    a module and a global that holds one, because a statement binds it to an attribute. `imported`
    is a dict of the agent's own."""
    spaces = {id(vars(module)): module for module in imported.values()}
    # What differs in a `conftest.py` counts for the tests below it anyway.
    modules = tuple(module for module in spaces.values() if not _is_conftest(module))
    kept = {id(module): module for module in modules}
    own = _of_agent(agent)
    own.update(id(one) for one in (imported, modules, kept, spaces, sys.modules))
    doubtful, named, taken = [], set(), []
    for holder in _referrers(agent, modules):
        if id(holder) in own or _is_frame_of(agent, holder) or _is_of_pytest(holder):
            continue
        space = spaces.get(id(holder))
        names = None if space is None else _assigned(space, kept, taken)
        if names is None:
            doubtful.append(holder)
        else:
            named.update((space, name) for name in names)
    _add_taken(named, taken)
    own.add(id(doubtful))
    doubtful.extend(_of_namespaces(agent, tuple(map(vars, imported.values())), own))
    doubtful.extend(_weakly(agent, modules, own))
    dicts = tuple(holder for holder in doubtful if type(holder) is dict)
    own.add(id(dicts))
    of_pytest = _attributes_of_pytest(agent, dicts, own)
    return next((one for one in doubtful if id(one) not in of_pytest), None), named


def _of_namespaces(agent, namespaces, own):
    """What holds the names of a module at once, other than its functions."""
    for holder in _referrers(agent, namespaces):
        if is_a(holder, (types.ModuleType, types.FunctionType)) or id(holder) in own:
            continue
        if _is_frame_of(agent, holder) or (type(holder) is tuple and holder is namespaces):
            continue
        yield holder


def _weakly(agent, modules, own):
    """What holds weak references to modules; the native helper's are invisible."""
    weak = tuple(one for module in modules for one in weakref.getweakrefs(module))
    for holder in _referrers(agent, weak):
        if id(holder) not in own and holder is not weak and not is_a(holder, types.FrameType):
            yield holder


def _is_conftest(module):
    return str(getattr(module, "__name__", "")).rpartition(".")[2] == "conftest"


def _of_agent(agent):
    values, state = agent.values, agent.state
    held = [values.modules, state.modules, state._objects, *agent.keys.holders()]
    if agent.left is not None:
        held += agent.left.holders()
    return {id(one) for one in held}


def _add_taken(named, taken):
    """The same globals by the names that `from … import` gave them."""
    before = -1
    while len(named) != before:
        before = len(named)
        for module, name, source, item in taken:
            if item == "*":
                named.update((module, one) for of, one in list(named) if of is source)
            elif (source, item) in named:
                named.add((module, name))


def _assigned(module, kept, taken):
    """The names by which this module has others if it binds them to attributes (`np = lib.numpy`).
    All others shall be names that its import statements bind, or the import system: that of a
    submodule, which its source does not use by itself. Else `None`. `taken` gets what `from …
    import` binds: the module, the name, the module that has it, its name there or `*`."""
    held = {name: value for name, value in list(vars(module).items()) if id(value) in kept}
    if not held:
        return ()
    try:
        with open(module.__file__, "rb") as file:
            source = file.read()
        tree = ast.parse(source)
    except (OSError, TypeError, ValueError, AttributeError, SyntaxError, RecursionError):
        return None
    assigned = _bound_to_attributes(tree).intersection(held)
    bound, stars = _bound_by_imports(module, tree, taken)
    left = {
        name: value
        for name, value in held.items()
        if name not in bound and not any(vars(star).get(name) is value for star in stars)
    }
    assigned.intersection_update(left)
    for name in assigned:
        del left[name]
    if any(value.__name__ != "%s.%s" % (module.__name__, name) for name, value in left.items()):
        return None
    # Names are normalised: one of other letters may be spelled otherwise.
    if source.isascii() and not any(name.encode() in source for name in left):
        return assigned
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return assigned if used.isdisjoint(left) else None


def _bound_to_attributes(tree):
    """The names that statements of the top level bind to an attribute of a name, and that nothing
    else there binds by assignment."""
    found, others = set(), set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            value, target = node.value, node.targets[0]
            while isinstance(value, ast.Attribute):
                value = value.value
            if isinstance(target, ast.Name) and isinstance(value, ast.Name):
                found.add(target.id)
                continue
        others.update(
            inner.id
            for inner in ast.walk(node)
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
        )
    return found - others


def _bound_by_imports(module, tree, taken):
    """The names that import statements of the module bind, and the modules of which they take
    all names."""
    bound, stars = set(), []
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            bound.update(one.asname or one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            bound.update(one.asname or one.name for one in node.names)
            source = _imported_from(module, node)
            if is_a(source, types.ModuleType):
                taken.extend((module, one.asname or one.name, source, one.name) for one in node.names)
                if node.names[0].name == "*":
                    stars.append(source)
    return bound, stars


def _statements(tree):
    """All statements of a module, without what is in expressions: these hold none."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, None)
            if type(inner) is list:
                waiting.extend(inner)


def _imported_from(module, node):
    """The module that `from … import` names; `None` if it is not there."""
    name = node.module or ""
    if node.level:
        above = vars(module).get("__package__")
        if type(above) is not str:
            return None
        parts = above.split(".")
        parts = parts[: len(parts) - node.level + 1]
        name = ".".join(parts + [name] if name else parts)
    return sys.modules.get(name)


def _referrers(agent, objects):
    """What refers to any of these, in a tuple: among all objects there are, so that it is asked as
    few times as possible."""
    return agent.collector.native.referrers(gc.get_objects(), objects) if objects else ()


def _is_frame_of(agent, holder):
    """Whether it is a frame of the agent, or of pytest, which have begun to look for tests."""
    if not is_a(holder, types.FrameType):
        return False
    return agent.paths.actor(holder.f_code.co_filename) in ("agent", "harness")


def _is_of_pytest(holder):
    name = vars(type(holder)).get("__module__")
    return type(name) is str and name.partition(".")[0] in ("_pytest", "pluggy")


def _attributes_of_pytest(agent, dicts, own):
    """The ids of those `dicts`, in a tuple, that objects of pytest have and nothing else.

    Pytest has an object for each module of tests, so it is asked once for all."""
    had, doubtful = set(), set()
    for holder in _referrers(agent, dicts):
        if id(holder) not in own and not is_a(holder, types.FrameType):
            of = had if _is_of_pytest(holder) else doubtful
            of.update(map(id, gc.get_referents(holder)))
    return had.difference(doubtful).intersection(map(id, dicts))
