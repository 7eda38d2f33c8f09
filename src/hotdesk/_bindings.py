"""The only door to `torch_mlir`.

Everything Hotdesk needs of MLIR is imported here once, so that a change of wheel is a change of one file. The FX importer
needs torch and is therefore behind a function.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _mlirDialectsLinalg, _torchMlir
from torch_mlir.dialects import irdl
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager

if TYPE_CHECKING:
    import onnx
    import torch.fx

__all__ = [
    "ExecutionEngine",
    "PassManager",
    "address_of",
    "import_fx_graph",
    "import_onnx",
    "indexing_maps",
    "ir",
    "irdl",
    "make_engine",
    "object_file",
    "packed_entry",
    "register_stablehlo",
    "register_torch",
    "torch_mlir_decompositions",
    "translated",
    "without_classes",
]


def _dense(attribute: Any) -> Any:
    """The class of dense elements that an attribute has; complex numbers have none of their own."""
    for kind in (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr):
        try:
            return kind(attribute)
        except ValueError:
            pass
    return ir.DenseElementsAttr(attribute)


def _show_dense_complex() -> None:
    """Dense complex numbers can be read: the bindings' own caster raises on them, and aborts the process at times."""
    with ir.Context():
        kind = cast(Any, ir.Attribute.parse("dense<0> : tensor<1xi32>")).typeid
    cast(Any, ir).register_type_caster(kind, replace=True)(_dense)


_show_dense_complex()


def without_classes(dialect: str) -> None:
    """Tells the bindings that no Python module has classes for a dialect's ops; they look for it whenever they meet one."""
    name = f"torch_mlir.dialects.{dialect}"
    if name not in sys.modules and find_spec(name) is None:
        sys.modules[name] = ModuleType(name, "Of a dialect without classes in Python.")


for _dialect in ("hotdesk", "tm_tensor"):
    without_classes(_dialect)


# MLIR's C API through ctypes, where the bindings would hold Python's lock for as long as LLVM works.


def make_engine(module: ir.Module, level: int) -> ExecutionEngine:
    """An engine for a module in the LLVM dialect, at a level of LLVM's optimisation; other threads run meanwhile.

    It keeps the object file that it makes, for `object_file`; its code runs wherever it lies.

    Raises RuntimeError, as `ExecutionEngine` does, if LLVM refuses the module.
    """
    handle = _c_api().mlirExecutionEngineCreate(_of(module), level, 0, None, True, True)
    if not handle.pointer:
        raise RuntimeError("Failure while creating the ExecutionEngine.")
    return cast(Any, ExecutionEngine)._CAPICreate(_capsule_of(handle.pointer, _ENGINE, None))


def packed_entry(engine: ExecutionEngine, name: str) -> int | None:
    """The address of a function of packed arguments; None if there is none. Other threads run meanwhile.

    The engine compiles its module when it is asked for the first time.
    """
    return _c_api().mlirExecutionEngineLookupPacked(_of(engine), _Text(name.encode(), len(name)))


def object_file(engine: ExecutionEngine) -> bytes:
    """The object file that an engine has made of its module, after it was asked for an entry. Linux only.

    Raises OSError if the system has no room for it or does not show it (`/proc`).
    """
    # the C library's own: a Python made for an older one has no os.memfd_create
    descriptor = ctypes.CDLL(None, use_errno=True).memfd_create(b"hotdesk", 1)  # MFD_CLOEXEC
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "no file in memory")
    try:
        cast(Any, engine).dump_to_object_file(f"/proc/self/fd/{descriptor}")
        return Path(f"/proc/self/fd/{descriptor}").read_bytes()
    finally:
        os.close(descriptor)


class _Handle(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_void_p),)


class _Text(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("length", ctypes.c_size_t))


_ENGINE = b"torch_mlir.execution_engine.ExecutionEngine._CAPIPtr"
_python = ctypes.pythonapi
_name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", _python))
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))
_capsule_of = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", _python)
)


def _of(held: Any) -> _Handle:
    """What an object of the bindings stands for in the C API."""
    capsule = held._CAPIPtr
    return _Handle(_pointer_in(capsule, _name_of(capsule)))


_OPERATION = b"torch_mlir.ir.Operation._CAPIPtr"


