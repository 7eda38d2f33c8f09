"""Convolutions of 3 by 3 taps and stride 1 on one thread by Winograd's minimal filtering: 36 products for 16 outputs, not 144.

    after [ (filter w) * (before x) ]        for every tile of `OUTPUTS` by `OUTPUTS` outputs

Tiles are numbered row by row, one more to a row than there are: that last one holds what its left neighbour reads beyond its own
columns. As many tiles in a row as a panel of a product has columns are computed together, one product of matrices for each of the
36 places of a transformed tile:

    for some filters and channels:               transform the filters
      for each image and panel of tiles:           transform the image, 36 products, transform the sums, add them to the outputs

Outputs of 16-bit floats are rounded once: where channels are several times as many, this is done for some tiles of an image at a
time, whose outputs are kept in f32 until all channels are summed. So how much scratch memory that takes does not depend on the
convolution. It is that of products (`scratch`).

All rows lie together: x and y have stride 1 in the last dimension, and a filter's weights are in order. Images and filters of
16-bit floats become f32 as they are transformed. Source of the algorithm: see `winograd_matrices`; the padded
row of tiles makes every load and store one of neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping

from hotdesk.elements import summed_in
from hotdesk.kernels.blocks import SWEEP_ARGUMENTS, asked_ahead, kinds, sweep_name
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import Tile
from hotdesk.kernels.scratch import CONVERTED, DECLARED, PRODUCTS
from hotdesk.kernels.text import Index, Operand
from hotdesk.kernels.values import Values
from hotdesk.kernels.vectors import VectorBuilder
from hotdesk.kernels.winograd_matrices import OUTPUTS, SIZE, TAPS
from hotdesk.kernels.winograd_transforms import (
    AFTER_ARGUMENTS,
    BEFORE_ARGUMENTS,
    FILTER_ARGUMENTS,
    after_name,
    before_name,
    filter_name,
    tiles_in_panel,
    transform_functions,
)

PLACES = SIZE * SIZE

FILTERS, CHANNELS = 64, 64
"""Transformed at a time, at most: images again for each block of filters, sums for each block of channels."""

FEW_TILES, FEWER_FILTERS = 256, 32
"""Where there are fewer tiles than so many, fewer filters at a time: transforming these tiles twice takes next to no time, and
scratch memory is two thirds."""

FEW_FILTERS, FEW_CHANNELS = 12, 16
"""The same where there is no scratch memory but a little on the stack."""

WINOGRAD_ARGUMENTS = (
    *("first", "last", "tile", "stop", "filters", "channels"),
    *("x", "x_n", "x_c", "x_h", "height", "length", "top", "left"),
    *("w", "w_f"),
    *("y", "y_n", "y_c", "y_h", "rows", "columns"),
    "add",
)
"""Arguments: which images, tiles (numbered as above) and how many filters; channels, at least one; of x, w and y a pointer and
strides in elements, the image's height and length and where its first tap reads, rows and columns of an output."""

SUMMED_TILES = 256
"""Whose outputs are kept in 32 bits until the sums of all channels are added up, where the result has 16 bits."""

POINTERS, FLAGS = ("a", "b", "c", "u", "v", "m", "s"), ("begun", "done", "add")


def winograd_name(image: str, result: str) -> str:
    """The function of such a convolution on one thread, for images and filters of an element type and a result of one."""
    return f"hotdesk_winograd_alone_{image}_{result}"


def room_needed(k: Values, filters: Index, channels: Index, panel: int, lanes: int) -> Index:
    """Elements of scratch memory for so many filters and channels at a time, panels of so many tiles, lines of some elements."""
    each = k.add(k.mul(filters, k.add(channels, panel)), k.mul(channels, panel), 3 * 2 * lanes)
    return k.mul(each, PLACES)


def summed_at_once(k: Values, images: Index, tiles: Index, panel: int) -> tuple[Index, Index]:
    """Of how many panels of tiles of an image, and of how many images, sums are kept until those of all channels are added up."""
    most = SUMMED_TILES // panel
    each = k.maximum(1, k.minimum(k.ceildiv(tiles, panel), most))
    return each, k.maximum(1, k.minimum(images, k.floordiv(most, each)))


def winograd_functions(machine: Machine, image: str, result: str) -> str:
    """The text of the function and of those it calls, but for the sweep over the tiles of a panel."""
    element = summed_in(image)
    return (
        DECLARED.format(element=element)
        + transform_functions(machine, image, element, result)
        + _WinogradLoops(machine, image, result).function()
    )


