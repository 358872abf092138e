"""How a test ended, in one word, out of pytest's reports of its phases.

PYTEST_DONT_REWRITE
"""


class Reports:
    """The reports of one test."""

    def __init__(self):
        self._words = []
        self._failed_before = False

    def reported(self, report):
        outcome = report.outcome
        if outcome == "rerun":
            self._failed_before = True
            self._words = []
        elif outcome == "failed":
            self._words.append("failed" if report.when == "call" else "error")
        elif outcome == "skipped":
            self._words.append("xfailed" if hasattr(report, "wasxfail") else "skipped")
        elif report.when == "call":
            self._words.append("xpassed" if hasattr(report, "wasxfail") else "passed")

    def outcome(self):
        """The worst report decides."""
        if self._words == ["passed"] and not self._failed_before:
            return "passed"
        for word in ("failed", "error", "xpassed", "xfailed", "skipped", "passed"):
            if word in self._words and not (word == "skipped" and "passed" in self._words):
                if self._failed_before and word == "passed":
                    return "flaky"
                return word
        return "error"
