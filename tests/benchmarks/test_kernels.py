"""The benchmark of products and convolutions measures contenders and the roof."""

from __future__ import annotations

from benchmarks.kernels import Registers, Window, convolution_rates


def test_a_convolution_and_the_roof_are_measured() -> None:
    window = Window((1, 4, 6, 6), (8, 4, 1, 1), (1, 8, 6, 6), (1, 1), (0, 0), (1, 1), 1)
    rates = convolution_rates(window, threads=1)
    assert {"ours", "PyTorch", "roof"} <= rates.keys()
    assert all(rate > 0 for rate in rates.values())
    assert Registers().operations > 0
