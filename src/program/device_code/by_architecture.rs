//! Device code that differs between the architectures that it is compiled for.
//!
//! Invariant: two definitions that count as the same are the same instructions with the same attributes and
//! metadata, and whatever they mention that has no name of its own (types, metadata, private constants) is the
//! same as well; only the name of the processor may differ. What is not seen to be the same is another.

use crate::build::Target;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The kernels and other functions of a device module whose code, or that of what they use, is another in one of
/// `newer`, by name, with the first such architecture.
pub(in crate::program) fn differing(
    oldest: &Module<'_>,
    newer: &[(Target, Module<'_>)],
) -> BTreeMap<String, Target> {
    let mut differing = BTreeMap::new();
    if newer.is_empty() {
        return differing;
    }
    let oldest = Definitions::of(oldest);
    for (target, module) in newer {
        for name in oldest.differing(&Definitions::of(module)) {
            let name = name.trim_start_matches('@').trim_matches('"').to_owned();
            differing.entry(name).or_insert(*target);
        }
    }
    differing
}

/// By name, every function and variable of a device module, declared ones as well; equal for modules that are
/// the same.
#[derive(PartialEq, Eq)]
pub(in crate::program) struct Definitions(BTreeMap<String, Definition>);

#[derive(PartialEq, Eq)]
struct Definition {
    /// Without anything that depends on the rest of the module.
    text: String,
    /// The functions and variables that it names.
    uses: BTreeSet<String>,
}

impl Definitions {
    /// Those of a module.
    pub(in crate::program) fn of(module: &Module<'_>) -> Self {
        let copy = module.clone();
        copy.strip_debug_info();
        let text = copy.print_to_string().to_string();
        let printed = Printed::of(&text);
        let definitions = printed.symbols.iter().map(|(name, text)| {
            let definition = printed.definition(text);
            ((*name).to_owned(), definition)
        });
        Self(definitions.collect())
    }

    /// The names whose definitions differ, or that use such names.
    fn differing(&self, other: &Self) -> BTreeSet<String> {
        let names: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let differs = |name: &&String| self.0.get(*name) != other.0.get(*name);
        let mut differing: BTreeSet<String> = names.into_iter().filter(differs).cloned().collect();
        let mut users: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
        for (name, definition) in self.0.iter().chain(&other.0) {
            for used in &definition.uses {
                users.entry(used).or_default().push(name);
            }
        }
        let mut reached: Vec<String> = differing.iter().cloned().collect();
        while let Some(name) = reached.pop() {
            for user in users.get(&name).into_iter().flatten() {
                if differing.insert((*user).clone()) {
                    reached.push((*user).clone());
                }
            }
        }
        differing
    }
}

/// A module's text in its parts, each with what stands before its first space (or in front of `=`) as its name.
#[derive(Default)]
struct Printed<'a> {
    /// Functions and variables, without those of [`Self::unnamed`].
    symbols: BTreeMap<&'a str, &'a str>,
    /// Types, metadata, attributes and private constants, by the words that mention them.
    unnamed: BTreeMap<&'a str, &'a str>,
}

impl<'a> Printed<'a> {
    fn of(text: &'a str) -> Self {
        let mut printed = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let line_end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let line = &rest[..line_end];
            let is_function = line.starts_with("define ") || line.starts_with("declare ");
            let end = match line.starts_with("define ") {
                true => rest.find("\n}").map_or(rest.len(), |end| end + 2),
                false => line_end,
            };
            let part = &rest[..end];
            rest = &rest[end..];
            if is_function {
                let name = Words(line).find(|word| word.starts_with('@'));
                printed.symbols.extend(name.map(|name| (name, part)));
                continue;
            }
            let line = line.strip_prefix("attributes ").unwrap_or(line);
            let Some((name, definition)) = line.split_once(" = ") else {
                continue;
            };
            match name.as_bytes() {
                [b'@', ..] if !definition.starts_with("private ") => {
                    printed.symbols.insert(name, part);
                }
                // Lists of what is in the module say nothing about any part of it.
                [b'!', first, ..] if !first.is_ascii_digit() => {}
                _ => {
                    printed.unnamed.insert(name, definition);
                }
            }
        }
        printed
    }

    fn definition(&self, text: &str) -> Definition {
        let mut definition = Definition {
            text: String::new(),
            uses: BTreeSet::new(),
        };
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut waiting = VecDeque::from([text]);
        while let Some(part) = waiting.pop_front() {
            for word in Words(part) {
                if let Some((name, mentioned)) = self.unnamed.get_key_value(word) {
                    let next = numbers.len();
                    let number = *numbers.entry(name).or_insert_with(|| {
                        waiting.push_back(mentioned);
                        next
                    });
                    let kind = &word[..1];
                    definition.text.push_str(&format!("{kind}{number}"));
                    continue;
                }
                if word.starts_with('@') && self.symbols.contains_key(word) {
                    definition.uses.insert(word.to_owned());
                }
                definition.text.push_str(word);
            }
            definition.text.push('\n');
        }
        definition.text = without_processor(&definition.text);
        definition
    }
}

