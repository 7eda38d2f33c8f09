"""Convolutions on one thread: products of the filters with the unfolded image, of which one panel at a time is packed.

    y[filter, pixel] (+)= w[filter, (layer, taps)] unfolded[(layer, taps), pixel]    for some images, groups and planes

Layers are channels; of a volume, channels and planes of the window. A volume is convolved a plane of the output at a time.

The loops are those of a product (`product`): a block of layers and taps that lets a panel stay in the nearest cache, as many
filters as stay in the next ones, panel by panel of pixels. The unfolded image is never in memory: a panel of it is packed on
the stack just before its use (`convolution_packing`). A pixel that is left over from whole panels, as of 7 by 7 with AVX-512, is
a dot product with each filter: a tile of one column takes as long as one of a whole vector. Weights are read where they lie,
those of a filter together; 16-bit floats are summed in f32: their weights are converted, a block at a time, in scratch memory,
as the image is while it is packed. Sums of a 16-bit result are in scratch memory, too, some filters and pixels at a time, and
each is rounded once.

After Chetlur et al., *cuDNN: Efficient Primitives for Deep Learning*, 2014, whose convolutions unfold while they load a tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from hotdesk.elements import summed_in
from hotdesk.kernels.blocks import SWEEP_ARGUMENTS, Matrix, asked_ahead, depth, even, kinds, sweep_name
from hotdesk.kernels.convolution_packing import UNFOLD_ARGUMENTS, WINDOW, panels_at_once, unfold_functions, unfold_name
from hotdesk.kernels.halves import WidenedBlock, convert_function, convert_kinds, convert_name
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import Tile
from hotdesk.kernels.scratch import CONVERTED, DECLARED, PRODUCTS
from hotdesk.kernels.skinny import DOTS_ARGUMENTS, dots_function, dots_name
from hotdesk.kernels.text import Index
from hotdesk.kernels.vectors import VectorBuilder

_PANELS = 4  # packed at a time: neighbouring pixels lie in the same lines of the cache
_LEAST_DEEP = 64  # layers and taps for which dot products are worth it
_FILTERS = 64  # whose weights of a block are still near when a last pixel is computed
_PADDING = 16  # elements between rows of converted weights, which else might share a set of the nearest cache
_SUMMED = 1 << 16  # sums of a 16-bit result that are kept at a time: a quarter of the second cache

CONVOLUTION_ARGUMENTS = (
    *("first", "last", "pixel", "stop", "filters"),
    *("groups", "group_filters", "slices", "channels", "planes", "rows", "columns", "width"),
    *("x", "x_n", "x_c", "x_d", "x_h", "x_w", "depth", "height", "length"),
    *("sd", *WINDOW),
    *("w", "w_f"),
    *("y", "y_n", "y_c", "y_d", "y_w"),
    "add",
)
"""Arguments of a convolution.

