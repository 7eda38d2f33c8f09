"""What programs in MLIR put on the stack is planned, and the machine's stack does not grow in loops."""

from __future__ import annotations

import numpy as np
import pytest

import hotdesk

V, OPEN, VIEW = "memref<4xf32>", "memref<?xf32>", "memref<?xf32, strided<[1], offset: ?>>"
HEAD = f"func.func @f(%x: {V}, %n: index) {{\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index"
TEMPORARY = f"""
  %t = memref.alloca() : {V}
  linalg.exp ins(%x : {V}) outs(%t : {V})
  linalg.add ins(%x, %t : {V}, {V}) outs(%x : {V})"""
LESS = "%c = arith.cmpi slt, %c0, %n : index"
LOOP = "scf.for %i = %c0 to %n step %c1 {"
SCOPE = f"""{HEAD}
  {LOOP}
    %y = memref.alloca_scope -> ({V}) {{{TEMPORARY}
      memref.alloca_scope.return %x : {V}
    }}
    memref.copy %y, %x : {V} to {V}
  }}
  return
}}"""
CALLED = f"""
func.func private @g(%x: {V}) {{{TEMPORARY}
  return
}}
{HEAD}
  {LOOP}
    func.call @g(%x) : ({V}) -> ()
  }}
  return
}}"""
PASSED = f"""{HEAD}
  {LOOP}
    %c = arith.cmpi slt, %i, %n : index
    %t = scf.if %c -> {V} {{
      %s = memref.alloca() : {V}
      linalg.exp ins(%x : {V}) outs(%s : {V})
      scf.yield %s : {V}
    }} else {{
      scf.yield %x : {V}
    }}
    linalg.add ins(%x, %t : {V}, {V}) outs(%x : {V})
  }}
  return
}}"""
BLOCKS = f"""{HEAD}
  cf.br ^head(%c0 : index)
^head(%i: index):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^end
^body:{TEMPORARY}
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j : index)
^end:
  return
}}"""


def exp_added(x: np.ndarray, times: int) -> np.ndarray:
    for _ in range(times):
        x = x + np.exp(x)
    return x


@pytest.mark.parametrize("text", [SCOPE, CALLED, PASSED, BLOCKS], ids=["scope", "called", "passed", "blocks"])
def test_one_place_in_all_iterations(text: str) -> None:
    """What an iteration puts on the stack has one place in the arena, which is at its bound, and nothing grows."""
    program = hotdesk.compile(text)
    x = np.linspace(-9, -8, 4, dtype=np.float32)
    expected = exp_added(x, 3)
    program(x, 3)
    np.testing.assert_allclose(x, expected, rtol=1e-5)
    memory = program.memory(x, 3)
    assert (memory.arena, memory.lower_bound, memory.grown) == (64, 64, 0)


def test_an_open_size_in_a_loop() -> None:
    """80 MB of the stack in 20,000 iterations, were each to take its own."""
    program = hotdesk.compile(
        f"""
func.func @f(%x: {OPEN}, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = memref.dim %x, %c0 : {OPEN}
  {LOOP}
    %t = memref.alloca(%d) : {OPEN}
    linalg.fill ins(%one : f32) outs(%t : {OPEN})
    linalg.add ins(%x, %t : {OPEN}, {OPEN}) outs(%x : {OPEN})
  }}
  return
}}""".replace("%d = ", "%one = arith.constant 1.0 : f32\n%d = ")
    )
    x = np.zeros(1000, np.float32)
    program(x, 20_000)
    assert (x == 20_000).all()
    assert program.memory(x, 20_000).grown == 0


def test_more_than_the_stack_has() -> None:
    large = "memref<4000000xf32>"
    program = hotdesk.compile(f"""
func.func @f(%x: {large}, %i: index) -> f32 {{
  %t = memref.alloca() : {large}
  linalg.exp ins(%x : {large}) outs(%t : {large})
  %s = memref.load %t[%i] : {large}
  return %s : f32
}}""")
    assert program(np.zeros(4_000_000, np.float32), 7) == 1
    assert program.memory(np.zeros(4_000_000, np.float32), 7).arena == 16_000_000


def test_what_blocks_of_a_loop_share() -> None:
    """No turn hands it to the next one, so that it has one place, made once."""
    program = hotdesk.compile(f"""{HEAD}
  cf.br ^head(%c0 : index)
^head(%i: index):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^end
^body:{TEMPORARY}
  %d = arith.cmpi slt, %i, %c1 : index
  cf.cond_br %d, ^first, ^next
^first:
  linalg.add ins(%x, %t : {V}, {V}) outs(%x : {V})
  cf.br ^next
^next:
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j : index)
^end:
  return
}}""")
    taken: list[int] = []
    for times in (1, 50):
        x = np.full(4, -9, np.float32)
        program(x, times)
        first = np.full(4, -9, np.float32)
        first += 2 * np.exp(first)
        np.testing.assert_allclose(x, exp_added(first, times - 1), rtol=1e-5)
        taken.append(program.memory(x, times).grown)
    assert taken[0] == taken[1]


def test_what_a_condition_of_a_loop_shows_its_body() -> None:
    program = hotdesk.compile(f"""{HEAD}
  %z:2 = scf.while (%i = %c0) : (index) -> (index, {V}) {{
    %c = arith.cmpi slt, %i, %n : index
    %t = memref.alloca() : {V}
    linalg.exp ins(%x : {V}) outs(%t : {V})
    scf.condition(%c) %i, %t : index, {V}
  }} do {{
  ^bb0(%i: index, %t: {V}):
    linalg.add ins(%x, %t : {V}, {V}) outs(%x : {V})
    %j = arith.addi %i, %c1 : index
    scf.yield %j : index
  }}
  linalg.copy ins(%z#1 : {V}) outs(%x : {V})
  return
}}""")
    x = np.full(4, -9, np.float32)
    program(x, 50)
    np.testing.assert_allclose(x, np.exp(exp_added(np.full(4, -9, np.float32), 50)), rtol=1e-5)
    memory = program.memory(x, 50)
    assert (memory.arena, memory.grown) == (64, 0)