def address_of(op: ir.Operation | ir.OpView) -> int:
    """Where MLIR has an op in memory, for as long as the op is there: no two ops that are there at once have the same."""
    return _pointer_in(cast(Any, op)._CAPIPtr, _OPERATION)


@cache
def _c_api() -> ctypes.CDLL:
    """The library that the bindings have loaded."""
    folder = Path(str(_mlirDialectsLinalg.__file__)).parent
    library = ctypes.CDLL(str(next(path for path in folder.iterdir() if "TorchMLIRAggregateCAPI" in path.name)))
    create, find = library.mlirExecutionEngineCreate, library.mlirExecutionEngineLookupPacked
    flags = (ctypes.c_bool, ctypes.c_bool)
    create.restype, create.argtypes = _Handle, (_Handle, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, *flags)
    find.restype, find.argtypes = ctypes.c_void_p, (_Handle, _Text)
    return library


def translated(module: ir.Module) -> str:
    """The text of LLVM's IR for a module in the LLVM dialect."""
    from torch_mlir.dialects import llvm

    return cast(Any, llvm).translate_module_to_llvmir(module.operation)


def indexing_maps(op: ir.Operation) -> list[ir.AffineMap] | None:
    """The indexing map of each operand of a structured op, `linalg.generic` or a named one; None for ops that have none."""
    maps = _mlirDialectsLinalg.get_indexing_maps(op)
    return None if maps is None else [each.value for each in maps]


def register_torch(context: ir.Context) -> None:
    """Makes a context know torch-mlir's dialects; the Python classes of their ops, thousands of them, are not imported for it."""
    _torchMlir.register_dialect(context)


def register_stablehlo(context: ir.Context) -> None:
    """Makes a context know StableHLO."""
    from torch_mlir._mlir_libs import _stablehlo

    _stablehlo.register_dialect(context)


def torch_mlir_decompositions() -> dict[Any, Callable[..., Any]]:
    """torch-mlir's own table of decompositions of PyTorch ops."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    return get_decomposition_table()


def import_fx_graph(context: ir.Context, graph: torch.fx.Graph, name: str) -> ir.Module:
    """Imports an FX graph as one function whose arguments are all placeholders, weights included (nothing is embedded)."""
    import torch
    from torch_mlir.extras.fx_importer import FxImporter, FxImporterHooks

    class DenseLiterals(FxImporterHooks):
        """Index tables that the importer makes itself become dense: the bindings cannot read a resource back."""

        def resolve_literal(self, gni: Any, literal: Any, info: Any) -> ir.Value | None:
            if not isinstance(literal, torch.Tensor) or literal.dtype != torch.int64:
                return None
            values = cast(Any, literal).tolist()
            dense = cast(Any, ir.DenseElementsAttr).get(np.array(values, dtype=np.int64))
            types = [gni._cc.tensor_to_vtensor_type(literal)]
            return ir.Operation.create("torch.vtensor.literal", results=types, attributes={"value": dense}).results[0]

    importer = FxImporter(context=context, hooks=DenseLiterals())
    importer.import_stateless_graph(graph, func_name=name)
    return importer.module


def import_onnx(context: ir.Context, model: onnx.ModelProto, name: str) -> ir.Module:
    """Imports an ONNX model as one function whose arguments are the graph's inputs; what initializers hold is dense.

    Raises whatever the importer does for what it does not know.
    """
    from onnx import numpy_helper
    from torch_mlir.extras.onnx_importer import ContextCache, ModelInfo, NodeImporter

    class DenseTensors(ContextCache):
        """Tensors become dense: the bindings cannot read a resource back."""

        def tensor_proto_to_attr(self, tp: Any) -> Any:
            kind: Any = cast(Any, self).tensor_proto_to_builtin_type(tp)
            values: Any = cast(Any, np).ascontiguousarray(cast(Any, numpy_helper).to_array(tp)).reshape(tuple(tp.dims))
            element = str(kind.element_type)
            if values.dtype == np.bool_:
                return ir.Attribute.parse(f"dense<{str(values.tolist()).lower()}> : {kind}")
            plain = values.view(np.uint16) if element == "bf16" else values
            return cast(Any, ir.DenseElementsAttr).get(plain, type=kind)

    model.graph.name = name
    info = ModelInfo(model)
    module = info.create_module(context=context)
    cache = DenseTensors(context)
    NodeImporter.define_function(info.main_graph, module.operation, cache).import_all()
    return module
