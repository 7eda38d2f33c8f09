"""Packing for convolutions: a panel of the unfolded image, read straight from the image as it lies.

    panel[(layer, row tap, column tap), j] = x[layer, row, column]    of pixel j of the output under that tap

A layer is a channel of an image; of a volume, the plane of a channel that a plane of the output reads under one of the window's.
Zeros where a tap lies in the padding, and from the last pixel on. Pixels are numbered row by row, so that a panel may begin in
one row of the output and end in another.

vectors    rows of x lie together, stride 1 or 2, no more than `MOST_RUNS` rows of the output in a vector: whole vectors under
           masks, one for each of these rows, which depend on the taps alone and are made once for all layers
elements   anything else: pixel by pixel; the image may be widened by zeros between its elements, as in a transposed convolution

An image of 16-bit floats becomes a panel of f32.
"""

from __future__ import annotations

from collections.abc import Callable

from hotdesk.kernels.blocks import depth
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.text import Condition, Index, Operand
from hotdesk.kernels.vectors import VectorBuilder

MOST_TAPS = 128
"""Taps of a window for which there are masks."""

MOST_RUNS = 4
"""Rows of the output that the pixels of a vector may belong to; what of a vector lies in one of them is called a run."""

WINDOW = ("sh", "sw", "dd", "dh", "dw", "front", "top", "left", "wide_d", "wide_h", "wide_w")
"""Strides and dilations; where the first tap of the first pixel reads the widened image; by how much that is widened.

Of planes, rows and columns, but for the stride of planes: the pixels are those of one plane of the output.
"""

UNFOLD_ARGUMENTS = (
    *("layer", "layers", "planes", "rows", "columns", "pixel", "pixels", "width"),
    *("x", "x_at", "x_c", "x_d", "x_h", "x_w", "depth", "height", "length"),
    *WINDOW,
    "panel",
)
"""Of a block of layers and taps: the first layer, how many, how many of a channel, and taps of each; the first pixel and how
many; columns of the output; image; window; panel."""


def unfold_name(image: str) -> str:
    """The function that packs panels of an image of an element type."""
    return f"hotdesk_unfold_{image}"


def _strips_name(image: str, stride: int) -> str:
    return f"hotdesk_unfold_{image}_stride{stride}"


def unfold_functions(machine: Machine, image: str, element: str, vectors: int) -> str:
    """The functions that pack panels of `vectors` vectors of `element` a row: `unfold_name`, and those it calls."""
    parts = [_strips(machine, image, element, stride, vectors) for stride in (1, 2)]
    return "\n".join([*parts, _unfold(machine, image, element, vectors)])


def panels_at_once(f: VectorBuilder, taps: Index, most: int) -> Index:
    """How many panels, up to `most` and at least one, there are masks for at once with as many taps."""
    return f.maximum(1, f.minimum(most, f.floordiv(MOST_TAPS, f.maximum(1, taps))))


class _Arguments:
    """The arguments of `unfold_name`, by name."""

    def __init__(self, f: VectorBuilder, image: str) -> None:
        self.pointers = {"x": Operand("", "", "", (), ()), "panel": Operand("", "", "", (), ())}
        self.numbers: dict[str, str] = {}
        for name in UNFOLD_ARGUMENTS:
            if name in self.pointers:
                self.pointers[name] = f.pointer(name, image if name == "x" else "")
            else:
                self.numbers[name] = f.number(name)

    def __getitem__(self, name: str) -> str:
        return self.numbers[name]

    @property
    def passed(self) -> list[tuple[Index | str, str]]:
        return [
            (self.pointers[name].pointer, f"memref<{self.pointers[name].element}>")
            if name in self.pointers
            else (self.numbers[name], "index")
            for name in UNFOLD_ARGUMENTS
        ]


class _Layers:
    """Where the layers that are packed begin, which is looked up once; those in the padding are none."""

    _NONE = -(1 << 62)

    def __init__(self, f: VectorBuilder, a: _Arguments) -> None:
        """Writes the loop that looks them up."""
        self._f, self._places = f, f.scratch(depth(f.machine), "index")
        with f.loop(0, a["layers"]) as number:
            layer = f.add(a["layer"], number)
            channel = f.floordiv(layer, a["planes"])
            tap = f.sub(layer, f.mul(channel, a["planes"]))
            inside, plane = _inside(f, f.add(a["front"], f.mul(tap, a["dd"])), a["wide_d"], a["depth"])
            place = f.add(a["x_at"], f.mul(channel, a["x_c"]), f.mul(plane, a["x_d"]))
            f.store(f.index(f.select(inside, place, self._NONE)), self._places, number)

    def find(self, number: Index) -> tuple[Condition, Index]:
        """Whether a layer is one of the image, and where it begins."""
        place = self._f.load(self._places, number)
        return self._f.more(place, self._NONE), place


