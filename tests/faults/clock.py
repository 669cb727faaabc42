"""A relay whose wall clock jumps a day to or fro at every look. Goes before its command.

`datetime` reads the clock by itself; what it is read for, a test of the sources tells.
"""

import itertools
import runpy
import sys
import time

DAY_S = 86_400.0
_true, _jumps = time.time, itertools.cycle([DAY_S, -DAY_S, 40 * DAY_S, 0.0])
time.time = lambda: _true() + next(_jumps)
time.time_ns = lambda: int(time.time() * 1e9)
sys.argv = ["voicebox", *sys.argv[sys.argv.index("relay") + 1 :]]
runpy.run_module("relay", run_name="__main__")
