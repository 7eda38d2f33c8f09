"""What is put into a bufferized module before it is lowered, so that running it tells what it does.

    memref.alloc() {alignment = 64}    ->   call @note(0, bytes), memref.alloc()
    memref.copy %a, %b                 ->   call @note(1, bytes), linalg.copy ins(%a) outs(%b)
    memref.global constant @k          ->   memref.global @k, and a function that returns its address

1. Copies are `memref.copy`, `linalg.copy` and a `linalg.generic` that hands its only input to its only output.
2. Memory in which MLIR's deallocation keeps pointers and flags is not noted: nobody's tensor lies there.
3. Constants become writable, so that a program that writes one is told instead of killed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from torch_mlir import ir

from tests.reference import DTYPES

ALLOCATED, COPIED = 0, 1
NOTE, ALLOCATE, FREE = "test_note", "_mlir_memref_to_llvm_alloc", "_mlir_memref_to_llvm_free"
_HOOKS = {
    NOTE: """
    func.func private @{name}(%kind: index, %bytes: index) {{
      %address = llvm.mlir.constant({address} : i64) : i64
      %function = llvm.inttoptr %address : i64 to !llvm.ptr
      %a = arith.index_cast %kind : index to i64
      %b = arith.index_cast %bytes : index to i64
      llvm.call %function(%a, %b) : !llvm.ptr, (i64, i64) -> ()
      return
    }}""",
    ALLOCATE: """
    llvm.func @{name}(%bytes: i64) -> !llvm.ptr {{
      %address = llvm.mlir.constant({address} : i64) : i64
      %function = llvm.inttoptr %address : i64 to !llvm.ptr
      %memory = llvm.call %function(%bytes) : !llvm.ptr, (i64) -> !llvm.ptr
      llvm.return %memory : !llvm.ptr
    }}""",
    FREE: """
    llvm.func @{name}(%memory: !llvm.ptr) {{
      %address = llvm.mlir.constant({address} : i64) : i64
      %function = llvm.inttoptr %address : i64 to !llvm.ptr
      llvm.call %function(%memory) : !llvm.ptr, (!llvm.ptr) -> ()
      llvm.return
    }}""",
}
_ADDRESS = """
    func.func @{name}() -> index attributes {{llvm.emit_c_interface}} {{
      %address = arith.constant 0 : index
      return %address : index
    }}"""


def instrument(module: ir.Module, hooks: Mapping[str, int]) -> dict[str, tuple[int, bool]]:
    """Puts all of it in; `hooks` has the address of what to call for `NOTE`, `ALLOCATE` and `FREE`.

    Returns the names of the functions that return where globals lie, with the bytes each has and whether it is a constant.
    """
    with module.context, ir.Location.unknown():
        for op in list(_nested(module.operation)):
            if op.name == "memref.alloc":
                _note_allocation(op)
            elif op.name in ("memref.copy", "linalg.copy") or _hands_on(op):
                _note_copy(op)
        for name, address in hooks.items():
            module.body.append(ir.Operation.parse(_HOOKS[name].format(name=name, address=address)))
        return _expose_globals(module)


def _nested(op: Any) -> Iterator[Any]:
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from _nested(view.operation)


def _note_allocation(op: Any) -> None:
    bookkeeping = "alignment" not in op.attributes and str(op.results[0].type.element_type) in ("index", "i1")
    if not (bookkeeping and op.results[0].type.rank == 1):  # 2
        _note(op, ALLOCATED, op.results[0].type, list(op.operands))
    if "alignment" in op.attributes:
        del op.attributes["alignment"]


def _hands_on(op: Any) -> bool:
    if op.name != "linalg.generic" or len(op.operands) != 2 or len(op.results):
        return False
    block = op.regions[0].blocks[0]
    maps = [str(m) for m in op.attributes["indexing_maps"]]
    first = block.operations[0].operation
    return first.name == "linalg.yield" and first.operands[0] == block.arguments[0] and maps[0] == maps[1]


def _note_copy(op: Any) -> None:
    source, target = op.operands
    with ir.InsertionPoint(op):
        sizes = [_dim(target, i) for i in range(target.type.rank) if target.type.is_dynamic_dim(i)]
    _note(op, COPIED, target.type, sizes)
    if op.name == "memref.copy":  # whose lowering asks for a runtime library
        with ir.InsertionPoint(op):
            identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(target.type.rank))
            parallel = [ir.Attribute.parse("#linalg.iterator_type<parallel>")] * target.type.rank
            new = ir.Operation.create(
                "linalg.generic",
                operands=[source, target],
                attributes={
                    "indexing_maps": ir.ArrayAttr.get([identity, identity]),
                    "iterator_types": ir.ArrayAttr.get(parallel),
                    "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
                },
                regions=1,
            )
        element = target.type.element_type
        block = new.regions[0].blocks.append(element, element, arg_locs=[op.location] * 2)
        with ir.InsertionPoint(block):
            ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
        op.erase()


def _note(op: Any, what: int, memref: Any, dynamic: Sequence[Any]) -> None:
    """A call in front of an op, with the bytes of a memref; `dynamic` are its dynamic sizes."""
    with ir.InsertionPoint(op):
        total = _index(_item_bytes(memref.element_type))
        rest = iter(dynamic)
        for i in range(memref.rank):
            size = next(rest) if memref.is_dynamic_dim(i) else _index(memref.get_dim_size(i))
            total = ir.Operation.create("arith.muli", operands=[total, size], results=[ir.IndexType.get()]).results[0]
        callee = ir.FlatSymbolRefAttr.get(NOTE)
        ir.Operation.create("func.call", operands=[_index(what), total], attributes={"callee": callee})


def _item_bytes(element: Any) -> int:
    """Of vectors too, whose rows have room for a power of two of elements."""
    if not isinstance(element, ir.VectorType):
        return DTYPES[str(element)].itemsize
    *rows, row = element.shape
    return prod(rows) * (1 << (row - 1).bit_length()) * _item_bytes(element.element_type)


def _index(value: int) -> Any:
    index = ir.IndexType.get()
    attributes: dict[str, ir.Attribute] = {"value": ir.IntegerAttr.get(index, value)}
    return ir.Operation.create("arith.constant", results=[index], attributes=attributes).results[0]


def _dim(memref: Any, position: int) -> Any:
    return ir.Operation.create("memref.dim", operands=[memref, _index(position)], results=[ir.IndexType.get()]).results[
        0
    ]


def _expose_globals(module: ir.Module) -> dict[str, tuple[int, bool]]:
    found: dict[str, tuple[int, bool]] = {}
    views: Any = list(module.body.operations)
    for op in [view.operation for view in views if view.operation.name == "memref.global"]:
        constant = "constant" in op.attributes
        if constant:
            del op.attributes["constant"]
        symbol, memref = op.attributes["sym_name"].value, op.attributes["type"].value
        name = f"test_address_of{len(found)}"  # a symbol may hold what a name in text may not
        function: Any = ir.Operation.parse(_ADDRESS.format(name=name))
        module.body.append(function)
        last = function.regions[0].blocks[0].operations[1].operation
        with ir.InsertionPoint(last):
            attributes: dict[str, ir.Attribute] = {"name": ir.FlatSymbolRefAttr.get(symbol)}
            memory = ir.Operation.create("memref.get_global", results=[memref], attributes=attributes).results
            read = "memref.extract_aligned_pointer_as_index"
            last.operands[0] = ir.Operation.create(read, operands=memory, results=[ir.IndexType.get()]).results[0]
        found[name] = (DTYPES[str(memref.element_type)].itemsize * _elements(memref), constant)
    return found


def _elements(memref: Any) -> int:
    total = 1
    for size in memref.shape:
        total *= int(size)
    return total