def test_scopes_in_each_other() -> None:
    """Sizes of their own, one of which only the run knows, and a view of what is outside as a result."""
    program = hotdesk.compile(f"""
func.func @f(%x: {OPEN}, %n: index) -> f32 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  {LOOP}
    %v = memref.alloca_scope -> ({VIEW}) {{
      %t = memref.alloca(%n) : {OPEN}
      linalg.fill ins(%one : f32) outs(%t : {OPEN})
      memref.alloca_scope {{
        %u = memref.alloca(%i) : {OPEN}
        linalg.fill ins(%one : f32) outs(%u : {OPEN})
        scf.for %j = %c0 to %i step %c1 {{
          %a = memref.load %u[%j] : {OPEN}
          %b = memref.load %t[%j] : {OPEN}
          %s = arith.addf %a, %b : f32
          memref.store %s, %t[%j] : {OPEN}
        }}
      }}
      linalg.add ins(%x, %t : {OPEN}, {OPEN}) outs(%x : {OPEN})
      %size = arith.subi %n, %i : index
      %w = memref.subview %x[%i] [%size] [1] : {OPEN} to {VIEW}
      memref.alloca_scope.return %w : {VIEW}
    }}
    %e = memref.load %v[%c0] : {VIEW}
    memref.store %e, %x[%c0] : {OPEN}
  }}
  %r = memref.load %x[%c0] : {OPEN}
  return %r : f32
}}""")
    x = np.zeros(4, np.float32)
    expected = np.zeros(4, np.float32)
    for i in range(4):
        expected += np.where(np.arange(4) < i, 2, 1)
        expected[0] = expected[i]
    assert program(x, 4) == expected[0]
    assert x.tolist() == expected.tolist()


def test_what_several_blocks_use_is_freed_where_the_function_returns() -> None:
    """A function that calls itself takes it from the second region, and gives it back: 50 calls take no more than one."""
    program = hotdesk.compile(f"""
func.func private @g(%x: {V}, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.alloca() : {V}
  linalg.exp ins(%x : {V}) outs(%t : {V})
  {LESS}
  cf.cond_br %c, ^more, ^end
^more:
  linalg.add ins(%x, %t : {V}, {V}) outs(%x : {V})
  %m = arith.subi %n, %c1 : index
  func.call @g(%x, %m) : ({V}, index) -> ()
  return
^end:
  return
}}
{HEAD}
  {LOOP}
    func.call @g(%x, %c1) : ({V}, index) -> ()
  }}
  return
}}""")
    taken: list[int] = []
    for times in (1, 50):
        x = np.full(4, -9, np.float32)
        program(x, times)
        np.testing.assert_allclose(x, exp_added(np.full(4, -9, np.float32), times), rtol=1e-5)
        taken.append(program.memory(x, times).grown)
    assert taken[0] == taken[1] > 0


def test_memory_that_a_loop_hands_on() -> None:
    """Each iteration of a `scf.while` makes memory of its own, since the next one reads it."""
    program = hotdesk.compile(f"""{HEAD}
  %a = memref.alloca() : {V}
  linalg.exp ins(%x : {V}) outs(%a : {V})
  %z:2 = scf.while (%i = %c0, %m = %a) : (index, {V}) -> (index, {V}) {{
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %m : index, {V}
  }} do {{
  ^bb0(%i: index, %m: {V}):
    %t = memref.alloca() : {V}
    linalg.add ins(%m, %x : {V}, {V}) outs(%t : {V})
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %t : index, {V}
  }}
  linalg.add ins(%x, %z#1 : {V}, {V}) outs(%x : {V})
  return
}}""")
    x = np.zeros(4, np.float32) + 0.5
    program(x, 3)
    np.testing.assert_allclose(x, np.exp(np.float32(0.5)) + 2, rtol=1e-6)


def test_a_scope_in_a_program_on_tensors() -> None:
    program = hotdesk.compile("""
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %r = memref.alloca_scope -> f32 {
    %t = memref.alloca() : memref<4xf32>
    %e = tensor.extract %x[%c0] : tensor<4xf32>
    memref.store %e, %t[%c0] : memref<4xf32>
    %v = memref.load %t[%c0] : memref<4xf32>
    memref.alloca_scope.return %v : f32
  }
  %q = linalg.fill ins(%r : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %q : tensor<4xf32>
}""")
    assert program(np.arange(3, 7, dtype=np.float32)).tolist() == [3] * 4


def test_vectors_beyond_the_end_of_memory_in_a_loop() -> None:
    """What MLIR puts on the stack for such reads is made once, not at each turn: 51 MB otherwise."""
    program = hotdesk.compile("""
func.func @f(%x: memref<8x16xf32>, %y: memref<8x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = vector.transfer_read %x[%c0, %c1], %z : memref<8x16xf32>, vector<8x16xf32>
    %w = vector.transfer_read %y[%c0, %c0], %z : memref<8x16xf32>, vector<8x16xf32>
    %s = arith.addf %v, %w : vector<8x16xf32>
    vector.transfer_write %s, %y[%c0, %c0] : vector<8x16xf32>, memref<8x16xf32>
  }
  return
}""")
    y = np.zeros((8, 16), np.float32)
    program(np.ones((8, 16), np.float32), y, 100_000)
    assert (y[:, :15] == 100_000).all()
    assert not y[:, 15].any()
