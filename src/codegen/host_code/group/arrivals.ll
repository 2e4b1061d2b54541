; Which word counts the blocks that have arrived of a launch on the stream with this number; -1 where all words belong to
; other streams. No two streams of a program have one number, whether they are there at the same time or not, and a word
; stays with its stream.

@sirius.streams = internal global [$COUNT x i64] zeroinitializer, align 8

define i32 @sirius.arrivals(i64 %stream) {
entry:
  %key = add i64 %stream, 1
  %is.none = icmp eq i64 %key, 0
  br i1 %is.none, label %none, label %look

look:
  %at = phi i64 [ 0, %entry ], [ %next, %others ]
  %place = getelementptr inbounds [$COUNT x i64], ptr @sirius.streams, i64 0, i64 %at
  %known = load atomic i64, ptr %place monotonic, align 8
  %is.own = icmp eq i64 %known, %key
  br i1 %is.own, label %found, label %taken

taken:
  %is.free = icmp eq i64 %known, 0
  br i1 %is.free, label %take, label %others

take:
  %pair = cmpxchg ptr %place, i64 0, i64 %key monotonic monotonic, align 8
  %before = extractvalue { i64, i1 } %pair, 0
  %took = extractvalue { i64, i1 } %pair, 1
  %by.other = icmp eq i64 %before, %key
  %has = or i1 %took, %by.other
  br i1 %has, label %found, label %others

others:
  %next = add i64 %at, 1
  %more = icmp ult i64 %next, $COUNT
  br i1 %more, label %look, label %none

found:
  %word = trunc i64 %at to i32
  ret i32 %word

none:
  ret i32 -1
}
