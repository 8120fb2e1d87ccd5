import pytest
from shop.prices import discount, total


@pytest.mark.money
@pytest.mark.parametrize(("prices", "sum_"), [([], 0), ([1], 1), ([1, 2], 3)])
def test_total(prices, sum_):
    assert total(prices) == sum_


class TestDiscount:
    def test_member(self):
        assert discount(200, member=True) == 190

    def test_stranger(self):
        assert discount(200, member=False) == 200


@pytest.mark.skip(reason="not today")
def test_later():
    raise AssertionError


@pytest.mark.xfail(reason="not yet")
def test_not_yet():
    assert total([1]) == 2
