"""Convolutions on one thread: products of the filters with the unfolded image, of which one panel at a time is packed.

    y[filter, pixel] (+)= w[filter, (channel, taps)] unfolded[(channel, taps), pixel]    for some images and groups

The loops are those of a product (`product`): a block of channels and taps that lets a panel stay in the nearest cache, as many
filters as stay in the next ones, panel by panel of pixels. The unfolded image is never in memory: a panel of it is packed on
the stack just before its use (`convolution_packing`). Weights are read where they lie, those of a filter together; 16-bit floats
are summed in f32: their weights are converted, a block at a time, in scratch memory, as the image is while it is packed.

After Chetlur et al., *cuDNN: Efficient Primitives for Deep Learning*, 2014, whose convolutions unfold while they load a tile.
"""

from __future__ import annotations

from hotdesk.kernels.blocks import SWEEP_ARGUMENTS, depth, kinds, sweep_name
from hotdesk.kernels.convolution_packing import UNFOLD_ARGUMENTS, WINDOW, panels_at_once, unfold_functions, unfold_name
from hotdesk.kernels.halves import convert_function, convert_kinds, convert_name, summed_in
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import Tile
from hotdesk.kernels.scratch import CONVERTED, DECLARED
from hotdesk.kernels.text import Index
from hotdesk.kernels.vectors import VectorBuilder

_PANELS = 4  # packed at a time: neighbouring pixels lie in the same lines of the cache
_PADDING = 16  # elements between rows of converted weights, which else might share a set of the nearest cache

CONVOLUTION_ARGUMENTS = (
    *("first", "last", "pixel", "stop", "filters"),
    *("groups", "group_filters", "channels", "rows", "columns", "width"),
    *("x", "x_n", "x_c", "x_h", "x_w", "height", "length"),
    *WINDOW,
    *("w", "w_f"),
    *("y", "y_n", "y_c", "y_w"),
    "add",
)
"""Arguments of a convolution.

What part of it is computed: which of the images' groups, numbered image by image, which pixels, how many filters of each group.
Then sizes: groups, filters and channels of one, rows and columns of the window, columns of the output. Of x, w and y a pointer
and strides in elements, of the image its height and length; the window's numbers are in the order of `WINDOW`.
"""


def convolution_name(image: str) -> str:
    """The function of a convolution on one thread, for images and filters of an element type."""
    return f"hotdesk_convolution_alone_{image}"


def convolution_functions(machine: Machine, image: str) -> str:
    """The text of the function of a convolution and of those it calls, but for the sweep over the tiles of a panel."""
    element = summed_in(image)
    parts = [f"func.func private @{sweep_name(element)}({', '.join(kinds(SWEEP_ARGUMENTS, element))})\n"]
    if image != element:
        parts += [DECLARED.format(element=element), convert_function(machine, image, widen=True)]
    parts += [unfold_functions(machine, image, element, Tile.of(machine).vectors), _alone(machine, image, element)]
    return "".join(parts)


def most_weights(machine: Machine, image: str) -> int:
    """How many weights a block of filters may have.

    Panels are packed anew for each block, which costs more than weights that come from the third cache: twice what the second one
    holds, less the panels. Weights that are converted take scratch memory: once what it holds, less these.
    """
    element = summed_in(image)
    panels = _PANELS * depth(machine) * Tile.of(machine).columns(machine, element)
    return (2 if image == element else 1) * machine.l2_bytes // machine.bytes_of(element) - panels


