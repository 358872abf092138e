"""Imports: a scope for each module's execution, edges between modules, and the places where
the import system searched."""

import builtins
import importlib._bootstrap as bootstrap
import importlib._bootstrap_external as bootstrap_external
import importlib
import sys

from . import in_place
from .agent import guard, watcher
from .paths import OUTSIDE, PROJECT, SITE, is_harness

# Where pytest imports test files and `conftest.py`. It inspects all their names, which tamis
# already knows for such files.
_COLLECTS = ("_pytest/pathlib.py", "py/_path/local.py", "_pytest/_py/path.py")


def install(agent):
    """Watch imports from now on. Modules that are already loaded belong to all."""
    names = in_place.functions()
    _note_loaded(agent)

    # The spec that the import system has begun to load, until its loader executes the module.
    loading = [None]

    @guard
    def enter(spec):
        loading[0] = spec
        return _enter(agent, spec)

    @guard
    def enter_by_hand(module):
        spec = getattr(module, "__spec__", None)
        begun, loading[0] = loading[0], None
        if spec is None or spec.origin is None or spec is begun:
            return None
        path = agent.paths.absolute(spec.origin)
        if agent.top.kind == "import" and agent.top.name == path:
            return None
        caller = past_imports(agent, sys._getframe(1))
        if caller is None or not caller.f_code.co_filename.endswith(_COLLECTS):
            # The code that executes a module holds it.
            agent.note("module", path)
        return _enter(agent, spec)

    @guard
    def leave(token):
        name = token if isinstance(token, str) else token.scope.extra
        watch, module = agent.after_import.get(name), sys.modules.get(name)
        if watch is not None and module is not None:
            watch(module)
        if not isinstance(token, str):
            agent.pop(token)
            # Before another module takes the same name (`conftest`).
            resolve(agent, agent.top)
            if agent.module_imported is not None:
                agent.module_imported(token.scope)
            agent.reached.look_at_module(token.scope)

    bootstrap._load_unlocked = names["load_unlocked"](bootstrap._load_unlocked, enter, leave)
    bootstrap._exec = names["exec_"](bootstrap._exec, enter, leave)
    # For recipes that execute a module by hand (`spec.loader.exec_module`).
    basics = bootstrap_external._LoaderBasics
    basics.exec_module = names["exec_module"](basics.exec_module, enter_by_hand, leave)
    agent.watch_loader = lambda loader: setattr(
        loader, "exec_module", names["exec_module"](loader.exec_module, enter_by_hand, leave)
    )
    _watch_finder(agent)
    _watch_statements(agent, names)


def _note_loaded(agent):
    """Modules loaded before the agent (by `.pth` files) count for all tests."""
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if isinstance(name, str):
            path = agent.paths.absolute(name)
            place = agent.paths.place(path)
            if place == SITE:
                agent.note_site(path)
            elif place in (PROJECT, OUTSIDE):
                agent.note_file(path)


def _enter(agent, spec):
    """The scope of the module that will run becomes the current one."""
    lookups = agent.spec_lookups.pop((spec.name, spec.origin), ())
    origin = spec.origin
    if not spec.has_location or not isinstance(origin, str):
        _note_lookups(agent, lookups, agent.root_scope)
        return None
    path = agent.paths.absolute(origin)
    place = agent.paths.place(path)
    harness = place == SITE and is_harness(path)
    if harness:
        agent.note_site(path, agent.root_scope)
    if harness or place not in (PROJECT, OUTSIDE, SITE):
        # The standard library and the test runner have no scopes. Places where a project file
        # could shadow them matter to every test.
        _note_lookups(agent, lookups, agent.root_scope)
        return spec.name if spec.name in agent.after_import else None
    scope = agent.named_scope("import", path, spec.name)
    agent.module_scopes[spec.name] = scope
    agent.module_tops.add(spec.name.partition(".")[0])
    agent.import_edges.clear()
    _note_lookups(agent, lookups, scope)
    if place == SITE:
        agent.note_site(path, scope)
    elif not path.endswith(".py") or agent.paths.links(path)[0]:
        # For extension modules, bytecode without source, sources behind links.
        agent.note_links(path, scope)
        if not path.endswith(".py"):
            agent.note_file(path, scope)
    if agent.module_importing is not None:
        agent.module_importing(path)
    token = agent.push(scope)
    parent = spec.name.rpartition(".")[0]
    while parent:
        needed = agent.module_scopes.get(parent)
        if needed is not None:
            scope.need(needed)
        parent = parent.rpartition(".")[0]
    return token


