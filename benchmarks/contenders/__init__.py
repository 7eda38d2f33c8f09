"""Those who run a model: Hotdesk, and what people would use instead. Read `contender.py` first.

A contender lives in a process of its own. It imports its libraries in its methods, so none pays for another's.
"""

from .contender import Contender
from .on_executorch import Xnnpack
from .on_file import HotdeskLoaded
from .on_onnx import HotdeskOnnx, OnnxRuntimeArena, OnnxRuntimeNoArena, OpenVino
from .on_torch import Eager, Hotdesk, Inductor

_OURS = (Hotdesk, HotdeskOnnx, HotdeskLoaded)
_OTHERS = (Eager, Inductor, OnnxRuntimeArena, OnnxRuntimeNoArena, OpenVino, Xnnpack)
CONTENDERS: dict[str, type[Contender]] = {contender.name: contender for contender in (*_OURS, *_OTHERS)}

__all__ = ["CONTENDERS", "Contender"]
