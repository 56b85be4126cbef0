//! What lowering keeps in mind: global types, and where on the mesh a device is.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashMap;
use shard_ir::ops::{Collective, Constant, Elementwise, Op};
use shard_ir::sharding::{AxisList, AxisRef, Mesh, axes};
use shard_ir::{
    Dense, DenseData, Diagnostic, ElementType, FuncId, LocId, MeshId, Module, OpId, ShardingId,
    TensorType, Type, TypeId, ValueDef, ValueId,
};

use crate::rewrite::Rewriter;

/// State of the lowering of one function.
pub(crate) struct Local {
    /// The mesh of the program.
    pub mesh: MeshId,
    /// Its axes.
    pub mesh_def: Mesh,
    /// The global type of each value that was made local.
    globals: SecondaryMap<ValueId, PackedOption<TypeId>>,
    /// Ops at the start of the function: where this device is on the mesh.
    prologue: Vec<OpId>,
    device: Option<ValueId>,
    coordinates: FxHashMap<AxisList, ValueId>,
    offsets: FxHashMap<(AxisList, i64, ElementType), ValueId>,
    channels: i64,
}

/// The shape of one device's shard of a value.
pub fn local_type(
    module: &mut Module,
    ty: TypeId,
    sharding: Option<ShardingId>,
) -> Result<TypeId, Diagnostic> {
    let (Type::Tensor(tensor), Some(sharding)) = (module.ty(ty), sharding) else { return Ok(ty) };
    let sharding = module.sharding(sharding);
    let split_dynamic = |(&size, count): (&i64, u64)| size == shard_ir::DYNAMIC && count > 1;
    if tensor.dims.iter().zip(sharding.shard_counts()).any(split_dynamic) {
        return Err(Diagnostic::error("a dimension whose size isn't known can't be split")
            .help("give the program static shapes, or leave the dimension out of the sharding"));
    }
    if !sharding.is_even(&tensor.dims) {
        return Err(Diagnostic::error(format!(
            "shape {:?} doesn't divide into {:?} shards",
            &tensor.dims[..],
            &sharding.shard_counts()[..]
        ))
        .help("run 'pad-uneven' before 'global-to-local'"));
    }
    let Some(dims) = sharding.local_shape(&tensor.dims) else { return Ok(ty) };
    let local = tensor.with_dims(dims);
    Ok(module.type_id(Type::Tensor(local)))
}

impl Local {
    /// For a module whose shardings are over `mesh`.
    pub fn new(module: &Module, mesh: MeshId) -> Self {
        Local {
            mesh,
            mesh_def: module.meshes[mesh].mesh.clone(),
            globals: SecondaryMap::new(),
            prologue: Vec::new(),
            device: None,
            coordinates: FxHashMap::default(),
            offsets: FxHashMap::default(),
            channels: 0,
        }
    }

    /// Gives a value its local type, remembering the global one.
    pub fn localize(&mut self, module: &mut Module, value: ValueId) -> Result<(), Diagnostic> {
        let ty = module.value_type(value);
        let sharding = module.shardings[value].expand();
        let local =
            local_type(module, ty, sharding).map_err(|error| match module.value_def(value) {
                ValueDef::Result(op, _) => error.at_op(module, op),
                ValueDef::Param(..) => {
                    let loc = module.param_locs[value].expand().unwrap_or(LocId::UNKNOWN);
                    error.at_loc(module, loc)
                }
            })?;
        self.globals[value] = ty.into();
        module.set_value_type(value, local);
        Ok(())
    }

    /// The value `other` is to be looked at as `value` was.
    pub fn alias(&mut self, value: ValueId, other: ValueId) {
        if self.globals[other].is_none() {
            self.globals[other] = self.globals[value];
        }
    }

