; Loops over tiles. Parameters: a in an allocation of its own, b and c anywhere else, and a number.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @tile(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  br label %one
one:
  br label %one_rows
one_rows:
  %one_i = phi i32 [ 0, %one ], [ %one_i1, %one_next ]
  %one_c = phi i32 [ %t4, %one ], [ %one_c1, %one_next ]
  %one_row = icmp samesign ult i32 %one_i, 4
  br i1 %one_row, label %one_columns, label %between
one_columns:
  %one_j = phi i32 [ 0, %one_rows ], [ %one_j1, %one_skip ]
  %one_column = icmp samesign ult i32 %one_j, 4
  br i1 %one_column, label %one_asks, label %one_next
one_asks:
  %one_e = shl nuw nsw i32 %one_c, 2
  %one_at = add nuw nsw i32 %one_e, %one_j
  %one_in = icmp slt i32 %one_at, %n
  br i1 %one_in, label %one_body, label %one_skip
one_body:
  %one_x = zext nneg i32 %one_at to i64
  %one_p = getelementptr float, ptr %b, i64 %one_x
  %one_v = load float, ptr %one_p
  %one_q = getelementptr float, ptr %a, i64 %one_x
  store float %one_v, ptr %one_q
  br label %one_skip
one_skip:
  %one_j1 = add nuw nsw i32 %one_j, 1
  br label %one_columns
one_next:
  %one_i1 = add nuw nsw i32 %one_i, 1
  %one_c1 = add nuw nsw i32 %one_c, 1
  br label %one_rows
between:
  br label %head
head:
  %k = phi i32 [ 0, %between ], [ %k1, %body ]
  %sum = phi float [ 0.0, %between ], [ %sum1, %body ]
  %below = icmp slt i32 %k, %n
  br i1 %below, label %body, label %other
body:
  %sum1 = fadd float %sum, 1.0
  %k1 = add nuw nsw i32 %k, 1
  br label %head, !llvm.loop !0
other:
  %short = icmp slt i32 %n, 7
  br label %few
few:
  %f = phi i32 [ 0, %other ], [ %f1, %few_body ]
  %fsum = phi float [ %sum, %other ], [ %fsum1, %few_body ]
  %fbelow = icmp samesign ult i32 %f, 4
  br i1 %fbelow, label %few_body, label %two
few_body:
  %fsum1 = fmul float %fsum, 3.0
  %f1 = add nuw nsw i32 %f, 1
  br label %few
two:
  br label %two_rows
two_rows:
  %two_i = phi i32 [ 0, %two ], [ %two_i1, %two_next ]
  %two_c = phi i32 [ %t4, %two ], [ %two_c1, %two_next ]
  %two_row = icmp samesign ult i32 %two_i, 4
  br i1 %two_row, label %two_columns, label %done
two_columns:
  %two_j = phi i32 [ 0, %two_rows ], [ %two_j1, %two_skip ]
  %two_column = icmp samesign ult i32 %two_j, 4
  br i1 %two_column, label %two_asks, label %two_next
two_asks:
  %two_e = shl nuw nsw i32 %two_c, 2
  %two_at = add nuw nsw i32 %two_e, %two_j
  %two_in = icmp slt i32 %two_at, %n
  br i1 %two_in, label %two_body, label %two_skip
two_body:
  %two_x = zext nneg i32 %two_at to i64
  %two_p = getelementptr float, ptr %a, i64 %two_x
  %two_v = load float, ptr %two_p
  %two_w = fadd float %two_v, %fsum
  %two_q = getelementptr float, ptr %c, i64 %two_x
  store float %two_w, ptr %two_q
  br label %two_skip
two_skip:
  %two_j1 = add nuw nsw i32 %two_j, 1
  br label %two_columns
two_next:
  %two_i1 = add nuw nsw i32 %two_i, 1
  %two_c1 = add nuw nsw i32 %two_c, 1
  br label %two_rows
done:
  ret void
}

