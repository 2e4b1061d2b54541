; What stands around the launches that are captured in the place of nodes of a graph.

declare i32 @cudaStreamCreateWithFlags(ptr, i32)
declare i32 @cudaStreamBeginCapture(ptr, i32)
declare i32 @cudaStreamEndCapture(ptr, ptr)
declare i32 @cudaStreamDestroy(ptr)
declare i32 @cudaGraphAddChildGraphNode(ptr, ptr, ptr, i64, ptr)
declare i32 @cudaGraphDestroy(ptr)
declare i32 @cudaGraphDestroyNode(ptr)

; A stream of its own that is captured; null where something before has `failed`, or this does.
define ptr @sirius.graph.open(i32 %failed) noinline nounwind {
entry:
  %place = alloca ptr, align 8
  %works = icmp eq i32 %failed, 0
  br i1 %works, label %make, label %none
make:
  ; It waits for no other stream (1).
  %made = call i32 @cudaStreamCreateWithFlags(ptr %place, i32 1)
  %is.made = icmp eq i32 %made, 0
  br i1 %is.made, label %begin, label %none
begin:
  %stream = load ptr, ptr %place, align 8
  ; Other captures do not mind (2).
  %begun = call i32 @cudaStreamBeginCapture(ptr %stream, i32 2)
  %is.begun = icmp eq i32 %begun, 0
  br i1 %is.begun, label %captured, label %destroy
destroy:
  call i32 @cudaStreamDestroy(ptr %stream)
  br label %none
captured:
  ret ptr %stream
none:
  ret ptr null
}

; Makes a node of what was captured, behind so many nodes, and removes those that it stands for; an error where there is
; no such node.
define i32 @sirius.graph.close(ptr %stream, ptr %node, ptr %graph, ptr %behind, i64 %count, ptr %replaced,
                               i64 %replaced.count) noinline nounwind {
entry:
  %place = alloca ptr, align 8
  store ptr null, ptr %place, align 8
  %ended = call i32 @cudaStreamEndCapture(ptr %stream, ptr %place)
  call i32 @cudaStreamDestroy(ptr %stream)
  %child = load ptr, ptr %place, align 8
  %is.ended = icmp eq i32 %ended, 0
  %is.there = icmp ne ptr %child, null
  %is.captured = and i1 %is.ended, %is.there
  br i1 %is.captured, label %add, label %none
add:
  %added = call i32 @cudaGraphAddChildGraphNode(ptr %node, ptr %graph, ptr %behind, i64 %count, ptr %child)
  call i32 @cudaGraphDestroy(ptr %child)
  %is.added = icmp eq i32 %added, 0
  br i1 %is.added, label %loop, label %none
loop:
  %index = phi i64 [ 0, %add ], [ %next, %body ]
  %more = icmp ult i64 %index, %replaced.count
  br i1 %more, label %body, label %done
body:
  %entry.place = getelementptr ptr, ptr %replaced, i64 %index
  %old = load ptr, ptr %entry.place, align 8
  call i32 @cudaGraphDestroyNode(ptr %old)
  %next = add i64 %index, 1
  br label %loop
done:
  ret i32 0
none:
  ret i32 1
}
