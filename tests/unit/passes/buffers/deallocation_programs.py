"""Programs on memrefs in which buffers change hands: by loops, branches, blocks, calls, choices and views."""

from __future__ import annotations

M = "memref<4xf32>"
COPY = f"memref.copy {{}}, {{}} : {M} to {M}"
HEAD = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
"""


def copy(a: str, b: str) -> str:
    return COPY.format(a, b)


def main(body: str, functions: str = "") -> str:
    arguments = f"%n: index, %p: i1, %x: {M}, %y: {M}, %out: {M} {{bufferize.result = 0 : i64}}"
    return f"{functions}\nfunc.func @main({arguments}) {{\n{HEAD}{body}\nreturn\n}}"


def loop(
    yielded: str, inits: str, body: str = "", names: str = "%u %v", bounds: str = "%i = %c0 to %n step %c1"
) -> str:
    carried = ", ".join(f"{a} = {b}" for a, b in zip(names.split(), inits.split(), strict=False))
    count = len(inits.split())
    types = ", ".join([M] * count)
    head, _, kind = bounds.partition(" :")
    return f"""%r:{count} = scf.for {head} iter_args({carried}) -> ({types}) {": " * bool(kind)}{kind} {{
    {body}
    scf.yield {yielded} : {types}
  }}
