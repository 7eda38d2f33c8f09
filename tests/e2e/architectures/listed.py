"""All architectures, by the name of their module in `transformers` or, where there are several of it, what they are of it."""

from __future__ import annotations

from tests.e2e.architectures.architecture import Architecture
from tests.e2e.architectures.audio import AUDIO
from tests.e2e.architectures.decoders import DECODERS
from tests.e2e.architectures.encoder_decoders import ENCODER_DECODERS
from tests.e2e.architectures.encoders import ENCODERS
from tests.e2e.architectures.multimodal import MULTIMODAL
from tests.e2e.architectures.vision import VISION

ARCHITECTURES: dict[str, Architecture] = {
    **ENCODERS,
    **DECODERS,
    **ENCODER_DECODERS,
    **VISION,
    **AUDIO,
    **MULTIMODAL,
}