; The inner loops run once, which LLVM makes a flag of.
define ptx_kernel void @one_column(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  br label %one
one:
  br label %one_rows
one_rows:
  %one_i = phi i32 [ 0, %one ], [ %one_i1, %one_next ]
  %one_c = phi i32 [ %t4, %one ], [ %one_c1, %one_next ]
  %one_row = icmp samesign ult i32 %one_i, 4
  br i1 %one_row, label %one_columns, label %between
one_columns:
  %one_column = phi i1 [ true, %one_rows ], [ false, %one_skip ]
  br i1 %one_column, label %one_asks, label %one_next
one_asks:
  %one_e = shl nuw nsw i32 %one_c, 2
  %one_at = add nuw nsw i32 %one_e, 1
  %one_in = icmp slt i32 %one_at, %n
  br i1 %one_in, label %one_body, label %one_skip
one_body:
  %one_x = zext nneg i32 %one_at to i64
  %one_p = getelementptr float, ptr %b, i64 %one_x
  %one_v = load float, ptr %one_p
  %one_q = getelementptr float, ptr %a, i64 %one_x
  store float %one_v, ptr %one_q
  br label %one_skip
one_skip:
  br label %one_columns
one_next:
  %one_i1 = add nuw nsw i32 %one_i, 1
  %one_c1 = add nuw nsw i32 %one_c, 1
  br label %one_rows
between:
  br label %head
head:
  %k = phi i32 [ 0, %between ], [ %k1, %body ]
  %sum = phi float [ 0.0, %between ], [ %sum1, %body ]
  %below = icmp slt i32 %k, %n
  br i1 %below, label %body, label %other
body:
  %sum1 = fadd float %sum, 1.0
  %k1 = add nuw nsw i32 %k, 1
  br label %head, !llvm.loop !0
other:
  %short = icmp slt i32 %n, 7
  br label %few
few:
  %f = phi i32 [ 0, %other ], [ %f1, %few_body ]
  %fsum = phi float [ %sum, %other ], [ %fsum1, %few_body ]
  %fbelow = icmp samesign ult i32 %f, 4
  br i1 %fbelow, label %few_body, label %two
few_body:
  %fsum1 = fmul float %fsum, 3.0
  %f1 = add nuw nsw i32 %f, 1
  br label %few
two:
  br label %two_rows
two_rows:
  %two_i = phi i32 [ 0, %two ], [ %two_i1, %two_next ]
  %two_c = phi i32 [ %t4, %two ], [ %two_c1, %two_next ]
  %two_row = icmp samesign ult i32 %two_i, 4
  br i1 %two_row, label %two_columns, label %done
two_columns:
  %two_column = phi i1 [ true, %two_rows ], [ false, %two_skip ]
  br i1 %two_column, label %two_asks, label %two_next
two_asks:
  %two_e = shl nuw nsw i32 %two_c, 2
  %two_at = add nuw nsw i32 %two_e, 1
  %two_in = icmp slt i32 %two_at, %n
  br i1 %two_in, label %two_body, label %two_skip
two_body:
  %two_x = zext nneg i32 %two_at to i64
  %two_p = getelementptr float, ptr %a, i64 %two_x
  %two_v = load float, ptr %two_p
  %two_w = fadd float %two_v, %fsum
  %two_q = getelementptr float, ptr %c, i64 %two_x
  store float %two_w, ptr %two_q
  br label %two_skip
two_skip:
  br label %two_columns
two_next:
  %two_i1 = add nuw nsw i32 %two_i, 1
  %two_c1 = add nuw nsw i32 %two_c, 1
  br label %two_rows
done:
  ret void
}

