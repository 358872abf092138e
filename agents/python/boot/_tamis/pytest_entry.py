"""Brings the agent into pytest, if this process turns out to run it."""

from .agent import guard


def install(agent):
    """Join the first pytest session of this process.

    The plug-in is registered by name, so that `-p _tamis.plugin` and `PYTEST_PLUGINS` find it.
    Sessions inside that session (pytester) are not watched.
    """

    @guard
    def watch_config(module):
        plain = module.get_config

        def get_config(*arguments, **options):
            config = plain(*arguments, **options)
            join(agent, config)
            return config

        module.get_config = get_config

    agent.after_import["_pytest.config"] = watch_config


@guard
def join(agent, config):
    """Watch the session of `config`, unless one is already watched."""
    if agent.role == "child" or agent.broken or agent.session is not None:
        return
    from . import plugin, selection

    if config.pluginmanager.get_plugin("_tamis.plugin") in (None, plugin):
        session = plugin.Session(agent, config)
        agent.session = session
        config.pluginmanager.register(session, "_tamis.session")
        exclusion = agent.hidden_environment.get("TAMIS_EXCLUDE")
        if exclusion:
            session.selection = selection.watch(config, exclusion, agent.start_environment)
        if config.pluginmanager.get_plugin("_tamis.plugin") is None:
            config.pluginmanager.register(plugin, "_tamis.plugin")
