"""Finds out which code of the project runs, with the native helper or in pure Python.

Every collector numbers code objects from `FIRST_CODE` upwards, and has these methods:
`start()`; `swap()`: the numbers of the code that ran since the last swap;
`swap_text()`: the same as text, with commas;
`definitions()`: `(number, file, line, name)` of new numbers;
`write_through(agent)`: from now on the agent gets each number at once;
`scope_changed(scope)`: later numbers belong to another scope;
`lost()`: why code may have run unseen since the last call, or `None`;
`between(is_between)`: it is the time between two tests, or not any more;
`session_begins()`: from now on tests are collected and run;
`audit(callback, names)`: pass audit events with these names to `callback`.
"""

import os
import sys

from . import agent as agent_module

# Unlike `id`, it raises no audit event.
identity = object.__hash__

# Units that are not code have smaller numbers.
FIRST_CODE = 1 << 30


class Pure:
    """What both collectors in Python share: numbers for code objects."""

    def __init__(self, agent):
        self._agent = agent
        self._code_file = agent.paths.code_file
        # The key is the identity: equal code objects may be in different files. The objects
        # are kept, so that no identity is reused.
        self._numbers = {}
        self._kept = []
        self._by_place = {}
        self._fresh = []
        self._ran = set()
        self._through = None

    def _first_sight(self, code):
        """The number of a code object; 0 if it is not the project's."""
        try:
            path = self._code_file(code.co_filename)
            if path is None:
                return 0
            place = (path, code.co_firstlineno, code.co_name)
            number = self._by_place.get(place)
            if number is None:
                number = self._by_place[place] = FIRST_CODE + len(self._by_place)
                self._fresh.append((number,) + place)
            self._kept.append(code)
            self._numbers[identity(code)] = number
            return number
        except Exception as error:
            self._agent.disable("first_sight", error)
            return 0

    def swap(self):
        ran, self._ran = self._ran, set()
        return ran

    def swap_text(self):
        return ",".join(map(str, self.swap()))

    def definitions(self):
        fresh, self._fresh = self._fresh, []
        return fresh

    def write_through(self, agent):
        self._through = agent.note_code

    def scope_changed(self, scope):
        """Each code object is reported to the agent, which knows the scope."""

    def lost(self):
        return None

    def between(self, is_between):
        """What ends then counts for the session: nobody knows why it runs."""

    def session_begins(self):
        """Most collectors have nothing to do."""

    def audit(self, callback, names):
        names = frozenset(names)

        def hook(event, arguments):
            if event in names:
                callback(event, arguments)

        sys.addaudithook(hook)


class Monitoring(Pure):
    """`sys.monitoring` (Python 3.12 and later).

    Events stay on in project code. Elsewhere each is switched off for good when it first
    occurs.
    """

    name = "python-monitoring"

    def start(self):
        monitoring = sys.monitoring
        for tool in (4, 3, 5, 2):
            if monitoring.get_tool(tool) is None:
                break
        else:
            raise RuntimeError("every tool id of sys.monitoring is in use")
        monitoring.use_tool_id(tool, "tamis")
        events = monitoring.events
        callback = self._callback()
        monitoring.register_callback(tool, events.PY_START, callback)
        monitoring.register_callback(tool, events.PY_RESUME, callback)
        monitoring.set_events(tool, events.PY_START | events.PY_RESUME)

    def _callback(self):
        disable = sys.monitoring.DISABLE
        numbers = self._numbers
        first_sight = self._first_sight

        def started(code, offset):
            number = numbers.get(identity(code))
            if number is None:
                number = first_sight(code)
                if not number:
                    return disable
            if number not in self._ran:
                self._ran.add(number)
                if self._through is not None:
                    self._through(number)

        return started


