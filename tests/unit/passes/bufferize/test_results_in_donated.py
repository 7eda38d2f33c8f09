"""Results that are said to lie in donated arguments lie there, whatever loops, branches and calls bring."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.running import Subject, check

_FREED = "hotdesk-buffer-deallocation"
_CONSTANTS = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%k = arith.constant 1.5 : f32"
_T, _P = "tensor<4xf32>", "tensor<2xf32>"
_CALLEE = f"""func.func @g(%a: {_T}) -> {_T} {{
  %c = arith.constant 1.5 : f32
  %e = tensor.empty() : {_T}
  %f = linalg.fill ins(%c : f32) outs(%e : {_T}) -> {_T}
  return %f : {_T}
}}
"""
_CALL = f"func.call @g({{}}) : ({_T}) -> {_T}"
_FOR = "scf.for %i = %c0 to %n step %c1"
BODIES = {
    "a loop": f"""
      %r = {_FOR} iter_args(%a = %x) -> ({_T}) {{
        %z = {_CALL.format("%a")}
        scf.yield %z : {_T}
      }}
      return %r, %y : {_T}, {_T}""",
    "a while loop": f"""
      %r:2 = scf.while (%i = %c0, %a = %x) : (index, {_T}) -> (index, {_T}) {{
        %c = arith.cmpi slt, %i, %n : index
        scf.condition(%c) %i, %a : index, {_T}
      }} do {{
      ^bb0(%i: index, %a: {_T}):
        %z = {_CALL.format("%a")}
        %j = arith.addi %i, %c1 : index
        scf.yield %j, %z : index, {_T}
      }}
      return %r#1, %y : {_T}, {_T}""",
    "a loop in a loop": f"""
      %r = {_FOR} iter_args(%a = %x) -> ({_T}) {{
        %q = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> ({_T}) {{
          %z = {_CALL.format("%b")}
          scf.yield %z : {_T}
        }}
        scf.yield %q : {_T}
      }}
      return %r, %y : {_T}, {_T}""",
    "a loop of blocks": f"""
      cf.br ^head(%c0, %x : index, {_T})
    ^head(%i: index, %a: {_T}):
      %c = arith.cmpi slt, %i, %n : index
      cf.cond_br %c, ^body, ^end
    ^body:
      %z = {_CALL.format("%a")}
      %j = arith.addi %i, %c1 : index
      cf.br ^head(%j, %z : index, {_T})
    ^end:
      return %a, %y : {_T}, {_T}""",
    "a branch": f"""
      %c = arith.cmpi eq, %n, %c0 : index
      %r = scf.if %c -> {_T} {{
        scf.yield %x : {_T}
      }} else {{
        %z = {_CALL.format("%x")}
        scf.yield %z : {_T}
      }}
      return %r, %y : {_T}, {_T}""",
    "two that change places": f"""
      %r:2 = {_FOR} iter_args(%a = %x, %b = %y) -> ({_T}, {_T}) {{
        %z = {_CALL.format("%a")}
        scf.yield %b, %z : {_T}, {_T}
      }}
      return %r#0, %r#1 : {_T}, {_T}""",
    "a slice": f"""
      %s = tensor.extract_slice %x[1] [2] [1] : {_T} to {_P}
      %q = {_FOR} iter_args(%a = %s) -> ({_P}) {{
        %e = tensor.empty() : {_P}
        %f = linalg.fill ins(%k : f32) outs(%e : {_P}) -> {_P}
        scf.yield %f : {_P}
      }}
      %r = tensor.insert_slice %q into %x[1] [2] [1] : {_P} into {_T}
      return %r, %y : {_T}, {_T}""",
    "what goes in unread": f"""
      %r = {_FOR} iter_args(%a = %x) -> ({_T}) {{
        %q = scf.for %j = %c0 to %c1 step %c1 iter_args(%b = %y) -> ({_T}) {{
          %e = tensor.empty() : {_T}
          %f = linalg.fill ins(%k : f32) outs(%e : {_T}) -> {_T}
          scf.yield %f : {_T}
        }}
        scf.yield %q : {_T}
      }}
      return %r, %y : {_T}, {_T}""",
}
OPTIONS = {
    "returned": "results=returned results-in-donated",
    "staying": "results=returned results-in-donated allow-return-allocs-from-loops=false",
    "out-params": "results-in-donated",
    "not in donated": "",
}


@pytest.mark.parametrize(("name", "options"), list(itertools.product(BODIES, OPTIONS)))
def test_results(name: str, options: str) -> None:
    donated = "{hotdesk.donated}"
    text = f"""{_CALLEE}func.func @main(%x: {_T} {donated}, %y: {_T} {donated}, %n: index) -> ({_T}, {_T}) {{
      {_CONSTANTS}{BODIES[name]}
    }}"""
    subject = Subject(name, f"builtin.module(hotdesk-one-shot-bufferize{{{OPTIONS[options]}}},{_FREED})", frees=True)
    for times in range(3):
        x, y = np.arange(4, dtype=np.float32), np.arange(10, 14, dtype=np.float32)
        check(text, [x, y, np.int64(times)], subject)
