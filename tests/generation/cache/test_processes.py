"""Telling a process that is gone from one that runs."""

import subprocess
import sys
from dataclasses import replace

from generation.cache.processes import is_dead, this_process


def test_this_process_lives():
    assert not is_dead(this_process())


def test_a_later_process_of_the_same_number_is_another():
    assert is_dead(replace(this_process(), born="another boot 1"))


def test_a_process_that_ended_is_dead():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert is_dead(replace(this_process(), pid=child.pid))


def test_of_another_machine_nobody_knows():
    assert not is_dead(replace(this_process(), host="elsewhere", pid=2**22 + 1))
