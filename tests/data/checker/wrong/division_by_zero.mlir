// sizes: 0
func.func @main(%n: index) -> index {
  %c4 = arith.constant 4 : index
  %q = arith.divsi %c4, %n : index // expected-error {{undefined arithmetic}}
  return %q : index
}
