"""One memory that holds bodies, and the lowest place in it that is clear of all of them for another one.

A rectangle of the newcomer and one that is there, live at a common step, exclude an open interval of offsets: those at which
their bytes meet. The lowest aligned offset outside all of these is the place. Each pair of rectangles costs a few
nanoseconds of vectorised work.
"""

from __future__ import annotations

import numpy as np

from hotdesk.planning.bodies import Body


class Rack:
    """Memory that holds up to `room` rectangles; offsets in bytes."""

    __slots__ = ("_columns", "_count")

    def __init__(self, room: int) -> None:
        self._columns = np.empty((4, room), dtype=np.int64)  # lower, upper, bottom, top
        self._count = 0

    def lowest(self, body: Body) -> int:
        """The lowest offset at which `body` may lie and meets nothing that is there."""
        lower, upper, bottom, top = self._columns[:, : self._count]
        barred_above = [np.zeros(0, dtype=np.int64)]
        barred_below = [np.zeros(0, dtype=np.int64)]
        for r in body.rectangles:
            meeting = np.flatnonzero((lower < r.upper) & (upper > r.lower))
            barred_above.append(bottom[meeting] - r.top)
            barred_below.append(top[meeting] - r.bottom)
        above = np.concatenate(barred_above)
        order = np.argsort(above, kind="stable")
        above = above[order]
        places = np.full(len(order) + 1, body.phase, dtype=np.int64)
        np.maximum.accumulate(np.concatenate(barred_below)[order], out=places[1:])
        np.maximum(places, body.phase, out=places)
        places += (body.phase - places) % body.alignment
        clear = np.flatnonzero(places[:-1] <= above)
        return int(places[clear[0]] if clear.size else places[-1])

    def insert(self, body: Body, offset: int) -> None:
        """Put `body` at `offset`; the caller has made sure that nothing is there."""
        for r in body.rectangles:
            self._columns[:, self._count] = (r.lower, r.upper, offset + r.bottom, offset + r.top)
            self._count += 1
