"""What tests of verification share in a whole test run."""

import pytest
from trees import Trees


@pytest.fixture(scope="session")
def trees(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Trees:
    """Trees of the rig that are made but once."""
    base = tmp_path_factory.getbasetemp()
    # Processes of pytest-xdist have a folder each below a common one.
    return Trees((base if worker_id == "master" else base.parent) / "trees")
