"""Programs as compilers make them: loops over casts, threads, reshapes and slices of slices. No more is copied than by MLIR's."""

from __future__ import annotations

import pytest

from tests.running import MLIR, OURS, assert_no_more, check
from tests.running.examples import inputs_of

_PROGRAMS = {
    "a loop that inserts into a cast of what goes in": (
        """
// given: 2
func.func @main(%v: f32) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<2xf32>
  %0 = linalg.fill ins(%v : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %0) -> tensor<2xf32> {
    %c = tensor.cast %0 : tensor<2xf32> to tensor<?xf32>
    %w = tensor.insert %v into %c[%c0] : tensor<?xf32>
    %d = tensor.cast %w : tensor<?xf32> to tensor<2xf32>
    scf.yield %d : tensor<2xf32>
  }
  return %1 : tensor<2xf32>
}
""",
        4,
    ),
    "what has no contents, cast in a loop": (
        """
// given: 2
func.func @main(%v: f32) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = bufferization.alloc_tensor() : tensor<2xf32>
  %1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %0) -> tensor<2xf32> {
    %c = tensor.cast %0 : tensor<2xf32> to tensor<?xf32>
    %w = tensor.insert %v into %c[%c0] : tensor<?xf32>
    %w2 = tensor.insert %v into %w[%c1] : tensor<?xf32>
    %d = tensor.cast %w2 : tensor<?xf32> to tensor<2xf32>
    scf.yield %d : tensor<2xf32>
  }
  return %1 : tensor<2xf32>
}
""",
        0,
    ),
    "one thread fills all of what it shares": (
        """
// given: 2
func.func @main(%x: tensor<8xf32>, %v: f32) -> tensor<8xf32> {
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> (tensor<8xf32>) {
    %f = linalg.fill ins(%v : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
""",
        1,
    ),
    "one thread writes an element of a slice that is all of it": (
        """
// given: 2
func.func @main(%x: tensor<8xf32>, %v: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> (tensor<8xf32>) {
    %s = tensor.extract_slice %o[0] [8] [1] : tensor<8xf32> to tensor<8xf32>
    %f = tensor.insert %v into %s[%c0] : tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
""",
        1,
    ),
    "one thread fills what has no contents": (
        """
// given: 2
func.func @main(%v: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %x = tensor.empty() : tensor<8xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> (tensor<8xf32>) {
    %s = tensor.extract_slice %o[0] [8] [1] : tensor<8xf32> to tensor<8xf32>
    %f = linalg.fill ins(%v : f32) outs(%s : tensor<8xf32>) -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
""",
        0,
    ),
    "one thread, of a size that is not known": (
        """
// given: 3, 2, 9
func.func @main(%idx: index, %idx2: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  %v = arith.constant 42. : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %x) -> (tensor<?xf32>) {
    %f = linalg.fill ins(%v : f32) outs(%o : tensor<?xf32>) -> tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>
}
""",
        1,
    ),
    "threads whose parts come from arguments": (
        """
// given: 3, 2, 9, 10
func.func @main(%idx: index, %idx2: index, %x: tensor<?xf32>, %y : tensor<?xf32> {hotdesk.donated}) -> (tensor<?xf32>, f32) {
  %v = arith.constant 42. : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.forall (%i) in (%idx2) shared_outs(%o = %y) -> (tensor<?xf32>) {
    %s = tensor.extract_slice %o[5] [%idx] [%c1] : tensor<?xf32> to tensor<?xf32>
    %f = linalg.fill ins(%v : f32) outs(%s : tensor<?xf32>) -> tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[5] [%idx] [%c1] : tensor<?xf32> into tensor<?xf32>
    }
  }
  %z = tensor.extract %r[%c0] : tensor<?xf32>
  return %r, %z : tensor<?xf32>, f32
}
""",
        1,
    ),
    "tiles of threads in place": (
        """
// given: 3, 2, 9
func.func @main(%idx: index, %idx2: index, %x: tensor<4x6xf32>, %f: f32) -> tensor<4x6xf32> {
  %c2 = arith.constant 2 : index
  %r = scf.forall (%i, %j) in (2, 3) shared_outs(%o = %x) -> (tensor<4x6xf32>) {
    %a = arith.muli %i, %c2 : index
    %b = arith.muli %j, %c2 : index
    %g = tensor.extract_slice %o[%a, %b] [2, 2] [1, 1] : tensor<4x6xf32> to tensor<2x2xf32>
    %h = linalg.exp ins(%g : tensor<2x2xf32>) outs(%g : tensor<2x2xf32>) -> tensor<2x2xf32>
    %k = linalg.abs ins(%h : tensor<2x2xf32>) outs(%h : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %k into %o[%a, %b] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<4x6xf32>
    }
  }
  return %r : tensor<4x6xf32>
}
""",
        1,
    ),
    "scratch memory of threads": (
        """
// given: 2
func.func @main(%x: tensor<8xf32>, %v: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tmp = tensor.empty() : tensor<2xf32>
  %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> (tensor<8xf32>) {
    %k = arith.addi %i, %i : index
    %f = tensor.insert %v into %tmp[%c0] : tensor<2xf32>
    %g = tensor.insert %v into %f[%c1] : tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %g into %o[%k] [2] [1] : tensor<2xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
""",
        5,
    ),
    "a reshape of a slice is overwritten": (
        """
// given: 2, 1
func.func @main(%x: tensor<8x4xf32>, %v: f32, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %s = tensor.extract_slice %x[%n, 0] [2, 2] [1, 1] : tensor<8x4xf32> to tensor<2x2xf32>
  %sh = arith.constant dense<4> : tensor<1xindex>
  %r = tensor.reshape %s(%sh) : (tensor<2x2xf32>, tensor<1xindex>) -> tensor<4xf32>
  %w = tensor.insert %v into %r[%c0] : tensor<4xf32>
  return %w : tensor<4xf32>
}
""",
        1,
    ),
    "a reshape of a slice is read": (
        """
// given: 2, 1
func.func @main(%x: tensor<8x4xf32>, %v: f32, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %s = tensor.extract_slice %x[%n, 0] [2, 2] [1, 1] : tensor<8x4xf32> to tensor<2x2xf32>
  %sh = arith.constant dense<4> : tensor<1xindex>
  %r = tensor.reshape %s(%sh) : (tensor<2x2xf32>, tensor<1xindex>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
""",
        1,
    ),
    "a collapse of a slice is overwritten": (
        """
// given: 2, 1
func.func @main(%x: tensor<8x4xf32>, %v: f32, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %s = tensor.extract_slice %x[%n, 0] [2, 2] [1, 1] : tensor<8x4xf32> to tensor<2x2xf32>
  %r = tensor.collapse_shape %s [[0,1]]: tensor<2x2xf32> into tensor<4xf32>
  %w = tensor.insert %v into %r[%c0] : tensor<4xf32>
  return %w : tensor<4xf32>
}
""",
        1,
    ),
    "a collapse of a slice is put back": (
        """
// given: 2, 1
func.func @main(%x: tensor<8x4xf32>, %v: f32, %n: index) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<8x4xf32>
  %y = linalg.exp ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = tensor.extract_slice %y[%n, 0] [2, 2] [1, 1] : tensor<8x4xf32> to tensor<2x2xf32>
  %r = tensor.collapse_shape %s [[0,1]]: tensor<2x2xf32> into tensor<4xf32>
  %w = tensor.insert %v into %r[%c0] : tensor<4xf32>
  %z = tensor.expand_shape %w [[0,1]] output_shape [2,2] : tensor<4xf32> into tensor<2x2xf32>
  %q = tensor.insert_slice %z into %y[%n, 0] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<8x4xf32>
  return %q : tensor<8x4xf32>
}
""",
        2,
    ),
    "slices of slices of an argument, put back": (
        """
// given: 5, 4, 2, 1
func.func @main(%A : tensor<?x?xf32>, %v: f32, %k: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %s = tensor.extract_slice %A[0, 0] [4, 4] [1, 1] : tensor<?x?xf32> to tensor<4x4xf32>
  %t = tensor.extract_slice %s[0, 0] [%k, 2] [1, 1] : tensor<4x4xf32> to tensor<?x2xf32>
  %f = linalg.fill ins(%v : f32) outs(%t : tensor<?x2xf32>) -> tensor<?x2xf32>
  %u = tensor.insert_slice %f into %s[0, 0] [%k, 2] [1, 1] : tensor<?x2xf32> into tensor<4x4xf32>
  %w = tensor.insert_slice %u into %A[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<?x?xf32>
  return %w : tensor<?x?xf32>
}
""",
        3,
    ),
    "slices of slices of arguments, some donated": (
        """
// given: 5, 5, 6, 6, 7, 7, 1, 3, 2, 0
func.func @main(%A : tensor<?x?xf32>, %B : tensor<?x?xf32> {hotdesk.donated},
    %C : tensor<?x?xf32> {hotdesk.donated}, %i: index, %k: index, %l: index, %v: f32)
    -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = tensor.extract_slice %A[0, 0] [%k, %k] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %t = tensor.extract_slice %s[0, 0] [2, 2] [1, 1] : tensor<?x?xf32> to tensor<2x2xf32>
  %f = linalg.fill ins(%v : f32) outs(%t : tensor<2x2xf32>) -> tensor<2x2xf32>
  %u = tensor.insert_slice %f into %s[0, 0] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<?x?xf32>
  %w = tensor.insert_slice %u into %A[0, 0] [%k, %k] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  %s1 = tensor.extract_slice %B[0, 0] [%k, %k] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %t1 = tensor.extract_slice %s1[0, %i] [2, 2] [1, 1] : tensor<?x?xf32> to tensor<2x2xf32>
  %f1 = linalg.fill ins(%v : f32) outs(%t1 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %u1 = tensor.insert_slice %f1 into %s1[0, %i] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<?x?xf32>
  %w1 = tensor.insert_slice %u1 into %B[0, 0] [%k, %k] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  %s2 = tensor.extract_slice %C[0, %i] [%k, %k] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %t2 = tensor.extract_slice %s2[0, 0] [%l, 2] [1, 1] : tensor<?x?xf32> to tensor<?x2xf32>
  %f2 = linalg.fill ins(%v : f32) outs(%t2 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %u2 = tensor.insert_slice %f2 into %s2[0, 0] [%l, 2] [1, 1] : tensor<?x2xf32> into tensor<?x?xf32>
  %w2 = tensor.insert_slice %u2 into %C[0, %i] [%k, %k] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %w, %w1, %w2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
""",
        5,
    ),
    "one without contents is written twice": (
        """
// given: 2
func.func @main(%v: f32) -> (tensor<2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tmp = bufferization.alloc_tensor() : tensor<2xf32>
  %a = tensor.insert %v into %tmp[%c0] : tensor<2xf32>
  %b = tensor.insert %v into %a[%c1] : tensor<2xf32>
  %c = tensor.insert %v into %tmp[%c1] : tensor<2xf32>
  %d = tensor.insert %v into %c[%c0] : tensor<2xf32>
  return %b, %d : tensor<2xf32>, tensor<2xf32>
}
""",
        0,
    ),
    "one without contents goes to two calls": (
        """
// given: 2, 2
func.func private @w(%x: tensor<2xf32>, %v: f32) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.insert %v into %x[%c0] : tensor<2xf32>
  %b = tensor.insert %v into %a[%c1] : tensor<2xf32>
  return %b : tensor<2xf32>
}
func.func @main(%v: f32, %n: index) -> (tensor<2xf32>, tensor<2xf32>) {
  %tmp = bufferization.alloc_tensor() : tensor<2xf32>
  %a = call @w(%tmp, %v) : (tensor<2xf32>, f32) -> tensor<2xf32>
  %b = call @w(%tmp, %v) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}
""",
        0,
    ),
    "one without contents goes into two loops": (
        """
// given: 2, 1
func.func @main(%v: f32, %n: index) -> (tensor<2xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %tmp = bufferization.alloc_tensor() : tensor<2xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %tmp) -> tensor<2xf32> {
    %a = tensor.insert %v into %tmp[%c0] : tensor<2xf32>
    %b = tensor.insert %v into %a[%c1] : tensor<2xf32>
    scf.yield %b : tensor<2xf32>
  }
  %q = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %tmp) -> tensor<2xf32> {
    %a = tensor.insert %v into %t[%c0] : tensor<2xf32>
    %b = tensor.insert %v into %a[%c1] : tensor<2xf32>
    scf.yield %b : tensor<2xf32>
  }
  %z = tensor.extract %q[%c0] : tensor<2xf32>
  return %r, %z : tensor<2xf32>, f32
}
""",
        0,
    ),
    "a switch that inserts, of dynamic sizes": (
        """
// given: 9, 1, 3, 2
func.func @main(%x: tensor<?xf32>, %k: index, %i: index, %v: f32) -> tensor<?xf32> {
  %0 = scf.index_switch %k -> tensor<?xf32>
  case 0 {
    scf.yield %x : tensor<?xf32>
  }
  default {
    %1 = tensor.insert %v into %x[%i] : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
""",
        1,
    ),
    "blocks that insert, of dynamic sizes": (
        """
// given: 9, 1, 3, 2
func.func @main(%x: tensor<?xf32>, %k: i1, %i: index, %v: f32) -> tensor<?xf32> {
  cf.cond_br %k, ^a, ^b
^a:
  %1 = tensor.insert %v into %x[%i] : tensor<?xf32>
  cf.br ^j(%1 : tensor<?xf32>)
^b:
  cf.br ^j(%x : tensor<?xf32>)
^j(%r: tensor<?xf32>):
  return %r : tensor<?xf32>
}
""",
        1,
    ),
    "branches of different dynamic sizes": (
        """
// given: 9, 8, 1, 3, 2
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %k: i1, %i: index, %v: f32) -> tensor<?xf32> {
  %0 = scf.if %k -> tensor<?xf32> {
    scf.yield %y : tensor<?xf32>
  } else {
    %1 = tensor.insert %v into %x[%i] : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
""",
        1,
    ),
    "a region in a branch, of dynamic sizes": (
        """
// given: 9, 1, 3, 2
func.func @main(%x: tensor<?xf32>, %k: i1, %i: index, %v: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.if %k -> tensor<?xf32> {
    %q = scf.execute_region -> tensor<?xf32> {
      %1 = tensor.insert %v into %x[%i] : tensor<?xf32>
      scf.yield %1 : tensor<?xf32>
    }
    scf.yield %q : tensor<?xf32>
  } else {
    %1 = tensor.insert %v into %x[%i] : tensor<?xf32>
    %2 = tensor.insert %v into %1[%c0] : tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
""",
        1,
    ),
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_copies(name: str) -> None:
    text, copies = _PROGRAMS[name]
    inputs = inputs_of(text)
    ours = check(text, inputs, OURS)
    assert ours.copies.count == copies
    assert_no_more(ours, check(text, inputs, MLIR))