define ptx_kernel void @other_columns(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  br label %one
one:
  br label %one_rows
one_rows:
  %one_i = phi i32 [ 0, %one ], [ %one_i1, %one_next ]
  %one_c = phi i32 [ %t4, %one ], [ %one_c1, %one_next ]
  %one_row = icmp samesign ult i32 %one_i, 4
  br i1 %one_row, label %one_columns, label %between
one_columns:
  %one_j = phi i32 [ 0, %one_rows ], [ %one_j1, %one_skip ]
  %one_column = icmp samesign ult i32 %one_j, 4
  br i1 %one_column, label %one_asks, label %one_next
one_asks:
  %one_e = shl nuw nsw i32 %one_c, 2
  %one_at = add nuw nsw i32 %one_e, %one_j
  %one_in = icmp slt i32 %one_at, %n
  br i1 %one_in, label %one_body, label %one_skip
one_body:
  %one_x = zext nneg i32 %one_at to i64
  %one_p = getelementptr float, ptr %b, i64 %one_x
  %one_v = load float, ptr %one_p
  %one_q = getelementptr float, ptr %a, i64 %one_x
  store float %one_v, ptr %one_q
  br label %one_skip
one_skip:
  %one_j1 = add nuw nsw i32 %one_j, 1
  br label %one_columns
one_next:
  %one_i1 = add nuw nsw i32 %one_i, 1
  %one_c1 = add nuw nsw i32 %one_c, 1
  br label %one_rows
between:
  br label %head
head:
  %k = phi i32 [ 0, %between ], [ %k1, %body ]
  %sum = phi float [ 0.0, %between ], [ %sum1, %body ]
  %below = icmp slt i32 %k, %n
  br i1 %below, label %body, label %other
body:
  %sum1 = fadd float %sum, 1.0
  %k1 = add nuw nsw i32 %k, 1
  br label %head, !llvm.loop !0
other:
  %short = icmp slt i32 %n, 7
  br label %few
few:
  %f = phi i32 [ 0, %other ], [ %f1, %few_body ]
  %fsum = phi float [ %sum, %other ], [ %fsum1, %few_body ]
  %fbelow = icmp samesign ult i32 %f, 4
  br i1 %fbelow, label %few_body, label %two
few_body:
  %fsum1 = fmul float %fsum, 3.0
  %f1 = add nuw nsw i32 %f, 1
  br label %few
two:
  br label %two_rows
two_rows:
  %two_i = phi i32 [ 0, %two ], [ %two_i1, %two_next ]
  %two_c = phi i32 [ %t4, %two ], [ %two_c1, %two_next ]
  %two_row = icmp samesign ult i32 %two_i, 4
  br i1 %two_row, label %two_columns, label %done
two_columns:
  %two_j = phi i32 [ 0, %two_rows ], [ %two_j1, %two_skip ]
  %two_column = icmp samesign ult i32 %two_j, %n
  br i1 %two_column, label %two_asks, label %two_next
two_asks:
  %two_e = shl nuw nsw i32 %two_c, 2
  %two_at = add nuw nsw i32 %two_e, %two_j
  %two_in = icmp slt i32 %two_at, %n
  br i1 %two_in, label %two_body, label %two_skip
two_body:
  %two_x = zext nneg i32 %two_at to i64
  %two_p = getelementptr float, ptr %a, i64 %two_x
  %two_v = load float, ptr %two_p
  %two_w = fadd float %two_v, %fsum
  %two_q = getelementptr float, ptr %c, i64 %two_x
  store float %two_w, ptr %two_q
  br label %two_skip
two_skip:
  %two_j1 = add nuw nsw i32 %two_j, 1
  br label %two_columns
two_next:
  %two_i1 = add nuw nsw i32 %two_i, 1
  %two_c1 = add nuw nsw i32 %two_c, 1
  br label %two_rows
done:
  ret void
}

define ptx_kernel void @waits_between(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  br label %one
one:
  br label %one_rows
one_rows:
  %one_i = phi i32 [ 0, %one ], [ %one_i1, %one_next ]
  %one_c = phi i32 [ %t4, %one ], [ %one_c1, %one_next ]
  %one_row = icmp samesign ult i32 %one_i, 4
  br i1 %one_row, label %one_columns, label %between
one_columns:
  %one_j = phi i32 [ 0, %one_rows ], [ %one_j1, %one_skip ]
  %one_column = icmp samesign ult i32 %one_j, 4
  br i1 %one_column, label %one_asks, label %one_next
one_asks:
  %one_e = shl nuw nsw i32 %one_c, 2
  %one_at = add nuw nsw i32 %one_e, %one_j
  %one_in = icmp slt i32 %one_at, %n
  br i1 %one_in, label %one_body, label %one_skip
one_body:
  %one_x = zext nneg i32 %one_at to i64
  %one_p = getelementptr float, ptr %b, i64 %one_x
  %one_v = load float, ptr %one_p
  %one_q = getelementptr float, ptr %a, i64 %one_x
  store float %one_v, ptr %one_q
  br label %one_skip
one_skip:
  %one_j1 = add nuw nsw i32 %one_j, 1
  br label %one_columns
one_next:
  %one_i1 = add nuw nsw i32 %one_i, 1
  %one_c1 = add nuw nsw i32 %one_c, 1
  br label %one_rows
between:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %head
head:
  %k = phi i32 [ 0, %between ], [ %k1, %body ]
  %sum = phi float [ 0.0, %between ], [ %sum1, %body ]
  %below = icmp slt i32 %k, %n
  br i1 %below, label %body, label %other
body:
  %sum1 = fadd float %sum, 1.0
  %k1 = add nuw nsw i32 %k, 1
  br label %head, !llvm.loop !0
other:
  %short = icmp slt i32 %n, 7
  br label %few
few:
  %f = phi i32 [ 0, %other ], [ %f1, %few_body ]
  %fsum = phi float [ %sum, %other ], [ %fsum1, %few_body ]
  %fbelow = icmp samesign ult i32 %f, 4
  br i1 %fbelow, label %few_body, label %two
few_body:
  %fsum1 = fmul float %fsum, 3.0
  %f1 = add nuw nsw i32 %f, 1
  br label %few
two:
  br label %two_rows
two_rows:
  %two_i = phi i32 [ 0, %two ], [ %two_i1, %two_next ]
  %two_c = phi i32 [ %t4, %two ], [ %two_c1, %two_next ]
  %two_row = icmp samesign ult i32 %two_i, 4
  br i1 %two_row, label %two_columns, label %done
two_columns:
  %two_j = phi i32 [ 0, %two_rows ], [ %two_j1, %two_skip ]
  %two_column = icmp samesign ult i32 %two_j, 4
  br i1 %two_column, label %two_asks, label %two_next
two_asks:
  %two_e = shl nuw nsw i32 %two_c, 2
  %two_at = add nuw nsw i32 %two_e, %two_j
  %two_in = icmp slt i32 %two_at, %n
  br i1 %two_in, label %two_body, label %two_skip
two_body:
  %two_x = zext nneg i32 %two_at to i64
  %two_p = getelementptr float, ptr %a, i64 %two_x
  %two_v = load float, ptr %two_p
  %two_w = fadd float %two_v, %fsum
  %two_q = getelementptr float, ptr %c, i64 %two_x
  store float %two_w, ptr %two_q
  br label %two_skip
two_skip:
  %two_j1 = add nuw nsw i32 %two_j, 1
  br label %two_columns
two_next:
  %two_i1 = add nuw nsw i32 %two_i, 1
  %two_c1 = add nuw nsw i32 %two_c, 1
  br label %two_rows
done:
  ret void
}

