"""Products shared out among threads: the functions that kernels call.

    hotdesk_product_f32(batch, m, n, k, a, …, b, …, c, …, add)

computes `batch` products, c[i] (+)= a[i] b[i], and splits them into one part for each thread: of the batch where there are enough
of it, else of the columns or rows, whichever leaves the longest part shorter. The parts depend on the sizes and on the number of
threads alone, and so does the order in which an element of c is summed.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.elements import HALVES
from hotdesk.kernels.blocks import PRODUCT_ARGUMENTS, SWEEP_ARGUMENTS, Matrix, kinds, sweep_name
from hotdesk.kernels.halves import half_functions, half_product_name
from hotdesk.kernels.jobs import MOST_THREADS, Job, address_function
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import Tile
from hotdesk.kernels.product import product_functions, product_name
from hotdesk.kernels.tiles import SLAB
from hotdesk.kernels.vectors import VectorBuilder

ELEMENTS = ("f32", "f64")
"""Element types that there are products and convolutions of; of `HALVES` there are products."""

SHARED_ARGUMENTS = (
    "batch",
    "m",
    "n",
    "k",
    *(f"{matrix}{part}" for matrix in "abc" for part in ("", "_batch", "_row", "_column")),
    "add",
)
"""Arguments of a product, all of them i64: sizes, of each matrix its address and its strides in elements, and 1 to add to c."""

_READ = 8  # multiplications in the time that an element of an operand takes to come from memory


def shared_name(element: str, result: str = "") -> str:
    """The function of products; `result` is the type of the result's elements where it is another."""
    return f"hotdesk_product_{element}" + (f"_{result}" if result not in ("", element) else "")


def batch_functions(machine: Machine, element: str) -> str:
    """The functions of products on one thread, in func, vector, scf, memref and arith: what the shared one calls."""
    return product_functions(machine, element) + _batch(machine, element, product_name(element))


def half_batch_functions(machine: Machine, element: str, result: str) -> str:
    """The same for 16-bit floats."""
    product = half_product_name(element, result)
    return half_functions(machine, element, result) + _batch(machine, element, product, result)


def _batch(machine: Machine, element: str, product: str, result: str = "") -> str:
    """The function of a batch of products on one thread."""
    f = VectorBuilder(machine, element)
    batch, m, n, k = (f.number(name) for name in ("batch", "m", "n", "k"))
    steps: dict[str, str] = {}
    matrices: dict[str, Matrix] = {}
    for name in "abc":
        memory = f.pointer(name, result if name == "c" else "")
        steps[name] = f.number(f"{name}_batch")
        matrices[name] = Matrix(memory, 0, f.number(f"{name}_row"), f.number(f"{name}_column"))
    add = f.flag("add")
    with f.loop(0, batch) as i:
        at = {name: f.mul(i, step) for name, step in steps.items()}
        here = [Matrix(each.memory, at[name], each.row, each.column) for name, each in matrices.items()]
        values = [m, n, k, *(value for each in here for value in each.arguments), add]
        f.call_local(product, list(zip(values, kinds(PRODUCT_ARGUMENTS, element, result), strict=True)))
    return f.function(_batch_name(element, result))


def _batch_name(element: str, result: str) -> str:
    return f"hotdesk_batch_{element}{result}"


def _job(element: str, result: str) -> Job:
    cut = ("batch", "m", "n", "a", "b", "c")
    return Job(
        shared_name(element, result), _batch_name(element, result), SHARED_ARGUMENTS, pointers=("a", "b", "c"), cut=cut
    )


def sharing_function(machine: Machine, element: str, result: str = "") -> str:
    """The shared product in the LLVM dialect; it calls `hotdesk_share` and what `batch_functions` become."""
    tile, job = Tile.of(machine), _job(element, result)
    functions = () if element in HALVES else ((sweep_name, SWEEP_ARGUMENTS), (product_name, PRODUCT_ARGUMENTS))
    work = f"""
  %most = llvm.mlir.constant({MOST_THREADS} : i64) : i64
  %read = llvm.mlir.constant({_READ} : i64) : i64
  %mn = llvm.mul %m, %n : i64
  %mk = llvm.mul %m, %k : i64
  %nk = llvm.mul %n, %k : i64
  %products = llvm.mul %mn, %k : i64
  %operands = llvm.add %mk, %nk : i64
  %reading = llvm.mul %operands, %read : i64
  %each = llvm.add %products, %reading : i64
  %work = llvm.mul %batch, %each : i64"""
    steps = f"""
  %width = llvm.mlir.constant({machine.bytes_of(element)} : i64) : i64
  %c_width = llvm.mlir.constant({machine.bytes_of(result or element)} : i64) : i64
  %a_cut = llvm.select %by_column, %zero, %a_row : i1, i64
  %b_cut = llvm.select %by_column, %b_column, %zero : i1, i64
  %c_cut = llvm.select %by_column, %c_column, %c_row : i1, i64
  %a_step0 = llvm.select %by_result, %a_batch, %a_cut : i1, i64
  %b_step0 = llvm.select %by_result, %b_batch, %b_cut : i1, i64
  %c_step0 = llvm.select %by_result, %c_batch, %c_cut : i1, i64
  %a_step = llvm.mul %a_step0, %width : i64
  %b_step = llvm.mul %b_step0, %width : i64
  %c_step = llvm.mul %c_step0, %c_width : i64"""
    part = f"""
  %cut_n = llvm.select %by_column, %part_size, %n : i1, i64
  %cut_m = llvm.select %by_column, %m, %part_size : i1, i64
  %batch_part = llvm.select %by_result, %part_size, %batch : i1, i64
  %n_part = llvm.select %by_result, %n, %cut_n : i1, i64
  %m_part = llvm.select %by_result, %m, %cut_m : i1, i64
{_moved("a")}
{_moved("b")}
{_moved("c")}"""
    tiled = (SLAB, SLAB) if machine.multiplies_tiles(element) else (tile.columns(machine, element), tile.rows)
    telling = "".join(told(name(element), arguments, element) for name, arguments in functions)
    return job.sharing(tiled, ("batch", "n", "m"), work, part, steps) + telling


def told(function: str, arguments: Sequence[str], element: str) -> str:
    """What tells other modules, in the LLVM dialect, the address of a function of vectors."""
    types = ", ".join(_in_llvm(kind) for kind in kinds(arguments, element))
    return f"llvm.func @{function}({types})\n{address_function(function)}\n"


def _in_llvm(kind: str) -> str:
    """The type that one of a function's arguments has after its lowering."""
    return "!llvm.ptr" if kind.startswith("memref") else "i64" if kind == "index" else kind


def _moved(matrix: str) -> str:
    return f"  %{matrix}_m = llvm.mul %start, %{matrix}_step : i64\n  %{matrix}_part = llvm.add %{matrix}, %{matrix}_m : i64"
