"""Convolutions of 3 by 3 taps and stride 1 on one thread by Winograd's minimal filtering: 36 products for 16 outputs, not 144.

    after [ (filter w) * (before x) ]        for every tile of `OUTPUTS` by `OUTPUTS` outputs

Tiles are numbered row by row, one more to a row than there are: that last one holds what its left neighbour reads beyond its own
columns. As many tiles in a row as a panel of a product has columns are computed together, one product of matrices for each of the
36 places of a transformed tile:

    for as many filters as the scratch memory has room for:      transform them
      for each image and panel of tiles, some channels at a time:   transform the image, 36 products
        transform the sums to outputs

All rows lie together: x and y have stride 1 in the last dimension, and a filter's weights are in order. Images and filters of
16-bit floats become f32 as they are transformed; sums and outputs are f32. Source of the algorithm: see `winograd_matrices`; the
padded row of tiles makes every load and store one of neighbours.
"""

from __future__ import annotations

from hotdesk.kernels.blocks import SWEEP_ARGUMENTS, kinds, sweep_name
from hotdesk.kernels.halves import summed_in
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import Tile
from hotdesk.kernels.text import Index
from hotdesk.kernels.vectors import VectorBuilder
from hotdesk.kernels.winograd_matrices import OUTPUTS, SIZE
from hotdesk.kernels.winograd_transforms import (
    AFTER_ARGUMENTS,
    BEFORE_ARGUMENTS,
    FILTER_ARGUMENTS,
    PANEL_BYTES,
    after_name,
    before_name,
    filter_name,
    tiles_in_panel,
    transform_functions,
)

PLACES = SIZE * SIZE

CHANNELS = 64
"""Transformed at a time, at most; sums are read and written again for the next ones."""

LEAST_FILTERS, GOOD_FILTERS = 16, 32
"""Transformed at a time: fewer make more of the image's transforms than they save, more gain little."""

_VECTOR_BYTES = 64  # the longest of any machine: memory does not depend on which one a program is compiled for

WINOGRAD_ARGUMENTS = (
    *("first", "last", "tile", "stop", "filters", "channels"),
    *("x", "x_n", "x_c", "x_h", "height", "length", "top", "left"),
    *("w", "w_f"),
    *("y", "y_n", "y_c", "y_h", "rows", "columns"),
    *("scratch", "room", "add"),
)
"""Arguments: which images, tiles (numbered as above) and how many filters; channels, at least one; of x, w and y a pointer and
strides in elements, the image's height and length and where its first tap reads, rows and columns of an output; scratch memory
and how many elements it has, at least `room_needed` for one filter."""

POINTERS = ("x", "w", "y", "scratch", "a", "b", "c", "u", "v", "m")


def winograd_name(image: str) -> str:
    """The function of such a convolution on one thread, for images and filters of an element type."""
    return f"hotdesk_winograd_alone_{image}"


def room_needed(filters: int, channels: int, panel: int, lanes: int) -> int:
    """Elements of scratch memory for so many filters at a time, panels of so many tiles and lines of so many elements."""
    return PLACES * (filters * (channels + panel) + min(channels, CHANNELS) * panel + 3 * 2 * lanes)


def good_room(filters: int, channels: int, element_bytes: int) -> int:
    """Elements of scratch memory that are enough for one thread, on any machine."""
    panel, lanes = PANEL_BYTES // element_bytes, _VECTOR_BYTES // element_bytes
    return room_needed(min(filters, GOOD_FILTERS), channels, panel, lanes)


def winograd_functions(machine: Machine, image: str) -> str:
    """The text of the function and of those it calls, but for the sweep over the tiles of a panel."""
    element = summed_in(image)
    return transform_functions(machine, image, element) + _alone(machine, image, element)