    /// `new` takes the place of `old`, with its sharding and global type.
    pub fn stand_in(&mut self, rw: &mut Rewriter<'_>, old: ValueId, new: ValueId) {
        if rw.module.shardings[new].is_none() {
            rw.module.shardings[new] = rw.module.shardings[old];
        }
        self.alias(old, new);
        rw.replace(old, new);
    }

    /// The global type of a value.
    pub fn global(&self, module: &Module, value: ValueId) -> TensorType {
        let ty = self.globals[value].expand().unwrap_or_else(|| module.value_type(value));
        match module.ty(ty) {
            Type::Tensor(tensor) => tensor.clone(),
            _ => TensorType::new(ElementType::I1, []),
        }
    }

    /// The local type of a value.
    pub fn local(&self, module: &Module, value: ValueId) -> TensorType {
        module.tensor_type(value).cloned().unwrap_or_else(|| TensorType::new(ElementType::I1, []))
    }

    /// Axes that shard a dimension of a value.
    pub fn dim_axes(&self, module: &Module, value: ValueId, dim: usize) -> AxisList {
        module
            .value_sharding(value)
            .filter(|sharding| dim < sharding.dims.len())
            .map(|sharding| axes::without_unit_axes(sharding.dim_axes(dim)))
            .unwrap_or_default()
    }

    /// A fresh channel number.
    pub fn channel(&mut self) -> i64 {
        self.channels += 1;
        self.channels
    }

    fn emit(
        &mut self,
        module: &mut Module,
        op: impl Into<Op>,
        args: &[ValueId],
        ty: TypeId,
    ) -> ValueId {
        let op = module.new_op(op, args, &[ty], &[], LocId::UNKNOWN);
        self.prologue.push(op);
        module.result(op, 0)
    }

    fn scalar(&mut self, module: &mut Module, element: ElementType, value: i64) -> ValueId {
        let op = scalar_op(module, element, value);
        let ty = module.tensor(element, []);
        self.emit(module, op, &[], ty)
    }

    /// The number of this device in the order of the mesh: `tensor<ui32>`.
    fn device(&mut self, module: &mut Module) -> ValueId {
        if let Some(device) = self.device {
            return device;
        }
        let ui32 = module.tensor(ElementType::UI32, []);
        let mut device = self.emit(module, Collective::PartitionId, &[], ui32);
        if let Some(ids) = self.mesh_def.device_ids.clone() {
            let mut logical = vec![0u32; ids.len()];
            for (index, &id) in ids.iter().enumerate() {
                if let Some(slot) = logical.get_mut(id as usize) {
                    *slot = index as u32;
                }
            }
            let count = logical.len() as i64;
            let table_ty = module.tensor(ElementType::UI32, [count]);
            let bytes = logical.iter().flat_map(|v| v.to_le_bytes()).collect();
            let value = Dense { ty: table_ty, data: DenseData::from_bytes(bytes, 4) };
            let table = self.emit(module, Constant { value }, &[], table_ty);
            let one_ty = module.tensor(ElementType::UI32, [1]);
            let sizes = smallvec::smallvec![1];
            let slice = shard_ir::ops::DynamicSlice { sizes };
            let one = self.emit(module, slice, &[table, device], one_ty);
            device = self.emit(module, shard_ir::ops::Movement::Reshape, &[one], ui32);
        }
        self.device = Some(device);
        device
    }

