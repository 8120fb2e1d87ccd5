"""The tests mirror src/burnish; journeys/ holds whole stories through the public door."""

import pytest

pytest.register_assert_rewrite("tests.snapshots", "tests.support")
