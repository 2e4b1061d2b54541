//! Classes of the C++ standard library, as far as their code is not in headers (libstdc++).
//!
//! The functions that are not inlined work on a few known layouts: a `std::string` is a pointer, a
//! length and a buffer of its own; nodes of lists and trees have their links in front.

use super::LibraryCall;

/// Bytes of a `std::string`: the pointer to its text, the length, the buffer for short texts.
pub const STRING_BYTES: u64 = 32;

/// Where the buffer for short texts begins in a `std::string`.
pub const STRING_BUFFER_OFFSET: i64 = 16;

/// Where nodes of trees have their links: parent, left, right. The header of a map is such a node.
const TREE_LINKS: &[i64] = &[8, 16, 24];

/// Where nodes of lists have their links: next, previous.
const LIST_LINKS: &[i64] = &[0, 8];

const STRING: &str = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";
const CONSTANT_STRING: &str = "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";
const LIST_NODE: &str = "_ZNSt8__detail15_List_node_base";
const REHASH_POLICY: &str = "_ZNKSt8__detail20_Prime_rehash_policy";

/// Exceptions of the library that keep a text.
const EXCEPTIONS: [&str; 9] = [
    "_ZNSt11logic_error",
    "_ZNSt11range_error",
    "_ZNSt12domain_error",
    "_ZNSt12length_error",
    "_ZNSt12out_of_range",
    "_ZNSt13runtime_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
    "_ZNSt16invalid_argument",
];

/// The effect of a function of the standard library's classes; `None` when the table does not have
/// it.
pub(super) fn call(name: &str) -> Option<LibraryCall> {
    let plain = LibraryCall::default();
    let throwing = LibraryCall {
        throws: true,
        ..plain
    };
    if let Some(method) = name.strip_prefix(STRING) {
        return string(method);
    }
    if let Some(method) = name.strip_prefix(CONSTANT_STRING) {
        let asks = [
            "4find",
            "5rfind",
            "7compare",
            "13find_first",
            "12find_last",
            "4size",
        ];
        let asks = asks.iter().any(|start| method.starts_with(start));
        return asks.then_some(throwing);
    }
    if let Some(function) = name.strip_prefix(LIST_NODE) {
        let links = [
            "7_M_hook",
            "9_M_unhook",
            "11_M_transfer",
            "10_M_reverse",
            "4swap",
        ];
        return links
            .iter()
            .any(|start| function.starts_with(start))
            .then_some(LibraryCall {
                relinks: LIST_LINKS,
                ..plain
            });
    }
    if let Some(function) = name.strip_prefix(REHASH_POLICY) {
        // It keeps the next size to grow at.
        return (function.starts_with("14_M_need_rehash") || function.starts_with("11_M_next_bkt"))
            .then_some(LibraryCall {
                writes: &[0],
                numbers: true,
                throws: true,
                ..plain
            });
    }
    if EXCEPTIONS.iter().any(|class| {
        name.strip_prefix(class)
            .is_some_and(|method| method.starts_with("C1E") || method.starts_with("C2E"))
    }) {
        return Some(LibraryCall {
            writes: &[0],
            throws: true,
            ..plain
        });
    }
    let walks = ["_ZSt18_Rb_tree_increment", "_ZSt18_Rb_tree_decrement"];
    if walks.iter().any(|start| name.starts_with(start)) {
        return Some(LibraryCall {
            walks: TREE_LINKS,
            ..plain
        });
    }
    Some(match name {
        "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_" => LibraryCall {
            relinks: TREE_LINKS,
            ..plain
        },
        "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_" => LibraryCall {
            relinks: TREE_LINKS,
            walks: TREE_LINKS,
            ..plain
        },
        "_ZSt11_Hash_bytesPKvmm" | "_ZSt15_Fnv_hash_bytesPKvmm" => plain,
        _ => return None,
    })
}

/// A method of `std::string` that may change it; the string is the first argument.
fn string(method: &str) -> Option<LibraryCall> {
    let changed = LibraryCall {
        string: Some(0),
        allocates: true,
        throws: true,
        ..LibraryCall::default()
    };
    if method.starts_with("9_M_createERmm") {
        return Some(LibraryCall {
            writes: &[1],
            numbers: true,
            allocates: true,
            throws: true,
            ..LibraryCall::default()
        });
    }
    if method.starts_with("D1Ev")
        || method.starts_with("D2Ev")
        || method.starts_with("10_M_dispose")
        || method.starts_with("10_M_destroy")
    {
        return Some(LibraryCall::default());
    }
    // Strings that exchange their texts.
    if [
        "C1EOS4_",
        "C2EOS4_",
        "aSEOS4_",
        "6assignEOS4_",
        "4swapERS4_",
    ]
    .iter()
    .any(|start| method.starts_with(start))
    {
        return Some(LibraryCall {
            other_string: Some(1),
            returns_argument: method.starts_with(['a', '6']).then_some(0),
            ..changed
        });
    }
    const NOTHING: [&str; 13] = [
        "C1E",
        "C2E",
        "12_M_construct",
        "6resizeE",
        "7reserveE",
        "8_M_eraseE",
        "9_M_assignE",
        "9_M_mutateE",
        "9push_backE",
        "5clearEv",
        "8pop_backEv",
        "16_M_construct_aux",
        "13shrink_to_fit",
    ];
    const ITSELF: [&str; 9] = [
        "9_M_appendE",
        "6appendE",
        "6assignE",
        "7replaceE",
        "10_M_replaceE",
        "14_M_replace_auxE",
        "pLE",
        "aSE",
        "5eraseEmm",
    ];
    let starts = |list: &[&str]| list.iter().any(|start| method.starts_with(start));
    if starts(&NOTHING) {
        return Some(changed);
    }
    (starts(&ITSELF) || method.starts_with("6insertEm")).then_some(LibraryCall {
        returns_argument: Some(0),
        ..changed
    })
}
