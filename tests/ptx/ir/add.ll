target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"


define ptx_kernel void @"add"(ptr %"a.add_param_0", ptr %"a.add_param_1", i32 %"a.add_param_2") #4 !dbg !3 {
  %"p.add_param_0" = alloca [8 x i8], align 8
  store ptr %"a.add_param_0", ptr %"p.add_param_0", align 8
  %"p.add_param_1" = alloca [8 x i8], align 8
  store ptr %"a.add_param_1", ptr %"p.add_param_1", align 8
  %"p.add_param_2" = alloca [4 x i8], align 4
  store i32 %"a.add_param_2", ptr %"p.add_param_2", align 4
  %"r.%rd1" = alloca i64
  %"r.%rd2" = alloca i64
  %"r.%r1" = alloca i32
  %"r.%rd3" = alloca i64
  %"r.%r2" = alloca i32
  %"r.%p1" = alloca i1
  %"r.%rd4" = alloca i64
  %"r.%rd5" = alloca i64
  %"r.%f1" = alloca float
  %"r.%f2" = alloca float
  %"r.%f3" = alloca float
  store i64 0, ptr %"r.%rd1", !dbg !7
  store i64 0, ptr %"r.%rd2", !dbg !9
  %t1 = load i32, ptr %"p.add_param_2", align 4, !dbg !11
  store i32 %t1, ptr %"r.%r1", !dbg !11
  %t2 = load i64, ptr %"r.%rd1", !dbg !13
  store i64 %t2, ptr %"r.%rd3", !dbg !13
  %t3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !15
  store i32 %t3, ptr %"r.%r2", !dbg !15
  %t4 = load i32, ptr %"r.%r2", !dbg !17
  %t5 = load i32, ptr %"r.%r1", !dbg !17
  %t6 = icmp sge i32 %t4, %t5, !dbg !17
  store i1 %t6, ptr %"r.%p1", !dbg !17
  %t7 = load i1, ptr %"r.%p1", !dbg !19
  br i1 %t7, label %"l.DONE", label %"after.8", !dbg !19
"after.8":
  %t9 = load i32, ptr %"r.%r2", !dbg !21
  %t10 = zext i32 %t9 to i64, !dbg !21
  %t11 = zext i32 4 to i64, !dbg !21
  %t12 = mul i64 %t10, %t11, !dbg !21
  store i64 %t12, ptr %"r.%rd4", !dbg !21
  %t13 = load i64, ptr %"r.%rd3", !dbg !23
  %t14 = load i64, ptr %"r.%rd4", !dbg !23
  %t15 = add i64 %t13, %t14, !dbg !23
  store i64 %t15, ptr %"r.%rd5", !dbg !23
  %t16 = load i64, ptr %"r.%rd5", !dbg !25
  %t17 = getelementptr i8, ptr %"a.add_param_0", i64 %t16, !dbg !25
  %t18 = load float, ptr %t17, align 4, !dbg !25
  store float %t18, ptr %"r.%f1", !dbg !25
  %t19 = load i64, ptr %"r.%rd2", !dbg !27
  %t20 = load i64, ptr %"r.%rd4", !dbg !27
  %t21 = add i64 %t19, %t20, !dbg !27
  store i64 %t21, ptr %"r.%rd2", !dbg !27
  %t22 = load i64, ptr %"r.%rd2", !dbg !29
  %t23 = getelementptr i8, ptr %"a.add_param_1", i64 %t22, !dbg !29
  %t24 = load float, ptr %t23, align 4, !dbg !29
  store float %t24, ptr %"r.%f2", !dbg !29
  %t25 = load float, ptr %"r.%f1", !dbg !31
  %t26 = load float, ptr %"r.%f2", !dbg !31
  %t27 = fadd float %t25, %t26, !dbg !31
  store float %t27, ptr %"r.%f3", !dbg !31
  %t28 = load i64, ptr %"r.%rd5", !dbg !33
  %t29 = getelementptr i8, ptr %"a.add_param_0", i64 %t28, !dbg !33
  %t30 = load float, ptr %"r.%f3", !dbg !33
  store float %t30, ptr %t29, align 4, !dbg !33
  br label %"l.DONE", !dbg !33
"l.DONE":
  ret void, !dbg !35
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { convergent nounwind }
attributes #1 = { alwaysinline nounwind memory(none) }
attributes #2 = { convergent noreturn nounwind }
attributes #3 = { nounwind willreturn memory(none) }
attributes #4 = { convergent noinline nounwind "nvvm.maxntid"="256,1,1" }

!0 = !DIFile(filename: "add.ptx", directory: "")
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !0, producer: "PTX", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!2 = !DISubroutineType(types: !{})
!3 = distinct !DISubprogram(name: "add", linkageName: "add", scope: !0, file: !0, line: 5, type: !2, scopeLine: 5, spFlags: DISPFlagDefinition, unit: !1)
!4 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!5 = !DILocation(line: 5, column: 0, scope: !4)
!6 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!7 = !DILocation(line: 16, column: 0, scope: !6)
!8 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!9 = !DILocation(line: 17, column: 0, scope: !8)
!10 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!11 = !DILocation(line: 18, column: 0, scope: !10)
!12 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!13 = !DILocation(line: 19, column: 0, scope: !12)
!14 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!15 = !DILocation(line: 20, column: 0, scope: !14)
!16 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!17 = !DILocation(line: 21, column: 0, scope: !16)
!18 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!19 = !DILocation(line: 22, column: 0, scope: !18)
!20 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!21 = !DILocation(line: 23, column: 0, scope: !20)
!22 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!23 = !DILocation(line: 24, column: 0, scope: !22)
!24 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!25 = !DILocation(line: 25, column: 0, scope: !24)
!26 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!27 = !DILocation(line: 26, column: 0, scope: !26)
!28 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!29 = !DILocation(line: 27, column: 0, scope: !28)
!30 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!31 = !DILocation(line: 28, column: 0, scope: !30)
!32 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!33 = !DILocation(line: 29, column: 0, scope: !32)
!34 = !DILexicalBlockFile(scope: !3, file: !0, discriminator: 0)
!35 = !DILocation(line: 31, column: 0, scope: !34)
!llvm.dbg.cu = !{!1}
!llvm.module.flags = !{!36}
!36 = !{i32 2, !"Debug Info Version", i32 3}
