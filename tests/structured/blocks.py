"""Random programs on memrefs whose blocks are joined by branches: diamonds, switches, blocks passed by, and loops of blocks.

Each allocation is written before it is read; some are used in later blocks. `@main` takes `FLAGS` conditions, a number of
iterations and an input of eight floats, and writes eight floats.
"""

from __future__ import annotations

from random import Random

FLAGS = 3
_X = "memref<8xf32>"
_KINDS = ("memref<8xf32>", "memref<8xf32>", "memref<16xf32>", "memref<2x8xf32>", "memref<32xi8>")


class _Blocks:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._lines: list[str] = []
        self._count = 0

    def text(self) -> str:
        flags = ", ".join(f"%p{i}: i1" for i in range(FLAGS))
        self._sequence(3, [])
        return "\n".join(
            [
                f"func.func @main({flags}, %n: index, %x: {_X}, %out: {_X} {{bufferize.result = 0}}) {{",
                "%zero = arith.constant 0 : index",
                "%one = arith.constant 1 : index",
                "%byte = arith.constant 3 : i8",
                f"memref.copy %x, %out : {_X} to {_X}",
                *self._lines,
                "return",
                "}",
            ]
        )

    def _name(self) -> str:
        self._count += 1
        return str(self._count)

    def _sequence(self, depth: int, visible: list[str]) -> None:
        visible = list(visible)
        for _ in range(self._random.randint(1, 3)):
            choice = self._random.random()
            if depth == 0 or choice < 0.45:
                self._allocation(visible)
            elif choice < 0.75:
                self._branch(depth - 1, visible)
            elif choice < 0.88:
                self._switch(depth - 1, visible)
            else:
                self._loop(depth - 1, visible)

    def _allocation(self, visible: list[str]) -> None:
        name, kind = f"%a{self._name()}", self._random.choice(_KINDS)
        self._lines.append(f"{name} = memref.alloc() : {kind}")
        if kind == "memref<32xi8>":
            self._lines.append(f"linalg.fill ins(%byte : i8) outs({name} : {kind})")
            return
        view = name
        if kind != _X:
            offsets, sizes = ("[0]", "[8]") if kind == "memref<16xf32>" else ("[1, 0]", "[1, 8]")
            strided = (
                "memref<8xf32, strided<[1]>>" if kind == "memref<16xf32>" else "memref<8xf32, strided<[1], offset: 8>>"
            )
            strides = "[1]" if kind == "memref<16xf32>" else "[1, 1]"
            view = f"{name}v"
            self._lines.append(f"{view} = memref.subview {name}{offsets} {sizes} {strides} : {kind} to {strided}")
            kind = strided
        function = self._random.choice(("exp", "tanh", "negf"))
        used = f"math.{function}" if function != "negf" else "arith.negf"
        self._lines.append(f"linalg.map {{ {used} }} ins(%out : {_X}) outs({view} : {kind})")
        if kind == _X and self._random.random() < 0.4:
            visible.append(name)
        else:
            self._add(view, kind)
        if visible and self._random.random() < 0.5:
            self._add(self._random.choice(visible), _X)

    def _add(self, view: str, kind: str) -> None:
        self._lines.append(f"linalg.map {{ arith.addf }} ins(%out, {view} : {_X}, {kind}) outs(%out : {_X})")

    def _flag(self) -> str:
        return f"%p{self._random.randrange(FLAGS)}"

    def _branch(self, depth: int, visible: list[str]) -> None:
        name = self._name()
        passed_by = self._random.random() < 0.3
        self._lines.append(f"cf.cond_br {self._flag()}, ^then{name}, ^{'join' if passed_by else 'else'}{name}")
        for way in ("then",) if passed_by else ("then", "else"):
            self._lines.append(f"^{way}{name}:")
            self._sequence(depth, visible)
            self._lines.append(f"cf.br ^join{name}")
        self._lines.append(f"^join{name}:")

    def _switch(self, depth: int, visible: list[str]) -> None:
        name = self._name()
        self._lines.append(f"%s{name} = arith.extui {self._flag()} : i1 to i32")
        self._lines.append(f"cf.switch %s{name} : i32, [default: ^case{name}x, 0: ^case{name}y, 7: ^case{name}z]")
        for way in "xyz":
            self._lines.append(f"^case{name}{way}:")
            self._sequence(depth, visible)
            self._lines.append(f"cf.br ^join{name}")
        self._lines.append(f"^join{name}:")

    def _loop(self, depth: int, visible: list[str]) -> None:
        name = self._name()
        self._lines += (f"cf.br ^head{name}(%zero : index)", f"^head{name}(%i{name}: index):")
        self._lines.append(f"%more{name} = arith.cmpi slt, %i{name}, %n : index")
        self._lines += (f"cf.cond_br %more{name}, ^body{name}, ^end{name}", f"^body{name}:")
        self._sequence(depth, visible)
        self._lines.append(f"%next{name} = arith.addi %i{name}, %one : index")
        self._lines += (f"cf.br ^head{name}(%next{name} : index)", f"^end{name}:")


def program_of_blocks(seed: int) -> str:
    """The program of a seed."""
    return _Blocks(Random(seed)).text()
