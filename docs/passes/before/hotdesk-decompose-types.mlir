// hotdesk-opt --hotdesk-decompose-types
!pair = tuple<tensor<5xf32>, i1>

func.func private @callee(%p: !pair) -> !pair {
  return %p : !pair
}

func.func @caller(%p: !pair) -> !pair {
  %x = call @callee(%p) : (!pair) -> !pair
  return %x : !pair
}
