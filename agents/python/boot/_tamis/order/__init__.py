"""Runs tests in the orders that tamis asks for.

The variable TAMIS_ORDER, together with `-p _tamis.order` in PYTEST_ADDOPTS, brings this plug-in
into the first pytest that starts. It collects as always. Then, in place of pytest's own loop
over the tests, it asks tamis over a socket which tests to run. Everything else (fixtures,
hooks, capturing) is pytest's own.

PYTEST_DONT_REWRITE
"""

import json
import os
import socket

import pytest

from .. import workers

VARIABLE = "TAMIS_ORDER"


def _claim():
    """The words of tamis for this process. The environment becomes what it would be without
    tamis, so neither tests nor the processes that they start see a difference."""
    words = os.environ.pop(VARIABLE, None)
    if words is None:
        words = _hidden_words()
    if words is None:
        return None
    words = json.loads(words)
    for name, value in words["restore"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return words


def _hidden_words():
    """The agent, where it runs, has hidden them from the tests."""
    agent = _agent()
    return None if agent is None else agent.hidden_environment.pop(VARIABLE, None)


def _agent():
    """The agent, if this process has one: then tamis asks who reads and writes what."""
    from .. import agent

    return agent.current


_words = _claim()


def pytest_addoption(parser, pluginmanager):
    """The first hook of all. Without the words of tamis this plug-in does nothing."""
    global _words
    if _words is not None:
        pluginmanager.register(Session(_words), "_tamis.order.session")
        _words = None


class Session:
    """The one session that tamis gives orders to."""

    def __init__(self, words):
        from . import chance

        self.words = words
        self.chance = chance.states()
        self.agent = _agent()
        if self.agent is not None:
            # They prove nothing here, and take time.
            self.agent.values = self.agent.left = None
        self.measured = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        # Measuring coverage takes time, and would write over the last results.
        _switch(early_config.known_args_namespace, "no_cov", True)
        if self.words.get("measure"):
            from ..minimise.coverage_of_run import Measured

            self.measured = Measured(self.words["measure"])

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        workers.switch_off(config.option)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config):
        # An order runs to its end, whatever fails in it.
        _switch(config.option, "maxfail", 0)
        _switch(config.option, "collectonly", False)
        _switch(config.option, "usepdb", False)
        # Nobody wants reports of these runs in place of the last real ones.
        for name in ("xmlpath", "resultlog", "htmlpath", "json_report_file", "report_log"):
            _switch(config.option, name, None)
        # Nobody reads the text of failures, and making it takes long.
        _switch(config.option, "tbstyle", "line")
        _switch(config.option, "showlocals", False)
        # The numbered folders of pytest would pile up.
        if getattr(config.option, "basetemp", None) is None:
            _switch(config.option, "basetemp", os.path.join(self.words["scratch"], "tmp"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        from . import server

        if self.agent is not None:
            from .outside import Outside

            self.agent.outside = Outside(self.agent)
            self.agent.outside.begin()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
            channel.connect(self.words["socket"])
            asked = server.Server(channel, session, self.words, self.chance, self.measured)
            asked.serve()
        return True


def _switch(options, name, value):
    if hasattr(options, name):
        setattr(options, name, value)