define ptx_kernel void @waits_inside(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  br label %one
one:
  br label %one_rows
one_rows:
  %one_i = phi i32 [ 0, %one ], [ %one_i1, %one_next ]
  %one_c = phi i32 [ %t4, %one ], [ %one_c1, %one_next ]
  %one_row = icmp samesign ult i32 %one_i, 4
  br i1 %one_row, label %one_columns, label %between
one_columns:
  %one_j = phi i32 [ 0, %one_rows ], [ %one_j1, %one_skip ]
  %one_column = icmp samesign ult i32 %one_j, 4
  br i1 %one_column, label %one_asks, label %one_next
one_asks:
  %one_e = shl nuw nsw i32 %one_c, 2
  %one_at = add nuw nsw i32 %one_e, %one_j
  %one_in = icmp slt i32 %one_at, %n
  br i1 %one_in, label %one_body, label %one_skip
one_body:
  %one_x = zext nneg i32 %one_at to i64
  %one_p = getelementptr float, ptr %b, i64 %one_x
  %one_v = load float, ptr %one_p
  %one_q = getelementptr float, ptr %a, i64 %one_x
  store float %one_v, ptr %one_q
  br label %one_skip
one_skip:
  %one_j1 = add nuw nsw i32 %one_j, 1
  br label %one_columns
one_next:
  %one_i1 = add nuw nsw i32 %one_i, 1
  %one_c1 = add nuw nsw i32 %one_c, 1
  br label %one_rows
between:
  br label %head
head:
  %k = phi i32 [ 0, %between ], [ %k1, %body ]
  %sum = phi float [ 0.0, %between ], [ %sum1, %body ]
  %below = icmp slt i32 %k, %n
  br i1 %below, label %body, label %other
body:
  %sum1 = fadd float %sum, 1.0
  %k1 = add nuw nsw i32 %k, 1
  br label %head, !llvm.loop !0
other:
  %short = icmp slt i32 %n, 7
  br label %few
few:
  %f = phi i32 [ 0, %other ], [ %f1, %few_body ]
  %fsum = phi float [ %sum, %other ], [ %fsum1, %few_body ]
  %fbelow = icmp samesign ult i32 %f, 4
  br i1 %fbelow, label %few_body, label %two
few_body:
  %fsum1 = fmul float %fsum, 3.0
  %f1 = add nuw nsw i32 %f, 1
  br label %few
two:
  br label %two_rows
two_rows:
  %two_i = phi i32 [ 0, %two ], [ %two_i1, %two_next ]
  %two_c = phi i32 [ %t4, %two ], [ %two_c1, %two_next ]
  %two_row = icmp samesign ult i32 %two_i, 4
  br i1 %two_row, label %two_columns, label %done
two_columns:
  %two_j = phi i32 [ 0, %two_rows ], [ %two_j1, %two_skip ]
  %two_column = icmp samesign ult i32 %two_j, 4
  br i1 %two_column, label %two_asks, label %two_next
two_asks:
  %two_e = shl nuw nsw i32 %two_c, 2
  %two_at = add nuw nsw i32 %two_e, %two_j
  %two_in = icmp slt i32 %two_at, %n
  br i1 %two_in, label %two_body, label %two_skip
two_body:
  %two_x = zext nneg i32 %two_at to i64
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %two_p = getelementptr float, ptr %a, i64 %two_x
  %two_v = load float, ptr %two_p
  %two_w = fadd float %two_v, %fsum
  %two_q = getelementptr float, ptr %c, i64 %two_x
  store float %two_w, ptr %two_q
  br label %two_skip
two_skip:
  %two_j1 = add nuw nsw i32 %two_j, 1
  br label %two_columns
two_next:
  %two_i1 = add nuw nsw i32 %two_i, 1
  %two_c1 = add nuw nsw i32 %two_c, 1
  br label %two_rows
done:
  ret void
}

