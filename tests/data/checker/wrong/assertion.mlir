// A check of the program's own.
// sizes: 3
func.func @main(%n: index) {
  %c4 = arith.constant 4 : index
  %ok = arith.cmpi sge, %n, %c4 : index
  cf.assert %ok, "at least four" // expected-error {{failed assertion}}
  return
}
