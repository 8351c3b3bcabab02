"""Waiting for futures."""

from concurrent.futures import Future

from dnsrig.endings import Endings

PATIENCE_S = 30.0


def test_each_is_told_once_in_order_of_their_ends() -> None:
    one, other = Future[int](), Future[int]()
    endings = Endings([one])
    assert endings.next(0.0) is None
    other.set_result(2)
    endings.add(other)
    one.set_result(1)
    assert (endings.next(PATIENCE_S), endings.next(PATIENCE_S), endings.next(0.0)) == (other, one, None)