def _note_lookups(agent, lookups, scope):
    for path in lookups:
        agent.note("lookup", path, None, scope)


# -- where the import system looked ----------------------------------------


def _watch_finder(agent):
    """Note the directories that were searched for a module.

    Those of a found module go to its scope, so that later importers have them as well. Those
    of a missing module go to the scope that asked.
    """
    finder = bootstrap_external.PathFinder
    plain = finder.find_spec.__func__
    agent.spec_lookups = {}
    places = {}
    absolutes = {}

    def may_belong(directory):
        answer = places.get(directory)
        if answer is None:
            path = agent.paths.absolute(directory or ".")
            answer = ""
            if agent.paths.place(path) in (PROJECT, OUTSIDE):
                # The target of links; the links count separately.
                answer = agent.note_links(path, agent.root_scope)
            if directory:
                places[directory] = answer
        return answer

    def absolute(directory):
        answer = absolutes.get(directory)
        if answer is None:
            answer = agent.paths.absolute(directory or ".")
            if directory[:1] == "/":
                absolutes[directory] = answer
        return answer

    @watcher
    def note(name, path, spec):
        stem = name.rpartition(".")[2]
        found_in = None
        if spec is not None and spec.has_location and isinstance(spec.origin, str):
            found_in = agent.paths.absolute(spec.origin)
        looked = []
        for directory in sys.path if path is None else path:
            if not isinstance(directory, str):
                continue
            place = may_belong(directory)
            given = absolute(directory)
            if place and given not in agent.made:
                looked.append(place.rstrip("/") + "/" + stem)
            if found_in is not None:
                if found_in.startswith(given.rstrip("/") + "/" + stem):
                    break
        if spec is not None:
            if looked and not spec.has_location:
                _note_lookups(agent, looked, agent.root_scope)
            elif looked:
                agent.spec_lookups[(spec.name, spec.origin)] = looked
            return
        frame = sys._getframe(3)
        if name == "sitecustomize":
            # The agent's own module looks for the one that it shadows.
            _note_lookups(agent, looked, agent.root_scope)
        elif agent.acts(past_imports(agent, frame)):
            _note_lookups(agent, looked, agent.top)
            if path is None:
                agent.missing_modules.append((agent.top, name))

    def find_spec(cls, fullname, path=None, target=None):
        spec = plain(cls, fullname, path, target)
        note(fullname, path, spec)
        return spec

    finder.find_spec = classmethod(find_spec)


def past_imports(agent, frame):
    known = agent.paths.actors
    while frame is not None:
        name = frame.f_code.co_filename
        actor = known.get(name) or agent.paths.actor(name)
        if actor != "importlib" and actor != "agent":
            break
        frame = frame.f_back
    return frame


def settle_lookups(agent):
    """Specs that were found but not loaded: the current scope looked for them."""
    waiting, agent.spec_lookups = agent.spec_lookups, {}
    for lookups in waiting.values():
        _note_lookups(agent, lookups, agent.top)


def settle_missing(agent):
    """Names that no finder found may appear as distributions."""
    waiting, agent.missing_modules = agent.missing_modules, []
    for scope, name in waiting:
        if name not in sys.modules:
            agent.note("dist", name, None, scope)


# -- import statements ------------------------------------------------------


