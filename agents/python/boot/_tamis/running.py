"""A test the turn of which has begun.

PYTEST_DONT_REWRITE
"""


class Running:
    """A test that runs."""

    def __init__(self, item, is_same, place):
        self.item = item
        self.test = item.nodeid
        self.is_same = is_same
        self.place = place
        # Whether what it meets matters, and what shows that if it can be anything else.
        self.is_looked_at = True
        self.met = None
        # Cell -> value, and absolute path.
        self.left = {}
        self.files = {}