    /// This device's coordinate along axes, the first being the most major: `tensor<ui32>`.
    pub fn coordinate(&mut self, module: &mut Module, along: &[AxisRef]) -> ValueId {
        let key: AxisList = axes::without_unit_axes(along);
        if let Some(&value) = self.coordinates.get(&key) {
            return value;
        }
        let ui32 = module.tensor(ElementType::UI32, []);
        let device = self.device(module);
        let mut digits: Vec<(u64, u64)> = Vec::new();
        for axis in &key {
            if let Some(digit) = self.mesh_def.digit(*axis) {
                digits.push((digit.stride, digit.size));
            }
        }
        // Adjacent digits are one: "data" major to "model" is the device number itself.
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (stride, size) in digits {
            match merged.last_mut() {
                Some((last_stride, last_size)) if *last_stride == stride * size => {
                    *last_stride = stride;
                    *last_size *= size;
                }
                _ => merged.push((stride, size)),
            }
        }
        let total = self.mesh_def.device_count();
        let mut sum: Option<ValueId> = None;
        for (stride, size) in merged {
            let mut digit = device;
            if stride > 1 {
                let by = self.scalar(module, ElementType::UI32, stride as i64);
                digit = self.emit(module, Elementwise::Divide, &[digit, by], ui32);
            }
            if stride * size < total {
                let by = self.scalar(module, ElementType::UI32, size as i64);
                digit = self.emit(module, Elementwise::Remainder, &[digit, by], ui32);
            }
            sum = Some(match sum {
                None => digit,
                Some(sum) => {
                    let by = self.scalar(module, ElementType::UI32, size as i64);
                    let scaled = self.emit(module, Elementwise::Multiply, &[sum, by], ui32);
                    self.emit(module, Elementwise::Add, &[scaled, digit], ui32)
                }
            });
        }
        let value = match sum {
            Some(value) => value,
            None => self.scalar(module, ElementType::UI32, 0),
        };
        self.coordinates.insert(key, value);
        value
    }

    /// Index of the first element of this device's shard, along a dimension that is sharded over
    /// `along` into shards of `size`: a scalar of type `element`.
    pub fn offset(
        &mut self,
        module: &mut Module,
        along: &[AxisRef],
        size: i64,
        element: ElementType,
    ) -> ValueId {
        let key = (axes::without_unit_axes(along), size, element);
        if let Some(&value) = self.offsets.get(&key) {
            return value;
        }
        let value = if key.0.is_empty() {
            self.scalar(module, element, 0)
        } else {
            let mut value = self.coordinate(module, along);
            let ty = module.tensor(element, []);
            if element != ElementType::UI32 {
                value = self.emit(module, Elementwise::Convert, &[value], ty);
            }
            if size != 1 {
                let by = self.scalar(module, element, size);
                value = self.emit(module, Elementwise::Multiply, &[value, by], ty);
            }
            value
        };
        self.offsets.insert(key, value);
        value
    }

    /// Puts the ops that find this device's place before all others of the function.
    pub fn place_prologue(&mut self, module: &mut Module, func: FuncId) {
        let entry = module.func_entry(func);
        let mut ops = std::mem::take(&mut self.prologue);
        ops.append(&mut module.block_mut(entry).ops);
        module.block_mut(entry).ops = ops;
    }
}

/// A constant op for a scalar of an integer, boolean or float type.
pub fn scalar_op(module: &mut Module, element: ElementType, value: i64) -> Op {
    splat_op(module, element, &[], value)
}

/// A constant op of a shape whose elements are all `value`.
pub fn splat_op(module: &mut Module, element: ElementType, dims: &[i64], value: i64) -> Op {
    let ty = module.tensor(element, dims.iter().copied());
    let data = DenseData::splat(&crate::numbers::encode(element, value));
    Constant { value: Dense { ty, data } }.into()
}

impl Rewriter<'_> {
    /// Emits a scalar constant.
    pub fn scalar(&mut self, element: ElementType, value: i64) -> ValueId {
        let op = scalar_op(self.module, element, value);
        let ty = self.module.tensor(element, []);
        self.emit(op, &[], ty)
    }

    /// Emits a broadcast of a scalar to a shape.
    pub fn broadcast_scalar(&mut self, value: ValueId, dims: &[i64]) -> ValueId {
        let Some(element) = self.module.tensor_type(value).map(|ty| ty.element) else {
            return value;
        };
        let ty = self.module.tensor(element, dims.iter().copied());
        let op = shard_ir::ops::BroadcastInDim { dimensions: Default::default() };
        self.emit(op, &[value], ty)
    }
}