def _inside(f: VectorBuilder, place: Index, wide: str, size: str) -> tuple[Condition, Index]:
    """Whether a place in the widened image is one of its elements, and which."""
    number = f.floordiv(place, wide)
    hit = f.equal(f.mul(number, wide), place)
    return f.both(f.both(f.at_least(place, 0), hit), f.at_least(f.sub(size, 1), number)), number


def _unfold(machine: Machine, image: str, element: str, vectors: int) -> str:
    """The function that chooses how to pack."""
    f = VectorBuilder(machine, element)
    a = _Arguments(f, image)
    width = vectors * f.lanes
    few = f.at_least(MOST_TAPS, f.mul(a["rows"], a["columns"]))
    plain = f.both(f.equal(a["x_w"], 1), f.both(f.equal(a["wide_h"], 1), f.equal(a["wide_w"], 1)))
    end = f.add(f.sub(a["pixel"], f.mul(f.floordiv(a["pixel"], a["width"]), a["width"])), a["pixels"])
    whole = f.mul(a["width"], MOST_RUNS - 1)  # and the last pixel of a row before, or the first of one behind
    long = f.either(f.at_least(whole, f.lanes - 1), f.at_least(f.mul(a["width"], MOST_RUNS), end))
    fits = f.both(few, f.both(plain, long))

    def by_vectors(stride: int) -> None:
        f.call_local(_strips_name(image, stride), a.passed)

    def by_elements() -> None:
        deep = f.mul(f.mul(f.mul(a["layers"], a["rows"]), a["columns"]), width)
        layers = _Layers(f, a)
        with f.loop(0, f.ceildiv(a["pixels"], width)) as number:
            done = f.mul(number, width)
            pixels = f.minimum(width, f.sub(a["pixels"], done))
            _elements(f, a, layers, width, (f.add(a["pixel"], done), pixels, f.mul(number, deep)))

    ways = [(f.both(fits, f.equal(a["sw"], stride)), lambda stride=stride: by_vectors(stride)) for stride in (1, 2)]
    f.first_of(ways, by_elements)
    return f.function(unfold_name(image))


_WHOLE = 0
"""What a strip reads: whole vectors of the image; any other number is that of its runs, which are read under masks."""


def _strips(machine: Machine, image: str, element: str, stride: int, vectors: int) -> str:
    """The function that packs by vectors. What a vector of every row of a panel reads is called a strip.

    All strips are packed layer by layer: planes whose rows fall on the same places of a cache take them from one another.
    """
    return _Strips(machine, image, element, stride, vectors).function()


