// RUN: %rewrite-stablehlo %s | FileCheck %s

// What a library computes is called, and written where the program says.
// CHECK-LABEL: func.func @called(
// CHECK-SAME: %[[A:.*]]: tensor<2x3x3xf64>, %[[B:.*]]: tensor<2x3x1xf64>, %[[C:.*]]: tensor<4xcomplex<f32>>)
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x3x3xf64>
// CHECK: %[[L:.*]] = "hotdesk.foreign"(%[[A]], %[[E]]) {{.*}}callee = "hotdesk_foreign_0", groups = array<i64: 1, 0, 1>, op = "stablehlo.cholesky"
// CHECK: %[[F:.*]] = tensor.empty() : tensor<2x3x1xf64>
// CHECK: %[[S:.*]] = "hotdesk.foreign"(%[[L]], %[[B]], %[[F]]) {{.*}}callee = "hotdesk_foreign_1", groups = array<i64: 2, 0, 1>, op = "stablehlo.triangular_solve"
// CHECK: %[[G:.*]] = tensor.empty() : tensor<4xcomplex<f32>>
// CHECK: %[[T:.*]] = "hotdesk.foreign"(%[[C]], %[[G]]) {{.*}}callee = "hotdesk_foreign_2", groups = array<i64: 1, 0, 1>, op = "stablehlo.fft"
// CHECK: return %[[S]], %[[T]]
func.func @called(%a: tensor<2x3x3xf64>, %b: tensor<2x3x1xf64>, %c: tensor<4xcomplex<f32>>)
    -> (tensor<2x3x1xf64>, tensor<4xcomplex<f32>>) {
  %l = stablehlo.cholesky %a, lower = true : tensor<2x3x3xf64>
  %s = "stablehlo.triangular_solve"(%l, %b) {left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x3x3xf64>, tensor<2x3x1xf64>) -> tensor<2x3x1xf64>
  %t = stablehlo.fft %c, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %s, %t : tensor<2x3x1xf64>, tensor<4xcomplex<f32>>
}

// -----

// A call of LAPACK has several results.
// CHECK-LABEL: func.func @factors(
// CHECK-COUNT-3: tensor.empty()
// CHECK: "hotdesk.foreign"({{.*}}) {{.*}}groups = array<i64: 1, 0, 3>, op = "lapack_sgetrf_ffi"
func.func @factors(%a: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xi32>, tensor<i32>) {
  %r:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}}
      : (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xi32>, tensor<i32>)
  return %r#0, %r#1, %r#2 : tensor<3x4xf32>, tensor<3xi32>, tensor<i32>
}

// -----

// Open sizes, names of other types, what is not told, and functions that nobody knows stay.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: hotdesk.foreign
func.func @others(%a: tensor<?x3xf32>, %b: tensor<3x3xf32>) -> (tensor<?x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}}
      : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<i32>)
  %1:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%b) {mhlo.backend_config = {uplo = 76 : ui8}}
      : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
  %2:2 = stablehlo.custom_call @lapack_spotrf_ffi(%b) {mhlo.backend_config = {}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
  %3 = stablehlo.custom_call @lapack_sgehrd_ffi(%b) {mhlo.backend_config = {}} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0#0, %1#0, %2#0, %3 : tensor<?x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}
