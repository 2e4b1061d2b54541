; test: launch
; A program that is all here: what is called through tables of methods and of functions gets what is handed to it, a
; function whose address is elsewhere anything.
; closed
; kernel: scale_stub

declare i32 @cudaMalloc(ptr, i64)
declare ptr @malloc(i64)
declare void @unknown(ptr)
declare void @scale_stub(ptr)
declare i32 @sirius.launch.0(i32, ptr, i64, i32, i64, i32, i64, ptr, ptr)

@_ZTV1A = linkonce_odr constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr null, ptr @_ZN1A3runEv] }
@_ZTV1B = linkonce_odr constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr null, ptr @_ZN1B3runEv] }
@steps = internal constant [2 x ptr] [ptr @first, ptr @second]
@d_global = global ptr null

define linkonce_odr void @_ZN1A3runEv(ptr %this) {
  %field = getelementptr inbounds i8, ptr %this, i64 8
  %d = load ptr, ptr %field
  %l = call i32 @sirius.launch.0(i32 0, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %d)
  ret void
}

define linkonce_odr void @_ZN1B3runEv(ptr %this) {
  %field = getelementptr inbounds i8, ptr %this, i64 8
  %d = load ptr, ptr %field
  %l = call i32 @sirius.launch.0(i32 1, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %d)
  ret void
}

; Both are in a table, and get what its callers hand over.
define internal void @first(ptr %d) {
  %l = call i32 @sirius.launch.0(i32 2, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %d)
  ret void
}

define internal void @second(ptr %d) {
  %l = call i32 @sirius.launch.0(i32 3, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %d)
  ret void
}

; Somebody else has this one's address.
define internal void @called_back(ptr %d) {
  %l = call i32 @sirius.launch.0(i32 4, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %d)
  ret void
}

define void @_Z4stepPf(ptr %d) {
  %l = call i32 @sirius.launch.0(i32 5, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %d)
  %g = load ptr, ptr @d_global
  %m = call i32 @sirius.launch.0(i32 6, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %g)
  ret void
}

; A library may have a function of this name, and call it.
define void @step(ptr %d) {
  %l = call i32 @sirius.launch.0(i32 7, ptr @scale_stub, i64 4294967312, i32 1, i64 4294967552, i32 1, i64 0, ptr null, ptr %d)
  ret void
}

define i32 @main(i32 %n, ptr %argv) {
  %s0 = alloca ptr
  %s1 = alloca ptr
  %s2 = alloca ptr
  %m0 = call i32 @cudaMalloc(ptr %s0, i64 4096)
  %m1 = call i32 @cudaMalloc(ptr %s1, i64 4096)
  %m2 = call i32 @cudaMalloc(ptr %s2, i64 4096)
  %m3 = call i32 @cudaMalloc(ptr @d_global, i64 4096)
  %d0 = load ptr, ptr %s0
  %d1 = load ptr, ptr %s1
  %d2 = load ptr, ptr %s2
  %a = call ptr @malloc(i64 16)
  %b = call ptr @malloc(i64 16)
  store ptr getelementptr inbounds (i8, ptr @_ZTV1A, i64 16), ptr %a
  store ptr getelementptr inbounds (i8, ptr @_ZTV1B, i64 16), ptr %b
  %a8 = getelementptr inbounds i8, ptr %a, i64 8
  %b8 = getelementptr inbounds i8, ptr %b, i64 8
  store ptr %d0, ptr %a8
  store ptr %d1, ptr %b8
  %which = icmp sgt i32 %n, 1
  %object = select i1 %which, ptr %a, ptr %b
  %table = load ptr, ptr %object
  %method = load ptr, ptr %table
  call void %method(ptr %object)
  %index = sext i32 %n to i64
  %entry = getelementptr inbounds [2 x ptr], ptr @steps, i64 0, i64 %index
  %function = load ptr, ptr %entry
  call void %function(ptr %d2)
  call void @unknown(ptr @called_back)
  call void @_Z4stepPf(ptr %d0)
  call void @step(ptr %d0)
  ret i32 0
}

;> buffer b0 s0 Device bytes=4096 unique
;> buffer b1 s1 Device bytes=4096 unique
;> buffer b2 s2 Device bytes=4096 unique
;> buffer b3 d_global Device bytes=4096 unique
;> value v0 = 16 from L0.grid0
;> value v1 = 1 from L0.grid1
;> value v2 = 256 from L0.block0
;> value v3 = 0 from L0.shared
;> value v4 from L0.argument0+0:s64
;> value v5 from L1.argument0+0:s64
;> value v6 from L2.argument0+0:s64
;> value v7 from L3.argument0+0:s64
;> value v8 from L4.argument0+0:s64
;> value v9 from L5.argument0+0:s64
;> value v10 from L6.argument0+0:s64
;> value v11 from L7.argument0+0:s64
;> function main
;> block0 ->
;>   n0 allocation b0
;>   n1 allocation b1
;>   n2 allocation b2
;>   n3 allocation b3
;>   n4 opaque a call through a pointer
;>   n5 opaque a call through a pointer
;>   n6 opaque unknown
;>   n7 opaque _Z4stepPf
;>   n8 opaque step
;> function _ZN1A3runEv repeated
;> block1 ->
;>   n9 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b0)
;> function _ZN1B3runEv repeated
;> block2 ->
;>   n10 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v5=b1)
;> function first repeated
;> block3 ->
;>   n11 launch L2 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v6=b2)
;> function second repeated
;> block4 ->
;>   n12 launch L3 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=b2)
;> function called_back repeated
;> block5 ->
;>   n13 launch L4 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v8=*v8{?} host?)
;> function _Z4stepPf
;> block6 ->
;>   n14 launch L5 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v9=b0)
;>   n15 launch L6 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v10=b3)
;> function step repeated
;> block7 ->
;>   n16 launch L7 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v11=*v11{?} host?)