class _Strips:
    """Writes the function that packs by vectors: what each strip reads under each tap, then the strips, layer by layer.

    Of strips it keeps the kind (`_WHOLE`, or how many runs), of runs and taps the place in a layer and masks.
    """

    def __init__(self, machine: Machine, image: str, element: str, stride: int, vectors: int) -> None:
        self.image, self.stride, self.vectors = image, stride, vectors
        self.f = f = VectorBuilder(machine, element)
        self.a = a = _Arguments(f, image)
        self.width = vectors * f.lanes
        most = MOST_RUNS * vectors * MOST_TAPS  # runs of strips, times taps
        self.masks = f.scratch(stride * most * f.lanes, "i8")
        self.places = f.scratch(most, "index")
        self.kinds = f.scratch(vectors * MOST_TAPS, "index")
        self.taps = f.mul(a["rows"], a["columns"])
        self.strips = f.mul(f.ceildiv(a["pixels"], self.width), vectors)
        self.deep = f.mul(f.mul(a["layers"], self.taps), self.width)
        self.layers = _Layers(f, a)

    def function(self) -> str:
        f = self.f
        with f.loop(0, self.strips) as strip:
            self._prepare(strip)
        with f.loop(0, self.a["layers"]) as layer:
            inside, plane = self.layers.find(layer)

            def packed(layer: Index = layer, plane: Index = plane) -> None:
                with f.loop(0, self.strips) as strip:
                    self._pack(plane, strip, self._target(layer, strip))

            def cleared(layer: Index = layer) -> None:
                with f.loop(0, self.strips) as strip:
                    self._clear(self._target(layer, strip))

            f.branch(inside, packed, cleared)
        return f.function(_strips_name(self.image, self.stride))

    def _prepare(self, strip: Index) -> None:
        """The kind of a strip, and what its runs read."""
        f, a, stride, lanes = self.f, self.a, self.stride, self.f.lanes
        before = f.mul(strip, lanes)
        count = f.maximum(0, f.minimum(lanes, f.sub(a["pixels"], before)))
        first = f.add(a["pixel"], before)
        row = f.floordiv(first, a["width"])
        column = f.sub(first, f.mul(row, a["width"]))
        left, top = f.add(f.mul(column, stride), a["left"]), f.add(f.mul(row, a["sh"]), a["top"])
        right = f.add(left, f.mul(f.sub(a["columns"], 1), a["dw"]), stride * lanes)
        bottom = f.add(top, f.mul(f.sub(a["rows"], 1), a["dh"]))
        whole = f.both(f.at_least(left, 0), f.at_least(a["length"], right))
        whole = f.both(whole, f.both(f.at_least(top, 0), f.at_least(f.sub(a["height"], 1), bottom)))
        whole = f.both(whole, f.at_least(f.sub(a["width"], column), lanes))
        whole = f.both(whole, f.equal(count, lanes))
        runs = f.maximum(1, f.ceildiv(f.add(column, count), a["width"]))
        first_run = f.mul(strip, MOST_RUNS)
        f.store(f.index(f.select(whole, _WHOLE, runs)), self.kinds, strip)

        def masked() -> None:
            with f.loop(0, runs) as run:
                before = f.sub(f.mul(run, a["width"]), column)  # the lane of its row's first pixel
                lanes_of = f.maximum(0, before), f.minimum(count, f.add(before, a["width"]))
                self._prepare_run(f.add(first_run, run), lanes_of, f.sub(0, before), f.add(row, run), masked=True)

        def unmasked() -> None:
            self._prepare_run(first_run, (0, lanes), column, row, masked=False)

        f.branch(whole, unmasked, masked)

    def _prepare_run(
        self, run: Index, lanes_of: tuple[Index, Index], column: Index, row: Index, *, masked: bool
    ) -> None:
        """Where the pixels of one row of the output read under each tap, and the masks of those that read inside the image.

        Pixels are the lanes from the first up to the second of `lanes_of`; `column` and `row` are those of lane 0.
        """
        f, a = self.f, self.a
        left, top = f.add(f.mul(column, self.stride), a["left"]), f.add(f.mul(row, a["sh"]), a["top"])
        begin, stop = (f.mul(bound, self.stride) for bound in lanes_of)
        with f.loop(0, a["rows"]) as row_tap:
            line = f.add(top, f.mul(row_tap, a["dh"]))
            inside = f.both(f.at_least(line, 0), f.at_least(f.sub(a["height"], 1), line))
            with f.loop(0, a["columns"]) as tap:
                first = f.add(left, f.mul(tap, a["dw"]))
                at = f.add(f.mul(run, self.taps), f.mul(row_tap, a["columns"]), tap)
                f.store(f.index(f.add(f.mul(line, a["x_h"]), first)), self.places, at)
                if masked:
                    low = f.select(inside, f.maximum(begin, f.sub(0, first)), stop)
                    self._store_masks(at, low, f.minimum(stop, f.sub(a["length"], first)))

    def _store_masks(self, at: Index, low: Index, high: Index) -> None:
        """The masks of elements from `low` up to `high`, as far as those are in the vectors."""
        f, lanes = self.f, self.f.lanes
        for half in range(self.stride):
            bounds = [f.minimum(f.maximum(f.sub(each, half * lanes), 0), lanes) for each in (low, high)]
            f.store_lanes(bounds[0], bounds[1], self.masks, f.mul(f.add(f.mul(at, self.stride), half), lanes))

    def _target(self, layer: Index, strip: Index) -> Index:
        """Where in the panels a strip of a layer goes."""
        f = self.f
        number = f.floordiv(strip, self.vectors)
        in_panel = f.mul(f.sub(strip, f.mul(number, self.vectors)), f.lanes)
        return f.add(f.mul(number, self.deep), in_panel, f.mul(layer, f.mul(self.taps, self.width)))

    def _clear(self, target: Index) -> None:
        """Packs a strip of a layer in the padding."""
        f = self.f
        with f.loop(0, self.taps) as tap:
            f.store_vector(f.zeros(), self.a.pointers["panel"], f.add(target, f.mul(tap, self.width)))

    def _pack(self, plane: Index, strip: Index, target: Index) -> None:
        """Reads a strip of the layer that begins at `plane`, as its kind says."""
        f, x, panel = self.f, self.a.pointers["x"], self.a.pointers["panel"]

        def copied(kind: int) -> None:
            with f.loop(0, self.taps) as tap:
                halves = [f.zeros()] * self.stride
                for run in range(1 if kind == _WHOLE else kind):
                    at = f.add(f.mul(f.add(f.mul(strip, MOST_RUNS), run), self.taps), tap)
                    begin = f.add(plane, f.load(self.places, at))
                    for half in range(self.stride):
                        here = f.add(begin, half * f.lanes)
                        if kind == _WHOLE:
                            halves[half] = f.load_wide(x, here)
                        else:
                            mask = f.mul(f.add(f.mul(at, self.stride), half), f.lanes)
                            halves[half] = f.load_lanes(x, here, self.masks, mask, halves[half])
                value = halves[0] if self.stride == 1 else f.every_other(*halves)
                f.store_vector(value, panel, f.add(target, f.mul(tap, self.width)))

        f.switch(f.load(self.kinds, strip), range(_WHOLE, MOST_RUNS + 1), copied)


