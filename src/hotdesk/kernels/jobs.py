"""Work shared out as jobs: the text, in the LLVM dialect, around the arguments of a function that computes a part of it.

A job is the arguments of such a function, one after the other in memory, each 8 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

GRAIN = 1 << 20
"""Multiplications that are worth a thread: several times what it costs to hand them to one that looks for work."""

MOST_THREADS = 64

ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}


def telling_name(function: str) -> str:
    """The function that stores the address of another where it is told to."""
    return f"{function}_address"


def telling_function(function: str) -> str:
    return f"""
llvm.func @{telling_name(function)}(%to: !llvm.ptr) {{
  %function = llvm.mlir.addressof @{function} : !llvm.ptr
  llvm.store %function, %to : !llvm.ptr, !llvm.ptr
  llvm.return
}}"""


@dataclass(frozen=True, slots=True)
class Job:
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
    def bytes(self) -> int:
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
{telling_function(self.name)}"""

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
    def stored(self) -> str:
        """Stores the job of a part at `%slot`."""
        return "\n".join(
            f"  %{name}_s = llvm.getelementptr %slot[{i}] : (!llvm.ptr) -> !llvm.ptr, i64\n"
            f"  llvm.store %{name}{'_part' if name in self.cut else ''}, %{name}_s : i64, !llvm.ptr"
            for i, name in enumerate(self.arguments)
        )

    @property
    def share(self) -> str:
        """Has `%after` jobs, which begin at `%jobs` and lie `%stride` bytes apart, done."""
        return f"""  %function = llvm.mlir.addressof @{self.name}_part : !llvm.ptr
  llvm.call @hotdesk_share(%function, %jobs, %stride, %after) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()"""


def chunk(size: str, granule: str) -> str:
    """The length of a part, a multiple of the granule, as `%<size>_chunk`."""
    return f"""  %{size}_g0 = llvm.sub %{granule}, %one : i64
  %{size}_g1 = llvm.add %{size}, %{size}_g0 : i64
  %{size}_granules = llvm.sdiv %{size}_g1, %{granule} : i64
  %{size}_more = llvm.add %{size}_granules, %up : i64
  %{size}_even = llvm.sdiv %{size}_more, %wanted : i64
  %{size}_chunk = llvm.mul %{size}_even, %{granule} : i64"""
