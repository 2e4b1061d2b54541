//! Kernels as text that says what they do, and nothing of where they stand.

use crate::program::Program;
use inkwell::values::AnyValue;

/// The body of each kernel, indexed by [`KernelId`](crate::program::KernelId), without debug information
/// and numbers that other parts of the program have a say in; empty where there is no body.
pub fn kernel_texts(program: &Program<'_>) -> Vec<String> {
    let kernels = program.kernels.iter();
    let texts = kernels.map(|kernel| {
        let function = program.analysis.get_function(&kernel.unique_name)?;
        Some(lasting(&function.print_to_string().to_string()))
    });
    texts.map(Option::unwrap_or_default).collect()
}

/// Leaves out debug records, comments, and words that refer to metadata or groups of attributes.
fn lasting(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    let mut kept = String::with_capacity(text.len());
    for line in lines {
        let line = line.split(" ;").next().unwrap_or_default();
        let words = line.split_whitespace();
        for word in words.filter(|word| !word.starts_with(['!', '#'])) {
            kept.push_str(word.trim_end_matches(','));
            kept.push(' ');
        }
        kept.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::lasting;

    #[test]
    fn debug_information_is_no_part_of_a_body() {
        let one = "define void @k(ptr %p) #3 !dbg !12 {\n    #dbg_value(ptr %p, !4, !5)\n  \
                   %x = load i32, ptr %p, align 4, !dbg !7, !tbaa !9\n  ret void, !dbg !8\n}\n";
        let other = "; Function Attrs: nounwind\ndefine void @k(ptr %p) #1 !dbg !40 {\n  \
                     %x = load i32, ptr %p, align 4, !tbaa !3\n  ret void ; done\n}\n";
        assert_eq!(lasting(one), lasting(other));
        assert_ne!(lasting(one), lasting(&one.replace("i32", "i64")));
    }
}
