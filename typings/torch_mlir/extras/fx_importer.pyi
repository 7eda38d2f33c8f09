from typing import Any

import torch.fx
from torch.export import ExportedProgram
from torch_mlir.ir import Context, Module, Operation

class FxImporterHooks:
    def prepare_module(self, module_op: Operation) -> None: ...

class FxImporter:
    def __init__(
        self,
        *,
        module: Module | None = None,
        context: Context | None = None,
        config_check: bool = True,
        py_attr_tracker: Any = None,
        hooks: FxImporterHooks | None = None,
    ) -> None: ...
    @property
    def module(self) -> Module: ...
    @property
    def module_op(self) -> Operation: ...
    def import_program(
        self,
        prog: ExportedProgram,
        *,
        func_name: str = "main",
        func_visibility: str | None = None,
        import_symbolic_shape_expressions: bool = False,
    ) -> Operation: ...
    def import_frozen_program(
        self,
        prog: ExportedProgram,
        *,
        func_name: str = "main",
        func_visibility: str | None = None,
        import_symbolic_shape_expressions: bool = False,
    ) -> Operation: ...
    def import_graph_module(
        self,
        gm: torch.fx.GraphModule,
        *,
        func_name: str = "main",
        func_visibility: str | None = None,
        import_symbolic_shape_expressions: bool = False,
    ) -> Operation: ...
    def import_stateless_graph(
        self,
        g: torch.fx.Graph,
        *,
        func_name: str = "main",
        func_visibility: str | None = None,
        import_symbolic_shape_expressions: bool = False,
    ) -> Operation: ...
