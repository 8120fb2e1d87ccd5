import unittest

from shop.stock import Stock


class StockCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.start = {"apple": 3}

    def setUp(self):
        self.stock = Stock(self.start)

    def test_take(self):
        self.assertEqual(self.stock.take("apple"), 2)  # noqa: PT009

    def test_unknown(self):
        with self.assertRaises(KeyError):  # noqa: PT027
            self.stock.take("plum")


def test_file(things):
    assert Stock(things).take("pear") == 0
