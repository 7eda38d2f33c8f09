"""Work shared out as jobs: the text, in the LLVM dialect, around the arguments of a function that computes a part of it.

A job is the arguments of such a function, one after the other in memory, each 8 bytes.
"""

from __future__ import annotations

from hotdesk.python.record import Record

GRAIN = 1 << 18
"""Multiplications that are worth a thread: some microseconds, more than it costs to hand them to one that looks for work."""

MOST_THREADS = 64


def address_name(function: str) -> str:
    """The function that stores the address of another where it is told to."""
    return f"{function}_address"


def address_function(function: str) -> str:
    return f"""
llvm.func @{address_name(function)}(%to: !llvm.ptr) {{
  %function = llvm.mlir.addressof @{function} : !llvm.ptr
  llvm.store %function, %to : !llvm.ptr, !llvm.ptr
  llvm.return
}}"""


class Job(Record):
    """What is shared out.

    Attributes:
        name: the function that shares it out; its arguments are `i64`s.
        alone: the function that computes a part on one thread.
        arguments: the arguments of both, but for their types; `add` is a truth.
        pointers: those that are addresses.
        cut: those that differ from part to part: in a loop over the parts they are named `%<argument>_part`.
    """

    name: str
    alone: str
    arguments: tuple[str, ...]
    pointers: tuple[str, ...]
    cut: tuple[str, ...]

    @property
    def _bytes(self) -> int:
        """How many bytes a job has."""
        return 8 * len(self.arguments)

    @property
    def declared(self) -> str:
        """The arguments of the function that shares it out."""
        return ", ".join(f"%{name}: i64" for name in self.arguments)

    @property
    def functions(self) -> str:
        """The declaration of `alone`, what a thread calls with the address of a job, and what tells the address of `name`."""
        loaded = "\n".join(
            f"  %{name}_a = llvm.getelementptr %job[{i}] : (!llvm.ptr) -> !llvm.ptr, i64\n"
            f"  %{name} = llvm.load %{name}_a : !llvm.ptr -> i64"
            for i, name in enumerate(self.arguments)
        )
        return f"""
llvm.func @{self.alone}({self._types})

llvm.func internal @{self.name}_part(%job: !llvm.ptr) {{
{loaded}
{self.call("part")}
  llvm.return
}}
{address_function(self.name)}"""

    @property
    def _types(self) -> str:
        return ", ".join("!llvm.ptr" if n in self.pointers else "i1" if n == "add" else "i64" for n in self.arguments)

    def call(self, prefix: str) -> str:
        """A call of `alone` with the arguments as they are; what it needs besides is named after the prefix."""
        pointers = "\n".join(f"  %{prefix}_{name} = llvm.inttoptr %{name} : i64 to !llvm.ptr" for name in self.pointers)
        passed = ", ".join(
            f"%{prefix}_{name}" if name in self.pointers or name == "add" else f"%{name}" for name in self.arguments
        )
        return f"""{pointers}
  %{prefix}_no = llvm.mlir.constant(0 : i64) : i64
  %{prefix}_add = llvm.icmp "ne" %add, %{prefix}_no : i64
  llvm.call @{self.alone}({passed}) : ({self._types}) -> ()"""

    @property
    def _stored(self) -> str:
        """Stores the job of a part at `%slot`."""
        return "\n".join(
            f"  %{name}_s = llvm.getelementptr %slot[{i}] : (!llvm.ptr) -> !llvm.ptr, i64\n"
            f"  llvm.store %{name}{'_part' if name in self.cut else ''}, %{name}_s : i64, !llvm.ptr"
            for i, name in enumerate(self.arguments)
        )

    def sharing(self, tile: tuple[int, int], sizes: tuple[str, str, str], work: str, part: str, steps: str = "") -> str:
        """The function that splits the work into one part for each thread, in the LLVM dialect.

        Args:
            tile: the columns and rows of results that are computed together.
            sizes: the names of what is split: how many results there are, and their columns and rows. Results stay whole, unless
                the parts were uneven; else columns or rows are cut, whichever leaves the longest part shorter.
            work: computes `%work`, in multiplications, and `%most`, how many threads there is room for.
            part: computes what differs from part to part (`cut`), for the one from `%start` to `%end`, `%part_size` long;
                `%by_result` says whether results stay whole, `%by_column` whether columns are cut and not rows.
            steps: computes what is the same for all parts, in front of them.
        """
        results, columns, rows = sizes
        return f"""
{self.functions}

llvm.func @{self.name}({self.declared}) attributes {{no_inline}} {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %grain = llvm.mlir.constant({GRAIN} : i64) : i64
  %wide = llvm.mlir.constant({tile[0]} : i64) : i64
  %high = llvm.mlir.constant({tile[1]} : i64) : i64
{work}
  %where = llvm.mlir.addressof @hotdesk_threads : !llvm.ptr
  %allowed = llvm.load %where : !llvm.ptr -> i64
  %bounded = llvm.intr.smin(%allowed, %most) : (i64, i64) -> i64
  %worth = llvm.sdiv %work, %grain : i64
  %wanted = llvm.intr.smin(%bounded, %worth) : (i64, i64) -> i64
  %several = llvm.icmp "sgt" %wanted, %one : i64
  llvm.cond_br %several, ^share, ^alone
^alone:
{self.call("alone")}
  llvm.return
^share:
  %up = llvm.sub %wanted, %one : i64
{_chunk(results, "one")}
{_chunk(columns, "wide")}
{_chunk(rows, "high")}
  // Parts are uneven where more than a fifth of one is idle: that is more than threads lose by sharing operands.
  %shared = llvm.mul %{results}_chunk, %wanted : i64
  %idle = llvm.sub %shared, %{results} : i64
  %five = llvm.mlir.constant(5 : i64) : i64
  %idles = llvm.mul %idle, %five : i64
  %by_result = llvm.icmp "sle" %idles, %{results} : i64
  %longest_columns = llvm.mul %{columns}_chunk, %{rows} : i64
  %longest_rows = llvm.mul %{rows}_chunk, %{columns} : i64
  %by_column = llvm.icmp "sle" %longest_columns, %longest_rows : i64
  %cut_size = llvm.select %by_column, %{columns}, %{rows} : i1, i64
  %cut_chunk = llvm.select %by_column, %{columns}_chunk, %{rows}_chunk : i1, i64
  %size = llvm.select %by_result, %{results}, %cut_size : i1, i64
  %chunk = llvm.select %by_result, %{results}_chunk, %cut_chunk : i1, i64{steps}
  %stride = llvm.mlir.constant({self._bytes} : i64) : i64
  %space = llvm.mul %wanted, %stride : i64
  %jobs = llvm.alloca %space x i8 {{alignment = 16 : i64}} : (i64) -> !llvm.ptr
  llvm.br ^next(%zero, %zero : i64, i64)
^next(%i: i64, %start: i64):
  %left_over = llvm.sub %size, %start : i64
  %part_size = llvm.intr.smin(%left_over, %chunk) : (i64, i64) -> i64
  %end = llvm.add %start, %part_size : i64
{part}
  %offset = llvm.mul %i, %stride : i64
  %slot = llvm.getelementptr %jobs[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
{self._stored}
  %after = llvm.add %i, %one : i64
  %again = llvm.icmp "slt" %end, %size : i64
  llvm.cond_br %again, ^next(%after, %end : i64, i64), ^run
^run:
  %function = llvm.mlir.addressof @{self.name}_part : !llvm.ptr
  llvm.call @hotdesk_share(%function, %jobs, %stride, %after) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
  llvm.return
}}"""


def _chunk(size: str, granule: str) -> str:
    """The length of a part, a multiple of the granule, as `%<size>_chunk`."""
    return f"""  %{size}_g0 = llvm.sub %{granule}, %one : i64
  %{size}_g1 = llvm.add %{size}, %{size}_g0 : i64
  %{size}_granules = llvm.sdiv %{size}_g1, %{granule} : i64
  %{size}_more = llvm.add %{size}_granules, %up : i64
  %{size}_even = llvm.sdiv %{size}_more, %wanted : i64
  %{size}_chunk = llvm.mul %{size}_even, %{granule} : i64"""