def _alone(machine: Machine, image: str, element: str) -> str:
    f = VectorBuilder(machine, element)
    a, pointers = f.arguments(WINOGRAD_ARGUMENTS, {"x": image, "w": image, "y": element, "scratch": element})
    panel, narrow = tiles_in_panel(machine, element), Tile.of(machine).narrow * f.lanes

    def step(size: Index) -> Index:
        """Elements from one place's matrix to the next one's: an odd number of lines, so that no two fall on the same sets."""
        return f.mul(f.add(f.mul(f.floordiv(f.ceildiv(size, f.lanes), 2), 2), 1), f.lanes)

    fixed = f.mul(f.add(f.mul(f.minimum(a["channels"], CHANNELS), panel), 3 * 2 * f.lanes), PLACES)
    fitting = f.floordiv(f.sub(a["room"], fixed), f.mul(f.add(a["channels"], panel), PLACES))
    block = f.ceildiv(a["filters"], f.maximum(1, f.ceildiv(a["filters"], f.maximum(1, fitting))))
    block = f.maximum(1, block)
    pitch = f.add(f.ceildiv(a["columns"], OUTPUTS), 1)
    u_step = step(f.mul(block, a["channels"]))
    v_step = step(f.mul(f.minimum(a["channels"], CHANNELS), panel))
    m_step = step(f.mul(block, panel))
    v_at = f.mul(u_step, PLACES)
    m_at = f.add(v_at, f.mul(v_step, PLACES))
    scratch = pointers["scratch"].pointer
    given: dict[str, Index] = {**a, "pitch": pitch, "u_step": u_step, "v_step": v_step, "m_step": m_step}
    given |= {"x": pointers["x"].pointer, "w": pointers["w"].pointer, "y": pointers["y"].pointer}
    given |= {"u": scratch, "v": scratch, "m": scratch, "v_at": v_at, "m_at": m_at}

    kinds_of = {name: f"memref<{image if name in ('x', 'w') else element}>" for name in POINTERS}

    def call(function: str, names: tuple[str, ...], values: dict[str, Index]) -> None:
        types = [kinds_of.get(name, "i1" if name == "add" else "index") for name in names]
        f.call_local(function, [(values[name], kind) for name, kind in zip(names, types, strict=True)])

    def products(filters: Index, channels: Index, first: Index, columns: Index) -> None:
        """The product at every place of a tile, for some channels from the first on."""
        with f.loop(0, PLACES) as place:
            values: dict[str, Index] = {"m": filters, "k": channels, "a": scratch, "b": scratch, "c": scratch}
            values |= {"a_at": f.add(f.mul(place, u_step), first), "a_row": a["channels"]}
            values |= {"b_at": f.add(v_at, f.mul(place, v_step)), "b_row": panel}
            values |= {"c_at": f.add(m_at, f.mul(place, m_step)), "c_row": panel, "c_column": 1}
            values |= {"columns": columns, "add": str(f.at_least(first, 1))}
            each = kinds(SWEEP_ARGUMENTS, element)
            f.call_local(
                sweep_name(element), [(values[name], kind) for name, kind in zip(SWEEP_ARGUMENTS, each, strict=True)]
            )

    with f.steps(0, a["filters"], block) as filter_:
        filters = f.minimum(block, f.sub(a["filters"], filter_))
        here = {**given, "filters": filters, "w_at": f.mul(filter_, a["w_f"])}
        call(filter_name(image), FILTER_ARGUMENTS, here)
        with f.loop(a["first"], a["last"]) as number, f.loop(a["tile"], a["stop"], panel) as tile:
            count = f.minimum(panel, f.sub(a["stop"], tile))
            at = {**here, "tile": tile, "count": count}
            columns = f.select(f.at_least(narrow, count), narrow, panel)
            with f.loop(0, a["channels"], CHANNELS) as channel:
                channels = f.minimum(CHANNELS, f.sub(a["channels"], channel))
                x_at = f.add(f.mul(number, a["x_n"]), f.mul(channel, a["x_c"]))
                call(before_name(image), BEFORE_ARGUMENTS, {**at, "channels": channels, "x_at": x_at})
                products(filters, channels, channel, columns)
            y_at = f.add(f.mul(number, a["y_n"]), f.mul(filter_, a["y_c"]))
            call(after_name(image), AFTER_ARGUMENTS, {**at, "y_at": y_at})
    return f.function(winograd_name(image))
