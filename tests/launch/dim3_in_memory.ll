; test: launch
; A grid written as three members and read as a pair: x and y are found again. A store through an
; unrelated pointer of the same struct leaves them alone; the argument struct has two fields.
; kernel: scale_stub
; kernel: add_stub

declare i32 @cudaMalloc(ptr, i64)
declare i32 @cudaMallocManaged(ptr, i64, i32)
declare i32 @cudaFree(ptr)
declare i32 @cudaMemcpy(ptr, ptr, i64, i32)
declare i32 @cudaMemcpyAsync(ptr, ptr, i64, i32, ptr)
declare i32 @cudaMemcpyToSymbol(ptr, ptr, i64, i64, i32)
declare i32 @cudaMemset(ptr, i32, i64)
declare i32 @cudaDeviceSynchronize()
declare i32 @cudaGetLastError()
declare ptr @cudaGetErrorString(i32)
declare i32 @cudaStreamCreate(ptr)
declare i32 @cudaEventCreate(ptr)
declare i32 @cudaEventRecord(ptr, ptr)
declare i32 @cudaStreamWaitEvent(ptr, ptr, i32)
declare i32 @printf(ptr, ...)
declare void @exit(i32) noreturn
declare ptr @_Znwm(i64)
declare ptr @malloc(i64)
declare void @unknown(ptr)
declare i32 @__gxx_personality_v0(...)
declare void @scale_stub(ptr, float, i32)
declare void @add_stub(ptr, ptr, i32)
declare i32 @sirius.launch.0(i32, ptr, i64, i32, i64, i32, i64, ptr, ptr, float, i32)
declare i32 @sirius.launch.1(i32, ptr, i64, i32, i64, i32, i64, ptr, ptr, ptr, i32)
@fmt = private unnamed_addr constant [4 x i8] c"%s\0A\00"

%Pair = type { ptr, i32 }
declare void @pair_stub(ptr byval(%Pair))
declare i32 @sirius.launch.2(i32, ptr, i64, i32, i64, i32, i64, ptr, ptr byval(%Pair))
define i32 @main(i32 %n, ptr %argv) {
  %grid = alloca { i32, i32, i32 }
  %pair = alloca %Pair
  %m0 = call i32 @cudaMalloc(ptr %pair, i64 4096)
  %count = getelementptr inbounds i8, ptr %pair, i64 8
  store i32 %n, ptr %count
  store i32 %n, ptr %grid
  %y = getelementptr inbounds i8, ptr %grid, i64 4
  store i32 7, ptr %y
  %z = getelementptr inbounds i8, ptr %grid, i64 8
  store i32 1, ptr %z
  %xy = load i64, ptr %grid
  %l0 = call i32 @sirius.launch.2(i32 0, ptr @pair_stub, i64 %xy, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr byval(%Pair) %pair)
  store i32 9, ptr %y
  %xy2 = load i64, ptr %grid
  %x = load ptr, ptr %pair
  %l1 = call i32 @sirius.launch.0(i32 1, ptr @scale_stub, i64 %xy2, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %n)
  ret i32 0
}

;> buffer b0 pair Device bytes=4096 unique
;> value v0 from L0.grid0
;> value v1 = 7 from L0.grid1
;> value v2 = 1 from L0.grid2
;> value v3 = 256 from L0.block0
;> value v4 = 0 from L0.shared
;> value v5 from L0.argument0+0:s64
;> value v6 from L0.argument0+8:s32
;> value v7 = 9 from L1.grid1
;> value v8 = 1073741824 from L1.argument1+0:s32
;> function main
;> block0 -> 
;>   n0 allocation b0
;>   n1 launch L0 unknown kernel <<<(v0,v1,v2),(v3,v2,v2),v4,stream=default>>>([v5=b0 @8 v6])
;>   n2 launch L1 kernel0 <<<(v0,v7,v2),(v3,v2,v2),v4,stream=default>>>(v5=b0, v8, v6)