"""


A = f"%a = memref.alloc() : {M}\n{copy('%x', '%a')}\n"
B = f"%b = memref.alloc() : {M}\n{copy('%y', '%b')}\n"
FRESH = f"%w = memref.alloc() : {M}\n{copy('%u', '%w')}\n"
ODD = "%odd = arith.remui %i, %c2 : index\n%q = arith.cmpi eq, %odd, %c0 : index\n"
SOMETIMES = f"""{ODD}%w = scf.if %q -> {M} {{
  %f = memref.alloc() : {M}
  {copy("%u", "%f")}
  scf.yield %f : {M}
}} else {{
  scf.yield %u : {M}
}}
"""
D = f"%d = memref.alloc() : {M}\n{copy('%v', '%d')}\n"


def picked(body: str) -> str:
    """A program that calls a function which returns `%r`, made of its arguments `%u` and `%v`."""
    return main(
        f"{A}{B}%r = func.call @pick(%n, %p, %a, %b) : (index, i1, {M}, {M}) -> {M}\n"
        f"{copy('%a', '%out')}\n{copy('%r', '%out')}",
        f"func.func private @pick(%n: index, %p: i1, %u: {M}, %v: {M}) -> {M} {{\n{HEAD}{body}\nreturn %r : {M}\n}}",
    )


THRICE, NEVER = "%i = %c0 to %c3 step %c1", "%i = %c2 to %c2 step %c1"
BYTES = "%c200 = arith.constant 200 : i8\n%s0 = arith.constant 0 : i8\n%s100 = arith.constant 100 : i8\n"
UNSIGNED, SIGNED = "unsigned %i = %s0 to %c200 step %s100 : i8", "%i = %s0 to %c200 step %s100 : i8"

PROGRAMS = {
    "loop, new sometimes": main(f"{loop('%w', '%x', SOMETIMES)}{copy('%r#0', '%out')}"),
    "loop, new sometimes, from an allocation": main(f"{A}{loop('%w', '%a', SOMETIMES)}{copy('%r#0', '%out')}"),
    "loop, new each time": main(f"{loop('%w', '%x', FRESH)}{copy('%r#0', '%out')}"),
    "loop, new each time, first one used later": main(
        f"{A}{loop('%w', '%a', FRESH)}{copy('%r#0', '%out')}\n{copy('%a', '%out')}"
    ),
    "loop that runs, new each time": main(f"{loop('%w', '%x', FRESH, bounds=THRICE)}{copy('%r#0', '%out')}"),
    "loop that never runs, new each time": main(f"{loop('%w', '%x', FRESH, bounds=NEVER)}{copy('%r#0', '%out')}"),
    "loop that runs, unsigned, new each time": main(
        f"{BYTES}{loop('%w', '%x', FRESH, bounds=UNSIGNED)}{copy('%r#0', '%out')}"
    ),
    "loop that never runs, signed, new each time": main(
        f"{BYTES}{loop('%w', '%x', FRESH, bounds=SIGNED)}{copy('%r#0', '%out')}"
    ),
    "loop that runs, swap with an argument and a new one": main(
        f"{loop('%v, %w', '%x %y', FRESH, bounds=THRICE)}{copy('%r#0', '%out')}\n{copy('%r#1', '%out')}"
    ),
    "returned from a loop that runs": picked(
        loop("%w", "%u", f"{D}{copy('%d', '%v')}{FRESH}".replace("%u", "%z"), "%z", THRICE)
    ),
    "swap": main(f"{A}{B}{loop('%v, %u', '%a %b')}{copy('%r#0', '%out')}"),
    "swap with an argument": main(f"{A}{loop('%v, %u', '%a %x')}{copy('%r#0', '%out')}"),
    "swap of one": main(f"{A}{loop('%v, %u', '%a %a')}{copy('%r#1', '%out')}"),
    "one twice": main(f"{A}{loop('%w, %w', '%a %a', FRESH)}{copy('%r#1', '%out')}\n{copy('%r#0', '%out')}"),
    "swap with a new one": main(f"{A}{B}{loop('%v, %w', '%a %b', FRESH)}{copy('%r#1', '%out')}"),
    "swap, new sometimes": main(
        f"{A}{loop('%v, %w', '%a %x', SOMETIMES)}{copy('%r#0', '%out')}\n{copy('%r#1', '%out')}"
    ),
    "selected": main(f"{A}{B}%s = arith.select %p, %a, %b : {M}\n{copy('%s', '%out')}"),
    "selected and carried": main(
        f"{A}{B}{loop('%s', '%a', f'{FRESH}%s = arith.select %p, %u, %w : {M}', '%u')}{copy('%r#0', '%out')}"
    ),
    "selected of an outer one and carried": main(
        f"{A}{B}{loop('%s', '%a', f'{FRESH}%s = arith.select %p, %b, %w : {M}', '%u')}{copy('%r#0', '%out')}"
    ),
    "view carried": main(
        f"""%a = memref.alloc() : memref<8xf32>
  %t = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %z = memref.cast %t : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[?], offset: ?>>
  memref.copy %x, %t : {M} to memref<4xf32, strided<[1], offset: 4>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %z) -> memref<4xf32, strided<[?], offset: ?>> {{
    %w = memref.alloc() : memref<8xf32>
    %o = memref.subview %w[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
    memref.copy %u, %o : memref<4xf32, strided<[?], offset: ?>> to memref<4xf32, strided<[1], offset: 2>>
    %k = memref.cast %o : memref<4xf32, strided<[1], offset: 2>> to memref<4xf32, strided<[?], offset: ?>>
    scf.yield %k : memref<4xf32, strided<[?], offset: ?>>
  }}
  memref.copy %r, %out : memref<4xf32, strided<[?], offset: ?>> to {M}"""
    ),
    "while": main(
        f"""{A}%r:2 = scf.while (%i = %c0, %u = %a) : (index, {M}) -> (index, {M}) {{
    %more = arith.cmpi slt, %i, %n : index
    {FRESH}
    scf.condition(%more) %i, %w : index, {M}
  }} do {{
  ^bb0(%i: index, %v: {M}):
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %v : index, {M}
  }}
  {copy("%r#1", "%out")}"""
    ),
    "called": main(
        f"{A}%r = func.call @pick(%p, %a) : (i1, {M}) -> {M}\n{copy('%a', '%out')}\n{copy('%r', '%out')}",
        f"""func.func private @pick(%p: i1, %x: {M}) -> {M} {{
    %c = memref.alloc() : {M}
    %one = arith.constant 1.0 : f32
    linalg.fill ins(%one : f32) outs(%c : {M})
    %r = scf.if %p -> {M} {{ scf.yield %c : {M} }} else {{ scf.yield %x : {M} }}
    return %r : {M}
  }}""",
    ),
    "returned from one of two ways": picked(
        f"%r = scf.if %p -> {M} {{\n{FRESH}scf.yield %w : {M}\n}} else {{\nscf.yield %u : {M}\n}}"
    ),
    "returned from nested ways": picked(
        f"""{D}%r = scf.if %p -> {M} {{
    scf.yield %d : {M}
  }} else {{
    %q = arith.cmpi eq, %n, %c1 : index
    %s = scf.if %q -> {M} {{
      scf.yield %u : {M}
    }} else {{
      {FRESH}
      scf.yield %w : {M}
    }}
    %z = memref.cast %s : {M} to {M}
    scf.yield %z : {M}
  }}"""
    ),
    "returned from one of two ways, the argument is written before": picked(
        f"""{D}%r = scf.if %p -> {M} {{ scf.yield %d : {M} }} else {{ scf.yield %u : {M} }}
  {copy("%d", "%u")}"""
    ),
    "returned from one of two ways, the argument is written in a loop before": picked(
        f"""{D}%r = scf.if %p -> {M} {{ scf.yield %d : {M} }} else {{ scf.yield %u : {M} }}
  scf.for %i = %c0 to %n step %c1 {{
    {copy("%d", "%u")}
  }}"""
    ),
    "returned from one of two ways, the other one is read before": picked(
        f"""{D}%r = scf.if %p -> {M} {{ scf.yield %d : {M} }} else {{ scf.yield %u : {M} }}
  %k = memref.load %d[%c0] : {M}"""
    ),
    "returned choice of an argument": picked(f"{D}%r = arith.select %p, %d, %u : {M}"),
    "returned choice of two": picked(f"{D}{FRESH}%r = arith.select %p, %d, %w : {M}"),
    "returned choice, also read": picked(f"{D}{FRESH}%r = arith.select %p, %d, %w : {M}\n{copy('%d', '%u')}"),
    "returned choice, one is written behind": picked(
        f"{D}{FRESH}%r = arith.select %p, %d, %w : {M}\nscf.if %p {{\n{copy('%w', '%d')}\n}}"
    ),
    "returned choice, each is used behind, it too": picked(
        f"""{D}{FRESH}%r = arith.select %p, %d, %w : {M}
  {copy("%d", "%v")}
  {copy("%r", "%u")}
  {copy("%v", "%w")}
  {copy("%w", "%u")}"""
    ),
    "returned from a loop, one may be the other": main(
        f"{A}%k:2 = func.call @both(%n, %p, %a) : (index, i1, {M}) -> ({M}, {M})\n"
        f"{copy('%k#0', '%out')}\n{copy('%a', '%k#0')}\n{copy('%k#1', '%out')}",
        f"""func.func private @both(%n: index, %p: i1, %x: {M}) -> ({M}, {M}) {{
  {HEAD}{A}{loop("%w, %k", "%a %a", f"{FRESH}%k = scf.if %p -> {M} {{ scf.yield %w : {M} }} else {{ scf.yield %v : {M} }}")}
  return %r#0, %r#1 : {M}, {M}
}}""",
    ),
    "returned from blocks": picked(
        f"""{D}cf.cond_br %p, ^one, ^two
^one:
  {FRESH}
  cf.br ^end(%w : {M})
^two:
  {copy("%d", "%u")}
  cf.br ^end(%u : {M})
^end(%r: {M}):"""
    ),
    "last used in front of an allocation, on one way": main(
        f"""{A}{B}{copy("%x", "%out")}
  scf.if %p {{
    {copy("%a", "%out")}
    %w = memref.alloc() : {M}
    {copy("%b", "%w")}
    {copy("%w", "%out")}
  }}"""
    ),
    "reallocated": main(
        f"""%a = memref.alloc(%c2) : memref<?xf32>
  %half = memref.subview %x[0] [2] [1] : {M} to memref<2xf32, strided<[1]>>
  %d = memref.cast %half : memref<2xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  memref.copy %d, %a : memref<?xf32, strided<[1]>> to memref<?xf32>
  %wanted = arith.addi %n, %c1 : index
  %r = memref.realloc %a(%wanted) : memref<?xf32> to memref<?xf32>
  %first = memref.load %r[%c0] : memref<?xf32>
  linalg.fill ins(%first : f32) outs(%out : {M})"""
    ),
}
BLOCKS = f"""
  cf.cond_br %p, ^one(%x : {M}), ^two(%a : {M})
^one(%u: {M}):
  %w = memref.alloc() : {M}
  {copy("%u", "%w")}
  cf.cond_br %p, ^end(%w : {M}), ^two(%w : {M})
^two(%v: {M}):
  {copy("%v", "%out")}
  cf.br ^end(%v : {M})
^end(%m: {M}):
  {copy("%m", "%out")}
"""
PROGRAMS["blocks"] = main(f"{A}{BLOCKS}")
PROGRAMS["loop of blocks"] = main(
    f"""cf.br ^head(%c0, %x : index, {M})
^head(%i: index, %u: {M}):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  {FRESH}
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %w : index, {M})
^end:
  {copy("%u", "%out")}
