"""Tests that depend on one another, where pytest-xdist spreads tests over processes.

PYTEST_DONT_REWRITE
"""


def switch_off(options):
    """Run all tests in one process, wherever workers were asked for: on the command line, in
    a file, in PYTEST_ADDOPTS."""
    for name, value in (("numprocesses", None), ("dist", "no"), ("tx", [])):
        if hasattr(options, name):
            setattr(options, name, value)


def has_project_hook(agent, config, name):
    """Whether the project implements this hook of pytest or of a plug-in."""
    hook = getattr(config.hook, name, None)
    found = hook.get_hookimpls() if hook is not None else ()
    codes = (getattr(one.function, "__code__", None) for one in found)
    files = (code.co_filename for code in codes if code is not None)
    return any(agent.paths.code_file(file) is not None for file in files)


def _scope_of(mode):
    """What xdist keeps on one worker in this mode, by the id of a test; `None` if it does not
    divide the tests."""
    return {
        "load": lambda test: test,
        "worksteal": lambda test: test,
        "loadscope": lambda test: test.rsplit("::", 1)[0],
        "loadfile": lambda test: test.split("::", 1)[0],
        "loadgroup": _group,
    }.get(mode)


def _group(test):
    """xdist writes the group behind the id."""
    at = test.rfind("@")
    return test[at + 1 :] if at > test.rfind("]") else test


def scheduler(config, log, together):
    """One that gives each set of tests of `together` to one worker, in their order, and else
    keeps together what the mode of xdist does; `None` where xdist's own will do."""
    mode = config.getoption("dist", "no")
    scope_of = _scope_of(mode)
    if not together or scope_of is None:
        return None
    from xdist.scheduler import LoadScopeScheduling

    leaders = {test: group[0] for group in together for test in group}

    class Together(LoadScopeScheduling):
        def schedule(self):
            if self.collection is None:
                # By set, by scope: scopes that a set ties are one.
                self._merge(next(iter(self.registered_collections.values()), ()))
            super().schedule()

        def _merge(self, tests):
            heads = {}

            def head(name):
                while name in heads:
                    name = heads[name]
                return name

            for test in tests:
                leader = leaders.get(_plain(test, mode))
                if leader is not None:
                    a, b = head(("set", leader)), head(("scope", scope_of(test)))
                    if a != b:
                        heads[b] = a
            self.scopes = {test: head(("scope", scope_of(test))) for test in tests}

        def _split_scope(self, nodeid):
            return str(self.scopes[nodeid])

    if mode in ("load", "worksteal") and hasattr(config.option, "loadscopereorder"):
        # The suite's own order, as these modes keep it.
        config.option.loadscopereorder = False
    return Together(config, log)


def _plain(test, mode):
    """The id without the group that xdist wrote behind it."""
    if mode == "loadgroup" and test.rfind("@") > test.rfind("]"):
        return test[: test.rfind("@")]
    return test
