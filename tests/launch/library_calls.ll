; test: launch
; Calls of cuBLAS: what they read and write, with extents where the arguments tell. Handles touch nothing;
; a function that the table lacks is unknown.
; kernel: scale_stub

declare i32 @cudaMalloc(ptr, i64)
declare i32 @cublasCreate_v2(ptr)
declare i32 @cublasDestroy_v2(ptr)
declare i32 @cublasSetMathMode(ptr, i32)
declare i32 @cublasSgemm_v2(ptr, i32, i32, i32, i32, i32, ptr, ptr, i32, ptr, i32, ptr, ptr, i32)
declare i32 @cublasSnrm2_v2(ptr, i32, ptr, i32, ptr)
declare i32 @cublasSetVector(i32, i32, ptr, i32, ptr, i32)
declare i32 @cublasSgemmBatched(ptr, i32, i32, i32, i32, i32, ptr, ptr, i32, ptr, i32, ptr, ptr, i32, i32)
declare i32 @cublasSdot(i32, ptr, i32, ptr, i32)
declare void @scale_stub(ptr, i32)
declare i32 @sirius.launch.0(i32, ptr, i64, i32, i64, i32, i64, ptr, ptr, i32)

define i32 @main(i32 %n, ptr %argv) {
  %d_a = alloca ptr
  %d_b = alloca ptr
  %d_c = alloca ptr
  %h = alloca ptr
  %one = alloca float
  %norm = alloca float
  %host = alloca [16 x float]
  store float 1.0, ptr %one
  %m0 = call i32 @cudaMalloc(ptr %d_a, i64 4096)
  %m1 = call i32 @cudaMalloc(ptr %d_b, i64 4096)
  %m2 = call i32 @cudaMalloc(ptr %d_c, i64 4096)
  %c = call i32 @cublasCreate_v2(ptr %h)
  %handle = load ptr, ptr %h
  %mode = call i32 @cublasSetMathMode(ptr %handle, i32 1)
  %a = load ptr, ptr %d_a
  %b = load ptr, ptr %d_b
  %y = load ptr, ptr %d_c
  %v = call i32 @cublasSetVector(i32 16, i32 4, ptr %host, i32 1, ptr %a, i32 1)
  %g = call i32 @cublasSgemm_v2(ptr %handle, i32 0, i32 1, i32 8, i32 6, i32 4, ptr %one, ptr %a, i32 8, ptr %b, i32 6, ptr %one, ptr %y, i32 8)
  %l0 = call i32 @sirius.launch.0(i32 0, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %y, i32 %n)
  %r = call i32 @cublasSnrm2_v2(ptr %handle, i32 48, ptr %y, i32 1, ptr %norm)
  %u = call i32 @cublasSgemmBatched(ptr %handle, i32 0, i32 0, i32 8, i32 8, i32 8, ptr %one, ptr %a, i32 8, ptr %b, i32 8, ptr %one, ptr %y, i32 8, i32 2)
  %o = call i32 @cublasSdot(i32 8, ptr %a, i32 1, ptr %b, i32 1)
  %d = call i32 @cublasDestroy_v2(ptr %handle)
  ret i32 0
}

;> buffer b0 d_a Device bytes=4096 unique
;> buffer b1 d_b Device bytes=4096 unique
;> buffer b2 d_c Device bytes=4096 unique
;> value v0 = 16 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64
;> value v5 from L0.argument1+0:s32
;> function main
;> block0 -> 
;>   n0 allocation b0
;>   n1 allocation b1
;>   n2 allocation b2
;>   n3 check
;>   n4 check
;>   n5 library cublasSetVector to b0 bytes=? stream=default host
;>   n6 library cublasSgemm_v2 to b2 bytes=192 from b0 bytes=128 from b1 bytes=96 from b2 bytes=192 stream=default
;>   n7 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b2, v5)
;>   n8 library cublasSnrm2_v2 from b2 bytes=192 stream=default host
;>   n9 opaque cublasSgemmBatched
;>   n10 opaque cublasSdot
;>   n11 check
