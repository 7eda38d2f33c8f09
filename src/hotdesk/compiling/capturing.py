"""Models of any kind as the pipeline takes them: told apart, and captured by their front end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from hotdesk.compiling.options import Options
from hotdesk.errors import ArgumentTypeError, MissingExtraError, OptionError
from hotdesk.frontends.captured import Captured
from hotdesk.frontends.mlir.reading import is_given
from hotdesk.frontends.onnx.reading import is_onnx
from hotdesk.runtime.code.products import PRODUCTS, compile_ahead

if TYPE_CHECKING:
    from hotdesk.frontends.torch.export import Exported


def captured(
    model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any, entry: str | None, options: Options
) -> Captured:
    """A model of any kind, as `compile` takes it, and as the pipeline does."""
    found = captured_or_exported(model, args, kwargs, dynamic_shapes, entry, options)
    return found if isinstance(found, Captured) else lower_exported(found, options)


def captured_or_exported(
    model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any, entry: str | None, options: Options
) -> Captured | Exported:
    """A program of a file, or of what files hold, captured; a PyTorch model exported only, as the rest may be on disk."""
    compile_ahead(PRODUCTS)
    if is_onnx(model):
        return _capture_onnx(model, dynamic_shapes, entry, examples=bool(args or kwargs))
    if is_given(model):
        return _capture_mlir(model, entry, options, examples=bool(args or kwargs or dynamic_shapes))
    if entry is not None:
        raise OptionError("option 'entry'", expected="a program in MLIR", got=type(model).__name__)
    return _export(model, args, kwargs, dynamic_shapes)


def lower_exported(exported: Exported, options: Options) -> Captured:
    """An exported PyTorch model, lowered to linalg on tensors."""
    from hotdesk.frontends.torch.export import lower

    return lower(exported, foreign=options.foreign, seed=options.seed)


def _capture_onnx(model: Any, dynamic_shapes: Any, entry: str | None, *, examples: bool) -> Captured:
    if entry is not None:
        raise OptionError("option 'entry'", expected="a program in MLIR", got="an ONNX model, which is one graph")
    if examples:
        hint = "Sizes that the model names are given by `dynamic_shapes`, such as {'batch': 8}."
        raise OptionError(
            "arguments of compile", expected="no examples for ONNX: its types say all", got="some", hint=hint
        )
    if dynamic_shapes is not None and not isinstance(dynamic_shapes, Mapping):
        expected = "for ONNX, a dictionary of sizes by name, such as {'batch': 8}"
        raise OptionError("argument 'dynamic_shapes'", expected=expected, got=type(dynamic_shapes).__name__)
    from hotdesk.frontends.onnx.capture import capture

    return capture(model, cast("Mapping[str, Any] | None", dynamic_shapes))


def _capture_mlir(model: Any, entry: str | None, options: Options, *, examples: bool) -> Captured:
    from hotdesk.frontends.mlir.capture import capture

    if examples:
        hint = "What may vary is `?` in the program, and `hotdesk.bounds` limits it."
        raise OptionError(
            "arguments of compile", expected="no examples for MLIR: its types say all", got="some", hint=hint
        )
    return capture(model, entry, foreign=options.foreign)


def _export(model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any) -> Exported:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError.of("compiling a PyTorch model", "torch", "torch") from error
    from hotdesk.frontends.torch.export import export

    if callable(model) and not isinstance(model, (torch.nn.Module, torch.export.ExportedProgram, type)):
        from hotdesk.frontends.torch.functions import as_module

        model = as_module(model)
    if not isinstance(model, (torch.nn.Module, torch.export.ExportedProgram)):
        raise ArgumentTypeError(
            "argument 'model'",
            expected="a torch.nn.Module, a function, a torch.export.ExportedProgram, an ONNX model (a file .onnx or a "
            "ModelProto), or MLIR: a file, text, bytecode or a module",
            got=type(model).__name__,
        )
    if not isinstance(cast(object, args), tuple):
        raise ArgumentTypeError(
            "argument 'args'", expected="a tuple of example arguments", got=type(args).__name__, hint="Write `(x,)`."
        )
    return export(model, args, kwargs, dynamic_shapes=dynamic_shapes)