define ptx_kernel void @as_the_user_says(ptr %a, ptr %b, ptr %c, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t4 = shl nuw nsw i32 %t, 2
  br label %one
one:
  br label %one_rows
one_rows:
  %one_i = phi i32 [ 0, %one ], [ %one_i1, %one_next ]
  %one_c = phi i32 [ %t4, %one ], [ %one_c1, %one_next ]
  %one_row = icmp samesign ult i32 %one_i, 4
  br i1 %one_row, label %one_columns, label %between
one_columns:
  %one_j = phi i32 [ 0, %one_rows ], [ %one_j1, %one_skip ]
  %one_column = icmp samesign ult i32 %one_j, 4
  br i1 %one_column, label %one_asks, label %one_next
one_asks:
  %one_e = shl nuw nsw i32 %one_c, 2
  %one_at = add nuw nsw i32 %one_e, %one_j
  %one_in = icmp slt i32 %one_at, %n
  br i1 %one_in, label %one_body, label %one_skip
one_body:
  %one_x = zext nneg i32 %one_at to i64
  %one_p = getelementptr float, ptr %b, i64 %one_x
  %one_v = load float, ptr %one_p
  %one_q = getelementptr float, ptr %a, i64 %one_x
  store float %one_v, ptr %one_q
  br label %one_skip
one_skip:
  %one_j1 = add nuw nsw i32 %one_j, 1
  br label %one_columns
one_next:
  %one_i1 = add nuw nsw i32 %one_i, 1
  %one_c1 = add nuw nsw i32 %one_c, 1
  br label %one_rows
between:
  br label %head
head:
  %k = phi i32 [ 0, %between ], [ %k1, %body ]
  %sum = phi float [ 0.0, %between ], [ %sum1, %body ]
  %below = icmp slt i32 %k, %n
  br i1 %below, label %body, label %other
body:
  %sum1 = fadd float %sum, 1.0
  %k1 = add nuw nsw i32 %k, 1
  br label %head, !llvm.loop !0
other:
  %short = icmp slt i32 %n, 7
  br label %few
few:
  %f = phi i32 [ 0, %other ], [ %f1, %few_body ]
  %fsum = phi float [ %sum, %other ], [ %fsum1, %few_body ]
  %fbelow = icmp samesign ult i32 %f, 4
  br i1 %fbelow, label %few_body, label %two
few_body:
  %fsum1 = fmul float %fsum, 3.0
  %f1 = add nuw nsw i32 %f, 1
  br label %few
two:
  br label %two_rows
two_rows:
  %two_i = phi i32 [ 0, %two ], [ %two_i1, %two_next ]
  %two_c = phi i32 [ %t4, %two ], [ %two_c1, %two_next ]
  %two_row = icmp samesign ult i32 %two_i, 4
  br i1 %two_row, label %two_columns, label %done
two_columns:
  %two_j = phi i32 [ 0, %two_rows ], [ %two_j1, %two_skip ]
  %two_column = icmp samesign ult i32 %two_j, 4
  br i1 %two_column, label %two_asks, label %two_next
two_asks:
  %two_e = shl nuw nsw i32 %two_c, 2
  %two_at = add nuw nsw i32 %two_e, %two_j
  %two_in = icmp slt i32 %two_at, %n
  br i1 %two_in, label %two_body, label %two_skip
two_body:
  %two_x = zext nneg i32 %two_at to i64
  %two_p = getelementptr float, ptr %a, i64 %two_x
  %two_v = load float, ptr %two_p
  %two_w = fadd float %two_v, %fsum
  %two_q = getelementptr float, ptr %c, i64 %two_x
  store float %two_w, ptr %two_q
  br label %two_skip
two_skip:
  %two_j1 = add nuw nsw i32 %two_j, 1
  br label %two_columns, !llvm.loop !2
two_next:
  %two_i1 = add nuw nsw i32 %two_i, 1
  %two_c1 = add nuw nsw i32 %two_c, 1
  br label %two_rows
done:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.count", i32 2}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.unroll.disable"}
