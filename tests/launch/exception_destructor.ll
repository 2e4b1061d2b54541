; test: launch
; Making and throwing an exception is no obstacle and an edge; what was thrown is in anyone's reach,
; and the end of a handler runs the destructor of the exception, which changes `@count`.
; kernel: scale_stub

declare i32 @cudaMalloc(ptr, i64)
declare i32 @__gxx_personality_v0(...)
declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()
declare void @scale_stub(ptr, float, i32)
declare i32 @sirius.launch.0(i32, ptr, i64, i32, i64, i32, i64, ptr, ptr, float, i32)
@count = internal global i32 7
@type = external constant ptr

define internal void @destroy(ptr %this) {
  %old = load i32, ptr @count
  %new = add i32 %old, 1
  store i32 %new, ptr @count
  ret void
}

define i32 @main(i32 %n, ptr %argv) personality ptr @__gxx_personality_v0 {
entry:
  %d_x = alloca ptr
  %m0 = call i32 @cudaMalloc(ptr %d_x, i64 4096)
  %x = load ptr, ptr %d_x
  %l0 = call i32 @sirius.launch.0(i32 0, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %n)
  %bad = icmp sgt i32 %n, 5
  br i1 %bad, label %throw, label %good
throw:
  %e = call ptr @__cxa_allocate_exception(i64 8)
  store ptr %d_x, ptr %e
  invoke void @__cxa_throw(ptr %e, ptr @type, ptr @destroy) to label %never unwind label %pad
never:
  unreachable
pad:
  %caught = landingpad { ptr, i32 } catch ptr @type
  %object = extractvalue { ptr, i32 } %caught, 0
  %begun = call ptr @__cxa_begin_catch(ptr %object)
  %slot = load ptr, ptr %begun
  store ptr null, ptr %slot
  %x1 = load ptr, ptr %d_x
  %c1 = load i32, ptr @count
  %l1 = call i32 @sirius.launch.0(i32 1, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x1, float 2.0, i32 %c1)
  call void @__cxa_end_catch()
  %c2 = load i32, ptr @count
  %l2 = call i32 @sirius.launch.0(i32 2, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %x, float 2.0, i32 %c2)
  br label %good
good:
  ret i32 0
}

;> buffer b0 d_x Device bytes=4096 unique
;> value v0 = 16 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64
;> value v5 = 1073741824 from L0.argument1+0:s32
;> value v6 from L0.argument2+0:s32
;> value v7 from L1.argument0+0:s64
;> value v8 from L1.argument2+0:s32
;> value v9 from L2.argument2+0:s32
;> function main
;> block0 -> block1 block4
;>   n0 allocation b0
;>   n1 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v6)
;> block1 -> block2 block3
;> block2 -> 
;> block3 -> block4
;>   n2 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=*v7{?} host?, v5, v8)
;>   n3 opaque __cxa_end_catch
;>   n4 launch L2 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0, v5, v9)
;> block4 -> 