def _watch_statements(agent, names):
    def take(name):
        """Code other than an import statement has got a module."""
        if name in agent.top.taken and not agent.reached.is_any_unpickling():
            # C code asks for `_io` whenever it opens a source file.
            return
        caller = past_imports(agent, sys._getframe(1))
        if caller is not None and caller.f_code.co_filename.endswith(_COLLECTS):
            return
        if agent.reached.is_unpickling(name, caller):
            return
        if isinstance(name, str):
            agent.top.taken.add(name)

    def note(name, globals, fromlist, level):
        try:
            if not isinstance(name, str):
                return
            is_list = isinstance(fromlist, list)
            if globals is None or is_list:
                # A call of `__import__`, or of its counterpart in C.
                take(name)
            if is_list:
                # A list cannot be hashed.
                fromlist = tuple(map(str, fromlist))
            package = None
            if level:
                package = globals.get("__package__")
                if package is None:
                    package = globals["__name__"]
                    if "__path__" not in globals:
                        package = package.rpartition(".")[0]
            agent.top.imports.add((name, package, fromlist, level))
        except Exception:
            # The import itself will reject such arguments.
            pass

    def note_module(name, package):
        level = 0
        if isinstance(name, str):
            while name[level : level + 1] == ".":
                level += 1
            if level:
                base = (package or "").rsplit(".", level - 1)[0]
                take("%s.%s" % (base, name[level:]))
            else:
                take(name)
            agent.top.imports.add((name[level:], package, None, level))

    plain = builtins.__import__
    wrapper = names["import_"](plain, note, take, agent)
    wrapper.__doc__ = plain.__doc__
    native = getattr(agent.collector, "native", None)
    if native is not None and getattr(plain, "__self__", None) is builtins:
        signature = getattr(plain, "__text_signature__", None)
        text = plain.__doc__ if signature is None else "__import__%s\n--\n\n%s" % (
            signature,
            plain.__doc__,
        )
        wrapper = native.importer(agent, wrapper, builtins, text)
    builtins.__import__ = wrapper
    plain_module = importlib.import_module
    wrapper = names["import_module"](plain_module, note_module)
    wrapper.__doc__ = plain_module.__doc__
    wrapper.__module__ = plain_module.__module__
    importlib.import_module = wrapper


def resolve(agent, scope):
    """Turn the import statements of `scope` into edges to the scopes of modules."""
    if scope.taken:
        taken, scope.taken = scope.taken, set()
        for name in taken:
            _note_taken(agent, name, scope)
    statements, scope.imports = scope.imports, set()
    all_edges = []
    for statement in statements:
        edges = agent.import_edges.get(statement)
        if edges is None:
            edges, complete = _edges(agent, *statement)
            if complete:
                agent.import_edges[statement] = edges
        all_edges += edges
    if all_edges:
        scope.need_all(all_edges)


def _note_taken(agent, name, scope):
    """The module with this name, and the one that `__import__` returns for it."""
    for part in {name, name.partition(".")[0]}:
        module = agent.module_scopes.get(part)
        if module is not None:
            agent.note("module", module.name, None, scope)


def _edges(agent, name, package, fromlist, level):
    """`(scopes, complete)`: the scopes of the modules that a statement imports, and whether
    all of them have been loaded."""
    if level:
        base = package or ""
        for _ in range(level - 1):
            base = base.rpartition(".")[0]
        full = "%s.%s" % (base, name) if name else base
    else:
        full = name
    if full.partition(".")[0] not in agent.module_tops:
        # The standard library, or what is not there yet.
        return [], False
    modules = agent.module_scopes
    edges = []
    complete = True
    part = full
    while part:
        needed = modules.get(part)
        if needed is not None:
            edges.append(needed)
        elif part not in sys.modules:
            complete = False
        part = part.rpartition(".")[0]
    for member in _members(full, fromlist):
        needed = modules.get("%s.%s" % (full, member))
        if needed is not None:
            edges.append(needed)
    return edges, complete


def _members(full, fromlist):
    if not fromlist:
        return ()
    if "*" in fromlist:
        listed = getattr(sys.modules.get(full), "__all__", ())
        try:
            return [name for name in listed if isinstance(name, str)]
        except TypeError:
            return ()
    return fromlist
