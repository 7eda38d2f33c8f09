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
        + _alone(machine, image, element, result)
    )


def _alone(machine: Machine, image: str, element: str, result: str) -> str:
    f = VectorBuilder(machine, element)
    a, pointers = f.arguments(WINOGRAD_ARGUMENTS, {"x": image, "w": image, "y": result})
    rounds = result != element
    panel, narrow = tiles_in_panel(machine, element), Tile.of(machine).narrow * f.lanes
    ordered = OUTPUTS * OUTPUTS * panel  # elements of a panel of outputs in order
    own = f.scratch(int(room_needed(Values(), FEW_FILTERS, FEW_CHANNELS, panel, f.lanes)))
    own_sums = f.scratch((FEW_FILTERS if rounds else 1) * ordered)
    tiles = f.mul(f.sub(a["last"], a["first"]), f.sub(a["stop"], a["tile"]))
    most_filters = f.select(f.at_least(tiles, FEW_TILES), FILTERS, FEWER_FILTERS)
    wanted = room_needed(f, f.minimum(a["filters"], most_filters), f.minimum(a["channels"], CHANNELS), panel, f.lanes)
    memory = f.take_scratch(PRODUCTS, f.mul(wanted, machine.bytes_of(element)), own)
    short = f.same_memory(memory, own)
    filters_at_once = f.even(a["filters"], f.select(short, FEW_FILTERS, most_filters))
    channels_at_once = f.select(short, FEW_CHANNELS, CHANNELS)
    images_at_once: Index = f.maximum(1, f.sub(a["last"], a["first"]))
    tiles_at_once: Index = f.maximum(1, f.sub(a["stop"], a["tile"]))
    sums: Operand = own_sums
    sums_step: Index = 0
    sums_image: Index = 0
    if rounds:
        # Where channels are several times as many, sums of all of them are kept until they are rounded, of some panels at a time.
        several = f.more(a["channels"], channels_at_once)
        each, images = summed_at_once(f, images_at_once, tiles_at_once, panel)
        room = f.mul(f.mul(filters_at_once, f.mul(each, images)), ordered * machine.bytes_of(element))
        (taken,) = f.chosen(
            several,
            lambda: [f.take_scratch(CONVERTED, room, own_sums).pointer],
            lambda: [own_sums.pointer],
            [f"memref<{element}>"],
        )
        sums = f.of_pointer(taken)
        on_stack = f.same_memory(sums, own_sums)
        images_at_once = f.select(several, f.select(on_stack, 1, images), images_at_once)
        tiles_at_once = f.select(several, f.select(on_stack, panel, f.mul(each, panel)), tiles_at_once)
        few = f.both(several, on_stack)
        filters_at_once = f.select(few, f.minimum(filters_at_once, FEW_FILTERS), filters_at_once)
        sums_step = f.select(several, ordered, 0)
        sums_image = f.mul(f.mul(filters_at_once, each), sums_step)

    def step(size: Index) -> Index:
        """Elements from one place's matrix to the next one's: an odd number of lines, so that no two fall on the same sets."""
        return f.mul(f.add(f.mul(f.floordiv(f.ceildiv(size, f.lanes), 2), 2), 1), f.lanes)

    pitch = f.add(f.ceildiv(a["columns"], OUTPUTS), 1)
    most = f.minimum(a["channels"], channels_at_once)
    u_step, v_step, m_step = (
        step(f.mul(*sizes)) for sizes in ((filters_at_once, most), (most, panel), (filters_at_once, panel))
    )
    v_at = f.mul(u_step, PLACES)
    m_at = f.add(v_at, f.mul(v_step, PLACES))
    given: dict[str, Index] = {**a, "pitch": pitch, "u_step": u_step, "v_step": v_step, "m_step": m_step}
    given |= {"x": pointers["x"].pointer, "w": pointers["w"].pointer, "y": pointers["y"].pointer}
    given |= {"u": memory.pointer, "v": memory.pointer, "m": memory.pointer, "v_at": v_at, "m_at": m_at}
    given |= {"s": sums.pointer, "s_step": sums_step}

    kinds_of = dict.fromkeys(POINTERS, f"memref<{element}>")
    kinds_of |= dict.fromkeys(FLAGS, "i1") | {
        "x": f"memref<{image}>",
        "w": f"memref<{image}>",
        "y": f"memref<{result}>",
    }

    def call(function: str, names: tuple[str, ...], values: dict[str, Index]) -> None:
        f.call_local(function, [(values[name], kinds_of.get(name, "index")) for name in names])

    def products(filters: Index, channels: Index, columns: Index) -> None:
        """The product at every place of a tile."""
        no = f.constant("false", "i1")
        with f.loop(0, PLACES) as place:
            values: dict[str, Index] = {
                "m": filters,
                "k": channels,
                "a": memory.pointer,
                "b": memory.pointer,
                "c": memory.pointer,
            }
            values |= {"a_at": f.mul(place, u_step), "a_row": channels}
            values |= {"b_at": f.add(v_at, f.mul(place, v_step)), "b_row": panel}
            values |= {"c_at": f.add(m_at, f.mul(place, m_step)), "c_row": panel, "c_column": 1}
            values |= {"columns": columns, "add": no}
            values |= asked_ahead(f, memory, values["a_at"], channels, element)
            each = kinds(SWEEP_ARGUMENTS, element)
            f.call_local(
                sweep_name(element), [(values[name], kind) for name, kind in zip(SWEEP_ARGUMENTS, each, strict=True)]
            )

    def panels(here: dict[str, Index], number: Index, first: Index, stop: Index) -> None:
        """The tiles of an image, panel by panel, for some filters and channels."""
        channel, filter_ = here["channel"], here["filter"]
        begins = f.mul(f.sub(number, here["image"]), sums_image)
        with f.loop(first, stop, panel) as tile:
            count = f.minimum(panel, f.sub(stop, tile))
            x_at = f.add(f.mul(number, a["x_n"]), f.mul(channel, a["x_c"]))
            y_at = f.add(f.mul(number, a["y_n"]), f.mul(filter_, a["y_c"]))
            s_at = f.add(begins, f.mul(f.floordiv(f.sub(tile, first), panel), f.mul(filters_at_once, sums_step)))
            at = {**here, "tile": tile, "count": count, "x_at": x_at, "y_at": y_at, "s_at": s_at}
            call(before_name(image), BEFORE_ARGUMENTS, at)
            products(here["filters"], here["channels"], f.select(f.at_least(narrow, count), narrow, panel))
            call(after_name(image), AFTER_ARGUMENTS, at)

    with (
        f.steps(0, a["filters"], filters_at_once) as filter_,
        f.steps(a["first"], a["last"], images_at_once) as image_,
        f.steps(a["tile"], a["stop"], tiles_at_once) as tile,
        f.steps(0, a["channels"], channels_at_once) as channel,
    ):
        filters = f.minimum(filters_at_once, f.sub(a["filters"], filter_))
        channels = f.minimum(channels_at_once, f.sub(a["channels"], channel))
        begun = str(f.at_least(channel, 1))
        here = {
            **given,
            "image": image_,
            "filter": filter_,
            "filters": filters,
            "channel": channel,
            "channels": channels,
        }
        here["w_at"] = f.add(f.mul(filter_, a["w_f"]), f.mul(channel, TAPS * TAPS))
        if rounds:
            here |= {"begun": begun, "done": str(f.at_least(f.add(channel, channels), a["channels"]))}
        else:
            here |= {"begun": f.constant("false", "i1"), "done": f.constant("true", "i1")}
            here["add"] = str(f.either(a["add"], begun))
        call(filter_name(image), FILTER_ARGUMENTS, here)
        with f.loop(image_, f.minimum(a["last"], f.add(image_, images_at_once))) as number:
            panels(here, number, tile, f.minimum(a["stop"], f.add(tile, tiles_at_once)))
    f.give_scratch(memory, own)
    if rounds:
        f.give_scratch(sums, own_sums)
    return f.function(winograd_name(image, result))
