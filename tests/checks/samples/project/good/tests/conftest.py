from pathlib import Path

import pytest
from shop.stock import load


@pytest.fixture(scope="session")
def things():
    return load(Path(__file__).parent / "data" / "stock.json")
