"""Scopes: they own observations, and need other scopes."""


class Scope:
    """One scope of the trace.

    `units` and `edges` are all that it has. `fresh_units` and `fresh_edges` are not in the
    trace yet; `dirty` is the agent's list of scopes that have any. `imports` holds the import
    statements that ran since the last resolution, `taken` the names of modules that other code
    asked for, `variables` the environment variables that were read, `directories` the paths
    (as given) that turned out to be directories.
    """

    __slots__ = (
        "number",
        "kind",
        "name",
        "extra",
        "units",
        "edges",
        "fresh_units",
        "fresh_edges",
        "imports",
        "taken",
        "variables",
        "directories",
        "changed",
        "_dirty",
    )

    def __init__(self, number, kind, name, extra, dirty):
        self.number = number
        self.kind = kind
        self.name = name
        self.extra = extra
        self.units = set()
        self.edges = set()
        self.fresh_units = []
        self.fresh_edges = []
        self.imports = set()
        self.taken = set()
        self.variables = set()
        self.directories = set()
        self.changed = False
        self._dirty = dirty

    def add(self, unit):
        """Whether `unit` is new to the scope."""
        if unit in self.units:
            return False
        self.units.add(unit)
        self.fresh_units.append(unit)
        self._change()
        return True

    def add_all(self, units):
        known = self.units
        fresh = [unit for unit in units if unit not in known] if known else list(units)
        if fresh:
            known.update(fresh)
            self.fresh_units += fresh
            self._change()

    def need(self, scope):
        """An edge to another scope."""
        number = scope.number
        if number != self.number and number not in self.edges:
            self.edges.add(number)
            self.fresh_edges.append(number)
            self._change()

    def need_all(self, scopes):
        """Edges to other scopes."""
        self.need_numbers({scope.number for scope in scopes})

    def need_numbers(self, numbers):
        """Edges to the scopes with these numbers."""
        fresh = numbers - self.edges - {self.number}
        if fresh:
            self.edges |= fresh
            self.fresh_edges += fresh
            self._change()

    def _change(self):
        if not self.changed:
            self.changed = True
            self._dirty.append(self)

    def take(self):
        """`(units, edges)` that are not in the trace yet."""
        units, self.fresh_units = self.fresh_units, []
        edges, self.fresh_edges = self.fresh_edges, []
        self.changed = False
        return units, edges


class Token:
    """One entry of the stack of current scopes."""

    __slots__ = ("scope",)

    def __init__(self, scope):
        self.scope = scope