def _alone(machine: Machine, image: str, element: str) -> str:
    f = VectorBuilder(machine, element)
    a, pointers = f.arguments(CONVOLUTION_ARGUMENTS, {"x": image, "w": image, "y": element})
    tile, deepest = Tile.of(machine), depth(machine)
    wide = tile.columns(machine, element)
    panel = f.scratch(_PANELS * deepest * wide)
    taps = f.mul(a["rows"], a["columns"])
    # A block of taps in a row, of rows of taps, of channels: only the outermost that is more than one may be a part.
    across = f.maximum(1, f.minimum(a["columns"], deepest))
    down = f.select(f.equal(across, a["columns"]), f.minimum(a["rows"], f.floordiv(deepest, across)), 1)
    down = f.maximum(1, down)
    whole = f.both(f.equal(across, a["columns"]), f.equal(down, a["rows"]))
    most = f.select(whole, f.floordiv(deepest, f.mul(across, down)), 1)
    several = f.even(a["channels"], most)
    at_once = f.mul(panels_at_once(f, f.mul(down, across), _PANELS), wide)
    most_deep = f.mul(f.mul(several, down), across)
    fitting = f.floordiv(most_weights(machine, image), most_deep)
    height = f.even(a["filters"], f.mul(f.maximum(1, f.floordiv(fitting, tile.rows)), tile.rows))
    weights, weight_step = pointers["w"], a["w_f"]
    own = weights if image == element else f.scratch(tile.rows * (deepest + _PADDING))
    if image != element:
        weight_step = str(f.add(most_deep, _PADDING))
        weights = f.take_scratch(CONVERTED, f.mul(f.mul(height, weight_step), machine.bytes_of(element)), own)
        height = f.select(f.same_memory(weights, own), f.minimum(height, tile.rows), height)

    def converted(filters: Index, deep: Index, w_at: Index) -> Index:
        """Where a block of weights is that is read: where it lies, or converted."""
        if image == element:
            return w_at
        values = [filters, deep, pointers["w"].pointer, w_at, a["w_f"], 1, weights.pointer, 0, weight_step]
        f.call_local(convert_name(image, widen=True), list(zip(values, convert_kinds(image), strict=True)))
        return 0

    def sweep(depth: tuple[Index, Index], filters: Index, w_at: Index, y_at: Index, columns: Index, adds: str) -> None:
        """A panel, given how deep it is and where it begins, for some filters."""
        deep, first = depth
        values: dict[str, Index] = {
            "m": filters,
            "k": deep,
            "a_at": w_at,
            "a_row": weight_step,
            "b_at": first,
            "b_row": wide,
        }
        values |= {"a": weights.pointer, "b": panel.pointer, "c": pointers["y"].pointer}
        values |= {"c_at": y_at, "c_row": a["y_c"], "c_column": a["y_w"], "columns": columns, "add": adds}
        each = kinds(SWEEP_ARGUMENTS, element)
        f.call_local(
            sweep_name(element), [(values[name], type_) for name, type_ in zip(SWEEP_ARGUMENTS, each, strict=True)]
        )

    def block(x_at: Index, w_at: Index, y_at: Index, start: tuple[Index, Index, Index]) -> None:
        """All pixels and filters of a group, for the channels and taps from `start` on."""
        channel, row, column = start
        channels = f.minimum(several, f.sub(a["channels"], channel))
        rows = f.minimum(down, f.sub(a["rows"], row))
        columns = f.minimum(across, f.sub(a["columns"], column))
        begun = f.either(f.at_least(channel, 1), f.either(f.at_least(row, 1), f.at_least(column, 1)))
        adds = str(f.either(a["add"], begun))
        deep = f.mul(f.mul(channels, rows), columns)
        w_here = f.add(w_at, f.mul(channel, taps), f.mul(row, a["columns"]), column)
        values: dict[str, Index] = {**a, "channels": channels, "rows": rows, "columns": columns}
        values["x_at"] = f.add(x_at, f.mul(channel, a["x_c"]))
        values["top"] = f.add(a["top"], f.mul(row, a["dh"]))
        values["left"] = f.add(a["left"], f.mul(column, a["dw"]))
        with f.steps(0, a["filters"], height) as filter_:
            filters = f.minimum(height, f.sub(a["filters"], filter_))
            w_block = converted(filters, deep, f.add(w_here, f.mul(filter_, a["w_f"])))
            with f.steps(a["pixel"], a["stop"], at_once) as pixel:
                pixels = f.minimum(at_once, f.sub(a["stop"], pixel))
                here = {**values, "pixel": pixel, "pixels": pixels}
                here |= {"x": pointers["x"].pointer, "panel": panel.pointer}
                types = {"x": f"memref<{image}>", "panel": f"memref<{element}>"}
                f.call_local(unfold_name(image), [(here[n], types.get(n, "index")) for n in UNFOLD_ARGUMENTS])
                y_block = f.add(y_at, f.mul(filter_, a["y_c"]), f.mul(pixel, a["y_w"]))
                with f.loop(0, pixels, wide) as done:
                    first = f.mul(done, deep)  # a panel has as many elements for each of its pixels
                    y_panel = f.add(y_block, f.mul(done, a["y_w"]))
                    sweep((deep, first), filters, w_block, y_panel, f.minimum(wide, f.sub(pixels, done)), adds)

    def part(item: Index) -> tuple[Index, Index, Index]:
        """Where x, w and y of a group of an image begin."""
        image = f.floordiv(item, a["groups"])
        group = f.sub(item, f.mul(image, a["groups"]))
        filter_ = f.mul(group, a["group_filters"])
        x_at = f.add(f.mul(image, a["x_n"]), f.mul(f.mul(group, a["channels"]), a["x_c"]))
        return x_at, f.mul(filter_, a["w_f"]), f.add(f.mul(image, a["y_n"]), f.mul(filter_, a["y_c"]))

    def sums() -> None:
        with f.loop(a["first"], a["last"]) as item:
            x_at, w_at, y_at = part(item)
            with (
                f.steps(0, a["channels"], several) as channel,
                f.steps(0, a["rows"], down) as row,
                f.steps(0, a["columns"], across) as column,
            ):
                block(x_at, w_at, y_at, (channel, row, column))

    def clear() -> None:
        zero = f.constant("0.0", element)
        with f.loop(a["first"], a["last"]) as item:
            _, _, y_at = part(item)
            with f.loop(0, a["filters"]) as filter_, f.loop(a["pixel"], a["stop"]) as pixel:
                at = f.add(y_at, f.mul(filter_, a["y_c"]), f.mul(pixel, a["y_w"]))
                f.store(zero, pointers["y"], at)

    nothing = f.either(f.equal(a["filters"], 0), f.at_least(a["pixel"], a["stop"]))
    ways = (
        (nothing, lambda: None),
        (f.equal(f.mul(a["channels"], taps), 0), lambda: f.branch(a["add"], lambda: None, clear)),
    )
    f.first_of(ways, sums)
    if image != element:
        f.give_scratch(weights, own)
    return f.function(convolution_name(image))