class _WinogradLoops:
    """Writes the function: how filters, channels, images and tiles are cut into blocks, then the loops over these."""

    def __init__(self, machine: Machine, image: str, result: str) -> None:
        element = summed_in(image)
        self.f, self.machine, self.image, self.element = VectorBuilder(machine, element), machine, image, element
        self.result, self.rounds = result, result != element
        f, lanes = self.f, self.f.lanes
        self.a, pointers = f.arguments(WINOGRAD_ARGUMENTS, {"x": image, "w": image, "y": result})
        self.panel, self.narrow = tiles_in_panel(machine, element), Tile.of(machine).narrow * lanes
        self._own = f.scratch(int(room_needed(Values(), FEW_FILTERS, FEW_CHANNELS, self.panel, lanes)))
        ordered = OUTPUTS * OUTPUTS * self.panel  # elements of a panel of outputs in order
        self._own_sums = f.scratch((FEW_FILTERS if self.rounds else 1) * ordered)
        self._take_memory()
        self.images: Index = f.maximum(1, f.sub(self.a["last"], self.a["first"]))  # at once, as the following are
        self.tiles: Index = f.maximum(1, f.sub(self.a["stop"], self.a["tile"]))
        self.sums: Operand = self._own_sums
        self.sums_step: Index = 0
        self.sums_image: Index = 0
        if self.rounds:
            self._take_sums(ordered)
        self.given = self._lay_out(pointers)
        self.kinds = dict.fromkeys(POINTERS, f"memref<{element}>") | dict.fromkeys(FLAGS, "i1")
        self.kinds |= {"x": f"memref<{image}>", "w": f"memref<{image}>", "y": f"memref<{result}>"}

    def _take_memory(self) -> None:
        """Scratch memory for transformed filters, tiles and sums; where there is none, there is room for few on the stack."""
        f, a = self.f, self.a
        tiles = f.mul(f.sub(a["last"], a["first"]), f.sub(a["stop"], a["tile"]))
        most = f.select(f.at_least(tiles, FEW_TILES), FILTERS, FEWER_FILTERS)
        filters, channels = f.minimum(a["filters"], most), f.minimum(a["channels"], CHANNELS)
        wanted = room_needed(f, filters, channels, self.panel, f.lanes)
        self.memory = f.take_scratch(PRODUCTS, f.mul(wanted, self.machine.bytes_of(self.element)), self._own)
        short = f.same_memory(self.memory, self._own)
        self.filters = f.even(a["filters"], f.select(short, FEW_FILTERS, most))
        self.channels = f.select(short, FEW_CHANNELS, CHANNELS)

    def _take_sums(self, ordered: int) -> None:
        """Scratch memory for sums of all channels, of some panels at a time, where channels are several times as many."""
        f = self.f
        several = f.more(self.a["channels"], self.channels)
        each, images = summed_at_once(f, self.images, self.tiles, self.panel)
        room = f.mul(f.mul(self.filters, f.mul(each, images)), ordered * self.machine.bytes_of(self.element))
        (taken,) = f.chosen(
            several,
            lambda: [f.take_scratch(CONVERTED, room, self._own_sums).pointer],
            lambda: [self._own_sums.pointer],
            [f"memref<{self.element}>"],
        )
        self.sums = f.of_pointer(taken)
        on_stack = f.same_memory(self.sums, self._own_sums)
        self.images = f.select(several, f.select(on_stack, 1, images), self.images)
        self.tiles = f.select(several, f.select(on_stack, self.panel, f.mul(each, self.panel)), self.tiles)
        few = f.both(several, on_stack)
        self.filters = f.select(few, f.minimum(self.filters, FEW_FILTERS), self.filters)
        self.sums_step = f.select(several, ordered, 0)
        self.sums_image = f.mul(f.mul(self.filters, each), self.sums_step)

    def _lay_out(self, pointers: Mapping[str, Operand]) -> dict[str, Index]:
        """What all calls are given: the arguments, and where in scratch memory the matrices of each place lie."""
        f = self.f
        pitch = f.add(f.ceildiv(self.a["columns"], OUTPUTS), 1)
        most = f.minimum(self.a["channels"], self.channels)
        sizes = (self.filters, most), (most, self.panel), (self.filters, self.panel)
        self.u_step, self.v_step, self.m_step = (self._step(f.mul(*each)) for each in sizes)
        self.v_at = f.mul(self.u_step, PLACES)
        self.m_at = f.add(self.v_at, f.mul(self.v_step, PLACES))
        memory = self.memory.pointer
        given: dict[str, Index] = {**self.a, **{name: pointers[name].pointer for name in ("x", "w", "y")}}
        given |= {"pitch": pitch, "u_step": self.u_step, "v_step": self.v_step, "m_step": self.m_step}
        given |= {"u": memory, "v": memory, "m": memory, "v_at": self.v_at, "m_at": self.m_at}
        return given | {"s": self.sums.pointer, "s_step": self.sums_step}

    def _step(self, size: Index) -> Index:
        """Elements from one place's matrix to the next one's: an odd number of lines, so that no two fall on the same sets."""
        f = self.f
        return f.mul(f.add(f.mul(f.floordiv(f.ceildiv(size, f.lanes), 2), 2), 1), f.lanes)

    def function(self) -> str:
        f, a = self.f, self.a
        with (
            f.steps(0, a["filters"], self.filters) as filter_,
            f.steps(a["first"], a["last"], self.images) as image,
            f.steps(a["tile"], a["stop"], self.tiles) as tile,
            f.steps(0, a["channels"], self.channels) as channel,
        ):
            self._block(filter_, image, tile, channel)
        f.give_scratch(self.memory, self._own)
        if self.rounds:
            f.give_scratch(self.sums, self._own_sums)
        return f.function(winograd_name(self.image, self.result))

    def _block(self, filter_: Index, image: Index, tile: Index, channel: Index) -> None:
        """Some filters and channels, for some images and tiles of each."""
        f, a = self.f, self.a
        filters = f.minimum(self.filters, f.sub(a["filters"], filter_))
        channels = f.minimum(self.channels, f.sub(a["channels"], channel))
        begun = str(f.at_least(channel, 1))
        here = {**self.given, "filter": filter_, "filters": filters, "channel": channel, "channels": channels}
        here["w_at"] = f.add(f.mul(filter_, a["w_f"]), f.mul(channel, TAPS * TAPS))
        if self.rounds:
            here |= {"begun": begun, "done": str(f.at_least(f.add(channel, channels), a["channels"]))}
        else:
            here |= {"begun": f.constant("false", "i1"), "done": f.constant("true", "i1")}
            here["add"] = str(f.either(a["add"], begun))
        self._call(filter_name(self.image), FILTER_ARGUMENTS, here)
        with f.loop(image, f.minimum(a["last"], f.add(image, self.images))) as number:
            stop = f.minimum(a["stop"], f.add(tile, self.tiles))
            self._panels(here, (number, f.mul(f.sub(number, image), self.sums_image)), tile, stop)

    def _panels(self, here: dict[str, Index], image: tuple[Index, Index], first: Index, stop: Index) -> None:
        """The tiles of an image, panel by panel; the image is its number, and where its sums begin."""
        f, a = self.f, self.a
        number, begins = image
        with f.loop(first, stop, self.panel) as tile:
            count = f.minimum(self.panel, f.sub(stop, tile))
            x_at = f.add(f.mul(number, a["x_n"]), f.mul(here["channel"], a["x_c"]))
            y_at = f.add(f.mul(number, a["y_n"]), f.mul(here["filter"], a["y_c"]))
            before = f.floordiv(f.sub(tile, first), self.panel)
            s_at = f.add(begins, f.mul(before, f.mul(self.filters, self.sums_step)))
            at = {**here, "tile": tile, "count": count, "x_at": x_at, "y_at": y_at, "s_at": s_at}
            self._call(before_name(self.image), BEFORE_ARGUMENTS, at)
            columns = f.select(f.at_least(self.narrow, count), self.narrow, self.panel)
            self._products(here["filters"], here["channels"], columns)
            self._call(after_name(self.image), AFTER_ARGUMENTS, at)

    def _products(self, filters: Index, channels: Index, columns: Index) -> None:
        """The product at every place of a tile."""
        f, memory = self.f, self.memory.pointer
        no = f.constant("false", "i1")
        with f.loop(0, PLACES) as place:
            values: dict[str, Index] = {"m": filters, "k": channels, "a": memory, "b": memory, "c": memory}
            values |= {"a_at": f.mul(place, self.u_step), "a_row": channels}
            values |= {"b_at": f.add(self.v_at, f.mul(place, self.v_step)), "b_row": self.panel}
            values |= {"c_at": f.add(self.m_at, f.mul(place, self.m_step)), "c_row": self.panel, "c_column": 1}
            values |= {"columns": columns, "add": no}
            values |= asked_ahead(f, self.memory, values["a_at"], channels, self.element)
            given = zip(SWEEP_ARGUMENTS, kinds(SWEEP_ARGUMENTS, self.element), strict=True)
            f.call_local(sweep_name(self.element), [(values[name], kind) for name, kind in given])

    def _call(self, function: str, names: tuple[str, ...], values: dict[str, Index]) -> None:
        self.f.call_local(function, [(values[name], self.kinds.get(name, "index")) for name in names])
