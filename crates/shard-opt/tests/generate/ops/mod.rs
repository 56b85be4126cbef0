//! Ops of every family. Each adds lines to the program, or fits no value and adds none.

mod arithmetic;
mod control;
mod movement;
mod products;
mod reductions;

use super::program::{Builder, Dice};

/// A way to make an op.
type Maker = fn(&mut Builder, &mut Dice) -> Option<()>;

/// The ways, the common ones more often.
const MAKERS: &[Maker] = &[
    arithmetic::unary,
    arithmetic::binary,
    arithmetic::binary,
    arithmetic::compare,
    arithmetic::select,
    arithmetic::convert,
    arithmetic::clamp,
    arithmetic::map,
    arithmetic::iota,
    arithmetic::random_bits,
    movement::transpose,
    movement::broadcast,
    movement::broadcast,
    movement::reshape,
    movement::reshape,
    movement::slice,
    movement::pad,
    movement::concatenate,
    movement::reverse,
    movement::dynamic_slice,
    movement::dynamic_update_slice,
    movement::gather,
    movement::scatter,
    movement::bitcast,
    products::dot,
    products::dot,
    products::convolution,
    products::fft,
    reductions::reduce,
    reductions::reduce,
    reductions::arg_max,
    reductions::window,
    reductions::cumulative,
    reductions::select_and_scatter,
    reductions::sort,
    reductions::top_k,
    control::constraint,
    control::constraint,
    control::repeat,
    control::branch,
    control::case,
    control::call,
    control::barrier,
];

/// Adds an op.
pub fn step(builder: &mut Builder, dice: &mut Dice) {
    let maker = *dice.pick(MAKERS);
    if maker(builder, dice).is_none() {
        let _ = arithmetic::unary(builder, dice);
    }
}