"""
)
PROGRAMS["blocks and one used at the end"] = main(f"{A}{BLOCKS}{copy('%a', '%out')}")
PROGRAMS["blocks after a select"] = main(f"{B}%a = arith.select %p, %b, %x : {M}\n{BLOCKS}")
PROGRAMS["one of two on one way"] = main(
    f"""{A}{B}%s = arith.select %p, %a, %b : {M}
  %more = arith.cmpi slt, %n, %c2 : index
  cf.cond_br %more, ^loop(%s : {M}), ^end(%x : {M})
^loop(%u: {M}):
  {FRESH}
  %again = arith.cmpi slt, %n, %c0 : index
  cf.cond_br %again, ^loop(%w : {M}), ^end(%w : {M})
^end(%m: {M}):
  {copy("%m", "%out")}
"""
)


ALIGNED = "{alignment = 16 : i64}"


def viewed(arena: str, size: str = "", cast: str = "") -> str:
    """A memref `%there` that a view with a shift shows of an arena."""
    kind = "memref<?xf32>" if size else M
    return f"""%c16 = arith.constant 16 : index
    %arena = {arena}() {ALIGNED} : memref<64xi8>
    %{"part" if cast else "there"} = memref.view %arena[%c16][{size}] : memref<64xi8> to {kind}
    {cast}
    {copy("%y", "%there")}
    {copy("%there", "%a")}
    {copy("%a", "%out")}"""


OF_ANOTHER, OF_THE_STACK = viewed("memref.alloc"), viewed("memref.alloca")
OF_ANY_SIZE = viewed("memref.alloca", "%c4", f"%there = memref.cast %part : memref<?xf32> to {M}")


def switched(passed: str, other: str = "%x", before: str = "") -> str:
    """What is `passed` is taken over on one way of a switch, and only shown on another."""
    return f"""%c4 = arith.constant 4 : index
  %m = scf.if %p -> {M} {{
    scf.yield %x : {M}
  }} else {{
    {A}{before}
    %s:2 = scf.index_switch %n -> {M}, {M}
    case 0 {{
      scf.yield {passed}, {passed} : {M}, {M}
    }}
    case 1 {{
      scf.yield %x, {passed} : {M}, {M}
    }}
    default {{
      scf.yield {passed}, {other} : {M}, {M}
    }}
    {copy("%s#0", "%out")}
    scf.yield %s#1 : {M}
  }}
  {copy("%m", "%out")}"""


PROGRAMS["taken over on one way of a switch, only shown on another"] = main(switched("%a"))
PROGRAMS["taken over on one way of a switch, beside a view with a shift"] = main(switched("%a", "%x", OF_ANOTHER))
PROGRAMS["taken over on one way of a switch, or else it is a view of another one"] = main(
    switched("%a", "%there", OF_ANOTHER)
)
PROGRAMS["taken over on one way of a switch, or else it is a view of the stack"] = main(
    switched("%a", "%there", OF_THE_STACK)
)
PROGRAMS["a loop takes over one of two, and the block branches behind it"] = main(
    f"""{A}{B}{copy("%y", "%out")}
  cf.cond_br %p, ^end(%x : {M}), ^loop
^loop:
  %few = arith.cmpi slt, %n, %c2 : index
  %s = arith.select %few, %a, %b : {M}
  {loop("%w", "%s", FRESH, "%u")}
  cf.cond_br %few, ^end(%r : {M}), ^last
^end(%m: {M}):
  {copy("%m", "%out")}
  cf.br ^last
^last:
"""
)
