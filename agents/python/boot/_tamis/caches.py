"""Functions whose results are cached: who uses a value needs its makers."""


def install(agent):
    pass
