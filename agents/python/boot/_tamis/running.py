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
        # What shows what it meets, if that can be anything else than in the record.
        self.met = None
        # Cell -> value, and absolute path.
        self.left = {}
        self.files = {}
