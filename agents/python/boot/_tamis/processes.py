"""Processes that the run starts or forks into."""

import os
import sys

from .agent import guard
from .scopes import Token


def install(agent):
    pass
