; `ldmatrix`, `stmatrix` and `movmatrix`: matrices of 8 x 8 elements of 16 bits. Lanes 8q to 8q + 7 name the rows of
; matrix q; in a fragment, lane l holds elements 2 (l % 4) and the next of row l / 4, or, transposed, of column l / 4.

; What lane %from has in %value.
define internal i32 @sirius.of_lane(ptr %c, i32 %value, i32 %from) alwaysinline {
  %in = alloca i32, align 4
  %r = call i32 @__sirius_shuffle(ptr %c, i32 -1, i32 %value, i32 %from, i32 31, i32 3, ptr %in)
  ret i32 %r
}
; The row of a matrix that a lane names.
define internal ptr @sirius.row_of_lane(ptr %c, ptr %row, i32 %from) alwaysinline {
  %all = ptrtoint ptr %row to i64
  %low32 = trunc i64 %all to i32
  %up = lshr i64 %all, 32
  %high32 = trunc i64 %up to i32
  %low = call i32 @sirius.of_lane(ptr %c, i32 %low32, i32 %from)
  %high = call i32 @sirius.of_lane(ptr %c, i32 %high32, i32 %from)
  %low64 = zext i32 %low to i64
  %high64 = zext i32 %high to i64
  %shifted = shl i64 %high64, 32
  %address = or i64 %shifted, %low64
  %r = inttoptr i64 %address to ptr
  ret ptr %r
}
; Where the lane's element %i of a matrix lies.
define internal ptr @sirius.element_of_matrix(ptr %c, ptr %row, i32 %matrix, i1 %transposed, i32 %i) alwaysinline {
  %lane = call i32 @sirius.llvm.nvvm.read.ptx.sreg.laneid(ptr %c)
  %group = lshr i32 %lane, 2
  %within = and i32 %lane, 3
  %twice = shl i32 %within, 1
  %second = add i32 %twice, %i
  %r = select i1 %transposed, i32 %second, i32 %group
  %column = select i1 %transposed, i32 %group, i32 %second
  %first = shl i32 %matrix, 3
  %from = add i32 %first, %r
  %start = call ptr @sirius.row_of_lane(ptr %c, ptr %row, i32 %from)
  %at = getelementptr i16, ptr %start, i32 %column
  ret ptr %at
}
define internal i32 @sirius.load_matrix(ptr %c, ptr %row, i32 %matrix, i1 %transposed) alwaysinline {
  %p0 = call ptr @sirius.element_of_matrix(ptr %c, ptr %row, i32 %matrix, i1 %transposed, i32 0)
  %p1 = call ptr @sirius.element_of_matrix(ptr %c, ptr %row, i32 %matrix, i1 %transposed, i32 1)
  %v0 = load i16, ptr %p0, align 2
  %v1 = load i16, ptr %p1, align 2
  %w0 = zext i16 %v0 to i32
  %w1 = zext i16 %v1 to i32
  %s1 = shl i32 %w1, 16
  %r = or i32 %s1, %w0
  ret i32 %r
}
define internal void @sirius.store_matrix(ptr %c, ptr %row, i32 %matrix, i1 %transposed, i32 %value) alwaysinline {
  %p0 = call ptr @sirius.element_of_matrix(ptr %c, ptr %row, i32 %matrix, i1 %transposed, i32 0)
  %p1 = call ptr @sirius.element_of_matrix(ptr %c, ptr %row, i32 %matrix, i1 %transposed, i32 1)
  %v0 = trunc i32 %value to i16
  %s1 = lshr i32 %value, 16
  %v1 = trunc i32 %s1 to i16
  store i16 %v0, ptr %p0, align 2
  store i16 %v1, ptr %p1, align 2
  ret void
}
; The lane's element %i of the transposed matrix.
define internal i32 @sirius.transposed_element(ptr %c, i32 %value, i32 %i) alwaysinline {
  %lane = call i32 @sirius.llvm.nvvm.read.ptx.sreg.laneid(ptr %c)
  %group = lshr i32 %lane, 2
  %within = and i32 %lane, 3
  %twice = shl i32 %within, 1
  %column = add i32 %twice, %i
  %line = shl i32 %column, 2
  %half = lshr i32 %group, 1
  %from = add i32 %line, %half
  %word = call i32 @sirius.of_lane(ptr %c, i32 %value, i32 %from)
  %odd = and i32 %group, 1
  %bits = shl i32 %odd, 4
  %shifted = lshr i32 %word, %bits
  %r = and i32 %shifted, 65535
  ret i32 %r
}
define internal i32 @sirius.transpose_matrix(ptr %c, i32 %value) alwaysinline {
  %v0 = call i32 @sirius.transposed_element(ptr %c, i32 %value, i32 0)
  %v1 = call i32 @sirius.transposed_element(ptr %c, i32 %value, i32 1)
  %s1 = shl i32 %v1, 16
  %r = or i32 %s1, %v0
  ret i32 %r
}
