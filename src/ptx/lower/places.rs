//! Where instructions come from, as debug information: the lines that `.loc` names, or those of the PTX itself.

use std::collections::HashMap;
use std::fmt::Write;

/// The metadata of a module.
pub(super) struct Places {
    /// Files by number; 0 is the PTX.
    files: HashMap<u32, usize>,
    lines: Vec<String>,
    /// Places of a function, by its scope.
    known: HashMap<(usize, u32, u32, u32), usize>,
    unit: usize,
    ty: usize,
}

impl Places {
    pub(super) fn new(name: &str, files: &[(u32, String)]) -> Self {
        let mut places = Self {
            files: HashMap::new(),
            lines: Vec::new(),
            known: HashMap::new(),
            unit: 0,
            ty: 0,
        };
        let own = places.file(name);
        places.files.insert(0, own);
        for (number, file) in files {
            let file = places.file(file);
            places.files.insert(*number, file);
        }
        places.unit = places.add(format!(
            "distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !{own}, producer: \"PTX\", \
             isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)"
        ));
        places.ty = places.add("!DISubroutineType(types: !{})".to_owned());
        places
    }

    fn add(&mut self, text: String) -> usize {
        self.lines.push(text);
        self.lines.len() - 1
    }

    fn file(&mut self, name: &str) -> usize {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let escaped = |text: &str| text.replace('\\', "\\5C").replace('"', "\\22");
        self.add(format!(
            "!DIFile(filename: \"{}\", directory: \"{}\")",
            escaped(file),
            escaped(folder)
        ))
    }

    /// The scope of a function.
    pub(super) fn function(&mut self, name: &str, place: (u32, u32)) -> usize {
        let file = self.file_of(place.0);
        let (unit, ty) = (self.unit, self.ty);
        self.add(format!(
            "distinct !DISubprogram(name: {name}, linkageName: {name}, scope: !{file}, file: !{file}, line: {line}, \
             type: !{ty}, scopeLine: {line}, spFlags: DISPFlagDefinition, unit: !{unit})",
            name = super::values::quoted(name),
            line = place.1
        ))
    }

    fn file_of(&self, number: u32) -> usize {
        self.files.get(&number).copied().unwrap_or(self.files[&0])
    }

    /// A place in a function.
    pub(super) fn place(&mut self, scope: usize, (file, line, column): (u32, u32, u32)) -> usize {
        if let Some(known) = self.known.get(&(scope, file, line, column)) {
            return *known;
        }
        let in_file = self.file_of(file);
        let block = self.add(format!(
            "!DILexicalBlockFile(scope: !{scope}, file: !{in_file}, discriminator: 0)"
        ));
        let column = column.min(65_535);
        let place = self.add(format!(
            "!DILocation(line: {line}, column: {column}, scope: !{block})"
        ));
        self.known.insert((scope, file, line, column), place);
        place
    }

    /// All of it.
    pub(super) fn metadata(&self) -> String {
        let mut text = String::from("\n");
        for (index, line) in self.lines.iter().enumerate() {
            let _ = writeln!(text, "!{index} = {line}");
        }
        let next = self.lines.len();
        let _ = writeln!(
            text,
            "!llvm.dbg.cu = !{{!{}}}\n!llvm.module.flags = !{{!{next}}}\n\
             !{next} = !{{i32 2, !\"Debug Info Version\", i32 3}}",
            self.unit
        );
        text
    }
}
