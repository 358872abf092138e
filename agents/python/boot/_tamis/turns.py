"""In which turns of a record something ran that a test has the code of: its fixtures were set up,
caches filled, modules imported, or an earlier test changed what it gets.

The units of a part name what that is, and the record tells by name what ran in which turn.
"""

from .names import name_hash


class Turns:
    """The places in the order of a record, by what ran there: bits of a number."""

    def __init__(self, plan, order, made):
        self._plan = plan
        self._order = order
        # Test -> the hashes of the names of what was made in its turn.
        self._made = made
        # Turns by hash of a name, and by set.
        self._by_hash = None
        self._by_set = {}

    def before(self, part, place):
        """The turns before that at `place` in which something of `part` ran, as bits."""
        if self._by_hash is None:
            self._by_hash = self._turns_of_hashes()
            self._plan.needing.learn(self._by_hash)
        turns = 0
        for number in part["sets"]:
            turns |= self._of_set(number)
        return turns & ((1 << place) - 1)

    def _of_set(self, number):
        turns = self._by_set.get(number)
        if turns is None:
            turns = 0
            for one in self._plan.needing.of(number).intersection(self._by_hash):
                turns |= self._by_hash[one]
            self._by_set[number] = turns
        return turns

    def _turns_of_hashes(self):
        found = {name_hash("test " + test): 1 << place for test, place in self._order.items()}
        for test, hashes in self._made.items():
            for one in hashes:
                found[one] = found.get(one, 0) | 1 << self._order[test]
        return found


def hashes_told(text):
    """What a record tells of what was made or changed in a turn; `None` if that cannot be read."""
    made = frozenset(text.split(",") if text else ())
    if text is None or any(len(one.rstrip("+")) != 8 for one in made):
        return None
    return made


def hashes_of(made):
    """The hashes of the names of what a record says was made or changed in a turn."""
    return frozenset(int(one.rstrip("+"), 16) for one in made)
