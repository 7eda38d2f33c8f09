"""The demo model from PyTorch: what is left to allocate and to compute, for several batches."""

import os

import torch
from torch import nn

import hotdesk


class Decompose_BatchNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear1 = nn.Linear(224, 100)
        self.batch1 = nn.BatchNorm1d(100)
        self.rule = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rule(self.batch1(self.linear1(x)))


torch.manual_seed(0)
model = Decompose_BatchNorm().eval()
batch = {"x": {0: torch.export.Dim("s0")}}
program = hotdesk.compile(model, (torch.randn(2, 224),), dynamic_shapes=batch, options=hotdesk.Options(keep_ir=True))

stage = program.ir("hotdesk-buffer-deallocation")
print(stage[stage.index("  func.func @main(") : stage.rindex("}")])
for rows in (1, 2, 7, 64):
    x = torch.randn(rows, 224)
    same = torch.allclose(program(x), model(x), rtol=1e-4, atol=1e-5)
    memory = program.memory(x)
    print(f"batch {rows}: {'as' if same else 'NOT as'} PyTorch, arena {memory.arena}, allocations {memory.allocations}")
print()
print(program.report(torch.randn(7, 224)).replace(os.getcwd() + os.sep, ""))
