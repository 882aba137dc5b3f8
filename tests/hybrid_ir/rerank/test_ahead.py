import threading
from itertools import count

import pytest

from hybrid_ir.rerank.ahead import ahead


def test_results_come_in_order():
    assert list(ahead(range(10), lambda n: n * n)) == [n * n for n in range(10)]
    assert list(ahead([], str)) == []


def test_items_are_pulled_here_and_worked_on_elsewhere():
    here = threading.get_ident()
    pulled = []

    def items():
        for number in count():
            pulled.append(threading.get_ident())
            yield number

    results = ahead(items(), lambda _: threading.get_ident(), most=2)
    assert next(results) != here
    assert pulled == [here] * 3  # the one that was asked for, and two ahead
    assert next(results) != here
    assert len(pulled) == 4
    results.close()


def test_a_fault_of_the_work_reaches_the_caller():
    results = ahead([1, 0, 2], lambda n: 1 / n)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
