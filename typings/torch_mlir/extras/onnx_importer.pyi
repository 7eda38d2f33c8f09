from dataclasses import dataclass, field

import onnx
from torch_mlir.ir import Context, Module, Operation

@dataclass
class Config:
    elide_initialized_inputs: bool = True
    function_expansion_allowlists_by_domain: dict[str, set[str]] | None = field(default_factory=dict[str, set[str]])
    function_expansion_denylists_by_domain: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

class OnnxImportError(Exception): ...

class GraphInfo:
    model_info: ModelInfo
    graph_proto: onnx.GraphProto
    initializer_map: dict[str, onnx.TensorProto]
    input_map: dict[str, onnx.ValueInfoProto]
    output_map: dict[str, onnx.ValueInfoProto]
    def __init__(self, model_info: ModelInfo, graph_proto: onnx.GraphProto, is_subgraph: bool = False) -> None: ...

class ModelInfo:
    config: Config
    model_proto: onnx.ModelProto
    main_graph: GraphInfo
    def __init__(self, model_proto: onnx.ModelProto, *, config: Config = ...) -> None: ...
    def create_module(self, context: Context | None = None) -> Module: ...

class NodeImporter:
    @classmethod
    def define_function(
        cls,
        graph_info: GraphInfo,
        module_op: Operation,
        context_cache: ContextCache | None = None,
        module_cache: ModuleCache | None = None,
        private: bool = False,
    ) -> NodeImporter: ...
    def import_all(self, func: bool = True) -> None: ...

class ContextCache:
    def __init__(self, context: Context) -> None: ...

class ModuleCache:
    def __init__(self, module_op: Operation, context_cache: ContextCache) -> None: ...
