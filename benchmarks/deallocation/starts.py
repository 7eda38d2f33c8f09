"""The modules on memrefs that all sides start from: bufferized, nothing freed yet.

mlir   MLIR's bufferization; of models after elementwise fusion. Programs that it does not take are bufferized by Hotdesk's, which
       returns results in new memory as well: nobody has to know their sizes before.
own    Hotdesk's tensor passes, bufferization and workspaces, as the compiler runs them. Its ops become calls of declared
       functions on the same memrefs, since MLIR's deallocation refuses ops of which it knows no effects.
given  programs that are on memrefs already
"""

from __future__ import annotations

from typing import Any, cast

from benchmarks.bufferization.sides import bufferize_with_mlir
from benchmarks.bufferization.worker import parse_module
from hotdesk._bindings import ir
from hotdesk.errors import HotdeskError
from hotdesk.ir.building import create
from hotdesk.ir.context import entered
from hotdesk.ir.walking import entry_block, nested_ops
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.buffers.workspaces import AllocateWorkspaces
from hotdesk.passes.textual import parse_pipeline
from hotdesk.pipeline import Log, optimize_tensors

_TIDY = "canonicalize,cse"
_MLIR = "one-shot-bufferize{bufferize-function-boundaries allow-return-allocs-from-loops}"
_OURS = "hotdesk-one-shot-bufferize{results=returned}"
_STAND_IN = "stand_in"


def started(how: str, text: str) -> str:
    """A module on memrefs, as text. Raises HotdeskError if nothing bufferizes the program."""
    if how == "given":
        return text
    module = parse_module(text)
    if how == "model":
        bufferize_with_mlir(module)
    elif how == "own":
        _bufferize_as_compiled(module)
    elif how == "ours":
        parse_pipeline(f"builtin.module({_OURS},{_TIDY})").run(module)
    else:
        _say_what_is_only_read(module)
        parse_pipeline(f"builtin.module({_MLIR},{_TIDY})").run(module)
    return str(module)


def _say_what_is_only_read(module: ir.Module) -> None:
    """Tells MLIR which tensors `@main` may not write: those that are not donated."""
    with entered(module.operation):
        for op in module.body.operations:
            function = op.operation
            if function.name != "func.func" or cast(Any, function.attributes["sym_name"]).value != "main":
                continue
            arguments = list(entry_block(function).arguments)
            known: list[Any] = [{}] * len(arguments)
            if "arg_attrs" in function.attributes:
                known = list(cast(Any, function.attributes["arg_attrs"]))
            entries: list[ir.Attribute] = []
            for argument, given in zip(arguments, known, strict=True):
                entry: dict[str, ir.Attribute] = {named.name: named.attr for named in given}
                if isinstance(argument.type, ir.RankedTensorType) and "hotdesk.donated" not in entry:
                    entry["bufferization.writable"] = ir.BoolAttr.get(False)
                entries.append(ir.DictAttr.get(entry))
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)


def _bufferize_as_compiled(module: ir.Module) -> None:
    optimize_tensors(module, Log())
    with entered(module.operation):
        OneShotBufferize().run(module)
        AllocateWorkspaces().run(module)
        _stand_in(module)


def _stand_in(module: ir.Module) -> None:
    declared: dict[str, str] = {}
    for op in list(nested_ops(module.operation)):
        if not op.name.startswith("hotdesk."):
            continue
        if op.results:
            raise HotdeskError(f"op `{op.name}` on memrefs", expected="no results", got=str(len(op.results)))
        types = ", ".join(str(value.type) for value in op.operands)
        name = declared.setdefault(types, f"{_STAND_IN}_{len(declared)}")
        callee = ir.FlatSymbolRefAttr.get(name)
        create("func.call", list(op.operands), [], {"callee": callee}, before=op)
        op.erase()
    for types, name in declared.items():
        module.body.append(ir.Operation.parse(f"func.func private @{name}({types})"))
