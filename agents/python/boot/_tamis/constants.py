"""The sources that hypothesis reads.

From 6.131 on it collects the constants of all modules of the project, to try them as values. Newer
versions do this once, while tests are collected. Then every test would depend on every file, but
what comes of it is for those that ask hypothesis for examples. So this counts as an import that
only these need.

PYTEST_DONT_REWRITE
"""

import sys
from _thread import get_ident

from .agent import guard

_MODULE = "hypothesis.internal.conjecture.providers"


def install(agent):
    thread = get_ident()

    def watch(module):
        plain = getattr(module, "_get_local_constants", None)
        if plain is None:
            return
        # Apart from the import of that module, which pytest's hooks need for every test.
        scope = agent.named_scope("import", module.__file__ + ":constants", _MODULE)

        def _get_local_constants():
            if agent.top.kind != "session":
                agent.top.need(scope)
            is_known = getattr(module, "_sys_modules_len", None) == len(sys.modules)
            if is_known or get_ident() != thread:
                return plain()
            token = agent.push(scope, False)
            try:
                return plain()
            finally:
                agent.pop(token)

        module._get_local_constants = _get_local_constants

    agent.after_import[_MODULE] = guard(watch)