class Profile(Pure):
    """`sys.setprofile`, if nothing better is available.

    A trace function would only see calls, not also calls and returns of C code, and would cost
    less than half. But coverage tools and debuggers need that place. So this collector uses it
    only from the beginning of a test session, if it is free, and gives it up when somebody
    else keeps it. If a program sets one of the two functions, even for a moment, the code that
    ran meanwhile is incomplete.
    """

    name = "python-profile"

    def start(self):
        # Imported only here: not every program has threads.
        import threading

        self._threading = threading
        self._hook = self._callback()
        self._tracer = None
        self._touched = None
        sys.addaudithook(self._watch_hooks)
        self._threading.setprofile(self._hook)
        sys.setprofile(self._hook)

    def _watch_hooks(self, event, arguments):
        if event == "sys.settrace" or event == "sys.setprofile":
            caller = sys._getframe(1).f_code
            # Not set by this class, nor for a thread that begins with our hook.
            if caller.co_filename != __file__ and caller.co_name != "_bootstrap_inner":
                self._touched = "the program used %s" % event

    def session_begins(self):
        if sys.gettrace() is not None or sys.getprofile() is not self._hook:
            return
        self._tracer = self._on_call
        self._threading.settrace(self._tracer)
        sys.settrace(self._tracer)
        self._threading.setprofile(None)
        sys.setprofile(None)

    def _give_up_trace(self):
        self._tracer = None
        # The trace function of somebody else stays in place.
        self._threading.setprofile(self._hook)
        sys.setprofile(self._hook)

    def _callback(self):
        number_of = self._numbers.get
        # Code outside the project, for a quick check. The objects are kept, since the identity
        # of a dead one may be reused.
        skipped = {}

        def call(frame, event, argument):
            number = number_of(identity(frame.f_code))
            if number:
                if number not in self._ran:
                    self._ran.add(number)
                    if self._through is not None:
                        self._through(number)
            elif number is None:
                code = frame.f_code
                if self._first_sight(code):
                    call(frame, event, argument)
                else:
                    self._numbers[identity(code)] = 0
                    skipped[identity(code)] = code

        def call_or_not(frame, event, argument):
            if event == "call":
                call(frame, event, argument)

        self._on_call = call
        return call_or_not

    def lost(self):
        held = self._hook if self._tracer is None else self._tracer
        present = sys.getprofile() if self._tracer is None else sys.gettrace()
        touched, self._touched = self._touched, None
        if self._agent.finished:
            return None
        if present == held:
            return touched
        if self._threading.current_thread() is not self._threading.main_thread():
            return None
        if self._tracer is None:
            if present is None:
                sys.setprofile(self._hook)
            return "the program replaced the profile function"
        if present is None:
            sys.settrace(self._tracer)
        else:
            self._give_up_trace()
        return "the program replaced the trace function"


class Native:
    """The native helper: a frame-evaluation hook or `sys.monitoring`."""

    def __init__(self, agent, native):
        self._agent = agent
        self.native = native
        self._shift = native.SHIFT
        self._foreign = set()
        self._fresh = []
        # Name of a code object's file -> its path.
        self._files = {}
        self._through = False
        self.name = "native"
        self.audit = native.audit
        self.lost = native.lost
        self.between = native.between

    def session_begins(self):
        """Nothing to do."""

    def start(self):
        paths = self._agent.paths
        if self.name == "native":
            self.name = self.native.start(*paths.code_prefixes())

    def swap(self):
        ran = self.native.swap()
        if not ran:
            return ran
        self._learn()
        shift, foreign = self._shift, self._foreign
        if foreign:
            return [shift + number for number in ran if number not in foreign]
        return [shift + number for number in ran]

    def swap_text(self):
        while True:
            text = self.native.swap_text()
            if text is not None:
                return text
            self._learn()

    def _learn(self):
        files = self._files
        for number, name, line, function in self.native.definitions():
            path = files.get(name)
            if path is None:
                path = self._agent.paths.code_file(name)
                # A relative name may later belong to another file.
                if name[:1] == "/":
                    files[name] = path
            if path is None:
                self._foreign.add(number)
                self.native.ignore(number)
            else:
                self._fresh.append((self._shift + number, path, line, function))

    def definitions(self):
        fresh, self._fresh = self._fresh, []
        return fresh

    def write_through(self, agent):
        self._through = True
        self.scope_changed(agent.top)

    def scope_changed(self, scope):
        if self._through:
            self.native.write_through(self._agent.trace.descriptor(), scope.number)


def choose(agent):
    """The best collector that works here."""
    wanted = os.environ.get("TAMIS_COLLECTOR") or agent.hidden_environment.get("TAMIS_COLLECTOR")
    if wanted != "pure":
        native = load_native(agent)
        if native is not None:
            return native
    if hasattr(sys, "monitoring"):
        return Monitoring(agent)
    return Profile(agent)


def native_module(boot):
    """The module of the native helper below `boot`; `None` if there is none. It must be loaded once
    only."""
    path = os.path.join(boot, "_tamis_native.so")
    if not os.path.exists(path):
        return None
    from importlib.machinery import ExtensionFileLoader, ModuleSpec

    loader = ExtensionFileLoader("_tamis_native", path)
    module = loader.create_module(ModuleSpec("_tamis_native", loader, origin=path))
    loader.exec_module(module)
    return module


def load_native(agent):
    """The native helper beside this package, or `None`."""
    try:
        module = native_module(agent.boot)
        if module is None:
            return None
        native = Native(agent, module)
        native.start()
    except Exception as error:
        agent_module.complain("no native helper: %r" % (error,))
        return None
    return native
