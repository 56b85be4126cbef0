//! What a custom call says besides its operands.

use shard_ir::ops::CustomCall;
use shard_ir::{Attr, AttrsId, Module};

use crate::Fault;
use crate::site::Site;

/// The attributes of a call, wherever they are: in its configuration, in one of the dictionaries
/// that stand in for it, or on the op itself.
pub(super) struct Config<'m> {
    module: &'m Module,
    lists: Vec<AttrsId>,
}

impl<'m> Config<'m> {
    pub fn new(site: &Site<'m>, call: &CustomCall) -> Config<'m> {
        let module = site.module;
        let own = module.op(site.op).attrs;
        let named = ["mhlo.backend_config", "mhlo.attributes"];
        let dictionaries = call
            .backend_config
            .iter()
            .chain(named.into_iter().filter_map(|name| module.attr(own, name)))
            .filter_map(|attr| match attr {
                Attr::Dict(list) => Some(*list),
                _ => None,
            });
        Config { module, lists: dictionaries.chain([own]).collect() }
    }

    fn get(&self, name: &str) -> Option<&'m Attr> {
        self.lists.iter().find_map(|list| self.module.attr(*list, name))
    }

    /// A boolean.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Attr::Bool(value) => Some(*value),
            Attr::Int(value, _) => Some(*value != 0),
            _ => None,
        }
    }

    /// An integer.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Attr::Int(value, _) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// One of LAPACK's letters.
    ///
    /// # Errors
    /// If it isn't there.
    pub fn letter(&self, name: &str) -> Result<char, Fault> {
        self.integer(name)
            .and_then(|code| u8::try_from(code).ok())
            .map(char::from)
            .ok_or_else(|| Fault::invalid(format!("the call doesn't say '{name}'")))
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&'m str> {
        match self.get(name)? {
            Attr::String(text) => Some(self.module.str(*text)),
            _ => None,
        }
    }
}