/// Without the attributes that name the processor.
fn without_processor(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::with_capacity(text.len());
    let starts = ["\"target-cpu\"=\"", "\"target-features\"=\""];
    while let Some((start, length)) = starts
        .iter()
        .filter_map(|start| Some((rest.find(start)?, start.len())))
        .min()
    {
        kept.push_str(&rest[..start]);
        let after = &rest[start + length..];
        let end = after.find('"').map_or(after.len(), |end| end + 1);
        rest = &after[end..];
    }
    kept.push_str(rest);
    kept
}

/// The words of LLVM's text and what stands between them; one after the other they are the text. A name with its
/// mark (`@name`, `%"a name"`, `!4`, `#1`) is one word, and so is a string.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.0.as_bytes();
        let quoted = |start: usize| {
            let inside = bytes[start + 1..].iter();
            let inside = inside.take_while(|byte| **byte != b'"').count();
            (start + inside + 2).min(bytes.len())
        };
        let named = |start: usize| {
            let named = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._$-".contains(byte);
            start + bytes[start..].iter().take_while(named).count()
        };
        let end = match (bytes.first()?, bytes.get(1)) {
            (b'@' | b'%' | b'$', Some(b'"')) => quoted(1),
            (b'@' | b'%' | b'!' | b'#' | b'$', _) => named(1),
            (b'"', _) => quoted(0),
            (byte, _) if byte.is_ascii_alphanumeric() || b"._-".contains(byte) => named(0).max(1),
            _ => 1,
        };
        // A byte of a longer character stands in quotes only.
        let end = (end..=bytes.len()).find(|end| self.0.is_char_boundary(*end))?;
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::FeatureSet;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    fn module<'ctx>(context: &'ctx Context, text: &str) -> Module<'ctx> {
        let text = format!("{text}\0");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        context.create_module_from_ir(buffer).unwrap()
    }

    const OLDEST: &str = r#"
        %pair = type { i32, %inner }
        %inner = type { float, float }
        @.str = private unnamed_addr constant [4 x i8] c"a@b\00"
        @table = addrspace(4) constant [2 x i32] [i32 1, i32 2]
        define ptx_kernel void @same(ptr %p) #0 {
          %q = getelementptr %pair, ptr %p, i64 1
          store ptr @.str, ptr %q, !tbaa !0
          ret void
        }
        define ptx_kernel void @through(ptr %p) #0 {
          call void @helper(ptr %p)
          ret void
        }
        define ptx_kernel void @reads(ptr %p) #0 {
          %v = load i32, ptr addrspace(4) @table
          store i32 %v, ptr %p
          ret void
        }
        define void @helper(ptr %p) #1 {
          store i32 75, ptr %p
          ret void
        }
        attributes #0 = { "target-cpu"="sm_75" "target-features"="+ptx88,+sm_75" }
        attributes #1 = { noinline "target-cpu"="sm_75" }
        !0 = !{!1, !1, i64 0}
        !1 = !{!"pointer", !2}
        !2 = !{!"root"}
    "#;

    fn target(number: u32) -> Target {
        Target {
            number,
            features: FeatureSet::Portable,
        }
    }

    fn found(newer: &str) -> Vec<String> {
        // One context for both renames the types of the second.
        let context = Context::create();
        let oldest = module(&context, OLDEST);
        let newer = module(&context, newer);
        let same = Definitions::of(&oldest) == Definitions::of(&newer);
        let differing = differing(&oldest, &[(target(90), newer)]);
        assert_eq!(same, differing.is_empty());
        assert!(differing.values().all(|first| *first == target(90)));
        differing.into_keys().collect()
    }

    #[test]
    fn processors_and_numbers_make_no_difference() {
        let newer = OLDEST
            .replace("sm_75", "sm_90")
            .replace("@.str", "@.str.7")
            .replace("!1 ", "!7 ")
            .replace("!1,", "!7,");
        assert_eq!(found(&newer), [""; 0]);
        let other = "define void @another() #1 { ret void }\n".to_owned() + &newer;
        assert_eq!(found(&other), ["another"]);
    }

    #[test]
    fn users_of_what_differs_differ() {
        let newer = OLDEST.replace("store i32 75", "store i32 90");
        assert_eq!(found(&newer), ["helper", "through"]);
        let newer = OLDEST.replace("[i32 1, i32 2]", "[i32 1, i32 3]");
        assert_eq!(found(&newer), ["reads", "table"]);
    }

    #[test]
    fn what_has_no_name_of_its_own_counts() {
        for (one, other) in [
            ("{ float, float }", "{ float, double }"),
            ("c\"a@b\\00\"", "c\"a@c\\00\""),
            ("!\"root\"", "!\"another\""),
        ] {
            assert_eq!(found(&OLDEST.replace(one, other)), ["same"], "{other}");
        }
        assert_eq!(
            found(&OLDEST.replace("noinline ", "cold ")),
            ["helper", "through"]
        );
    }
}
