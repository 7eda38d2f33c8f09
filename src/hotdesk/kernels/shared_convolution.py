"""Convolutions shared out among threads: the functions that kernels call.

    hotdesk_convolution_f32(first, last, pixel, stop, filters, …)
    hotdesk_winograd_f32(first, last, tile, stop, filters, …)

computes a convolution and splits it into one part for each thread: of the images, groups and planes where there are enough of
them, else of the pixels (the tiles) or of the filters, whichever leaves the longest part shorter. The parts depend on the sizes
and on the number of threads alone, and so does the order in which a pixel is summed.
"""

from __future__ import annotations

from hotdesk.elements import summed_in
from hotdesk.kernels.convolution import CONVOLUTION_ARGUMENTS, convolution_name
from hotdesk.kernels.jobs import MOST_THREADS, Job
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import Tile
from hotdesk.kernels.winograd import PLACES, WINOGRAD_ARGUMENTS, winograd_name
from hotdesk.kernels.winograd_transforms import tiles_in_panel

_CUT = ("first", "last", "stop", "filters", "w", "y")


def shared_convolution_name(image: str, result: str = "") -> str:
    """The function for images and filters of an element type; `result` is the type of the result's elements if another."""
    return _named("hotdesk_convolution", image, result)


def shared_winograd_name(image: str, result: str = "") -> str:
    """The same by Winograd's filtering."""
    return _named("hotdesk_winograd", image, result)


def _named(kind: str, image: str, result: str) -> str:
    return f"{kind}_{image}" + (f"_{result}" if result not in ("", image) else "")


def sharing_convolution(machine: Machine, image: str, result: str) -> str:
    """The shared convolution in the LLVM dialect; it calls `hotdesk_share` and what `convolution_functions` become."""
    cut = (*_CUT, "pixel")
    name = shared_convolution_name(image, result)
    job = Job(name, convolution_name(image, result), CONVOLUTION_ARGUMENTS, pointers=("x", "w", "y"), cut=cut)
    deep = """
  %taps = llvm.mul %rows, %columns : i64
  %layers = llvm.mul %channels, %planes : i64
  %deep = llvm.mul %layers, %taps : i64"""
    return _sharing(job, machine, (image, result), "pixel", deep)


def sharing_winograd(machine: Machine, image: str, result: str) -> str:
    """The same for `winograd_functions`."""
    name, alone = shared_winograd_name(image, result), winograd_name(image, result)
    job = Job(name, alone, WINOGRAD_ARGUMENTS, ("x", "w", "y"), (*_CUT, "tile"))
    deep = f"""
  %places = llvm.mlir.constant({PLACES} : i64) : i64
  %deep = llvm.mul %channels, %places : i64"""
    return _sharing(job, machine, (image, result), "tile", deep)


def _sharing(job: Job, machine: Machine, types: tuple[str, str], place: str, deep: str) -> str:
    """The function that shares out a job whose outputs are numbered as `place` says.

    `types` are those of the image and of the result; `deep` tells how many multiplications there are to an output of a filter.
    """
    image, result = types
    tile, element = Tile.of(machine), summed_in(image)
    wide = tiles_in_panel(machine, element) if place == "tile" else tile.columns(machine, element)
    work = f"""
  %items = llvm.sub %last, %first : i64
  %pixels = llvm.sub %stop, %{place} : i64{deep}
  %plane = llvm.mul %pixels, %filters : i64
  %each = llvm.mul %plane, %deep : i64
  %work = llvm.mul %items, %each : i64
  %most = llvm.mlir.constant({MOST_THREADS} : i64) : i64"""
    steps = f"""
  %width_of = llvm.mlir.constant({machine.bytes_of(result)} : i64) : i64
  %w_width = llvm.mlir.constant({machine.bytes_of(image)} : i64) : i64"""
    part = f"""
  %item_start = llvm.add %first, %start : i64
  %item_end = llvm.add %first, %end : i64
  %first_part = llvm.select %by_result, %item_start, %first : i1, i64
  %last_part = llvm.select %by_result, %item_end, %last : i1, i64
  %pixel_start = llvm.add %{place}, %start : i64
  %pixel_end = llvm.add %{place}, %end : i64
  %pixel_cut = llvm.select %by_column, %pixel_start, %{place} : i1, i64
  %stop_cut = llvm.select %by_column, %pixel_end, %stop : i1, i64
  %{place}_part = llvm.select %by_result, %{place}, %pixel_cut : i1, i64
  %stop_part = llvm.select %by_result, %stop, %stop_cut : i1, i64
  %filter_count = llvm.select %by_column, %filters, %part_size : i1, i64
  %filters_part = llvm.select %by_result, %filters, %filter_count : i1, i64
  %filter_cut = llvm.select %by_column, %zero, %start : i1, i64
  %filter_start = llvm.select %by_result, %zero, %filter_cut : i1, i64
  %filter_byte = llvm.mul %filter_start, %width_of : i64
  %w_byte = llvm.mul %filter_start, %w_width : i64
  %w_step = llvm.mul %w_byte, %w_f : i64
  %y_step = llvm.mul %filter_byte, %y_c : i64
  %w_part = llvm.add %w, %w_step : i64
  %y_part = llvm.add %y, %y_step : i64"""
    return job.sharing((wide, tile.rows), ("items", "pixels", "filters"), work, part, steps)
