"""Products, convolutions, and the layers of networks."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from tests.e2e.checking import random
from tests.e2e.families.given import IMAGE, ROW, VOLUME, Decoder, Families, SelfAttention, X, Y, plain_layers, seeded

LAYERS: Families = {
    "products": (
        {
            "mm": lambda x, y: (x @ y.t(), torch.mv(x, y[0]), torch.dot(x[0], y[0]), x @ y[0], torch.inner(x, y)),
            "add": lambda x, y: (torch.addmm(x[:, :3], x, y.t(), beta=0.5, alpha=2), torch.addmv(x[:, 0], y, x[0])),
            "einsum": lambda x, y: (
                torch.einsum("ij,kj->ik", x, y),
                torch.einsum("i,j->ij", x[0], y[0]),
                torch.einsum("ij->j", x),
            ),
            "integers": lambda x, y: x.long() @ y.long().t(),
        },
        (X, Y),
    ),
    "batched products": (
        {
            "bmm": lambda x, y: (torch.bmm(x, y), x @ y, x @ x.mT, x.mT @ x, torch.baddbmm(x @ y, x, y, beta=0.5)),
            "broadcast": lambda x, y: (x[:, None] @ y, x @ y[0], x[0] @ y, x @ y[0, :, 0]),
            "einsum": lambda x, y: (torch.einsum("bij,bjk->bik", x, y), torch.einsum("bij,bjk->bki", x, y)),
            "tensordot": lambda x, y: torch.tensordot(x, y, dims=([2], [1])),
        },
        (random(2, 3, 4), random(2, 4, 5)),
    ),
    "linear layers": (
        seeded(
            linear=lambda: nn.Linear(5, 4),
            no_bias=lambda: nn.Linear(5, 4, bias=False),
            two=lambda: nn.Sequential(nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 2)),
        ),
        (X,),
    ),
    "convolutions of rows": (
        seeded(
            plain=lambda: nn.Conv1d(4, 6, 3, padding=1),
            dilated=lambda: nn.Conv1d(4, 6, 3, stride=2, dilation=2, padding=2),
            groups=lambda: nn.Conv1d(4, 8, 3, groups=4),
            transposed=lambda: nn.ConvTranspose1d(4, 3, 3, stride=2),
        ),
        (ROW,),
    ),
    "convolutions": (
        seeded(
            plain=lambda: nn.Conv2d(4, 6, 3),
            strided=lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1),
            dilated=lambda: nn.Conv2d(4, 6, 3, dilation=2, padding=2),
            groups=lambda: nn.Conv2d(4, 6, 3, groups=2, padding=1),
            depthwise=lambda: nn.Conv2d(4, 8, 3, groups=4, padding=1),
            pointwise=lambda: nn.Conv2d(4, 6, 1, bias=False),
            same=lambda: nn.Conv2d(4, 6, 2, padding="same"),
            reflected=lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"),
            oblong=lambda: nn.Conv2d(4, 6, (3, 1), stride=(1, 2), padding=(1, 0)),
        ),
        (IMAGE,),
    ),
    "transposed convolutions": (
        seeded(
            plain=lambda: nn.ConvTranspose2d(4, 3, 2, stride=2),
            padded=lambda: nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1),
            groups=lambda: nn.ConvTranspose2d(4, 4, 3, stride=2, groups=2),
            dilated=lambda: nn.ConvTranspose2d(4, 3, 3, dilation=2),
        ),
        (IMAGE,),
    ),
    "convolutions of volumes": (
        seeded(
            plain=lambda: nn.Conv3d(2, 3, 3, padding=1),
            groups=lambda: nn.Conv3d(2, 4, 2, groups=2),
            transposed=lambda: nn.ConvTranspose3d(2, 3, 2, stride=2),
        ),
        (VOLUME,),
    ),
    "convolution by an argument": (
        {"plain": lambda x, w: F.conv2d(x, w, padding=1), "unbatched": lambda x, w: F.conv2d(x[0], w)},
        (IMAGE, random(3, 4, 3, 3)),
    ),
    "pooling": (
        {
            "max": lambda x: (
                F.max_pool2d(x, 3, 2, 1),
                F.max_pool2d(x, 3, 2, ceil_mode=True),
                F.max_pool2d(x, 2, 1, 0, 2),
            ),
            "max with indices": lambda x: F.max_pool2d(x, 2, return_indices=True),
            "average": lambda x: (F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2, divisor_override=3)),
            "average without padding": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
            "average rounded up": lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True),
            "adaptive average": lambda x: [F.adaptive_avg_pool2d(x, n) for n in (1, 2, (3, 4), (8, 7))],
            "adaptive max": lambda x: [F.adaptive_max_pool2d(x, n) for n in (1, 2, (4, 3))],
            "power": lambda x: F.lp_pool2d(x.abs() + 0.1, 2, 2),
        },
        (IMAGE,),
    ),
    "pooling of rows and volumes": (
        {
            "rows": lambda x, _: (
                F.max_pool1d(x, 2),
                F.avg_pool1d(x, 2),
                F.adaptive_avg_pool1d(x, 3),
                F.adaptive_max_pool1d(x, 1),
            ),
            "volumes": lambda _, x: (F.max_pool3d(x, 2), F.avg_pool3d(x, 2)),
        },
        (ROW, VOLUME),
    ),
    "interpolation": (
        {
            "nearest": lambda x: (F.interpolate(x, scale_factor=2), F.interpolate(x, size=(5, 9))),
            "nearest-exact": lambda x: F.interpolate(x, size=(5, 9), mode="nearest-exact"),
            "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
            "bilinear at corners": lambda x: F.interpolate(x, size=(5, 9), mode="bilinear", align_corners=True),
            "bicubic": lambda x: F.interpolate(x, size=(5, 9), mode="bicubic"),
            "area": lambda x: F.interpolate(x, size=(4, 7), mode="area"),
        },
        (IMAGE,),
    ),
    "image rearrangement": (
        {
            "shuffle": lambda x: (F.pixel_shuffle(x, 2), F.channel_shuffle(x, 2), F.pixel_unshuffle(x[..., :6], 2)),
            "unfold": lambda x: F.unfold(x, 2),
            "fold": lambda x: F.fold(F.unfold(x, 2), (8, 7), 2),
            "grid": lambda x: F.grid_sample(x, x[:, :2, :, :].permute(0, 2, 3, 1).tanh(), align_corners=False),
        },
        (IMAGE,),
    ),
    "norms": (
        seeded(
            batch=lambda: nn.BatchNorm2d(4),
            instance=lambda: nn.InstanceNorm2d(4, affine=True),
            group=lambda: nn.GroupNorm(2, 4),
            layer=lambda: nn.LayerNorm((8, 7)),
            plain=lambda: nn.LayerNorm(7, elementwise_affine=False),
            rms=lambda: nn.RMSNorm(7),
            local=lambda: nn.LocalResponseNorm(2),
        ),
        (IMAGE,),
    ),
    "activations": (
        {
            **plain_layers(
                *("ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "Softplus", "Softsign"),
                *(
                    "Hardtanh",
                    "Hardswish",
                    "Hardsigmoid",
                    "LogSigmoid",
                    "Tanhshrink",
                    "Softshrink",
                    "Hardshrink",
                    "PReLU",
                ),
                *("Sigmoid", "Tanh", "Identity", "Dropout", "AlphaDropout", "RReLU"),
            ),
            "tanh GELU": nn.GELU("tanh"),
            "threshold": nn.Threshold(0.1, 2.0),
            "softmin": nn.Softmin(dim=1),
            "glu": lambda x: F.glu(x[:, :4]),
        },
        (X,),
    ),
    "losses": (
        {
            **{name: getattr(F, name) for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")},
            "binary": lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
            "classes": lambda x, y: F.cross_entropy(x, y.argmax(1)),
            "divergence": lambda x, y: F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
        },
        (X, Y),
    ),
    "attention": (
        {
            "plain": F.scaled_dot_product_attention,
            "causal": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            "masked": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.ones(6, 6).tril().bool()),
            "biased": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, q[..., :6], scale=0.3),
            "grouped": lambda q, k, v: F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True),
            "row without keys": lambda q, k, v: F.scaled_dot_product_attention(
                q, k, v, torch.ones(6, 6).tril(-1).bool()
            ),
        },
        (random(2, 4, 6, 8), random(2, 4, 6, 8, seed=5), random(2, 4, 6, 8, seed=6)),
    ),
    "transformer layers": (
        seeded(
            encoder=lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
            decoder=lambda: Decoder(8, 2, 16, batch_first=True),
            attention=lambda: SelfAttention(8, 2, batch_first=True),
        ),
        (random(2, 4, 8),),
    ),
    "recurrent layers": (
        seeded(
            lstm=lambda: nn.LSTM(8, 5, batch_first=True),
            gru=lambda: nn.GRU(8, 5, batch_first=True),
            rnn=lambda: nn.RNN(8, 5, batch_first=True),
        ),
        (random(2, 3, 8),),
    ),
}
