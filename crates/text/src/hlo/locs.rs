//! Metadata of instructions as locations, and the tables that they refer to.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use shard_ir::{Interner, Loc, LocId};

use super::attrs::{fields, inside, quote, unquote};
use crate::mlir::unescape;
use crate::print::push_string;

/// The tables of source locations in a module's header.
#[derive(Debug, Default)]
pub(super) struct Frames {
    files: Vec<String>,
    locations: Vec<FxHashMap<String, u32>>,
    frames: Vec<FxHashMap<String, u32>>,
    known: FxHashMap<u32, LocId>,
}

impl Frames {
    pub(super) fn read(tables: &str) -> Frames {
        let mut frames = Frames::default();
        let mut section = "";
        for line in tables.lines().map(str::trim) {
            let Some((_, value)) = line.split_once(' ') else {
                section = line;
                continue;
            };
            let numbers = || -> FxHashMap<String, u32> {
                let pairs = fields(value).unwrap_or_default();
                pairs.iter().filter_map(|(k, v)| Some(((*k).to_owned(), v.parse().ok()?))).collect()
            };
            match section {
                "FileNames" => frames.files.push(unquote(value.trim()).unwrap_or_default()),
                "FileLocations" => frames.locations.push(numbers()),
                "StackFrames" => frames.frames.push(numbers()),
                _ => {}
            }
        }
        frames
    }

    /// The location of a frame: its line inside that of its caller.
    fn loc(&mut self, id: u32, interner: &mut Interner) -> LocId {
        let mut chain = Vec::new();
        let mut next = id;
        let mut loc = loop {
            if next == 0 || chain.len() > self.frames.len() {
                break None;
            }
            if let Some(&known) = self.known.get(&next) {
                break Some(known);
            }
            chain.push(next);
            let parent = self.frames.get(next as usize - 1).and_then(|f| f.get("parent_frame_id"));
            next = parent.copied().unwrap_or(1).saturating_sub(1);
        };
        for id in chain.into_iter().rev() {
            let file = self.file_loc(id, interner);
            let here = match loc {
                Some(caller) => interner.loc_id(Loc::CallSite { callee: file, caller }),
                None => file,
            };
            self.known.insert(id, here);
            loc = Some(here);
        }
        loc.unwrap_or(LocId::UNKNOWN)
    }

    fn file_loc(&self, frame: u32, interner: &mut Interner) -> LocId {
        let at = |list: &[FxHashMap<String, u32>], id: u32| {
            list.get(id.wrapping_sub(1) as usize).cloned()
        };
        let location = at(&self.frames, frame)
            .and_then(|frame| at(&self.locations, *frame.get("file_location_id")?));
        let Some(location) = location else { return LocId::UNKNOWN };
        let get = |key: &str| location.get(key).copied().unwrap_or(0);
        let file = self.files.get(get("file_name_id").wrapping_sub(1) as usize);
        let Some(file) = file else { return LocId::UNKNOWN };
        let file = interner.symbol(file);
        interner.loc_id(Loc::File { file, line: get("line"), col: get("column"), end: None })
    }
}

/// The location of metadata `{op_name="..." source_file="..." source_line=1}`, which keeps its text.
pub(super) fn read(text: &str, frames: &mut Frames, interner: &mut Interner) -> LocId {
    let fields = fields(text).unwrap_or_default();
    let get = |key: &str| fields.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
    let number = |key: &str| get(key).and_then(|value| value.parse().ok()).unwrap_or(0);
    let frame = number("stack_frame_id");
    let mut loc = if frame > 0 { frames.loc(frame, interner) } else { LocId::UNKNOWN };
    if let Some(file) = get("source_file").and_then(unquote) {
        let file = interner.symbol(&file);
        let (line, col) = (number("source_line"), number("source_column"));
        loc = interner.loc_id(Loc::File { file, line, col, end: None });
    }
    if let Some(name) = get("op_name").and_then(unquote) {
        let name = interner.symbol(&name);
        loc = interner.loc_id(Loc::Name { name, child: loc });
    }
    // MLIR takes any attribute as metadata of a location: a string holds what else was written.
    let mut metadata = String::new();
    push_string(text, &mut metadata);
    let metadata = interner.symbol(&metadata);
    interner.loc_id(Loc::Fused { metadata: Some(metadata), locs: [loc].into() })
}

/// The metadata of a location; nothing where it says nothing.
pub(super) fn write(loc: LocId, interner: &Interner, out: &mut String) -> bool {
    let (mut name, mut file) = (None, None);
    let mut next = loc;
    for _ in 0..1000 {
        match interner.loc(next) {
            Loc::Unknown | Loc::Input(_) => break,
            Loc::File { file: path, line, col, .. } => {
                file = Some((path, line, col));
                break;
            }
            Loc::Name { name: found, child } => {
                name = name.or(Some(found));
                next = child;
            }
            Loc::CallSite { callee, .. } => next = callee,
            Loc::Fused { metadata, locs } => {
                let text = metadata.map(|text| interner.str(text));
                if let Some(inner) = text.and_then(|text| inside(text, '"', '"'))
                    && inner.starts_with('{')
                {
                    out.push_str(&unescape(inner).unwrap_or_default());
                    return true;
                }
                let Some(&first) = locs.first() else { break };
                next = first;
            }
        }
    }
    if name.is_none() && file.is_none() {
        return false;
    }
    out.push('{');
    if let Some(name) = name {
        out.push_str("op_name=");
        quote(interner.str(name), out);
    }
    if let Some((path, line, col)) = file {
        out.push_str(if name.is_some() { " source_file=" } else { "source_file=" });
        quote(interner.str(path), out);
        let _ = write!(out, " source_line={line}");
        if col > 0 {
            let _ = write!(out, " source_column={col}");
        }
    }
    out.push('}');
    true
}