def _elements(f: VectorBuilder, a: _Arguments, layers: _Layers, width: int, part: tuple[Index, Index, Index]) -> None:
    """Writes the loops that pack a panel pixel by pixel: its first pixel, how many, and where it begins."""
    first, pixels, begin = part
    x, panel = a.pointers["x"], a.pointers["panel"]
    zero = f.constant("0.0", f.element)
    rows, columns = a["rows"], a["columns"]
    taps = f.mul(rows, columns)
    deep = f.mul(a["layers"], taps)

    def by_layers(j: Index, top: Index, left: Index) -> None:
        """Each tap is looked at once for all layers."""
        with f.loop(0, rows) as row_tap, f.loop(0, columns) as tap:
            row_in, row = _inside(f, f.add(top, f.mul(row_tap, a["dh"])), a["wide_h"], a["height"])
            column_in, column = _inside(f, f.add(left, f.mul(tap, a["dw"])), a["wide_w"], a["length"])
            source = f.add(f.mul(row, a["x_h"]), f.mul(column, a["x_w"]))
            target = f.add(begin, f.mul(f.add(f.mul(row_tap, columns), tap), width), j)

            def place_of(layer: Index, target: Index = target) -> Index:
                return f.add(target, f.mul(layer, f.mul(taps, width)))

            def copied(source: Index = source, place_of: Callable[[Index], Index] = place_of) -> None:
                with f.loop(0, a["layers"]) as layer:
                    layer_in, plane = layers.find(layer)

                    def filled(layer: Index = layer, plane: Index = plane) -> None:
                        value = f.load_wide(x, f.add(plane, source), vector=False)
                        f.store(value, panel, place_of(layer))

                    f.branch(layer_in, filled, lambda layer=layer: f.store(zero, panel, place_of(layer)))

            def cleared(place_of: Callable[[Index], Index] = place_of) -> None:
                with f.loop(0, a["layers"]) as layer:
                    f.store(zero, panel, place_of(layer))

            f.branch(f.both(row_in, column_in), copied, cleared)

    def by_rows(j: Index, top: Index, left: Index) -> None:
        """The taps of a row that read inside the image are one range; it is the same for every layer."""
        low = f.minimum(columns, f.maximum(0, f.ceildiv(f.sub(0, left), a["dw"])))
        high = f.maximum(low, f.minimum(columns, f.ceildiv(f.sub(a["length"], left), a["dw"])))
        step = f.mul(a["dw"], a["x_w"])
        with f.loop(0, a["layers"]) as layer, f.loop(0, rows) as row_tap:
            layer_in, plane = layers.find(layer)
            row = f.add(top, f.mul(row_tap, a["dh"]))
            row_in = f.both(f.at_least(row, 0), f.at_least(f.sub(a["height"], 1), row))
            stop = f.select(f.both(layer_in, row_in), high, low)
            source = f.add(plane, f.mul(row, a["x_h"]), f.mul(left, a["x_w"]))
            target = f.add(begin, f.mul(f.add(f.mul(layer, taps), f.mul(row_tap, columns)), width), j)
            with f.loop(low, stop) as tap:
                value = f.load_wide(x, f.add(source, f.mul(tap, step)), vector=False)
                f.store(value, panel, f.add(target, f.mul(tap, width)))
            for outside in ((0, low), (stop, columns)):
                with f.loop(*outside) as tap:
                    f.store(zero, panel, f.add(target, f.mul(tap, width)))

    plain = f.both(f.equal(a["wide_h"], 1), f.equal(a["wide_w"], 1))
    with f.loop(0, pixels) as j:
        pixel = f.add(first, j)
        row = f.floordiv(pixel, a["width"])
        column = f.sub(pixel, f.mul(row, a["width"]))
        top = f.add(f.mul(row, a["sh"]), a["top"])
        left = f.add(f.mul(column, a["sw"]), a["left"])
        f.branch(plain, lambda: by_rows(j, top, left), lambda: by_layers(j, top, left))
    with f.loop(pixels, width) as j, f.loop(0, deep) as p:
        f.store(zero, panel, f.add(begin, f.mul(p, width), j))