What part of it is computed: which planes of the output of the images' groups, numbered image by image and group by group, which
pixels of each, how many filters of each group. Then sizes: groups, filters of one, planes of the output, channels of a group,
planes, rows and columns of the window, columns of the output. Of x, w and y a pointer and strides in elements, of the image its
depth, height and length; then the stride of planes, and the window's numbers in the order of `WINDOW`. An image has one plane.
"""


def convolution_name(image: str, result: str) -> str:
    """The function of a convolution on one thread, for images and filters of an element type and a result of one."""
    return f"hotdesk_convolution_alone_{image}_{result}"


def convolution_functions(machine: Machine, image: str, result: str) -> str:
    """The text of the function of a convolution and of those it calls, but for the sweep over the tiles of a panel."""
    element = summed_in(image)
    parts = [f"func.func private @{sweep_name(element)}({', '.join(kinds(SWEEP_ARGUMENTS, element))})\n"]
    if image != element:
        parts += [DECLARED.format(element=element), convert_function(machine, image, widen=True)]
    if result != element:
        parts.append(convert_function(machine, image, widen=False))
    parts += [dots_function(machine, element, 1)]
    parts += [unfold_functions(machine, image, element, Tile.of(machine).vectors)]
    parts.append(_ConvolutionLoops(machine, image, result).function())
    return "".join(parts)


def most_weights(machine: Machine, image: str) -> int:
    """How many weights a block of filters may have.

    Panels are packed anew for each block, which costs more than weights that come from the third cache: twice what the second one
    holds, less the panels. Weights that are converted take scratch memory: once what it holds, less these.
    """
    element = summed_in(image)
    panels = _PANELS * depth(machine) * Tile.of(machine).columns(machine, element)
    return (2 if image == element else 1) * machine.l2_bytes // machine.bytes_of(element) - panels


@dataclass(frozen=True, slots=True)
class _Outputs:
    """Some filters of a group, and pixels of a plane, from `pixel` to `stop`.


    Attributes:
        x_at, w_at: where the image of the group and the weights of the first filter begin.
        front: the first plane of the image that is read.
        to: a row for each filter, a column for each pixel.
    """

    x_at: Index
    front: Index
    w_at: Index
    filters: Index
    pixel: Index
    stop: Index
    to: Matrix


class _ConvolutionLoops:
    """Writes the function of a convolution: how its sums, filters and pixels are cut into blocks, then the loops over these."""

    def __init__(self, machine: Machine, image: str, result: str) -> None:
        element = summed_in(image)
        self.f, self.machine, self.image, self.element = VectorBuilder(machine, element), machine, image, element
        self.result, self.rounds = result, result != element
        f, tile, deepest = self.f, Tile.of(machine), depth(machine)
        self.a, self.pointers = f.arguments(CONVOLUTION_ARGUMENTS, {"x": image, "w": image, "y": result})
        self.wide = tile.columns(machine, element)
        self.panel = f.scratch(_PANELS * deepest * self.wide)
        self.pixel = f.scratch(deepest)
        self.taps = f.mul(self.a["rows"], self.a["columns"])
        self.layers = f.mul(self.a["channels"], self.a["planes"])
        self.across, self.down, self.several = self._cut_sums(deepest)
        self.at_once = f.mul(panels_at_once(f, f.mul(self.down, self.across), _PANELS), self.wide)
        most_deep = f.mul(f.mul(self.several, self.down), self.across)
        fitting = f.floordiv(most_weights(machine, image), most_deep)
        self.height = f.even(self.a["filters"], f.mul(f.maximum(1, f.floordiv(fitting, tile.rows)), tile.rows))
        self.weights, self.weight_step = self.pointers["w"], self.a["w_f"]
        self._own = self.weights
        if image != element:
            self._take_memory(tile, deepest, most_deep)
        if self.rounds:
            self._take_sums(tile)

    def _cut_sums(self, deepest: int) -> tuple[Index, Index, Index]:
        """How many columns and rows of taps and how many layers a block has: a few taps in a row, or whole rows of taps, or all
        taps of several layers. Only the outermost of these that is more than one may be a part."""
        f, a = self.f, self.a
        across = f.maximum(1, f.minimum(a["columns"], deepest))
        down = f.select(f.equal(across, a["columns"]), f.minimum(a["rows"], f.floordiv(deepest, across)), 1)
        down = f.maximum(1, down)
        whole = f.both(f.equal(across, a["columns"]), f.equal(down, a["rows"]))
        most = f.select(whole, f.floordiv(deepest, f.mul(across, down)), 1)
        return across, down, f.even(self.layers, most)

    def _take_memory(self, tile: Tile, deepest: int, most_deep: Index) -> None:
        """Scratch memory for converted weights; where there is none, a block of filters is as small as the stack allows."""
        f = self.f
        self._own = f.scratch(tile.rows * (deepest + _PADDING))
        self.weight_step = str(f.add(most_deep, _PADDING))
        size = f.mul(f.mul(self.height, self.weight_step), self.machine.bytes_of(self.element))
        self.weights = f.take_scratch(CONVERTED, size, self._own)
        on_stack = f.same_memory(self.weights, self._own)
        self.height = f.select(on_stack, f.minimum(self.height, tile.rows), self.height)

    def _take_sums(self, tile: Tile) -> None:
        """Scratch memory for sums that are rounded, of a block of filters and as many pixels as fit; where there is none, for
        those of a tile."""
        f = self.f
        self._own_sums = f.scratch((tile.rows + _PADDING) * (self.wide + _PADDING))
        pixels = f.maximum(1, f.sub(self.a["stop"], self.a["pixel"]))
        self.summed_pixels = even(f, pixels, f.maximum(self.wide, f.floordiv(_SUMMED, self.height)), self.wide)
        room = f.mul(f.add(self.height, _PADDING), f.add(self.summed_pixels, _PADDING))
        self.sums = f.take_scratch(PRODUCTS, f.mul(room, self.machine.bytes_of(self.element)), self._own_sums)
        on_stack = f.same_memory(self.sums, self._own_sums)
        self.summed_pixels = f.select(on_stack, self.wide, self.summed_pixels)
        self.summed_filters = f.select(on_stack, f.minimum(self.height, tile.rows), self.height)

    def function(self) -> str:
        f, a = self.f, self.a
        nothing = f.either(f.equal(a["filters"], 0), f.at_least(a["pixel"], a["stop"]))
        ways = (
            (nothing, lambda: None),
            (f.equal(f.mul(self.layers, self.taps), 0), lambda: f.branch(a["add"], lambda: None, self._clear)),
        )
        f.first_of(ways, self._sum)
        if self.image != self.element:
            f.give_scratch(self.weights, self._own)
        if self.rounds:
            f.give_scratch(self.sums, self._own_sums)
        return f.function(convolution_name(self.image, self.result))

    def _sum(self) -> None:
        f, a = self.f, self.a
        with f.loop(a["first"], a["last"]) as item:
            x_at, front, w_at, y_at = self._begins(item)
            to = Matrix(self.pointers["y"], f.add(y_at, f.mul(a["pixel"], a["y_w"])), a["y_c"], a["y_w"])
            outputs = _Outputs(x_at, front, w_at, a["filters"], a["pixel"], a["stop"], to)
            if self.rounds:
                self._rounded(outputs)
            else:
                self._blocks(outputs)

    def _rounded(self, outputs: _Outputs) -> None:
        """Sums of some filters and pixels at a time, each rounded once to where it belongs."""
        f, first = self.f, outputs.pixel
        with (
            f.steps(0, outputs.filters, self.summed_filters) as filter_,
            f.steps(first, outputs.stop, self.summed_pixels) as pixel,
        ):
            filters = f.minimum(self.summed_filters, f.sub(outputs.filters, filter_))
            pixels = f.minimum(self.summed_pixels, f.sub(outputs.stop, pixel))
            sums = WidenedBlock(outputs.to.moved(f, filter_, f.sub(pixel, first)), filters, pixels, self.sums, 0)
            w_at = f.add(outputs.w_at, f.mul(filter_, self.a["w_f"]))
            f.branch(self.a["add"], partial(sums.convert, f, self.result, widen=True))
            stop = f.add(pixel, pixels)
            self._blocks(_Outputs(outputs.x_at, outputs.front, w_at, filters, pixel, stop, sums.matrix(f)))
            sums.convert(f, self.result, widen=False)

    def _blocks(self, outputs: _Outputs) -> None:
        """The blocks of layers and taps that are summed, one after the other."""
        f, a = self.f, self.a
        with (
            f.steps(0, self.layers, self.several) as layer,
            f.steps(0, a["rows"], self.down) as row,
            f.steps(0, a["columns"], self.across) as column,
        ):
            self._block(outputs, (layer, row, column))

    def _clear(self) -> None:
        f, a = self.f, self.a
        zero = f.constant("0.0", self.result)
        with f.loop(a["first"], a["last"]) as item:
            *_, y_at = self._begins(item)
            with f.loop(0, a["filters"]) as filter_, f.loop(a["pixel"], a["stop"]) as pixel:
                at = f.add(y_at, f.mul(filter_, a["y_c"]), f.mul(pixel, a["y_w"]))
                f.store(zero, self.pointers["y"], at)

    def _begins(self, item: Index) -> tuple[Index, Index, Index, Index]:
        """Where x, w and y of a plane of a group of an image begin, behind x the first plane that is read."""
        f, a = self.f, self.a
        whole = f.floordiv(item, a["slices"])
        plane = f.sub(item, f.mul(whole, a["slices"]))
        image = f.floordiv(whole, a["groups"])
        group = f.sub(whole, f.mul(image, a["groups"]))
        filter_ = f.mul(group, a["group_filters"])
        x_at = f.add(f.mul(image, a["x_n"]), f.mul(f.mul(group, a["channels"]), a["x_c"]))
        y_at = f.add(f.mul(image, a["y_n"]), f.mul(filter_, a["y_c"]), f.mul(plane, a["y_d"]))
        return x_at, f.add(f.mul(plane, a["sd"]), a["front"]), f.mul(filter_, a["w_f"]), y_at

    def _block(self, outputs: _Outputs, start: tuple[Index, Index, Index]) -> None:
        """What the layers and taps from `start` on add to some outputs."""
        f, a = self.f, self.a
        layer, row, column = start
        layers = f.minimum(self.several, f.sub(self.layers, layer))
        rows = f.minimum(self.down, f.sub(a["rows"], row))
        columns = f.minimum(self.across, f.sub(a["columns"], column))
        begun = f.either(f.at_least(layer, 1), f.either(f.at_least(row, 1), f.at_least(column, 1)))
        adds = str(f.either(a["add"], begun))
        deep = f.mul(f.mul(layers, rows), columns)
        w_here = f.add(outputs.w_at, f.mul(layer, self.taps), f.mul(row, a["columns"]), column)
        window: dict[str, Index] = {**a, "layer": layer, "layers": layers, "rows": rows, "columns": columns}
        window["x_at"], window["front"] = outputs.x_at, outputs.front
        window["top"] = f.add(a["top"], f.mul(row, a["dh"]))
        window["left"] = f.add(a["left"], f.mul(column, a["dw"]))
        with f.steps(0, outputs.filters, self.height) as filter_:
            filters = f.minimum(self.height, f.sub(outputs.filters, filter_))
            w_block = self._converted(filters, deep, f.add(w_here, f.mul(filter_, a["w_f"])))
            with f.steps(outputs.pixel, outputs.stop, self.at_once) as pixel:
                pixels = f.minimum(self.at_once, f.sub(outputs.stop, pixel))
                self._pack(window, pixel, pixels)
                to = outputs.to.moved(f, filter_, f.sub(pixel, outputs.pixel))
                f.branch(
                    f.both(f.equal(pixels, 1), f.at_least(deep, _LEAST_DEEP)),
                    lambda: self._one_pixel(deep, filters, w_block, to, adds),
                    lambda: self._panels(deep, filters, w_block, to, pixels, adds),
                )

    def _panels(self, deep: Index, filters: Index, w_at: Index, to: Matrix, pixels: Index, adds: str) -> None:
        """The panels of some pixels for a block of filters; a pixel that is left over goes with the last whole panel, for some
        filters at a time: their weights are near then."""
        f = self.f
        whole = f.sub(pixels, f.mod(pixels, self.wide))
        alone = f.both(f.equal(f.sub(pixels, whole), 1), f.both(f.at_least(whole, 1), f.at_least(deep, _LEAST_DEEP)))
        f.branch(alone, lambda: self._take_pixel(deep, f.mul(whole, deep)))
        with f.loop(0, f.select(alone, whole, pixels), self.wide) as done:
            first = f.mul(done, deep)  # a panel has as many elements for each of its pixels
            width = f.minimum(self.wide, f.sub(pixels, done))
            last = f.both(alone, f.equal(f.add(done, self.wide), whole))
            at_once = f.select(last, _FILTERS, filters)
            with f.steps(0, filters, at_once) as filter_:
                some = f.minimum(at_once, f.sub(filters, filter_))
                w_here = f.add(w_at, f.mul(filter_, self.weight_step))
                self._sweep((deep, first), some, w_here, to.moved(f, filter_, done), width, adds)
                f.branch(
                    last,
                    lambda w_here=w_here, filter_=filter_, some=some: self._dots(
                        deep, some, w_here, to.moved(f, filter_, whole), adds
                    ),
                )

    def _converted(self, filters: Index, deep: Index, w_at: Index) -> Index:
        """Where a block of weights is that is read: where it lies, or converted."""
        if self.image == self.element:
            return w_at
        given = self.pointers["w"].pointer, w_at, self.a["w_f"], 1
        values = [filters, deep, *given, self.weights.pointer, 0, self.weight_step]
        name, types = convert_name(self.image, widen=True), convert_kinds(self.image)
        self.f.call_local(name, list(zip(values, types, strict=True)))
        return 0

    def _pack(self, window: dict[str, Index], pixel: Index, pixels: Index) -> None:
        """Packs the panels of some pixels under a window."""
        here = {**window, "pixel": pixel, "pixels": pixels}
        here |= {"x": self.pointers["x"].pointer, "panel": self.panel.pointer}
        types = {"x": f"memref<{self.image}>", "panel": f"memref<{self.element}>"}
        self.f.call_local(unfold_name(self.image), [(here[n], types.get(n, "index")) for n in UNFOLD_ARGUMENTS])

    def _one_pixel(self, deep: Index, filters: Index, w_at: Index, to: Matrix, adds: str) -> None:
        """The panel of a pixel that is the only one."""
        self._take_pixel(deep, 0)
        self._dots(deep, filters, w_at, to, adds)

    def _take_pixel(self, deep: Index, first: Index) -> None:
        """Puts together what is summed for the pixel of the panel that begins at `first`."""
        f = self.f
        with f.loop(0, deep) as tap:
            f.store(f.load(self.panel, f.add(first, f.mul(tap, self.wide))), self.pixel, tap)

    def _dots(self, deep: Index, filters: Index, w_at: Index, to: Matrix, adds: str) -> None:
        """The pixel that has been taken, for some filters."""
        f = self.f
        values: list[Index | str] = [1, filters, deep, self.pixel.pointer, 0, deep]
        values += [self.weights.pointer, w_at, self.weight_step]
        values += [to.memory.pointer, to.at, 0, to.row, adds]
        f.call_local(dots_name(self.element, 1), list(zip(values, kinds(DOTS_ARGUMENTS, self.element), strict=True)))

    def _sweep(
        self, depth: tuple[Index, Index], filters: Index, w_at: Index, to: Matrix, columns: Index, adds: str
    ) -> None:
        """A panel, given how deep it is and where it begins, for some filters."""
        deep, first = depth
        values: dict[str, Index] = {"m": filters, "k": deep, "a_at": w_at, "a_row": self.weight_step}
        values |= {"b_at": first, "b_row": self.wide}
        values |= {"a": self.weights.pointer, "b": self.panel.pointer, "c": to.memory.pointer}
        values |= {"c_at": to.at, "c_row": to.row, "c_column": to.column, "columns": columns, "add": adds}
        values |= asked_ahead(self.f, self.weights, w_at, self.weight_step, self.element)
        types = kinds(SWEEP_ARGUMENTS, self.element)
        passed = [(values[name], type_) for name, type_ in zip(SWEEP_ARGUMENTS, types, strict=True)]
        self.f.call_local(sweep_name(self.element), passed)
