//! Interned strings, types, attribute lists, locations and shardings of a module.

use std::hash::BuildHasherDefault;

use indexmap::IndexSet;
use rustc_hash::FxHasher;

use crate::sharding::TensorSharding;
use crate::{Attr, AttrsId, ElementType, Loc, LocId, ShardingId, Symbol, TensorType, Type, TypeId};

type FxIndexSet<T> = IndexSet<T, BuildHasherDefault<FxHasher>>;

/// A list of named attributes, in the order of the text.
pub type Attrs = Box<[(Symbol, Attr)]>;

/// Tables that give equal things equal ids. Ids are valid in the module that made them.
#[derive(Clone, Debug)]
pub struct Interner {
    strings: FxIndexSet<Box<str>>,
    types: FxIndexSet<Type>,
    attrs: FxIndexSet<Attrs>,
    locs: FxIndexSet<Loc>,
    shardings: FxIndexSet<TensorSharding>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut this = Interner {
            strings: FxIndexSet::default(),
            types: FxIndexSet::default(),
            attrs: FxIndexSet::default(),
            locs: FxIndexSet::default(),
            shardings: FxIndexSet::default(),
        };
        this.attrs.insert(Box::default());
        this.locs.insert(Loc::Unknown);
        this
    }
}

impl Interner {
    /// The id of a string.
    #[inline]
    pub fn symbol(&mut self, text: &str) -> Symbol {
        if let Some(index) = self.strings.get_index_of(text) {
            return Symbol::from_u32(index as u32);
        }
        Symbol::from_u32(self.strings.insert_full(text.into()).0 as u32)
    }

    /// The id of a string that was interned before.
    pub fn find_symbol(&self, text: &str) -> Option<Symbol> {
        self.strings.get_index_of(text).map(|index| Symbol::from_u32(index as u32))
    }

    /// The text of a symbol.
    #[inline]
    pub fn str(&self, symbol: Symbol) -> &str {
        &self.strings[symbol.as_u32() as usize]
    }

    /// The id of a type.
    pub fn type_id(&mut self, ty: Type) -> TypeId {
        TypeId::from_u32(self.types.insert_full(ty).0 as u32)
    }

    /// The id of a tensor type without encoding.
    pub fn tensor(&mut self, element: ElementType, dims: impl IntoIterator<Item = i64>) -> TypeId {
        self.type_id(Type::Tensor(TensorType::new(element, dims)))
    }

    /// The id of the plain number type.
    pub fn scalar(&mut self, element: ElementType) -> TypeId {
        self.type_id(Type::Scalar(element))
    }

    /// A type by its id.
    #[inline]
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.as_u32() as usize]
    }

    /// The id of an attribute list.
    pub fn attrs_id(&mut self, attrs: Vec<(Symbol, Attr)>) -> AttrsId {
        AttrsId::from_u32(self.attrs.insert_full(attrs.into()).0 as u32)
    }

    /// An attribute list by its id.
    #[inline]
    pub fn attrs(&self, id: AttrsId) -> &[(Symbol, Attr)] {
        &self.attrs[id.as_u32() as usize]
    }

    /// The attribute `name` of a list.
    pub fn attr(&self, id: AttrsId, name: &str) -> Option<&Attr> {
        let name = self.find_symbol(name)?;
        self.attrs(id).iter().find(|(key, _)| *key == name).map(|(_, attr)| attr)
    }

    /// The list with `name` set to `attr`, or removed where that is `None`.
    pub fn with_attr(&mut self, id: AttrsId, name: &str, attr: Option<Attr>) -> AttrsId {
        let name = self.symbol(name);
        let mut list = self.attrs(id).to_vec();
        let at = list.iter().position(|(key, _)| *key == name);
        match (at, attr) {
            (Some(at), Some(attr)) => list[at].1 = attr,
            (Some(at), None) => {
                list.remove(at);
            }
            (None, Some(attr)) => list.push((name, attr)),
            (None, None) => return id,
        }
        self.attrs_id(list)
    }

    /// The id of a location.
    pub fn loc_id(&mut self, loc: Loc) -> LocId {
        match loc {
            Loc::Input(offset) => LocId::input(offset as usize),
            loc => LocId::from_u32(self.locs.insert_full(loc).0 as u32),
        }
    }

    /// A location by its id.
    pub fn loc(&self, id: LocId) -> Loc {
        match id.input_offset() {
            Some(offset) => Loc::Input(offset),
            None => self.locs[id.as_u32() as usize].clone(),
        }
    }

    /// The id of a sharding.
    pub fn sharding_id(&mut self, sharding: TensorSharding) -> ShardingId {
        ShardingId::from_u32(self.shardings.insert_full(sharding).0 as u32)
    }

    /// A sharding by its id.
    #[inline]
    pub fn sharding(&self, id: ShardingId) -> &TensorSharding {
        &self.shardings[id.as_u32() as usize]
    }
}
