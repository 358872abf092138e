import pytest

import traces


@pytest.fixture
def project(tmp_path):
    return traces.Project(tmp_path / "project")
