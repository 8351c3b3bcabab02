"""Locks of several files: nobody waits for ever, whatever the order in which they are named."""

import contextlib
import fcntl
import os
import threading

import pytest
from dnsrig.cli import file_lock
from dnsrig.cli.file_lock import alone_with

WITHIN_S = 30


@pytest.fixture
def files(tmp_path):
    """Two files."""
    both = [tmp_path / "a", tmp_path / "b"]
    for file in both:
        file.touch()
    return both


def is_free(file):
    """Whether nobody has the file."""
    with file.open() as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.mark.parametrize("is_replaced", [False, True])
def test_who_waits_holds_nothing(files, monkeypatch, is_replaced):
    """Else two that name the same files in another order would wait for each other."""
    waits, works, ends = threading.Event(), threading.Event(), threading.Event()
    monkeypatch.setattr(file_lock.click, "echo", lambda *_args, **_options: waits.set())

    def work():
        with alone_with(files, "another"):
            works.set()
            ends.wait(WITHIN_S)

    with files[1].open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        worker = threading.Thread(target=work)
        worker.start()
        assert waits.wait(WITHIN_S)
        assert is_free(files[0]) and not works.is_set()
        if is_replaced:
            new = files[1].with_name("new")
            new.touch()
            new.replace(files[1])
    assert works.wait(WITHIN_S)
    assert not is_free(files[0]) and not is_free(files[1])
    ends.set()
    worker.join(WITHIN_S)
    assert is_free(files[0]) and is_free(files[1])


def test_many_in_any_order_come_one_after_another(files, monkeypatch):
    monkeypatch.setattr(file_lock.click, "echo", lambda *_args, **_options: None)
    at_work, most = [], []

    def work(order):
        for _ in range(50):
            with alone_with(order, "another"):
                at_work.append(order)
                most.append(len(at_work))
                # What a signing leaves is a new file.
                new = order[0].with_name(f"new{threading.get_ident()}")
                new.touch()
                new.replace(order[0])
                at_work.remove(order)

    workers = [threading.Thread(target=work, args=(order,), daemon=True) for order in (files, files[::-1])]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(WITHIN_S)
        assert not worker.is_alive()
    assert len(most) == 100 and max(most) == 1


def test_one_file_by_several_names(files):
    link = files[0].with_name("link")
    link.symlink_to(files[0])
    hard = files[0].with_name("hard")
    os.link(files[0], hard)
    with alone_with([files[0], link, files[0], hard], "another"):
        assert not is_free(files[0])


def test_what_is_no_file_is_not_locked(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with alone_with([fifo, tmp_path, tmp_path / "none"], "another"):
        pass


def test_an_error_ends_it(files):
    with contextlib.suppress(ZeroDivisionError), alone_with(files, "another"):
        raise ZeroDivisionError
    assert is_free(files[0]) and is_free(files[1])
